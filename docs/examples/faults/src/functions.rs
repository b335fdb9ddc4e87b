//! Calls, variants and sizes.

use tf_core::node::{FunctionData, GridRegion};
use tf_core::visit::BindingSubstitutionCloner;
use tf_core::{Callee, ExprKind, Function, Result};
use tf_framework::{FunctionCx, FunctionPass, Pass};
use tf_types::{DimKind, vars::DimVars};

use crate::fault::{Site, faults, rewritten};

faults! {
    /// A call becomes the callee's body with the arguments in the other order.
    InlinedBackward = "fault-inlined-backward": |at| {
        let ExprKind::Call { callee: Callee::Function(callee), args } = at.expr.kind else { return None };
        let arguments = args.iter().rev().copied();
        BindingSubstitutionCloner::new(at.cx, callee.params.iter().copied().zip(arguments)).copy(callee.body?).ok()
    };

    /// A call becomes the callee's body with the first argument for all parameters.
    InlinedFirst = "fault-inlined-first": |at| {
        let ExprKind::Call { callee: Callee::Function(callee), args } = at.expr.kind else { return None };
        let arguments = std::iter::repeat(*args.first()?);
        BindingSubstitutionCloner::new(at.cx, callee.params.iter().copied().zip(arguments)).copy(callee.body?).ok()
    };

    /// A loop up to a symbolic extent is specialised for the least one.
    BakedExtent = "fault-baked-extent": |at| {
        let ExprKind::Grid(region) = at.expr.kind else { return None };
        let DimKind::Var(var) = *region.stop.data() else { return None };
        let region = GridRegion { stop: at.cx.dim(var.lo), ..*region };
        Some(at.cx.grid(region, at.expr.ty(), at.expr.source_metadata()))
    };
}

/// A loop up to one dim goes up to another one of the parameters.
#[derive(Clone, Pass)]
#[pass(name = "fault-wrong-dim")]
pub struct WrongDim;

impl FunctionPass for WrongDim {
    fn run<'c>(&self, function: Function<'c>, cx: &FunctionCx<'_, 'c>) -> Result<Function<'c>> {
        let mut dims = DimVars::default();
        let shapes = function.params.iter().filter_map(|param| param.ty().as_tensor());
        shapes.flat_map(|tensor| tensor.shape).for_each(|&dim| dims.add_dim(dim));
        rewritten(function, cx, |at: &Site<'_, 'c>| {
            let ExprKind::Grid(region) = at.expr.kind else { return None };
            let DimKind::Var(old) = *region.stop.data() else { return None };
            let new = dims.as_slice().iter().find(|var| var.name != old.name)?;
            let stop = at.cx.new_dim_var(new.name.as_str(), new.lo, new.hi).ok()?;
            Some(at.cx.grid(GridRegion { stop, ..*region }, at.expr.ty(), at.expr.source_metadata()))
        })
    }
}

/// The ranges of two variants are exchanged, so that each runs for the sizes of the other.
#[derive(Clone, Pass)]
#[pass(name = "fault-wrong-variant")]
pub struct WrongVariant;

impl FunctionPass for WrongVariant {
    fn run<'c>(&self, function: Function<'c>, cx: &FunctionCx<'_, 'c>) -> Result<Function<'c>> {
        let [first, second] = function.variants else { return Ok(function) };
        let with = |body: Function<'c>, ranges: Function<'c>| {
            let (specializations, label) = (ranges.specializations, ranges.label);
            cx.function(FunctionData { specializations, label, ..*body })
        };
        let variants = cx.alloc_slice(&[with(*second, *first), with(*first, *second)]);
        Ok(cx.function(FunctionData { variants, ..*function }))
    }
}

pub fn register(r: &mut tf_plugin::Registrar<'_>) {
    register_rewrites(r);
    r.passes.function_pass(WrongDim::new());
    r.passes.function_pass(WrongVariant::new());
}
