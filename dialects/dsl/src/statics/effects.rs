//! What code that is not run may change: each object that it may reach is marked, and refused where it is used.
//!
//! A call may change what it is given and what its owner reaches. Functions of libraries that are imported and not read
//! change nothing that they are given, unless their name says so; functions of the file that they are given may be run.

use std::rc::Rc;

use ruff_python_ast as ast;
use ruff_text_size::Ranged;
use rustc_hash::FxHashSet;
use tf_core::Span;
use tf_types::Symbol;

use super::bound::{Node, Parts};
use super::imports::is_ours;
use super::unread::{BY_TEXT, Reach};
use super::{Unknown, Unread};
use crate::factory::{Code, Factory};
use crate::parser::{Binding, Parser};
use crate::refusal::Refusal;
use crate::value::Value;

/// Methods that change their owner.
pub(super) const CHANGES: &[&str] = &[
    "add",
    "append",
    "clear",
    "difference_update",
    "discard",
    "extend",
    "insert",
    "intersection_update",
    "pop",
    "popitem",
    "remove",
    "reverse",
    "setdefault",
    "sort",
    "subtract",
    "symmetric_difference_update",
    "update",
];

/// Steps of code that is not run.
const LOSS: usize = 64;

/// What code mentions.
#[derive(Default)]
pub(crate) struct Mentions<'c> {
    /// What it may change.
    names: Vec<Symbol<'c>>,
    /// Names outside that it assigns.
    outer: Vec<Symbol<'c>>,
    /// Whether it imports all names of a package that is not read.
    has_star: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Only what calls and assignments in it change.
    Plain,
    /// All names.
    All,
    /// Given to a library, which calls what can be called and takes items out of iterators.
    Given,
    Target,
}

/// Calls that show values and change none.
pub(crate) fn is_harmless(callee: &ast::Expr) -> bool {
    match callee {
        ast::Expr::Name(name) => name.id.as_str() == "print",
        ast::Expr::Attribute(attribute) => match &*attribute.value {
            ast::Expr::Name(name) => {
                matches!(name.id.as_str(), "logging" | "logger" | "log" | "warnings")
                    && !CHANGES.contains(&attribute.attr.as_str())
            }
            _ => false,
        },
        _ => false,
    }
}

impl<'c> Parser<'_, 'c> {
    fn mentions(&self, nodes: Vec<(Node<'_>, Mode)>) -> (Mentions<'c>, Vec<Value<'c>>) {
        let (mut found, mut given) = (Mentions::default(), Vec::new());
        let mut stack = nodes;
        while let Some((node, mode)) = stack.pop() {
            let inside = |mode: Mode| Parts::of(node).nodes.into_iter().rev().map(move |part| (part, mode));
            match (node, mode) {
                (Node::Stmt(ast::Stmt::Global(stmt)), _) => {
                    found.outer.extend(stmt.names.iter().map(|name| self.cx.symbol(name.as_str())));
                }
                (Node::Stmt(ast::Stmt::Nonlocal(stmt)), _) => {
                    found.outer.extend(stmt.names.iter().map(|name| self.cx.symbol(name.as_str())));
                }
                (Node::Stmt(ast::Stmt::ImportFrom(import)), _) => {
                    let module = import.module.as_ref().map_or("", |name| name.as_str());
                    found.has_star |= import.names.iter().any(|alias| alias.name.as_str() == "*")
                        && (import.level > 0 || !is_ours(module));
                }
                (_, Mode::All) => match node {
                    Node::Expr(ast::Expr::Name(name)) => found.names.push(self.cx.symbol(name.id.as_str())),
                    _ => stack.extend(inside(Mode::All)),
                },
                (Node::Stmt(ast::Stmt::Assign(assign)), _) => {
                    stack.extend(assign.targets.iter().map(|target| (Node::Expr(target), Mode::Target)));
                    stack.push((Node::Expr(&assign.value), Mode::Plain));
                }
                (Node::Stmt(ast::Stmt::AnnAssign(assign)), _) => {
                    stack.push((Node::Expr(&assign.target), Mode::Target));
                    stack.extend(assign.value.iter().map(|value| (Node::Expr(value), Mode::Plain)));
                }
                (Node::Stmt(ast::Stmt::AugAssign(assign)), _) => {
                    stack.push((Node::Expr(&assign.target), Mode::All));
                    stack.push((Node::Expr(&assign.value), Mode::Plain));
                }
                (Node::Stmt(ast::Stmt::Delete(delete)), _) => {
                    stack.extend(delete.targets.iter().map(|target| (Node::Expr(target), Mode::Target)));
                }
                (Node::Stmt(ast::Stmt::For(stmt)), _) => {
                    stack.push((Node::Expr(&stmt.target), Mode::Target));
                    stack.push((Node::Expr(&stmt.iter), Mode::Plain));
                    stack.extend(stmt.body.iter().chain(&stmt.orelse).map(|stmt| (Node::Stmt(stmt), Mode::Plain)));
                }
                // A definition runs its decorators and defaults.
                (Node::Stmt(ast::Stmt::FunctionDef(def)), _) => {
                    let defaults =
                        def.parameters.iter_non_variadic_params().filter_map(|param| param.default.as_deref());
                    let decorators = def.decorator_list.iter().map(|decorator| &decorator.expression);
                    stack.extend(defaults.chain(decorators).map(|expr| (Node::Expr(expr), Mode::Plain)));
                }
                (Node::Stmt(_), _) => stack.extend(inside(Mode::Plain)),
                (Node::Expr(ast::Expr::Subscript(_) | ast::Expr::Attribute(_)), Mode::Target) => {
                    stack.push((node, Mode::All));
                }
                (Node::Expr(_), Mode::Target) => stack.extend(inside(Mode::Target)),
                (Node::Expr(ast::Expr::Call(call)), _) => {
                    let is_library = self.is_library(&call.func);
                    let mode = match is_harmless(&call.func) {
                        true => Mode::Plain,
                        false if is_library => Mode::Given,
                        false => Mode::All,
                    };
                    // `vars(object)` shows what the object has.
                    let shows = call.func.as_name_expr().is_some_and(|name| name.id.as_str() == "vars");
                    if mode == Mode::All && (!shows || call.arguments.is_empty()) {
                        stack.push((Node::Expr(&call.func), Mode::All));
                    }
                    let keywords = call.arguments.keywords.iter().map(|keyword| &keyword.value);
                    stack.extend(call.arguments.args.iter().chain(keywords).map(|arg| (Node::Expr(arg), mode)));
                }
                // Unpacking takes items out of an iterator.
                (Node::Expr(ast::Expr::Starred(starred)), Mode::Plain) => {
                    stack.push((Node::Expr(&starred.value), Mode::Given));
                }
                (Node::Expr(ast::Expr::Lambda(lambda)), Mode::Given) => {
                    stack.push((Node::Expr(&lambda.body), Mode::All))
                }
                (Node::Expr(ast::Expr::Lambda(_)), _) => {}
                (Node::Expr(expr @ (ast::Expr::Name(_) | ast::Expr::Attribute(_))), Mode::Given) => {
                    given.extend(self.exposed(expr));
                }
                (Node::Expr(_), mode) => stack.extend(inside(mode)),
            }
        }
        (found, given)
    }

    /// What a name or attribute is, found without running anything, where it can be called or is an iterator.
    fn exposed(&self, expr: &ast::Expr) -> Option<Value<'c>> {
        let mut names = Vec::new();
        let mut at = expr;
        while let ast::Expr::Attribute(attribute) = at {
            names.push(attribute.attr.as_str());
            at = &attribute.value;
        }
        let ast::Expr::Name(root) = at else { return None };
        let mut value = self.binding(self.cx.symbol(root.id.as_str()))?.value()?;
        for name in names.into_iter().rev() {
            let symbol = self.cx.symbol(name);
            let of_class = |class: usize| {
                let mut classes = self.classes(Some(class));
                classes.find_map(|at| self.records[at].names.borrow().get(&symbol)?.value())
            };
            value = match &value {
                Value::Object(object) => match object.get().own(symbol) {
                    Some(own) => own,
                    // A method reaches its owner.
                    None => match object.get().class().and_then(of_class)? {
                        Value::Factory(_) | Value::Wrapped(..) => return Some(value.clone()),
                        shared => shared,
                    },
                },
                Value::Record(class) => of_class(*class)?,
                Value::List(_) | Value::Dict(_) | Value::Set(_) if CHANGES.contains(&name) => {
                    return Some(value.clone());
                }
                _ => return None,
            };
        }
        let is_exposed = matches!(
            value,
            Value::Factory(_) | Value::Bound(_) | Value::Method(_) | Value::Wrapped(..) | Value::Iter(_)
        );
        is_exposed.then_some(value)
    }

    /// Marks what a statement may change that is not followed.
    pub(crate) fn lose_changes(&mut self, stmt: &ast::Stmt, binding: &Binding<'c>) {
        self.lose_nodes(Node::Stmt(stmt), Mode::Plain, stmt.range().len().to_usize(), binding);
    }

    /// Marks what the calls in an expression may change that is not followed.
    pub(crate) fn lose_calls(&mut self, expr: &ast::Expr, binding: &Binding<'c>) {
        self.lose_nodes(Node::Expr(expr), Mode::Plain, expr.range().len().to_usize(), binding);
    }

    /// Marks what can be reached from any name of an expression.
    pub(crate) fn lose(&mut self, expr: &ast::Expr, binding: &Binding<'c>) {
        self.lose_nodes(Node::Expr(expr), Mode::All, expr.range().len().to_usize(), binding);
    }

    fn lose_nodes(&mut self, node: Node<'_>, mode: Mode, length: usize, binding: &Binding<'c>) {
        let Some(Unread { why, at, .. }) = binding.as_unread() else { return };
        // It counts although it is done in any case.
        self.steps = self.steps.saturating_add(LOSS + length / 32);
        let (mentions, mut roots) = self.mentions(vec![(node, mode)]);
        for name in mentions.names.iter().chain(&mentions.outer) {
            let value = self.binding(*name).and_then(|binding| binding.value());
            // What is assigned to may be the class of an instance.
            let class = match &value {
                Some(Value::Object(object)) if mode == Mode::All => object.get().class().map(Value::Record),
                _ => None,
            };
            roots.extend(value.into_iter().chain(class));
        }
        let binds = |value: &Value<'c>| matches!(value, Value::Unread(unread) if unread.reach == Reach::Names);
        if roots.iter().any(binds) {
            self.lose_names(why, *at);
        }
        self.make_unknown(roots, why, *at);
        if mentions.has_star {
            self.lose_names("`import *` may bind it anew, and is not read", *at);
        }
        let is_named = |name: &str| mentions.names.iter().any(|known| known.as_str() == name);
        if is_named("__name__") && (is_named("sys") || is_named("importlib")) {
            self.lose_names("it may be bound anew through `__name__`, which is not followed", *at);
        }
        for name in super::bound::walrus_names(node) {
            self.bind_around(self.cx.symbol(name), binding.another());
        }
        let is_bound = |name: &Symbol<'c>| self.binding(*name).is_some();
        if let Some(name) = mentions.names.iter().find(|name| BY_TEXT.contains(&name.as_str()) && !is_bound(name)) {
            self.lose_names(&format!("`{}` binds names by their text, which is not followed", name.as_str()), *at);
        }
    }

    /// Marks the constants of the file that something that is not read may bind anew.
    pub(super) fn lose_names(&mut self, why: &str, at: Span) {
        if self.step(self.file.len() / 16, at).is_err() {
            // Nothing is known any more.
            self.file.clear();
        }
        for binding in self.file.values_mut() {
            match binding {
                Binding::Value(
                    Value::Builtin(_)
                    | Value::Math(_)
                    | Value::Dialect(_)
                    | Value::Op(..)
                    | Value::Platform(_)
                    | Value::Unread(_),
                ) => {}
                Binding::Value(_) => *binding = Binding::unread(why, at),
                _ => {}
            }
        }
    }

    /// The values behind the names that a plain function mentions.
    fn seen_by(&self, factory: &Factory<'_, 'c>, mentions: &Mentions<'c>) -> Vec<Value<'c>> {
        let value = |name: &Symbol<'c>| {
            let bound = factory.home.iter().rev().find_map(|scope| scope.borrow().get(name).cloned());
            let bound = match bound {
                Some(Binding::Outer(Some(scope))) => scope.borrow().get(name).cloned(),
                Some(Binding::Outer(None)) => None,
                bound => bound,
            };
            bound.or_else(|| self.file.get(name).cloned()).and_then(|binding| binding.value())
        };
        let defaults = factory.defaults.iter().filter_map(|(_, default)| default.value());
        mentions.names.iter().filter_map(value).chain(defaults).collect()
    }

    fn mentions_of(&mut self, factory: &Factory<'_, 'c>) -> Rc<Mentions<'c>> {
        let range = factory.code.range();
        if let Some(known) = self.mentions.get(&range) {
            return Rc::clone(known);
        }
        let nodes = match &factory.code {
            Code::Def(def) => def.body.iter().map(|stmt| (Node::Stmt(stmt), Mode::All)).collect(),
            Code::Lambda(lambda) => vec![(Node::Expr(&lambda.body), Mode::All)],
        };
        let mut mentions = self.mentions(nodes).0;
        mentions.names.sort_unstable_by_key(|name| name.as_str());
        mentions.names.dedup();
        Rc::clone(self.mentions.entry(range).or_insert_with(|| Rc::new(mentions)))
    }

    /// Marks all that can be reached from values; classes themselves only where they are among `roots`.
    pub(crate) fn make_unknown(&mut self, roots: Vec<Value<'c>>, why: &str, at: Span) {
        let unknown = Unknown { why: why.into(), at };
        for root in &roots {
            if let Value::Record(record) = root {
                self.records[*record].unknown.get_or_insert_with(|| unknown.clone());
                self.has_unknown = true;
            }
        }
        let mut stack = roots;
        let (mut tuples, mut factories, mut records) =
            (FxHashSet::default(), FxHashSet::default(), FxHashSet::default());
        while let Some(value) = stack.pop() {
            if let Err(Refusal::Unread(diagnostic)) = self.step(1, at) {
                // What is left is not walked: nothing is known any more.
                self.has_unknown = true;
                self.all_unknown.get_or_insert(Unknown { why: diagnostic.message.as_str().into(), at });
                return;
            }
            self.has_unknown |= matches!(
                value,
                Value::List(_) | Value::Dict(_) | Value::View(..) | Value::Set(_) | Value::Object(_) | Value::Iter(_)
            );
            match &value {
                Value::Tuple(items) if tuples.insert(Rc::as_ptr(items).addr()) => stack.extend(items.iter().cloned()),
                Value::List(list) if list.forget(&unknown) => stack.extend(list.get().iter().cloned()),
                Value::Dict(dict) | Value::View(_, dict) if dict.forget(&unknown) => {
                    stack.extend(dict.get().items().iter().flat_map(|(key, value)| [key.clone(), value.clone()]));
                    stack.extend(dict.get().factory());
                }
                Value::Set(set) if set.get().is_frozen || set.forget(&unknown) => {
                    stack.extend(set.get().items.items().iter().map(|(item, _)| item.clone()));
                }
                Value::Iter(iter) if iter.forget(&unknown) => stack.extend(iter.get().parts()),
                Value::Object(object) => {
                    let is_fixed = object.get().is_tuple || object.get().is_frozen;
                    let is_new =
                        if is_fixed { tuples.insert(Rc::as_ptr(object).addr()) } else { object.forget(&unknown) };
                    if is_new {
                        let instance = object.get();
                        stack.extend(instance.attributes.iter().map(|(_, value)| value.clone()));
                        stack.extend(instance.class().map(Value::Record));
                    }
                }
                Value::Bound(bound) => {
                    stack.push(bound.callee.clone());
                    stack.extend(bound.args.iter().chain(bound.keywords.iter().map(|(_, value)| value)).cloned());
                }
                Value::Method(parts) => stack.push(parts.0.clone()),
                Value::Super(parts) => stack.push(parts.1.clone()),
                Value::Unread(unread) => stack.extend(unread.owner.clone()),
                Value::Record(at) if records.insert(*at) => {
                    let record = &self.records[*at];
                    stack.extend(record.names.borrow().values().filter_map(Binding::value));
                    stack.extend(record.line.iter().skip(1).map(|&at| Value::Record(at)));
                }
                Value::Factory(place) | Value::Wrapped(_, place) if factories.insert(*place) => {
                    let factory = self.factories[*place].clone();
                    let mentions = self.mentions_of(&factory);
                    stack.extend(self.seen_by(&factory, &mentions));
                    self.lose_outer(&factory, &mentions, &unknown);
                }
                _ => {}
            }
        }
    }

    /// Marks what a plain function reaches that stopped in the middle.
    pub(crate) fn lose_run(&mut self, factory: &Factory<'_, 'c>, own: Vec<Value<'c>>, why: &str, at: Span) {
        let mentions = self.mentions_of(factory);
        let mut reached = self.seen_by(factory, &mentions);
        reached.extend(own);
        self.make_unknown(reached, why, at);
        self.lose_outer(factory, &mentions, &Unknown { why: why.into(), at });
    }

    /// Variables that a function assigns outside itself.
    fn lose_outer(&mut self, factory: &Factory<'_, 'c>, mentions: &Mentions<'c>, unknown: &Unknown) {
        for name in &mentions.outer {
            let lost = Binding::unread(&unknown.why, unknown.at);
            let scope = factory.home.iter().rev().find(|scope| scope.borrow().contains_key(name));
            self.bind_in(scope.cloned(), *name, lost);
        }
    }
}
