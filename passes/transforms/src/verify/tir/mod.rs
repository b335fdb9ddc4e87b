//! Rules of a TIR function.

mod buffers;
mod calls;
mod control;
mod expressions;
mod launch;
mod placed;
mod signature;

use rustc_hash::{FxHashMap, FxHashSet};
use tf_core::node::{Intrinsic, TirCallee};
use tf_core::{Context, Diagnostic, Expr, ExprKind, Module, PrimFunction, Span, Stmt, StmtKind};
use tf_target::Device;
use tf_tir::sync::participants::NamedBarriers;
use tf_types::DimVars;

use super::{Errors, Names, scope::Scope, target};

/// The violations in a function.
pub(super) fn function<'c>(function: PrimFunction<'c>, names: &Names<'c>, cx: &Context<'c>) -> Vec<Diagnostic> {
    let module = names.module;
    let mut dims = DimVars::default();
    function.params.iter().for_each(|param| dims.add_type(param.ty()));
    let mut check = Check {
        cx,
        module,
        names,
        function,
        device: None,
        errors: Errors::default(),
        bound: FxHashSet::default(),
        scope: Scope::new(function),
        dims,
        barriers: NamedBarriers::default(),
        shared_bytes: 0,
        intrinsics: Vec::new(),
        intrinsic_places: FxHashMap::default(),
    };
    match target::of_target(Some(function.target)) {
        Ok(device) => check.device = device,
        // The module's target is reported once, with the module.
        Err(_) if Some(function.target) == module.target => {}
        Err(message) => drop(check.errors.add(function.span, message)),
    }
    check.signature();
    check.body();
    for (intrinsic, uses) in &check.intrinsics {
        check.errors.0.extend(tf_dsl::check_intrinsic(cx, intrinsic, uses));
    }
    check.errors.0
}

struct Check<'a, 'c> {
    cx: &'a Context<'c>,
    module: Module<'c>,
    names: &'a Names<'c>,
    function: PrimFunction<'c>,
    /// What the function runs on; none for the host.
    device: Option<&'static Device>,
    errors: Errors,
    /// Every variable that has been bound so far; those in scope are in `scope`.
    bound: FxHashSet<Expr<'c>>,
    scope: Scope<'c>,
    /// The dims of its parameters.
    dims: DimVars<'c>,
    /// Ids of the function's named barriers.
    barriers: NamedBarriers,
    /// Shared memory that has been allocated so far.
    shared_bytes: i64,
    /// Statements that the author declared, each with its uses: their operands are checked together.
    intrinsics: Vec<(&'c Intrinsic<'c>, Vec<Use<'c>>)>,
    /// The places of those.
    intrinsic_places: FxHashMap<&'c Intrinsic<'c>, usize>,
}

/// Operands and place of a statement.
type Use<'c> = (&'c [Expr<'c>], Option<Span>);

enum Step<'c> {
    Enter(Stmt<'c>),
    Unbind(Expr<'c>),
    CloseMesh,
}

/// Where a statement at `span` uses an expression: a variable's own place is that of its binding.
fn place(expr: Expr<'_>, span: Option<Span>) -> Option<Span> {
    match expr.kind {
        ExprKind::Var { .. } => span.or(expr.span()),
        _ => expr.span().or(span),
    }
}

impl<'c> Check<'_, 'c> {
    fn bind(&mut self, var: Expr<'c>, span: Option<Span>) {
        if !matches!(var.kind, ExprKind::Var { .. }) {
            self.errors.add(span, format!("{} is bound, but is no variable", var.describe()));
        }
        if !self.bound.insert(var) {
            self.errors.add(span, format!("variable {} is bound twice", var.describe()));
        }
        self.scope.variables.insert(var);
    }

    fn body(&mut self) {
        let mut stack = vec![Step::Enter(self.function.body)];
        while let Some(step) = stack.pop() {
            match step {
                Step::Enter(stmt) => self.enter(stmt, &mut stack),
                Step::Unbind(var) => drop(self.scope.variables.remove(&var)),
                Step::CloseMesh => drop(self.scope.meshes.pop()),
            }
        }
    }

    fn enter(&mut self, stmt: Stmt<'c>, stack: &mut Vec<Step<'c>>) {
        let span = stmt.span;
        match stmt.kind {
            StmtKind::Sequential(body) => stack.extend(body.iter().rev().map(|&stmt| Step::Enter(stmt))),
            StmtKind::Abort { .. } | StmtKind::Return => {}
            StmtKind::While { cond, body } => {
                self.condition(cond, "while", span);
                stack.push(Step::Enter(body));
            }
            StmtKind::If { cond, then_body, else_body } => {
                self.condition(cond, "if", span);
                stack.extend([Step::Enter(else_body), Step::Enter(then_body)]);
            }
            StmtKind::Dispatch { subject, cases, fallback, .. } => {
                self.dispatch(subject, cases, fallback, span);
                stack.extend(cases.iter().rev().map(|case| Step::Enter(case.call)));
            }
            StmtKind::Let { var, value, body } => {
                self.expr(value, span, true);
                if var.ty() != value.ty() {
                    let message = format!("{} is {}, but its value is {}", var.describe(), var.ty(), value.ty());
                    self.errors.add(span.or(value.span()), message);
                }
                self.memory(var, span);
                self.buffer(value, value.span().or(span));
                self.bind(var, span);
                stack.extend([Step::Unbind(var), Step::Enter(body)]);
            }
            StmtKind::For { induction, start, stop, step, body } => {
                self.counted_loop(induction, [start, stop, step], span);
                self.bind(induction, span);
                stack.extend([Step::Unbind(induction), Step::Enter(body)]);
            }
            StmtKind::MeshScope { mesh, body, .. } => {
                let levels = self.module.data().topologies.map_or(Ok(()), |declared| mesh.check_levels(declared));
                if let Err(error) = mesh.check_extents().and(levels) {
                    self.errors.add(span, error.message).help = error.help;
                }
                if let Some(device) = self.device {
                    target::levels(&mut self.errors, device, mesh.topologies, |_| span);
                }
                self.scope.meshes.push(mesh);
                stack.extend([Step::CloseMesh, Step::Enter(body)]);
            }
            StmtKind::Evaluate { callee: TirCallee::Op(op), args } => self.effect(op, args, span),
            StmtKind::Evaluate { callee: TirCallee::Symbol(name), args } => self.call(name, args, span),
            StmtKind::Evaluate { callee: TirCallee::Intrinsic(intrinsic), args } => {
                args.iter().for_each(|&arg| self.expr(arg, span, false));
                let at = *self.intrinsic_places.entry(intrinsic).or_insert(self.intrinsics.len());
                match self.intrinsics.get_mut(at) {
                    Some((_, uses)) => uses.push((args, span)),
                    None => self.intrinsics.push((intrinsic, vec![(args, span)])),
                }
            }
        }
    }
}
