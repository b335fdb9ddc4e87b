//! What tests of several crates need: random well-formed modules over the ops of a context (HIR, TIR and both, with every feature of the
//! node algebra), texts that are nearly right, folders for files.
//!
//! A module is a function of its seed, so a failing one is named by a number. Calls of ops are made at random and kept
//! where the op's own rule accepts them, so any registry will do.

mod calls;
mod folder;
mod hir;
mod methods;
mod modules;
mod mutate;
mod parts;
mod place;
mod placed;
mod rng;
mod tir;
mod types;

use tf_core::op::OpId;
use tf_core::{Context, Module};
use tf_types::{Dim, Mesh, Type};

pub use folder::TempFolder;
pub use mutate::Mutator;
pub use place::is_inside;
pub use placed::random_placed;
pub use rng::Rng;

/// What the modules have.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Dialects of the ops in HIR functions.
    pub hir: &'static [&'static str],
    /// Dialects of the ops in TIR functions.
    pub tir: &'static [&'static str],
    /// HIR functions of a module, at most.
    pub hir_functions: usize,
    /// TIR functions of a module, at most.
    pub tir_functions: usize,
    /// Values or statements of a function, at most.
    pub steps: usize,
    /// How deep modules nest.
    pub depth: usize,
    /// Prototypes with variants, converters, instances.
    pub parts: bool,
    /// What only textual IR can say: names that are no words, metadata of modules, empty groups, instances and methods that nothing
    /// gives rise to, dispatch statements, calls of functions below.
    pub odd: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            hir: &["tf"],
            tir: &["T", "dim"],
            hir_functions: 3,
            tir_functions: 2,
            steps: 12,
            depth: 1,
            parts: true,
            odd: true,
        }
    }
}

/// The module of a seed.
#[must_use]
pub fn random_module<'c>(cx: &Context<'c>, seed: u64, options: &Options) -> Module<'c> {
    Generator::new(cx, seed, *options).module(options.depth, "m")
}

/// What modules are made with.
struct Generator<'a, 'c> {
    cx: &'a Context<'c>,
    rng: Rng,
    options: Options,
    hir_values: Vec<OpId>,
    tir_values: Vec<OpId>,
    tir_effects: Vec<OpId>,
    /// `S`, the dim variable that prototypes dispatch on, and others.
    dims: Vec<Dim<'c>>,
    meshes: Vec<Mesh<'c>>,
    /// The levels that constraints may name.
    levels: Vec<tf_types::Symbol<'c>>,
    /// The dims that the function which is made may name.
    bounds: Vec<Dim<'c>>,
    /// The meshes that ops may name here: all in HIR, the open ones in TIR.
    open: Vec<Mesh<'c>>,
    /// Few types, so that operands meet their like.
    types: Vec<Type<'c>>,
    /// Functions of the direct children of the module that is made.
    below: Vec<tf_core::Function<'c>>,
    /// What host functions of the module that is made may launch, by name.
    launched: Vec<(tf_types::Symbol<'c>, tf_core::AnyFunction<'c>)>,
    /// Whether the TIR function that is made runs on the host.
    on_host: bool,
    /// How many functions were named.
    names: usize,
}

impl<'a, 'c> Generator<'a, 'c> {
    fn new(cx: &'a Context<'c>, seed: u64, options: Options) -> Self {
        let ops = |dialects: &[&str], is_value: bool| -> Vec<OpId> {
            let known = cx.ops().iter().filter(|(id, decl)| {
                let has_rule =
                    if is_value { cx.ops().types.get(*id).is_some() } else { cx.ops().verify.get(*id).is_some() };
                dialects.contains(&decl.name.dialect) && has_rule
            });
            known.map(|(id, _)| id).collect()
        };
        let (hir_values, tir_values, tir_effects) =
            (ops(options.hir, true), ops(options.tir, true), ops(options.tir, false));
        let mut rng = Rng::new(seed);
        let mut dims = types::dims(cx);
        if !options.odd {
            dims.iter_mut().for_each(|dim| *dim = cx.simplify(*dim));
        }
        let meshes = types::meshes(cx);
        let types = types::types(cx, &mut rng, &dims, &meshes);
        let (open, bounds, below) = (meshes.clone(), Vec::new(), Vec::new());
        Self {
            cx,
            rng,
            options,
            hir_values,
            tir_values,
            tir_effects,
            dims,
            meshes,
            levels: ["cta", "thread"].map(|level| cx.symbol(level)).to_vec(),
            bounds,
            open,
            types,
            below,
            launched: Vec::new(),
            on_host: false,
            names: 0,
        }
    }

    fn new_name(&mut self, prefix: &str) -> tf_types::Symbol<'c> {
        self.names += 1;
        let odd = if self.rng.once_in(12) && self.options.odd { "odd name " } else { "" };
        self.cx.symbol(&format!("{odd}{prefix}{}", self.names))
    }
}
