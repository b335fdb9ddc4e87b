//! Compile-time lists.

use std::rc::Rc;

use ruff_python_ast as ast;
use tf_core::Span;

use crate::names::Builtin;
use crate::parser::{Binding, BodyFrame, Frame, Parser, Scope};
use crate::refusal::{Refusal, Res};
use crate::statics::Dict;
use crate::value::Value;

/// Elements of one comprehension.
const ELEMENTS: i64 = 65_536;
/// Elements of all comprehensions of a function.
const UNROLLED: usize = 1 << 17;

impl<'c> Parser<'_, 'c> {
    /// `[expr for name in sequence]`, unrolled.
    pub(crate) fn comprehension(&mut self, list: &ast::ExprListComp, span: Span) -> Res<Value<'c>> {
        let values = self.elements(&list.elt, &list.generators, span)?;
        Value::list(values).ok_or_else(|| Refusal::wrong(span, "lists are nested too deep"))
    }

    /// The elements of a comprehension. Inside functions it has one clause, one name and no condition.
    pub(crate) fn elements(
        &mut self,
        element: &ast::Expr,
        clauses: &[ast::Comprehension],
        span: Span,
    ) -> Res<Vec<Value<'c>>> {
        if self.body.is_some() {
            let [clause] = clauses else { return Err(Refusal::wrong(span, "a comprehension has one `for` clause")) };
            if !clause.ifs.is_empty() {
                return Err(Refusal::wrong(self.span(clause), "a comprehension has no `if`"));
            }
            if !matches!(clause.target, ast::Expr::Name(_)) {
                let message = "the target of a comprehension is one name";
                return Err(Refusal::wrong(self.span(&clause.target), message));
            }
        }
        let mut values = Vec::new();
        self.each(clauses, span, &mut |p| {
            p.step(1, span)?;
            values.push(p.eval(element, None)?);
            Ok(())
        })?;
        Ok(values)
    }

    /// `{key: value for …}` at file level.
    pub(crate) fn dict_comprehension(&mut self, dict: &ast::ExprDictComp, span: Span) -> Res<Value<'c>> {
        let mut items = Dict::default();
        let Some(key) = &dict.key else { return Err(Refusal::unread(span, "an unpacked dict is not read")) };
        self.each(&dict.generators, span, &mut |p| {
            let (at, key) = (p.span(&**key), p.eval(key, None)?);
            let value = p.eval(&dict.value, None)?;
            put(&mut items, key, value, at)
        })?;
        Ok(Value::Dict(Rc::new(items)))
    }

    /// `{key: value}` at file level.
    pub(crate) fn dict(&mut self, dict: &ast::ExprDict) -> Res<Value<'c>> {
        let mut items = Dict::default();
        for item in &dict.items {
            let value = self.eval(&item.value, None)?;
            match (&item.key, value) {
                (Some(key), value) => {
                    let (at, key) = (self.span(key), self.eval(key, None)?);
                    put(&mut items, key, value, at)?;
                }
                (None, Value::Dict(other)) => {
                    let at = self.span(&item.value);
                    other
                        .items()
                        .iter()
                        .try_for_each(|(key, value)| put(&mut items, key.clone(), value.clone(), at))?;
                }
                (None, other) => {
                    let message = format!("only a dict is unpacked into a dict, found {}", other.describe());
                    return Err(Refusal::unread(self.span(&item.value), message));
                }
            }
        }
        Ok(Value::Dict(Rc::new(items)))
    }

    /// Runs `f` for every combination of the clauses' elements.
    fn each(&mut self, clauses: &[ast::Comprehension], span: Span, f: &mut dyn FnMut(&mut Self) -> Res<()>) -> Res<()> {
        let Some((clause, rest)) = clauses.split_first() else { return f(self) };
        let items = self.sequence(&clause.iter)?;
        self.count_elements(items.len(), span)?;
        for item in items {
            let in_body = self.body.is_some();
            match in_body {
                true => self.push(BodyFrame { names: Frame::default(), is_mesh: false }),
                false => self.scopes.push(Scope::default()),
            }
            let mut run = || {
                self.bind_target(&clause.target, &item)?;
                for condition in &clause.ifs {
                    if !self.truth(condition)? {
                        return Ok(());
                    }
                }
                self.each(rest, span, f)
            };
            let result = run();
            match in_body {
                true => drop(self.pop()),
                false => drop(self.scopes.pop()),
            }
            result?;
        }
        Ok(())
    }

    /// Bounds what comprehensions and loops over constants make.
    pub(crate) fn count_elements(&mut self, count: usize, span: Span) -> Res<()> {
        let Some(body) = &mut self.body else { return self.step(count, span) };
        let total = &mut body.unrolled;
        *total = total.saturating_add(count);
        if *total > UNROLLED {
            let message = format!("the comprehensions of the function have more than {UNROLLED} elements");
            return Err(Refusal::wrong(span, message));
        }
        Ok(())
    }

    /// Binds a name, or several to the items of a sequence.
    pub(crate) fn bind_target(&mut self, target: &ast::Expr, value: &Value<'c>) -> Res<()> {
        match target {
            ast::Expr::Name(name) => {
                self.bind(self.cx.symbol(name.id.as_str()), Binding::Value(value.clone()));
                Ok(())
            }
            _ if self.body.is_none() => self.assign_constant(target, value.clone()),
            other => Err(Refusal::unread(self.span(other), "the target is no name")),
        }
    }

    /// What a comprehension walks: `range(...)` of integers, or a compile-time tuple or list.
    pub(crate) fn sequence(&mut self, iter: &ast::Expr) -> Res<Vec<Value<'c>>> {
        let span = self.span(iter);
        let is_range = match iter {
            ast::Expr::Call(call) => self.is_builtin(&self.text(&*call.func), Builtin::Range),
            _ => false,
        };
        let call = match iter {
            ast::Expr::Call(call) if is_range || self.body.is_some() => Some(call),
            _ => None,
        };
        let Some(call) = call else {
            if let (ast::Expr::Generator(generator), None) = (iter, &self.body) {
                return self.elements(&generator.elt, &generator.generators, span);
            }
            let value = self.eval(iter, None)?;
            return match value.as_sequence() {
                Some(items) => Ok(items.to_vec()),
                None if self.body.is_none() => self.items_of(&value, span),
                None => {
                    Err(Refusal::wrong(span, format!("a comprehension walks a sequence, found {}", value.describe())))
                }
            };
        };
        let callee = self.text(&*call.func);
        if !is_range {
            let message = format!("a comprehension walks `range(...)` or a sequence; `{callee}` is not called");
            return Err(Refusal::wrong(span, message));
        }
        self.range(call)
    }

    /// The integers of `range(...)`.
    pub(crate) fn range(&mut self, call: &ast::ExprCall) -> Res<Vec<Value<'c>>> {
        let span = self.span(call);
        let bounds = self.loop_bounds(call, "range", 3)?;
        let ints: Option<Vec<i64>> = bounds.iter().map(|d| d.as_const()).collect();
        let (start, stop, step) = match ints.as_deref() {
            Some(&[stop]) => (0, stop, 1),
            Some(&[start, stop]) => (start, stop, 1),
            Some(&[start, stop, step]) if step != 0 => (start, stop, step),
            _ => {
                return Err(Refusal::wrong(
                    span,
                    "the range of a comprehension has integer bounds and a step other than 0",
                ));
            }
        };
        let distance = i128::from(stop) - i128::from(start);
        let step_wide = i128::from(step);
        let count = ((distance + step_wide - step_wide.signum()) / step_wide).max(0);
        if count > i128::from(ELEMENTS) {
            return Err(Refusal::wrong(
                span,
                format!("a comprehension has at most {ELEMENTS} elements, found {count}"),
            ));
        }
        Ok((0..count).map(|i| Value::Int(start.wrapping_add((i as i64).wrapping_mul(step)))).collect())
    }

    pub(crate) fn push(&mut self, frame: BodyFrame<'c>) {
        if let Some(body) = &mut self.body {
            body.frames.push(frame);
        }
    }

    pub(crate) fn pop(&mut self) -> Option<BodyFrame<'c>> {
        self.body.as_mut().and_then(|body| body.frames.pop())
    }
}

/// Sets an item of a dict.
fn put<'c>(dict: &mut Dict<'c>, key: Value<'c>, value: Value<'c>, at: Span) -> Res<()> {
    dict.put(key, value).map_err(|why| Refusal::unread(at, why))
}
