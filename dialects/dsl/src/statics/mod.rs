//! Expressions of the language: compile-time values here, IR through [`crate::body`].

mod args;
mod assign;
mod attributes;
mod bound;
mod builtin;
mod class;
mod compare;
mod comprehension;
mod construct;
mod copies;
mod dataclass;
mod dict;
mod effects;
mod enums;
mod exceptions;
mod exec;
mod flags;
mod format;
mod functions;
mod heap;
mod imports;
mod instance;
mod items;
mod iter;
mod itertools;
pub(crate) mod kinds;
mod libraries;
mod library;
mod links;
mod math;
mod methods;
mod numbers;
mod order;
mod patterns;
mod placement;
mod python;
mod routine;
mod sets;
mod special;
mod targets;
mod text;
mod unread;

use std::rc::Rc;

pub(crate) use args::Args;
pub(crate) use attributes::Wrapper;
pub(crate) use bound::{names_of, outer_names, yields};
pub(crate) use class::Record;
pub(crate) use dataclass::Field;
pub(crate) use dict::{Dict, Flavour, Key, Set};
pub(crate) use effects::{Mentions, is_harmless};
pub(crate) use exceptions::exception;
pub(crate) use exec::Outcome;
pub(crate) use heap::{Heap, Ref, Unknown};
pub(crate) use instance::Instance;
pub(crate) use iter::{IntRange, Iter};
pub(crate) use numbers::unread_operator;
pub(crate) use python::Python;
pub(crate) use routine::is_followed;
use ruff_python_ast as ast;
use ruff_text_size::Ranged;
use tf_core::{Expr, Span};
use tf_types::{Dim, Symbol};
pub(crate) use unread::Unread;

use crate::body::extent_behind;
use crate::names::{self, Builtin};
use crate::parser::Parser;
use crate::prim::Platform;
use crate::refusal::{AtSpan, Refusal, Res, named_dtype, reduction, storage_member};
use crate::value::{Annotation, Bound, Value};

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
    /// The value of an expression, where it is read; a node that it makes last is named `bind`.
    pub(crate) fn eval(&mut self, expr: &ast::Expr, bind: Option<Symbol<'c>>) -> Res<Value<'c>> {
        let span = self.span(expr);
        let value = self.nested(span, |p| p.eval_at(expr, span, bind, false))?;
        if let Value::Unread(unread) = &value {
            return Err(self.unusable(expr, unread));
        }
        self.known(&value, span)?;
        if self.body.is_none() {
            self.tick(span)?;
            return Ok(value);
        }
        Ok(self.plain(value))
    }

    /// The value of an expression, which may be one that is not read; items of it where it `keeps` them.
    fn eval_at(&mut self, expr: &ast::Expr, span: Span, bind: Option<Symbol<'c>>, keeps: bool) -> Res<Value<'c>> {
        match expr {
            ast::Expr::NumberLiteral(number) => literal(&number.value, span),
            ast::Expr::BooleanLiteral(literal) => Ok(Value::Bool(literal.value)),
            ast::Expr::NoneLiteral(_) => Ok(Value::None),
            ast::Expr::StringLiteral(literal) => Ok(Value::Str(self.cx.symbol(literal.value.to_str()))),
            ast::Expr::Name(name) => self.lookup(name.id.as_str(), span),
            ast::Expr::Attribute(attribute) => self.attribute(attribute, span),
            ast::Expr::Tuple(tuple) => {
                let items = self.eval_all(&tuple.elts, keeps)?;
                self.tuple(items, span)
            }
            ast::Expr::List(list) => {
                let items = self.eval_all(&list.elts, keeps)?;
                Ok(self.heap.list(items))
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
                true => self.any(&choice.body),
                false => self.any(&choice.orelse),
            },
            ast::Expr::Lambda(lambda) if self.body.is_none() => Ok(self.lambda(lambda)),
            ast::Expr::Set(set) if self.body.is_none() => {
                let mut items = Vec::with_capacity(set.elts.len());
                for expr in &set.elts {
                    match expr {
                        ast::Expr::Starred(starred) => {
                            let value = self.looked(&starred.value)?;
                            items.extend(self.any_order(&value, span)?);
                        }
                        other => items.push(self.eval(other, None)?),
                    }
                }
                self.set_of(items, false, span)
            }
            ast::Expr::SetComp(set) if self.body.is_none() => {
                let items = self.elements(&set.elt, &set.generators, span)?;
                self.set_of(items, false, span)
            }
            ast::Expr::Generator(generator) if self.body.is_none() => self.generator(generator, span),
            ast::Expr::Named(named) if self.body.is_none() => self.named(named),
            ast::Expr::Dict(dict) if self.body.is_none() => self.dict(dict),
            ast::Expr::DictComp(dict) if self.body.is_none() => self.dict_comprehension(dict, span),
            other => Err(Refusal::unread(span, format!("{} is not part of the language", form(other)))),
        }
    }

    fn eval_all(&mut self, exprs: &[ast::Expr], keeps: bool) -> Res<Vec<Value<'c>>> {
        let mut values = Vec::with_capacity(exprs.len());
        for expr in exprs {
            match expr {
                ast::Expr::Starred(starred) => {
                    let span = self.span(expr);
                    let value = self.looked(&starred.value)?;
                    if self.body.is_some() && value.as_sequence().is_none() {
                        let message = format!("only a compile-time sequence is unpacked, found {}", value.describe());
                        return Err(Refusal::wrong(span, message));
                    }
                    values.extend(self.items_of(&value, span)?);
                }
                other if keeps => values.push(self.stored(other)?),
                other => values.push(self.eval(other, None)?),
            }
        }
        Ok(values)
    }

    fn attribute(&mut self, attribute: &ast::ExprAttribute, span: Span) -> Res<Value<'c>> {
        // A member of an enum is asked itself, also where it stands for its value.
        let inner = self.span(&*attribute.value);
        let base = self.nested(inner, |p| p.eval_at(&attribute.value, inner, None, true))?;
        if let Value::Unread(unread) = &base {
            return match self.body {
                None => Ok(self.unread_attribute(unread, &attribute.value, attribute.attr.as_str())),
                Some(_) => Err(self.unusable(&attribute.value, unread)),
            };
        }
        self.known(&base, inner)?;
        self.attribute_of(base, self.cx.symbol(attribute.attr.as_str()), &attribute.value, span)
    }

    /// `base.name`; `owner` is how the base is written.
    fn attribute_of(&mut self, base: Value<'c>, symbol: Symbol<'c>, owner: &ast::Expr, span: Span) -> Res<Value<'c>> {
        let name = symbol.as_str();
        match base {
            Value::Builtin(Builtin::Package) => match (names::exported(name), self.plugin_dialect(name)) {
                (Some(value), _) => Ok(value),
                (None, Some(dialect)) => Ok(Value::Dialect(dialect)),
                (None, None) => match names::of_the_host(name) {
                    Some(why) => Err(Refusal::unread(span, format!("`{name}` cannot be used: {why}"))),
                    None => Err(Refusal::unread(span, format!("tilefoundry has no `{name}`"))),
                },
            },
            Value::Dialect(dialect) => Ok(Value::Op(dialect, self.cx.symbol(name))),
            Value::Builtin(Builtin::Tf) => Ok(Value::Op("tf", self.cx.symbol(name))),
            Value::Builtin(Builtin::Tir) if name == "cuda" => Ok(Value::Platform(Platform::Cuda)),
            Value::Platform(platform) => self.platform_attribute(platform, name, span),
            Value::Builtin(Builtin::Tir) => Ok(Value::Op("T", self.cx.symbol(name))),
            Value::Builtin(Builtin::Kind(decl)) => self.kind_member(decl, name, span),
            Value::Kind(decl, at) => self.kind_attribute(decl, at, name, span),
            Value::Builtin(Builtin::DTypeEnum) => named_dtype(name, span).map(Value::DType),
            Value::Builtin(Builtin::StorageEnum) => storage_member(name, span).map(Value::Storage),
            Value::Mesh(mesh) => mesh.require_axis(name).map(|axis| Value::MeshAxis(mesh, axis)).at(span),
            Value::Expr(expr)
                if name == "shape"
                    && let Some(tensor) = expr.ty().as_tensor() =>
            {
                let extents =
                    tensor.shape.iter().enumerate().map(|(axis, &extent)| self.axis_extent(expr, axis, extent, span));
                let extents = extents.collect();
                self.tuple(extents, span)
            }
            Value::Expr(expr) if name == "type" && self.body.is_none() => {
                let (is_const, states_layout, states_storage) = (false, true, true);
                Ok(Value::Annotation(Annotation { ty: expr.ty(), is_const, states_layout, states_storage }))
            }
            Value::Annotation(annotation) if let Some(tensor) = annotation.ty.as_tensor() => match name {
                "shape" => {
                    let extents = tensor.shape.iter().map(|&extent| self.dim_value(extent));
                    self.tuple(extents.collect(), span)
                }
                "dtype" => Ok(Value::DType(tensor.dtype)),
                "storage" => Ok(Value::Storage(tensor.storage)),
                _ => Err(Refusal::unread(span, format!("a tensor type has no attribute `{name}` here"))),
            },
            Value::Factory(at) if name == "__name__" && self.body.is_none() => Ok(self.function_name(at)),
            Value::Op(dialect, op) if self.cx.ops().schemas(dialect, op.as_str()).is_empty() => {
                let written = self.text(owner);
                let refusal = Refusal::wrong(self.span(owner), format!("there is no `{written}`"));
                Err(match dialect {
                    "T" => refusal.help("the platform below `T` is `T.cuda`"),
                    _ => refusal.near(op.as_str(), self.cx.ops().names(dialect)),
                })
            }
            base if self.has_method(&base, name) => Ok(Value::Method(Rc::new((base, symbol)))),
            Value::Module(module) => {
                let object = self.text(owner);
                let refusal =
                    Refusal::unread(span, format!("`{object}.{name}`, a member of a module, is not used here"));
                Err(match (&self.body, module.entry) {
                    (None, _) => refusal,
                    (Some(_), Some(_)) => refusal.help(format!("`{object}(...)` calls its entry")),
                    (Some(_), None) => refusal
                        .help(format!("only the entry of a module is called; declare it: `@module(entry=\"{name}\")`")),
                })
            }
            Value::Builtin(Builtin::Library(module)) => {
                Ok(self.library(module, name).unwrap_or_else(|| Unread::of_library(module, name, self.span(owner))))
            }
            Value::Builtin(Builtin::Python(python)) if let Some(member) = python.member(name) => {
                Ok(Value::Builtin(Builtin::Python(member)))
            }
            Value::Wrapped(Wrapper::Property, _) if name == "setter" => {
                let setter = Value::Builtin(Builtin::Python(Python::Setter));
                Bound::value(setter, vec![base], Vec::new()).ok_or_else(|| too_deep(span))
            }
            Value::Builtin(Builtin::Python(Python::Object)) if name == "__setattr__" => {
                Ok(Value::Builtin(Builtin::Python(Python::SetFrozen)))
            }
            Value::Object(_) => match self.object_attribute(&base, name, span)? {
                Some(value) => Ok(value),
                None => match self.payload(&base).filter(|payload| self.has_method(payload, name)) {
                    Some(payload) => Ok(Value::Method(Rc::new((payload, symbol)))),
                    None => Err(self.no_attribute(&base, name, span)),
                },
            },
            Value::Record(record) => match self.record_attribute(record, name, span)? {
                Some(value) => Ok(value),
                None => Err(self.no_attribute(&base, name, span)),
            },
            Value::Super(ref parts) => match self.super_attribute(parts, name, span)? {
                Some(value) => Ok(value),
                None => Err(self.no_attribute(&base, name, span)),
            },
            other => {
                let object = self.source.text_of(owner);
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
        match &self.plain(value.clone()) {
            Value::Int(value) => Ok(self.cx.dim(*value)),
            Value::Dim(dim) => Ok(*dim),
            Value::Expr(expr) if let Some(extent) = extent_behind(self.cx, *expr) => Ok(extent),
            other => {
                self.read(other, span)?;
                Err(Refusal::wrong(span, format!("{what} must be a static int or a dim, found {}", other.describe())))
            }
        }
    }

    /// The dims of a tuple or list of extents.
    pub(crate) fn to_dims(&self, value: &Value<'c>, what: &str, span: Span) -> Res<Vec<Dim<'c>>> {
        let Some(items) = value.as_sequence() else {
            return Err(Refusal::wrong(span, format!("{what} must be a tuple of extents, found {}", value.describe())));
        };
        let entry = |item: &Value<'c>| match item {
            Value::Dim(dim) => Ok(*dim),
            Value::Int(extent) => Ok(self.cx.dim(*extent)),
            other => self.to_dim(other, &format!("an entry of {what}"), span),
        };
        items.iter().map(entry).collect()
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
