//! Layouts of views: slices and reshapes (spec: shard §10; types §2).

use std::collections::VecDeque;

use crate::layout::{OuterLayout, static_dims};
use crate::shard::{ShardAttr, layout_axis_to_tensor_axis};
use crate::{Dim, DimTuple, Layout, ShardLayout, TensorLayout, TensorType, TypeContext, TypeError};

/// A window on one logical axis: `start + i * step` for `i < size`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window<'c> {
    /// First index; `None`: known at run time only.
    pub start: Option<i64>,
    /// Number of indices.
    pub size: Dim<'c>,
    /// Distance of two indices.
    pub step: i64,
}

impl<'c> Window<'c> {
    fn is_whole(&self, extent: Dim<'c>) -> bool {
        self.start == Some(0) && self.step == 1 && self.size == extent
    }
}

impl<'c> TypeContext<'c> {
    /// The layout of a window of `tensor`, one [`Window`] per axis. A placed tensor keeps its mesh; static non-zero
    /// starts become an offset. Plain strides are kept under an offset; without strides or with starts known at run
    /// time only, the view of an unplaced tensor has no layout.
    ///
    /// # Errors
    /// A window on a split axis, or on one that several layout positions make up.
    pub fn slice_layout(
        &self,
        tensor: &TensorType<'c>,
        windows: &[Window<'c>],
    ) -> Result<Option<TensorLayout<'c>>, TypeError> {
        let (base, outer) = match tensor.layout {
            None => return Ok(None),
            Some(TensorLayout::Plain(layout)) => (self.dim(0), OuterLayout::Plain(layout)),
            Some(TensorLayout::Shard(shard)) => (self.dim(0), OuterLayout::Shard(shard)),
            Some(TensorLayout::Composed(composed)) => match (composed.inner, composed.outer) {
                (None, Some(outer)) => (composed.offset, outer),
                _ => return Ok(None),
            },
        };
        let is_static = windows.iter().all(|w| w.start.is_some());
        match outer {
            OuterLayout::Plain(layout) => {
                let Some(strides) = layout.strides().filter(|s| is_static && s.len() == windows.len()) else {
                    return Ok(None);
                };
                let shape: Vec<_> = windows.iter().map(|w| w.size).collect();
                let stepped: Vec<_> =
                    windows.iter().zip(strides).map(|(w, &s)| self.dim_mul(s, self.dim(w.step))).collect();
                let offset = windows.iter().zip(strides).fold(base, |sum, (w, &s)| self.shifted(sum, w, s));
                let outer = OuterLayout::Plain(self.layout(&shape, Some(&stepped)));
                Ok(Some(TensorLayout::Composed(self.composed_layout(None, offset, Some(outer)))))
            }
            OuterLayout::Shard(shard) => {
                let (shard, offset) = self.slice_shard(shard, tensor.shape, windows, base)?;
                Ok(Some(if is_static && offset != self.dim(0) {
                    TensorLayout::Composed(self.composed_layout(None, offset, Some(OuterLayout::Shard(shard))))
                } else {
                    TensorLayout::Shard(shard)
                }))
            }
        }
    }

    fn shifted(&self, offset: Dim<'c>, window: &Window<'c>, stride: Dim<'c>) -> Dim<'c> {
        match window.start {
            Some(start) if start != 0 => self.dim_add(offset, self.dim_mul(stride, self.dim(start))),
            _ => offset,
        }
    }

    fn slice_shard(
        &self,
        shard: ShardLayout<'c>,
        tensor_shape: &[Dim<'c>],
        windows: &[Window<'c>],
        mut offset: Dim<'c>,
    ) -> Result<(ShardLayout<'c>, Dim<'c>), TypeError> {
        let targets = shard.split_target_axes(tensor_shape);
        let map = layout_axis_to_tensor_axis(shard.layout.shape(), tensor_shape);
        let mut shape = shard.layout.shape().to_vec();
        let mut strides = match shard.layout.strides() {
            Some(strides) => strides.to_vec(),
            None => self.c_order_strides(&shape),
        };
        for (axis, (window, &extent)) in windows.iter().zip(tensor_shape).enumerate() {
            if window.is_whole(extent) {
                continue;
            }
            if let Some(mesh_axis) = targets.iter().position(|&t| t == Some(axis)) {
                return Err(TypeError::new(format!(
                    "a window on axis {axis}, which mesh axis `{}` splits",
                    shard.mesh.axis_name(mesh_axis)
                ))
                .with_help("slice before placing, or reshard so that the axis is whole"));
            }
            let positions: Vec<usize> = (0..map.len()).filter(|&p| map[p] == Some(axis)).collect();
            let [position] = positions[..] else {
                return Err(TypeError::new(format!(
                    "a window on axis {axis}, which {} layout positions of {shard} make up",
                    positions.len()
                )));
            };
            offset = self.shifted(offset, window, strides[position]);
            shape[position] = window.size;
            strides[position] = self.dim_mul(strides[position], self.dim(window.step));
        }
        Ok((self.shard_layout(self.layout(&shape, Some(&strides)), shard.attrs, shard.mesh), offset))
    }

    /// The placement of a reshaped tensor: positions are taken whole or cut at factor boundaries. `None`: an
    /// unsplit placement that the new shape cannot express.
    ///
    /// # Errors
    /// A split or partial placement that the new shape cannot express; both shapes must be integers for it to.
    pub fn reshape_shard(
        &self,
        shard: ShardLayout<'c>,
        old_shape: &[Dim<'c>],
        new_shape: &[Dim<'c>],
    ) -> Result<Option<ShardLayout<'c>>, TypeError> {
        if old_shape == new_shape {
            return Ok(Some(shard));
        }
        match self.carry(shard, new_shape) {
            Ok(carried) => Ok(Some(carried)),
            Err(_) if shard.attrs.iter().all(|a| *a == ShardAttr::Broadcast) => Ok(None),
            Err(why) => Err(TypeError::new(format!(
                "a reshape to {} cannot keep the placement {shard}: {why}",
                DimTuple(new_shape)
            ))
            .with_help("reshard so that the axes in question are whole")),
        }
    }

    fn carry(&self, shard: ShardLayout<'c>, new_shape: &[Dim<'c>]) -> Result<ShardLayout<'c>, String> {
        let mut old = positions(shard)?;
        let mut new = Vec::with_capacity(new_shape.len());
        for (axis, extent) in new_shape.iter().enumerate() {
            let extent = extent.as_const().ok_or_else(|| format!("axis {axis} of extent {extent} is symbolic"))?;
            if extent == 1 {
                new.push(Position { extent: 1, stride: 0, split_over: Vec::new() });
                continue;
            }
            take(shard, &mut old, &mut new, axis, extent)?;
        }
        if !old.is_empty() {
            return Err("it has fewer elements".to_owned());
        }
        let shape: Vec<_> = new.iter().map(|p| p.extent).collect();
        let strides: Vec<_> = new.iter().map(|p| p.stride).collect();
        let mut attrs = shard.attrs.to_vec();
        for (mesh_axis, attr) in attrs.iter_mut().enumerate() {
            if matches!(attr, ShardAttr::Split(_)) {
                let at = new.iter().position(|p| p.split_over.contains(&mesh_axis));
                let at =
                    at.ok_or_else(|| format!("nothing is left for mesh axis `{}`", shard.mesh.axis_name(mesh_axis)))?;
                *attr = ShardAttr::Split(at as u32);
            }
        }
        let strides = shard.layout.strides().map(|_| self.const_dims(&strides));
        let layout: Layout<'c> = self.layout(self.const_dims(&shape), strides);
        Ok(self.shard_layout(layout, &attrs, shard.mesh))
    }
}

/// A layout position and the mesh axes that split it.
struct Position {
    extent: i64,
    stride: i64,
    split_over: Vec<usize>,
}

/// The positions that are no unit axes.
fn positions(shard: ShardLayout<'_>) -> Result<VecDeque<Position>, String> {
    let symbolic = || "its layout is symbolic".to_owned();
    let shape = shard.layout.static_shape().ok_or_else(symbolic)?;
    let strides = match shard.layout.strides() {
        Some(strides) => static_dims(strides).ok_or_else(symbolic)?,
        None => vec![0; shape.len()],
    };
    let position = |axis: usize| Position {
        extent: shape[axis],
        stride: strides[axis],
        split_over: shard.splitters(axis).collect(),
    };
    Ok((0..shape.len()).filter(|&axis| shape[axis] != 1).map(position).collect())
}

/// Moves positions that make up `extent` from `old` to `new`.
fn take(
    shard: ShardLayout<'_>,
    old: &mut VecDeque<Position>,
    new: &mut Vec<Position>,
    axis: usize,
    extent: i64,
) -> Result<(), String> {
    let misaligned = |what: String| format!("axis {axis} of extent {extent} {what}");
    let mut needed = extent;
    while needed != 1 {
        let Some(front) = old.front_mut() else { return Err(misaligned("has no elements left".to_owned())) };
        if needed <= 0 || front.extent <= 0 {
            return Err(misaligned("cannot be factored".to_owned()));
        }
        if needed % front.extent == 0 {
            needed /= front.extent;
            new.extend(old.pop_front());
            continue;
        }
        if front.extent % needed != 0 {
            return Err(misaligned(format!("does not align with the factor {}", front.extent)));
        }
        let parts = front
            .split_over
            .iter()
            .try_fold(1i64, |product, &mesh_axis| product.checked_mul(shard.mesh.extents()[mesh_axis].as_const()?));
        let parts =
            parts.filter(|&p| p > 0).ok_or_else(|| misaligned("cuts a factor split by a symbolic dim".to_owned()))?;
        if needed % parts != 0 {
            return Err(misaligned(format!("cuts the factor {} that is split into {parts} parts", front.extent)));
        }
        let residual = front.extent / needed;
        let overflow = || misaligned("has strides beyond 64 bits".to_owned());
        let stride = front.stride.checked_mul(residual).ok_or_else(overflow)?;
        let split_over = std::mem::take(&mut front.split_over);
        front.extent = residual;
        if split_over.is_empty() || needed == parts {
            new.push(Position { extent: needed, stride, split_over });
        } else {
            let plain = needed / parts;
            let outer = stride.checked_mul(plain).ok_or_else(overflow)?;
            new.push(Position { extent: parts, stride: outer, split_over });
            new.push(Position { extent: plain, stride, split_over: Vec::new() });
        }
        needed = 1;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Window;
    use crate::layout::OuterLayout;
    use crate::test_util::{dims, mesh};
    use crate::{Arena, DType, ShardAttr, ShardLayout, Storage, TensorLayout, TensorType, TypeContext};

    /// (16, 128) split on axis 0 by a mesh of 4: (4 @ w, 4, 128).
    fn rows<'c>(cx: &TypeContext<'c>) -> ShardLayout<'c> {
        let m = mesh(cx, &[("thread", 4)], &[("w", 4)]);
        cx.canonical_shard_layout(dims(cx, "16 128"), m, &[ShardAttr::Split(0)]).unwrap()
    }

    #[test]
    fn reshapes_carry_the_factorisation() {
        let arena = Arena::new();
        let cx = &TypeContext::new(&arena);
        let shard = rows(cx);
        let old = dims(cx, "16 128");
        for (new, want) in [
            ("16 4 32", "((4 @ w, 4, 4, 32), (512, 128, 32, 1))"),
            ("8 2 128", "((4 @ w, 2, 2, 128), (512, 256, 128, 1))"),
            ("2048", "((4 @ w, 4, 128), (512, 128, 1))"),
            ("16 1 128", "((4 @ w, 4, 1, 128), (512, 128, 0, 1))"),
            ("16 128", "((4 @ w, 4, 128), (512, 128, 1))"),
        ] {
            assert_eq!(cx.reshape_shard(shard, old, dims(cx, new)).unwrap().unwrap().to_string(), want);
        }
        // An unfactored Split of extent 16 is cut into its parts and a plain rest.
        let whole = cx.shard_layout(cx.c_order_layout(old), shard.attrs, shard.mesh);
        let cut = cx.reshape_shard(whole, old, dims(cx, "8 256")).unwrap().unwrap();
        assert_eq!(cut.to_string(), "((4 @ w, 2, 2, 128), (512, 256, 128, 1))");
    }

    #[test]
    fn reshape_refusals() {
        let arena = Arena::new();
        let cx = &TypeContext::new(&arena);
        let (shard, old) = (rows(cx), dims(cx, "16 128"));
        let refusal = |new| cx.reshape_shard(shard, old, dims(cx, new)).unwrap_err().message;
        let prefix =
            |new: &str| format!("a reshape to {new} cannot keep the placement ((4 @ w, 4, 128), (512, 128, 1)): ");
        assert_eq!(
            refusal("2 8 128"),
            prefix("(2, 8, 128)") + "axis 0 of extent 2 cuts the factor 4 that is split into 4 parts"
        );
        assert_eq!(refusal("16 96"), prefix("(16, 96)") + "axis 1 of extent 96 does not align with the factor 128");
        assert_eq!(refusal("S 128"), prefix("(S, 128)") + "axis 0 of extent S is symbolic");
        assert_eq!(refusal("16"), prefix("(16,)") + "it has fewer elements");
        assert_eq!(refusal("16 256"), prefix("(16, 256)") + "axis 1 of extent 256 has no elements left");
        assert_eq!(refusal("0 128"), prefix("(0, 128)") + "axis 0 of extent 0 cannot be factored");
        let why = |shard, new| {
            let message = cx.reshape_shard(shard, old, dims(cx, new)).unwrap_err().message;
            message.rsplit_once("): ").map(|(_, why)| why.to_owned()).unwrap()
        };
        let by = |shape, strides, m| {
            cx.shard_layout(cx.layout(dims(cx, shape), Some(dims(cx, strides))), &[ShardAttr::Split(0)], m)
        };
        assert_eq!(why(by("S 128", "128 1", shard.mesh), "4 512"), "its layout is symbolic");
        let grid = mesh(cx, &[("cta", 0)], &[("b", 0)]);
        assert_eq!(
            why(by("16 128", "128 1", grid), "4 512"),
            "axis 0 of extent 4 cuts a factor split by a symbolic dim"
        );
        let one = mesh(cx, &[("cta", 1)], &[("b", 1)]);
        assert_eq!(why(by("1 16 128", "0 128 1", one), "2048"), "nothing is left for mesh axis `b`");
        let far = by("16 128", "9223372036854775807 1", shard.mesh);
        assert_eq!(why(far, "4 512"), "axis 0 of extent 4 has strides beyond 64 bits");
        let unsplit = cx.canonical_shard_layout(old, shard.mesh, &[ShardAttr::Broadcast]).unwrap();
        assert_eq!(cx.reshape_shard(unsplit, old, dims(cx, "16 96")).unwrap(), None);
    }

    fn tensor<'c>(cx: &TypeContext<'c>, layout: TensorLayout<'c>) -> TensorType<'c> {
        *cx.tensor(dims(cx, "16 128"), DType::F32, Some(layout), Storage::Gmem).as_tensor().unwrap()
    }

    #[test]
    fn slices() {
        let arena = Arena::new();
        let cx = &TypeContext::new(&arena);
        let window = |start, size, step| Window { start, size: cx.dim(size), step };
        let whole = window(Some(0), 16, 1);
        let placed = tensor(cx, TensorLayout::Shard(rows(cx)));
        let show = |layout: Option<TensorLayout<'_>>| layout.map_or("none".to_owned(), |l| l.to_string());
        let right = cx.slice_layout(&placed, &[whole, window(Some(32), 32, 1)]).unwrap();
        assert_eq!(show(right), "((4 @ w, 4, 32), (512, 128, 1)) + 32");
        let dynamic = cx.slice_layout(&placed, &[whole, window(None, 32, 1)]).unwrap();
        assert_eq!(show(dynamic), "((4 @ w, 4, 32), (512, 128, 1))");
        let stepped = cx.slice_layout(&placed, &[whole, window(Some(0), 64, 2)]).unwrap();
        assert_eq!(show(stepped), "((4 @ w, 4, 64), (512, 128, 2))");
        let again = tensor(cx, right.unwrap());
        let again = TensorType { shape: dims(cx, "16 32"), ..again };
        let twice = cx.slice_layout(&again, &[whole, window(Some(8), 8, 1)]).unwrap();
        assert_eq!(show(twice), "((4 @ w, 4, 8), (512, 128, 1)) + 40");
        let plain = tensor(cx, TensorLayout::Plain(cx.c_order_layout(dims(cx, "16 128"))));
        let block = [window(Some(2), 4, 1), window(Some(32), 32, 2)];
        assert_eq!(show(cx.slice_layout(&plain, &block).unwrap()), "(4, 32):(128, 2) + 288");
        assert_eq!(show(cx.slice_layout(&plain, &[whole, window(None, 4, 1)]).unwrap()), "none");
        let inner = cx.composed_layout(Some(rows(cx).layout), cx.dim(0), Some(OuterLayout::Shard(rows(cx))));
        assert_eq!(show(cx.slice_layout(&tensor(cx, TensorLayout::Composed(inner)), &block).unwrap()), "none");
    }

    #[test]
    fn slice_refusals() {
        let arena = Arena::new();
        let cx = &TypeContext::new(&arena);
        let window = |start, size| Window { start: Some(start), size: cx.dim(size), step: 1 };
        let placed = tensor(cx, TensorLayout::Shard(rows(cx)));
        let error = cx.slice_layout(&placed, &[window(0, 8), window(0, 128)]).unwrap_err();
        assert_eq!(error.message, "a window on axis 0, which mesh axis `w` splits");
        let factored = cx.shard_layout(cx.c_order_layout(dims(cx, "16 4 32")), &[ShardAttr::Broadcast], rows(cx).mesh);
        let factored = tensor(cx, TensorLayout::Shard(factored));
        let error = cx.slice_layout(&factored, &[window(0, 16), window(0, 8)]).unwrap_err();
        assert_eq!(
            error.message,
            "a window on axis 1, which 2 layout positions of ((16, 4, 32), (128, 32, 1)) make up"
        );
    }
}
