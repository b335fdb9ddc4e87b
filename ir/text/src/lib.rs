//! Textual IR: [`print_module`] and [`parse_module`], inverse to each other (grammar: docs/textual-ir.md).

mod parse;
mod print;
mod syntax;

pub use parse::parse_module;
pub use print::{PrintOptions, print_module, print_type};
