//! Generator functions: run as far as they are asked for items.

use ruff_python_ast as ast;
use tf_core::Span;

use super::bound::{Node, Parts};
use super::{Args, Iter, Outcome, Ref};
use crate::factory::Code;
use crate::parser::{Binding, Parser, Scope};
use crate::refusal::{Refusal, Res};
use crate::value::Value;

/// A call of a generator function.
pub(crate) struct Routine<'c> {
    /// The function.
    place: usize,
    /// The scopes around it, and its own.
    scopes: Vec<Scope<'c>>,
    /// The suites that are open, outermost first.
    blocks: Vec<Block<'c>>,
    /// What `yield from` walks.
    inner: Option<Ref<Iter<'c>>>,
}

/// A suite that is run: which of those of the statement before the next one of the block around.
struct Block<'c> {
    suite: Suite<'c>,
    /// The next statement.
    at: usize,
}

enum Suite<'c> {
    /// Of the function, of a `with`.
    Body,
    /// Of an `if`: its body, then those of its other clauses.
    Branch(usize),
    For(Ref<Iter<'c>>),
    While,
    Else,
}

impl<'c> Routine<'c> {
    /// The values that it holds.
    pub(super) fn parts(&self) -> Vec<Value<'c>> {
        let values = |scope: &Scope<'c>| scope.borrow().values().filter_map(Binding::value).collect::<Vec<_>>();
        let own = self.scopes.last().map(values).unwrap_or_default().into_iter();
        let loops = self.blocks.iter().filter_map(|block| match &block.suite {
            Suite::For(iter) => Some(iter),
            _ => None,
        });
        let iters = loops.chain(&self.inner).map(|iter| Value::Iter(Ref::clone(iter)));
        own.chain(iters).chain([Value::Factory(self.place)]).collect()
    }
}

/// The suite of a statement.
fn suite_of<'a>(stmt: &'a ast::Stmt, suite: &Suite<'_>) -> &'a [ast::Stmt] {
    match (stmt, suite) {
        (ast::Stmt::If(branch), Suite::Branch(0)) => &branch.body,
        (ast::Stmt::If(branch), Suite::Branch(at)) => &branch.elif_else_clauses[at - 1].body,
        (ast::Stmt::For(stmt), Suite::Else) => &stmt.orelse,
        (ast::Stmt::For(stmt), _) => &stmt.body,
        (ast::Stmt::While(stmt), Suite::Else) => &stmt.orelse,
        (ast::Stmt::While(stmt), _) => &stmt.body,
        (ast::Stmt::With(stmt), _) => &stmt.body,
        _ => &[],
    }
}

/// Whether each `yield` is a statement of its own, in suites that are followed.
pub(crate) fn is_followed(def: &ast::StmtFunctionDef) -> bool {
    let mut stack: Vec<(Node<'_>, bool)> = def.body.iter().map(|stmt| (Node::Stmt(stmt), true)).collect();
    while let Some((node, is_open)) = stack.pop() {
        let is_suite = match node {
            Node::Stmt(ast::Stmt::FunctionDef(_) | ast::Stmt::ClassDef(_)) | Node::Expr(ast::Expr::Lambda(_)) => {
                continue;
            }
            Node::Expr(ast::Expr::Yield(_) | ast::Expr::YieldFrom(_)) => return false,
            Node::Stmt(ast::Stmt::Expr(own)) if is_open => {
                let value = match &*own.value {
                    ast::Expr::Yield(own) => own.value.as_deref(),
                    ast::Expr::YieldFrom(own) => Some(&*own.value),
                    other => Some(other),
                };
                stack.extend(value.map(|value| (Node::Expr(value), false)));
                continue;
            }
            Node::Stmt(ast::Stmt::If(_) | ast::Stmt::For(_) | ast::Stmt::While(_) | ast::Stmt::With(_)) => is_open,
            _ => false,
        };
        stack.extend(Parts::of(node).nodes.into_iter().map(|part| (part, is_suite)));
    }
    true
}

impl<'a, 'c> Parser<'a, 'c> {
    /// A call of a generator function, of which nothing is run yet.
    pub(crate) fn routine(&mut self, place: usize, args: Args<'c>, span: Span) -> Res<Value<'c>> {
        let factory = self.factories[place].clone();
        let scope = self.call_scope(&factory, args, span)?;
        let scopes = factory.home.iter().cloned().chain([scope]).collect();
        let blocks = vec![Block { suite: Suite::Body, at: 0 }];
        let routine = Routine { place, scopes, blocks, inner: None };
        Ok(Value::Iter(self.heap.iter(Iter::Routine(Box::new(routine)))))
    }

    /// The next item of a generator function.
    pub(super) fn resume(&mut self, routine: &mut Routine<'c>, span: Span) -> Res<Option<Value<'c>>> {
        let factory = self.factories[routine.place].clone();
        let Code::Def(def) = factory.code else { return Ok(None) };
        std::mem::swap(&mut self.scopes, &mut routine.scopes);
        let domain = std::mem::take(&mut self.domain);
        let result = self.resumed(routine, def, span);
        let domain = std::mem::replace(&mut self.domain, domain);
        self.seal(domain);
        std::mem::swap(&mut self.scopes, &mut routine.scopes);
        if let Err(refusal @ Refusal::Unread(reason)) = &result
            && refusal.raised().is_none()
        {
            let own = routine.parts();
            self.lose_run(&factory, own, &reason.message, span);
        }
        result.map_err(|refusal| refusal.within_call(span))
    }

    fn resumed(
        &mut self,
        routine: &mut Routine<'c>,
        def: &'a ast::StmtFunctionDef,
        span: Span,
    ) -> Res<Option<Value<'c>>> {
        loop {
            if let Some(inner) = &routine.inner {
                if let Some(item) = self.next_of(inner, span)? {
                    return Ok(Some(item));
                }
                routine.inner = None;
            }
            let mut suite: &'a [ast::Stmt] = &def.body;
            let mut last = None;
            for pair in routine.blocks.windows(2) {
                last = suite.get(pair[0].at - 1);
                suite = last.map_or(&[], |stmt| suite_of(stmt, &pair[1].suite));
            }
            let Some(block) = routine.blocks.last_mut() else { return Ok(None) };
            let Some(stmt) = suite.get(block.at) else {
                self.again(routine, last)?;
                continue;
            };
            block.at += 1;
            let at = self.span(stmt);
            self.step(2, at)?;
            match stmt {
                ast::Stmt::Expr(own) => match &*own.value {
                    ast::Expr::Yield(own) => {
                        return match &own.value {
                            Some(value) => self.stored(value).map(Some),
                            None => Ok(Some(Value::None)),
                        };
                    }
                    ast::Expr::YieldFrom(own) => {
                        let items = self.looked(&own.value)?;
                        routine.inner = Some(self.iter_of(&items, self.span(&*own.value))?);
                    }
                    _ => drop(self.run_statement(stmt, at)?),
                },
                ast::Stmt::If(branch) => {
                    let taken = self.branch(branch)?;
                    let bodies = branch.elif_else_clauses.iter().map(|clause| &clause.body[..]);
                    let place =
                        std::iter::once(&branch.body[..]).chain(bodies).position(|body| std::ptr::eq(body, taken));
                    routine.blocks.extend(place.map(|place| Block { suite: Suite::Branch(place), at: 0 }));
                }
                ast::Stmt::For(stmt) if !stmt.is_async => {
                    let items = self.looked(&stmt.iter)?;
                    let iter = self.iter_of(&items, self.span(&*stmt.iter))?;
                    routine.blocks.push(Block { suite: Suite::For(iter), at: stmt.body.len() });
                }
                ast::Stmt::While(stmt) => {
                    routine.blocks.push(Block { suite: Suite::While, at: stmt.body.len() });
                }
                ast::Stmt::With(with) => {
                    self.meshes(with)?;
                    routine.blocks.push(Block { suite: Suite::Body, at: 0 });
                }
                other => match self.run_statement(other, at)? {
                    Outcome::Next => {}
                    Outcome::Return(_) => routine.blocks.clear(),
                    Outcome::Continue => self.leave(routine, def, false),
                    Outcome::Break => self.leave(routine, def, true),
                },
            }
        }
    }

    /// At the end of the suite of a statement: loops go on.
    fn again(&mut self, routine: &mut Routine<'c>, stmt: Option<&'a ast::Stmt>) -> Res<()> {
        let Some(block) = routine.blocks.last_mut() else { return Ok(()) };
        let goes_on = match (&block.suite, stmt) {
            (Suite::For(iter), Some(ast::Stmt::For(stmt))) => {
                let at = self.span(&*stmt.iter);
                match self.next_of(iter, at)? {
                    Some(item) => {
                        self.assign_target(&stmt.target, item)?;
                        true
                    }
                    None => false,
                }
            }
            (Suite::While, Some(ast::Stmt::While(stmt))) => {
                self.step(1, self.span(stmt))?;
                self.truth(&stmt.test)?
            }
            _ => {
                routine.blocks.pop();
                return Ok(());
            }
        };
        if goes_on {
            block.at = 0;
        } else {
            *block = Block { suite: Suite::Else, at: 0 };
        }
        Ok(())
    }

    /// `break` and `continue`: to the loop around.
    fn leave(&self, routine: &mut Routine<'c>, def: &'a ast::StmtFunctionDef, breaks: bool) {
        while let Some(block) = routine.blocks.last() {
            if matches!(block.suite, Suite::For(_) | Suite::While) {
                break;
            }
            routine.blocks.pop();
        }
        if breaks {
            routine.blocks.pop();
            return;
        }
        let mut suite: &'a [ast::Stmt] = &def.body;
        for pair in routine.blocks.windows(2) {
            suite = suite.get(pair[0].at - 1).map_or(&[], |stmt| suite_of(stmt, &pair[1].suite));
        }
        if let Some(block) = routine.blocks.last_mut() {
            block.at = suite.len();
        }
    }
}
