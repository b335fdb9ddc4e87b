//! Values whose changes are not followed.
//!
//! Such a value is marked, not its name: whoever holds it, under any name or inside another value, is refused at its use.

use std::rc::Rc;

use ruff_python_ast as ast;
use ruff_python_ast::visitor::{self, Visitor};
use rustc_hash::{FxHashMap, FxHashSet};
use tf_core::Span;

use super::changes::is_change;
use crate::factory::{Code, Factory};
use crate::parser::{Binding, Parser};
use crate::refusal::{Refusal, Res};
use crate::value::Value;

/// What is not known any more, with the reason and the place.
#[derive(Default)]
pub(crate) struct Stale<'c> {
    /// By address; the value is kept, so that no other one takes its address.
    values: FxHashMap<usize, (Value<'c>, String, Span)>,
    records: FxHashMap<usize, (String, Span)>,
}

/// The address of a value that can change or hold what can.
fn address(value: &Value<'_>) -> Option<usize> {
    Some(match value {
        Value::Tuple(items) | Value::List(items) => Rc::as_ptr(items).addr(),
        Value::Dict(items) => Rc::as_ptr(items).addr(),
        Value::Object(object) => Rc::as_ptr(object).addr(),
        Value::Bound(bound) => Rc::as_ptr(bound).addr(),
        _ => return None,
    })
}

fn parts<'v, 'c>(value: &'v Value<'c>, stack: &mut Vec<&'v Value<'c>>) {
    match value {
        Value::Tuple(items) | Value::List(items) => stack.extend(&items.items),
        Value::Dict(items) => stack.extend(items.items().iter().map(|(_, value)| value)),
        Value::Object(object) => stack.extend(&object.values),
        Value::Bound(bound) => {
            stack.push(&bound.callee);
            stack.extend(bound.args.iter().chain(bound.keywords.iter().map(|(_, value)| value)));
        }
        _ => {}
    }
}

impl<'c> Parser<'_, 'c> {
    /// Refuses a value that is stale or holds one that is.
    pub(super) fn fresh(&mut self, value: &Value<'c>, span: Span) -> Res<()> {
        if self.stale.values.is_empty() && self.stale.records.is_empty() {
            return Ok(());
        }
        let (mut stack, mut seen) = (vec![value], FxHashSet::default());
        while let Some(value) = stack.pop() {
            let class = match value {
                Value::Record(at) => Some(*at),
                Value::Object(object) => object.record,
                _ => None,
            };
            let classes = std::iter::successors(class, |&at| self.records.get(at).and_then(|record| record.base));
            let of_class = classes.filter_map(|at| self.stale.records.get(&at)).next();
            let own = address(value).filter(|at| seen.insert(*at));
            let known = own.and_then(|at| self.stale.values.get(&at)).map(|(_, why, at)| (why, at));
            if let Some((why, at)) = known.or(of_class.map(|(why, at)| (why, at))) {
                return Err(Refusal::unread(span, why.clone()).also(*at, "changed here"));
            }
            if own.is_some() {
                parts(value, &mut stack);
            }
        }
        self.step(seen.len().saturating_sub(1), span)
    }

    /// Marks all that can be reached from values; classes themselves only where they are among `roots`.
    pub(crate) fn make_stale(&mut self, roots: Vec<Value<'c>>, why: &str, at: Span) {
        for root in &roots {
            if let Value::Record(record) = root {
                self.stale.records.entry(*record).or_insert_with(|| (why.to_owned(), at));
            }
        }
        let (mut stack, mut seen) = (roots, FxHashSet::default());
        let (mut factories, mut records) = (FxHashSet::default(), FxHashSet::default());
        while let Some(value) = stack.pop() {
            if let Some(address) = address(&value) {
                if !seen.insert(address) {
                    continue;
                }
                let mut inside = Vec::new();
                parts(&value, &mut inside);
                stack.extend(inside.into_iter().cloned());
            }
            let class = match &value {
                Value::Record(at) => Some(*at),
                Value::Object(object) => object.record,
                _ => None,
            };
            if let Some(record) = class.filter(|at| records.insert(*at)).and_then(|at| self.records.get(at)) {
                stack.extend(record.constants.iter().map(|(_, value)| value.clone()));
                stack.extend(record.fields.iter().filter_map(|(_, value)| value.clone()));
                stack.extend(record.methods.iter().map(|(_, _, place)| Value::Factory(*place)));
                if let Some(base) = record.base.filter(|base| !records.contains(base)) {
                    stack.push(Value::Record(base));
                }
            }
            match &value {
                Value::Factory(place) if factories.insert(*place) => {
                    stack.extend(self.seen_by(&self.factories[*place]));
                }
                Value::List(_) | Value::Dict(_) => self.mark(value, why, at),
                Value::Object(object) if !object.is_tuple && !object.is_frozen => self.mark(value, why, at),
                _ => {}
            }
        }
    }

    fn mark(&mut self, value: Value<'c>, why: &str, at: Span) {
        if let Some(address) = address(&value) {
            self.stale.values.entry(address).or_insert_with(|| (value, why.to_owned(), at));
        }
    }

    /// The values behind the names that a plain function mentions.
    pub(crate) fn seen_by(&self, factory: &Factory<'_, 'c>) -> Vec<Value<'c>> {
        let mut names = Names { all: true, ..Names::default() };
        match &factory.code {
            Code::Def(def) => def.body.iter().for_each(|stmt| names.visit_stmt(stmt)),
            Code::Lambda(lambda) => names.visit_expr(&lambda.body),
        }
        let value = |name: &&str| {
            let name = self.cx.symbol(name);
            let bound = factory.home.iter().rev().find_map(|scope| scope.borrow().get(&name).cloned());
            match bound.or_else(|| self.file.get(&name).cloned()) {
                Some(Binding::Value(value)) => Some(value),
                _ => None,
            }
        };
        let defaults = factory.defaults.iter().filter_map(|(_, default)| match default {
            Binding::Value(value) => Some(value.clone()),
            _ => None,
        });
        names.found.iter().filter_map(value).chain(defaults).collect()
    }

    /// Marks what a statement may change that is not followed.
    pub(crate) fn lose_changes(&mut self, stmt: &ast::Stmt, binding: &Binding<'c>) {
        let mut names = Names::default();
        names.visit_stmt(stmt);
        self.lose_names(&names.found, binding);
    }

    /// Marks what the calls in an expression may change that is not followed.
    pub(crate) fn lose_calls(&mut self, expr: &ast::Expr, binding: &Binding<'c>) {
        let mut names = Names::default();
        names.visit_expr(expr);
        self.lose_names(&names.found, binding);
    }

    /// Marks what can be reached from any name of an expression.
    pub(crate) fn lose(&mut self, expr: &ast::Expr, binding: &Binding<'c>) {
        let mut names = Names { all: true, ..Names::default() };
        names.visit_expr(expr);
        self.lose_names(&names.found, binding);
    }

    fn lose_names(&mut self, names: &[&str], binding: &Binding<'c>) {
        let Binding::Unread { why, at } = binding else { return };
        let mut roots = Vec::new();
        for name in names {
            let name = self.cx.symbol(name);
            let Some(Binding::Value(value)) = self.binding(name).as_deref().cloned() else { continue };
            let is_own = self.file.contains_key(&name) || self.scopes.iter().any(|s| s.borrow().contains_key(&name));
            if !is_own && address(&value).is_some() {
                // The host gives a copy at each use.
                self.file.insert(name, binding.clone());
            }
            roots.push(value);
        }
        self.make_stale(roots, why, *at);
    }
}

/// Names that code mentions in calls and as the owners of what it changes, or everywhere.
#[derive(Default)]
struct Names<'x> {
    found: Vec<&'x str>,
    all: bool,
    in_call: usize,
}

impl<'x> Names<'x> {
    fn within(&mut self, expr: &'x ast::Expr) {
        self.in_call += 1;
        self.visit_expr(expr);
        self.in_call -= 1;
    }

    fn target(&mut self, target: &'x ast::Expr) {
        match target {
            ast::Expr::Subscript(_) | ast::Expr::Attribute(_) => self.within(target),
            ast::Expr::Tuple(ast::ExprTuple { elts, .. }) | ast::Expr::List(ast::ExprList { elts, .. }) => {
                elts.iter().for_each(|target| self.target(target));
            }
            _ => {}
        }
    }
}

impl<'x> Visitor<'x> for Names<'x> {
    fn visit_stmt(&mut self, stmt: &'x ast::Stmt) {
        match stmt {
            ast::Stmt::Assign(assign) => assign.targets.iter().for_each(|target| self.target(target)),
            ast::Stmt::AugAssign(assign) => self.within(&assign.target),
            ast::Stmt::Delete(delete) => delete.targets.iter().for_each(|target| self.target(target)),
            // A definition runs nothing; a body that is searched for all names mentions those of the functions in it.
            ast::Stmt::FunctionDef(_) if !self.all => return,
            _ => {}
        }
        visitor::walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'x ast::Expr) {
        match expr {
            ast::Expr::Name(name) if self.all || self.in_call > 0 => self.found.push(name.id.as_str()),
            ast::Expr::Call(call) if !self.all => {
                if is_harmless(&call.func) {
                    return visitor::walk_expr(self, expr);
                }
                self.within(&call.func);
                call.arguments.args.iter().for_each(|arg| self.within(arg));
                call.arguments.keywords.iter().for_each(|keyword| self.within(&keyword.value));
            }
            _ => visitor::walk_expr(self, expr),
        }
    }
}

/// Calls that show values and change none.
fn is_harmless(callee: &ast::Expr) -> bool {
    match callee {
        ast::Expr::Name(name) => name.id.as_str() == "print",
        ast::Expr::Attribute(attribute) => match &*attribute.value {
            ast::Expr::Name(name) => {
                matches!(name.id.as_str(), "logging" | "logger" | "log" | "warnings")
                    && !is_change(attribute.attr.as_str())
            }
            _ => false,
        },
        _ => false,
    }
}

/// Whether a function is a generator.
pub(crate) fn yields(def: &ast::StmtFunctionDef) -> bool {
    struct Yields(bool);
    impl<'x> Visitor<'x> for Yields {
        fn visit_stmt(&mut self, stmt: &'x ast::Stmt) {
            if !matches!(stmt, ast::Stmt::FunctionDef(_) | ast::Stmt::ClassDef(_)) {
                visitor::walk_stmt(self, stmt);
            }
        }

        fn visit_expr(&mut self, expr: &'x ast::Expr) {
            match expr {
                ast::Expr::Yield(_) | ast::Expr::YieldFrom(_) => self.0 = true,
                ast::Expr::Lambda(_) => {}
                _ => visitor::walk_expr(self, expr),
            }
        }
    }
    let mut found = Yields(false);
    def.body.iter().for_each(|stmt| found.visit_stmt(stmt));
    found.0
}
