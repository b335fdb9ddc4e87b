//! Constants in the scalars of TIR, and the statements that they decide.

use tf_core::node::PrimFunctionData;
use tf_core::visit::{Cloning, ExprCloner, StmtMutator, rewrite_stmt_exprs};
use tf_core::{Context, Expr, ExprKind, Literal, PrimFunction, Result, Stmt, StmtKind};
use tf_dataflow::{Constants, Trips};
use tf_framework::{FunctionCx, RemarkKind};

use super::ConstProp;
use crate::fold::Folder;

struct Decide<'a, 'c> {
    pass: &'a ConstProp,
    cx: &'a FunctionCx<'a, 'c>,
    folder: Folder<'a, 'c>,
    constants: &'a Constants<'c>,
}

/// The integer that an expression is written as.
fn integer(expr: Expr<'_>) -> Option<i64> {
    match expr.literal() {
        Some(Literal::Int(value)) => Some(value),
        _ => None,
    }
}

impl<'c> Decide<'_, 'c> {
    /// The literal that a scalar is; an extent in a register becomes one as any other literal.
    fn constant(&self, expr: Expr<'c>) -> Option<Expr<'c>> {
        if matches!(expr.kind, ExprKind::Constant(_)) {
            return None;
        }
        let tensor = self.constants.fact(expr).tensor().filter(|tensor| tensor.rank() == 0)?;
        let ty = match expr.kind {
            ExprKind::ShapeOf { .. } => self.cx.scalar(tensor.dtype()),
            _ => expr.ty(),
        };
        self.folder.materialized(tensor, ty, expr.source_metadata())
    }

    fn decided(&self, stmt: Stmt<'c>, why: &str, instead: Option<Stmt<'c>>) -> Result<Stmt<'c>> {
        self.pass.decided.add(1);
        self.cx.remark(RemarkKind::Applied, stmt.span, || why.to_owned());
        Ok(instead.unwrap_or_else(|| self.cx.stmt(StmtKind::Sequential(&[]), None)))
    }
}

impl<'c> ExprCloner<'c> for Decide<'_, 'c> {
    fn descends(&mut self, expr: Expr<'c>, _: &mut Cloning<'_, 'c>) -> bool {
        self.constant(expr).is_none()
    }

    fn default_clone(&mut self, expr: Expr<'c>, clone: &mut Cloning<'_, 'c>) -> Result<Expr<'c>> {
        let Some(new) = self.constant(expr) else { return clone.rebuild(expr) };
        self.pass.replaced.add(u64::from(expr.var_name().is_none()));
        Ok(new)
    }
}

impl<'c> StmtMutator<'c> for Decide<'_, 'c> {
    fn mutate_let(&mut self, stmt: Stmt<'c>, _: &Context<'c>) -> Result<Stmt<'c>> {
        let StmtKind::Let { var, body, .. } = stmt.kind else { return Ok(stmt) };
        // Its uses have the literal.
        Ok(if self.constant(var).is_some() { body } else { stmt })
    }

    fn mutate_if(&mut self, stmt: Stmt<'c>, _: &Context<'c>) -> Result<Stmt<'c>> {
        let StmtKind::If { cond, then_body, else_body } = stmt.kind else { return Ok(stmt) };
        match cond.literal() {
            Some(Literal::Bool(true)) => self.decided(stmt, "the condition always holds", Some(then_body)),
            Some(Literal::Bool(false)) => self.decided(stmt, "the condition never holds", Some(else_body)),
            _ => Ok(stmt),
        }
    }

    fn mutate_while(&mut self, stmt: Stmt<'c>, _: &Context<'c>) -> Result<Stmt<'c>> {
        match stmt.kind {
            StmtKind::While { cond, .. } if cond.literal() == Some(Literal::Bool(false)) => {
                self.decided(stmt, "the loop never runs", None)
            }
            _ => Ok(stmt),
        }
    }

    fn mutate_for(&mut self, stmt: Stmt<'c>, _: &Context<'c>) -> Result<Stmt<'c>> {
        let StmtKind::For { induction, start, stop, step, body } = stmt.kind else { return Ok(stmt) };
        match Trips::of(integer(start), integer(stop), integer(step)) {
            Trips::None => self.decided(stmt, "the loop never runs", None),
            Trips::One(_) if self.constant(induction).is_some() => self.decided(stmt, "the loop runs once", Some(body)),
            _ => Ok(stmt),
        }
    }

    fn mutate_dispatch(&mut self, stmt: Stmt<'c>, _: &Context<'c>) -> Result<Stmt<'c>> {
        let StmtKind::Dispatch { subject, cases, fallback, .. } = stmt.kind else { return Ok(stmt) };
        let Some(value) = self.constants.fact(subject).integer().or(integer(subject)) else { return Ok(stmt) };
        let case = cases.iter().find(|case| case.pattern.matches(value));
        self.decided(stmt, "one case always matches", Some(case.map_or(fallback, |case| case.call)))
    }
}

impl ConstProp {
    pub(super) fn statements<'c>(
        &self,
        function: PrimFunction<'c>,
        cx: &FunctionCx<'_, 'c>,
        folder: Folder<'_, 'c>,
        constants: &Constants<'c>,
    ) -> Result<PrimFunction<'c>> {
        let body = rewrite_stmt_exprs(&mut Decide { pass: self, cx, folder, constants }, function.body, cx.context())?;
        if body == function.body {
            return Ok(function);
        }
        Ok(cx.prim_function(PrimFunctionData { body, ..*function.data() }))
    }
}
