//! When types that need not be equal fit together.

use tf_core::{Expr, Function};
use tf_types::{Storage, TensorLayout, TensorType, Type, TypeKind};

/// Why a value of type `found` is not what is declared: shape and dtype must be equal, layout and storage where they are declared.
/// Global memory is what a declaration without storage has.
///
/// # Errors
/// What differs, in one word.
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

/// Why arguments do not fit the parameters of a function.
#[derive(Clone, Copy, Debug)]
pub enum Mismatch<'c> {
    /// Another number of arguments.
    Count {
        /// How many parameters take one.
        wanted: usize,
        /// How many arguments there are.
        found: usize,
    },
    /// An argument of another type.
    Argument {
        /// Which one.
        at: usize,
        /// Its parameter.
        param: Expr<'c>,
        /// Its type.
        found: Type<'c>,
    },
}

impl<'c> Mismatch<'c> {
    /// What is wrong with a call of `callee`.
    #[must_use]
    pub fn message(&self, callee: Function<'c>) -> String {
        let name = callee.name;
        match self {
            Self::Count { wanted, found } => format!("`{name}` takes {}, found {found}", arguments(*wanted)),
            Self::Argument { param, found, .. } => {
                format!("the parameter {} of `{name}` is {}, found {found}", param.describe(), param.ty())
            }
        }
    }
}

/// That many arguments, in words.
#[must_use]
pub fn arguments(count: usize) -> String {
    match count {
        1 => "1 argument".to_owned(),
        _ => format!("{count} arguments"),
    }
}

/// The parameters that a call gives arguments for: all, or all but the constants.
pub(crate) fn supplied<'c>(callee: Function<'c>, omits: bool) -> impl Iterator<Item = Expr<'c>> {
    callee.data().params.iter().copied().filter(move |param| !omits || !param.is_const_param())
}

/// The types that the parameters of a function have in a call: that of the argument where the
/// parameter has no layout and shape and dtype are equal, else the declared one.
///
/// `omits`: whether the constants have no arguments, as in a call of a direct child's function.
///
/// # Errors
/// Another number of arguments; an argument that does not fit.
pub fn bound_types<'c>(callee: Function<'c>, args: &[Type<'c>], omits: bool) -> Result<Vec<Type<'c>>, Mismatch<'c>> {
    let wanted = supplied(callee, omits).count();
    if args.len() != wanted {
        return Err(Mismatch::Count { wanted, found: args.len() });
    }
    let mut types = Vec::with_capacity(callee.params.len());
    let mut next = 0;
    for &param in callee.params {
        if omits && param.is_const_param() {
            types.push(param.ty());
            continue;
        }
        let (ty, found) = (param.ty(), args[next]);
        let is_free = match (ty.as_tensor(), found.as_tensor()) {
            (Some(p), Some(a)) => p.layout.is_none() && p.shape == a.shape && p.dtype == a.dtype,
            _ => false,
        };
        if ty != found && !is_free {
            return Err(Mismatch::Argument { at: next, param, found });
        }
        types.push(found);
        next += 1;
    }
    Ok(types)
}
