//! The authoring surface: Python source read as syntax, never executed; modules of both IRs out.
//!
//! A file is parsed with byte ranges, its file-level names are evaluated statically, and every `@func` body is folded
//! into one HIR expression, each node typed as it is made; that of a `@prim_func` into TIR statements. Ops are found by their schema in the context's registry, so
//! this crate knows no op.

mod annotation;
mod body;
mod environment;
mod factory;
mod family;
mod file;
mod function;
mod limits;
mod lookup;
mod members;
mod method;
mod misplaced;
mod module;
mod names;
mod parser;
mod prim;
mod print;
mod refusal;
mod scope;
mod script;
mod source;
mod statics;
mod stubs;
mod sugar;
mod syntax;
mod value;

pub use environment::{Closed, Environment, HostValue};
pub use names::hidden_dialects;
pub use prim::check_intrinsic;
pub use print::{PrintOptions, print_module};
pub use script::{Script, parse_func_source, parse_module_source, parse_script};
pub use stubs::{Stub, stubs};
use tf_core::{Context, Diagnostic, FileId, Module};

/// Stack for parsing and dropping syntax trees; their depth is bounded by [`limits`].
const STACK: usize = 256 << 20;

/// What to read of a file.
#[derive(Clone, Debug, Default)]
pub struct DslOptions {
    /// The module class or `@func` to return; `None`: the last module class, else the last `@func`.
    pub module: Option<String>,
}

/// Reads an authoring file of `cx.sources()` as a module.
///
/// A class under `@module` is the module of its name; a `@func` outside a class is the entry of a module of its own
/// name, together with the functions it calls.
///
/// # Errors
/// Every refusal found, in source order: syntax, static values, surface rules, and what type inference refuses. With
/// [`DslOptions::module`], errors of other modules of the file do not count.
pub fn parse_file<'c>(cx: &Context<'c>, file: FileId, options: &DslOptions) -> Result<Module<'c>, Vec<Diagnostic>> {
    parse_file_in(cx, file, options, &Closed)
}

/// [`parse_file`] with names that a host supplies.
///
/// # Errors
/// As [`parse_file`].
pub fn parse_file_in<'c>(
    cx: &Context<'c>,
    file: FileId,
    options: &DslOptions,
    environment: &dyn Environment<'c>,
) -> Result<Module<'c>, Vec<Diagnostic>> {
    read(cx, file, options, environment).map(|(module, _)| module)
}

/// The module, and whether it is the one of a function alone.
fn read<'c>(
    cx: &Context<'c>,
    file: FileId,
    options: &DslOptions,
    environment: &dyn Environment<'c>,
) -> Result<(Module<'c>, bool), Vec<Diagnostic>> {
    stacker::grow(STACK, || {
        let source = source::Source::new(cx, file).map_err(|d| vec![*d])?;
        let syntax = source.parse()?;
        parser::Parser::new(cx, &source, environment).file(&syntax.body, options)
    })
}
