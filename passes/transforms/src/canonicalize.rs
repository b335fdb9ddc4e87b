//! `canonicalize`: folding and rewrite patterns.

use std::sync::Arc;

use tf_core::node::{FunctionData, PrimFunctionData};
use tf_core::visit::{Cloning, ExprCloner, StmtMutator, clone_expr, rewrite_stmt_exprs};
use tf_core::{AnyFunction, Context, Expr, Function, PrimFunction, Result, Stmt, StmtKind};
use tf_framework::{AnyFunctionPass, Counter, FunctionCx, Pass, RemarkKind};
use tf_rewrite::{Greedy, Patterns};
use tf_value::EvalRegistry;

use crate::fold::Folder;

/// Folds ops on literals and applies rewrite patterns until none fits: the catalogue, and those that plugins register.
///
/// Values stay the same bit for bit, with their types; a failure of a run may go, none is added. Patterns that change bits of floats,
/// such as `x + 0.0` to `x`, are used with `fast-math` only. In statements, loops and branches without contents are removed.
#[derive(Clone, Pass)]
#[pass(name = "canonicalize", fast_math(fast_math))]
pub struct Canonicalize {
    /// Use patterns that change bits of floats: signs of zeros, nans, rounding.
    #[option(name = "fast-math")]
    fast_math: bool,
    #[statistic("ops folded")]
    folded: Counter,
    #[statistic("patterns applied")]
    rewritten: Counter,
    #[statistic("empty statements removed")]
    removed: Counter,
    rules: Arc<EvalRegistry>,
    patterns: Patterns,
}

impl AnyFunctionPass for Canonicalize {
    fn run<'c>(&self, function: AnyFunction<'c>, cx: &FunctionCx<'_, 'c>) -> Result<AnyFunction<'c>> {
        let folder = Folder::new(cx.context(), &self.rules);
        let fold = |call: Expr<'c>| folder.constant(call);
        let mut greedy = Greedy::new(&self.patterns, self.fast_math, &fold);
        let new = match function {
            AnyFunction::Hir(function) => value(function, cx, &mut greedy).map(AnyFunction::Hir),
            AnyFunction::Tir(function) => self.statements(function, cx, &mut greedy).map(AnyFunction::Tir),
        };
        self.tell(cx, &greedy);
        new
    }
}

fn value<'c>(function: Function<'c>, cx: &FunctionCx<'_, 'c>, greedy: &mut Greedy<'_, 'c>) -> Result<Function<'c>> {
    let Some(old) = function.body else { return Ok(function) };
    let body = clone_expr(cx.context(), old, greedy)?;
    Ok(if body == old { function } else { cx.function(FunctionData { body: Some(body), ..*function }) })
}

struct Statements<'a, 'b, 'c> {
    removed: &'a Counter,
    greedy: &'a mut Greedy<'b, 'c>,
}

impl<'c> ExprCloner<'c> for Statements<'_, '_, 'c> {
    fn default_clone(&mut self, expr: Expr<'c>, clone: &mut Cloning<'_, 'c>) -> Result<Expr<'c>> {
        self.greedy.default_clone(expr, clone)
    }
}

impl<'c> StmtMutator<'c> for Statements<'_, '_, 'c> {
    fn generic_mutate(&mut self, stmt: Stmt<'c>, cx: &Context<'c>) -> Result<Stmt<'c>> {
        let is_empty = |body: Stmt<'c>| matches!(body.kind, StmtKind::Sequential([]));
        let does_nothing = match stmt.kind {
            StmtKind::For { body, .. } | StmtKind::MeshScope { body, .. } => is_empty(body),
            StmtKind::If { then_body, else_body, .. } => is_empty(then_body) && is_empty(else_body),
            _ => false,
        };
        if !does_nothing {
            return Ok(stmt);
        }
        self.removed.add(1);
        Ok(cx.stmt(StmtKind::Sequential(&[]), None))
    }
}

impl Canonicalize {
    fn statements<'c>(
        &self,
        function: PrimFunction<'c>,
        cx: &FunctionCx<'_, 'c>,
        greedy: &mut Greedy<'_, 'c>,
    ) -> Result<PrimFunction<'c>> {
        let body = rewrite_stmt_exprs(&mut Statements { removed: &self.removed, greedy }, function.body, cx.context())?;
        if body == function.body {
            return Ok(function);
        }
        Ok(cx.prim_function(PrimFunctionData { body, ..*function.data() }))
    }

    fn tell(&self, cx: &FunctionCx<'_, '_>, greedy: &Greedy<'_, '_>) {
        let folds = greedy.applied.iter().filter(|applied| applied.pattern.is_none()).count() as u64;
        self.folded.add(folds);
        self.rewritten.add(greedy.applied.len() as u64 - folds);
        for applied in &greedy.applied {
            cx.remark(RemarkKind::Applied, applied.old.span(), || {
                let (what, new) = (applied.old.describe(), applied.new.describe());
                format!("{}: {what} is {new}", applied.pattern.unwrap_or("fold"))
            });
        }
    }
}
