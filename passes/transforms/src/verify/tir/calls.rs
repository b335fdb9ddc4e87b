//! Effects and calls.

use tf_core::diag::did_you_mean;
use tf_core::op::{CallSpans, OpCall, OpForm, OpInstance, OpView};
use tf_core::{AnyFunction, Expr, PrimFunction, Span, TargetKind};
use tf_types::Symbol;

use super::{Check, place};

impl<'c> Check<'_, 'c> {
    pub(super) fn effect(&mut self, op: OpInstance<'c>, args: &'c [Expr<'c>], span: Option<Span>) {
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
        let view = OpView { op, args };
        if let Err(error) = rule(view, self.cx) {
            let spans: Vec<_> = args.iter().map(|arg| arg.span()).collect();
            self.errors.0.push(error.into_diagnostic(CallSpans { call: span, operands: &spans, attrs: &[] }));
            return;
        }
        self.placed_effect(view, span);
        if let Some(launch) = OpCall::new(view) {
            self.launch(launch, span);
        }
    }

    pub(super) fn call(&mut self, name: Symbol<'c>, args: &'c [Expr<'c>], span: Option<Span>) {
        args.iter().for_each(|&arg| self.expr(arg, span, false));
        let Some(callee) = self.callee(name, span) else { return };
        if callee.params.len() != args.len() {
            let message = format!("`{name}` has {} parameters, found {} arguments", callee.params.len(), args.len());
            self.errors.add(span, message);
            return;
        }
        if self.function.target != callee.target {
            let (own, other) = (self.function.target, callee.target);
            let message = format!("`{}` runs on {own} and calls `{name}`, which runs on {other}", self.function.name);
            self.errors.add(span, message).help = Some(match (own.kind, other.kind) {
                (TargetKind::Cpu, TargetKind::Cuda) => {
                    format!("start it: `launch({name}, ..., grid=(...), block=(...))`")
                }
                _ => "a call stays on one target".to_owned(),
            });
        }
        for (param, &arg) in callee.params.iter().zip(args) {
            if param.ty() != arg.ty() {
                let message =
                    format!("parameter {} of `{name}` is {}, found {}", param.describe(), param.ty(), arg.ty());
                self.errors.add(place(arg, span), message);
            }
        }
    }

    pub(super) fn callee(&mut self, name: Symbol<'c>, span: Option<Span>) -> Option<PrimFunction<'c>> {
        if let Some(AnyFunction::Tir(callee)) = self.names.lookup(name) {
            return Some(callee);
        }
        let known = self.module.functions.iter().filter(|f| matches!(f, AnyFunction::Tir(_)));
        let near = did_you_mean(name.as_str(), known.map(|f| f.name().as_str()));
        let error = self.errors.add(span, format!("there is no TIR function `{name}`"));
        error.help = Some(match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("calls and launches are of functions of the module `{}`", self.module.name),
        });
        None
    }

    /// What a symbol stands for is launched; it has that type.
    pub(super) fn symbol(&mut self, name: Symbol<'c>, expr: Expr<'c>, at: Option<Span>) {
        let params = match self.names.launched(name) {
            // It becomes a TIR function.
            Some(AnyFunction::Hir(callee)) => callee.lowered_params(self.cx),
            Some(AnyFunction::Tir(callee)) => Some(callee.params.iter().map(|p| p.ty()).collect()),
            None => self.callee(name, at).map(|callee| callee.params.iter().map(|p| p.ty()).collect()),
        };
        let Some(params) = params else { return };
        let ty = self.cx.callable(&params, self.cx.unit());
        if ty != expr.ty() {
            self.errors.add(at, format!("`{name}` is written with type {}, but has type {ty}", expr.ty()));
        }
    }
}
