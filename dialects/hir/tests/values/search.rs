//! Ops that look for elements, or take them by index.

use std::cmp::Ordering;

use tf_hir::{ArgMax, IndexAdd, IndexCopy, IndexSelect, TopK};
use tf_types::DType;

use crate::draw::{Case, Gen, Refusal};
use crate::nd::{Nd, Num, moved};
use crate::want::{Expected, HALF, Want};

/// NaN above all numbers, the zeros equal.
fn order(a: Num, b: Num) -> Ordering {
    match (a, b) {
        (Num::Int(a), Num::Int(b)) => a.cmp(&b),
        (Num::Float(a), Num::Float(b)) if a.is_nan() || b.is_nan() => a.is_nan().cmp(&b.is_nan()),
        (Num::Float(a), Num::Float(b)) => a.partial_cmp(&b).unwrap(),
        _ => unreachable!(),
    }
}

/// The positions on an axis, best first; of equal ones the lowest first.
fn best(x: &Nd, index: &[usize], axis: usize, largest: bool) -> Vec<usize> {
    let mut positions: Vec<usize> = (0..x.shape[axis]).collect();
    let at = |position: usize| x.at(&moved(index, axis, position));
    positions.sort_by(|&a, &b| if largest { order(at(b), at(a)) } else { order(at(a), at(b)) });
    positions
}

pub fn argmax<'c>(g: &mut Gen<'_, 'c>) -> Option<Case<'c>> {
    let shape = g.shape();
    let axis = if shape.is_empty() { return None } else { g.axis(shape.len()) };
    let x = g.fill(&shape, g.dtype, Gen::few);
    let mut result = shape.clone();
    let nothing = result.remove(axis) == 0;
    let want = (!nothing).then(|| {
        Expected::new(DType::I64, &result, |index| {
            let mut index = index.to_vec();
            index.insert(axis, 0);
            Want::Int(best(&x, &index, axis, true)[0] as i64)
        })
    });
    Some(Case::one(ArgMax::new(g.cx, g.signed(axis, shape.len())), &[&x], want))
}

pub fn topk<'c>(g: &mut Gen<'_, 'c>) -> Option<Case<'c>> {
    let shape = g.shape();
    let axis = if shape.is_empty() { return None } else { g.axis(shape.len()) };
    let x = g.fill(&shape, g.dtype, Gen::few);
    let k = g.rng.below(shape[axis].min(40) + 1);
    let (largest, sorted) = (g.form.is_multiple_of(2), g.form < 2);
    let result = moved(&shape, axis, k);
    let position = |index: &[usize]| best(&x, index, axis, largest)[index[axis]];
    let values = Expected::new(x.dtype, &result, |index| x.at(&moved(index, axis, position(index))));
    let indices = Expected::new(DType::I64, &result, |index| Want::Int(position(index) as i64));
    let op = TopK::new(g.cx, g.cx.dim(k as i64), g.signed(axis, shape.len()), largest, sorted);
    Some(Case { want: Ok(vec![values, indices]), ..Case::one(op, &[&x], None) })
}

/// Positions on an axis of that extent; none where it is empty.
fn positions(g: &mut Gen<'_, '_>, extent: usize) -> Vec<usize> {
    let count = if extent == 0 { 0 } else { g.rng.below(5) };
    (0..count).map(|_| g.rng.below(extent)).collect()
}

pub fn index_select<'c>(g: &mut Gen<'_, 'c>) -> Option<Case<'c>> {
    let shape = g.shape();
    let axis = if shape.is_empty() { return None } else { g.axis(shape.len()) };
    let mut chosen = positions(g, shape[axis]);
    let outside = g.rng.once_in(8);
    if outside {
        chosen.push(shape[axis] + g.rng.below(2));
    }
    let (x, index) = (g.nd(&shape), g.index(&chosen));
    let op = IndexSelect::new(g.cx, g.signed(axis, shape.len()));
    let mut case = Case::one(op, &[&x, &index], None);
    case.want = match outside {
        true => Err(Refusal::Run("leaves axis")),
        false => Ok(vec![Expected::new(x.dtype, &moved(&shape, axis, chosen.len()), |at| {
            x.at(&moved(at, axis, chosen[at[axis]]))
        })]),
    };
    Some(case)
}

pub fn index_add<'c>(g: &mut Gen<'_, 'c>) -> Option<Case<'c>> {
    let shape = g.shape();
    let axis = if shape.is_empty() { return None } else { g.axis(shape.len()) };
    let chosen = positions(g, shape[axis]);
    let (x, index) = (g.calm_nd(&shape), g.index(&chosen));
    let src = g.calm_nd(&moved(&shape, axis, chosen.len()));
    let want = g.numbers().then(|| {
        Expected::new(x.dtype, &shape, |at| {
            let hits = (0..chosen.len()).filter(|&hit| chosen[hit] == at[axis]);
            let added: Vec<Num> = hits.map(|hit| src.at(&moved(at, axis, hit))).collect();
            sum(x.at(at), &added, x.dtype)
        })
    });
    let op = IndexAdd::new(g.cx, g.signed(axis, shape.len()));
    Some(Case::one(op, &[&x, &index, &src], want))
}

/// The sum in f32, or in integers that wrap.
fn sum(first: Num, added: &[Num], dtype: DType) -> Want {
    match (first, added) {
        (Num::Int(first), _) => {
            let add = |sum: i64, num: &Num| if let Num::Int(value) = num { sum.wrapping_add(*value) } else { sum };
            let sum = added.iter().fold(first, add);
            Want::Int(if dtype == DType::I32 { (sum as i32).into() } else { sum })
        }
        (Num::Float(first), []) => Want::Float(first),
        (Num::Float(first), &[Num::Float(one)]) => Want::Float(first + one),
        (Num::Float(first), _) => {
            let values: Vec<f64> =
                added.iter().map(|num| if let Num::Float(value) = num { *value } else { 0.0 }).collect();
            let (sum, all) = values.iter().fold((first, first.abs()), |(sum, all), x| (sum + x, all + x.abs()));
            Want::Near(sum, all * HALF * (values.len() + 1) as f64)
        }
    }
}

pub fn index_copy<'c>(g: &mut Gen<'_, 'c>) -> Option<Case<'c>> {
    let shape = g.shape();
    let axis = if shape.is_empty() { return None } else { g.axis(shape.len()) };
    // Which of several writes to one place stays is not said.
    let mut chosen = g.order(shape[axis]);
    chosen.truncate(g.rng.below(shape[axis] + 1));
    let (x, mut index) = (g.nd(&shape), g.index(&chosen));
    index.dtype = DType::I64;
    let src = g.nd(&moved(&shape, axis, chosen.len()));
    let want = Expected::new(x.dtype, &shape, |at| match chosen.iter().position(|&place| place == at[axis]) {
        Some(row) => src.at(&moved(at, axis, row)),
        None => x.at(at),
    });
    let op = IndexCopy::new(g.cx, g.signed(axis, shape.len()));
    Some(Case::one(op, &[&x, &index, &src], Some(want)))
}
