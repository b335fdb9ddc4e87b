//! The state of reading one file, and name look-up.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use ruff_python_ast as ast;
use ruff_text_size::{Ranged, TextRange, TextSize};
use rustc_hash::{FxHashMap, FxHashSet};
use tf_core::{AnyFunction, Context, Diagnostic, Expr, Function, Module, PrimFunction, Span, Stmt, Target};
use tf_types::{Dim, Mesh, Storage, Symbol, Topology};

use crate::environment::Environment;
use crate::factory::{Factory, Locals};
use crate::family::Family;
use crate::function::Param;
use crate::limits;
use crate::module::Declared;
use crate::names::{self, Builtin};
use crate::prim::Intrinsic;
use crate::refusal::{Refusal, Res};
pub(crate) use crate::scope::{Binding, Frame, Kind, Names, Scope};
use crate::source::Source;
use crate::statics::{Heap, Mentions, Record, Unknown};
use crate::value::Value;

/// Levels in order, and where each stands.
#[derive(Clone, Default)]
pub(crate) struct Levels<'c> {
    pub(crate) levels: Vec<Topology<'c>>,
    pub(crate) spans: Vec<Option<Span>>,
}

/// The module that is being read, or the file.
#[derive(Default)]
pub(crate) struct Domain<'c> {
    /// The levels that it declares.
    pub(crate) topologies: Option<Levels<'c>>,
    /// The target that it declares, or that of the module around it.
    pub(crate) target: Option<Target<'c>>,
    /// The levels of the module around it.
    pub(crate) inherited: Option<Vec<Topology<'c>>>,
    /// Functions of the class that are not parsed yet, and where they are.
    pub(crate) below: FxHashMap<Symbol<'c>, Span>,
    /// Its functions so far; they take variants and converters until it is complete.
    pub(crate) functions: Vec<Family<'c>>,
    /// Which function each state of one is.
    pub(crate) states: FxHashMap<Function<'c>, usize>,
    /// Functions that have got parts since they were made.
    pub(crate) incomplete: Vec<usize>,
    /// Its TIR functions so far, each with the number of functions above it.
    pub(crate) prims: Vec<(usize, PrimFunction<'c>)>,
    /// Names of its functions so far.
    pub(crate) names: FxHashSet<Symbol<'c>>,
    /// The name of its class.
    pub(crate) class: Option<Symbol<'c>>,
    /// Its child modules so far.
    pub(crate) attached: FxHashSet<Module<'c>>,
    /// Whether a function of it calls a child.
    pub(crate) calls_children: bool,
}

impl<'c> Domain<'c> {
    /// Whether it has a function of that name so far, or will have one.
    pub(crate) fn has_function(&self, name: Symbol<'c>) -> bool {
        self.names.contains(&name) || self.below.contains_key(&name)
    }

    /// The levels that its functions may name.
    pub(crate) fn levels(&self) -> Option<&[Topology<'c>]> {
        self.topologies.as_ref().map(|declared| &declared.levels[..]).or(self.inherited.as_deref())
    }
}

/// An open loop.
#[derive(Clone, Copy)]
pub(crate) struct OpenLoop<'c> {
    pub(crate) iv: Expr<'c>,
    pub(crate) start: Dim<'c>,
    pub(crate) stop: Dim<'c>,
    pub(crate) step: Dim<'c>,
}

/// The body that is being read.
#[derive(Default)]
pub(crate) struct Body<'c> {
    pub(crate) frames: Vec<BodyFrame<'c>>,
    pub(crate) meshes: Vec<Mesh<'c>>,
    pub(crate) loops: Vec<OpenLoop<'c>>,
    /// Loops that were read a second time for the types of their carries.
    pub(crate) rereads: usize,
    /// Elements of comprehensions so far.
    pub(crate) unrolled: usize,
    /// The function that it is of.
    pub(crate) name: Option<Symbol<'c>>,
    /// The functions that it calls and launches, of a `@prim_func`.
    pub(crate) called: Vec<AnyFunction<'c>>,
    /// Whether it is that of a `@prim_func`.
    pub(crate) is_prim: bool,
    /// Starts of bindings of a `@prim_func` that are read outside their blocks.
    pub(crate) escaping: FxHashSet<TextSize>,
    /// Effects of the statement that is being read.
    pub(crate) effects: Vec<Stmt<'c>>,
    /// Mesh coordinates that are values.
    pub(crate) coordinates: FxHashMap<(Mesh<'c>, usize), Expr<'c>>,
    /// The same ones.
    pub(crate) coordinate_values: FxHashSet<Expr<'c>>,
    /// Its parameters.
    pub(crate) params: Vec<Expr<'c>>,
    /// The same ones.
    pub(crate) param_set: FxHashSet<Expr<'c>>,
    /// The parameters and axes that have extents, by extent, once one is a value.
    pub(crate) axes: Option<FxHashMap<Dim<'c>, (Expr<'c>, usize)>>,
    /// Dim variables that are values.
    pub(crate) extents: FxHashMap<Dim<'c>, Expr<'c>>,
    /// The integers that names of a `@prim_func` are bound to, by variable.
    pub(crate) lets: FxHashMap<Expr<'c>, Expr<'c>>,
    /// Schedule constraints so far.
    pub(crate) constraints: FxHashMap<Expr<'c>, tf_core::node::Constraint<'c>>,
}

impl<'c> Body<'c> {
    /// A body that has read nothing: of parameters, those that are refused without a variable.
    pub(crate) fn new(name: Symbol<'c>, params: &[Param<'c>]) -> Self {
        let names = params
            .iter()
            .map(|&(name, var)| (name, var.map_or(Binding::Poison, |var| Binding::Value(Value::Expr(var)))));
        let frames = vec![BodyFrame { names: names.collect(), is_mesh: false }];
        let params: Vec<_> = params.iter().filter_map(|(_, var)| *var).collect();
        Self { frames, param_set: params.iter().copied().collect(), params, name: Some(name), ..Self::default() }
    }
}

/// A scope of a body. Mesh suites bind their alias only; other names go to the frame around.
pub(crate) struct BodyFrame<'c> {
    pub(crate) names: Frame<'c>,
    pub(crate) is_mesh: bool,
}

pub(crate) struct Parser<'a, 'c> {
    pub(crate) cx: &'a Context<'c>,
    pub(crate) source: &'a Source,
    /// Names that the file does not bind.
    pub(crate) environment: &'a dyn Environment<'c>,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// The places of those.
    reported: FxHashMap<Option<Span>, Vec<usize>>,
    /// Of names that are not read, by where they come from: the error, and uses after it.
    unusable: FxHashMap<(Span, String), (usize, usize)>,
    /// Comparisons of names for suggestions that are left.
    pub(crate) comparisons: Cell<usize>,
    /// Where the file binds its names, in order.
    pub(crate) file_names: FxHashMap<&'a str, Vec<Span>>,
    /// Refusals so far, also those that follow from earlier ones and are not reported.
    pub(crate) refused: usize,
    /// Calls of code of the host whose arguments are read.
    pub(crate) quiet: usize,
    pub(crate) file: Frame<'c>,
    /// Names of the factories and classes around what is read, outermost first.
    pub(crate) scopes: Vec<Scope<'c>>,
    pub(crate) domain: Domain<'c>,
    pub(crate) body: Option<Body<'c>>,
    /// Bounds of the dim variables of the file.
    pub(crate) dims: FxHashMap<Symbol<'c>, (i64, i64)>,
    /// The objects of the file that have an identity.
    pub(crate) heap: Heap<'c>,
    /// Values of the host that have one.
    pub(crate) hosted: RefCell<Frame<'c>>,
    /// What the decorators of TIR functions outside classes declare.
    pub(crate) contexts: FxHashMap<PrimFunction<'c>, Declared<'c>>,
    /// Plain functions of the file: they make values when they are called.
    pub(crate) factories: Vec<Factory<'a, 'c>>,
    /// The lambdas of the file that have been values.
    pub(crate) lambdas: FxHashMap<TextRange, Rc<ast::ExprLambda>>,
    /// The generator expressions of the file that have been values.
    pub(crate) generators: FxHashMap<TextRange, Rc<ast::ExprGenerator>>,
    /// What plain functions bind, and names that they mention.
    pub(crate) locals: FxHashMap<TextRange, Rc<Locals<'c>>>,
    pub(crate) mentions: FxHashMap<TextRange, Rc<Mentions<'c>>>,
    /// Statements of TIR that the file declares.
    pub(crate) intrinsics: Vec<Intrinsic<'a, 'c>>,
    /// Their places by name.
    pub(crate) intrinsic_places: FxHashMap<&'a str, usize>,
    /// Functions that got parts after they had been used, each state with its place in `latest`.
    pub(crate) amended: FxHashMap<Function<'c>, usize>,
    pub(crate) latest: Vec<Function<'c>>,
    /// What labels of variants and converters belong to, and which of both it is.
    pub(crate) labels: FxHashMap<Symbol<'c>, (&'static str, Symbol<'c>)>,
    /// Parts of functions that were copied so far.
    pub(crate) copied_parts: usize,
    /// What the TIR functions of the file call and launch.
    pub(crate) called: FxHashMap<PrimFunction<'c>, Vec<AnyFunction<'c>>>,
    /// Plain classes of the file.
    pub(crate) records: Vec<Record<'c>>,
    /// Calls of factories that are open, and all so far.
    pub(crate) factory_calls: (usize, usize),
    /// The callees that calls have been given for the types of their arguments.
    pub(crate) session: tf_infer::Session<'c>,
    /// Modules copied so far.
    pub(crate) copies: usize,
    /// Statements and elements of sequences that the evaluation of the file has taken.
    pub(crate) steps: usize,
    /// Loops that took too many.
    pub(crate) endless: usize,
    /// Expressions since the last step.
    pub(crate) ticks: u8,
    /// Whether the state of any object is not known any more.
    pub(crate) has_unknown: bool,
    /// Expressions and statements so far that are not read and might raise an exception.
    pub(crate) doubts: usize,
    /// The classes of exceptions of Python that the file mentions.
    pub(crate) exceptions: FxHashMap<&'static str, usize>,
    /// What was raised last, and what the open handlers handle.
    pub(crate) raised: Option<Value<'c>>,
    pub(crate) handled: Vec<Value<'c>>,
    /// Why that holds for every object.
    pub(crate) all_unknown: Option<Unknown>,
    depth: usize,
}

impl<'a, 'c> Parser<'a, 'c> {
    pub(crate) fn new(cx: &'a Context<'c>, source: &'a Source, environment: &'a dyn Environment<'c>) -> Self {
        Self {
            cx,
            source,
            environment,
            diagnostics: Vec::new(),
            reported: FxHashMap::default(),
            unusable: FxHashMap::default(),
            comparisons: Cell::new(limits::COMPARISONS),
            file_names: FxHashMap::default(),
            refused: 0,
            quiet: 0,
            file: Frame::default(),
            scopes: Vec::new(),
            domain: Domain::default(),
            body: None,
            dims: FxHashMap::default(),
            heap: Heap::default(),
            hosted: RefCell::default(),
            contexts: FxHashMap::default(),
            factories: Vec::new(),
            lambdas: FxHashMap::default(),
            generators: FxHashMap::default(),
            locals: FxHashMap::default(),
            mentions: FxHashMap::default(),
            intrinsics: Vec::new(),
            intrinsic_places: FxHashMap::default(),
            amended: FxHashMap::default(),
            latest: Vec::new(),
            labels: FxHashMap::default(),
            copied_parts: 0,
            called: FxHashMap::default(),
            records: Vec::new(),
            factory_calls: (0, 0),
            session: tf_infer::Session::default(),
            copies: 0,
            steps: 0,
            endless: 0,
            ticks: 0,
            has_unknown: false,
            doubts: 0,
            exceptions: FxHashMap::default(),
            raised: None,
            handled: Vec::new(),
            all_unknown: None,
            depth: 0,
        }
    }

    /// Binds every name that a file may import.
    pub(crate) fn bind_exports(&mut self) {
        let storages = Storage::ALL.map(Storage::name);
        for name in names::all().chain(storages) {
            if let Some(value) = names::exported(name) {
                self.file.insert(self.cx.symbol(name), Binding::Value(value));
            }
        }
        self.file.insert(self.cx.symbol("math"), Binding::Value(Value::Builtin(Builtin::Library("math"))));
    }

    /// The dialect of the ops that are called: `T` in a `@prim_func`.
    pub(crate) fn dialect(&self) -> &'static str {
        if self.is_prim() { "T" } else { "tf" }
    }

    pub(crate) fn is_prim(&self) -> bool {
        self.body.as_ref().is_some_and(|body| body.is_prim)
    }

    pub(crate) fn span(&self, node: &impl Ranged) -> Span {
        self.source.span(node)
    }

    /// Keeps a refusal for the report.
    pub(crate) fn report(&mut self, refusal: Refusal) {
        self.refused += 1;
        if self.quiet > 0 {
            return;
        }
        let is_unread = matches!(refusal, Refusal::Unread(_));
        let Some(diagnostic) = refusal.diagnostic() else { return };
        // A factory that is called again is wrong again.
        let places = self.reported.entry(diagnostic.span).or_default();
        if self.factory_calls.1 > 0 && places.iter().any(|&at| self.diagnostics[at].message == diagnostic.message) {
            return;
        }
        // What is not read is one thing, however often it is used.
        if is_unread && let [(origin, _), ..] = diagnostic.labels[..] {
            let (first, more) =
                self.unusable.entry((origin, diagnostic.message.clone())).or_insert((self.diagnostics.len(), 0));
            if let Some(known) = self.diagnostics.get_mut(*first) {
                known.notes.truncate(known.notes.len() - usize::from(*more > 0));
                *more += 1;
                let places = if *more == 1 { "place" } else { "places" };
                known.notes.push((None, format!("it is used in {more} more {places}")));
                return;
            }
        }
        places.push(self.diagnostics.len());
        self.diagnostics.push(diagnostic);
    }

    /// A refusal with the known name that a wrong one was likely meant to be. In a file with many of both they are compared as far as
    /// the limit goes.
    pub(crate) fn near(&self, refusal: Refusal, word: &str, known: &[&str]) -> Refusal {
        let Some(left) = self.comparisons.get().checked_sub(known.len()) else { return refusal };
        self.comparisons.set(left);
        refusal.near(word, known.iter().copied())
    }

    /// Runs `read` one level deeper.
    pub(crate) fn nested<T>(&mut self, span: Span, read: impl FnOnce(&mut Self) -> Res<T>) -> Res<T> {
        if self.depth >= limits::DEPTH {
            let refusal = Refusal::wrong(span, format!("code is nested more than {} deep", limits::DEPTH));
            return Err(refusal.help("bind parts of it to names"));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }
}
