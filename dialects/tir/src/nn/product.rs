//! How `T.mma` runs.

use tf_core::op::{OpCall, RuleError};
use tf_target::mma::MmaOpSpec;
use tf_types::DType;
use tf_types::kinds::BinaryKind;
use tf_value::tir::{Access, Addresses, AxisPosition, Effect, Meaning, Positions, Stop, Team};
use tf_value::{Tensor, ValueError};

use super::mma::Mma;
use crate::access::{Operand, strided};
use crate::held::{Factor, Held};
use crate::tensor::reduce::accumulator;

/// What a call means.
///
/// # Errors
/// Operands without static positions.
pub fn meaning(call: &OpCall<'_, Mma>) -> Result<Meaning, RuleError> {
    let operands = Operand::all(call.view())?;
    match call.atom() {
        None => whole(&operands),
        Some(name) => instruction(name.as_str(), &operands),
    }
}

/// Every position multiplies what it holds.
struct Product {
    acc: Access,
    lhs: Access,
    rhs: Access,
    /// Rows, columns and depth of what a position multiplies.
    shape: [usize; 3],
    dtype: DType,
}

fn whole([acc, lhs, rhs]: &[Operand<'_>; 3]) -> Result<Meaning, RuleError> {
    let [m, n] = &acc.held.axes[..] else { return Err(RuleError::new("`T.mma` takes matrices")) };
    let depth = lhs.held.extents().last().copied().unwrap_or(1);
    let k = vec![Factor { extent: depth, step: 1, stride: 0, mesh_axis: None }];
    let held = |axes: [&Vec<Factor>; 2]| Held { axes: axes.map(Clone::clone).to_vec(), mesh: acc.held.mesh };
    let own = |factors: &[Factor]| {
        let own = factors.iter().filter(|factor| factor.mesh_axis.is_none());
        usize::try_from(own.map(|factor| factor.extent).product::<i64>()).unwrap_or(0)
    };
    let effect = Product {
        shape: [own(m), own(n), own(&k)],
        acc: acc.access(&acc.held)?,
        lhs: lhs.access(&held([m, &k]))?,
        rhs: rhs.access(&held([&k, n]))?,
        dtype: acc.tensor.dtype,
    };
    Ok(Meaning::Effect(Team::Each, Box::new(effect)))
}

/// `acc + lhs @ rhs`, accumulated in f32 for floats and rounded once.
fn multiplied(acc: &Tensor, lhs: &Tensor, rhs: &Tensor, dtype: DType) -> Result<Tensor, ValueError> {
    let wide = accumulator(dtype);
    let product = lhs.cast(wide)?.matmul(&rhs.cast(wide)?)?;
    acc.cast(wide)?.binary(product, BinaryKind::Add)?.cast(dtype)
}

impl Effect for Product {
    fn run(&self, positions: &mut dyn Positions) -> Result<(), Stop> {
        let (count, [m, n, k]) = (positions.count(), self.shape);
        let acc = positions.read(&self.acc)?.reshape(&[count, m, n])?;
        let lhs = positions.read(&self.lhs)?.reshape(&[count, m, k])?;
        let rhs = positions.read(&self.rhs)?.reshape(&[count, k, n])?;
        let sum = multiplied(&acc, &lhs, &rhs, self.dtype)?;
        positions.write(&self.acc, &sum.reshape(&[count, m * n])?)
    }
}

/// An operand of an instruction: where its elements are, and which elements of the tile they are.
struct Fragment {
    access: Access,
    offsets: Vec<i64>,
    steps: Vec<(AxisPosition, i64)>,
    shape: [usize; 2],
}

impl Fragment {
    fn of(operand: &Operand<'_>) -> Result<Self, RuleError> {
        let extents = operand.held.extents();
        let &[rows, columns] = extents.as_slice() else { return Err(RuleError::new("`T.mma` takes matrices")) };
        let mut tile = operand.held.clone();
        for (factors, stride) in tile.axes.iter_mut().zip([columns, 1]) {
            factors.iter_mut().for_each(|factor| factor.stride = factor.step * stride);
        }
        let Addresses::Strided { offsets, steps } = strided(&tile)? else {
            return Err(RuleError::new("the positions of a fragment are not static"));
        };
        let shape = [rows, columns].map(|extent| usize::try_from(extent).unwrap_or(0));
        Ok(Self { access: operand.access(&operand.held)?, offsets, steps, shape })
    }

    /// The element of the tile that a position has at each local index.
    fn elements<'a>(&'a self, positions: &dyn Positions, at: usize) -> impl Iterator<Item = usize> + use<'a> {
        let steps = self.steps.iter().map(|&(axis, step)| positions.coordinate(at, axis) * step);
        let base: i64 = steps.sum();
        self.offsets.iter().map(move |offset| usize::try_from(base + offset).unwrap_or(0))
    }

    /// The tiles of all teams, f32.
    fn tiles(&self, teams: &Teams, positions: &mut dyn Positions) -> Result<Vec<f32>, Stop> {
        let values = positions.read(&self.access)?.to_f32_vec();
        let size = self.shape[0] * self.shape[1];
        let mut tiles = vec![0f32; teams.count * size];
        for (at, row) in values.chunks(self.access.len.max(1)).enumerate() {
            let tile = &mut tiles[teams.of[at] * size..][..size];
            self.elements(positions, at).zip(row).for_each(|(element, &value)| tile[element] = value);
        }
        Ok(tiles)
    }
}

/// Which threads run one instruction together.
struct Teams {
    /// By position.
    of: Vec<usize>,
    count: usize,
}

impl Teams {
    /// Each that many consecutive threads.
    fn new(threads: i64, positions: &dyn Positions) -> Self {
        let axis = AxisPosition { in_cta: true, stride: threads, extent: i64::MAX };
        let mut known: Vec<i64> = (0..positions.count()).map(|at| positions.coordinate(at, axis)).collect();
        let ids = known.clone();
        known.sort_unstable();
        known.dedup();
        let of = ids.iter().map(|id| known.binary_search(id).unwrap_or(0)).collect();
        Self { of, count: known.len() }
    }
}

/// All threads of an instruction multiply one tile.
struct Instruction {
    acc: Fragment,
    lhs: Fragment,
    rhs: Fragment,
    /// Threads of one instruction.
    threads: i64,
    /// Whether the instruction rounds what it reads to 10 bits of fraction.
    is_tf32: bool,
    dtype: DType,
}

fn instruction(name: &str, [acc, lhs, rhs]: &[Operand<'_>; 3]) -> Result<Meaning, RuleError> {
    let unknown = || RuleError::new(format!("there is no matrix instruction `{name}`"));
    let spec = MmaOpSpec::named(name).ok_or_else(unknown)?;
    let threads = acc.held.mesh.and_then(tf_types::Mesh::size).ok_or_else(unknown)?;
    let effect = Instruction {
        acc: Fragment::of(acc)?,
        lhs: Fragment::of(lhs)?,
        rhs: Fragment::of(rhs)?,
        threads,
        is_tf32: spec.dtypes()[0] == DType::F32,
        dtype: acc.tensor.dtype,
    };
    Ok(Meaning::Effect(Team::Chunks(u32::try_from(threads).unwrap_or(u32::MAX)), Box::new(effect)))
}

/// To the nearest number of 10 bits of fraction, ties away from zero.
fn tf32(value: f32) -> f32 {
    if value.is_finite() { f32::from_bits(value.to_bits().wrapping_add(0x1000) & !0x1fff) } else { value }
}

impl Effect for Instruction {
    fn run(&self, positions: &mut dyn Positions) -> Result<(), Stop> {
        let teams = Teams::new(self.threads, positions);
        let mut tile = |fragment: &Fragment, rounds: bool| -> Result<Tensor, Stop> {
            let mut values = fragment.tiles(&teams, positions)?;
            if rounds {
                values.iter_mut().for_each(|value| *value = tf32(*value));
            }
            let [rows, columns] = fragment.shape;
            Ok(Tensor::from_vec(&[teams.count, rows, columns], values)?)
        };
        let (acc, lhs, rhs) = (tile(&self.acc, false)?, tile(&self.lhs, self.is_tf32)?, tile(&self.rhs, self.is_tf32)?);
        let sums = multiplied(&acc, &lhs, &rhs, DType::F32)?.to_f32_vec();
        let (count, size) = (positions.count(), self.acc.shape[0] * self.acc.shape[1]);
        let mut values = Vec::with_capacity(count * self.acc.access.len);
        for at in 0..count {
            let tile = &sums[teams.of[at] * size..][..size];
            values.extend(self.acc.elements(positions, at).map(|element| tile[element]));
        }
        let values = Tensor::from_vec(&[count, self.acc.access.len], values)?.cast(self.dtype)?;
        positions.write(&self.acc.access, &values)
    }
}

#[cfg(test)]
mod tests {
    use super::tf32;

    #[test]
    fn ten_bits_of_fraction() {
        assert_eq!(tf32(1.0), 1.0);
        assert_eq!(tf32(1.0 + 1.0 / 2048.0), 1.0 + 1.0 / 1024.0);
        assert_eq!(tf32(-1.0 - 1.0 / 4096.0), -1.0);
        assert!(tf32(f32::NAN).is_nan() && tf32(f32::NEG_INFINITY) == f32::NEG_INFINITY);
    }
}
