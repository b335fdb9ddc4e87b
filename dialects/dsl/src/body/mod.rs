//! Bodies of `@func`: statements folded into one expression (spec: parser §5).

mod calls;
mod emit;
mod functions;
mod lists;
mod loops;
mod meshes;
mod operators;
mod statements;
mod subscripts;
mod windows;

pub(crate) use statements::{Flow, bound_names, is_docstring, keyword};
