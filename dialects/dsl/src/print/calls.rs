//! Calls of ops by their surface names, attributes as keywords.

use tf_core::op::{Attr, AttrDefault, AttrKind, OpInstance, ParamKind, Schema};
use tf_core::{Diagnostic, Expr, ExprKind, Literal, Result};
use tf_types::{DType, Storage};

use super::Printer;
use super::doc::Doc;
use super::python::{self, is_name, string};

/// The dtype that a float literal takes beside these operands: that of the floats, `f32` where they name none or several.
fn float_dtype(args: &[Expr<'_>]) -> DType {
    let floats = args.iter().filter(|arg| arg.literal().is_none());
    let mut floats = floats.filter_map(|arg| arg.ty().as_tensor()).map(|t| t.dtype).filter(|dtype| dtype.is_float());
    match floats.next() {
        Some(first) if floats.all(|dtype| dtype == first) => first,
        _ => DType::F32,
    }
}

impl<'c> Printer<'_, 'c> {
    /// A literal where it is read as a constant of the type that it has.
    pub(super) fn literal(&self, expr: Expr<'c>, float: DType) -> Result<String> {
        let ExprKind::Constant(literal) = expr.kind else { return Ok(String::new()) };
        let (text, dtype) = match literal {
            Literal::Bool(true) => (Some("True".to_owned()), DType::Bool),
            Literal::Bool(false) => (Some("False".to_owned()), DType::Bool),
            Literal::Int(value) => (Some(value.to_string()), DType::I64),
            Literal::Float(value) => (python::float(value), float),
        };
        match text {
            Some(text) if expr.ty() == self.cx.scalar(dtype) => Ok(text),
            Some(text) => Err(Diagnostic::error(format!(
                "the literal {text} is read as {} here, and the constant is {}",
                self.cx.scalar(dtype),
                expr.ty()
            ))),
            None => Err(Diagnostic::error("the DSL has no nan with these bits")),
        }
    }

    /// Checks that the literals among the operands of one call are read with their types.
    pub(super) fn check_literals(&self, args: &[Expr<'c>]) -> Result<()> {
        let literals = || args.iter().filter(|arg| arg.literal().is_some());
        if literals().next().is_none() {
            return Ok(());
        }
        let float = float_dtype(args);
        literals().try_for_each(|&arg| self.literal(arg, float).map(drop))
    }

    /// The name by which an op is called: an alias that fixes its kind, else its own.
    pub(super) fn surface(&mut self, op: OpInstance<'c>) -> Schema {
        if let Some(&schema) = self.surfaces.get(&op) {
            return schema;
        }
        let states = |&(name, value): &(&str, AttrDefault)| op.attr(name) == Some(value.to_attr());
        let name = op.decl.name;
        let ops = self.cx.ops();
        let own = Schema { name: name.name, op: op.id, decl: op.decl, fixed: &[] };
        // Python's own functions (`min`) are no good names for ops.
        let aliases = ops.names(name.dialect).into_iter().filter(|alias| crate::names::word(alias).is_none());
        let aliases = aliases.flat_map(|alias| ops.schemas(name.dialect, alias));
        let mut fits = aliases.filter(|s| s.op == op.id && !s.fixed.is_empty() && s.fixed.iter().all(states));
        let schema = fits.next().copied().unwrap_or(own);
        self.surfaces.insert(op, schema);
        schema
    }

    /// `name(inputs, attribute=value)`; `callee` is the name as it is written.
    pub(super) fn op_call(&mut self, callee: String, op: OpInstance<'c>, args: &[Expr<'c>]) -> Result<Doc> {
        self.check_literals(args)?;
        let schema = self.surface(op);
        let (mut items, mut keywords) = (Vec::new(), Vec::new());
        let (mut rest, mut attrs) = (args, op.attrs().iter());
        let is_single = schema.decl.name.dialect == "T" && schema.decl.params.len() == 1;
        let mut is_positional = true;
        for param in schema.decl.params {
            let value = match param.kind {
                ParamKind::Input { variadic: true, .. } => {
                    let all = rest.iter().map(|&arg| self.operand(arg)).collect::<Result<Vec<_>>>()?;
                    rest = &[];
                    Doc::tuple(all)
                }
                ParamKind::Input { .. } => match rest.split_first() {
                    Some((&arg, others)) => {
                        rest = others;
                        self.operand(arg)?
                    }
                    None => {
                        is_positional = false;
                        continue;
                    }
                },
                ParamKind::Attribute { kind, default, .. } => {
                    let Some(&value) = attrs.next() else { continue };
                    if schema.fixed.iter().any(|(name, _)| *name == param.name) {
                        continue;
                    }
                    is_positional &= is_single;
                    let is_absent = value == Attr::None && default.is_none_or(|d| d == AttrDefault::None);
                    if is_absent {
                        continue;
                    }
                    keywords.push(param.name);
                    self.attr(kind, value)?
                }
            };
            if !is_name(param.name) {
                let message = format!("the DSL has no keyword `{}`, a parameter of `{}`", param.name, schema.decl.name);
                return Err(Diagnostic::error(message));
            }
            items.push(if is_positional { value } else { Doc::keyword(param.name, value) });
        }
        self.check_overload(schema, args, &keywords)?;
        Ok(Doc::call(callee, items))
    }

    /// Of several schemas of a name the first whose inputs fit is called.
    fn check_overload(&self, schema: Schema, args: &[Expr<'c>], keywords: &[&str]) -> Result<()> {
        let name = schema.decl.name;
        let schemas = self.cx.ops().schemas(name.dialect, schema.name);
        let Some((last, earlier)) = schemas.split_last() else { return Ok(()) };
        let fits = |other: &&Schema| {
            let (least, most) = other.decl.arity();
            let has = |keyword: &&str| {
                let fixed = other.fixed.iter().any(|(name, _)| name == keyword);
                !fixed && other.decl.attributes().any(|param| param.name == *keyword)
            };
            args.len() >= least
                && most.is_none_or(|most| args.len() <= most)
                && keywords.iter().all(has)
                && crate::body::patterns_match(**other, args)
        };
        let chosen = earlier.iter().find(fits).unwrap_or(last);
        if chosen.op == schema.op {
            return Ok(());
        }
        Err(Diagnostic::error(format!("the call `{}` is one of `{}`, not of `{name}`", schema.name, chosen.decl.name)))
    }

    pub(super) fn attr(&mut self, kind: AttrKind, value: Attr<'c>) -> Result<Doc> {
        let plain = |text: &str| Ok(Doc::from(text));
        match (value, kind) {
            (Attr::None, _) => plain("None"),
            (Attr::Bool(true), _) => plain("True"),
            (Attr::Bool(false), _) => plain("False"),
            (Attr::Int(value), _) => Ok(value.to_string().into()),
            (Attr::Float(bits), _) => match python::float(f64::from_bits(bits)) {
                Some(text) => Ok(text.into()),
                None => Err(Diagnostic::error("the DSL has no nan with these bits")),
            },
            (Attr::Str(text), _) => Ok(string(text.as_str()).into()),
            (Attr::Enum(at), AttrKind::Enum(decl)) => Ok(string(decl.variants[usize::from(at)]).into()),
            (Attr::Enum(at), _) => Ok(at.to_string().into()),
            (Attr::DType(dtype), _) => Ok(string(dtype.name()).into()),
            (Attr::Storage(Storage::Umat), _) => Ok(string(Storage::Umat.name()).into()),
            (Attr::Storage(storage), _) => plain(self.file.import(storage.name())),
            (Attr::Ints(values), _) => Ok(Doc::tuple(values.iter().map(|value| value.to_string().into()).collect())),
            (Attr::Dim(dim), _) => self.dim(dim).map(Doc::Text),
            (Attr::Dims(dims), _) => self.dims(dims),
            (Attr::Layout(layout), _) => self.layout(layout),
            (Attr::Shard(shard), _) => self.shard(shard),
            (Attr::Mesh(mesh), _) => self.mesh(mesh).map(Doc::Text),
            (Attr::Type(ty), _) if self.scope.is_prim => self.tensor_type(ty),
            (Attr::Type(ty), _) => self.annotation(ty, false).or_else(|_| self.tensor_type(ty)),
        }
    }
}
