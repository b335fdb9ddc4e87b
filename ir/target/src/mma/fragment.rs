//! What each thread holds of the operands of a matrix instruction.

use tf_types::{Mesh, ShardAttr, ShardLayout, Storage, TypeContext};

use super::MmaOpSpec;

/// An operand of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    /// (M, K)
    A,
    /// (K, N)
    B,
    /// (M, N), the accumulator and the result.
    C,
}

/// An axis of a fragment: values that a thread holds itself, or the coordinate of a mesh axis.
#[derive(Clone, Copy)]
enum Axis {
    Held,
    /// Of the mesh axis of this number.
    Coordinate(u32),
}
use Axis::{Coordinate, Held};

/// The distribution of an operand over the threads.
///
/// The strides are offsets into the row-major tile. A thread's values are counted with the axes that no mesh axis splits, the first
/// fastest: the *local index*.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fragment {
    shape: [i64; 2],
    extents: Vec<i64>,
    strides: Vec<i64>,
    /// By mesh axis.
    attrs: Vec<ShardAttr<'static>>,
    registers: Vec<Vec<usize>>,
    storage: Storage,
}

impl Fragment {
    pub(super) fn of(spec: MmaOpSpec, operand: Operand) -> Self {
        let [m, n, k] = spec.shape_mnk();
        let width = spec.dtypes()[operand as usize].bits();
        let per_register = (32 / width) as usize;
        match (operand, spec.reads_registers()) {
            // The tf32 form holds single columns, 4 apart; the 16-bit forms pairs of them, 8 apart.
            (Operand::A, true) if k == 8 => Self::held(
                [m, k],
                &[(4, 1, Coordinate(0)), (2, 4, Held), (8, 8, Coordinate(1)), (2, 64, Held)],
                vec![vec![0], vec![2], vec![1], vec![3]],
            ),
            (Operand::A, true) => Self::held(
                [m, k],
                &[(2, 1, Held), (4, 2, Coordinate(0)), (2, 8, Held), (8, 16, Coordinate(1)), (2, 128, Held)],
                vec![vec![0, 1], vec![4, 5], vec![2, 3], vec![6, 7]],
            ),
            (Operand::B, true) if k == 8 => Self::held(
                [k, n],
                &[(8, 1, Coordinate(1)), (4, 8, Coordinate(0)), (2, 32, Held)],
                vec![vec![0], vec![1]],
            ),
            (Operand::B, true) => Self::held(
                [k, n],
                &[(8, 1, Coordinate(1)), (2, 8, Held), (4, 16, Coordinate(0)), (2, 64, Held)],
                vec![vec![0, 1], vec![2, 3]],
            ),
            (Operand::C, true) => Self::held(
                [m, n],
                &[(2, 1, Held), (4, 2, Coordinate(0)), (8, n, Coordinate(1)), (2, 8 * n, Held)],
                grouped(&[0, 1, 2, 3], per_register),
            ),
            (Operand::C, false) => {
                let columns = n / 8;
                let axes = [
                    (2, 1, Held),
                    (4, 2, Coordinate(0)),
                    (columns, 8, Held),
                    (8, n, Coordinate(1)),
                    (2, 8 * n, Held),
                    (4, 16 * n, Coordinate(2)),
                ];
                // Registers run over columns of 8, within one over the two rows, then over the pair.
                let order: Vec<_> = (0..columns as usize)
                    .flat_map(|j| {
                        (0..2).flat_map(move |row| (0..2).map(move |i| i + 2 * j + 2 * columns as usize * row))
                    })
                    .collect();
                Self::held([m, n], &axes, grouped(&order, per_register))
            }
            // Shared memory: all threads name the whole tile, A by rows, B by columns.
            (Operand::A, false) => Self::shared([m, k], [k, 1]),
            (Operand::B, false) => Self::shared([k, n], [1, k]),
        }
    }

    fn held(shape: [i64; 2], axes: &[(i64, i64, Axis)], registers: Vec<Vec<usize>>) -> Self {
        let coordinates = axes.iter().filter(|axis| matches!(axis.2, Coordinate(_))).count();
        let mut attrs = vec![ShardAttr::Broadcast; coordinates];
        for (at, axis) in axes.iter().enumerate() {
            if let Coordinate(mesh_axis) = axis.2 {
                attrs[mesh_axis as usize] = ShardAttr::Split(at as u32);
            }
        }
        let (extents, strides) = axes.iter().map(|axis| (axis.0, axis.1)).unzip();
        Self { shape, extents, strides, attrs, registers, storage: Storage::Rmem }
    }

    fn shared(shape: [i64; 2], strides: [i64; 2]) -> Self {
        let attrs = vec![ShardAttr::Broadcast; 3];
        let registers = Vec::new();
        Self { shape, extents: shape.to_vec(), strides: strides.to_vec(), attrs, registers, storage: Storage::Smem }
    }

    /// Rows and columns of the tile.
    #[must_use]
    pub const fn shape(&self) -> [i64; 2] {
        self.shape
    }

    /// Where the instruction reads it.
    #[must_use]
    pub const fn storage(&self) -> Storage {
        self.storage
    }

    /// The local indices in each 32-bit register of the instruction, in its order; none in shared memory.
    #[must_use]
    pub fn registers(&self) -> &[Vec<usize>] {
        &self.registers
    }

    /// Whether a tile of that shape is placed as what the threads of some instruction hold: then the strides tell rows and columns.
    #[must_use]
    pub fn is_placement(shape: &[i64], shard: ShardLayout<'_>) -> bool {
        let thread = |level: &tf_types::Topology<'_>| level.name.as_str() == "thread";
        let extents: Vec<_> = shard.mesh.extents().iter().map(|extent| extent.as_const()).collect();
        let is_warps = matches!(extents[..], [Some(4), Some(8)] | [Some(4), Some(8), Some(4)]);
        let (Some(factors), Some(strides)) = (shard.layout.static_shape(), shard.layout.static_strides()) else {
            return false;
        };
        let is = |fragment: &Self| {
            fragment.storage == Storage::Rmem
                && fragment.shape == *shape
                && fragment.extents == factors
                && fragment.strides == strides
                && fragment.attrs == shard.attrs
        };
        let all =
            || MmaOpSpec::all().flat_map(|spec| [Operand::A, Operand::B, Operand::C].map(|role| spec.fragment(role)));
        is_warps && shard.mesh.topologies.iter().all(thread) && all().any(|fragment| is(&fragment))
    }

    /// The placement over a mesh of the form that the instruction requires.
    #[must_use]
    pub fn placement<'c>(&self, cx: &TypeContext<'c>, mesh: Mesh<'c>) -> ShardLayout<'c> {
        let layout = cx.layout(cx.const_dims(&self.extents), Some(cx.const_dims(&self.strides)));
        cx.shard_layout(layout, &self.attrs, mesh)
    }

    /// The tile offsets that the thread at these mesh coordinates holds, by local index.
    #[must_use]
    pub fn offsets(&self, coordinates: &[i64]) -> Vec<i64> {
        let owner = |axis: usize| self.attrs.iter().position(|attr| *attr == ShardAttr::Split(axis as u32));
        let mut offsets = vec![0];
        for (axis, (&extent, &stride)) in self.extents.iter().zip(&self.strides).enumerate() {
            let values = match owner(axis) {
                Some(mesh_axis) => coordinates[mesh_axis]..coordinates[mesh_axis] + 1,
                None => 0..extent,
            };
            offsets = values.flat_map(|value| offsets.iter().map(move |offset| offset + value * stride)).collect();
        }
        offsets
    }
}

fn grouped(order: &[usize], size: usize) -> Vec<Vec<usize>> {
    order.chunks(size).map(<[_]>::to_vec).collect()
}

#[cfg(test)]
mod tests {
    use tf_types::{Arena, Storage, TypeContext};

    use super::Operand;
    use crate::mma::MmaOpSpec;

    /// Row and column of value `i` of a thread, as the instruction set manual states them.
    fn by_manual(spec: MmaOpSpec, operand: Operand, thread: i64, i: i64) -> [i64; 2] {
        let (lane, warp) = (thread % 32, thread / 32);
        let (group, member) = (lane / 4, lane % 4);
        let tf32 = spec.shape_mnk()[2] == 8;
        match operand {
            Operand::A if tf32 => [group + 8 * (i % 2), member + 4 * (i / 2)],
            Operand::B if tf32 => [member + 4 * i, group],
            Operand::A => {
                let upper = i < 2 || (4..6).contains(&i);
                [if upper { group } else { group + 8 }, member * 2 + i % 2 + if i < 4 { 0 } else { 8 }]
            }
            Operand::B => [member * 2 + i % 2 + if i < 2 { 0 } else { 8 }, group],
            Operand::C => [warp * 16 + group + 8 * (i / 2 % 2), 8 * (i / 4) + member * 2 + i % 2],
        }
    }

    #[test]
    fn registers_hold_what_the_manual_says() {
        let arena = Arena::new();
        let cx = &TypeContext::new(&arena);
        for spec in MmaOpSpec::all() {
            let mesh = spec.required_scope(cx);
            let scope = cx.scope(mesh);
            for operand in [Operand::A, Operand::B, Operand::C] {
                let fragment = spec.fragment(operand);
                let what = format!("{} {operand:?}", spec.name());
                let [rows, columns] = fragment.shape();
                if fragment.storage() == Storage::Smem {
                    assert_eq!(fragment.offsets(&[0; 3]).len() as i64, rows * columns, "{what}");
                    continue;
                }
                let bits = spec.dtypes()[operand as usize].bits();
                assert!(fragment.registers().iter().all(|register| register.len() == (32 / bits) as usize), "{what}");
                let elements = fragment.registers().concat();
                let mut owners = vec![0; (rows * columns) as usize];
                for thread in 0..mesh.size().unwrap() {
                    let coordinates = scope.project(thread).unwrap().unwrap();
                    let held = fragment.offsets(&coordinates);
                    assert_eq!(held.len(), elements.len(), "{what}");
                    for (i, &local) in elements.iter().enumerate() {
                        let [row, column] = by_manual(spec, operand, thread, i as i64);
                        assert_eq!(held[local], row * columns + column, "{what}: thread {thread} value {i}");
                        owners[held[local] as usize] += 1;
                    }
                }
                assert!(owners.iter().all(|&n| n == 1), "{what}: every element has one owner");
            }
        }
    }

    #[test]
    fn formulas() {
        let spec = MmaOpSpec::SM80_16X8X16_BF16;
        let held = |operand, t0, t1| spec.fragment(operand).offsets(&[t0, t1]);
        let bits = |local: usize, at: u32| (local >> at & 1) as i64;
        for (t0, t1) in (0..32).map(|lane| (lane % 4, lane / 4)) {
            for (local, &offset) in held(Operand::A, t0, t1).iter().enumerate() {
                let [i0, i2, i4] = [0, 1, 2].map(|at| bits(local, at));
                assert_eq!(offset, (t1 + 8 * i4) * 16 + 2 * t0 + i0 + 8 * i2);
            }
            for (local, &offset) in held(Operand::B, t0, t1).iter().enumerate() {
                let [i1, i3] = [0, 1].map(|at| bits(local, at));
                assert_eq!(offset, (2 * t0 + i1 + 8 * i3) * 8 + t1);
            }
            for (local, &offset) in held(Operand::C, t0, t1).iter().enumerate() {
                let [i0, i3] = [0, 1].map(|at| bits(local, at));
                assert_eq!(offset, (t1 + 8 * i3) * 8 + 2 * t0 + i0);
            }
        }
    }
}
