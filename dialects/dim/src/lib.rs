//! The `dim` dialect: arithmetic, comparison and logic on run-time scalars, such as `k + 32` with a loop's induction variable,
//! or the condition `k % 2 == 0` of a branch.
//!
//! Operands are rank-0 values of any residency: a rank-0 buffer stands for what it holds when the statement runs. The result is a
//! rank-0 value in `umat`: `i64` for integers,
//! the operands' dtype for floats, `bool` for comparisons and logic. Integers are widened to `i64`; sums, differences
//! and products wrap. All operands are evaluated: `and` and `or` choose nothing.

mod ops;
mod rules;

pub use ops::{
    Add, CmpEq, CmpGe, CmpGt, CmpLe, CmpLt, CmpNe, Div, FloorDiv, LogicalAnd, LogicalNot, LogicalOr, Max, Min, Mod,
    Mul, Neg, Sub, kind,
};
pub use rules::{ScalarKind, umat_scalar};

/// Registers the ops with their rules.
pub fn register(r: &mut tf_value::DialectBuilder) {
    ops::register(r);
}
