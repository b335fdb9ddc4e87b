//! Display of types in the style of source annotations, compact, for diagnostics.

use std::fmt::{Display, Formatter, Result, Write};

use crate::dim::{DimKind, DimOp};
use crate::layout::OuterLayout;
use crate::mesh::MeshLayout;
use crate::{ComposedLayout, Dim, Layout, Mesh, ShardAttr, ShardLayout, Storage, TensorLayout, TensorType, Topology};
use crate::{Type, TypeKind};

impl Display for Dim<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        enum Piece<'c> {
            Text(&'static str),
            Dim(Dim<'c>),
            Operand(Dim<'c>),
        }
        // Not recursive: a raw sum may be as long as the source line it came from.
        let mut stack = vec![Piece::Dim(*self)];
        while let Some(piece) = stack.pop() {
            let dim = match piece {
                Piece::Text(text) => {
                    f.write_str(text)?;
                    continue;
                }
                Piece::Operand(dim) => {
                    if matches!(dim.data(), DimKind::Op(op, ..) if !matches!(op, DimOp::Min | DimOp::Max)) {
                        stack.push(Piece::Text(")"));
                        f.write_str("(")?;
                    }
                    dim
                }
                Piece::Dim(dim) => dim,
            };
            match *dim.data() {
                DimKind::Const(value) => write!(f, "{value}")?,
                DimKind::Var(var) => f.write_str(var.name.as_str())?,
                DimKind::Op(op @ (DimOp::Min | DimOp::Max), a, b) => {
                    f.write_str(if op == DimOp::Min { "min(" } else { "max(" })?;
                    stack.extend([Piece::Text(")"), Piece::Dim(b), Piece::Text(", "), Piece::Dim(a)]);
                }
                DimKind::Op(op, a, b) => {
                    stack.extend([Piece::Operand(b), Piece::Text(infix(op)), Piece::Operand(a)]);
                }
            }
        }
        Ok(())
    }
}

fn infix(op: DimOp) -> &'static str {
    match op {
        DimOp::Add => " + ",
        DimOp::Sub => " - ",
        DimOp::Mul => " * ",
        DimOp::FloorDiv => " // ",
        DimOp::Mod => " % ",
        DimOp::Min | DimOp::Max => ", ",
    }
}

/// Writes `(a, b)`, and `(a,)` for one item, as Python does.
fn tuple<T>(f: &mut Formatter<'_>, items: &[T], mut item: impl FnMut(&mut Formatter<'_>, &T) -> Result) -> Result {
    f.write_char('(')?;
    for (at, value) in items.iter().enumerate() {
        if at > 0 {
            f.write_str(", ")?;
        }
        item(f, value)?;
    }
    f.write_str(if items.len() == 1 { ",)" } else { ")" })
}

/// Dims written as a tuple: `(16, S)`.
pub struct DimTuple<'a, 'c>(pub &'a [Dim<'c>]);

impl Display for DimTuple<'_, '_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        tuple(f, self.0, |f, dim| Display::fmt(dim, f))
    }
}

impl Display for Topology<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self.size {
            Some(size) => write!(f, "{} {size}", self.name),
            None => Display::fmt(&self.name, f),
        }
    }
}

/// `(4, 8):(8, 1)`; the extents alone where strides are not materialised.
impl Display for Layout<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        Display::fmt(&DimTuple(self.shape()), f)?;
        match self.strides() {
            Some(strides) => write!(f, ":{}", DimTuple(strides)),
            None => Ok(()),
        }
    }
}

/// `outer + offset`, and `inner . ` before it where there is an inner layout.
impl Display for ComposedLayout<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if let Some(inner) = self.inner {
            write!(f, "{inner} . ")?;
        }
        match self.outer {
            Some(OuterLayout::Plain(layout)) => write!(f, "{layout} + {}", self.offset),
            Some(OuterLayout::Shard(shard)) => write!(f, "{shard} + {}", self.offset),
            None => Display::fmt(&self.offset, f),
        }
    }
}

/// `Mesh(cta 4, thread 64; b=4, w=2, l=32)`; strides follow where they are not C-order, of a slice its offset.
impl Display for Mesh<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str("Mesh(")?;
        for (at, topology) in self.topologies.iter().enumerate() {
            write!(f, "{}{topology}", if at > 0 { ", " } else { "" })?;
        }
        for (axis, extent) in self.extents().iter().enumerate() {
            write!(f, "{}{}={extent}", if axis > 0 { ", " } else { "; " }, self.axis_name(axis))?;
        }
        if let Some(strides) = self.strides().filter(|strides| !is_c_order(self.extents(), strides)) {
            f.write_str("; strides ")?;
            tuple(f, strides, |f, stride| Display::fmt(stride, f))?;
        }
        if let MeshLayout::Sliced(composed) = self.layout {
            write!(f, "; from {}", composed.offset)?;
        }
        f.write_char(')')
    }
}

/// Whether strides are row-major, as far as they are numbers.
fn is_c_order(extents: &[Dim<'_>], strides: &[Dim<'_>]) -> bool {
    let mut below = Some(1_i64);
    extents.iter().zip(strides).rev().all(|(extent, stride)| {
        let fits = below.zip(stride.as_const()).is_none_or(|(below, stride)| below == stride);
        below = below.zip(extent.as_const()).and_then(|(below, extent)| below.checked_mul(extent));
        fits
    })
}

/// The axes of a placement: `(4 @ warp, 4, 32 @ lane, 16)`, with `{…}` after it where a mesh axis is Partial.
struct Placement<'c>(ShardLayout<'c>, bool);

impl Display for Placement<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let Self(shard, strided) = *self;
        let strides = shard.layout.strides().filter(|_| strided);
        let states: Vec<String> = shard
            .attrs
            .iter()
            .enumerate()
            .filter_map(|(mesh_axis, attr)| match attr {
                ShardAttr::Partial(reduction) => {
                    Some(format!("{} @ P(\"{reduction}\")", shard.mesh.axis_name(mesh_axis)))
                }
                ShardAttr::Dynamic => Some(format!("{} @ Dynamic", shard.mesh.axis_name(mesh_axis))),
                ShardAttr::Split(_) | ShardAttr::Broadcast => None,
            })
            .collect();
        let wrapped = strides.is_some() || !states.is_empty();
        if wrapped {
            f.write_char('(')?;
        }
        let mut layout_axis = 0;
        tuple(f, shard.layout.shape(), |f, extent| {
            let names: Vec<String> = shard.splitters(layout_axis).map(|m| shard.mesh.axis_name(m)).collect();
            layout_axis += 1;
            match &names[..] {
                [] => Display::fmt(extent, f),
                [name] => write!(f, "{extent} @ {name}"),
                names => write!(f, "{extent} @ ({})", names.join(", ")),
            }
        })?;
        if let Some(strides) = strides {
            write!(f, ", {}", DimTuple(strides))?;
        }
        if !states.is_empty() {
            write!(f, ", {{{}}}", states.join(", "))?;
        }
        if wrapped { f.write_char(')') } else { Ok(()) }
    }
}

/// Sugar with its strides: `((4 @ warp, 4), (0, 1))`.
impl Display for ShardLayout<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        Display::fmt(&Placement(*self, true), f)
    }
}

impl Display for TensorLayout<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Plain(layout) => Display::fmt(layout, f),
            Self::Composed(composed) => Display::fmt(composed, f),
            Self::Shard(shard) => Display::fmt(shard, f),
        }
    }
}

/// `Tensor[(16, 512), "bf16", (4 @ warp, 4, 32 @ lane, 16), "rmem"]`; strides of placements and `gmem` are left out.
impl Display for TensorType<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "Tensor[{}, \"{}\"", DimTuple(self.shape), self.dtype)?;
        match self.layout {
            Some(TensorLayout::Shard(shard)) => write!(f, ", {}", Placement(shard, false))?,
            Some(layout) => write!(f, ", {layout}")?,
            None => {}
        }
        if self.storage != Storage::Gmem {
            write!(f, ", \"{}\"", self.storage)?;
        }
        f.write_char(']')
    }
}

/// A tensor as its annotation, `(a, b)`, `()` for unit, `(a, b) -> r`.
impl Display for Type<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self.data() {
            TypeKind::Tensor(tensor) => Display::fmt(tensor, f),
            TypeKind::Tuple(fields) => tuple(f, fields, |f, field| Display::fmt(field, f)),
            TypeKind::Unit => f.write_str("()"),
            TypeKind::Callable { params, result } => {
                tuple(f, params, |f, param| Display::fmt(param, f))?;
                write!(f, " -> {result}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::layout::OuterLayout;
    use crate::test_util::{dims, mesh};
    use crate::{Arena, DType, ShardAttr, Storage, TensorLayout, TypeContext};

    #[test]
    fn types_read_like_annotations() {
        let arena = Arena::new();
        let cx = &TypeContext::new(&arena);
        let m = mesh(cx, &[("thread", 128)], &[("warp", 4), ("lane", 32)]);
        let attrs = [ShardAttr::Split(0), ShardAttr::Split(2)];
        let shard = cx.shard_layout(cx.layout(dims(cx, "4 4 32 16"), None), &attrs, m);
        let shape = dims(cx, "16 512");
        let tensor = cx.tensor(shape, DType::BF16, Some(TensorLayout::Shard(shard)), Storage::Rmem);
        assert_eq!(tensor.to_string(), r#"Tensor[(16, 512), "bf16", (4 @ warp, 4, 32 @ lane, 16), "rmem"]"#);
        let plain = cx.tensor(dims(cx, "S"), DType::F32, None, Storage::Gmem);
        assert_eq!(plain.to_string(), r#"Tensor[(S,), "f32"]"#);
        assert_eq!(cx.tuple(&[plain, plain]).to_string(), r#"(Tensor[(S,), "f32"], Tensor[(S,), "f32"])"#);
        assert_eq!(cx.unit().to_string(), "()");
        assert_eq!(cx.callable(&[plain], cx.unit()).to_string(), r#"(Tensor[(S,), "f32"],) -> ()"#);
        assert_eq!(m.to_string(), "Mesh(thread 128; warp=4, lane=32)");
        let turned = cx.layout(dims(cx, "4 32"), Some(dims(cx, "1 4")));
        let turned = cx.mesh(m.topologies, crate::MeshLayout::Plain(turned), m.names);
        assert_eq!(turned.to_string(), "Mesh(thread 128; warp=4, lane=32; strides (1, 4))");
    }

    #[test]
    fn placements_show_strides_and_states() {
        let arena = Arena::new();
        let cx = &TypeContext::new(&arena);
        let m = mesh(cx, &[("thread", 8)], &[("a", 4), ("b", 2)]);
        let layout = cx.layout(dims(cx, "8 6"), Some(dims(cx, "6 1")));
        let shard = cx.shard_layout(layout, &[ShardAttr::Split(0), ShardAttr::Partial(cx.symbol("sum"))], m);
        assert_eq!(shard.to_string(), r#"((8 @ a, 6), (6, 1), {b @ P("sum")})"#);
        let both = cx.shard_layout(layout, &[ShardAttr::Split(0), ShardAttr::Split(0)], m);
        assert_eq!(both.to_string(), "((8 @ (a, b), 6), (6, 1))");
        let slice = cx.composed_layout(None, cx.dim(32), Some(OuterLayout::Plain(layout)));
        assert_eq!(slice.to_string(), "(8, 6):(6, 1) + 32");
        let tensor = cx.tensor(dims(cx, "8 6"), DType::F32, Some(TensorLayout::Composed(slice)), Storage::Gmem);
        assert_eq!(tensor.to_string(), r#"Tensor[(8, 6), "f32", (8, 6):(6, 1) + 32]"#);
    }

    #[test]
    fn a_long_sum_is_written_without_recursion() {
        let arena = Arena::new();
        let cx = &TypeContext::new(&arena);
        let mut sum = dims(cx, "S")[0];
        for _ in 0..100_000 {
            sum = cx.dim_op(crate::DimOp::Add, sum, cx.dim(1));
        }
        assert!(sum.to_string().ends_with("+ 1) + 1"));
        assert_eq!(cx.simplify(sum).to_string(), "S + 100000");
    }
}
