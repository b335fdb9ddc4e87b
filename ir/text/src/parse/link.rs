//! Names of functions: references are checked at the end, and calls of functions that follow get their callee.

use rustc_hash::FxHashMap;
use tf_core::node::{AnyFunction, Callee, Origin};
use tf_core::visit::{Cloning, ExprCloner, clone_expr};
use tf_core::{Context, Diagnostic, Expr, ExprKind, Function};
use tf_types::{Symbol, Type};

use super::Parser;
use super::cursor::{Failed, MOST_ERRORS};
use super::lexer::Token;

/// The names of the modules below the root, and the name in the last one.
pub type Key<'c> = (&'c [Symbol<'c>], Symbol<'c>);

/// A mention of a function.
#[derive(Clone, Copy)]
pub struct Reference<'c> {
    pub token: Token,
    pub key: Key<'c>,
    pub how: Use<'c>,
}

#[derive(Clone, Copy)]
pub enum Use<'c> {
    /// `entry(@f)`
    Entry,
    /// An operand `@f` of that type.
    Symbol(Type<'c>),
    /// `call @f(…) … -> type`
    Call {
        count: usize,
        ty: Type<'c>,
        /// The calling module.
        from: &'c [Symbol<'c>],
    },
    /// `tir.call @f(…)`
    Statement { count: usize },
}

impl<'c> Parser<'_, '_, 'c> {
    pub fn check_references(&mut self) {
        for reference in std::mem::take(&mut self.references) {
            if self.errors.len() >= MOST_ERRORS {
                return;
            }
            let Reference { token, key, how } = reference;
            let name = key.1;
            let key = match how {
                Use::Symbol(_) if !self.by_name.contains_key(&key) => self.entry_of_child(key).unwrap_or(key),
                _ => key,
            };
            match self.by_name.get(&key) {
                None => {
                    let mut known: Vec<_> =
                        self.by_name.keys().filter(|other| other.0 == key.0).map(|other| other.1.as_str()).collect();
                    known.sort_unstable();
                    let message = format!("unknown function `{}`", self.text_of(token));
                    self.unknown(token, message, name.as_str(), known);
                }
                Some(Some(at)) => {
                    let _: Result<(), Failed> = self.check_reference(token, key.0, self.functions[*at], how);
                }
                Some(None) => {}
            }
        }
    }

    /// The entry of the child module of that name.
    fn entry_of_child(&self, (path, name): Key<'c>) -> Option<Key<'c>> {
        let child: Vec<_> = path.iter().copied().chain([name]).collect();
        let (child, entry) = self.entries.get_key_value(&child[..])?;
        Some((child, *entry))
    }

    fn check_reference(
        &mut self,
        token: Token,
        path: &'c [Symbol<'c>],
        function: AnyFunction<'c>,
        how: Use<'c>,
    ) -> Result<(), Failed> {
        let name = function.name();
        let mut wanted = function.params().len();
        let count = match how {
            Use::Entry => return Ok(()),
            Use::Symbol(written) => {
                let params = match function {
                    AnyFunction::Hir(function) => function.lowered_params(self.cx),
                    AnyFunction::Tir(function) => Some(function.params.iter().map(|p| p.ty()).collect()),
                };
                let Some(params) = params else {
                    return Err(self.error_at(token, format!("`@{name}` returns what is no tensor")));
                };
                let ty = self.cx.callable(&params, self.cx.unit());
                return self.same_type(token, &format!("`@{name}` has type"), ty, written);
            }
            Use::Call { count, ty, from } => {
                let AnyFunction::Hir(f) = function else {
                    return Err(self.error_at(token, format!("`@{name}` is no HIR function")));
                };
                if ty != f.return_type && f.body.is_none_or(|body| ty != body.ty()) {
                    self.same_type(token, &format!("`@{name}` returns"), f.return_type, ty)?;
                }
                // A call of a direct child leaves its constants out.
                if path.split_last().is_some_and(|(_, above)| above == from) {
                    wanted = f.params.iter().filter(|param| !param.is_const_param()).count();
                }
                count
            }
            Use::Statement { count } => count,
        };
        if count == wanted {
            return Ok(());
        }
        Err(self.error_at(token, format!("`@{name}` takes {wanted} operands, found {count}")))
    }

    /// The functions, each calling the others themselves.
    pub fn linked(&mut self) -> Result<Vec<AnyFunction<'c>>, Vec<Diagnostic>> {
        let mut functions = std::mem::take(&mut self.functions);
        if self.forward.is_empty() && self.origins.is_empty() {
            return Ok(functions);
        }
        let mut callees = vec![Vec::new(); functions.len()];
        let mut origins: FxHashMap<usize, usize> = FxHashMap::default();
        for (caller, key) in &self.calls {
            if let Some(Some(at)) = self.by_name.get(key) {
                callees[*caller].push(*at);
            }
        }
        for (function, key) in &self.origins {
            // A function that a pass put in place of the one it was made from has its name.
            if let Some(Some(at)) = self.by_name.get(key).filter(|at| **at != Some(*function)) {
                callees[*function].push(*at);
                origins.insert(*function, *at);
            }
        }
        let order = callees_first(&callees).map_err(|at| {
            let function = functions[at];
            let message = format!("`@{}` calls itself, directly or through other functions", function.name());
            vec![Diagnostic::error(message).at(function.span())]
        })?;
        let forward: FxHashMap<usize, Function<'c>> = self
            .forward
            .iter()
            .filter_map(|(key, placeholder)| Some(((*self.by_name.get(key)?)?, *placeholder)))
            .collect();
        let mut linker = Linker { cx: self.cx, new: FxHashMap::default() };
        for at in order {
            let AnyFunction::Hir(old) = functions[at] else { continue };
            let origin = origins.get(&at).map(|&from| functions[from]);
            let new = linker.function(old, origin).map_err(|error| vec![error])?;
            functions[at] = AnyFunction::Hir(new);
            if new != old {
                linker.new.insert(old, new);
            }
            if let Some(placeholder) = forward.get(&at) {
                linker.new.insert(*placeholder, new);
            }
        }
        Ok(functions)
    }
}

/// Every index after those it points to, or one that lies on a cycle.
fn callees_first(callees: &[Vec<usize>]) -> Result<Vec<usize>, usize> {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let mut state = vec![State::New; callees.len()];
    let mut order = Vec::with_capacity(callees.len());
    for root in 0..callees.len() {
        let mut stack = vec![(root, 0)];
        while let Some((at, next)) = stack.last_mut() {
            let (at, child) = (*at, callees[*at].get(*next).copied());
            *next += 1;
            match child {
                _ if state[at] == State::Done => drop(stack.pop()),
                Some(child) => {
                    state[at] = State::Open;
                    match state[child] {
                        State::New => stack.push((child, 0)),
                        State::Open => return Err(child),
                        State::Done => {}
                    }
                }
                None => {
                    state[at] = State::Done;
                    order.push(at);
                    stack.pop();
                }
            }
        }
    }
    Ok(order)
}

struct Linker<'a, 'c> {
    cx: &'a Context<'c>,
    new: FxHashMap<Function<'c>, Function<'c>>,
}

impl<'c> Linker<'_, 'c> {
    /// The function with calls of the new functions, in its parts too.
    fn function(&mut self, old: Function<'c>, origin: Option<AnyFunction<'c>>) -> tf_core::Result<Function<'c>> {
        let cx = self.cx;
        let mut data = *old.data();
        if let Some(value) = old.body {
            data.body = Some(clone_expr(cx, value, self)?);
        }
        let variants = old.variants.iter().map(|&variant| self.function(variant, None));
        let variants = variants.collect::<tf_core::Result<Vec<_>>>()?;
        let mut converters = old.converters.to_vec();
        for converter in &mut converters {
            converter.function = self.function(converter.function, None)?;
        }
        let same_parts = variants == old.variants && converters == old.converters;
        if !same_parts {
            (data.variants, data.converters) = (cx.alloc_slice(&variants), cx.alloc_slice(&converters));
        }
        if let (Some(own), Some(AnyFunction::Hir(function))) = (data.origin, origin) {
            data.origin = Some(Origin { function: Some(function), ..own });
        }
        let same = same_parts && data.body == old.body && data.origin == old.origin;
        Ok(if same { old } else { cx.function(data) })
    }
}

impl<'c> ExprCloner<'c> for Linker<'_, 'c> {
    fn clone_call(&mut self, call: Expr<'c>, clone: &mut Cloning<'_, 'c>) -> tf_core::Result<Expr<'c>> {
        if let ExprKind::Call { callee: Callee::Function(old), args } = call.kind
            && let Some(&new) = self.new.get(&old)
        {
            let args: Vec<_> = args.iter().map(|&arg| clone.get(arg)).collect();
            let kind = ExprKind::Call { callee: Callee::Function(new), args: clone.cx.alloc_slice(&args) };
            return Ok(clone.cx.expr(kind, call.ty(), call.meta));
        }
        clone.rebuild(call)
    }
}
