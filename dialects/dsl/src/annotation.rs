//! `Tensor[shape, dtype, layout, storage]`.

use ruff_python_ast as ast;
use tf_core::Span;
use tf_types::{DType, Dim, ShardLayout, Storage, TensorLayout};

use crate::names::Builtin;
use crate::parser::Parser;
use crate::refusal::{AtSpan, Refusal, Res, named_dtype, named_storage};
use crate::sugar;
use crate::value::{Annotation, Value};

impl<'c> Parser<'_, 'c> {
    /// A parameter's or return value's annotation.
    pub(crate) fn annotation(&mut self, expr: &ast::Expr) -> Res<Annotation<'c>> {
        let span = self.span(expr);
        if let ast::Expr::Tuple(tuple) = expr {
            return self.tuple_annotation(&tuple.elts);
        }
        match self.eval(expr, None)? {
            Value::Annotation(annotation) => Ok(annotation),
            Value::Str(_) => {
                Err(Refusal::wrong(span, "an annotation is not quoted").help("write `Tensor[shape, dtype]`"))
            }
            other => Err(Refusal::wrong(span, format!("expected `Tensor[shape, dtype]`, found {}", other.describe()))),
        }
    }

    fn tuple_annotation(&mut self, fields: &[ast::Expr]) -> Res<Annotation<'c>> {
        let fields = fields.iter().map(|field| self.annotation(field)).collect::<Res<Vec<_>>>()?;
        let types: Vec<_> = fields.iter().map(|f| f.ty).collect();
        Ok(Annotation {
            ty: self.cx.tuple(&types),
            is_const: false,
            states_layout: fields.iter().all(|f| f.states_layout),
            states_storage: fields.iter().all(|f| f.states_storage),
        })
    }

    /// `Tensor[…]`, `ConstTensor[…]` or `tuple[…]`.
    pub(crate) fn annotation_of(&mut self, builtin: Builtin, slots: &ast::Expr, span: Span) -> Res<Value<'c>> {
        let single = std::slice::from_ref(slots);
        let slots = match slots {
            ast::Expr::Tuple(tuple) if !tuple.parenthesized => &tuple.elts[..],
            _ => single,
        };
        if builtin == Builtin::TupleType {
            return self.tuple_annotation(slots).map(Value::Annotation);
        }
        let extents = slots.iter().take_while(|slot| matches!(slot, ast::Expr::NumberLiteral(_) | ast::Expr::BinOp(_)));
        let extents: Vec<_> = extents.map(|slot| self.text(slot)).collect();
        if extents.len() > 1 {
            let message = format!("the shape is one tuple of extents, found {} slots", extents.len());
            let help = format!("write `{}[({}), ...]`", builtin.name(), extents.join(", "));
            return Err(Refusal::wrong(self.span(&slots[0]), message).help(help));
        }
        let [shape, dtype, rest @ ..] = slots else {
            let message = format!("`{}` needs a shape and a dtype", builtin.name());
            let refusal = Refusal::wrong(self.span(&slots[0]), message);
            return Err(match &slots[0] {
                ast::Expr::Tuple(_) => {
                    refusal.help(format!("write `{}[{}, \"f32\"]`", builtin.name(), self.text(&slots[0])))
                }
                _ => refusal.help("a scalar is `Tensor[(), \"f32\"]`"),
            });
        };
        if rest.len() > 2 {
            let message =
                format!("`{}` has the slots shape, dtype, layout and storage, found {}", builtin.name(), slots.len());
            return Err(Refusal::wrong(span, message));
        }
        let (shape, placed) = self.shape(shape, span)?;
        let dtype = self.dtype(dtype)?;
        let mut annotation = Slots { layout: placed.map(TensorLayout::Shard), storage: None, states_layout: false };
        annotation.states_layout = placed.is_some();
        for (at, slot) in rest.iter().enumerate() {
            self.slot(slot, at + 1 == rest.len(), &shape, placed.is_some(), &mut annotation)?;
        }
        let storage = annotation.storage.unwrap_or(Storage::Gmem);
        Ok(Value::Annotation(Annotation {
            ty: self.cx.signature_type(self.cx.tensor(&shape, dtype, annotation.layout, storage)),
            is_const: builtin == Builtin::ConstTensor,
            states_layout: annotation.states_layout,
            states_storage: annotation.storage.is_some(),
        }))
    }

    /// The logical shape, and the placement that the shape slot may hold.
    fn shape(&mut self, expr: &ast::Expr, whole: Span) -> Res<(Vec<Dim<'c>>, Option<ShardLayout<'c>>)> {
        let span = self.span(expr);
        if let ast::Expr::Tuple(tuple) = expr
            && sugar::places(tuple)
        {
            let written = self.sugar(tuple)?;
            let logical: Vec<_> = written.axes.iter().map(|axis| self.cx.simplify(axis.extent)).collect();
            let placed = self.place(&written, Some(&logical), span, whole)?;
            return Ok((logical, Some(placed)));
        }
        if matches!(expr, ast::Expr::Slice(_)) {
            return Err(Refusal::wrong(span, "the shape is a tuple of extents, found a slice"));
        }
        if let ast::Expr::Tuple(tuple) = expr
            && !tuple.elts.iter().any(ast::Expr::is_starred_expr)
        {
            let dims = tuple.elts.iter().map(|item| match item {
                ast::Expr::Slice(_) => {
                    Err(Refusal::wrong(self.span(item), "an entry of the shape is an extent, not a slice"))
                }
                _ => self.dim(item, "an entry of the shape"),
            });
            let dims = dims.collect::<Res<Vec<_>>>()?;
            return self.checked_shape(&dims, span).map(|dims| (dims, None));
        }
        let value = self.eval(expr, None)?;
        if let Value::Int(_) | Value::Dim(_) = value {
            let message = format!("the shape is a tuple of extents, found {}", value.describe());
            return Err(Refusal::wrong(span, message).help(format!("write `({},)`", self.text(expr))));
        }
        let dims = self.to_dims(&value, "the shape", span)?;
        self.checked_shape(&dims, span).map(|dims| (dims, None))
    }

    fn checked_shape(&self, dims: &[Dim<'c>], span: Span) -> Res<Vec<Dim<'c>>> {
        if let Some(negative) = dims.iter().find(|d| d.as_const().is_some_and(|v| v < 0)) {
            return Err(Refusal::wrong(span, format!("the shape has the negative extent {negative}")));
        }
        Ok(dims.iter().map(|&d| self.cx.simplify(d)).collect())
    }

    /// A dtype by its name.
    pub(crate) fn dtype(&mut self, expr: &ast::Expr) -> Res<DType> {
        let span = self.span(expr);
        if let ast::Expr::Name(name) = expr
            && self.binding(self.cx.symbol(name.id.as_str())).is_none()
            && DType::from_name(name.id.as_str()).is_ok()
        {
            let message = format!("a dtype is a quoted name, found `{}`", name.id);
            return Err(Refusal::wrong(span, message).help(format!("write `\"{}\"`", name.id)));
        }
        match self.eval(expr, None)? {
            Value::Str(name) => named_dtype(name.as_str(), span),
            Value::DType(dtype) => Ok(dtype),
            other => Err(Refusal::wrong(span, format!("a dtype is a quoted name, found {}", other.describe()))),
        }
    }

    fn slot(
        &mut self,
        expr: &ast::Expr,
        is_last: bool,
        shape: &[Dim<'c>],
        placed: bool,
        slots: &mut Slots<'c>,
    ) -> Res<()> {
        let span = self.span(expr);
        let may_be_layout = !placed && !slots.states_layout && slots.storage.is_none();
        if let ast::Expr::Tuple(tuple) = expr
            && may_be_layout
        {
            let placed = self.placement(tuple, Some(shape), span)?;
            slots.layout = Some(TensorLayout::Shard(placed));
            slots.states_layout = true;
            return Ok(());
        }
        match self.eval(expr, None)? {
            Value::None if !is_last || may_be_layout => {}
            Value::Str(name) if is_last => slots.storage = Some(named_storage(name.as_str(), span)?),
            Value::Storage(storage) if is_last => slots.storage = Some(storage),
            value if may_be_layout && let Some(layout) = value.as_layout() => {
                self.cx.check_layout(layout, shape).at(span)?;
                slots.layout = Some(layout);
                slots.states_layout = true;
            }
            other if placed && !is_last => {
                let message =
                    format!("the shape places its axes, so no layout slot follows; found {}", other.describe());
                return Err(Refusal::wrong(span, message));
            }
            Value::Str(_) | Value::Storage(_) if !is_last => {
                return Err(Refusal::wrong(span, "the storage is the last slot: shape, dtype, layout, storage"));
            }
            other => {
                let expected = if may_be_layout { "a layout or a storage" } else { "a storage" };
                return Err(Refusal::wrong(span, format!("expected {expected}, found {}", other.describe())));
            }
        }
        Ok(())
    }
}

/// The optional slots as read so far.
struct Slots<'c> {
    layout: Option<TensorLayout<'c>>,
    storage: Option<Storage>,
    states_layout: bool,
}
