//! Names of functions: references are checked at the end, and calls of functions that follow get their callee.

use rustc_hash::FxHashMap;
use tf_core::node::{AnyFunction, Callee, FunctionData};
use tf_core::walk::{ExprRewriter, Rewritten, rewrite_expr};
use tf_core::{Diagnostic, Expr, ExprKind, Function};
use tf_types::{Symbol, Type};

use super::Parser;
use super::cursor::{Failed, MOST_ERRORS};
use super::lexer::Token;

/// A mention of a function.
#[derive(Clone, Copy)]
pub struct Reference<'c> {
    pub token: Token,
    pub name: Symbol<'c>,
    pub how: Use<'c>,
}

#[derive(Clone, Copy)]
pub enum Use<'c> {
    /// `entry(@f)`
    Entry,
    /// An operand `@f` of that type.
    Symbol(Type<'c>),
    /// `call @f(…) … -> type`
    Call { count: usize, ty: Type<'c> },
    /// `tir.call @f(…)`
    Statement { count: usize },
}

impl<'c> Parser<'_, '_, 'c> {
    pub fn check_references(&mut self) {
        for reference in std::mem::take(&mut self.references) {
            if self.errors.len() >= MOST_ERRORS {
                return;
            }
            let Reference { token, name, how } = reference;
            match self.by_name.get(&name) {
                None => {
                    let mut known: Vec<_> = self.by_name.keys().map(|name| name.as_str()).collect();
                    known.sort_unstable();
                    self.unknown(token, format!("unknown function `@{name}`"), name.as_str(), known);
                }
                Some(Some(at)) => {
                    let _: Result<(), Failed> = self.check_reference(token, self.functions[*at], how);
                }
                Some(None) => {}
            }
        }
    }

    fn check_reference(&mut self, token: Token, function: AnyFunction<'c>, how: Use<'c>) -> Result<(), Failed> {
        let name = function.name();
        let wanted = function.params().len();
        let count = match how {
            Use::Entry => return Ok(()),
            Use::Symbol(written) => {
                let params: Vec<_> = function.params().iter().map(|p| p.ty()).collect();
                let result = match function {
                    AnyFunction::Hir(f) => f.return_type,
                    AnyFunction::Tir(_) => self.cx.unit(),
                };
                let ty = self.cx.callable(&params, result);
                return self.same_type(token, &format!("`@{name}` has type"), ty, written);
            }
            Use::Call { count, ty } => {
                let AnyFunction::Hir(f) = function else {
                    return Err(self.error_at(token, format!("`@{name}` is no HIR function")));
                };
                if ty != f.return_type && ty != f.body.ty() {
                    self.same_type(token, &format!("`@{name}` returns"), f.return_type, ty)?;
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
        if self.forward.is_empty() {
            return Ok(functions);
        }
        let mut callees = vec![Vec::new(); functions.len()];
        for (caller, name) in &self.calls {
            if let Some(Some(at)) = self.by_name.get(name) {
                callees[*caller].push(*at);
            }
        }
        let order = callees_first(&callees).map_err(|at| {
            let function = functions[at];
            let message = format!("`@{}` calls itself, directly or through other functions", function.name());
            vec![Diagnostic::error(message).at(function.span())]
        })?;
        let mut linker = Linker::default();
        for at in order {
            let AnyFunction::Hir(old) = functions[at] else { continue };
            let body = rewrite_expr(self.cx, old.body, [], &mut linker).map_err(|error| vec![error])?;
            let new = if body == old.body { old } else { self.cx.function(FunctionData { body, ..*old.data() }) };
            functions[at] = AnyFunction::Hir(new);
            if new != old {
                linker.new.insert(old, new);
            }
            if let Some(placeholder) = self.forward.get(&new.name) {
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

#[derive(Default)]
struct Linker<'c> {
    new: FxHashMap<Function<'c>, Function<'c>>,
}

impl<'c> ExprRewriter<'c> for Linker<'c> {
    fn rewrite(&mut self, expr: Expr<'c>, done: &Rewritten<'_, 'c>) -> tf_core::Result<Expr<'c>> {
        if let ExprKind::Call { callee: Callee::Function(old), args } = expr.kind
            && let Some(&new) = self.new.get(&old)
        {
            let args: Vec<_> = args.iter().map(|&arg| done.get(arg)).collect();
            let kind = ExprKind::Call { callee: Callee::Function(new), args: done.cx.alloc_slice(&args) };
            return Ok(done.cx.expr(kind, expr.ty(), expr.meta));
        }
        done.rebuild(expr)
    }
}
