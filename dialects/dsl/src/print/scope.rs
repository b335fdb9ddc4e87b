//! Names of one function's values. Parameters and variables have their own; other values take a free one.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use tf_core::{Diagnostic, Expr, Literal, NodeMap, NodeSet, Result};
use tf_types::{Dim, Mesh, Symbol};

use super::names::FileNames;
use super::python::is_name;

/// A literal as a key: equal ones share a name.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct LiteralKey(u8, u64);

impl From<Literal> for LiteralKey {
    fn from(literal: Literal) -> Self {
        match literal {
            Literal::Bool(value) => Self(0, u64::from(value)),
            Literal::Int(value) => Self(1, value as u64),
            Literal::Float(value) => Self(2, value.to_bits()),
        }
    }
}

/// The state at the beginning of a block.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    replaced: usize,
    renamed: usize,
}

/// The function that is printed.
#[derive(Default)]
pub(super) struct Scope<'c> {
    /// Whether it is one of TIR.
    pub(super) is_prim: bool,
    /// All parameters of one of TIR.
    pub(super) params: &'c [Expr<'c>],
    pub(super) names: NodeMap<Expr<'c>, Rc<str>>,
    /// Names that no further value takes.
    used: FxHashSet<Rc<str>>,
    /// The next number of names that were wanted before.
    numbers: FxHashMap<String, u32>,
    /// Names of parameters and variables.
    given: FxHashSet<Rc<str>>,
    /// Ops and functions that it calls.
    pub(super) callees: FxHashSet<Rc<str>>,
    /// Names that authors gave; numbered ones keep clear of them.
    pub(super) authored: FxHashSet<Symbol<'c>>,
    unnamed: usize,
    /// What each name of a variable stands for now.
    bound: FxHashMap<Symbol<'c>, Expr<'c>>,
    /// What the names stood for before the open blocks bound them.
    replaced: Vec<(Symbol<'c>, Option<Expr<'c>>)>,
    /// Variables of TIR that are read while another one has their name.
    pub(super) shadowed: NodeSet<Expr<'c>>,
    /// What values were called before the open blocks renamed them.
    renamed: Vec<(Expr<'c>, Rc<str>)>,
    /// Uses still to come of values that are called by the name of a variable.
    pub(super) uses: NodeMap<Expr<'c>, usize>,
    pub(super) constants: FxHashMap<LiteralKey, Rc<str>>,
    /// Literals that need a name.
    pub(super) named_literals: FxHashSet<LiteralKey>,
    /// Values that are written where they are used.
    pub(super) inlined: NodeSet<Expr<'c>>,
    /// Values that are the position on a mesh axis.
    pub(super) coordinates: FxHashMap<Expr<'c>, (Mesh<'c>, usize)>,
    /// Items of loops with several carries, by loop and position.
    pub(super) items: FxHashMap<(Expr<'c>, usize), Expr<'c>>,
    /// What values are the start of, by the names of those carries.
    pub(super) starts: NodeMap<Expr<'c>, Symbol<'c>>,
    /// The size of the window that the variable of a tile loop stands for.
    pub(super) tiles: NodeMap<Expr<'c>, Dim<'c>>,
    /// Values at which windows start, with the size of those.
    pub(super) windows: FxHashSet<(Expr<'c>, Dim<'c>)>,
    /// Open mesh scopes, innermost last.
    pub(super) meshes: Vec<(Mesh<'c>, Symbol<'c>)>,
}

impl<'c> Scope<'c> {
    /// Takes a name that is given.
    pub(super) fn reserve(&mut self, name: Symbol<'c>) -> Result<()> {
        if name.as_str() != "_" && !is_name(name.as_str()) {
            return Err(Diagnostic::error(format!("`{name}` is no name of a variable in Python")));
        }
        self.used.insert(name.as_str().into());
        self.given.insert(name.as_str().into());
        Ok(())
    }

    /// Whether a parameter or variable has that name.
    pub(super) fn is_reserved(&self, name: &str) -> bool {
        self.given.contains(name)
    }

    /// A free name near to the wanted one; a numbered one where none is wanted. A callee of that name gets `_out`.
    pub(super) fn fresh(&mut self, wanted: Option<&str>, file: &FileNames<'c>, cx: &tf_core::Context<'c>) -> Rc<str> {
        let base = match wanted.filter(|name| is_name(name)) {
            Some(name) if self.callees.contains(name) => format!("{name}_out"),
            Some(name) => name.to_owned(),
            None => loop {
                let name = format!("v{}", self.unnamed);
                self.unnamed += 1;
                if !self.authored.contains(&cx.symbol(&name)) {
                    break name;
                }
            },
        };
        let is_free = |name: &str, used: &FxHashSet<Rc<str>>| !used.contains(name) && file.allows(name);
        let mut name = base.clone();
        // The numbers below are taken: names are not given back.
        let mut number = self.numbers.get(&base).copied().unwrap_or(2);
        while !is_free(&name, &self.used) {
            name = format!("{base}_{number}");
            number += 1;
        }
        if number > 2 {
            self.numbers.insert(base, number);
        }
        let name: Rc<str> = name.into();
        self.used.insert(Rc::clone(&name));
        name
    }

    /// What a name stands for.
    pub(super) fn binding(&self, name: Symbol<'c>) -> Option<Expr<'c>> {
        self.bound.get(&name).copied()
    }

    /// Lets a name stand for a value, in the innermost block.
    pub(super) fn bind(&mut self, name: Symbol<'c>, value: Expr<'c>) {
        let before = self.bound.insert(name, value);
        self.replaced.push((name, before));
    }

    /// Begins a block; [`Scope::leave`] takes what is returned.
    pub(super) fn enter(&self) -> Mark {
        Mark { replaced: self.replaced.len(), renamed: self.renamed.len() }
    }

    /// Names stand again for what they stood for before the block.
    pub(super) fn leave(&mut self, mark: Mark) {
        for (name, before) in self.replaced.drain(mark.replaced..).rev() {
            match before {
                Some(value) => self.bound.insert(name, value),
                None => self.bound.remove(&name),
            };
        }
        for (value, name) in self.renamed.drain(mark.renamed..).rev() {
            self.names.insert(value, name);
        }
    }

    /// Calls a value by another name, until the innermost block ends.
    pub(super) fn rename(&mut self, value: Expr<'c>, name: Rc<str>) {
        if let Some(before) = self.names.insert(value, name) {
            self.renamed.push((value, before));
        }
    }

    /// Makes a name mean nothing, in the innermost block.
    pub(super) fn unbind(&mut self, name: Symbol<'c>) {
        if let Some(before) = self.bound.remove(&name) {
            self.replaced.push((name, Some(before)));
        }
    }

    /// The value that loses its only name when `name` is bound anew, if it is still used.
    pub(super) fn loses(&self, name: Symbol<'c>) -> Option<Expr<'c>> {
        let value = self.binding(name)?;
        let is_called = self.names.get(&value).is_some_and(|called| **called == *name.as_str());
        (is_called && self.uses.get(&value).is_some_and(|&uses| uses > 0)).then_some(value)
    }
}
