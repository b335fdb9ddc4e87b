//! Comprehensions and generator expressions outside bodies.

use std::rc::Rc;

use ruff_python_ast as ast;
use ruff_text_size::Ranged;
use tf_core::Span;

use super::{Dict, Iter, Ref};
use crate::parser::{Binding, Frame, Kind, Names, Parser, Scope};
use crate::refusal::{Refusal, Res};
use crate::value::Value;

/// A generator expression that is walked.
pub(crate) struct Generator<'c> {
    code: Rc<ast::ExprGenerator>,
    /// The scopes around it, and its own.
    scopes: Vec<Scope<'c>>,
    /// An iterator for each clause that is walked.
    open: Vec<Ref<Iter<'c>>>,
}

impl<'c> Generator<'c> {
    pub(super) fn parts(&self) -> Vec<Value<'c>> {
        let values = |scope: &Scope<'c>| scope.borrow().values().filter_map(Binding::value).collect::<Vec<_>>();
        let own = self.scopes.last().map(values).unwrap_or_default().into_iter();
        own.chain(self.open.iter().map(|iter| Value::Iter(Rc::clone(iter)))).collect()
    }
}

impl<'c> Parser<'_, 'c> {
    /// The elements of a comprehension.
    pub(crate) fn elements(
        &mut self,
        element: &ast::Expr,
        clauses: &[ast::Comprehension],
        span: Span,
    ) -> Res<Vec<Value<'c>>> {
        let mut values = Vec::new();
        self.comprehend(clauses, span, &mut |p| {
            values.push(p.stored(element)?);
            Ok(())
        })?;
        Ok(values)
    }

    /// `{key: value for …}`.
    pub(super) fn dict_comprehension(&mut self, dict: &ast::ExprDictComp, span: Span) -> Res<Value<'c>> {
        let mut items = Dict::default();
        let Some(key) = &dict.key else { return Err(Refusal::unread(span, "an unpacked dict is not read")) };
        self.comprehend(&dict.generators, span, &mut |p| {
            let (at, key) = (p.span(&**key), p.eval(key, None)?);
            let value = p.stored(&dict.value)?;
            p.put(&mut items, key, value, at)
        })?;
        Ok(self.heap.dict(items))
    }

    /// `{key: value}`.
    pub(super) fn dict(&mut self, dict: &ast::ExprDict) -> Res<Value<'c>> {
        let mut items = Dict::default();
        for item in &dict.items {
            let Some(key) = &item.key else {
                let at = self.span(&item.value);
                match self.looked(&item.value)? {
                    Value::Dict(other) => {
                        let entries = other.get().entries();
                        self.step(entries.len(), at)?;
                        entries.into_iter().for_each(|(key, name, value)| items.put(key, name, value));
                    }
                    other => {
                        let message = format!("only a dict is unpacked into a dict, found {}", other.describe());
                        return Err(Refusal::unread(at, message));
                    }
                }
                continue;
            };
            let (at, key) = (self.span(key), self.eval(key, None)?);
            let value = self.stored(&item.value)?;
            self.put(&mut items, key, value, at)?;
        }
        Ok(self.heap.dict(items))
    }

    /// Runs `f` for every combination of the clauses' elements, in a scope of its own.
    fn comprehend(
        &mut self,
        clauses: &[ast::Comprehension],
        span: Span,
        f: &mut dyn FnMut(&mut Self) -> Res<()>,
    ) -> Res<()> {
        let mut open = vec![self.first_of(clauses, span)?];
        self.scopes.push(own_scope(self, clauses));
        let mut run = || {
            while self.combine(clauses, &mut open)? {
                f(self)?;
            }
            Ok(())
        };
        let result = run();
        self.scopes.pop();
        result
    }

    /// What the first clause walks, which is evaluated outside.
    fn first_of(&mut self, clauses: &[ast::Comprehension], span: Span) -> Res<Ref<Iter<'c>>> {
        let Some(first) = clauses.first() else { return Err(Refusal::unread(span, "a comprehension walks nothing")) };
        if let Some(clause) = clauses.iter().find(|clause| clause.is_async) {
            return Err(Refusal::unread(self.span(clause), "async is not executed"));
        }
        let items = self.looked(&first.iter)?;
        let at = self.span(&first.iter);
        self.iter_of(&items, at)
    }

    /// Goes to the next combination; false at the end.
    fn combine(&mut self, clauses: &[ast::Comprehension], open: &mut Vec<Ref<Iter<'c>>>) -> Res<bool> {
        loop {
            let Some(iter) = open.last().cloned() else { return Ok(false) };
            let clause = &clauses[open.len() - 1];
            let at = self.span(&clause.iter);
            let Some(item) = self.next_of(&iter, at)? else {
                open.pop();
                continue;
            };
            self.assign_target(&clause.target, item)?;
            let mut is_taken = true;
            for condition in &clause.ifs {
                is_taken = is_taken && self.truth(condition)?;
            }
            if !is_taken {
                continue;
            }
            let Some(next) = clauses.get(open.len()) else { return Ok(true) };
            let items = self.looked(&next.iter)?;
            let at = self.span(&next.iter);
            open.push(self.iter_of(&items, at)?);
        }
    }

    /// A generator expression, of which only the first sequence is evaluated at once.
    pub(super) fn generator(&mut self, generator: &ast::ExprGenerator, span: Span) -> Res<Value<'c>> {
        let open = vec![self.first_of(&generator.generators, span)?];
        let code = self.generators.entry(generator.range()).or_insert_with(|| Rc::new(generator.clone()));
        let code = Rc::clone(code);
        let own = own_scope(self, &generator.generators);
        let scopes = self.scopes.iter().cloned().chain([own]).collect();
        Ok(Value::Iter(self.heap.iter(Iter::Generator(Box::new(Generator { code, scopes, open })))))
    }

    pub(super) fn generate(&mut self, generator: &mut Generator<'c>, span: Span) -> Res<Option<Value<'c>>> {
        let code = Rc::clone(&generator.code);
        std::mem::swap(&mut self.scopes, &mut generator.scopes);
        let result = match self.combine(&code.generators, &mut generator.open) {
            Ok(true) => self.stored(&code.elt).map(Some),
            Ok(false) => Ok(None),
            Err(refusal) => Err(refusal),
        };
        std::mem::swap(&mut self.scopes, &mut generator.scopes);
        result.map_err(|refusal| refusal.within_call(span))
    }
}

/// The scope of a comprehension, whose names have no values yet.
fn own_scope<'c>(parser: &Parser<'_, 'c>, clauses: &[ast::Comprehension]) -> Scope<'c> {
    let mut names = Vec::new();
    clauses.iter().for_each(|clause| super::bound::target_names(&clause.target, &mut names));
    let unset = |name: &str| (parser.cx.symbol(name), Binding::unset(name));
    Names::scope(names.into_iter().map(unset).collect::<Frame<'c>>(), Kind::Comprehension)
}
