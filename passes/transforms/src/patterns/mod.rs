//! The catalogue of rewrite patterns: what is the same in another form, for all HIR ops where something is.
//!
//! Each file is one kind of law. All results are the same bit for bit, or the pattern is marked `@fast_math`.

mod arithmetic;
mod casts;
mod integers;
mod joining;
mod logic;
mod loops;
mod movement;
mod reductions;
mod scalars;
mod windows;

use tf_core::{Expr, Literal};
use tf_hir::Zeros;
use tf_rewrite::{Patterns, Rewriter};
use tf_types::{DType, TensorType, Type};

/// Registers the catalogue.
pub fn register(patterns: &mut Patterns) {
    arithmetic::register(patterns);
    casts::register(patterns);
    integers::register(patterns);
    joining::register(patterns);
    logic::register(patterns);
    loops::register(patterns);
    movement::register(patterns);
    reductions::register(patterns);
    scalars::register(patterns);
    windows::register(patterns);
}

/// Adds the patterns of a file.
macro_rules! catalogue {
    ($($name:ident),+ $(,)?) => {
        pub(super) fn register(patterns: &mut ::tf_rewrite::Patterns) {
            $(patterns.add($name);)+
        }
    };
}
use catalogue;

fn tensor<'c>(expr: Expr<'c>) -> Option<&'c TensorType<'c>> {
    expr.ty().as_tensor()
}

fn dtype(expr: Expr<'_>) -> Option<DType> {
    tensor(expr).map(|ty| ty.dtype)
}

fn is_integer(expr: Expr<'_>) -> bool {
    dtype(expr).is_some_and(DType::is_integer)
}

fn integer(expr: Expr<'_>) -> Option<i64> {
    match expr.literal()? {
        Literal::Int(value) => Some(value),
        Literal::Bool(_) | Literal::Float(_) => None,
    }
}

fn is_placed(ty: &TensorType<'_>) -> bool {
    ty.shard().is_some()
}

/// Zeros, or `false`, of a type without placement.
fn zeros<'c>(rw: &Rewriter<'_, 'c>, ty: Type<'c>) -> Option<Expr<'c>> {
    let tensor = ty.as_tensor().filter(|tensor| !is_placed(tensor) && tensor.dtype != DType::F8E8M0)?;
    if ty == rw.cx.scalar(tensor.dtype) {
        let zero = match tensor.dtype {
            DType::Bool => Literal::Bool(false),
            dtype if dtype.is_integer() => Literal::Int(0),
            _ => Literal::Float(0.0),
        };
        return Some(rw.cx.constant(zero, tensor.dtype, Default::default()));
    }
    rw.call(Zeros::new(rw.cx, ty), &[])
}
