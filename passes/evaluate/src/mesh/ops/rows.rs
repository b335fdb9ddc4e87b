//! Ops that read or write rows of an axis by number: a position does so for the rows that it has.

use tf_core::op::OpCall;
use tf_types::DType;
use tf_value::{Tensor, ValueError, normalize_axis};

use crate::mesh::fault::{Fault, Outcome};
use crate::mesh::ops::relation::{Need, input};
use crate::mesh::ops::{Call, Input, Operand, at_positions};
use crate::mesh::parts::Parts;
use crate::mesh::placement::Cut;

/// The indices of an axis, of which each position reads those that it has; they are ascending.
pub fn indices(extent: usize, cut: &Cut) -> Result<Input, ValueError> {
    let all = Parts::same(Tensor::arange(extent, 0, 1, DType::I64)?);
    Ok(Input { parts: all.into(), cuts: vec![cut.clone()] })
}

/// Rows that a position does not have are zero there: the sum over positions is the value.
pub fn index_select<'c>(call: &Call<'_, 'c>) -> Outcome<'c, Vec<Parts>> {
    let Some(own) = OpCall::<tf_hir::tensor::IndexSelect>::new(call.view) else { return Ok(Vec::new()) };
    let [x, index] = &call.operands[..] else { return Ok(Vec::new()) };
    let along = normalize_axis(own.dim(), x.placed.shape.len())?;
    let (cut, extent) = (&x.placed.cuts[along], x.placed.shape[along]);
    let index = input(1, index, &[Need::Own])?;
    if cut.is_empty() {
        return at_positions(call, &[x.own(), index], |tensors| call.apply(tensors));
    }
    let zero = Tensor::zeros(&[], x.parts.tensors[0].dtype())?;
    at_positions(call, &[x.own(), index, indices(extent, cut)?], |tensors| {
        let [x, index, mine] = &tensors[..] else { return Ok(Vec::new()) };
        let mine = mine.to_i64_vec()?;
        let wanted = index.to_i64_vec()?;
        if let Some(row) = wanted.iter().find(|row| !(0..extent as i64).contains(row)) {
            return Err(Fault::from(format!("index {row} leaves axis {along} of extent {extent}")));
        }
        let held: Vec<Option<usize>> = wanted.iter().map(|row| mine.binary_search(row).ok()).collect();
        let rows: Vec<i64> = held.iter().map(|row| row.unwrap_or(0) as i64).collect();
        let mut shape = vec![1; x.rank()];
        shape[along] = held.len();
        let mask = Tensor::from_vec(&shape, held.iter().map(Option::is_some).collect())?;
        let rows = x.index_select(&Tensor::from_vec(&[rows.len()], rows)?, along as i64)?;
        Ok(vec![mask.select(rows, &zero)?])
    })
}

/// A window of what a position has: where it begins in the part, where in the update, how long it is.
type Run = (i64, i64, usize);

/// The runs of the rows `mine` that lie in the window `[first, first + size)`.
fn runs(mine: &[i64], first: i64, size: usize) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for (at, &row) in mine.iter().enumerate() {
        let within = row - first;
        if !(0..size as i64).contains(&within) {
            continue;
        }
        match runs.last_mut() {
            Some((start, from, length)) if *start + *length as i64 == at as i64 && *from + *length as i64 == within => {
                *length += 1;
            }
            _ => runs.push((at as i64, within, 1)),
        }
    }
    runs
}

/// Writes the part of the update that falls into the rows of each position. What is one for all positions, an unplaced destination,
/// takes the parts of all.
pub fn insert_slice<'c>(call: &Call<'_, 'c>) -> Outcome<'c, Vec<Parts>> {
    let [dst, update, offsets @ ..] = &call.operands[..] else { return Ok(Vec::new()) };
    let rank = dst.placed.shape.len();
    let alike = |axis: usize| !dst.placed.cuts[axis].is_empty() && dst.placed.cuts[axis] == update.placed.cuts[axis];
    let needs: Vec<Need<'_>> = (0..rank).map(|axis| if alike(axis) { Need::Own } else { Need::Whole }).collect();
    let mut inputs = vec![dst.own(), input(1, update, &needs)?];
    inputs.extend(offsets.iter().map(Operand::own));
    for (&extent, cut) in dst.placed.shape.iter().zip(&dst.placed.cuts) {
        inputs.push(indices(extent, cut)?);
    }
    let whole: Vec<usize> = (0..rank).map(|axis| if alike(axis) { 0 } else { update.placed.shape[axis] }).collect();
    at_positions(call, &inputs, |tensors| {
        let [dst_part, update, numbers @ ..] = &tensors[..] else { return Ok(Vec::new()) };
        let (offsets, mine) = numbers.split_at(rank);
        let mut axes = Vec::with_capacity(rank);
        for (axis, offset) in offsets.iter().enumerate() {
            let (first, extent) = (offset.to_index()?, dst.placed.shape[axis]);
            if first < 0 || first.saturating_add(whole[axis] as i64) > extent as i64 {
                let end = i128::from(first) + whole[axis] as i128;
                return Err(format!("insert window [{first}, {end}) leaves axis {axis} of extent {extent}").into());
            }
            axes.push(match dst.placed.cuts[axis].is_empty() {
                true => vec![(first, 0, update.shape()[axis])],
                // The update covers the axis.
                false if alike(axis) => vec![(0, 0, update.shape()[axis])],
                false => runs(&mine[axis].to_i64_vec()?, first, whole[axis]),
            });
        }
        Ok(vec![written(dst_part.clone(), update, &axes)?])
    })
}

/// The destination with a run of every axis written, in all combinations.
fn written(mut dst: Tensor, update: &Tensor, axes: &[Vec<Run>]) -> Result<Tensor, ValueError> {
    let mut choice = vec![0; axes.len()];
    if axes.iter().any(Vec::is_empty) {
        return Ok(dst);
    }
    loop {
        let chosen: Vec<Run> = axes.iter().zip(&choice).map(|(runs, &at)| runs[at]).collect();
        let (starts, from): (Vec<i64>, Vec<i64>) = chosen.iter().map(|&(start, from, _)| (start, from)).unzip();
        let sizes: Vec<usize> = chosen.iter().map(|&(.., length)| length).collect();
        dst = dst.insert(&update.slice(&from, &sizes, &vec![1; sizes.len()])?, &starts)?;
        let Some(at) = (0..axes.len()).rev().find(|&at| choice[at] + 1 < axes[at].len()) else { return Ok(dst) };
        choice[at] += 1;
        choice[at + 1..].fill(0);
    }
}

/// New rows of a cache, cut as the cache is.
pub fn cache_update<'c>(call: &Call<'_, 'c>) -> Outcome<'c, Vec<Parts>> {
    let [cache, position, count, new] = &call.operands[..] else { return Ok(Vec::new()) };
    let needs: Vec<Need<'_>> = cache.placed.cuts.iter().map(Need::Part).collect();
    let inputs = [cache.own(), position.own(), count.own(), input(3, new, &needs)?];
    at_positions(call, &inputs, |tensors| call.apply(tensors))
}

#[cfg(test)]
mod tests {
    use super::runs;

    #[test]
    fn a_window_falls_into_runs_of_what_one_has() {
        assert_eq!(runs(&[0, 1, 4, 5, 8, 9], 1, 5), [(1, 0, 1), (2, 3, 2)]);
        assert_eq!(runs(&[0, 1], 4, 2), []);
        assert_eq!(runs(&[4, 5, 6], 4, 9), [(0, 0, 3)]);
    }
}
