//! Making nodes: op instances from schemas, literals, calls.

use tf_core::op::{Attr, AttrDefault, AttrKind, OpDecl, OpInstance, ParamKind, Schema};
use tf_core::{Expr, Literal, Meta, Span};
use tf_types::{DType, Storage, Symbol};

use crate::parser::Parser;
use crate::refusal::{Refusal, Res, reduction};
use crate::value::Value;

/// Whether a value is an index: what loops count with and `dim` ops make.
pub(crate) fn is_index(expr: Expr<'_>) -> bool {
    expr.ty().as_tensor().is_some_and(|t| t.rank() == 0 && t.dtype == DType::I64 && t.storage == Storage::Umat)
}

/// Whether a value can be part of an index computation.
pub(crate) fn is_integer_scalar(expr: Expr<'_>) -> bool {
    expr.ty().as_tensor().is_some_and(|t| t.rank() == 0 && t.dtype.is_integer())
}

impl<'c> Parser<'_, 'c> {
    /// The one schema of a name that the surface itself needs, such as `add` for `+`.
    pub(crate) fn schema(&self, dialect: &str, name: &str, what: &str, span: Span) -> Res<Schema> {
        match self.cx.ops().schemas(dialect, name) {
            [schema, ..] => Ok(*schema),
            [] => Err(Refusal::wrong(span, format!("{what} needs the op `{dialect}.{name}`, which is not registered"))),
        }
    }

    /// Why no op of that name is called: it is of the other dialect, or there is none.
    pub(crate) fn unknown_op(&self, name: &str, span: Span) -> Refusal {
        let ops = self.cx.ops();
        let other = if self.is_prim() { "tf" } else { "T" };
        if !ops.schemas(other, name).is_empty() {
            return self.foreign_op(name, span);
        }
        if !self.is_prim() && name.ends_with('_') {
            let message = format!("unknown op `{name}`: the effect form `NAME_` belongs to `@prim_func`");
            return Refusal::wrong(span, message);
        }
        if let Some(refusal) = self.label(name, span) {
            return refusal;
        }
        let refusal = Refusal::wrong(span, format!("unknown op `{name}`"));
        if let Some(help) = reduction(name).filter(|_| !self.is_prim()) {
            return refusal.help(help);
        }
        self.near_bound(refusal, name, ops.names(self.dialect()))
    }

    pub(crate) fn foreign_op(&self, name: &str, span: Span) -> Refusal {
        let (own, (home, here)) = (self.dialect(), self.bodies());
        if !self.cx.ops().schemas(own, name).is_empty() {
            let message = format!("the `{name}` of `{home}` bodies is another op than that of a `{here}`");
            return Refusal::wrong(span, message).help(format!("write `{own}.{name}(...)`"));
        }
        let refusal = Refusal::wrong(span, format!("`{name}` is an op of `{home}` bodies and unknown in a `{here}`"));
        match self.counterpart(name) {
            Some(call) => refusal.help(format!("write `{call}`")),
            None => refusal,
        }
    }

    /// The decorators of the bodies of the other dialect and of this one.
    fn bodies(&self) -> (&'static str, &'static str) {
        if self.is_prim() { ("@func", "@prim_func") } else { ("@prim_func", "@func") }
    }

    /// How an alias of the other dialect is called here: by the op of its declaration and the attributes that it fixes.
    fn counterpart(&self, name: &str) -> Option<String> {
        let (own, ops) = (self.dialect(), self.cx.ops());
        let alias = ops.schemas(if self.is_prim() { "tf" } else { "T" }, name).first()?;
        let base = alias.decl.name.name;
        let here = ops.schemas(own, base).first()?;
        let variants = |decl: &'static OpDecl, key: &str| {
            decl.attributes().find(|param| param.name == key).and_then(|param| match param.kind {
                ParamKind::Attribute { kind: AttrKind::Enum(known), .. } => Some(known.variants),
                _ => None,
            })
        };
        let mut call = format!("{own}.{base}(...");
        for (key, value) in alias.fixed {
            let AttrDefault::Enum(value) = *value else { return None };
            let value = variants(alias.decl, key)?.get(usize::from(value))?;
            if !variants(here.decl, key)?.contains(value) {
                return None;
            }
            call += &format!(", {key}=\"{value}\"");
        }
        Some(call + ")")
    }

    /// A call of the op of a schema, attributes by name; those not given take the alias's or the default value.
    pub(crate) fn emit(
        &mut self,
        schema: Schema,
        inputs: &[Expr<'c>],
        attrs: &[(&str, Attr<'c>)],
        span: Span,
        bind: Option<Symbol<'c>>,
    ) -> Res<Expr<'c>> {
        if self.body.is_none() {
            return Err(Refusal::unread(span, format!("the op `{}` is called outside a function", schema.name)));
        }
        let op = self.op_of(schema, attrs, span)?;
        Ok(self.cx.call(op, inputs, self.meta(span, bind))?)
    }

    /// The op of a schema with attributes by name.
    pub(crate) fn op_of(&self, schema: Schema, attrs: &[(&str, Attr<'c>)], span: Span) -> Res<OpInstance<'c>> {
        let mut values = Vec::new();
        for param in schema.decl.attributes() {
            let ParamKind::Attribute { default, optional, .. } = param.kind else { continue };
            let given = attrs.iter().find(|(name, _)| *name == param.name).map(|(_, value)| *value);
            let fixed = schema.fixed.iter().find(|(name, _)| *name == param.name).map(|(_, value)| value.to_attr());
            let value = given.or(fixed).or(default.map(|d| d.to_attr())).or(optional.then_some(Attr::None));
            let Some(value) = value else {
                return Err(Refusal::wrong(span, format!("`{}` needs the attribute `{}`", schema.name, param.name)));
            };
            values.push(value);
        }
        Ok(self.cx.op_instance(schema.op, &values))
    }

    pub(crate) fn meta(&self, span: Span, bind: Option<Symbol<'c>>) -> Meta<'c> {
        Meta::at(span).named(bind)
    }

    /// An integer as a node.
    pub(crate) fn int_node(&self, value: i64, span: Span) -> Expr<'c> {
        self.cx.constant(Literal::Int(value), DType::I64, Meta::at(span))
    }

    /// Inputs of one op as nodes: a float takes the one float dtype of the tensors beside it, f32 where there is none;
    /// an integer is i64.
    pub(crate) fn nodes(&mut self, inputs: &[(Value<'c>, Span)]) -> Res<Vec<Expr<'c>>> {
        let mut floats: Vec<DType> = inputs
            .iter()
            .filter_map(|(value, _)| value.as_expr()?.ty().as_tensor().map(|t| t.dtype))
            .filter(|dtype| dtype.is_float())
            .collect();
        floats.sort_unstable();
        floats.dedup();
        let float = if let [dtype] = floats[..] { dtype } else { DType::F32 };
        inputs.iter().map(|(value, span)| self.node(value, float, *span)).collect()
    }

    /// One value as a node.
    pub(crate) fn node(&mut self, value: &Value<'c>, float: DType, span: Span) -> Res<Expr<'c>> {
        let cx = self.cx;
        let literal = |literal, dtype| Ok(cx.constant(literal, dtype, Meta::at(span)));
        match value {
            Value::Expr(expr) => Ok(*expr),
            Value::Window(window) => Ok(window.iv),
            Value::Bool(value) => literal(Literal::Bool(*value), DType::Bool),
            Value::Int(value) => literal(Literal::Int(*value), DType::I64),
            Value::Float(value) => literal(Literal::Float(*value), float),
            Value::Dim(dim) => self.dim_node(*dim, span),
            Value::MeshAxis(mesh, axis) => self.coordinate(*mesh, *axis, span),
            other => {
                self.read(other, span)?;
                Err(Refusal::wrong(span, format!("expected a tensor, found {}", other.describe())))
            }
        }
    }
}
