//! Functions for given values of dim variables.

mod copy;
mod reach;
mod statements;

use rustc_hash::FxHashSet;
use tf_types::Symbol;

pub(crate) use copy::Copier;
pub use reach::{with_callees, with_origins};
pub use statements::specialize_prim_function;

use crate::node::{Function, FunctionData, Origin};
use crate::{Context, Diagnostic, Result};

impl<'c> Function<'c> {
    /// What it was made from.
    #[must_use]
    pub fn origin_of(self) -> Option<Function<'c>> {
        self.origin?.function
    }

    /// The dim values that it was specialised for, sorted by name.
    #[must_use]
    pub fn bound_dims_of(self) -> Option<&'c [(Symbol<'c>, i64)]> {
        self.origin?.dims
    }
}

/// The function for these values of its dim variables: of a prototype the variant that is for them, with the values in its
/// types, attributes and loop bounds and in the functions it calls.
///
/// # Errors
/// No values; a name that the function does not reach, or twice; a value outside its variable's range; no variant for them;
/// a prototype among the callees; what type inference refuses.
pub fn specialize_function<'c>(
    cx: &Context<'c>,
    function: Function<'c>,
    dims: &[(Symbol<'c>, i64)],
) -> Result<Function<'c>> {
    let name = function.name;
    let refuse = |message: String| Err(Diagnostic::error(message).at(function.span));
    if dims.is_empty() {
        return refuse(format!("`{name}` is specialised for no values"));
    }
    let known = function.dim_vars_reached();
    let mut sorted = dims.to_vec();
    sorted.sort_by_key(|&(name, _)| name.as_str());
    for (at, &(dim, value)) in sorted.iter().enumerate() {
        if at > 0 && sorted[at - 1].0 == dim {
            return refuse(format!("dim `{dim}` is given twice"));
        }
        let Some(var) = known.iter().find(|var| var.name == dim) else {
            let known: Vec<_> = function.residual_dims().iter().map(|dim| format!("`{dim}`")).collect();
            let help = if known.is_empty() { "it has none".to_owned() } else { format!("it has {}", known.join(", ")) };
            return refuse(format!("`{name}` has no dim `{dim}`")).map_err(|error| error.with_help(help));
        };
        if !(var.lo..var.hi).contains(&value) {
            return refuse(format!("`{dim}` cannot be {value}; its range is [{}, {})", var.lo, var.hi));
        }
    }
    let chosen = function.variant_for(&sorted)?;
    let values = sorted.iter().map(|&(dim, value)| (dim, cx.dim(value))).collect();
    let mut copier = Copier::new(cx, values);
    let dims = cx.alloc_slice(&sorted);
    for callee in with_callees(&[chosen]) {
        if callee == chosen {
            continue;
        }
        if callee.is_prototype() {
            return refuse(format!("`{name}` calls the dispatch prototype `{}`", callee.name))
                .map_err(|error| error.with_help("specialise the callee first"));
        }
        let reached: FxHashSet<_> = callee.dim_vars_reached().into_iter().map(|var| var.name).collect();
        if sorted.iter().any(|(dim, _)| reached.contains(dim)) {
            let new = made(cx, callee, copier.function(callee)?, dims);
            copier.redirect(callee, new);
        }
    }
    let new = copier.function(chosen)?;
    let whole = FunctionData { specializations: &[], label: None, converters: function.converters, ..*new };
    Ok(made(cx, function, cx.function(whole), dims))
}

fn made<'c>(cx: &Context<'c>, from: Function<'c>, new: Function<'c>, dims: &'c [(Symbol<'c>, i64)]) -> Function<'c> {
    let origin = Origin { name: from.name, function: Some(from), dims: Some(dims) };
    cx.function(FunctionData { origin: Some(origin), ..*new })
}

/// As [`specialize_function`], and no dim variable may be left.
///
/// # Errors
/// As [`specialize_function`]; dim variables without a value.
pub fn specialize_concretely<'c>(
    cx: &Context<'c>,
    function: Function<'c>,
    dims: &[(Symbol<'c>, i64)],
) -> Result<Function<'c>> {
    let new = match dims {
        [] if !function.is_prototype() => function,
        _ => specialize_function(cx, function, dims)?,
    };
    let left = new.residual_dims();
    if left.is_empty() {
        return Ok(new);
    }
    let left: Vec<_> = left.iter().map(|dim| format!("`{dim}`")).collect();
    Err(Diagnostic::error(format!("`{}` still has the dims {}", function.name, left.join(", "))).at(function.span))
}
