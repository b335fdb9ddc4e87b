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
use super::links::{Links, Paths, path_root};
use super::unread::{BY_TEXT, Reach, root};
use super::{Unknown, Unread, Wrapper};
use crate::factory::{Code, Factory};
use crate::names::Builtin;
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

/// Functions of Python whose results are numbers, texts or copies.
const COPIES: &[&str] = &[
    "abs",
    "asdict",
    "astuple",
    "bool",
    "deepcopy",
    "float",
    "hasattr",
    "int",
    "isinstance",
    "len",
    "print",
    "range",
    "repr",
    "round",
    "str",
];

/// What code mentions.
#[derive(Default)]
pub(crate) struct Mentions<'c> {
    /// What it may change.
    names: Vec<Symbol<'c>>,
    /// What it only calls.
    called: Vec<Symbol<'c>>,
    /// Whether it assigns attributes, of other than the instance that its method is called on.
    assigns: bool,
    /// Whether it may assign to the class of an instance.
    has_class: bool,
    /// Whether it may assign attributes of frozen instances.
    thaws: bool,
    /// Names outside that it assigns.
    outer: Vec<Symbol<'c>>,
    /// Whether it imports all names of a package that is not read.
    has_star: bool,
}

/// How code that is not run may change what it reaches, beside what each object says.
#[derive(Default)]
struct How {
    assigns: bool,
    has_class: bool,
    thaws: bool,
}

impl How {
    fn add(&mut self, mentions: &Mentions<'_>) {
        self.assigns |= mentions.assigns;
        self.has_class |= mentions.has_class;
        self.thaws |= mentions.thaws;
    }
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
    /// What is called.
    Callee,
}

/// Calls that show values and change none.
pub(crate) fn is_harmless(callee: &ast::Expr) -> bool {
    match callee {
        ast::Expr::Name(name) => name.id.as_str() == "print",
        // `logging.getLogger().info(…)` too.
        ast::Expr::Attribute(attribute) => match root(&attribute.value) {
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
    /// What code mentions; of code that is not run, with what its names stand for. `own` is the instance of a method.
    fn mentions(
        &self,
        nodes: Vec<(Node<'_>, Mode)>,
        links: Option<&Links<'_>>,
        own: Option<&str>,
    ) -> (Mentions<'c>, Vec<Value<'c>>) {
        let (mut found, mut given) = (Mentions::default(), Vec::new());
        let mut stack = nodes;
        while let Some((node, mode)) = stack.pop() {
            if let Node::Expr(ast::Expr::Attribute(attribute)) = node {
                let is_own = attribute.value.as_name_expr().is_some_and(|name| Some(name.id.as_str()) == own);
                found.assigns |= !attribute.ctx.is_load() && !is_own;
                found.has_class |= attribute.attr.as_str() == "__class__";
                found.thaws |= matches!(attribute.attr.as_str(), "__setattr__" | "__delattr__" | "__dict__");
            }
            if let Node::Expr(ast::Expr::Name(name)) = node {
                found.assigns |= matches!(name.id.as_str(), "setattr" | "delattr");
                found.has_class |= name.id.as_str() == "type";
            }
            if links.is_some_and(|links| self.is_number(node, links)) {
                continue;
            }
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
                (Node::Expr(ast::Expr::Name(name)), Mode::Callee) => {
                    found.called.push(self.cx.symbol(name.id.as_str()))
                }
                (Node::Expr(expr), Mode::Callee) => match self.exposed(expr) {
                    Some(value @ (Value::Factory(_) | Value::Wrapped(..))) => {
                        given.push(value);
                        found.called.extend(path_root(expr).map(|name| self.cx.symbol(name.id.as_str())));
                    }
                    _ => stack.push((node, Mode::All)),
                },
                (_, Mode::All) => match node {
                    Node::Expr(ast::Expr::Name(name)) => found.names.push(self.cx.symbol(name.id.as_str())),
                    Node::Expr(ast::Expr::Call(call)) if links.is_some() && self.copies(&call.func) => {
                        stack.push((node, Mode::Plain));
                    }
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
                    stack.extend(defaults.map(|expr| (Node::Expr(expr), Mode::Plain)));
                    stack.extend(self.decorations(&def.decorator_list));
                    let (globals, nonlocals) = super::outer_names(&def.body);
                    found.outer.extend(globals.into_iter().chain(nonlocals).map(|name| self.cx.symbol(name)));
                }
                (Node::Stmt(ast::Stmt::ClassDef(class)), _) => {
                    stack.extend(class.body.iter().map(|stmt| (Node::Stmt(stmt), Mode::Plain)));
                    let arguments = class.arguments.iter();
                    let values = arguments.flat_map(|arguments| {
                        arguments.args.iter().chain(arguments.keywords.iter().map(|keyword| &keyword.value))
                    });
                    stack.extend(values.map(|expr| (Node::Expr(expr), Mode::Plain)));
                    stack.extend(self.decorations(&class.decorator_list));
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
                        false if is_library || self.copies(&call.func) => Mode::Given,
                        false => Mode::All,
                    };
                    // `vars(object)` shows what the object has.
                    let shows = call.func.as_name_expr().is_some_and(|name| name.id.as_str() == "vars");
                    if mode == Mode::All && (!shows || call.arguments.is_empty()) {
                        stack.push((Node::Expr(&call.func), Mode::Callee));
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

    /// A decorator is a call of all that it mentions.
    fn decorations<'x>(&self, decorators: &'x [ast::Decorator]) -> Vec<(Node<'x>, Mode)> {
        let mode = |expr: &ast::Expr| if self.is_library(expr) { Mode::Plain } else { Mode::All };
        decorators.iter().map(|own| (Node::Expr(&own.expression), mode(&own.expression))).collect()
    }

    /// Whether a callee is a function of Python that gives a number, a text or a copy.
    fn copies(&self, callee: &ast::Expr) -> bool {
        let Some(root) = path_root(callee) else { return false };
        let bound = self.binding(self.cx.symbol(root.id.as_str())).and_then(|binding| binding.value());
        let name = match (bound, callee) {
            (None, ast::Expr::Name(name)) => name.id.as_str(),
            (Some(Value::Builtin(builtin)), ast::Expr::Name(_)) => builtin.name(),
            (Some(Value::Builtin(Builtin::Library(_))), ast::Expr::Attribute(attribute)) => attribute.attr.as_str(),
            _ => return false,
        };
        COPIES.contains(&name)
    }

    /// Whether an expression is an attribute that is no object: nothing that it is given to changes what has it.
    fn is_number(&self, node: Node<'_>, links: &Links<'_>) -> bool {
        let Node::Expr(expr @ ast::Expr::Attribute(attribute)) = node else { return false };
        let is_free = path_root(expr).is_some_and(|root| !links.has(root.id.as_str()));
        is_free && attribute.ctx.is_load() && self.path_value(expr).is_some_and(|value| value.is_atom())
    }

    /// What a name or attribute is, found without running anything, where it can be called or is an iterator.
    fn exposed(&self, expr: &ast::Expr) -> Option<Value<'c>> {
        let value = self.path_value(expr)?;
        let is_exposed = match (&value, expr) {
            (Value::List(_) | Value::Dict(_) | Value::Set(_), ast::Expr::Attribute(attribute)) => {
                CHANGES.contains(&attribute.attr.as_str())
            }
            _ => matches!(
                value,
                Value::Factory(_) | Value::Bound(_) | Value::Method(_) | Value::Wrapped(..) | Value::Iter(_)
            ),
        };
        is_exposed.then_some(value)
    }

    /// What a path of names and attributes is, found without running anything; of a method that changes its owner, that.
    fn path_value(&self, expr: &ast::Expr) -> Option<Value<'c>> {
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
        Some(value)
    }

    /// The objects that an expression may give that chooses among some: what its branches and items name.
    pub(super) fn choices(&self, expr: &ast::Expr) -> Vec<Value<'c>> {
        let (mut stack, mut found) = (vec![(expr, false)], Vec::new());
        while let Some((at, is_item)) = stack.pop() {
            match at {
                ast::Expr::If(choice) => stack.extend([(&*choice.body, is_item), (&*choice.orelse, is_item)]),
                ast::Expr::BoolOp(logical) => stack.extend(logical.values.iter().map(|value| (value, is_item))),
                ast::Expr::Named(named) => stack.push((&*named.value, is_item)),
                ast::Expr::Starred(starred) => stack.push((&*starred.value, true)),
                ast::Expr::Subscript(subscript) => stack.push((&*subscript.value, true)),
                ast::Expr::Tuple(ast::ExprTuple { elts, .. }) | ast::Expr::List(ast::ExprList { elts, .. }) => {
                    stack.extend(elts.iter().map(|item| (item, false)));
                }
                ast::Expr::Dict(dict) => stack.extend(dict.items.iter().map(|item| (&item.value, false))),
                // What it reaches, where it is called.
                ast::Expr::Lambda(lambda) => {
                    let (mentions, _) = self.mentions(vec![(Node::Expr(&lambda.body), Mode::All)], None, None);
                    let value = |name: &Symbol<'c>| self.binding(*name)?.value();
                    found.extend(mentions.names.iter().filter_map(value));
                }
                path => {
                    let named = || self.binding(self.cx.symbol(path_root(path)?.id.as_str()))?.value();
                    let value = self.path_value(path).or_else(named);
                    found.extend(value.filter(|value| !(value.is_atom() || is_item && value.holds_atoms())));
                }
            }
        }
        found
    }

    /// Marks what a statement may change that is not followed.
    pub(crate) fn lose_changes(&mut self, stmt: &ast::Stmt, binding: &Binding<'c>) {
        self.lose_nodes(Node::Stmt(stmt), Mode::Plain, stmt.range().len().to_usize(), binding);
    }

    /// Marks what the calls in an expression may change that is not followed.
    pub(crate) fn lose_calls(&mut self, expr: &ast::Expr, binding: &Binding<'c>) {
        self.lose_nodes(Node::Expr(expr), Mode::Plain, expr.range().len().to_usize(), binding);
    }

    /// Marks what a decorator may change that is not run.
    pub(crate) fn lose_decorator(&mut self, expr: &ast::Expr, binding: &Binding<'c>) {
        match self.is_library(expr) {
            true => self.lose_calls(expr, binding),
            false => self.lose(expr, binding),
        }
    }

    /// Marks what can be reached from any name of an expression.
    pub(crate) fn lose(&mut self, expr: &ast::Expr, binding: &Binding<'c>) {
        self.lose_nodes(Node::Expr(expr), Mode::All, expr.range().len().to_usize(), binding);
    }

    fn lose_nodes(&mut self, node: Node<'_>, mode: Mode, length: usize, binding: &Binding<'c>) {
        let Some(Unread { why, at, .. }) = binding.as_unread() else { return };
        // It counts although it is done in any case.
        self.steps = self.steps.saturating_add(LOSS + length / 32);
        let links = Links::of(node);
        let (mut mentions, mut reached) = self.mentions(vec![(node, mode)], Some(&links), None);
        self.close(&mut mentions, &links);
        let value = |name: &Symbol<'c>| self.binding(*name).and_then(|binding| binding.value());
        let roots: Vec<_> = mentions.names.iter().chain(&mentions.outer).filter_map(value).collect();
        reached.extend(mentions.called.iter().filter_map(value));
        let binds = |value: &Value<'c>| matches!(value, Value::Unread(unread) if unread.reach == Reach::Names);
        if roots.iter().chain(&reached).any(binds) {
            self.lose_names(why, *at);
        }
        let how = How { assigns: mentions.assigns, has_class: mentions.has_class, thaws: mentions.thaws };
        self.lose_reached(roots, reached, how, &Unknown { why: Rc::clone(why), at: *at });
        if mentions.has_star {
            self.lose_names("`import *` may bind it anew, and is not read", *at);
        }
        let mentioned = || mentions.names.iter().chain(&mentions.called);
        let is_named = |name: &str| mentioned().any(|known| known.as_str() == name);
        if is_named("__name__") && (is_named("sys") || is_named("importlib")) {
            self.lose_names("it may be bound anew through `__name__`, which is not followed", *at);
        }
        for name in super::bound::walrus_names(node) {
            self.bind_around(self.cx.symbol(name), binding.another());
        }
        let is_bound = |name: &Symbol<'c>| self.binding(*name).is_some();
        if let Some(name) = mentioned().find(|name| BY_TEXT.contains(&name.as_str()) && !is_bound(name)) {
            self.lose_names(&format!("`{}` binds names by their text, which is not followed", name.as_str()), *at);
        }
    }

    /// Adds what the names that code changes stand for.
    fn close(&self, mentions: &mut Mentions<'c>, links: &Links<'_>) {
        let mut names: FxHashSet<_> = mentions.names.iter().chain(&mentions.called).copied().collect();
        let mut stack: Vec<_> = names.iter().copied().collect();
        stack.sort_unstable_by_key(|name| name.as_str());
        let mut seen = FxHashSet::default();
        while let Some(name) = stack.pop() {
            for Paths { paths, are_items } in links.behind(name.as_str()) {
                if !seen.insert(Rc::as_ptr(paths).addr()) {
                    continue;
                }
                for path in paths.iter().filter(|path| !self.is_number(Node::Expr(path), links)) {
                    // Items that are numbers change nothing of what has them.
                    let is_free = path_root(path).is_some_and(|root| !links.has(root.id.as_str()));
                    if *are_items && is_free && self.path_value(path).is_some_and(|value| value.holds_atoms()) {
                        continue;
                    }
                    let root = path_root(path).map(|name| self.cx.symbol(name.id.as_str()));
                    if let Some(root) = root.filter(|root| names.insert(*root)) {
                        stack.push(root);
                        mentions.names.push(root);
                    }
                }
            }
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
        let mut own = None;
        let nodes = match &factory.code {
            Code::Def(def) if factory.class().is_some() && def.decorator_list.is_empty() => {
                let first = def.parameters.iter_non_variadic_params().next();
                own = first.map(|param| param.parameter.name.as_str());
                def.body.iter().map(|stmt| (Node::Stmt(stmt), Mode::All)).collect()
            }
            Code::Def(def) => def.body.iter().map(|stmt| (Node::Stmt(stmt), Mode::All)).collect(),
            Code::Lambda(lambda) => vec![(Node::Expr(&lambda.body), Mode::All)],
        };
        let mut mentions = self.mentions(nodes, None, own).0;
        // What makes an instance assigns to a new one.
        let makes = |name: &str| matches!(name, "__init__" | "__post_init__" | "__new__" | "__setstate__");
        mentions.thaws &= factory.class().is_none() || !makes(factory.code.name());
        mentions.names.sort_unstable_by_key(|name| name.as_str());
        mentions.names.dedup();
        Rc::clone(self.mentions.entry(range).or_insert_with(|| Rc::new(mentions)))
    }

    /// Marks all that can be reached from values, and classes that are among them.
    pub(crate) fn make_unknown(&mut self, roots: Vec<Value<'c>>, why: &str, at: Span) {
        self.lose_reached(roots, Vec::new(), How::default(), &Unknown { why: why.into(), at });
    }

    fn lose_class(&mut self, record: usize, unknown: &Unknown) {
        self.records[record].unknown.get_or_insert_with(|| unknown.clone());
        self.has_unknown = true;
    }

    /// Marks what `roots` reach with classes among them, and what `reached` reach. Other classes are marked where code
    /// among them assigns attributes.
    fn lose_reached(&mut self, roots: Vec<Value<'c>>, reached: Vec<Value<'c>>, mut how: How, unknown: &Unknown) {
        let at = unknown.at;
        for root in &roots {
            if let Value::Record(record) = root {
                self.lose_class(*record, unknown);
            }
        }
        let (mut frozen, mut classes, mut of_instances) = (Vec::new(), Vec::new(), Vec::new());
        let mut stack = roots;
        stack.extend(reached);
        let (mut tuples, mut factories, mut records, mut named) =
            (FxHashSet::default(), FxHashSet::default(), FxHashSet::default(), FxHashSet::default());
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
                Value::List(list) if list.forget(unknown) => stack.extend(list.get().iter().cloned()),
                Value::Dict(dict) | Value::View(_, dict) if dict.forget(unknown) => {
                    stack.extend(dict.get().items().iter().flat_map(|(key, value)| [key.clone(), value.clone()]));
                    stack.extend(dict.get().factory());
                }
                Value::Set(set) if set.get().is_frozen || set.forget(unknown) => {
                    stack.extend(set.get().items.items().iter().map(|(item, _)| item.clone()));
                }
                Value::Iter(iter) if iter.forget(unknown) => stack.extend(iter.get().parts()),
                Value::Object(object) => {
                    let is_fixed = object.get().is_tuple || object.get().is_frozen;
                    let is_new =
                        if is_fixed { tuples.insert(Rc::as_ptr(object).addr()) } else { object.forget(unknown) };
                    if is_new {
                        let instance = object.get();
                        if instance.is_frozen {
                            frozen.push(Rc::clone(object));
                        }
                        of_instances.extend(instance.class());
                        stack.extend(instance.attributes.iter().map(|(_, value)| value.clone()));
                        // Its class is no value that code has, but where it asks for it.
                        if let Some(class) = instance.class().filter(|class| records.insert(*class)) {
                            stack.extend(self.parts_of(class));
                        }
                    }
                }
                Value::Bound(bound) => {
                    stack.push(bound.callee.clone());
                    stack.extend(bound.args.iter().chain(bound.keywords.iter().map(|(_, value)| value)).cloned());
                }
                Value::Method(parts) => stack.push(parts.0.clone()),
                Value::Super(parts) => stack.push(parts.1.clone()),
                Value::Unread(unread) => stack.extend(unread.owners.iter().cloned()),
                Value::Record(class) if named.insert(*class) => {
                    classes.push(*class);
                    if records.insert(*class) {
                        stack.extend(self.parts_of(*class));
                    }
                }
                Value::Factory(place) | Value::Wrapped(_, place) if factories.insert(*place) => {
                    let factory = self.factories[*place].clone();
                    let mentions = self.mentions_of(&factory);
                    how.add(&mentions);
                    if matches!(value, Value::Wrapped(Wrapper::Class, _)) {
                        stack.extend(factory.class().map(Value::Record));
                    }
                    stack.extend(self.seen_by(&factory, &mentions));
                    self.lose_outer(&factory, &mentions, unknown);
                }
                _ => {}
            }
        }
        if how.thaws {
            for object in frozen {
                object.forget(unknown);
            }
        }
        if how.assigns {
            classes.into_iter().for_each(|class| self.lose_class(class, unknown));
        }
        if how.assigns && how.has_class {
            of_instances.into_iter().for_each(|class| self.lose_class(class, unknown));
        }
    }

    /// What a class has: its names, and those of its bases.
    fn parts_of(&self, class: usize) -> Vec<Value<'c>> {
        let classes = self.classes(Some(class));
        classes
            .flat_map(|at| self.records[at].names.borrow().values().filter_map(Binding::value).collect::<Vec<_>>())
            .collect()
    }

    /// Marks what a plain function reaches that stopped in the middle.
    pub(crate) fn lose_run(&mut self, factory: &Factory<'_, 'c>, own: Vec<Value<'c>>, why: &str, at: Span) {
        let mentions = self.mentions_of(factory);
        let mut reached = self.seen_by(factory, &mentions);
        reached.extend(own);
        let unknown = Unknown { why: why.into(), at };
        let mut how = How::default();
        how.add(&mentions);
        self.lose_reached(Vec::new(), reached, how, &unknown);
        self.lose_outer(factory, &mentions, &unknown);
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
