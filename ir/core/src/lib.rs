//! The node algebra that HIR and TIR share.
//!
//! Create an [`Arena`] first; a [`Context`] borrows it and makes everything: types, op instances and
//! nodes. Handles ([`Expr`], [`Stmt`], [`Function`], [`Module`]) are `Copy` pointers whose `==` means
//! identity. Nodes are immutable: a pass builds new ones.

pub mod context;
pub mod diag;
pub mod equal;
pub mod guard;
pub mod hash;
pub mod hidden;
pub mod node;
mod node_map;
pub mod op;
pub mod span;
pub mod special;
pub mod tree;
pub mod variants;
pub mod visit;
pub mod walk;

pub use context::Context;
pub use diag::{Diagnostic, Result};
pub use node::{
    AnyFunction, Callee, DimVarRangePat, Expr, ExprKind, Function, Literal, Meta, Module, PrimFunction, Stmt, StmtKind,
    Target, TargetKind,
};
pub use node_map::{Node, NodeMap, NodeSet};
pub use span::{FileId, SourceMap, Span};
pub use tf_core_macros::op;
pub use tf_types::Arena;
pub use tree::ModuleIndex;
