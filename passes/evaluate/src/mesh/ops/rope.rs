//! `rope`: rows of q and k at their own coordinates.

use crate::mesh::fault::{Fault, Outcome};
use crate::mesh::ops::relation::{Need, input};
use crate::mesh::ops::{Call, Input, Operand, at_positions};
use crate::mesh::parts::Parts;
use crate::mesh::placement::Cut;

/// The position ids as a vector, so that they can be cut as the rows are.
fn ids<'c>(operand: &Operand<'c>, rows: &Cut) -> Outcome<'c, Input> {
    if operand.placed.cuts.iter().any(|cut| !cut.is_empty()) {
        return Err(Fault::from("the position ids are split over positions".to_owned()));
    }
    let flat = Parts {
        tensors: operand.parts.tensors.iter().map(|ids| ids.reshape(&[ids.len()])).collect::<Result<_, _>>()?,
        ..operand.parts.over(&operand.parts.digits)
    };
    Ok(Input { parts: flat.into(), cuts: vec![rows.clone()] })
}

/// Each of q and k with its own rows of the tables; the rule turns two at once, of which one is wanted.
pub fn rope<'c>(call: &Call<'_, 'c>) -> Outcome<'c, Vec<Parts>> {
    let [q, k, tables @ .., positions] = &call.operands[..] else {
        return Err(Fault::from("it takes five operands".to_owned()));
    };
    let mut found = Vec::with_capacity(2);
    for (field, x) in [q, k].into_iter().enumerate() {
        let rank = x.placed.shape.len();
        let rows = rank.checked_sub(3).map(|at| &x.placed.cuts[at]);
        let mut inputs = vec![x.own()];
        for (at, table) in tables.iter().enumerate() {
            inputs.push(input(2 + at, table, &[Need::Whole, Need::Whole])?);
        }
        inputs.push(ids(positions, rows.unwrap_or(&Cut::new()))?);
        let turned = at_positions(call, &inputs, |mut tensors| {
            let x = tensors[0].clone();
            tensors.insert(1, x);
            call.apply(tensors)
        })?;
        found.extend(turned.into_iter().nth(field));
    }
    Ok(found)
}
