//! Trees of modules: what a module resolves to through its owners, its members, its paths, its copies.

mod check;
mod clone;
mod index;
mod member;
mod replace;
mod select;

pub use check::check_module;
pub use clone::{attached, cloned, renamed};
pub use index::{ModuleIndex, in_context};
pub use member::Member;
pub use replace::{Replacements, completed, exchanged, replaced};
pub use select::{function_selectors, implicit_module, select};
