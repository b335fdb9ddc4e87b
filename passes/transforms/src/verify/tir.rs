//! Rules of a TIR function (spec: tir §10, V1 to V10 for the statements that exist).

use rustc_hash::FxHashSet;
use tf_core::diag::did_you_mean;
use tf_core::node::{DispatchCase, TirCallee};
use tf_core::op::{OpForm, OpInstance, OpName, OpView};
use tf_core::{
    AnyFunction, Callee, Context, Diagnostic, Expr, ExprKind, Literal, Module, PrimFunction, Span, Stmt, StmtKind,
};
use tf_types::{DType, Storage, Symbol, Type};

use super::{Errors, scope::Scope, target};

/// The op that makes memory; it may only stand as the value of a binding (V4).
const ALLOC: OpName = OpName::new("T", "alloc_tensor");

/// The violations in a function.
pub fn function<'c>(function: PrimFunction<'c>, module: Module<'c>, cx: &Context<'c>) -> Vec<Diagnostic> {
    let mut check = Check {
        cx,
        module,
        function,
        errors: Errors::default(),
        bound: FxHashSet::default(),
        scope: Scope::new(function),
    };
    check.signature();
    check.body();
    check.errors.0
}

struct Check<'a, 'c> {
    cx: &'a Context<'c>,
    module: Module<'c>,
    function: PrimFunction<'c>,
    errors: Errors,
    /// Every variable that has been bound so far; those in scope are in `scope`.
    bound: FxHashSet<Expr<'c>>,
    scope: Scope<'c>,
}

enum Step<'c> {
    Enter(Stmt<'c>),
    Unbind(Expr<'c>),
    CloseMesh,
}

fn is_scalar(ty: Type<'_>, fits: impl Fn(DType) -> bool) -> bool {
    ty.as_tensor().is_some_and(|t| t.rank() == 0 && fits(t.dtype))
}

impl<'c> Check<'_, 'c> {
    fn signature(&mut self) {
        let function = self.function;
        let tensors = || function.params.iter().filter(|p| p.ty().as_tensor().is_some_and(|t| t.rank() > 0));
        let placed = tensors().filter(|p| p.ty().as_tensor().is_some_and(|t| t.shard().is_some())).count();
        if placed > 0 && placed < tensors().count() {
            let message =
                format!("{placed} of {} tensor parameters are placed on a mesh: it is all or none", tensors().count());
            self.errors.add(function.span, message);
        }
        if function.output_count > function.params.len() {
            let message = format!("{} outputs, but only {} parameters", function.output_count, function.params.len());
            self.errors.add(function.span, message);
        }
        if let Some(hidden) = function.misplaced_hidden_param() {
            let message = format!("{} is a hidden extent, and an ordinary parameter follows it", hidden.describe());
            self.errors.add(hidden.span().or(function.span), message).help =
                Some("hidden extents come after all inputs and outputs".to_owned());
        }
        let mut names: FxHashSet<Symbol<'c>> = FxHashSet::default();
        for &param in function.params {
            match param.var_name() {
                None => drop(self.errors.add(function.span, "a parameter is no variable".to_owned())),
                Some(name) if !names.insert(name) => {
                    self.errors.add(param.span().or(function.span), format!("two parameters are named `{name}`"));
                }
                Some(_) => {}
            }
            self.bind(param, function.span);
            self.memory(param, param.span().or(function.span));
        }
    }

    fn bind(&mut self, var: Expr<'c>, span: Option<Span>) {
        if !matches!(var.kind, ExprKind::Var { .. }) {
            self.errors.add(span, format!("{} is bound, but is no variable", var.describe()));
        }
        if !self.bound.insert(var) {
            self.errors.add(span, format!("variable {} is bound twice", var.describe()));
        }
        self.scope.variables.insert(var);
    }

    /// A tensor in memory has a storage.
    fn memory(&mut self, var: Expr<'c>, span: Option<Span>) {
        if var.ty().leaves().iter().any(|t| t.rank() > 0 && t.storage == Storage::Umat) {
            self.errors.add(span, format!("{} is in umat, which is no place in memory", var.describe()));
        }
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
                self.bind(var, span);
                stack.extend([Step::Unbind(var), Step::Enter(body)]);
            }
            StmtKind::For { induction, start, stop, step, body } => {
                for (name, bound) in [("start", start), ("stop", stop), ("step", step)] {
                    self.expr(bound, span, false);
                    if !is_scalar(bound.ty(), DType::is_integer) {
                        let message = format!("the {name} of a loop is a rank-0 integer, found {}", bound.ty());
                        self.errors.add(bound.span().or(span), message);
                    }
                }
                if matches!(step.literal(), Some(Literal::Int(0))) {
                    self.errors.add(step.span().or(span), "the step of a loop is 0".to_owned());
                }
                if !is_scalar(induction.ty(), DType::is_integer) {
                    let message = format!("{} counts a loop, but is {}", induction.describe(), induction.ty());
                    self.errors.add(span, message);
                }
                self.bind(induction, span);
                stack.extend([Step::Unbind(induction), Step::Enter(body)]);
            }
            StmtKind::MeshScope { mesh, body, .. } => {
                if let Err(error) = mesh.check_extents() {
                    self.errors.add(span, error.message);
                }
                if let Ok(Some(device)) = target::of_target(Some(self.function.target)) {
                    target::levels(&mut self.errors, &device, mesh.topologies, |_| span);
                }
                self.scope.meshes.push(mesh);
                stack.extend([Step::CloseMesh, Step::Enter(body)]);
            }
            StmtKind::Evaluate { callee: TirCallee::Op(op), args } => self.effect(op, args, span),
            StmtKind::Evaluate { callee: TirCallee::Symbol(name), args } => self.call(name, args, span),
            // V11: what the author checks is checked where the statement is written.
            StmtKind::Evaluate { callee: TirCallee::Intrinsic(_), args } => {
                args.iter().for_each(|&arg| self.expr(arg, span, false));
            }
        }
    }

    /// V7.
    fn condition(&mut self, cond: Expr<'c>, what: &str, span: Option<Span>) {
        self.expr(cond, span, false);
        if !is_scalar(cond.ty(), |dtype| dtype == DType::Bool) {
            let message = format!("the condition of a `{what}` is a rank-0 bool, found {}", cond.ty());
            self.errors.add(cond.span().or(span), message);
        }
    }

    /// The subject is an extent of a parameter of this function, each case a call, the fallback an abort (V10; tir §3).
    fn dispatch(&mut self, subject: Expr<'c>, cases: &[DispatchCase<'c>], fallback: Stmt<'c>, span: Option<Span>) {
        self.expr(subject, span, false);
        match subject.kind {
            ExprKind::ShapeOf { param, .. } if self.function.params.contains(&param) => {}
            _ => {
                let message = format!("a dispatch is over an extent of a parameter, found {}", subject.describe());
                self.errors.add(subject.span().or(span), message);
            }
        }
        if cases.is_empty() {
            self.errors.add(span, "a dispatch has no cases".to_owned());
        }
        for case in cases {
            if !matches!(case.call.kind, StmtKind::Evaluate { callee: TirCallee::Symbol(_), .. }) {
                let message = format!("a case of a dispatch calls a function, found {}", case.call.describe());
                self.errors.add(case.call.span.or(span), message);
            }
        }
        if !matches!(fallback.kind, StmtKind::Abort { .. }) {
            let message = format!("the fallback of a dispatch aborts, found {}", fallback.describe());
            self.errors.add(fallback.span.or(span), message);
        }
    }

    fn effect(&mut self, op: OpInstance<'c>, args: &'c [Expr<'c>], span: Option<Span>) {
        args.iter().for_each(|&arg| self.expr(arg, span, false));
        self.meshes(op, span);
        let decl = op.decl;
        let rule = self.cx.ops().verify.get(op.id);
        let (OpForm::Effect, Some(rule)) = (decl.form, rule) else {
            self.errors.add(span, format!("`{}` is a value and cannot stand as a statement", decl.name));
            return;
        };
        let (least, most) = decl.arity();
        if args.len() < least || most.is_some_and(|most| args.len() > most) {
            self.errors.add(span, format!("`{}` takes {least} operands, found {}", decl.name, args.len()));
            return;
        }
        if let Err(error) = rule(OpView { op, args }, self.cx) {
            let spans: Vec<_> = args.iter().map(|arg| arg.span()).collect();
            self.errors.0.push(error.into_diagnostic(span, &spans));
        }
    }

    fn call(&mut self, name: Symbol<'c>, args: &'c [Expr<'c>], span: Option<Span>) {
        args.iter().for_each(|&arg| self.expr(arg, span, false));
        let Some(callee) = self.callee(name, span) else { return };
        if callee.params.len() != args.len() {
            let message = format!("`{name}` has {} parameters, found {} arguments", callee.params.len(), args.len());
            self.errors.add(span, message);
            return;
        }
        for (param, arg) in callee.params.iter().zip(args) {
            if param.ty() != arg.ty() {
                let message =
                    format!("parameter {} of `{name}` is {}, found {}", param.describe(), param.ty(), arg.ty());
                self.errors.add(arg.span().or(span), message);
            }
        }
    }

    fn callee(&mut self, name: Symbol<'c>, span: Option<Span>) -> Option<PrimFunction<'c>> {
        if let Some(AnyFunction::Tir(callee)) = self.module.lookup(name.as_str()) {
            return Some(callee);
        }
        let known = self.module.functions.iter().filter(|f| matches!(f, AnyFunction::Tir(_)));
        let near = did_you_mean(name.as_str(), known.map(|f| f.name().as_str()));
        let error = self.errors.add(span, format!("there is no TIR function `{name}`"));
        error.help = near.map(|near| format!("did you mean `{near}`?"));
        None
    }

    /// A symbol has the type of its function.
    fn symbol(&mut self, name: Symbol<'c>, expr: Expr<'c>, at: Option<Span>) {
        let Some(callee) = self.callee(name, at) else { return };
        let params: Vec<_> = callee.params.iter().map(|p| p.ty()).collect();
        let ty = self.cx.callable(&params, self.cx.unit());
        if ty != expr.ty() {
            self.errors.add(at, format!("`{name}` is written with type {}, but has type {ty}", expr.ty()));
        }
    }

    /// An expression inside a statement; `is_value`: it is what a binding binds.
    fn expr(&mut self, root: Expr<'c>, span: Option<Span>, is_value: bool) {
        for expr in tf_core::walk::post_order(&[root]) {
            let at = expr.span().or(span);
            match expr.kind {
                ExprKind::Var { .. } if self.scope.variables.contains(&expr) => {}
                ExprKind::Var { .. } => {
                    self.errors.add(at, format!("variable {} is not bound here", expr.describe()));
                }
                ExprKind::Call { callee: Callee::Op(op), args } => {
                    self.value(OpView { op, args }, expr, at);
                    if op.decl.name.key == ALLOC.key && !(is_value && expr == root) {
                        self.errors.add(at, format!("`{}` may only be the value of a binding", op.decl.name));
                    }
                }
                ExprKind::Call { .. } | ExprKind::Grid(_) => {
                    self.errors.add(at, "a TIR function has no HIR calls and loops".to_owned());
                }
                ExprKind::SymbolRef(name) => self.symbol(name, expr, at),
                ExprKind::Constant(_) | ExprKind::Tuple(_) | ExprKind::ShapeOf { .. } => {}
            }
        }
    }

    fn value(&mut self, view: OpView<'c>, expr: Expr<'c>, at: Option<Span>) {
        let name = view.op.decl.name;
        if name.dialect == "tf" {
            self.errors.add(at, format!("`{name}` is a HIR op and cannot stand in a TIR function"));
            return;
        }
        self.meshes(view.op, at);
        match self.cx.infer(view, at) {
            Ok(ty) if ty == expr.ty() => {}
            Ok(ty) => drop(
                self.errors
                    .add(at, format!("{} is written with type {}, but has type {ty}", expr.describe(), expr.ty())),
            ),
            Err(error) => self.errors.0.push(error.at(at)),
        }
    }

    /// Meshes in attributes are open, or part of an open one (V5; tir §6).
    fn meshes(&mut self, op: OpInstance<'c>, at: Option<Span>) {
        for mesh in self.scope.closed_meshes(self.cx, op) {
            let open: Vec<_> = self.scope.meshes.iter().map(|m| m.to_string()).collect();
            let error = self.errors.add(at, format!("`{}` is over {mesh}, which is not open here", op.decl.name));
            error.notes.push((
                None,
                match open.is_empty() {
                    true => "no mesh is open".to_owned(),
                    false => format!("open: {}", open.join(", ")),
                },
            ));
        }
    }
}
