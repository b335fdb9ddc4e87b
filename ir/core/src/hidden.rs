//! Hidden shape scalars: extents that a TIR function takes as its last parameters.

use tf_types::{DType, Dim, DimKind, DimVar, DimVars, Storage, Symbol, Type};

use crate::node::{Expr, PrimFunction, Stmt, StmtKind};
use crate::walk::walk_stmts;
use crate::{Context, Meta};

/// The name of the scalar for one axis of a parameter.
pub fn shape_scalar_name<'c>(cx: &Context<'c>, param: Symbol<'c>, axis: u32) -> Symbol<'c> {
    cx.symbol(&format!("{param}_shape_{axis}"))
}

/// The scalar itself: rank-0 i32 in rmem.
///
/// # Panics
/// If `param` is no variable.
pub fn shape_scalar<'c>(cx: &Context<'c>, param: Expr<'c>, axis: u32) -> Expr<'c> {
    let name = param.var_name().expect("parameters are variables");
    let ty = cx.tensor(&[], DType::I32, None, Storage::Rmem);
    cx.var(shape_scalar_name(cx, name, axis), ty, Meta::at(param.span()))
}

/// The parameter and the axis that a parameter is the hidden scalar of; none for an ordinary one.
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

    /// The parameters that callers see, inputs and outputs apart.
    #[must_use]
    pub fn inputs_and_outputs(self) -> (Vec<Expr<'c>>, Vec<Expr<'c>>) {
        let mut inputs = self.visible_params();
        let outputs = inputs.split_off(inputs.len().saturating_sub(self.data().output_count));
        (inputs, outputs)
    }

    /// The hidden parameters, each with the parameter and axis whose extent it is.
    #[must_use]
    pub fn hidden_params(self) -> Vec<(Expr<'c>, Expr<'c>, u32)> {
        let params = self.data().params;
        let hidden =
            params.iter().filter_map(|&param| hidden_scalar(params, param).map(|(of, axis)| (param, of, axis)));
        hidden.collect()
    }

    /// The first hidden parameter that an ordinary one follows: hidden ones come last.
    #[must_use]
    pub fn misplaced_hidden_param(self) -> Option<Expr<'c>> {
        let params = self.data().params;
        let is_hidden = |&param: &Expr<'c>| hidden_scalar(params, param).is_some();
        let last_visible = params.iter().rposition(|param| !is_hidden(param))?;
        params[..last_visible].iter().copied().find(is_hidden)
    }
}

/// The scalars of a function that an author wrote for a GPU: one for every dim variable that the types of its bindings or of the
/// arguments of its effects mention, for the first axis of a parameter that is this variable, in the order of the parameters.
pub fn mentioned_shape_scalars<'c>(cx: &Context<'c>, params: &[Expr<'c>], body: Stmt<'c>) -> Vec<Expr<'c>> {
    let mut mentioned = DimVars::default();
    walk_stmts(body, |stmt| match stmt.kind {
        StmtKind::Let { var, .. } => mentioned.add_type(var.ty()),
        StmtKind::Evaluate { args, .. } => args.iter().for_each(|arg| mentioned.add_type(arg.ty())),
        _ => {}
    });
    let mut open = mentioned.as_slice().to_vec();
    let mut scalars = Vec::new();
    for (param, axis, var) in variable_axes(params) {
        if let Some(at) = open.iter().position(|&mentioned| mentioned == var) {
            open.swap_remove(at);
            scalars.push(shape_scalar(cx, param, axis));
        }
    }
    scalars
}

/// What a function with the parameters `params` passes on for the hidden parameters of `callee`: extents of its own parameters, each as a
/// parameter and an axis (H6). `args` are what it passes for the others.
///
/// # Errors
/// The hidden parameter whose extent no parameter has.
pub fn forwarded_shape_scalars<'c>(
    callee: PrimFunction<'c>,
    args: &[Expr<'c>],
    params: &[Expr<'c>],
) -> Result<Vec<(Expr<'c>, u32)>, Expr<'c>> {
    let visible = callee.visible_params();
    let forwarded = callee.hidden_params().into_iter().map(|(hidden, of, axis)| {
        let arg = visible.iter().position(|&param| param == of).and_then(|at| args.get(at).copied());
        if let Some(arg) = arg.filter(|arg| params.contains(arg)) {
            return Ok((arg, axis));
        }
        let extent = of.ty().as_tensor().and_then(|tensor| tensor.shape.get(axis as usize).copied());
        let mut axes = variable_axes(params).into_iter();
        let same = axes.find(|&(_, _, var)| matches!(extent.map(Dim::data), Some(DimKind::Var(own)) if *own == var));
        same.map(|(param, axis, _)| (param, axis)).ok_or(hidden)
    });
    forwarded.collect()
}

/// The axes of parameters whose extent is a dim variable.
fn variable_axes<'c>(params: &[Expr<'c>]) -> Vec<(Expr<'c>, u32, DimVar<'c>)> {
    let mut axes = Vec::new();
    for &param in params {
        let shape = param.ty().as_tensor().map_or(&[][..], |tensor| tensor.shape);
        axes.extend((0u32..).zip(shape).filter_map(|(axis, dim)| match *dim.data() {
            DimKind::Var(var) => Some((param, axis, var)),
            _ => None,
        }));
    }
    axes
}

/// The scalars of a function lowered from HIR: one for every axis whose extent is a dim variable, sorted by name and axis.
pub fn shape_scalars<'c>(cx: &Context<'c>, params: &[Expr<'c>]) -> Vec<Expr<'c>> {
    let mut axes = variable_axes(params);
    axes.sort_by_key(|&(param, axis, _)| (param.var_name().map_or("", Symbol::as_str), axis));
    axes.into_iter().map(|(param, axis, _)| shape_scalar(cx, param, axis)).collect()
}
