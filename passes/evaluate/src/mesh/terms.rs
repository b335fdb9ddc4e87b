//! Terms of reductions: their sum, maximum or minimum is the value.

use tf_types::DType;
use tf_types::kinds::{BinaryKind, ReduceKind};
use tf_value::{Tensor, ValueError, bf16, f16};

use crate::mesh::digit::{Digit, Index, common, each};
use crate::mesh::parts::Parts;
use crate::mesh::placement::{Holds, MeshAxis};

/// What a reduction that meshes may hold terms of is made of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reduction {
    Sum,
    Max,
    Min,
}

fn reduction(name: &str) -> Result<Reduction, String> {
    match name {
        "sum" => Ok(Reduction::Sum),
        "max" => Ok(Reduction::Max),
        "min" => Ok(Reduction::Min),
        _ => Err(format!("terms of `{name}` have no value: reductions over positions are sum, max and min")),
    }
}

/// The value of terms.
fn reduced(how: Reduction, terms: &[Tensor]) -> Result<Tensor, ValueError> {
    let extreme = |kind| {
        let mut rest = terms.iter().cloned();
        let first = rest.next().ok_or_else(|| ValueError::new("no terms"))?;
        rest.try_fold(first, |all, term| all.binary(term, kind))
    };
    match how {
        Reduction::Sum => Tensor::stack(terms, 0)?.reduce(&[0], false, ReduceKind::Sum),
        Reduction::Max => extreme(BinaryKind::Max),
        Reduction::Min => extreme(BinaryKind::Min),
    }
}

/// The number that changes nothing: of extremes the infinity, or where a dtype has none its last number.
fn identity(how: Reduction, dtype: DType) -> Result<Tensor, ValueError> {
    let far = |down: bool| {
        let sign = if down { -1.0f32 } else { 1.0 };
        Ok(match dtype {
            DType::F32 => Tensor::scalar(sign * f32::INFINITY),
            DType::F16 => Tensor::scalar(f16::from_f32(sign * f32::INFINITY)),
            DType::BF16 => Tensor::scalar(bf16::from_f32(sign * f32::INFINITY)),
            DType::I32 => Tensor::scalar(if down { i32::MIN } else { i32::MAX }),
            DType::I64 => Tensor::scalar(if down { i64::MIN } else { i64::MAX }),
            DType::Bool => Tensor::scalar(!down),
            DType::Fp8E4M3 => Tensor::scalar(sign * 448.0f32).cast(dtype)?,
            DType::F8E8M0 => Tensor::scalar(if down { 2f32.powi(-127) } else { 2f32.powi(127) }).cast(dtype)?,
            DType::F4E2M1 => return Err(tf_value::f4e2m1_refused()),
        })
    };
    match how {
        Reduction::Sum if matches!(dtype, DType::F8E8M0 | DType::Bool) => {
            Err(ValueError::new(format!("{dtype} has no zero that terms of a sum could be")))
        }
        Reduction::Sum => Tensor::zeros(&[], dtype),
        Reduction::Max => far(true),
        Reduction::Min => far(false),
    }
}

/// The terms along an axis reduced, which all its positions have then.
pub fn complete(parts: &Parts, axis: &MeshAxis<'_>) -> Result<Parts, String> {
    let Holds::Terms(name) = axis.holds else { return Ok(parts.over(&parts.digits)) };
    let how = reduction(name.as_str())?;
    let known = common([&parts.digits[..], &[axis.digit]])?;
    let (gone, kept): (Vec<Digit>, Vec<Digit>) = known.iter().copied().partition(|digit| digit.lies_in(&axis.digit));
    let source = Index::new(&[&kept[..], &gone].concat(), &parts.digits);
    let result = Parts::of(&parts.shape, kept, |outer| {
        let mut terms = Vec::new();
        each(&gone, |inner| {
            terms.push(parts.tensors[source.at(&[outer, inner].concat())].clone());
            Ok::<_, ValueError>(())
        })?;
        reduced(how, &terms)
    });
    Ok(result.map_err(|error| error.message)?.meant(&parts.meant))
}

/// Terms of a complete value: along each axis position 0 keeps it, the others hold what changes nothing.
pub fn terms_of(parts: &Parts, axes: &[MeshAxis<'_>]) -> Result<Parts, String> {
    let digits: Vec<Digit> = axes.iter().map(|axis| axis.digit).collect();
    let known = common([&parts.digits[..], &digits])?;
    let source = Index::new(&known, &parts.digits);
    let mut holders = Vec::with_capacity(axes.len());
    for axis in axes {
        if let Holds::Terms(name) = axis.holds {
            let nothing =
                identity(reduction(name.as_str())?, parts.tensors[0].dtype()).map_err(|error| error.message)?;
            holders.push((Index::new(&known, &[axis.digit]), nothing));
        }
    }
    let result = Parts::of(&parts.shape, known, |at| {
        let own = &parts.tensors[source.at(at)];
        // The axis that is reduced first says what changes nothing; whichever it is, the last will do.
        match holders.iter().rev().find(|(index, _)| index.at(at) != 0) {
            Some((_, nothing)) => nothing.broadcast_to(own.shape()),
            None => Ok(own.clone()),
        }
    });
    Ok(result.map_err(|error: ValueError| error.message)?.meant(&parts.meant))
}
