//! The same graphs as MLIR, for comparison.

use std::fmt::Write;

use crate::shape::{Op, Shape, ops};

/// The graph of [`crate::module`] as a function of dialect `arith`, in MLIR's own syntax.
#[must_use]
pub fn mlir(shape: Shape, count: usize) -> String {
    function("f", shape, count)
}

/// The functions of [`crate::library`].
#[must_use]
pub fn mlir_library(shape: Shape, functions: usize, count: usize) -> String {
    (0..functions).map(|number| function(&format!("f{number}"), shape, count)).collect()
}

fn function(name: &str, shape: Shape, count: usize) -> String {
    const TYPE: &str = "tensor<16x128xf32>";
    let mut text = format!("func.func @{name}(%v0: {TYPE}, %v1: {TYPE}) -> {TYPE} {{\n");
    for (at, op) in ops(shape, count).enumerate() {
        let at = at + 2;
        // Writing to a string does not fail.
        let _ = match op {
            Op::Unary(x) => writeln!(text, "  %v{at} = arith.negf %v{x} : {TYPE}"),
            Op::Add(x, y) => writeln!(text, "  %v{at} = arith.addf %v{x}, %v{y} : {TYPE}"),
            Op::Mul(x, y) => writeln!(text, "  %v{at} = arith.mulf %v{x}, %v{y} : {TYPE}"),
        };
    }
    let _ = writeln!(text, "  return %v{} : {TYPE}\n}}", count + 1);
    text
}
