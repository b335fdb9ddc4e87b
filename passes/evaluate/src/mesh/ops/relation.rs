//! Ops by their access relation: an axis that follows a split axis of the result is read at the position's own coordinates, one that is
//! summed over leaves terms, one that is reduced completely is put together first.

use tf_types::AxisAccess;
use tf_types::access::AccessRelation;

use crate::mesh::fault::{Fault, Outcome};
use crate::mesh::ops::{Call, Input, Operand, at_positions, own};
use crate::mesh::parts::{Parts, gather};
use crate::mesh::placement::Cut;

/// What a position needs along an axis of an operand.
pub enum Need<'a> {
    /// What it has.
    Own,
    /// All of it, from the positions that have it.
    Whole,
    /// The part that a result's axis has.
    Part(&'a Cut),
}

/// An operand as positions need it.
pub fn input<'c>(number: usize, operand: &Operand<'c>, needs: &[Need<'_>]) -> Outcome<'c, Input> {
    let rank = operand.placed.shape.len();
    let (mut together, mut cuts) = (vec![Cut::new(); rank], vec![Cut::new(); rank]);
    for (axis, need) in needs.iter().enumerate() {
        let have = &operand.placed.cuts[axis];
        match need {
            Need::Own => {}
            Need::Whole => together[axis].clone_from(have),
            Need::Part(cut) if *cut == have => {}
            Need::Part(cut) if have.is_empty() => cuts[axis].clone_from(cut),
            Need::Part(cut) => match within(have, cut) {
                Some(cut) => cuts[axis] = cut,
                None => {
                    return Err(Fault::from(format!(
                        "positions hold other parts of axis {axis} of operand {number} than those they need for their part of the result"
                    )));
                }
            },
        }
    }
    let parts = match together.iter().all(Cut::is_empty) {
        true => operand.parts.clone(),
        false => gather(&operand.parts, &together)?.into(),
    };
    Ok(Input { parts, cuts })
}

/// What a position that has a part takes of it for a part that lies in it; none where it does not.
fn within(have: &Cut, want: &Cut) -> Option<Cut> {
    let mut taken = Cut::new();
    let mut own = have.iter().copied();
    let mut now = own.next();
    for factor in want {
        let mut of = now?;
        match of.digit {
            Some(_) if of == *factor => of.extent = 1,
            None if of.extent % factor.extent == 0 => {
                taken.push(*factor);
                of.extent /= factor.extent;
            }
            _ => return None,
        }
        now = if of.extent == 1 { own.next() } else { Some(of) };
    }
    now.is_none().then_some(taken)
}

fn need<'a>(call: &'a Call<'_, '_>, relation: &AccessRelation<'_>, access: &AxisAccess<'_>) -> Option<Need<'a>> {
    let AxisAccess::Proj(dim) = access else { return None };
    if relation.partial.contains(dim) {
        return Some(Need::Own);
    }
    let axis = relation.result.iter().position(|axis| *axis == AxisAccess::Proj(*dim));
    let cuts = &call.results.get(relation.field)?.cuts;
    Some(axis.and_then(|axis| cuts.get(axis)).map_or(Need::Whole, Need::Part))
}

/// The value of a call of any op that has an access relation; without one every operand must be whole.
pub fn by_relation<'c>(call: &Call<'_, 'c>) -> Outcome<'c, Vec<Parts>> {
    if call.operands.is_empty() {
        return super::shape::made(call);
    }
    let registry = &call.cx.ops().access;
    let relations = registry.get(call.view.op.id).map_or_else(Vec::new, |access| access(call.view, call.cx));
    if relations.is_empty() {
        let split = call.operands.iter().position(|operand| operand.placed.cuts.iter().any(|cut| !cut.is_empty()));
        return match split {
            None => own(call),
            Some(at) => {
                Err(Fault::from(format!("without an access relation it cannot compute on parts of operand {at}")))
            }
        };
    }
    let mut inputs = Vec::with_capacity(call.operands.len());
    for (number, operand) in call.operands.iter().enumerate() {
        let rank = operand.placed.shape.len();
        let reads = relations.iter().flat_map(|relation| relation.reads.iter().map(move |read| (relation, read)));
        let read = reads.into_iter().find(|(_, read)| read.operand == number && read.axes.len() == rank);
        let mut needs = Vec::with_capacity(rank);
        for axis in 0..rank {
            let found = read.and_then(|(relation, read)| need(call, relation, &read.axes[axis]));
            if found.is_none() && !operand.placed.cuts[axis].is_empty() {
                return Err(Fault::from(format!(
                    "it reads axis {axis} of operand {number} where other positions have it"
                )));
            }
            needs.push(found.unwrap_or(Need::Own));
        }
        inputs.push(input(number, operand, &needs)?);
    }
    at_positions(call, &inputs, |tensors| call.apply(tensors))
}

#[cfg(test)]
mod tests {
    use super::within;
    use crate::mesh::digit::Digit;
    use crate::mesh::placement::Factor;

    #[test]
    fn a_part_of_a_part() {
        let split =
            |stride| Factor { extent: 2, digit: Some(Digit { level: 0, stride, radix: 2, start: 0, count: 2 }) };
        let rest = |extent| Factor { extent, digit: None };
        let (a, b) = (split(2), split(1));
        assert_eq!(within(&vec![a, rest(4)], &vec![a, b, rest(2)]), Some(vec![b, rest(2)]));
        assert_eq!(within(&vec![rest(2), a, rest(2)], &vec![b, a, rest(2)]), Some(vec![b, rest(2)]));
        assert_eq!(within(&vec![a, rest(4)], &vec![b, a, rest(2)]), None);
        assert_eq!(within(&vec![a, b, rest(2)], &vec![a, rest(4)]), None);
    }
}
