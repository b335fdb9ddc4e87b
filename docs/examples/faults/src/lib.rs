//! Passes that are wrong on purpose: each leaves IR that every rule accepts and that computes something else. Tests of `--check-each`,
//! and material for docs/finding-a-wrong-pass.md.

use std::collections::HashMap;

use tf_core::node::{FunctionData, GridRegion};
use tf_core::visit::{Cloning, ExprCloner, clone_expr};
use tf_core::{Context, Expr, ExprKind, Function, Literal, Result};
use tf_framework::{FunctionCx, FunctionPass, Pass};
use tf_hir::{Binary, Cast, Reduce, Unary};
use tf_types::kinds::{BinaryKind, ReduceKind, UnaryKind};

/// What replaces an expression whose operands have been rewritten.
type Wrong<'w, 'c> = dyn FnMut(&Context<'c>, Expr<'c>) -> Result<Option<Expr<'c>>> + 'w;

struct Rewriter<'w, 'c>(&'w Context<'c>, &'w mut Wrong<'w, 'c>);

impl<'c> ExprCloner<'c> for Rewriter<'_, 'c> {
    fn default_clone(&mut self, expr: Expr<'c>, clone: &mut Cloning<'_, 'c>) -> Result<Expr<'c>> {
        let new = clone.rebuild(expr)?;
        Ok((self.1)(self.0, new)?.unwrap_or(new))
    }
}

fn rewritten<'c>(function: Function<'c>, cx: &FunctionCx<'_, 'c>, wrong: &mut Wrong<'_, 'c>) -> Result<Function<'c>> {
    let Some(old) = function.body else { return Ok(function) };
    let new = clone_expr(cx, old, &mut Rewriter(cx, wrong))?;
    Ok(if new == old { function } else { cx.function(FunctionData { body: Some(new), ..*function }) })
}

macro_rules! faults {
    ($($(#[doc = $doc:literal])* $fault:ident = $name:tt: |$cx:ident, $expr:ident| $body:expr;)*) => {
        $(
            $(#[doc = $doc])*
            #[derive(Clone, Pass)]
            #[pass(name = $name)]
            pub struct $fault;

            impl FunctionPass for $fault {
                fn run<'c>(&self, function: Function<'c>, cx: &FunctionCx<'_, 'c>) -> Result<Function<'c>> {
                    rewritten(function, cx, &mut |$cx, $expr| $body)
                }
            }
        )*

        fn register_rewrites(r: &mut tf_plugin::Registrar<'_>) {
            $(r.passes.function_pass($fault::new());)*
        }
    };
}

faults! {
    /// `a - b` becomes `b - a`.
    SwappedOperands = "fault-swapped-operands": |cx, expr| {
        let Some(call) = expr.as_op::<Binary>().filter(|call| call.kind() == BinaryKind::Sub) else { return Ok(None) };
        cx.call(Binary::new(cx, BinaryKind::Sub), &[call.rhs(), call.lhs()], expr.source_metadata()).map(Some)
    };

    /// Reductions over axis 0 go over axis 1; of a square operand the shape does not tell.
    WrongAxis = "fault-wrong-axis": |cx, expr| {
        let Some(call) = expr.as_op::<Reduce>().filter(|call| call.axes() == [0]) else { return Ok(None) };
        let op = Reduce::new(cx, &[1], call.keepdim(), call.kind());
        cx.call(op, &[call.x()], expr.source_metadata()).map(Some)
    };

    /// A mean becomes a sum.
    WrongReduction = "fault-wrong-reduction": |cx, expr| {
        let Some(call) = expr.as_op::<Reduce>().filter(|call| call.kind() == ReduceKind::Mean) else { return Ok(None) };
        let op = Reduce::new(cx, call.axes(), call.keepdim(), ReduceKind::Sum);
        cx.call(op, &[call.x()], expr.source_metadata()).map(Some)
    };

    /// `a < b` becomes `a <= b`: only ties tell.
    LessOrEqual = "fault-less-or-equal": |cx, expr| {
        let Some(call) = expr.as_op::<Binary>().filter(|call| call.kind() == BinaryKind::Lt) else { return Ok(None) };
        cx.call(Binary::new(cx, BinaryKind::Le), &[call.lhs(), call.rhs()], expr.source_metadata()).map(Some)
    };

    /// `x + 0.0` becomes `x`: only negative zeros tell.
    AddZero = "fault-add-zero": |_cx, expr| {
        let Some(call) = expr.as_op::<Binary>().filter(|call| call.kind() == BinaryKind::Add) else { return Ok(None) };
        let is_zero = matches!(call.rhs().literal(), Some(Literal::Float(zero)) if zero == 0.0);
        Ok((is_zero && call.lhs().ty() == expr.ty()).then(|| call.lhs()))
    };

    /// `x - x` becomes `relu(-abs(x))`, a zero: only NaNs and infinities tell.
    SubSelf = "fault-sub-self": |cx, expr| {
        let Some(call) = expr.as_op::<Binary>().filter(|call| call.kind() == BinaryKind::Sub) else { return Ok(None) };
        if call.lhs() != call.rhs() {
            return Ok(None);
        }
        let meta = expr.source_metadata();
        let size = cx.call(Unary::new(cx, UnaryKind::Abs), &[call.lhs()], meta)?;
        let negative = cx.call(Unary::new(cx, UnaryKind::Neg), &[size], meta)?;
        cx.call(Unary::new(cx, UnaryKind::Relu), &[negative], meta).map(Some)
    };

    /// A cast of a cast becomes one cast of the first operand: the rounding between is lost.
    CastOfCast = "fault-cast-of-cast": |cx, expr| {
        let Some(outer) = expr.as_op::<Cast>() else { return Ok(None) };
        let Some(inner) = outer.x().as_op::<Cast>() else { return Ok(None) };
        cx.call(Cast::new(cx, outer.dtype()), &[inner.x()], expr.source_metadata()).map(Some)
    };

    /// The first carry of a loop is what it was at the start.
    DroppedCarry = "fault-dropped-carry": |cx, expr| {
        let ExprKind::Grid(region) = expr.kind else { return Ok(None) };
        let ([carry, ..], [_, rest @ ..]) = (region.carries, region.yields) else { return Ok(None) };
        let yields = cx.alloc_slice(&[&[*carry], rest].concat());
        Ok(Some(cx.grid(GridRegion { yields, ..*region }, expr.ty(), expr.source_metadata())))
    };

    /// A loop ends one step early.
    OffByOne = "fault-off-by-one": |cx, expr| {
        let ExprKind::Grid(region) = expr.kind else { return Ok(None) };
        let (Some(stop), Some(step)) = (region.stop.as_const(), region.step.as_const()) else { return Ok(None) };
        let region = GridRegion { stop: cx.dim(stop - step), ..*region };
        Ok(Some(cx.grid(region, expr.ty(), expr.source_metadata())))
    };
}

/// Takes two calls with the same operands for the same value, whatever their op does.
#[derive(Clone, Pass)]
#[pass(name = "fault-cse-without-attributes")]
pub struct CseWithoutAttributes;

impl FunctionPass for CseWithoutAttributes {
    fn run<'c>(&self, function: Function<'c>, cx: &FunctionCx<'_, 'c>) -> Result<Function<'c>> {
        let mut known: HashMap<Expr<'c>, Expr<'c>> = HashMap::new();
        rewritten(function, cx, &mut |_, expr| {
            let Some(call) = expr.as_op::<Unary>() else { return Ok(None) };
            Ok(Some(*known.entry(call.x()).or_insert(expr)))
        })
    }
}

tf_plugin::tilefoundry_plugin!(register);

fn register(r: &mut tf_plugin::Registrar<'_>) {
    register_rewrites(r);
    r.passes.function_pass(CseWithoutAttributes::new());
}
