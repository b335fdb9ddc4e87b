//! Visitors and rewriters: one method for the one kind of node that a pass cares about.
//!
//! | To | Implement | Run with |
//! |---|---|---|
//! | compute something of expressions | [`ExprVisitor`] | [`visit_expr`], [`Walk::visit`] |
//! | see every expression once | [`ExprWalker`] | [`walk_exprs`] |
//! | list them | – | [`collect_exprs`], [`expr_operands`], [`function_values`] |
//! | rewrite expressions | [`ExprCloner`] | [`clone_expr`], [`Cloning::visit`] |
//! | send calls elsewhere | – | [`redirect_calls`] |
//! | copy with other variables | – | [`BindingSubstitutionCloner`] |
//! | look at statements | [`StmtVisitor`] | [`visit_stmt`], [`walk_prim_function`] |
//! | rewrite statements | [`StmtMutator`] | [`rewrite_stmt`], [`rewrite_prim_function`] |
//! | and the expressions in them | [`StmtExprMutator`] | [`rewrite_stmt_exprs`], [`WithExprs`] |
//! | dispatch by kind, nothing else | [`ExprFunctor`] | [`ExprFunctor::visit`] |
//!
//! Each trait has one method a kind, and a default that the methods of the other kinds fall back to. Operands have been
//! visited when a method is called, in an iterative walk that visits a shared node once: depth of the IR is no depth of
//! the stack. A method that chooses its own order says so (`enters`, `descends`) and visits operands itself; only that
//! recursion uses stack, which then grows on the heap.
//!
//! What a kind's children are is said in one table a family ([`crate::walk`]), what its methods are called in one list
//! here. A new kind that is missing in one of them does not compile.

mod cloner;
mod collect;
mod functor;
mod mutator;
mod redirect;
mod stmt;
mod substitute;
mod visitor;

pub use cloner::{Cloning, ExprCloner, Same, clone_expr};
pub use collect::{ExprCollector, ExprWalker, collect_exprs, expr_operands, function_values, walk_exprs};
pub use functor::ExprFunctor;
pub use mutator::{StmtExprMutator, StmtMutator, WithExprs, rewrite_prim_function, rewrite_stmt, rewrite_stmt_exprs};
pub use redirect::redirect_calls;
pub use stmt::{StmtVisitor, StmtWalk, visit_stmt, walk_prim_function};
pub use substitute::BindingSubstitutionCloner;
pub use visitor::{ExprVisitor, Walk, visit_expr};

/// The kinds of expressions with the names of their methods.
macro_rules! for_each_expr_kind {
    ($define:ident) => {
        $define! {
            Var visit_var clone_var "a variable",
            Constant visit_constant clone_constant "a literal",
            Tuple visit_tuple clone_tuple "an aggregate",
            Call visit_call clone_call "a call of an op or a function",
            Grid visit_grid clone_grid "a loop",
            SymbolRef visit_symbol_ref clone_symbol_ref "the name of a function",
            ShapeOf visit_shape_of clone_shape_of "an extent at run time",
        }
    };
}

/// The kinds of statements with the names of their methods.
macro_rules! for_each_stmt_kind {
    ($define:ident) => {
        $define! {
            Sequential visit_sequential mutate_sequential "a sequence",
            Let visit_let mutate_let "a binding with the rest of its block",
            For visit_for mutate_for "a loop",
            While visit_while mutate_while "a loop under a condition",
            If visit_if mutate_if "two branches",
            MeshScope visit_mesh_scope mutate_mesh_scope "a block under a mesh",
            Evaluate visit_evaluate mutate_evaluate "an effect op or the call of a function",
            Dispatch visit_dispatch mutate_dispatch "the choice of a variant",
            Abort visit_abort mutate_abort "the end of the program with a message",
            Return visit_return mutate_return "the end of the function",
        }
    };
}

pub(crate) use {for_each_expr_kind, for_each_stmt_kind};

/// Runs what may recurse as deep as the IR; the stack goes on in a new piece of the heap before it ends.
fn grow<R>(f: impl FnOnce() -> R) -> R {
    const LEFT: usize = 128 << 10;
    const PIECE: usize = 4 << 20;
    stacker::maybe_grow(LEFT, PIECE, f)
}
