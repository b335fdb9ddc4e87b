//! When types that need not be equal fit together.

use tf_types::{Storage, TensorLayout, TensorType, Type, TypeKind};

/// Whether a carry of this type may take the layout of its yield (decision 11).
pub fn is_open(phi: Type<'_>) -> bool {
    phi.as_tensor().is_some_and(|tensor| match tensor.layout {
        None => true,
        Some(TensorLayout::Plain(layout)) => layout.strides().is_none(),
        Some(TensorLayout::Shard(shard)) => shard.layout.strides().is_none(),
        Some(TensorLayout::Composed(_)) => false,
    })
}

/// Why a value of type `found` is not what is declared: shape and dtype must be equal, layout and storage where they are declared
/// (decision 7). Global memory is what a declaration without storage has.
pub fn declared<'c>(declared: Type<'c>, found: Type<'c>) -> Result<(), &'static str> {
    match (*declared.data(), *found.data()) {
        _ if declared == found => Ok(()),
        (TypeKind::Tensor(want), TypeKind::Tensor(have)) => {
            if want.shape != have.shape {
                Err("shape")
            } else if want.dtype != have.dtype {
                Err("dtype")
            } else if !matches!(want.storage, Storage::Gmem | Storage::Umat) && want.storage != have.storage {
                Err("storage")
            } else if want.layout.is_some() && want.layout != have.layout && !same_up_to_strides(&want, &have) {
                Err("layout")
            } else {
                Ok(())
            }
        }
        (TypeKind::Tuple(want), TypeKind::Tuple(have)) if want.len() == have.len() => {
            want.iter().zip(have).try_for_each(|(&want, &have)| self::declared(want, have))
        }
        _ => Err("form"),
    }
}

/// A declared placement or layout without strides leaves them to the body; materialised ones compare as placements.
fn same_up_to_strides(want: &TensorType<'_>, have: &TensorType<'_>) -> bool {
    match (want.layout, have.layout) {
        (Some(TensorLayout::Plain(want)), Some(TensorLayout::Plain(have))) => {
            want.strides().is_none() && want.shape() == have.shape()
        }
        (Some(TensorLayout::Shard(_)), _) => want.same_placement(have),
        _ => false,
    }
}

/// Whether a call may bind a value of type `argument` to a parameter: equal types, or a parameter without layout and equal shape and dtype
/// (spec: hir §2).
pub fn binds<'c>(parameter: Type<'c>, argument: Type<'c>) -> bool {
    parameter == argument
        || match (parameter.as_tensor(), argument.as_tensor()) {
            (Some(p), Some(a)) => p.layout.is_none() && p.shape == a.shape && p.dtype == a.dtype,
            _ => false,
        }
}
