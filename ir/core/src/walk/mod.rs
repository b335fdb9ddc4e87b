//! Traversal and rewriting. Everything here is iterative: depth of the IR never becomes depth of the stack.
//!
//! One child table for each family ([`operands`], [`stmt_children`], [`stmt_exprs`]) that every walk uses.

mod order;
mod rewrite;
mod schedule;
mod stmts;

pub use order::{operands, post_order};
pub use rewrite::{ExprRewriter, Rewritten, rewrite_expr};
pub use schedule::{Schedule, schedule};
pub use stmts::{StmtRewriter, rewrite_stmt, stmt_children, stmt_exprs, walk_stmts};
