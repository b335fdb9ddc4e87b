//! Hidden shape scalars: extents that a TIR function takes as its last parameters.

use rustc_hash::{FxHashMap, FxHashSet};
use tf_types::{DType, Dim, DimKind, DimVar, DimVars, Storage, Symbol};

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

/// The name of the parameter and the axis that a parameter would be the hidden scalar of, by its own name and type.
fn claim<'c>(param: Expr<'c>) -> Option<(&'c str, u32)> {
    param.ty().as_tensor().filter(|t| t.rank() == 0 && t.dtype == DType::I32)?;
    let (base, axis) = param.var_name()?.as_str().rsplit_once("_shape_")?;
    let number: u32 = axis.parse().ok().filter(|number: &u32| number.to_string() == axis)?;
    Some((base, number))
}

fn has_axis(param: Expr<'_>, axis: u32) -> bool {
    param.ty().as_tensor().is_some_and(|tensor| (axis as usize) < tensor.rank())
}

/// The parameter and the axis that a parameter is the hidden scalar of; none for an ordinary one.
#[must_use]
pub fn hidden_scalar<'c>(params: &[Expr<'c>], param: Expr<'c>) -> Option<(Expr<'c>, u32)> {
    let (base, axis) = claim(param)?;
    let of = params.iter().copied().find(|other| other.var_name().is_some_and(|name| name.as_str() == base))?;
    has_axis(of, axis).then_some((of, axis))
}

/// What [`hidden_scalar`] is for each of the parameters.
fn hidden_scalars<'c>(params: &[Expr<'c>]) -> Vec<Option<(Expr<'c>, u32)>> {
    let claims: Vec<_> = params.iter().map(|&param| claim(param)).collect();
    let mut named: FxHashMap<&str, Expr<'c>> = FxHashMap::default();
    if claims.iter().any(Option::is_some) {
        for (&param, name) in params.iter().filter_map(|param| Some((param, param.var_name()?))) {
            named.entry(name.as_str()).or_insert(param);
        }
    }
    let of = |(base, axis): (&str, u32)| Some((*named.get(base)?, axis)).filter(|&(of, axis)| has_axis(of, axis));
    claims.into_iter().map(|claim| claim.and_then(of)).collect()
}

impl<'c> PrimFunction<'c> {
    /// The parameters that callers see: all but the hidden ones.
    #[must_use]
    pub fn visible_params(self) -> Vec<Expr<'c>> {
        let params = self.data().params;
        params
            .iter()
            .zip(hidden_scalars(params))
            .filter(|(_, hidden)| hidden.is_none())
            .map(|(&param, _)| param)
            .collect()
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
        let hidden = params.iter().zip(hidden_scalars(params));
        hidden.filter_map(|(&param, hidden)| hidden.map(|(of, axis)| (param, of, axis))).collect()
    }

    /// The first hidden parameter that an ordinary one follows: hidden ones come last.
    #[must_use]
    pub fn misplaced_hidden_param(self) -> Option<Expr<'c>> {
        let params = self.data().params;
        let hidden = hidden_scalars(params);
        let last_visible = hidden.iter().rposition(Option::is_none)?;
        hidden[..last_visible].iter().position(Option::is_some).map(|at| params[at])
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
    let mut open: FxHashSet<_> = mentioned.as_slice().iter().copied().collect();
    let axes = variable_axes(params).into_iter().filter(|(_, _, var)| open.remove(var));
    axes.map(|(param, axis, _)| shape_scalar(cx, param, axis)).collect()
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
    let hidden = callee.hidden_params();
    if hidden.is_empty() {
        return Ok(Vec::new());
    }
    let places: FxHashMap<_, _> = callee.visible_params().into_iter().zip(args.iter().copied()).collect();
    let own: FxHashSet<_> = params.iter().copied().collect();
    let mut axes: FxHashMap<DimVar<'c>, (Expr<'c>, u32)> = FxHashMap::default();
    for (param, axis, var) in variable_axes(params) {
        axes.entry(var).or_insert((param, axis));
    }
    let forwarded = hidden.into_iter().map(|(hidden, of, axis)| {
        if let Some(&arg) = places.get(&of).filter(|arg| own.contains(arg)) {
            return Ok((arg, axis));
        }
        let extent = of.ty().as_tensor().and_then(|tensor| tensor.shape.get(axis as usize).copied());
        match extent.map(Dim::data) {
            Some(DimKind::Var(var)) => axes.get(var).copied().ok_or(hidden),
            _ => Err(hidden),
        }
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
