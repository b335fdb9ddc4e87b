//! What visitors and rewriters ([`crate::visit`]) stand on: one child table ([`operands`], [`stmt_children`], [`stmt_exprs`]) and
//! one rebuild table ([`rebuild_expr`], [`rebuild_stmt`], [`rebuild_stmt_exprs`]) a family, the order of values, and which
//! value belongs to which loop. Everything is iterative: depth of the IR never becomes depth of the stack.

mod order;
mod rewrite;
mod schedule;
mod stmts;

pub use order::{for_each_new, operands, post_order};
pub use rewrite::rebuild_expr;
pub use schedule::{Schedule, schedule};
pub use stmts::{rebuild_stmt, rebuild_stmt_exprs, stmt_children, stmt_exprs, walk_stmts};
