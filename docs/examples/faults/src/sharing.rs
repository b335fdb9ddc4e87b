//! Values that are taken for equal and are not.

use std::collections::HashMap;
use std::hash::Hash;

use tf_core::{Callee, Expr, ExprKind, Function, Literal, Result};
use tf_framework::{FunctionCx, FunctionPass, Pass};
use tf_hir::{Reduce, TupleGetItem, Unary};
use tf_types::Type;

use crate::fault::rewritten;

/// The function with the first of all expressions that have one key and one type in the place of the others.
fn shared<'c, K: Eq + Hash>(
    function: Function<'c>,
    cx: &FunctionCx<'_, 'c>,
    key: impl Fn(Expr<'c>) -> Option<K>,
) -> Result<Function<'c>> {
    let mut known: HashMap<(K, Type<'c>), Expr<'c>> = HashMap::new();
    rewritten(function, cx, |at| Some(*known.entry((key(at.expr)?, at.expr.ty())).or_insert(at.expr)))
}

macro_rules! faults {
    ($($(#[doc = $doc:literal])* $fault:ident = $name:tt: |$expr:ident| $key:expr;)*) => {
        $(
            $(#[doc = $doc])*
            #[derive(Clone, Pass)]
            #[pass(name = $name)]
            pub struct $fault;

            impl FunctionPass for $fault {
                fn run<'c>(&self, function: Function<'c>, cx: &FunctionCx<'_, 'c>) -> Result<Function<'c>> {
                    shared(function, cx, |$expr| $key)
                }
            }
        )*

        pub fn register(r: &mut tf_plugin::Registrar<'_>) {
            $(r.passes.function_pass($fault::new());)*
        }
    };
}

faults! {
    /// Takes two calls with the same operands for the same value, whatever their op does.
    CseWithoutAttributes = "fault-cse-without-attributes": |expr| expr.as_op::<Unary>().map(|call| call.x());

    /// Takes two reductions of the same operand for the same value, whatever their axes are.
    CseOfReductions = "fault-cse-of-reductions": |expr| expr.as_op::<Reduce>().map(|call| (call.x(), call.kind()));

    /// Takes literals for the same that compare equal: `-0.0` and `0.0`.
    CseOfZeros = "fault-cse-of-zeros": |expr| match expr.literal()? {
        Literal::Float(value) => Some((value + 0.0).to_bits()),
        Literal::Int(_) | Literal::Bool(_) => None,
    };

    /// Takes all fields of a tuple for the same.
    CseOfFields = "fault-cse-of-fields": |expr| expr.as_op::<TupleGetItem>().map(|call| call.value());

    /// Takes two calls of one function for the same value, whatever they are given.
    CseOfCalls = "fault-cse-of-calls": |expr| match expr.kind {
        ExprKind::Call { callee: Callee::Function(function), .. } => Some(function),
        _ => None,
    };
}
