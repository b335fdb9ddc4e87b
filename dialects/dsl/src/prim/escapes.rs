//! Assignments of blocks that code outside the block would have to see. TIR has no carries: what a block binds ends
//! with it, so that such an assignment would be lost. Liveness as Python runs the function finds them.

use ruff_python_ast as ast;
use ruff_python_ast::visitor::{Visitor, walk_expr};
use ruff_text_size::{Ranged, TextSize};
use rustc_hash::{FxHashMap, FxHashSet};

/// Names as bits, in the order of [`Analysis::indices`].
type Names = Vec<u64>;

/// Where names are bound in blocks and read outside of them: starts of the targets.
pub(crate) fn escaping(stmts: &[ast::Stmt]) -> FxHashSet<TextSize> {
    let mut analysis = Analysis::default();
    stmts.iter().for_each(|stmt| analysis.declare_inner(stmt));
    let words = analysis.indices.len().div_ceil(64);
    if words > 0 {
        analysis.live_before(stmts, vec![0; words], true);
    }
    analysis.found
}

/// The blocks of a statement that have names of their own.
fn blocks(stmt: &ast::Stmt) -> Vec<&[ast::Stmt]> {
    match stmt {
        ast::Stmt::For(stmt) => vec![&stmt.body],
        ast::Stmt::While(stmt) => vec![&stmt.body],
        ast::Stmt::If(stmt) => {
            let clauses = stmt.elif_else_clauses.iter().map(|clause| &clause.body[..]);
            std::iter::once(&stmt.body[..]).chain(clauses).collect()
        }
        _ => Vec::new(),
    }
}

fn loop_target(stmt: &ast::Stmt) -> Option<&ast::ExprName> {
    match stmt {
        ast::Stmt::For(stmt) => stmt.target.as_name_expr(),
        _ => None,
    }
}

fn assigned(stmt: &ast::Stmt) -> Option<&ast::ExprName> {
    match stmt {
        ast::Stmt::Assign(assign) => match &assign.targets[..] {
            [ast::Expr::Name(name)] => Some(name),
            _ => None,
        },
        _ => None,
    }
}

#[derive(Default)]
struct Analysis<'x> {
    /// The names that blocks bind: only these can escape.
    indices: FxHashMap<&'x str, usize>,
    /// What the bodies of loops read before they bind it, by their place: each is looked at once.
    reads_of: FxHashMap<TextSize, Names>,
    found: FxHashSet<TextSize>,
}

impl<'x> Analysis<'x> {
    fn declare_name(&mut self, name: &'x ast::ExprName) {
        let next = self.indices.len();
        self.indices.entry(name.id.as_str()).or_insert(next);
    }

    /// What a statement binds in blocks of its own: those of `with` share the names of the block around it.
    fn declare_inner(&mut self, stmt: &'x ast::Stmt) {
        if let Some(name) = loop_target(stmt) {
            self.declare_name(name);
        }
        if let ast::Stmt::With(with) = stmt {
            with.body.iter().for_each(|stmt| self.declare_inner(stmt));
        }
        for block in blocks(stmt) {
            block.iter().for_each(|stmt| self.declare(stmt));
        }
    }

    /// What a statement of an inner block binds.
    fn declare(&mut self, stmt: &'x ast::Stmt) {
        if let Some(name) = assigned(stmt) {
            self.declare_name(name);
        }
        if let ast::Stmt::With(with) = stmt {
            with.body.iter().for_each(|stmt| self.declare(stmt));
        }
        if !stmt.is_with_stmt() {
            self.declare_inner(stmt);
        }
    }

    fn read(&self, expr: &ast::Expr, live: &mut Names) {
        Reads { indices: &self.indices, live }.visit_expr(expr);
    }

    fn bit(&self, name: &ast::ExprName) -> Option<(usize, u64)> {
        self.indices.get(name.id.as_str()).map(|at| (at / 64, 1 << (at % 64)))
    }

    fn kill(&self, name: &ast::ExprName, live: &mut Names) {
        if let Some((word, bit)) = self.bit(name) {
            live[word] &= !bit;
        }
    }

    fn is_live(&self, name: &ast::ExprName, live: &Names) -> bool {
        self.bit(name).is_some_and(|(word, bit)| live[word] & bit != 0)
    }

    /// The names that are read before they are bound, from the start of `stmts` on.
    fn live_before(&mut self, stmts: &'x [ast::Stmt], mut live: Names, records: bool) -> Names {
        for stmt in stmts.iter().rev() {
            match stmt {
                ast::Stmt::Assign(assign) => {
                    if let Some(name) = assigned(stmt) {
                        self.kill(name, &mut live);
                    }
                    self.read(&assign.value, &mut live);
                }
                ast::Stmt::Expr(expr) => self.read(&expr.value, &mut live),
                ast::Stmt::Return(_) => live.fill(0),
                ast::Stmt::With(with) => {
                    live = self.live_before(&with.body, live, records);
                    with.items.iter().for_each(|item| self.read(&item.context_expr, &mut live));
                }
                ast::Stmt::If(stmt) => {
                    let after = live.clone();
                    live = self.block(&stmt.body, after.clone(), records);
                    let mut has_else = false;
                    for clause in &stmt.elif_else_clauses {
                        let inner = self.block(&clause.body, after.clone(), records);
                        union(&mut live, &inner);
                        match &clause.test {
                            Some(test) => self.read(test, &mut live),
                            None => has_else = true,
                        }
                    }
                    if !has_else {
                        union(&mut live, &after);
                    }
                    self.read(&stmt.test, &mut live);
                }
                ast::Stmt::While(stmt) => {
                    let mut head = live;
                    union(&mut head, &self.reads_of(&stmt.body));
                    self.read(&stmt.test, &mut head);
                    if records {
                        self.block(&stmt.body, head.clone(), true);
                    }
                    live = head;
                }
                ast::Stmt::For(stmt) => {
                    let mut next = self.reads_of(&stmt.body);
                    let target = stmt.target.as_name_expr();
                    if let Some(name) = target {
                        self.kill(name, &mut next);
                        if records && self.is_live(name, &live) {
                            self.found.insert(name.start());
                        }
                    }
                    union(&mut next, &live);
                    if records {
                        // What the loop binds itself is found at its head.
                        let mut out = next.clone();
                        if let Some(name) = target {
                            self.kill(name, &mut out);
                        }
                        self.block(&stmt.body, out, true);
                    }
                    live = next;
                    self.read(&stmt.iter, &mut live);
                }
                _ => {}
            }
        }
        live
    }

    /// A block with names of its own, after which `live` is read.
    fn block(&mut self, stmts: &'x [ast::Stmt], live: Names, records: bool) -> Names {
        if records && !stmts.iter().any(ast::Stmt::is_return_stmt) {
            self.record(stmts, &live, &mut FxHashSet::default());
        }
        self.live_before(stmts, live, records)
    }

    /// The first binding of each name that is live after the block.
    fn record(&mut self, stmts: &'x [ast::Stmt], live: &Names, seen: &mut FxHashSet<&'x str>) {
        for stmt in stmts {
            if let ast::Stmt::With(with) = stmt {
                self.record(&with.body, live, seen);
            }
            if let Some(name) = assigned(stmt)
                && self.is_live(name, live)
                && seen.insert(name.id.as_str())
            {
                self.found.insert(name.start());
            }
        }
    }

    fn reads_of(&mut self, body: &'x [ast::Stmt]) -> Names {
        let words = self.indices.len().div_ceil(64);
        let Some(first) = body.first() else { return vec![0; words] };
        if let Some(known) = self.reads_of.get(&first.start()) {
            return known.clone();
        }
        let reads = self.live_before(body, vec![0; words], false);
        self.reads_of.insert(first.start(), reads.clone());
        reads
    }
}

fn union(into: &mut Names, other: &Names) {
    into.iter_mut().zip(other).for_each(|(word, other)| *word |= other);
}

struct Reads<'a, 'x> {
    indices: &'a FxHashMap<&'x str, usize>,
    live: &'a mut Names,
}

impl<'v> Visitor<'v> for Reads<'_, '_> {
    fn visit_expr(&mut self, expr: &'v ast::Expr) {
        if let ast::Expr::Name(name) = expr
            && let Some(at) = self.indices.get(name.id.as_str())
        {
            self.live[at / 64] |= 1 << (at % 64);
        }
        walk_expr(self, expr);
    }
}
