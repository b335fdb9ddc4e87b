//! What a run leaves: what every position holds, or the values that these make up.

use std::rc::Rc;

use tf_core::{Diagnostic, Function, Result};
use tf_value::{Tensor, ValueError, show_shape};

use crate::dims::DimSizes;
use crate::mesh::PerPosition;
use crate::mesh::digit::{Digit, Index, common, count, each};
use crate::mesh::parts::{Held, Parts};
use crate::mesh::placement::Placed;
use crate::mesh::transfer::transfer;

/// How a program of meshes is evaluated position by position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Positions {
    /// Results have the positions of all meshes as leading axes.
    All,
    /// Results are logical values, put together from what positions hold.
    Assembled,
    /// As `Assembled`, and as `All` where positions hold no one value.
    Any,
}

/// Elements of a result with its positions, at most: 1 GiB of f32.
const MOST_ELEMENTS: usize = 1 << 28;

impl<'c> PerPosition<'_, 'c> {
    /// The axes that [`Positions::All`] puts before a result: the positions of all meshes that occurred, outer levels first, a level's
    /// positions in the order of their numbers. With their names.
    ///
    /// # Errors
    /// Two meshes count the positions of one level in ways that do not nest.
    fn positions(&self) -> Result<Vec<Digit>, String> {
        let seen: Vec<Digit> = self.levels.seen.iter().map(|(digit, _)| *digit).collect();
        common([&seen[..]])
    }

    /// The axes that [`Positions::All`] puts before a result, by name.
    pub fn axes(&self) -> Vec<(String, usize)> {
        let name = |digit: &Digit| {
            let known = self.levels.seen.iter().find(|(seen, _)| seen == digit);
            known
                .or_else(|| self.levels.seen.iter().find(|(seen, _)| digit.lies_in(seen)))
                .map(|(_, name)| name.clone())
        };
        let positions = self.positions().unwrap_or_default();
        positions.iter().map(|digit| (name(digit).unwrap_or_default(), digit.count)).collect()
    }

    /// The tensors of a function's value in that form, each with whether the positions are its leading axes.
    ///
    /// # Errors
    /// Assembled: a value that positions have different ones of. All: a result too large.
    pub fn results(
        &mut self,
        function: Function<'c>,
        value: &Held,
        dims: &DimSizes<'c>,
        form: Positions,
    ) -> Result<Vec<(Tensor, bool)>> {
        let body = function.variant_for(&known(dims)).and_then(|function| function.value())?;
        let refuse = |message: String| Diagnostic::error(message).at(body.span().or(function.span));
        let placed = self.placed(body.ty(), dims, body)?;
        let positions = self.positions();
        let mut results = Vec::new();
        for (at, (parts, placed)) in value.leaves().into_iter().zip(&placed).enumerate() {
            // Values that are put together need no list of all positions, which disjoint slices do not have.
            let all = || {
                let tensor = spread_out(parts, positions.as_ref().map_err(String::clone)?);
                tensor.map(|tensor| (tensor, true)).map_err(|error| error.message)
            };
            let one = || assembled(parts, placed).map(|tensor| (tensor, false));
            let tensor = match form {
                Positions::All => all(),
                Positions::Assembled => one(),
                Positions::Any => one().or_else(|_| all()),
            };
            results.push(tensor.map_err(|message| refuse(format!("result {at}: {message}")))?);
        }
        Ok(results)
    }
}

fn known<'c>(dims: &DimSizes<'c>) -> Vec<(tf_types::Symbol<'c>, i64)> {
    let mut known: Vec<_> = dims.iter().map(|(&name, &value)| (name, value)).collect();
    known.sort_unstable_by_key(|(name, _)| name.as_str());
    known
}

/// A tensor with the positions before its own axes.
fn spread_out(parts: &Parts, positions: &[Digit]) -> Result<Tensor, ValueError> {
    let local = parts.tensors[0].shape();
    let elements = count(positions).saturating_mul(parts.tensors[0].len().max(1));
    if elements > MOST_ELEMENTS {
        let (all, local) = (count(positions), show_shape(local));
        return Err(ValueError::new(format!(
            "{all} positions hold {local} each, more than the {MOST_ELEMENTS} elements of a result"
        )));
    }
    let index = Index::new(positions, &parts.digits);
    let mut rows = Vec::with_capacity(count(positions));
    each(positions, |at| {
        rows.push(parts.tensors[index.at(at)].clone());
        Ok::<_, ValueError>(())
    })?;
    let shape: Vec<usize> = positions.iter().map(|digit| digit.count).chain(local.iter().copied()).collect();
    Tensor::stack(&rows, 0)?.reshape(&shape)
}

/// The logical value.
fn assembled(parts: &Rc<Parts>, placed: &Placed<'_>) -> Result<Tensor, String> {
    let everywhere =
        Placed { shape: placed.shape.clone(), cuts: vec![Vec::new(); placed.shape.len()], mesh: Vec::new() };
    let whole = transfer(parts, placed, &everywhere, true);
    let whole = whole.map_err(|_| "positions hold no one value".to_owned())?;
    let first = &whole.tensors[0];
    let same = |tensor: &Tensor| tf_value::compare(tensor, first, 0.0, 0.0).pass();
    if whole.tensors[1..].iter().all(same) {
        return Ok(first.clone());
    }
    Err("it is another value at every position; `mesh=all` gives them all".to_owned())
}
