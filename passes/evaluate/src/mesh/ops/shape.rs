//! Ops on placement and shape, and those that make values from nothing.

use tf_core::op::OpCall;
use tf_types::Dim;
use tf_value::{Tensor, ValueError, extent};

use crate::mesh::fault::{Fault, Outcome};
use crate::mesh::ops::{Call, Operand, at_positions};
use crate::mesh::parts::Parts;
use crate::mesh::placement::{Holds, MeshAxis, Placed};
use crate::mesh::terms::terms_of;
use crate::mesh::transfer::transfer;

fn first<'a, 'c>(call: &'a Call<'_, 'c>) -> Outcome<'c, &'a Operand<'c>> {
    call.operands.first().ok_or_else(|| Fault::from("it has no operand".to_owned()))
}

fn copy(parts: &Parts) -> Parts {
    parts.over(&parts.digits)
}

/// The value placed anew, reduced where it held terms.
pub fn reshard<'c>(call: &Call<'_, 'c>) -> Outcome<'c, Vec<Parts>> {
    let x = first(call)?;
    let parts = transfer(&x.parts, &x.placed, &call.results[0], true)?;
    Ok(vec![copy(&parts)])
}

/// What each position has, as a value of its own.
pub fn local<'c>(call: &Call<'_, 'c>) -> Outcome<'c, Vec<Parts>> {
    let parts = &first(call)?.parts;
    Ok(vec![Parts { shape: call.results[0].shape.clone(), ..copy(parts) }])
}

/// Facts of the logical shape.
pub fn of_shape<'c>(call: &Call<'_, 'c>) -> Outcome<'c, Vec<Parts>> {
    let shape = &first(call)?.placed.shape;
    let fact = match call.results[0].shape.is_empty() {
        true => Tensor::scalar(shape.len() as i64),
        false => Tensor::from_vec(&[shape.len()], shape.iter().map(|&extent| extent as i64).collect())?,
    };
    Ok(vec![Parts::same(fact)])
}

/// A value that is the same wherever it is: of terms one position holds it.
pub fn full_like<'c>(call: &Call<'_, 'c>) -> Outcome<'c, Vec<Parts>> {
    let (x, placed) = (first(call)?, &call.results[0]);
    let part = call.apply(vec![x.parts.tensors[0].clone()])?;
    let parts = part.into_iter().map(Parts::same).next().ok_or_else(|| Fault::from("it has no value".to_owned()))?;
    let terms: Vec<MeshAxis<'c>> =
        placed.mesh.iter().filter(|axis| matches!(axis.holds, Holds::Terms(_))).copied().collect();
    Ok(vec![Parts { shape: placed.shape.clone(), ..terms_of(&parts, &terms)? }])
}

/// Values from nothing: made as a whole, of which each position keeps its part.
pub fn made<'c>(call: &Call<'_, 'c>) -> Outcome<'c, Vec<Parts>> {
    let wholes = call.apply(Vec::new())?;
    wholes.into_iter().zip(&call.results).map(|(whole, placed)| entering(whole, placed)).collect()
}

/// A whole value, as `placed` says who has what.
pub fn entering<'c>(whole: Tensor, placed: &Placed<'c>) -> Outcome<'c, Parts> {
    let everywhere =
        Placed { shape: placed.shape.clone(), cuts: vec![Vec::new(); placed.shape.len()], mesh: Vec::new() };
    if whole.shape() != placed.shape {
        let [found, wanted] = [whole.shape(), &placed.shape].map(tf_value::show_shape);
        return Err(format!("a value of shape {found} stands where the type has {wanted}").into());
    }
    Ok(copy(&*transfer(&Parts::same(whole).into(), &everywhere, placed, true)?))
}

/// Elements in row-major order: the carried placement says which of them a position has, in the same order.
pub fn reshape<'c>(call: &Call<'_, 'c>) -> Outcome<'c, Vec<Parts>> {
    let (x, shape) = (first(call)?, call.results[0].local_shape());
    at_positions(call, &[x.own()], |tensors| Ok(vec![tensors[0].reshape(&shape)?]))
}

fn sizes<'c>(call: &Call<'_, 'c>, dims: &[Dim<'c>]) -> Result<Vec<usize>, ValueError> {
    let one = |&dim| {
        let value = extent(dim, call.dims)?;
        usize::try_from(value).map_err(|_| ValueError::new(format!("a size is not negative, found {value}")))
    };
    dims.iter().map(one).collect()
}

/// A window: of axes that are dealt out it takes everything. Where it begins at a mesh coordinate, positions differ on purpose.
pub fn slice<'c>(call: &Call<'_, 'c>) -> Outcome<'c, Vec<Parts>> {
    let Some(own) = OpCall::<tf_hir::tensor::Slice>::new(call.view) else { return Ok(Vec::new()) };
    let (x, steps) = (first(call)?, sizes(call, own.strides())?);
    let mut window = sizes(call, own.sizes())?;
    for (axis, cut) in x.placed.cuts.iter().enumerate().filter(|(_, cut)| !cut.is_empty()) {
        window[axis] = crate::mesh::placement::local_extent(window[axis], cut);
    }
    let inputs: Vec<_> = call.operands.iter().map(Operand::own).collect();
    let meant: Vec<_> = call.operands[1..].iter().flat_map(|start| start.parts.digits.iter().copied()).collect();
    let found = at_positions(call, &inputs, |tensors| {
        let starts = tensors[1..].iter().map(Tensor::to_index).collect::<Result<Vec<_>, _>>()?;
        Ok(vec![tensors[0].slice(&starts, &window, &steps)?])
    })?;
    Ok(found.into_iter().map(|parts| parts.meant(&meant)).collect())
}
