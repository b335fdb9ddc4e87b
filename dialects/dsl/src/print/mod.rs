//! The printer: modules as authoring text that is read back as the same module.
//!
//! Values are printed one a line, in the loop that they depend on, as text and lowering have it. What only textual IR can say is
//! refused by name.

mod body;
mod calls;
mod constraints;
mod dims;
mod doc;
mod function;
mod head;
mod intrinsics;
mod loops;
mod meshes;
mod module;
mod names;
mod order;
mod prim;
pub(crate) mod python;
mod scalars;
mod scan;
mod scope;
mod shadows;
mod survey;
mod types;
mod windows;

use rustc_hash::FxHashMap;
use tf_core::op::{OpInstance, Schema};
use tf_core::{Context, Function, Module, PrimFunction, Result};
use tf_types::{Dim, Symbol, Topology};

use doc::{STEP, new_line};
use intrinsics::Declared;
use names::FileNames;
pub(crate) use names::IMPORTS;
use scope::Scope;
use survey::Survey;

/// What [`print_module`] writes besides the module itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct PrintOptions {
    /// The type of each value, in a comment.
    pub types: bool,
    /// The name that the author gave to each value, in a comment.
    pub names: bool,
    /// Where the author wrote each value, in a comment.
    pub locations: bool,
}

/// A file of Python syntax that is read as `root`; the class of `root` is its last.
///
/// # Errors
/// The module has what the DSL cannot say.
pub fn print_module<'c>(cx: &Context<'c>, root: Module<'c>, options: &PrintOptions) -> Result<String> {
    let print = |step| print(cx, root, *options, step).map_err(|error| error.at(root.span));
    match print(STEP) {
        // The reader counts columns, and blocks may be a column apart.
        Err(error) if error.message == prim::TOO_DEEP => print(1),
        printed => printed,
    }
}

fn print<'c>(cx: &Context<'c>, root: Module<'c>, options: PrintOptions, step: usize) -> Result<String> {
    let survey = Survey::new(root);
    let declared = Declared::all(cx, &survey.intrinsics)?;
    let mut printer = Printer {
        cx,
        options,
        out: String::new(),
        step,
        indent: 0,
        classes: Vec::new(),
        file: FileNames::new(cx, &survey, &declared)?,
        dims: FxHashMap::default(),
        surfaces: FxHashMap::default(),
        scope: Scope::default(),
        callees: FxHashMap::default(),
        prims: FxHashMap::default(),
        launched: FxHashMap::default(),
        levels: None,
        private: FxHashMap::default(),
        file_functions: FxHashMap::default(),
    };
    let meshes = printer.name_meshes(&survey)?;
    printer.root_class(root)?;
    printer.file(&survey, &meshes, &declared)
}

struct Printer<'a, 'c> {
    cx: &'a Context<'c>,
    options: PrintOptions,
    /// The class that is printed.
    out: String,
    /// Columns between a block and the one inside it.
    step: usize,
    /// Columns of indentation.
    indent: usize,
    /// Classes that are complete.
    classes: Vec<String>,
    file: FileNames<'c>,
    dims: FxHashMap<Dim<'c>, Box<str>>,
    surfaces: FxHashMap<OpInstance<'c>, Schema>,
    scope: Scope<'c>,
    /// The levels that the module that is printed declares, or one around it.
    levels: Option<&'c [Topology<'c>]>,
    /// What functions of the file are called by: private callees of modules.
    private: FxHashMap<Function<'c>, module::CalledAs>,
    /// What each name of a function of the file means now, as text.
    file_functions: FxHashMap<Symbol<'c>, String>,
    /// What the functions of the module that is printed are called by.
    callees: FxHashMap<Function<'c>, module::CalledAs>,
    /// The TIR functions of the module that is printed.
    prims: FxHashMap<Symbol<'c>, PrimFunction<'c>>,
    /// What the children of the module that is printed are launched by.
    launched: FxHashMap<Symbol<'c>, String>,
}

impl Printer<'_, '_> {
    fn line(&mut self) {
        new_line(&mut self.out, self.indent);
    }

    /// A line of its own.
    fn text_line(&mut self, text: &str) {
        self.line();
        self.out.push_str(text);
    }

    fn open_block(&mut self) {
        self.out.push(':');
        self.indent += self.step;
    }

    fn close_block(&mut self) {
        self.indent -= self.step;
    }
}
