//! Hidden shape scalars: extents that a TIR function takes as its last parameters (spec: tir §4).

use tf_types::{DType, DimKind, Storage, Symbol, Type};

use crate::node::{Expr, PrimFunction};
use crate::{Context, Meta};

/// The name of the scalar for one axis of a parameter (H1).
pub fn shape_scalar_name<'c>(cx: &Context<'c>, param: Symbol<'c>, axis: u32) -> Symbol<'c> {
    cx.symbol(&format!("{param}_shape_{axis}"))
}

/// The scalar itself: rank-0 i32 in rmem (H1).
///
/// # Panics
/// If `param` is no variable.
pub fn shape_scalar<'c>(cx: &Context<'c>, param: Expr<'c>, axis: u32) -> Expr<'c> {
    let name = param.var_name().expect("parameters are variables");
    let ty = cx.tensor(&[], DType::I32, None, Storage::Rmem);
    cx.var(shape_scalar_name(cx, name, axis), ty, Meta::at(param.span()))
}

/// The parameter and the axis that a parameter is the hidden scalar of (H2); none for an ordinary one.
#[must_use]
pub fn hidden_scalar<'c>(params: &[Expr<'c>], param: Expr<'c>) -> Option<(Expr<'c>, u32)> {
    let is_scalar = |ty: Type<'_>| ty.as_tensor().is_some_and(|t| t.rank() == 0 && t.dtype == DType::I32);
    if !is_scalar(param.ty()) {
        return None;
    }
    let (base, axis) = param.var_name()?.as_str().rsplit_once("_shape_")?;
    let axis: u32 = axis.parse().ok().filter(|number: &u32| number.to_string() == axis)?;
    let of = params.iter().copied().find(|other| other.var_name().is_some_and(|name| name.as_str() == base))?;
    let rank = of.ty().as_tensor()?.rank();
    ((axis as usize) < rank).then_some((of, axis))
}

impl<'c> PrimFunction<'c> {
    /// The parameters that callers see: all but the hidden ones.
    #[must_use]
    pub fn visible_params(self) -> Vec<Expr<'c>> {
        let params = self.data().params;
        params.iter().copied().filter(|&param| hidden_scalar(params, param).is_none()).collect()
    }

    /// The hidden parameters, each with the parameter and axis whose extent it is.
    #[must_use]
    pub fn hidden_params(self) -> Vec<(Expr<'c>, Expr<'c>, u32)> {
        let params = self.data().params;
        let hidden =
            params.iter().filter_map(|&param| hidden_scalar(params, param).map(|(of, axis)| (param, of, axis)));
        hidden.collect()
    }

    /// The first hidden parameter that an ordinary one follows: hidden ones come last (H3).
    #[must_use]
    pub fn misplaced_hidden_param(self) -> Option<Expr<'c>> {
        let params = self.data().params;
        let is_hidden = |&param: &Expr<'c>| hidden_scalar(params, param).is_some();
        let last_visible = params.iter().rposition(|param| !is_hidden(param))?;
        params[..last_visible].iter().copied().find(is_hidden)
    }
}

/// The scalars of a function lowered from HIR: one for every axis whose extent is a dim variable, sorted by name and axis (H5).
pub fn shape_scalars<'c>(cx: &Context<'c>, params: &[Expr<'c>]) -> Vec<Expr<'c>> {
    let mut axes: Vec<(Expr<'c>, u32)> = Vec::new();
    for &param in params {
        let shape = param.ty().as_tensor().map_or(&[][..], |tensor| tensor.shape);
        let symbolic = (0u32..).zip(shape).filter(|(_, dim)| matches!(dim.data(), DimKind::Var(_)));
        axes.extend(symbolic.map(|(axis, _)| (param, axis)));
    }
    axes.sort_by_key(|&(param, axis)| (param.var_name().map_or("", Symbol::as_str), axis));
    axes.into_iter().map(|(param, axis)| shape_scalar(cx, param, axis)).collect()
}
