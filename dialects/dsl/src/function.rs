//! `@func`: signature, body, result.

use ruff_python_ast as ast;
use rustc_hash::{FxHashMap, FxHashSet};
use tf_core::node::FunctionData;
use tf_core::{Expr, ExprKind, Function};
use tf_types::{Symbol, Type, TypeKind};

use crate::body::{Flow, bound_names, constrained, docstring, is_docstring};
use crate::parser::{Body, Parser};
use crate::refusal::{Refusal, Res};
use crate::value::Annotation;

type Constraints<'c> = FxHashMap<Expr<'c>, tf_core::node::Constraint<'c>>;

/// What a function is read as.
#[derive(Clone, Copy)]
pub(crate) enum Role<'c> {
    /// Of a module, or of the file.
    Member,
    /// An implementation of a dispatch prototype.
    Variant(Function<'c>),
    /// What makes a weight of the function ready.
    Converter(Function<'c>),
}

/// A parameter's name and variable; none where it is refused.
pub(crate) type Param<'c> = (Symbol<'c>, Option<Expr<'c>>);

impl<'c> Parser<'_, 'c> {
    /// Reads a function; its errors are reported.
    pub(crate) fn function(&mut self, def: &ast::StmtFunctionDef, role: Role<'c>) -> Res<Function<'c>> {
        let before = self.refused;
        let span = self.span(&def.name);
        if def.is_async {
            return Err(Refusal::unread(span, "async is not part of the language"));
        }
        if let Some(params) = &def.type_params {
            return Err(Refusal::unread(self.span(&**params), "type parameters are not part of the language"));
        }
        let params = self.params(&def.parameters)?;
        let declared = match &def.returns {
            None => None,
            Some(returns) => match self.annotation(returns) {
                Ok(annotation) => Some((annotation, self.span(&**returns))),
                Err(refusal) => {
                    self.report(refusal);
                    None
                }
            },
        };
        let (value, constraints) = self.function_body(def, &params, role)?;
        if self.refused > before {
            return Err(Refusal::Reported);
        }
        let mut params: Vec<_> = params.into_iter().filter_map(|(_, var)| var).collect();
        let value = value.map(|value| constrained(self.cx, value, &mut params, constraints)).transpose()?;
        let doc = def.body.first().and_then(docstring).map(|text| self.cx.symbol(text));
        let params = self.cx.alloc_slice(&params);
        let name = self.cx.symbol(def.name.as_str());
        let Some(value) = value else {
            let Some((annotation, _)) = declared else {
                let message = format!("the dispatch prototype `{name}` does not declare what it returns");
                return Err(Refusal::wrong(span, message).help("write `-> Tensor[shape, dtype]`"));
            };
            let data = FunctionData::prototype(name, params, annotation.ty, &[]);
            return Ok(self.cx.function(FunctionData { doc, span: Some(span), ..data }));
        };
        if let Some((annotation, at)) = &declared {
            let (annotation, at, name) = (*annotation, *at, name.as_str());
            check_result(name, &annotation, annotation.ty, value.ty())
                .map_err(|message| Refusal::wrong(at, message))
                .map_err(|refusal| match value.span() {
                Some(value) => refusal.also(value, "the value of the function"),
                None => refusal,
            })?;
        }
        let data = FunctionData { doc, span: Some(span), ..FunctionData::new(name, params, value, value.ty()) };
        let label = (name.as_str() != "_").then_some(name);
        Ok(self.cx.function(match role {
            Role::Member => data,
            Role::Variant(base) => {
                let return_type = declared.map_or(base.return_type, |(annotation, _)| annotation.ty);
                FunctionData { name: base.name, label, return_type, ..data }
            }
            Role::Converter(_) => FunctionData { label, ..data },
        }))
    }

    /// The parameters; a refused one is reported and has no variable.
    pub(crate) fn params(&mut self, parameters: &ast::Parameters) -> Res<Vec<Param<'c>>> {
        if let Some(special) = parameters.vararg.as_ref().or(parameters.kwarg.as_ref()) {
            let message = format!("the parameter `{}` stands for any number of arguments", special.name);
            return Err(Refusal::wrong(self.span(&**special), message).help("name every parameter"));
        }
        let mut params: Vec<Param<'c>> = Vec::new();
        let mut seen = FxHashSet::default();
        let all = parameters.posonlyargs.iter().chain(&parameters.args).chain(&parameters.kwonlyargs);
        for param in all {
            let name = self.cx.symbol(param.parameter.name.as_str());
            if !seen.insert(name) {
                self.report(Refusal::wrong(
                    self.span(&param.parameter.name),
                    format!("two parameters are named `{name}`"),
                ));
            }
            match self.param(param) {
                Ok(var) => params.push((name, Some(var))),
                Err(refusal) => {
                    self.report(refusal);
                    params.push((name, None));
                }
            }
        }
        Ok(params)
    }

    fn param(&mut self, param: &ast::ParameterWithDefault) -> Res<Expr<'c>> {
        let name = param.parameter.name.as_str();
        let span = self.span(&param.parameter);
        if let Some(default) = &param.default {
            return Err(Refusal::wrong(self.span(&**default), format!("the parameter `{name}` cannot have a default")));
        }
        let Some(annotation) = &param.parameter.annotation else {
            let refusal = Refusal::wrong(span, format!("the parameter `{name}` has no annotation"));
            return Err(match name {
                "self" | "cls" => refusal
                    .help("a function of the language has no `self`: it takes tensors, and calls functions by name"),
                _ => refusal.help(format!("write `{name}: Tensor[shape, dtype]`")),
            });
        };
        let annotation = self.annotation(annotation)?;
        let kind = ExprKind::Var { name: self.cx.symbol(name), is_const: annotation.is_const };
        Ok(self.cx.expr(kind, annotation.ty, self.meta(span, None)))
    }

    /// The value; none for the body `pass`.
    fn function_body(
        &mut self,
        def: &ast::StmtFunctionDef,
        params: &[Param<'c>],
        role: Role<'c>,
    ) -> Res<(Option<Expr<'c>>, Constraints<'c>)> {
        let stmts = match &def.body[..] {
            [first, rest @ ..] if is_docstring(first) => rest,
            all => all,
        };
        if let [ast::Stmt::Pass(pass)] = stmts {
            let (span, name) = (self.span(pass), &def.name);
            return match role {
                Role::Member => Ok((None, Constraints::default())),
                Role::Variant(base) => {
                    let message = format!("the variant `{name}` of `{}` has no body", base.name);
                    Err(Refusal::wrong(span, message).help("`pass` is for the function that has the variants"))
                }
                Role::Converter(base) => {
                    Err(Refusal::wrong(span, format!("a converter of `{}` has no body", base.name)))
                }
            };
        }
        let body = Body::new(self.cx.symbol(def.name.as_str()), params);
        let outer = self.body.replace(body);
        let before = self.refused;
        let flow = self.suite(stmts);
        let constraints = std::mem::replace(&mut self.body, outer).map(|body| body.constraints).unwrap_or_default();
        match flow {
            Flow::Return(Some(value)) | Flow::Next(Some(value)) => Ok((Some(value), constraints)),
            Flow::Return(None) => Err(Refusal::Reported),
            // A statement that was refused may have held the `return`.
            Flow::Next(None) if self.refused > before => Err(Refusal::Reported),
            Flow::Next(None) => {
                let at = self.end_of(stmts, &def.name);
                let refusal = Refusal::wrong(at, format!("the body of `{}` ends without `return`", def.name));
                let mut names = Vec::new();
                stmts.last().into_iter().for_each(|last| bound_names(last, &mut names));
                Err(match names[..] {
                    [name] => refusal.help(format!("end with `return {name}`")),
                    _ => refusal.help("a function ends with the value that it is: `return x`"),
                })
            }
        }
    }
}

/// Compares a declared return type with the body's: shape and dtype always, storage and placement where they are
/// written.
fn check_result<'c>(name: &str, slots: &Annotation<'c>, declared: Type<'c>, actual: Type<'c>) -> Result<(), String> {
    match (declared.data(), actual.data()) {
        (TypeKind::Tuple(want), TypeKind::Tuple(have)) if want.len() == have.len() => {
            want.iter().zip(*have).try_for_each(|(want, have)| check_result(name, slots, *want, *have))
        }
        (TypeKind::Tensor(want), TypeKind::Tensor(have)) => {
            let what = if want.shape != have.shape {
                "shape"
            } else if want.dtype != have.dtype {
                "dtype"
            } else if slots.states_storage && want.storage != have.storage {
                "storage"
            } else if slots.states_layout && !same_placement(want, have) {
                "layout"
            } else {
                return Ok(());
            };
            Err(format!("`{name}` declares {declared}, but its value has another {what}: {actual}"))
        }
        _ => Err(format!("`{name}` declares {declared}, but its value is {actual}")),
    }
}

fn same_placement(want: &tf_types::TensorType<'_>, have: &tf_types::TensorType<'_>) -> bool {
    match (want.shard(), have.shard()) {
        (Some(a), Some(b)) => a.layout.shape() == b.layout.shape() && a.attrs == b.attrs && a.mesh == b.mesh,
        (None, None) => want.layout == have.layout,
        _ => false,
    }
}
