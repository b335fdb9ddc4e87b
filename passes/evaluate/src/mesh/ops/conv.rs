//! `conv2d`: channels and groups at their own coordinates, a kernel that is dealt out as one with zeros elsewhere.

use tf_core::op::OpCall;
use tf_value::{ConvGeometry, Tensor};

use crate::mesh::fault::{Fault, Outcome};
use crate::mesh::ops::relation::{Need, input};
use crate::mesh::ops::rows::indices;
use crate::mesh::ops::{Call, at_positions};
use crate::mesh::parts::Parts;

const CHANNELS: usize = 1;

fn pair(values: &[i64]) -> Result<[usize; 2], String> {
    match *values {
        [height, width] => match (usize::try_from(height), usize::try_from(width)) {
            (Ok(height), Ok(width)) => Ok([height, width]),
            _ => Err(format!("a pair has no negative number, found {values:?}")),
        },
        _ => Err(format!("it takes pairs of numbers, found {values:?}")),
    }
}

/// Each position convolves the channels that it has, of the groups of its result channels.
pub fn conv2d<'c>(call: &Call<'_, 'c>) -> Outcome<'c, Vec<Parts>> {
    let Some(own) = OpCall::<tf_hir::Conv2d>::new(call.view) else { return Ok(Vec::new()) };
    let [image, weight, bias] = &call.operands[..] else { return Ok(Vec::new()) };
    let result = &call.results[0];
    let groups = usize::try_from(own.groups())
        .ok()
        .filter(|groups| *groups > 0)
        .ok_or_else(|| Fault::from(format!("it takes a positive number of groups, found {}", own.groups())))?;
    let geometry = ConvGeometry {
        stride: pair(own.stride())?,
        padding: pair(own.padding())?,
        dilation: pair(own.dilation())?,
        groups,
    };
    if image.placed.cuts[2..].iter().any(|cut| !cut.is_empty()) {
        return Err(Fault::from("the image's rows or columns are split over positions".to_owned()));
    }
    let taken = |axis: usize| &weight.placed.cuts[axis];
    let of_weight = |axis: usize| indices(weight.placed.shape[axis], taken(axis));
    let inputs = [
        input(0, image, &[Need::Part(&result.cuts[0]), Need::Own, Need::Own, Need::Own])?,
        weight.own(),
        input(2, bias, &[Need::Part(&result.cuts[CHANNELS])])?,
        of_weight(0)?,
        of_weight(2)?,
        of_weight(3)?,
    ];
    let per_group = (weight.placed.shape[0] / groups).max(1);
    at_positions(call, &inputs, |mut tensors| {
        for (axis, mine) in [(2, 4), (3, 5)] {
            if !taken(axis).is_empty() {
                tensors[1] = spread(&tensors[1], axis, weight.placed.shape[axis], &tensors[mine].to_i64_vec()?)?;
            }
        }
        let mut local = geometry;
        if groups > 1 && !taken(0).is_empty() {
            let mine = tensors[3].to_i64_vec()?;
            let (Some(first), Some(last)) = (mine.first(), mine.last()) else { return Ok(Vec::new()) };
            let (first, last) = (*first as usize / per_group, *last as usize / per_group);
            local.groups = last - first + 1;
            if mine.len() > per_group && mine.len() != local.groups * per_group {
                return Err(Fault::from("a position's result channels are no whole groups".to_owned()));
            }
            if image.placed.cuts[CHANNELS].is_empty() {
                let channels = image.placed.shape[CHANNELS] / groups;
                let (mut starts, mut sizes) = ([0; 4], tensors[0].shape().to_vec());
                (starts[CHANNELS], sizes[CHANNELS]) = ((first * channels) as i64, local.groups * channels);
                tensors[0] = tensors[0].slice(&starts, &sizes, &[1; 4])?;
            }
        }
        Ok(vec![tensors[0].conv2d(&tensors[1], &tensors[2], &local)?])
    })
}

/// The kernel with zeros for the elements of an axis that other positions have.
fn spread<'c>(kernel: &Tensor, axis: usize, extent: usize, mine: &[i64]) -> Outcome<'c, Tensor> {
    let mut shape = kernel.shape().to_vec();
    shape[axis] = extent;
    let (mut whole, mut sizes) = (Tensor::zeros(&shape, kernel.dtype())?, kernel.shape().to_vec());
    sizes[axis] = 1;
    for (from, &row) in mine.iter().enumerate() {
        let (mut source, mut target) = (vec![0; shape.len()], vec![0; shape.len()]);
        (source[axis], target[axis]) = (from as i64, row);
        whole = whole.insert(&kernel.slice(&source, &sizes, &vec![1; shape.len()])?, &target)?;
    }
    Ok(whole)
}
