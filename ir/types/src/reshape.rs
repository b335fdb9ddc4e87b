//! Placements of reshaped tensors.

use std::collections::VecDeque;

use crate::layout::static_dims;
use crate::shard::ShardAttr;
use crate::{Dim, DimTuple, Layout, ShardLayout, TypeContext, TypeError};

impl<'c> TypeContext<'c> {
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
    use crate::test_util::{dims, mesh};
    use crate::{Arena, ShardAttr, ShardLayout, TypeContext};

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
}
