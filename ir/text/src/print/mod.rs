//! The printer.

mod attr;
mod constraint;
mod dim;
mod function;
mod hir;
mod intrinsic;
mod method;
mod module;
mod tir;
mod types;
mod value;

use rustc_hash::FxHashMap;
use tf_core::node::{Function, Intrinsic};
use tf_core::op::OpInstance;
use tf_core::{Expr, FileId, Module, NodeMap, SourceMap, Span};
use tf_types::{Symbol, Type};

use crate::syntax::{write_quoted, write_word};
use types::TypeWriter;

/// What [`print_module`] writes besides the module itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct PrintOptions<'a> {
    /// Write `loc(…)` with file names from this map; `None`: no locations.
    pub locations: Option<&'a SourceMap>,
}

/// The module as text, aliases first.
#[must_use]
pub fn print_module(module: Module<'_>, options: &PrintOptions<'_>) -> String {
    let mut printer = Printer {
        out: String::new(),
        types: TypeWriter::new(true),
        numbers: NodeMap::default(),
        attribute_texts: FxHashMap::default(),
        uses: FxHashMap::default(),
        unnamed: 0,
        indent: 0,
        sources: options.locations,
        file: None,
        owners: module::owners(module),
        path: Vec::new(),
        intrinsics: Vec::new(),
    };
    printer.module(module);
    let declarations = printer.intrinsic_declarations();
    let mut text = printer.out;
    text.insert_str(0, &(printer.types.into_definitions() + &declarations));
    text
}

/// A type as textual IR without aliases, for messages.
#[must_use]
pub fn print_type(ty: Type<'_>) -> String {
    let mut text = String::new();
    TypeWriter::new(false).write_type(&mut text, ty);
    text
}

struct Printer<'a, 'c> {
    out: String,
    types: TypeWriter<'c>,
    /// The numbers of values among those with their base, or without one.
    numbers: NodeMap<Expr<'c>, u32>,
    /// ` {name = value}` of ops printed before.
    attribute_texts: FxHashMap<OpInstance<'c>, Box<str>>,
    /// How many values of the function have that base.
    uses: FxHashMap<Symbol<'c>, u32>,
    unnamed: u32,
    indent: usize,
    sources: Option<&'a SourceMap>,
    /// The quoted name of the file that was written last.
    file: Option<(FileId, String)>,
    /// Where the functions of the tree are.
    owners: FxHashMap<Function<'c>, module::Path<'c>>,
    /// The module that is written.
    path: module::Path<'c>,
    /// Those that statements use, in order.
    intrinsics: Vec<&'c Intrinsic<'c>>,
}

/// Deeper regions are not indented further, so that the size of the text stays linear.
const DEEPEST_INDENT: usize = 32;

impl<'c> Printer<'_, 'c> {
    fn target(&mut self, target: tf_core::Target<'c>) {
        self.out.push_str(" target(");
        let text = match target.kind {
            tf_core::TargetKind::Cuda | tf_core::TargetKind::Amx => target.device.as_str(),
            tf_core::TargetKind::Cpu => "cpu",
        };
        write_quoted(&mut self.out, text);
        self.out.push(')');
    }

    /// Makes room for that many lines.
    fn expect_values(&mut self, count: usize) {
        const TYPICAL_LINE: usize = 96;
        self.numbers.reserve(count);
        self.out.reserve(count * TYPICAL_LINE);
    }

    /// Starts a line.
    fn line(&mut self) {
        self.out.push('\n');
        const BLANKS: &str = "                                                                ";
        self.out.push_str(&BLANKS[..2 * self.indent.min(DEEPEST_INDENT)]);
    }

    fn word(&mut self, word: Symbol<'c>) {
        write_word(&mut self.out, word.as_str());
    }

    fn ty(&mut self, ty: Type<'c>) {
        self.types.write_type(&mut self.out, ty);
    }

    fn location(&mut self, span: Option<Span>) {
        let Some(sources) = self.sources else { return };
        let Some(span) = span else {
            self.out.push_str(" loc(unknown)");
            return;
        };
        let name = match &mut self.file {
            Some((id, name)) if *id == span.file => &*name,
            file => {
                let mut name = String::new();
                write_quoted(&mut name, &sources.file(span.file).name);
                &file.insert((span.file, name)).1
            }
        };
        self.out.push_str(" loc(");
        self.out.push_str(name);
        let Span { line, column, end_line, end_column, .. } = span;
        self.number_list([line.get(), column, end_line, end_column]);
        self.out.push(')');
    }

    fn number_list(&mut self, [line, column, end_line, end_column]: [u32; 4]) {
        use std::fmt::Write;
        let _ = write!(self.out, ":{line}:{column} to {end_line}:{end_column}");
    }
}
