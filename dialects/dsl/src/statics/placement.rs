//! Constructor calls of layouts and placements.

use ruff_python_ast as ast;
use tf_core::Span;
use tf_types::{Layout, OuterLayout, ShardAttr};

use crate::parser::Parser;
use crate::refusal::{AtSpan, Refusal, Res};
use crate::value::Value;

impl<'c> Parser<'_, 'c> {
    pub(super) fn layout(&mut self, call: &ast::ExprCall, span: Span) -> Res<Layout<'c>> {
        let given = self.arguments(call, "Layout", &["shape", "strides"])?;
        let shape = self.required(&given, 0, "shape", "Layout", span)?;
        let extents = self.eval(shape, None)?;
        let extents = self.to_dims(&extents, "the shape of a `Layout`", self.span(shape))?;
        if self.body.is_none() {
            self.step(2 * extents.len(), span)?;
        }
        let strides = match given[1] {
            None | Some(ast::Expr::NoneLiteral(_)) => None,
            Some(strides) => {
                let value = self.eval(strides, None)?;
                let strides_span = self.span(strides);
                let strides = self.to_dims(&value, "the strides of a `Layout`", strides_span)?;
                if strides.len() != extents.len() {
                    let message = format!("a `Layout` of {} axes has {} strides", extents.len(), strides.len());
                    return Err(Refusal::wrong(strides_span, message));
                }
                Some(strides)
            }
        };
        Ok(self.cx.layout(&extents, strides.as_deref()))
    }

    /// `ComposedLayout(inner=…, offset=…, outer=…)`: `c -> inner(offset + outer(c))`.
    pub(super) fn composed_layout(&mut self, call: &ast::ExprCall, span: Span) -> Res<Value<'c>> {
        const WHAT: &str = "ComposedLayout";
        let given = self.arguments(call, WHAT, &["inner", "offset", "outer"])?;
        let part = |p: &mut Self, expr: Option<&ast::Expr>| -> Res<_> {
            match expr {
                None => Ok((Value::None, span)),
                Some(expr) => Ok((p.eval(expr, None)?, p.span(expr))),
            }
        };
        let inner = match part(self, given[0])? {
            (Value::None, _) => None,
            (Value::Layout(layout), _) => Some(layout),
            (other, at) => {
                let message = format!("`inner` of a `{WHAT}` is a `Layout` or None, found {}", other.describe());
                return Err(Refusal::wrong(at, message));
            }
        };
        let offset = match given[1] {
            None => self.cx.dim(0),
            Some(offset) => self.dim(offset, "the offset of a `ComposedLayout`")?,
        };
        let outer = match part(self, given[2])? {
            (Value::None, _) => None,
            (Value::Layout(layout), _) => Some(OuterLayout::Plain(layout)),
            (Value::Shard(shard), _) => Some(OuterLayout::Shard(shard)),
            (other, at) => {
                let found = other.describe();
                let message = format!("`outer` of a `{WHAT}` is a `Layout`, a `ShardLayout` or None, found {found}");
                return Err(Refusal::wrong(at, message));
            }
        };
        if inner.is_none() && outer.is_none() {
            return Err(Refusal::wrong(span, format!("a `{WHAT}` needs `inner` or `outer`")));
        }
        Ok(Value::Composed(self.cx.composed_layout(inner, self.cx.simplify(offset), outer)))
    }

    pub(super) fn shard_layout(&mut self, call: &ast::ExprCall, span: Span) -> Res<Value<'c>> {
        let given = self.arguments(call, "ShardLayout", &["layout", "attrs", "mesh"])?;
        let mut part = |at: usize, name: &str| -> Res<(Value<'c>, Span)> {
            let expr = self.required(&given, at, name, "ShardLayout", span)?;
            Ok((self.eval(expr, None)?, self.span(expr)))
        };
        let (layout, layout_span) = part(0, "layout")?;
        let (attrs, attrs_span) = part(1, "attrs")?;
        let (mesh, mesh_span) = part(2, "mesh")?;
        let Value::Layout(layout) = layout else {
            return Err(Refusal::wrong(layout_span, format!("expected a `Layout`, found {}", layout.describe())));
        };
        let Value::Mesh(mesh) = mesh else {
            return Err(Refusal::wrong(mesh_span, format!("expected a `Mesh`, found {}", mesh.describe())));
        };
        let attrs: Option<Vec<_>> = attrs.as_sequence().and_then(|items| {
            let attr = |item: &Value<'c>| match item {
                Value::ShardAttr(attr) => Some(*attr),
                _ => None,
            };
            items.iter().map(attr).collect()
        });
        let Some(attrs) = attrs else {
            return Err(Refusal::wrong(attrs_span, "`attrs` is a tuple of `S(axis)`, `B()` and `P(reduction)`"));
        };
        let shard = self.cx.shard_layout(layout, &attrs, mesh);
        self.cx.check_shard_layout(shard).at(span)?;
        Ok(Value::Shard(shard))
    }

    pub(super) fn partial(&mut self, call: &ast::ExprCall, span: Span) -> Res<Value<'c>> {
        let given = self.arguments(call, "P", &["reduction"])?;
        let Some(reduction) = given[0] else {
            return Err(Refusal::wrong(span, "`P` names its reduction").help("write `P(\"sum\")`"));
        };
        let name = self.string(reduction, "the reduction of `P`")?;
        if !matches!(name, "sum" | "max" | "min") {
            let message = format!("unknown reduction `{name}`; expected one of sum, max, min");
            return Err(Refusal::wrong(self.span(reduction), message));
        }
        Ok(Value::ShardAttr(ShardAttr::Partial(self.cx.symbol(name))))
    }
}
