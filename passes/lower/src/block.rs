//! Statement lists under construction, folded into nested lets.

use tf_core::{Context, Expr, Span, Stmt, StmtKind};

/// A statement or a binding of the rest of its block.
enum Item<'c> {
    Stmt(Stmt<'c>),
    Bind { var: Expr<'c>, value: Expr<'c>, span: Option<Span> },
}

/// A block under construction.
#[derive(Default)]
pub struct Block<'c> {
    items: Vec<Item<'c>>,
}

impl<'c> Block<'c> {
    /// Appends a statement.
    pub fn push(&mut self, stmt: Stmt<'c>) {
        self.items.push(Item::Stmt(stmt));
    }

    /// Binds a variable for the rest of the block.
    pub fn bind(&mut self, var: Expr<'c>, value: Expr<'c>, span: Option<Span>) {
        self.items.push(Item::Bind { var, value, span });
    }

    /// The block as one statement: a binding nests what follows it.
    pub fn fold(self, cx: &Context<'c>) -> Stmt<'c> {
        let mut rest: Vec<Stmt<'c>> = Vec::new();
        for item in self.items.into_iter().rev() {
            match item {
                Item::Stmt(stmt) => rest.push(stmt),
                Item::Bind { var, value, span } => {
                    let body = sequential(cx, &mut rest);
                    rest.push(cx.stmt(StmtKind::Let { var, value, body }, span));
                }
            }
        }
        sequential(cx, &mut rest)
    }
}

/// The statements, which lie in reverse, as one; leaves none behind.
fn sequential<'c>(cx: &Context<'c>, reversed: &mut Vec<Stmt<'c>>) -> Stmt<'c> {
    reversed.reverse();
    let body = cx.stmt(StmtKind::Sequential(cx.alloc_slice(reversed)), None);
    reversed.clear();
    body
}
