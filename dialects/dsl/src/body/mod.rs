//! Bodies of `@func`: statements folded into one expression.

mod attributes;
mod calls;
mod constraints;
mod coordinates;
mod distance;
mod emit;
mod extents;
mod functions;
mod lists;
mod loops;
mod meshes;
mod operators;
mod statements;
mod subscripts;
mod windows;

pub(crate) use calls::{is_path, patterns_match};
pub(crate) use constraints::constrained;
pub(crate) use emit::is_integer_scalar;
pub(crate) use extents::extent_behind;
pub(crate) use statements::{Flow, bound_names, docstring, is_docstring, keyword, target_names};
