//! Functions of both IRs (spec: hir §1, tir §1).

use tf_types::{Symbol, Type};

use crate::Span;
use crate::node::{Expr, Stmt, Target, node_handle};

node_handle! {
    /// A HIR function: one expression over parameters.
    Function => FunctionData
}

/// The data of a [`Function`].
#[derive(Clone, Copy)]
pub struct FunctionData<'c> {
    /// Its name in the module.
    pub name: Symbol<'c>,
    /// `Var`s in order.
    pub params: &'c [Expr<'c>],
    /// Its value.
    pub body: Expr<'c>,
    /// Declared type of the value.
    pub return_type: Type<'c>,
    /// Where its name stands.
    pub span: Option<Span>,
}

node_handle! {
    /// A TIR function: statements over buffers. Outputs are its last parameters.
    PrimFunction => PrimFunctionData
}

/// The data of a [`PrimFunction`].
#[derive(Clone, Copy)]
pub struct PrimFunctionData<'c> {
    /// Its name in the module.
    pub name: Symbol<'c>,
    /// `Var`s: inputs, then outputs.
    pub params: &'c [Expr<'c>],
    /// What it does.
    pub body: Stmt<'c>,
    /// How many of the last parameters are outputs.
    pub output_count: usize,
    /// What runs it.
    pub target: Target<'c>,
    /// Where its name stands.
    pub span: Option<Span>,
}

/// A member of a module.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum AnyFunction<'c> {
    /// Of HIR.
    Hir(Function<'c>),
    /// Of TIR.
    Tir(PrimFunction<'c>),
}

impl<'c> AnyFunction<'c> {
    /// Its name.
    #[must_use]
    pub fn name(self) -> Symbol<'c> {
        match self {
            Self::Hir(f) => f.name,
            Self::Tir(f) => f.name,
        }
    }

    /// Its parameters.
    #[must_use]
    pub fn params(self) -> &'c [Expr<'c>] {
        match self {
            Self::Hir(f) => f.data().params,
            Self::Tir(f) => f.data().params,
        }
    }

    /// Where its name stands.
    #[must_use]
    pub fn span(self) -> Option<Span> {
        match self {
            Self::Hir(f) => f.span,
            Self::Tir(f) => f.span,
        }
    }
}
