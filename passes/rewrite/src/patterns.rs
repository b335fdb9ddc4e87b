//! The patterns of a driver.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use tf_core::guard::guard;
use tf_core::{Callee, Expr, ExprKind};

use crate::pattern::{RewritePattern, Rewriter, Root};

/// Calls a pattern. Being generic it is compiled into the crate that registers the pattern, so a plugin catches its own panics.
struct Guarded<P>(P);

impl<P: RewritePattern> RewritePattern for Guarded<P> {
    fn name(&self) -> &'static str {
        self.0.name()
    }
    fn doc(&self) -> &'static str {
        self.0.doc()
    }
    fn root(&self) -> Root {
        self.0.root()
    }
    fn fast_math(&self) -> bool {
        self.0.fast_math()
    }
    fn rewrite<'c>(&self, root: Expr<'c>, rewriter: &Rewriter<'_, 'c>) -> Option<Expr<'c>> {
        match guard(|| self.0.rewrite(root, rewriter)) {
            Ok(new) => new,
            Err(panic) => panic!("pattern `{}` panicked: {}", self.0.name(), panic.message),
        }
    }
}

/// Patterns by what they look at, in the order in which they were added. Clones share them.
#[derive(Clone, Default)]
pub struct Patterns {
    all: Vec<Arc<dyn RewritePattern>>,
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
        self.all.push(Arc::new(Guarded(pattern)));
    }

    /// All patterns.
    pub fn iter(&self) -> impl Iterator<Item = &dyn RewritePattern> {
        self.all.iter().map(AsRef::as_ref)
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

    pub(crate) fn get(&self, at: usize) -> &dyn RewritePattern {
        self.all[at].as_ref()
    }
}
