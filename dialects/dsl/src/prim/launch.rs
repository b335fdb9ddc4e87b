//! `launch(f, *args, grid=(x, y, z), block=(x, y, z))` in a host function.

use ruff_python_ast as ast;
use tf_core::op::{Attr, ParamKind};
use tf_core::{AnyFunction, Expr, ExprKind, Literal, Meta, Span};
use tf_types::{DType, Dim, DimVar, Symbol, Type};

use super::calls::{Params, described};
use crate::body::is_integer_scalar;
use crate::parser::Parser;
use crate::refusal::{Refusal, Res, foreign_keyword};
use crate::value::Value;

impl<'c> Parser<'_, 'c> {
    /// Starts a device function of the module, or the entry of a child.
    pub(crate) fn launch(&mut self, call: &ast::ExprCall, span: Span) -> Res<Value<'c>> {
        if !self.is_prim() {
            return Err(Refusal::wrong(span, "`launch` belongs to `@prim_func`"));
        }
        let Some((callee, args)) = call.arguments.args.split_first() else {
            return Err(Refusal::wrong(span, "`launch` needs the function or module to start"));
        };
        let (callee_span, function) = (self.span(callee), self.eval(callee, None)?);
        let (name, params, ty) = self.launched(&function, callee_span)?;
        let started = match function {
            Value::Prim(function) => Some(function.into()),
            Value::Function(function) => Some(self.latest(function).into()),
            _ => None,
        };
        if let Some(body) = &mut self.body {
            body.called.extend::<Option<AnyFunction<'c>>>(started);
        }
        let forwarded = self.arguments_of(name, &params, args, span)?;
        let schema = self.schema("T", "launch", "a launch", span)?;
        let (mut grid, mut block, mut attrs) = (None, None, Vec::<(&str, Attr<'c>)>::new());
        for keyword in &call.arguments.keywords {
            let at = self.span(keyword);
            let name = keyword.arg.as_ref().map_or("**", |name| name.as_str());
            let is_first = match name {
                "grid" => grid.replace(self.geometry(&keyword.value, "grid", &forwarded)?).is_none(),
                "block" => block.replace(self.geometry(&keyword.value, "block", &forwarded)?).is_none(),
                _ => {
                    let Some(param) = schema.decl.attributes().find(|param| param.name == name) else {
                        let known = schema.decl.attributes().map(|param| param.name);
                        let known: Vec<_> = ["grid", "block"].into_iter().chain(known).collect();
                        let message = format!("`launch` has no parameter `{name}`; it has {}", known.join(", "));
                        let refusal = Refusal::wrong(at, message);
                        return Err(match foreign_keyword(name, &known) {
                            Some(own) => refusal.help(format!("did you mean `{own}`?")),
                            None => refusal.near(name, known),
                        });
                    };
                    let ParamKind::Attribute { kind, optional, .. } = param.kind else { continue };
                    let value = self.attr(kind, optional, &keyword.value, &format!("`{name}` of `launch`"), span)?;
                    let is_first = attrs.iter().all(|(known, _)| *known != param.name);
                    attrs.push((param.name, value));
                    is_first
                }
            };
            if !is_first {
                return Err(Refusal::wrong(at, format!("`launch` gets `{name}` twice")));
            }
        }
        let (Some(grid), Some(block)) = (grid, block) else {
            return Err(Refusal::wrong(span, "`launch` needs `grid` and `block`"));
        };
        let mut inputs = vec![self.cx.expr(ExprKind::SymbolRef(name), ty, Meta::at(callee_span))];
        inputs.extend(grid.into_iter().chain(block));
        inputs.extend(forwarded);
        let op = self.op_of(schema, &attrs, span)?;
        self.effect(op, &inputs, &[], span)
    }

    /// What is launched, what is passed to it, and its type: a function of the module, or the entry of a child.
    fn launched(&self, value: &Value<'c>, span: Span) -> Res<(Symbol<'c>, Params<'c>, Type<'c>)> {
        match *value {
            Value::Prim(function) => {
                let (params, ty) = self.started(function.into(), span)?;
                Ok((function.name, params, ty))
            }
            Value::Function(function) => {
                let function = self.latest(function);
                let (params, ty) = self.started(function.into(), span)?;
                Ok((function.name, params, ty))
            }
            Value::Module(module) => {
                let name = module.name;
                if !self.domain.attached.contains(&module) {
                    let message = format!("`launch` starts a child of this module, and the module `{name}` is none");
                    return Err(Refusal::wrong(span, message)
                        .help(format!("attach it in the `@module` class of the caller: `{name} = {name}`")));
                }
                if self.domain.has_function(name) {
                    let message = format!("`{name}` is the name of a function and of a module in a group");
                    return Err(Refusal::wrong(span, message).help("rename one of them"));
                }
                let Some(entry) = module.entry_function() else {
                    let message = format!("`launch` starts the entry of a module, and `{name}` has none");
                    return Err(Refusal::wrong(span, message).help("declare it: `@module(entry=...)`"));
                };
                let (params, ty) = self.started(entry, span)?;
                Ok((name, params, ty))
            }
            ref other => {
                let message =
                    format!("`launch` starts a function or a child of the module, found {}", other.describe());
                Err(Refusal::wrong(span, message))
            }
        }
    }

    /// What a device function is passed: a `@func` takes its parameters, then one buffer for each result.
    fn started(&self, function: AnyFunction<'c>, span: Span) -> Res<(Params<'c>, Type<'c>)> {
        let callable = |types: &[Type<'c>]| self.cx.callable(types, self.cx.unit());
        match function {
            AnyFunction::Tir(function) => {
                let types: Vec<_> = function.params.iter().map(|param| param.ty()).collect();
                Ok((described(function), callable(&types)))
            }
            AnyFunction::Hir(function) => {
                let Some(types) = function.lowered_params(self.cx) else {
                    let message =
                        format!("`{}` returns {}, and buffers are tensors", function.name, function.return_type);
                    return Err(Refusal::wrong(span, message));
                };
                let own = function.params.iter().map(|param| param.describe());
                let results = (1..).map(|result| format!("result {result}"));
                let ty = callable(&types);
                Ok((own.chain(results).zip(types).collect(), ty))
            }
        }
    }

    /// Up to three extents; the missing ones are 1.
    fn geometry(&mut self, expr: &ast::Expr, what: &str, forwarded: &[Expr<'c>]) -> Res<[Expr<'c>; 3]> {
        let span = self.span(expr);
        let value = self.eval(expr, None)?;
        let items = value.as_sequence().map_or_else(|| vec![value.clone()], |items| items.to_vec());
        if items.is_empty() || items.len() > 3 {
            let message = format!("`{what}` is a tuple of one to three extents, found {}", items.len());
            return Err(Refusal::wrong(span, message));
        }
        let spans: Vec<Span> = match expr {
            ast::Expr::Tuple(tuple) if tuple.elts.len() == items.len() => {
                tuple.elts.iter().map(|item| self.span(item)).collect()
            }
            _ => vec![span; items.len()],
        };
        let mut extents = [self.int_node(1, span); 3];
        for (extent, (item, at)) in extents.iter_mut().zip(items.iter().zip(spans)) {
            *extent = match item {
                Value::Int(value) => self.cx.constant(Literal::Int(*value), DType::I64, Meta::at(at)),
                Value::Dim(dim) => {
                    self.dim_tree(*dim, at, &mut |p, dim, var| p.forwarded_extent(dim, var, forwarded, at))?
                }
                Value::Expr(scalar) if is_integer_scalar(*scalar) => self.unfolded(*scalar).unwrap_or(*scalar),
                other => {
                    let message = format!("an extent of `{what}` is an integer, found {}", other.describe());
                    return Err(Refusal::wrong(at, message));
                }
            };
        }
        Ok(extents)
    }

    /// A dim variable as the extent of the one forwarded axis that carries it.
    fn forwarded_extent(&self, dim: Dim<'c>, var: DimVar<'c>, forwarded: &[Expr<'c>], span: Span) -> Res<Expr<'c>> {
        let axes = forwarded.iter().flat_map(|&arg| {
            let shape = arg.ty().as_tensor().map_or(&[][..], |tensor| tensor.shape);
            shape.iter().enumerate().filter(move |(_, extent)| **extent == dim).map(move |(axis, _)| (arg, axis))
        });
        let axes: Vec<_> = axes.collect();
        let (name, is_param) = (var.name, |arg: Expr<'c>| self.body.iter().any(|body| body.param_set.contains(&arg)));
        match axes[..] {
            [(arg, axis)] if is_param(arg) => Ok(self.shape_of(arg, axis, span)),
            [] => Err(Refusal::wrong(span, format!("no tensor that is passed on has an axis of extent `{name}`"))),
            [(arg, axis), ..] => {
                let arg = arg.var_name().map_or("x", |name| name.as_str());
                let message = format!("`{name}` is the extent of {} axes that are passed on", axes.len());
                Err(Refusal::wrong(span, message).help(format!("say which: `{arg}.shape[{axis}]`")))
            }
        }
    }
}
