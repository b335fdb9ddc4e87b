//! Expressions of the language: compile-time values here, IR through [`crate::body`].

mod args;
mod builtin;
mod changes;
mod compare;
mod construct;
mod dict;
mod exec;
mod format;
mod imports;
mod instance;
mod math;
mod numbers;
mod placement;
mod places;
mod python;
mod record;
mod sequences;
mod stale;
mod targets;
mod text;

pub(crate) use args::Args;
pub(crate) use dict::Dict;
pub(crate) use exec::Outcome;
pub(crate) use numbers::unread_operator;
pub(crate) use python::Python;
pub(crate) use record::{Object, Record};
use ruff_python_ast as ast;
use ruff_text_size::Ranged;
pub(crate) use stale::{Stale, yields};
use tf_core::{Expr, ExprKind, Span};
use tf_types::{Dim, Symbol};

use crate::names::{self, Builtin};
use crate::parser::Parser;
use crate::prim::Platform;
use crate::refusal::{AtSpan, Refusal, Res, named_dtype, reduction};
use crate::value::{Annotation, Value};

/// The Python name of an expression form that is not read.
pub(crate) fn form(expr: &ast::Expr) -> &'static str {
    match expr {
        ast::Expr::Named(_) => "an assignment expression `:=`",
        ast::Expr::Lambda(_) => "a lambda",
        ast::Expr::If(_) => "a conditional expression `if … else`",
        ast::Expr::Dict(_) => "a dict",
        ast::Expr::Set(_) => "a set outside layout sugar",
        ast::Expr::ListComp(_) => "a list comprehension here",
        ast::Expr::SetComp(_) => "a set comprehension",
        ast::Expr::DictComp(_) => "a dict comprehension",
        ast::Expr::Generator(_) => "a generator expression",
        ast::Expr::Await(_) => "await",
        ast::Expr::Yield(_) | ast::Expr::YieldFrom(_) => "yield",
        ast::Expr::FString(_) | ast::Expr::TString(_) => "a formatted string",
        ast::Expr::BytesLiteral(_) => "a bytes literal",
        ast::Expr::EllipsisLiteral(_) => "`...`",
        ast::Expr::Starred(_) => "an unpacked `*` argument",
        ast::Expr::Slice(_) => "a slice outside a subscript",
        _ => "this expression",
    }
}

impl<'c> Parser<'_, 'c> {
    /// The value of an expression; a node that it makes last is named `bind`.
    pub(crate) fn eval(&mut self, expr: &ast::Expr, bind: Option<Symbol<'c>>) -> Res<Value<'c>> {
        let span = self.span(expr);
        let value = self.nested(span, |p| p.eval_at(expr, span, bind))?;
        self.fresh(&value, span)?;
        Ok(value)
    }

    fn eval_at(&mut self, expr: &ast::Expr, span: Span, bind: Option<Symbol<'c>>) -> Res<Value<'c>> {
        match expr {
            ast::Expr::NumberLiteral(number) => literal(&number.value, span),
            ast::Expr::BooleanLiteral(literal) => Ok(Value::Bool(literal.value)),
            ast::Expr::NoneLiteral(_) => Ok(Value::None),
            ast::Expr::StringLiteral(literal) => Ok(Value::Str(self.cx.symbol(literal.value.to_str()))),
            ast::Expr::Name(name) => self.lookup(name.id.as_str(), span),
            ast::Expr::Attribute(attribute) => self.attribute(attribute, span),
            ast::Expr::Tuple(tuple) => {
                let items = self.eval_all(&tuple.elts)?;
                Value::tuple(items).ok_or_else(|| too_deep(span))
            }
            ast::Expr::List(list) => {
                let items = self.eval_all(&list.elts)?;
                Value::list(items).ok_or_else(|| too_deep(span))
            }
            ast::Expr::BinOp(binary) => self.binary(binary, bind),
            ast::Expr::UnaryOp(unary) => self.unary(unary, span, bind),
            ast::Expr::BoolOp(logical) => self.logical(logical, span, bind),
            ast::Expr::Compare(compare) => self.compare(compare, span, bind),
            ast::Expr::Call(call) => self.call(call, span, bind),
            ast::Expr::Subscript(subscript) => self.subscript(subscript, span, bind),
            ast::Expr::ListComp(comprehension) => self.comprehension(comprehension, span),
            ast::Expr::FString(string) => self.format(string, span),
            ast::Expr::If(choice) if self.body.is_none() => match self.truth(&choice.test)? {
                true => self.eval(&choice.body, None),
                false => self.eval(&choice.orelse, None),
            },
            ast::Expr::Lambda(lambda) if self.body.is_none() => Ok(self.lambda(lambda)),
            ast::Expr::Set(set) if self.body.is_none() => {
                let items = self.eval_all(&set.elts)?;
                self.set_of(items, span)
            }
            ast::Expr::SetComp(set) if self.body.is_none() => {
                let items = self.elements(&set.elt, &set.generators, span)?;
                self.set_of(items, span)
            }
            ast::Expr::Named(named) if self.body.is_none() => {
                let value = self.eval(&named.value, None)?;
                self.assign_constant(&named.target, value.clone())?;
                Ok(value)
            }
            ast::Expr::Dict(dict) if self.body.is_none() => self.dict(dict),
            ast::Expr::DictComp(dict) if self.body.is_none() => self.dict_comprehension(dict, span),
            other => Err(Refusal::unread(span, format!("{} is not part of the language", form(other)))),
        }
    }

    fn eval_all(&mut self, exprs: &[ast::Expr]) -> Res<Vec<Value<'c>>> {
        let mut values = Vec::with_capacity(exprs.len());
        for expr in exprs {
            match expr {
                ast::Expr::Starred(starred) => {
                    let span = self.span(expr);
                    let value = self.eval(&starred.value, None)?;
                    let items = match value.as_sequence() {
                        Some(items) => items.to_vec(),
                        None if self.body.is_none() => self.items_of(&value, span)?,
                        None => {
                            let message =
                                format!("only a compile-time sequence is unpacked, found {}", value.describe());
                            return Err(Refusal::wrong(span, message));
                        }
                    };
                    self.count_elements(items.len(), span)?;
                    values.extend(items);
                }
                other => values.push(self.eval(other, None)?),
            }
        }
        Ok(values)
    }

    fn attribute(&mut self, attribute: &ast::ExprAttribute, span: Span) -> Res<Value<'c>> {
        let base = self.eval(&attribute.value, None)?;
        let name = attribute.attr.as_str();
        match base {
            Value::Builtin(Builtin::Package) => match names::exported(name) {
                Some(value) => Ok(value),
                None => Err(Refusal::unread(span, format!("tilefoundry has no `{name}`"))),
            },
            Value::Dialect(dialect) => Ok(Value::Op(dialect, self.cx.symbol(name))),
            Value::Builtin(Builtin::Tf) => Ok(Value::Op("tf", self.cx.symbol(name))),
            Value::Builtin(Builtin::Tir) if name == "cuda" => Ok(Value::Platform(Platform::Cuda)),
            Value::Platform(platform) => self.platform_attribute(platform, name, span),
            Value::Builtin(Builtin::Tir) => Ok(Value::Op("T", self.cx.symbol(name))),
            Value::Builtin(Builtin::KindEnum) => Ok(Value::Str(self.cx.symbol(&name.to_lowercase()))),
            Value::Builtin(Builtin::DTypeEnum) => named_dtype(name, span).map(Value::DType),
            Value::Mesh(mesh) => mesh.require_axis(name).map(|axis| Value::MeshAxis(mesh, axis)).at(span),
            Value::Expr(expr)
                if name == "shape"
                    && let Some(tensor) = expr.ty().as_tensor() =>
            {
                let extents =
                    tensor.shape.iter().enumerate().map(|(axis, &extent)| self.axis_extent(expr, axis, extent, span));
                Value::tuple(extents.collect()).ok_or_else(|| too_deep(span))
            }
            Value::Expr(expr) if name == "type" && self.body.is_none() => {
                let (is_const, states_layout, states_storage) = (false, true, true);
                Ok(Value::Annotation(Annotation { ty: expr.ty(), is_const, states_layout, states_storage }))
            }
            Value::Annotation(annotation) if let Some(tensor) = annotation.ty.as_tensor() => match name {
                "shape" => {
                    let extents = tensor.shape.iter().map(|&extent| self.dim_value(extent));
                    Value::tuple(extents.collect()).ok_or_else(|| too_deep(span))
                }
                "dtype" => Ok(Value::DType(tensor.dtype)),
                "storage" => Ok(Value::Storage(tensor.storage)),
                _ => Err(Refusal::unread(span, format!("a tensor type has no attribute `{name}` here"))),
            },
            Value::Module(module) => {
                let object = self.text(&*attribute.value);
                let refusal =
                    Refusal::unread(span, format!("`{object}.{name}`, a member of a module, is not used here"));
                Err(match module.entry.filter(|_| self.body.is_some()) {
                    Some(_) => refusal.help(format!("`{object}(...)` calls its entry")),
                    None => refusal,
                })
            }
            Value::Builtin(Builtin::Library(module)) => self.library(module, name).ok_or_else(|| {
                Refusal::unread(span, format!("`{module}.{name}` is not read, and authoring files are not executed"))
            }),
            Value::Object(object) => self.object_attribute(&object, name, span),
            Value::Record(record) => self.record_attribute(record, name, span),
            other => {
                let object = self.source.text_of(&*attribute.value);
                let message = format!("`{object}` is {} and has no attribute `{name}`", other.describe());
                let dialect = self.dialect();
                let is_op = other.as_expr().is_some() && !self.cx.ops().schemas(dialect, name).is_empty();
                let refusal = Refusal::unread(span, message);
                Err(match (is_op, name, self.is_prim()) {
                    (_, _, false)
                        if other.as_expr().is_some()
                            && let Some(help) = reduction(name) =>
                    {
                        refusal.help(help)
                    }
                    (true, ..) => refusal.help(format!("an op is a function: `{dialect}.{name}({object}, ...)`")),
                    (false, "T", false) => refusal.help(format!("write `tf.transpose({object}, perm=(1, 0))`")),
                    _ => refusal,
                })
            }
        }
    }

    /// One axis of `x.shape`: the extent; of a parameter in TIR its run-time value where it is symbolic.
    fn axis_extent(&self, expr: Expr<'c>, axis: usize, extent: Dim<'c>, span: Span) -> Value<'c> {
        let is_param = self.body.as_ref().is_some_and(|body| body.is_prim && body.param_set.contains(&expr));
        match self.dim_value(extent) {
            Value::Dim(_) if is_param => Value::Expr(self.shape_of(expr, axis, span)),
            value => value,
        }
    }

    /// An integer or symbolic extent.
    pub(crate) fn dim(&mut self, expr: &ast::Expr, what: &str) -> Res<Dim<'c>> {
        let value = self.eval(expr, None)?;
        self.to_dim(&value, what, self.span(expr))
    }

    pub(crate) fn to_dim(&self, value: &Value<'c>, what: &str, span: Span) -> Res<Dim<'c>> {
        match value {
            Value::Int(value) => Ok(self.cx.dim(*value)),
            Value::Dim(dim) => Ok(*dim),
            Value::Expr(expr) if let Some(extent) = extent_of(*expr) => Ok(extent),
            other => {
                Err(Refusal::wrong(span, format!("{what} must be an integer or a dim, found {}", other.describe())))
            }
        }
    }

    /// The dims of a tuple or list of extents.
    pub(crate) fn to_dims(&self, value: &Value<'c>, what: &str, span: Span) -> Res<Vec<Dim<'c>>> {
        let Some(items) = value.as_sequence() else {
            return Err(Refusal::wrong(span, format!("{what} must be a tuple of extents, found {}", value.describe())));
        };
        items.iter().map(|item| self.to_dim(item, &format!("an entry of {what}"), span)).collect()
    }

    /// A dim as a value: integers are integers.
    pub(crate) fn dim_value(&self, dim: Dim<'c>) -> Value<'c> {
        let dim = self.cx.simplify(dim);
        dim.as_const().map_or(Value::Dim(dim), Value::Int)
    }

    pub(crate) fn text(&self, node: &impl Ranged) -> String {
        self.source.text_of(node)
    }
}

/// The dim behind the run-time extent of a parameter.
fn extent_of(expr: Expr<'_>) -> Option<Dim<'_>> {
    let ExprKind::ShapeOf { param, axis } = expr.kind else { return None };
    param.ty().as_tensor()?.shape.get(axis as usize).copied()
}

fn too_deep(span: Span) -> Refusal {
    let limit = crate::value::SEQUENCE_DEPTH;
    Refusal::wrong(span, format!("tuples and lists are nested more than {limit} deep"))
}

fn literal<'c>(number: &ast::Number, span: Span) -> Res<Value<'c>> {
    match number {
        ast::Number::Int(value) => value
            .as_i64()
            .map(Value::Int)
            .ok_or_else(|| Refusal::unread(span, format!("the integer {value} does not fit into 64 bits"))),
        ast::Number::Float(value) => Ok(Value::Float(*value)),
        ast::Number::Complex { .. } => Err(Refusal::unread(span, "complex numbers are no values of the language")),
    }
}
