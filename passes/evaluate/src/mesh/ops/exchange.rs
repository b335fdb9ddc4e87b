//! Ops that need the parts of other positions along an axis, and give each its own part of what comes out.

use tf_core::op::OpCall;
use tf_value::normalize_axis;

use crate::mesh::fault::Outcome;
use crate::mesh::ops::relation::{Need, input};
use crate::mesh::ops::{Call, at_positions};
use crate::mesh::parts::Parts;
use crate::mesh::placement::Cut;
use crate::mesh::transfer::take;

/// Evaluates with an axis put together, and deals it out again as the result's type says.
fn along<'c>(call: &Call<'_, 'c>, axis: usize) -> Outcome<'c, Vec<Parts>> {
    let result = &call.results[0];
    let mut inputs = Vec::with_capacity(call.operands.len());
    for (number, operand) in call.operands.iter().enumerate() {
        let rank = operand.placed.shape.len();
        // Operand 0 is what is normalised; others belong to that axis.
        let need = |own: usize| if number > 0 || own == axis { Need::Whole } else { Need::Part(&result.cuts[own]) };
        inputs.push(input(number, operand, &(0..rank).map(need).collect::<Vec<_>>())?);
    }
    let found = at_positions(call, &inputs, |tensors| call.apply(tensors))?;
    let mut cuts = vec![Cut::new(); result.cuts.len()];
    cuts[axis].clone_from(&result.cuts[axis]);
    match cuts[axis].is_empty() {
        true => Ok(found),
        false => found.iter().map(|parts| take(parts, &cuts)).collect(),
    }
}

/// Sums over its axis.
pub fn softmax<'c>(call: &Call<'_, 'c>) -> Outcome<'c, Vec<Parts>> {
    let Some(own) = OpCall::<tf_hir::Softmax>::new(call.view) else { return Ok(Vec::new()) };
    along(call, normalize_axis(own.axis(), call.results[0].shape.len())?)
}

/// Sums over the last axis.
pub fn rms_norm<'c>(call: &Call<'_, 'c>) -> Outcome<'c, Vec<Parts>> {
    along(call, normalize_axis(-1, call.results[0].shape.len())?)
}

/// The operands put together; positions have fragments of which no product is theirs alone.
pub fn whole<'c>(call: &Call<'_, 'c>) -> Outcome<'c, Vec<Parts>> {
    let mut inputs = Vec::with_capacity(call.operands.len());
    for (number, operand) in call.operands.iter().enumerate() {
        let needs: Vec<_> = operand.placed.shape.iter().map(|_| Need::Whole).collect();
        inputs.push(input(number, operand, &needs)?);
    }
    let found = at_positions(call, &inputs, |tensors| call.apply(tensors))?;
    found.iter().zip(&call.results).map(|(parts, placed)| take(parts, &placed.cuts)).collect()
}
