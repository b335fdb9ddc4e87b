//! The parser: one pass, errors are collected and parsing goes on at the next line or function.

mod alias;
mod attr;
mod body;
mod constraint;
mod control;
mod cursor;
mod dim;
mod function;
mod intrinsic;
mod layout;
mod lexer;
mod link;
mod loops;
mod method;
mod module;
mod names;
mod op;
mod recent;
mod statement;
mod types;
mod value;

use rustc_hash::FxHashMap;
use tf_core::node::{AnyFunction, Function, Intrinsic};
use tf_core::op::{OpId, OpInstance, Schema};
use tf_core::{Context, Diagnostic, Expr, FileId, Module};
use tf_types::{Symbol, Type};

use alias::Alias;
use body::{Frame, Item};
use function::Parts;
use lexer::{Lexer, Token};
use link::{Key, Reference};
use names::Names;
use recent::Recent;
use value::Operand;

/// Parses the module of a file of `cx.sources()`.
///
/// Nodes get the location that is written at them, else their place in this file.
///
/// # Errors
/// Everything that is wrong, with its place: syntax, unknown names, types that differ from the inferred ones.
pub fn parse_module<'c>(cx: &Context<'c>, file: FileId) -> Result<Module<'c>, Vec<Diagnostic>> {
    let source = cx.sources().file(file);
    let Some(text) = source.text.as_deref() else {
        return Err(vec![Diagnostic::error(format!("`{}` has no text", source.name))]);
    };
    let mut lexer = Lexer::new(text);
    let token = lexer.next_token();
    let parser = Parser {
        cx,
        text,
        file,
        lexer,
        token,
        previous: token,
        braces: 0,
        nesting: 0,
        errors: Vec::new(),
        named_file: None,
        aliases: FxHashMap::default(),
        intrinsics: FxHashMap::default(),
        sizes: FxHashMap::default(),
        ops: FxHashMap::default(),
        recent_types: Recent::default(),
        recent_attributes: Recent::default(),
        recent_signatures: Recent::default(),
        types: Vec::new(),
        values: Vec::new(),
        names: Names::default(),
        defined: Vec::new(),
        operands: Vec::new(),
        frames: Vec::new(),
        items: Vec::new(),
        functions: Vec::new(),
        path: &[],
        entries: FxHashMap::default(),
        modules: 0,
        origins: Vec::new(),
        origin: None,
        parts: None,
        in_instance: false,
        by_name: FxHashMap::default(),
        forward: FxHashMap::default(),
        references: Vec::new(),
        calls: Vec::new(),
    };
    parser.parse()
}

struct Parser<'a, 't, 'c> {
    cx: &'a Context<'c>,
    text: &'t str,
    file: FileId,
    lexer: Lexer<'t>,
    /// The current token; the lexer stands right after it.
    token: Token,
    /// The token consumed last.
    previous: Token,
    /// How many braces are open.
    braces: i32,
    nesting: u32,
    errors: Vec<Diagnostic>,
    /// The file of the last location.
    named_file: Option<(&'t str, FileId)>,
    /// By name with its sigil; `None`: its definition is wrong and has been reported.
    aliases: FxHashMap<&'t str, Option<Alias<'c>>>,
    /// By name; `None`: its declaration is wrong and has been reported.
    intrinsics: FxHashMap<Symbol<'c>, Option<&'c Intrinsic<'c>>>,
    sizes: FxHashMap<Type<'c>, u32>,
    ops: FxHashMap<&'t str, Schema>,
    /// From `tensor` to `>`. Aliases are complete before they are used.
    recent_types: Recent<'t, Type<'c>>,
    /// From `{` to `}`, by the op's schema.
    recent_attributes: Recent<'t, (OpId, usize, OpInstance<'c>)>,
    /// From `:` to the `>` that ends the result's type.
    recent_signatures: Recent<'t, (&'c [Type<'c>], Type<'c>)>,
    /// Of the operands of the line that is read.
    types: Vec<Type<'c>>,
    values: Vec<Expr<'c>>,
    /// Values in scope.
    names: Names<'t, 'c>,
    /// The keys of `names` in order of definition.
    defined: Vec<&'t str>,
    /// Operands of the line that is read.
    operands: Vec<Operand<'c>>,
    frames: Vec<Frame<'c>>,
    items: Vec<Item<'c>>,
    /// Those of all modules.
    functions: Vec<AnyFunction<'c>>,
    /// The module that is read: names from the root to it.
    path: &'c [Symbol<'c>],
    /// The entries of modules below the root.
    entries: FxHashMap<&'c [Symbol<'c>], Symbol<'c>>,
    /// How many modules and groups are open.
    modules: i32,
    /// Index in `functions`; `None`: it is wrong and has been reported.
    by_name: FxHashMap<Key<'c>, Option<usize>>,
    /// What stands for a function that is called before its definition.
    forward: FxHashMap<Key<'c>, Function<'c>>,
    references: Vec<Reference<'c>>,
    /// Caller's index and callee.
    calls: Vec<(usize, Key<'c>)>,
    /// Index of a function, and what it was made from.
    origins: Vec<(usize, Key<'c>)>,
    /// What the function that is read was made from.
    origin: Option<Key<'c>>,
    /// The parts of the HIR function that is read; none inside a part.
    parts: Option<Parts<'c>>,
    /// Whether the HIR function that is read is an instance.
    in_instance: bool,
}
