//! The patterns of a driver.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use tf_core::guard::{Panic, guard};
use tf_core::{Callee, Expr, ExprKind};

use crate::pattern::{RewritePattern, Rewriter, Root};

/// A pattern whose panics are values. Being generic it is compiled into the crate that registers the pattern: a plugin has its own copy
/// of the standard library, so it catches its own panics, and none may leave it.
pub(crate) trait Guarded: RewritePattern {
    /// What the pattern gives, or its panic.
    fn guarded<'c>(&self, root: Expr<'c>, rewriter: &Rewriter<'_, 'c>) -> Result<Option<Expr<'c>>, Panic>;
}

impl<P: RewritePattern> Guarded for P {
    fn guarded<'c>(&self, root: Expr<'c>, rewriter: &Rewriter<'_, 'c>) -> Result<Option<Expr<'c>>, Panic> {
        guard(|| self.rewrite(root, rewriter))
    }
}

/// Patterns by what they look at, in the order in which they were added. Clones share them.
#[derive(Clone, Default)]
pub struct Patterns {
    all: Vec<Arc<dyn Guarded>>,
    ops: FxHashMap<u64, Vec<usize>>,
    tuples: Vec<usize>,
    grids: Vec<usize>,
    mistakes: Vec<String>,
}

impl Patterns {
    /// Adds a pattern.
    pub fn add(&mut self, pattern: impl RewritePattern + 'static) {
        let at = self.all.len();
        if self.all.iter().any(|old| old.name() == pattern.name()) {
            self.mistakes.push(format!("pattern `{}` is registered twice", pattern.name()));
        }
        match pattern.root() {
            Root::Op(op) => self.ops.entry(op.key).or_default().push(at),
            Root::Tuple => self.tuples.push(at),
            Root::Grid => self.grids.push(at),
        }
        self.all.push(Arc::new(pattern));
    }

    /// All patterns.
    pub fn iter(&self) -> impl Iterator<Item = &dyn RewritePattern> {
        self.all.iter().map(|pattern| pattern.as_ref() as &dyn RewritePattern)
    }

    /// Mistakes of whoever registered: two patterns of one name.
    #[must_use]
    pub fn mistakes(&self) -> &[String] {
        &self.mistakes
    }

    /// The patterns that look at such an expression, by number.
    pub(crate) fn of(&self, expr: Expr<'_>) -> &[usize] {
        match expr.kind {
            ExprKind::Call { callee: Callee::Op(op), .. } => self.ops.get(&op.decl.name.key).map_or(&[], Vec::as_slice),
            ExprKind::Tuple(_) => &self.tuples,
            ExprKind::Grid(_) => &self.grids,
            _ => &[],
        }
    }

    pub(crate) fn get(&self, at: usize) -> &dyn Guarded {
        self.all[at].as_ref()
    }
}
