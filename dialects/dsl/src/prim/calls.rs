//! Effects: ops, and functions of the module.

use ruff_python_ast as ast;
use tf_core::hidden::forwarded_shape_scalars;
use tf_core::node::TirCallee;
use tf_core::op::{Attr, CallSpans, OpInstance, OpView};
use tf_core::{Expr, PrimFunction, Span, StmtKind};
use tf_infer::arguments;
use tf_types::{DType, Storage, Symbol, Type};

use crate::parser::Parser;
use crate::refusal::{Refusal, Res, named_storage};
use crate::value::{Annotation, Value};

/// What a function takes: how each parameter is called in messages, and its type.
pub(super) type Params<'c> = Vec<(String, Type<'c>)>;

pub(super) fn described(function: PrimFunction<'_>) -> Params<'_> {
    function.visible_params().iter().map(|param| (param.describe(), param.ty())).collect()
}

impl<'c> Parser<'_, 'c> {
    /// An effect op in statement position; its rule is checked at once.
    pub(crate) fn effect(
        &mut self,
        op: OpInstance<'c>,
        inputs: &[Expr<'c>],
        attrs: &[(&'static str, Span)],
        span: Span,
    ) -> Res<Value<'c>> {
        let args = self.cx.alloc_slice(inputs);
        if let Some(rule) = self.cx.ops().verify.get(op.id) {
            let operands: Vec<_> = args.iter().map(|arg| arg.span()).collect();
            let spans = CallSpans { call: Some(span), operands: &operands, attrs };
            rule(OpView { op, args }, self.cx).map_err(|error| error.into_diagnostic(spans))?;
        }
        let stmt = self.cx.stmt(StmtKind::Evaluate { callee: TirCallee::Op(op), args }, Some(span));
        if let Some(body) = &mut self.body {
            body.effects.push(stmt);
        }
        Ok(Value::None)
    }

    /// A call of a TIR function of the module.
    pub(crate) fn prim_call(&mut self, callee: PrimFunction<'c>, call: &ast::ExprCall, span: Span) -> Res<Value<'c>> {
        let name = callee.name;
        if !self.body.as_ref().is_some_and(|body| body.is_prim) {
            return Err(Refusal::wrong(span, format!("`{name}` is a `@prim_func`, which a `@func` does not call")));
        }
        if let Some(keyword) = call.arguments.keywords.first() {
            let message = format!("arguments of the function `{name}` are positional");
            return Err(Refusal::wrong(self.span(keyword), message));
        }
        let mut args = self.arguments_of(name, &described(callee), &call.arguments.args, span)?;
        let params = self.body.as_ref().map_or(&[][..], |body| &body.params);
        let extents = forwarded_shape_scalars(callee, &args, params).map_err(|hidden| {
            let message = format!("`{name}` needs {}, an extent that no parameter has here", hidden.describe());
            Refusal::wrong(span, message)
        })?;
        args.extend(extents.into_iter().map(|(param, axis)| self.shape_of(param, axis as usize, span)));
        let kind = StmtKind::Evaluate { callee: TirCallee::Symbol(name), args: self.cx.alloc_slice(&args) };
        let stmt = self.cx.stmt(kind, Some(span));
        if let Some(body) = &mut self.body {
            body.called.push(callee.into());
            body.effects.push(stmt);
        }
        Ok(Value::None)
    }

    /// What is written for the parameters that callers see.
    pub(super) fn arguments_of(
        &mut self,
        name: Symbol<'c>,
        params: &Params<'c>,
        args: &[ast::Expr],
        span: Span,
    ) -> Res<Vec<Expr<'c>>> {
        if args.len() != params.len() {
            let message = format!("`{name}` takes {}, found {}", arguments(params.len()), args.len());
            return Err(Refusal::wrong(span, message));
        }
        let mut read = Vec::with_capacity(args.len());
        for (arg, (param, ty)) in args.iter().zip(params) {
            let (at, value) = (self.span(arg), self.eval(arg, None)?);
            let arg = self.node(&value, DType::F32, at)?;
            if arg.ty() != *ty {
                let message = format!("{param} of `{name}` is {ty}, found {}", arg.ty());
                return Err(Refusal::wrong(at, message));
            }
            read.push(arg);
        }
        Ok(read)
    }

    /// `Tensor(shape, dtype, layout, storage)`: memory of that type.
    pub(crate) fn allocation(&mut self, call: &ast::ExprCall, bind: Option<Symbol<'c>>) -> Res<Value<'c>> {
        let span = self.span(call);
        let ty = self.tensor_type(call, "Tensor", span)?;
        let schema = self.schema("T", "alloc_tensor", "an allocation", span)?;
        self.emit(schema, &[], &[("tensor_type", Attr::Type(ty.ty))], span, bind).map(Value::Expr)
    }

    /// `TensorType(shape=…, dtype=…, layout=…, storage=…)`.
    pub(crate) fn tensor_type(&mut self, call: &ast::ExprCall, what: &str, span: Span) -> Res<Annotation<'c>> {
        let given = self.arguments(call, what, &["shape", "dtype", "layout", "storage"])?;
        let (Some(shape), Some(dtype)) = (given[0], given[1]) else {
            return Err(Refusal::wrong(span, format!("`{what}` needs a shape and a dtype")));
        };
        let extents = self.eval(shape, None)?;
        let shape = self.to_dims(&extents, "the shape", self.span(shape))?;
        let dtype = self.dtype(dtype)?;
        let layout = match given[2] {
            None => None,
            Some(layout) => {
                let at = self.span(layout);
                match self.eval(layout, None)? {
                    Value::None => None,
                    other => match other.as_layout() {
                        Some(layout) => Some(layout),
                        None => {
                            return Err(Refusal::wrong(at, format!("expected a layout, found {}", other.describe())));
                        }
                    },
                }
            }
        };
        let storage = match given[3] {
            None => Storage::Gmem,
            Some(storage) => {
                let at = self.span(storage);
                match self.eval(storage, None)? {
                    Value::Str(name) => named_storage(name.as_str(), at)?,
                    Value::Storage(storage) => storage,
                    other => {
                        return Err(Refusal::wrong(at, format!("expected a storage, found {}", other.describe())));
                    }
                }
            }
        };
        let ty = self.cx.tensor(self.cx.normal_dims(&shape), dtype, layout, storage);
        Ok(Annotation { ty, is_const: false, states_layout: layout.is_some(), states_storage: true })
    }
}
