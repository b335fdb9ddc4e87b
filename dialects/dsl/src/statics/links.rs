//! Names that stand for others in code that is not run: a change through one may change those.

use std::rc::Rc;

use ruff_python_ast as ast;
use rustc_hash::FxHashMap;

use super::bound::{Node, Parts, pattern_names};

/// Attributes of a path.
const PATH: usize = 16;

/// Paths of names and attributes, and whether a loop takes items of the only one.
#[derive(Clone)]
pub(super) struct Paths<'x> {
    pub(super) paths: Rc<[&'x ast::Expr]>,
    pub(super) are_items: bool,
}

/// By name, the paths of names and attributes that it may stand for.
#[derive(Default)]
pub(super) struct Links<'x> {
    of: FxHashMap<&'x str, Vec<Paths<'x>>>,
}

impl<'x> Links<'x> {
    /// Those of what is bound in code, at all depths; a function or class stands for all that its code mentions.
    pub(super) fn of(node: Node<'x>) -> Self {
        let mut links = Self::default();
        let mut stack = vec![node];
        while let Some(node) = stack.pop() {
            links.add(node);
            stack.extend(Parts::of(node).nodes);
        }
        links
    }

    /// Whether code binds a name, or what belongs to it.
    pub(super) fn has(&self, name: &str) -> bool {
        self.of.contains_key(name)
    }

    /// What a name stands for.
    pub(super) fn behind(&self, name: &str) -> &[Paths<'x>] {
        self.of.get(name).map_or(&[], |paths| paths)
    }

    fn add(&mut self, node: Node<'x>) {
        match node {
            Node::Stmt(ast::Stmt::Assign(assign)) => {
                let names = assign.targets.iter().flat_map(owners).collect();
                self.link(names, vec![Node::Expr(&assign.value)]);
            }
            Node::Stmt(ast::Stmt::AnnAssign(assign)) => {
                assign.value.iter().for_each(|value| self.bind(&assign.target, value));
            }
            Node::Stmt(ast::Stmt::AugAssign(assign)) => self.bind(&assign.target, &assign.value),
            Node::Stmt(ast::Stmt::For(stmt)) => self.iterate(&stmt.target, &stmt.iter),
            Node::Stmt(ast::Stmt::With(with)) => {
                for item in &with.items {
                    item.optional_vars.iter().for_each(|target| self.bind(target, &item.context_expr));
                }
            }
            Node::Stmt(ast::Stmt::Match(stmt)) => {
                let names = stmt.cases.iter().flat_map(|case| pattern_names(&case.pattern)).collect();
                self.link(names, vec![Node::Expr(&stmt.subject)]);
            }
            Node::Stmt(ast::Stmt::FunctionDef(def)) => {
                self.link(vec![def.name.as_str()], def.body.iter().map(Node::Stmt).collect());
            }
            Node::Stmt(ast::Stmt::ClassDef(class)) => {
                self.link(vec![class.name.as_str()], class.body.iter().map(Node::Stmt).collect());
            }
            Node::Expr(ast::Expr::Named(named)) => self.bind(&named.target, &named.value),
            Node::Expr(
                ast::Expr::ListComp(ast::ExprListComp { generators, .. })
                | ast::Expr::SetComp(ast::ExprSetComp { generators, .. })
                | ast::Expr::DictComp(ast::ExprDictComp { generators, .. })
                | ast::Expr::Generator(ast::ExprGenerator { generators, .. }),
            ) => generators.iter().for_each(|clause| self.iterate(&clause.target, &clause.iter)),
            _ => {}
        }
    }

    fn bind(&mut self, target: &'x ast::Expr, value: &'x ast::Expr) {
        self.link(owners(target), vec![Node::Expr(value)]);
    }

    fn iterate(&mut self, target: &'x ast::Expr, iter: &'x ast::Expr) {
        self.add_all(owners(target), vec![Node::Expr(iter)], path_root(iter).is_some());
    }

    fn link(&mut self, names: Vec<&'x str>, code: Vec<Node<'x>>) {
        self.add_all(names, code, false);
    }

    fn add_all(&mut self, names: Vec<&'x str>, code: Vec<Node<'x>>, are_items: bool) {
        if names.is_empty() {
            return;
        }
        let paths = Paths { paths: paths(code).into(), are_items };
        for name in names {
            self.of.entry(name).or_default().push(paths.clone());
        }
    }
}

/// The names that a target binds, or to whose value it assigns.
fn owners(target: &ast::Expr) -> Vec<&str> {
    let (mut stack, mut names) = (vec![target], Vec::new());
    while let Some(target) = stack.pop() {
        match target {
            ast::Expr::Name(name) => names.push(name.id.as_str()),
            ast::Expr::Tuple(ast::ExprTuple { elts, .. }) | ast::Expr::List(ast::ExprList { elts, .. }) => {
                stack.extend(elts);
            }
            ast::Expr::Starred(starred) => stack.push(&starred.value),
            ast::Expr::Attribute(attribute) => stack.push(&attribute.value),
            ast::Expr::Subscript(subscript) => stack.push(&subscript.value),
            _ => {}
        }
    }
    names
}

/// The name that a path of attributes starts with.
pub(super) fn path_root(path: &ast::Expr) -> Option<&ast::ExprName> {
    let mut at = path;
    for _ in 0..PATH {
        match at {
            ast::Expr::Attribute(attribute) => at = &attribute.value,
            other => return other.as_name_expr(),
        }
    }
    None
}

/// The longest paths of names and attributes in code.
fn paths(code: Vec<Node<'_>>) -> Vec<&ast::Expr> {
    let (mut stack, mut paths) = (code, Vec::new());
    while let Some(node) = stack.pop() {
        match node {
            Node::Expr(path) if path_root(path).is_some() => paths.push(path),
            node => stack.extend(Parts::of(node).nodes),
        }
    }
    paths
}
