//! The `dim` dialect: integer arithmetic on run-time scalars, such as `k + 32` with a loop's induction variable.
//!
//! Operands are rank-0 `i32` or `i64` values of any residency, the result is a rank-0 `i64` in `umat` (spec: types §2
//! `umat_scalar`, §5 D6: an address built on a scalar variable is no dim expression). Sums, differences and products wrap.

mod ops;
mod rules;

pub use ops::{Add, FloorDiv, Max, Min, Mod, Mul, Sub};
pub use rules::umat_scalar;

/// Registers the seven ops with their rules.
pub fn register(r: &mut tf_value::DialectBuilder) {
    ops::register(r);
}
