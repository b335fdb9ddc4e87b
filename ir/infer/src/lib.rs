//! Types of function bodies.
//!
//! A type rule sees one call of an op. What takes more is here: carries of loops and their yields, arguments and parameters,
//! callees for arguments of other layouts, results and what is declared. Front ends and passes share it.

mod agree;
mod check;
mod elaborate;
mod function;
mod typer;

pub use agree::{Mismatch, arguments, bound_types, declared};
pub use elaborate::{Refused, Session};
pub use function::{infer_body, infer_function};
