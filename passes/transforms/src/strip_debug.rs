//! `strip-debug`: nodes without positions and names.

use tf_core::node::{FunctionData, GridRegion, Meta, PrimFunctionData};
use tf_core::visit::{Cloning, ExprCloner, StmtMutator, WithExprs, rewrite_stmt};
use tf_core::walk::walk_stmts;
use tf_core::{AnyFunction, Context, Expr, ExprKind, Function, NodeMap, PrimFunction, Result, Stmt, StmtKind};
use tf_framework::{AnyFunctionPass, Counter, FunctionCx, Pass};

/// Removes source positions and names of values from functions, so that what differs in them only is the same text.
///
/// Names of parameters, variables and functions stay, and schedule constraints, which say what a program may become.
#[derive(Clone, Pass)]
#[pass(name = "strip-debug")]
pub struct StripDebug {
    #[statistic("nodes stripped")]
    stripped: Counter,
}

fn is_bare(meta: Meta<'_>) -> bool {
    meta.span.is_none() && meta.name.is_none()
}

/// Strips values; variables that are bound outside of expressions have been replaced before.
struct Strip<'a, 'c> {
    stripped: &'a Counter,
    variables: NodeMap<Expr<'c>, Expr<'c>>,
}

impl<'c> Strip<'_, 'c> {
    fn bare(&self, cx: &Context<'c>, expr: Expr<'c>) -> Expr<'c> {
        if is_bare(expr.meta) {
            return expr;
        }
        self.stripped.add(1);
        cx.expr(expr.kind, expr.ty(), Meta { span: None, name: None, ..expr.meta })
    }

    fn variable(&mut self, clone: &mut Cloning<'_, 'c>, var: Expr<'c>) -> Expr<'c> {
        let new = self.bare(clone.cx, var);
        clone.replace(var, new);
        self.variables.insert(var, new);
        new
    }
}

impl<'c> ExprCloner<'c> for Strip<'_, 'c> {
    fn bind(&mut self, region: &GridRegion<'c>, clone: &mut Cloning<'_, 'c>) -> Result<()> {
        for &variable in region.carries.iter().chain([&region.induction]) {
            self.variable(clone, variable);
        }
        Ok(())
    }

    fn default_clone(&mut self, expr: Expr<'c>, clone: &mut Cloning<'_, 'c>) -> Result<Expr<'c>> {
        let rebuilt = clone.rebuild(expr)?;
        Ok(if let ExprKind::Var { .. } = expr.kind { rebuilt } else { self.bare(clone.cx, rebuilt) })
    }
}

impl<'c> StmtMutator<'c> for Strip<'_, 'c> {
    fn generic_mutate(&mut self, stmt: Stmt<'c>, cx: &Context<'c>) -> Result<Stmt<'c>> {
        let now = |var: Expr<'c>| self.variables.get(&var).copied().unwrap_or(var);
        let (kind, rebound) = match stmt.kind {
            StmtKind::Let { var, value, body } => (StmtKind::Let { var: now(var), value, body }, now(var) != var),
            StmtKind::For { induction, start, stop, step, body } => {
                (StmtKind::For { induction: now(induction), start, stop, step, body }, now(induction) != induction)
            }
            kind => (kind, false),
        };
        if stmt.span.is_none() && !rebound {
            return Ok(stmt);
        }
        self.stripped.add(u64::from(stmt.span.is_some()));
        Ok(cx.stmt(kind, None))
    }
}

impl StripDebug {
    fn value<'c>(&self, function: Function<'c>, cx: &FunctionCx<'_, 'c>) -> Result<Function<'c>> {
        let mut strip = Strip { stripped: &self.stripped, variables: NodeMap::default() };
        let mut clone = Cloning::new(cx.context());
        let params: Vec<_> = function.params.iter().map(|&param| strip.variable(&mut clone, param)).collect();
        let body = function.body.map(|body| clone.visit(&mut strip, body)).transpose()?;
        if body == function.body && params == function.params && function.span.is_none() {
            return Ok(function);
        }
        Ok(cx.function(FunctionData { params: cx.alloc_slice(&params), body, span: None, ..*function }))
    }

    fn statements<'c>(&self, function: PrimFunction<'c>, cx: &FunctionCx<'_, 'c>) -> Result<PrimFunction<'c>> {
        let mut strip = Strip { stripped: &self.stripped, variables: NodeMap::default() };
        let mut clone = Cloning::new(cx.context());
        let params: Vec<_> = function.params.iter().map(|&param| strip.variable(&mut clone, param)).collect();
        walk_stmts(function.body, |stmt| {
            if let StmtKind::Let { var, .. } | StmtKind::For { induction: var, .. } = stmt.kind {
                strip.variable(&mut clone, var);
            }
        });
        let body = rewrite_stmt(&mut WithExprs::new(&mut strip, clone), function.body, cx.context())?;
        if body == function.body && params == function.params && function.span.is_none() {
            return Ok(function);
        }
        let data = PrimFunctionData { params: cx.alloc_slice(&params), body, span: None, ..*function.data() };
        Ok(cx.prim_function(data))
    }
}

impl AnyFunctionPass for StripDebug {
    fn run<'c>(&self, function: AnyFunction<'c>, cx: &FunctionCx<'_, 'c>) -> Result<AnyFunction<'c>> {
        match function {
            AnyFunction::Hir(function) => self.value(function, cx).map(AnyFunction::Hir),
            AnyFunction::Tir(function) => self.statements(function, cx).map(AnyFunction::Tir),
        }
    }
}
