//! What each lane of a warp holds of the operands of `mma.m16n8k16` (spec: tir §8).
//!
//! The strides of a fragment are offsets into the row-major tile; the axes that a Split names are the lane's coordinates
//! `t0 = lane mod 4` and `t1 = lane div 4`.

use tf_types::mesh::MeshLayout;
use tf_types::{Mesh, ShardAttr, ShardLayout, Topology, TypeContext};

/// An operand of the instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fragment {
    /// (16, 16), row-major: `A[t1 + 8*i4][2*t0 + i0 + 8*i2]`.
    A,
    /// (16, 8): `B[2*t0 + i1 + 8*i3][t1]`.
    B,
    /// (16, 8): `C[t1 + 8*i3][2*t0 + i0]`.
    C,
}

impl Fragment {
    /// Extents, strides, and the positions of `t0` and `t1`.
    const fn parts(self) -> (&'static [i64], &'static [i64], [u32; 2]) {
        match self {
            Self::A => (&[2, 4, 2, 8, 2], &[1, 2, 8, 16, 128], [1, 3]),
            Self::B => (&[8, 2, 4, 2], &[1, 8, 16, 64], [2, 0]),
            Self::C => (&[2, 4, 8, 2], &[1, 2, 8, 64], [1, 2]),
        }
    }

    /// Rows and columns of the tile.
    #[must_use]
    pub const fn shape(self) -> [i64; 2] {
        match self {
            Self::A => [16, 16],
            Self::B | Self::C => [16, 8],
        }
    }

    /// The elements in each register of the instruction, as local indices (the first free axis fastest): two 16-bit ones of
    /// A and B, one f32 of C.
    #[must_use]
    pub const fn registers(self) -> &'static [&'static [usize]] {
        match self {
            Self::A => &[&[0, 1], &[4, 5], &[2, 3], &[6, 7]],
            Self::B => &[&[0, 1], &[2, 3]],
            Self::C => &[&[0], &[1], &[2], &[3]],
        }
    }

    /// The placement of the operand over a warp; [`lanes`] is a mesh of the form it needs.
    #[must_use]
    pub fn placement<'c>(self, cx: &TypeContext<'c>, mesh: Mesh<'c>) -> ShardLayout<'c> {
        let (extents, strides, at) = self.parts();
        let layout = cx.layout(cx.const_dims(extents), Some(cx.const_dims(strides)));
        cx.shard_layout(layout, &at.map(ShardAttr::Split), mesh)
    }
}

/// The scope the instruction requires: `thread` 32 as (4, 8):(1, 4).
#[must_use]
pub fn lanes<'c>(cx: &TypeContext<'c>) -> Mesh<'c> {
    let thread = Topology { name: cx.symbol("thread"), size: Some(cx.dim(32)) };
    let layout = cx.layout(cx.const_dims(&[4, 8]), Some(cx.const_dims(&[1, 4])));
    cx.mesh(&[thread], MeshLayout::Plain(layout), &[])
}

#[cfg(test)]
mod tests {
    use tf_types::{Arena, ShardAttr, TypeContext};

    use super::{Fragment, lanes};

    /// The offsets a lane holds, by local index: every free axis enumerated, the first fastest.
    fn held(fragment: Fragment, lane: i64) -> Vec<i64> {
        let arena = Arena::new();
        let cx = &TypeContext::new(&arena);
        let mesh = lanes(cx);
        let shard = fragment.placement(cx, mesh);
        let (extents, strides) = (shard.layout.static_shape().unwrap(), shard.layout.static_strides().unwrap());
        // The lane's coordinates are those that the mesh's layout maps to it.
        let (t0, t1) = (0..32).map(|p| (p % 4, p / 4)).find(|(t0, t1)| t0 + 4 * t1 == lane).unwrap();
        let owned = |axis: usize| match shard.attrs.iter().position(|a| *a == ShardAttr::Split(axis as u32)) {
            Some(0) => Some(t0),
            Some(_) => Some(t1),
            None => None,
        };
        let free: Vec<_> = (0..extents.len()).filter(|&axis| owned(axis).is_none()).collect();
        let count: i64 = free.iter().map(|&axis| extents[axis]).product();
        let fixed: i64 = (0..extents.len()).filter_map(|axis| Some(owned(axis)? * strides[axis])).sum();
        (0..count)
            .map(|mut index| {
                let mut offset = fixed;
                for &axis in &free {
                    offset += index % extents[axis] * strides[axis];
                    index /= extents[axis];
                }
                offset
            })
            .collect()
    }

    /// Element `i` that a lane's registers hold, as the instruction set manual enumerates them.
    fn by_manual(fragment: Fragment, lane: i64, i: i64) -> [i64; 2] {
        let (group, member) = (lane / 4, lane % 4);
        match fragment {
            Fragment::A => {
                let upper = i < 2 || (4..6).contains(&i);
                [if upper { group } else { group + 8 }, member * 2 + i % 2 + if i < 4 { 0 } else { 8 }]
            }
            Fragment::B => [member * 2 + i % 2 + if i < 2 { 0 } else { 8 }, group],
            Fragment::C => [if i < 2 { group } else { group + 8 }, member * 2 + i % 2],
        }
    }

    #[test]
    fn registers_hold_what_the_manual_says() {
        for fragment in [Fragment::A, Fragment::B, Fragment::C] {
            let [rows, columns] = fragment.shape();
            let mut owners = vec![0; (rows * columns) as usize];
            for lane in 0..32 {
                let held = held(fragment, lane);
                let elements = fragment.registers().concat();
                assert_eq!(held.len(), elements.len());
                for (i, &local) in elements.iter().enumerate() {
                    let [row, column] = by_manual(fragment, lane, i as i64);
                    assert_eq!(held[local], row * columns + column, "{fragment:?} lane {lane} element {i}");
                    owners[held[local] as usize] += 1;
                }
            }
            assert!(owners.iter().all(|&n| n == 1), "{fragment:?}: every element has one owner");
        }
    }

    #[test]
    fn formulas() {
        for lane in 0..32 {
            let (t0, t1) = (lane % 4, lane / 4);
            let bits = |local: i64, at: i64| local >> at & 1;
            for (local, &offset) in held(Fragment::A, lane).iter().enumerate() {
                let [i0, i2, i4] = [0, 1, 2].map(|at| bits(local as i64, at));
                assert_eq!(offset, (t1 + 8 * i4) * 16 + 2 * t0 + i0 + 8 * i2);
            }
            for (local, &offset) in held(Fragment::B, lane).iter().enumerate() {
                let [i1, i3] = [0, 1].map(|at| bits(local as i64, at));
                assert_eq!(offset, (2 * t0 + i1 + 8 * i3) * 8 + t1);
            }
            for (local, &offset) in held(Fragment::C, lane).iter().enumerate() {
                let [i0, i3] = [0, 1].map(|at| bits(local as i64, at));
                assert_eq!(offset, (t1 + 8 * i3) * 8 + 2 * t0 + i0);
            }
        }
    }
}
