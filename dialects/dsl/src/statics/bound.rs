//! Walks over code that is not run now: which names it binds, whether it yields. None recurses into what it walks.

use ruff_python_ast as ast;
use ruff_python_ast::visitor::{self, Visitor};

/// A part of a statement.
#[derive(Clone, Copy)]
pub(super) enum Node<'x> {
    Stmt(&'x ast::Stmt),
    Expr(&'x ast::Expr),
}

/// What stands directly in a node, in order.
#[derive(Default)]
pub(super) struct Parts<'x> {
    pub(super) nodes: Vec<Node<'x>>,
    /// Names that are bound beside expressions.
    names: Vec<&'x str>,
    skips_targets: bool,
}

impl<'x> Parts<'x> {
    pub(super) fn of(node: Node<'x>) -> Self {
        let mut parts = Self::default();
        parts.add(node);
        parts
    }

    fn add(&mut self, node: Node<'x>) {
        match node {
            Node::Stmt(stmt) => visitor::walk_stmt(self, stmt),
            Node::Expr(expr) => visitor::walk_expr(self, expr),
        }
    }
}

impl<'x> Visitor<'x> for Parts<'x> {
    fn visit_stmt(&mut self, stmt: &'x ast::Stmt) {
        self.nodes.push(Node::Stmt(stmt));
    }

    fn visit_expr(&mut self, expr: &'x ast::Expr) {
        self.nodes.push(Node::Expr(expr));
    }

    fn visit_comprehension(&mut self, clause: &'x ast::Comprehension) {
        if !self.skips_targets {
            self.visit_expr(&clause.target);
        }
        self.visit_expr(&clause.iter);
        clause.ifs.iter().for_each(|condition| self.visit_expr(condition));
    }

    fn visit_except_handler(&mut self, handler: &'x ast::ExceptHandler) {
        let ast::ExceptHandler::ExceptHandler(own) = handler;
        self.names.extend(own.name.as_ref().map(|name| name.as_str()));
        visitor::walk_except_handler(self, handler);
    }

    fn visit_pattern(&mut self, pattern: &'x ast::Pattern) {
        let name = match pattern {
            ast::Pattern::MatchAs(pattern) => pattern.name.as_ref(),
            ast::Pattern::MatchStar(pattern) => pattern.name.as_ref(),
            ast::Pattern::MatchMapping(pattern) => pattern.rest.as_ref(),
            _ => None,
        };
        self.names.extend(name.map(|name| name.as_str()));
        visitor::walk_pattern(self, pattern);
    }
}

/// The names that a pattern binds.
pub(super) fn pattern_names(pattern: &ast::Pattern) -> Vec<&str> {
    let mut parts = Parts::default();
    parts.visit_pattern(pattern);
    parts.names
}

/// The names that a target binds.
pub(super) fn target_names<'x>(target: &'x ast::Expr, names: &mut Vec<&'x str>) {
    let mut stack = vec![target];
    while let Some(target) = stack.pop() {
        match target {
            ast::Expr::Name(name) => names.push(name.id.as_str()),
            ast::Expr::Tuple(ast::ExprTuple { elts, .. }) | ast::Expr::List(ast::ExprList { elts, .. }) => {
                stack.extend(elts.iter().rev());
            }
            ast::Expr::Starred(starred) => stack.push(&starred.value),
            _ => {}
        }
    }
}

/// The names that statements bind in the scope that they stand in, those of `global` and `nonlocal` left out.
pub(crate) fn names_of<'x>(stmts: impl IntoIterator<Item = &'x ast::Stmt>) -> Vec<&'x str> {
    let mut stack: Vec<Node<'x>> = stmts.into_iter().map(Node::Stmt).collect();
    stack.reverse();
    let (mut names, mut outer): (Vec<&str>, Vec<&str>) = Default::default();
    while let Some(node) = stack.pop() {
        match node {
            Node::Stmt(ast::Stmt::FunctionDef(def)) => names.push(def.name.as_str()),
            Node::Stmt(ast::Stmt::ClassDef(class)) => names.push(class.name.as_str()),
            Node::Stmt(ast::Stmt::Import(import)) => {
                let root = |alias: &'x ast::Alias| alias.name.as_str().split('.').next().unwrap_or_default();
                let bound =
                    |alias: &'x ast::Alias| alias.asname.as_ref().map_or_else(|| root(alias), |name| name.as_str());
                names.extend(import.names.iter().map(bound));
            }
            Node::Stmt(ast::Stmt::ImportFrom(import)) => {
                names.extend(import.names.iter().map(|alias| alias.asname.as_ref().unwrap_or(&alias.name).as_str()));
            }
            Node::Stmt(ast::Stmt::Global(stmt)) => outer.extend(stmt.names.iter().map(|name| name.as_str())),
            Node::Stmt(ast::Stmt::Nonlocal(stmt)) => outer.extend(stmt.names.iter().map(|name| name.as_str())),
            Node::Expr(ast::Expr::Name(name)) if !name.ctx.is_load() => names.push(name.id.as_str()),
            Node::Expr(ast::Expr::Lambda(_)) => {}
            node => {
                let mut parts = Parts { skips_targets: true, ..Parts::default() };
                parts.add(node);
                names.append(&mut parts.names);
                stack.extend(parts.nodes.into_iter().rev());
            }
        }
    }
    names.retain(|name| !outer.contains(name) && *name != "*");
    names
}

/// The names that a function declares `global`, and those that it declares `nonlocal`.
pub(crate) fn outer_names(body: &[ast::Stmt]) -> (Vec<&str>, Vec<&str>) {
    let mut stack: Vec<Node<'_>> = body.iter().map(Node::Stmt).collect();
    let (mut globals, mut nonlocals): (Vec<&str>, Vec<&str>) = Default::default();
    while let Some(node) = stack.pop() {
        match node {
            Node::Stmt(ast::Stmt::FunctionDef(_) | ast::Stmt::ClassDef(_)) | Node::Expr(_) => {}
            Node::Stmt(ast::Stmt::Global(stmt)) => globals.extend(stmt.names.iter().map(|name| name.as_str())),
            Node::Stmt(ast::Stmt::Nonlocal(stmt)) => nonlocals.extend(stmt.names.iter().map(|name| name.as_str())),
            node => stack.extend(Parts::of(node).nodes),
        }
    }
    (globals, nonlocals)
}

/// The names that `:=` binds in code that is not run.
pub(super) fn walrus_names<'x>(node: Node<'x>) -> Vec<&'x str> {
    let (mut stack, mut names) = (vec![node], Vec::new());
    while let Some(node) = stack.pop() {
        match node {
            Node::Stmt(ast::Stmt::FunctionDef(_) | ast::Stmt::ClassDef(_)) | Node::Expr(ast::Expr::Lambda(_)) => {}
            Node::Expr(ast::Expr::Named(named)) => {
                target_names(&named.target, &mut names);
                stack.push(Node::Expr(&named.value));
            }
            node => stack.extend(Parts::of(node).nodes),
        }
    }
    names
}

/// Whether a function is a generator.
pub(crate) fn yields(def: &ast::StmtFunctionDef) -> bool {
    let mut stack: Vec<Node<'_>> = def.body.iter().map(Node::Stmt).collect();
    while let Some(node) = stack.pop() {
        match node {
            Node::Stmt(ast::Stmt::FunctionDef(_) | ast::Stmt::ClassDef(_)) | Node::Expr(ast::Expr::Lambda(_)) => {}
            Node::Expr(ast::Expr::Yield(_) | ast::Expr::YieldFrom(_)) => return true,
            node => stack.extend(Parts::of(node).nodes),
        }
    }
    false
}
