//! Mesh coordinates as values.

use tf_core::op::Attr;
use tf_core::{Expr, Span};
use tf_types::{DType, Mesh, ShardAttr, Storage, TensorLayout};

use crate::parser::Parser;
use crate::refusal::Res;
use crate::value::Value;

impl<'c> Parser<'_, 'c> {
    /// The position on a mesh axis: in a `@func` the positions split over that axis, of which each holds its own.
    pub(crate) fn coordinate(&mut self, mesh: Mesh<'c>, axis: usize, span: Span) -> Res<Expr<'c>> {
        const WHAT: &str = "a mesh coordinate as a value";
        if let Some(&expr) = self.body.as_ref().and_then(|body| body.coordinates.get(&(mesh, axis))) {
            return Ok(expr);
        }
        let cx = self.cx;
        if self.is_prim() {
            let schema = self.schema("T", "coordinate", WHAT, span)?;
            return self.emit(schema, &[], &[("mesh", Attr::Mesh(mesh)), ("axis", Attr::Int(axis as i64))], span, None);
        }
        let extent = mesh.extents()[axis];
        let layout = cx.layout(&[extent], Some(&[cx.dim(0)]));
        let mut attrs = vec![ShardAttr::Broadcast; mesh.rank()];
        attrs[axis] = ShardAttr::Split(0);
        let placed = TensorLayout::Shard(cx.shard_layout(layout, &attrs, mesh));
        let ty = cx.tensor(&[extent], DType::I64, Some(placed), Storage::Rmem);
        let arange = self.schema("tf", "arange", WHAT, span)?;
        let positions = self.emit(arange, &[], &[("type", Attr::Type(ty))], span, None)?;
        let local = self.schema("tf", "local", WHAT, span)?;
        let own = self.emit(local, &[positions], &[], span, None)?;
        let reshape = self.schema("tf", "reshape", WHAT, span)?;
        let name = Some(cx.symbol(&mesh.axis_name(axis)));
        let expr = self.emit(reshape, &[own], &[("new_shape", Attr::Dims(&[]))], span, name)?;
        if let Some(body) = &mut self.body {
            body.coordinates.insert((mesh, axis), expr);
            body.coordinate_values.insert(expr);
        }
        Ok(expr)
    }

    /// In a body a mesh coordinate stands for its value.
    pub(crate) fn lifted(&mut self, value: Value<'c>, span: Span) -> Res<Value<'c>> {
        match value {
            Value::MeshAxis(mesh, axis) if self.body.is_some() => self.coordinate(mesh, axis, span).map(Value::Expr),
            other => Ok(other),
        }
    }

    /// Whether a value is the coordinate of an enclosing mesh.
    pub(crate) fn is_coordinate(&self, expr: Expr<'c>) -> bool {
        self.body.as_ref().is_some_and(|body| body.coordinate_values.contains(&expr))
    }
}
