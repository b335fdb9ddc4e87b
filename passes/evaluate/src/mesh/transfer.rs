//! A value under another placement.

use std::rc::Rc;

use crate::mesh::digit::{Digit, Index, common};
use crate::mesh::fault::{Fault, Outcome, agreed};
use crate::mesh::parts::{Parts, Take, gather};
use crate::mesh::placement::{Cut, Holds, MeshAxis, Placed};
use crate::mesh::terms::{complete, terms_of};

/// Whether a mesh axis holds the same terms on both sides.
fn keeps<'c>(axis: &MeshAxis<'c>, other: &Placed<'c>) -> bool {
    matches!(axis.holds, Holds::Terms(_))
        && other.mesh.iter().any(|known| known.digit == axis.digit && known.holds == axis.holds)
}

/// The value as `to` places it: what is dealt out otherwise is put together and dealt out anew. Terms that `to` does not hold are
/// reduced where `completes`.
///
/// # Errors
/// Terms that would have to be reduced; positions that differ where `to` has one value.
pub fn transfer<'c>(value: &Rc<Parts>, from: &Placed<'c>, to: &Placed<'c>, completes: bool) -> Outcome<'c, Rc<Parts>> {
    let mut now = Rc::clone(value);
    for axis in from.mesh.iter().filter(|axis| !keeps(axis, to)) {
        if let Holds::Terms(reduction) = axis.holds {
            if !completes {
                return Err(Fault::Terms { operand: 0, reduction, axis: axis.name() });
            }
            now = Rc::new(complete(&now, axis)?);
        }
    }
    let differs = |axis: usize| from.cuts.get(axis) != to.cuts.get(axis);
    let put_together: Vec<Cut> =
        from.cuts.iter().enumerate().map(|(axis, cut)| if differs(axis) { cut.clone() } else { Cut::new() }).collect();
    if put_together.iter().any(|cut| !cut.is_empty()) {
        now = Rc::new(gather(&now, &put_together)?);
    }
    let stays: Vec<Digit> = (from.mesh.iter().filter(|axis| keeps(axis, to)).map(|axis| axis.digit))
        .chain((0..to.cuts.len()).filter(|&axis| !differs(axis)).flat_map(|axis| owners(&to.cuts[axis])))
        .collect();
    now = one_value(now, to, &stays)?;
    let dealt_out: Vec<Cut> =
        to.cuts.iter().enumerate().map(|(axis, cut)| if differs(axis) { cut.clone() } else { Cut::new() }).collect();
    if dealt_out.iter().any(|cut| !cut.is_empty()) {
        now = Rc::new(take(&now, &dealt_out)?);
    }
    let new_terms: Vec<MeshAxis<'c>> =
        to.mesh.iter().filter(|axis| matches!(axis.holds, Holds::Terms(_)) && !keeps(axis, from)).copied().collect();
    if !new_terms.is_empty() {
        now = Rc::new(terms_of(&now, &new_terms)?);
    }
    Ok(now)
}

fn owners(cut: &Cut) -> impl Iterator<Item = Digit> {
    cut.iter().filter_map(|factor| factor.digit)
}

/// The value without the digits of `to` that none of `stays` accounts for: where one value is placed, positions have one. Not along
/// digits where it is meant to differ.
fn one_value<'c>(value: Rc<Parts>, to: &Placed<'c>, stays: &[Digit]) -> Outcome<'c, Rc<Parts>> {
    let value = aligned(value, to)?;
    let accounted = |digit: &Digit| stays.iter().any(|known| digit.lies_in(known));
    let is_wrong = |digit: &Digit| to.axis_of(digit).is_some() && !accounted(digit) && !value.meant.contains(digit);
    let wrong: Vec<Digit> = value.digits.iter().copied().filter(is_wrong).collect();
    if wrong.is_empty() {
        return Ok(value);
    }
    agreed(&value, &wrong, to).map(Rc::new)
}

/// The value listed over digits of which each belongs to one mesh axis of `placed`, or to none.
pub fn aligned<'c>(value: Rc<Parts>, placed: &Placed<'c>) -> Outcome<'c, Rc<Parts>> {
    if value.digits.is_empty() || placed.mesh.is_empty() {
        return Ok(value);
    }
    let all = common([&value.digits[..], &placed.digits(|_| true)])?;
    let own: Vec<Digit> =
        all.into_iter().filter(|digit| value.digits.iter().any(|known| digit.lies_in(known))).collect();
    Ok(if own == value.digits { value } else { Rc::new(value.over(&own)) })
}

/// The parts of positions of what is whole along the axes whose cut is not empty.
pub fn take(value: &Parts, cuts: &[Cut]) -> Result<Parts, Fault<'static>> {
    let digits: Vec<Digit> = cuts.iter().flat_map(owners).collect();
    let known = common([&value.digits[..], &digits])?;
    let (source, taking) = (Index::new(&known, &value.digits), Take::new(value.tensors[0].shape(), cuts, &known));
    let parts = Parts::of(&value.shape, known, |at| taking.part(&value.tensors[source.at(at)], at));
    Ok(parts.map_err(Fault::from)?.meant(&value.meant))
}
