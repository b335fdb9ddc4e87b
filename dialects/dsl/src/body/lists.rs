//! Compile-time lists.

use ruff_python_ast as ast;
use tf_core::Span;

use crate::names::Builtin;
use crate::parser::{Binding, BodyFrame, Frame, Parser};
use crate::refusal::{Refusal, Res};
use crate::value::Value;

/// Elements of one comprehension.
const ELEMENTS: i64 = 65_536;
/// Elements of all comprehensions of a function.
const UNROLLED: usize = 1 << 17;

impl<'c> Parser<'_, 'c> {
    /// `[expr for name in sequence]`, unrolled.
    pub(crate) fn comprehension(&mut self, list: &ast::ExprListComp, span: Span) -> Res<Value<'c>> {
        let values = match self.body.is_some() {
            true => self.unrolled(&list.elt, &list.generators, span)?,
            false => self.elements(&list.elt, &list.generators, span)?,
        };
        Ok(self.heap.list(values))
    }

    /// The elements of a comprehension in a body, which has one clause, one name and no condition.
    pub(crate) fn unrolled(
        &mut self,
        element: &ast::Expr,
        clauses: &[ast::Comprehension],
        span: Span,
    ) -> Res<Vec<Value<'c>>> {
        let [clause] = clauses else { return Err(Refusal::wrong(span, "a comprehension has one `for` clause")) };
        if !clause.ifs.is_empty() {
            return Err(Refusal::wrong(self.span(clause), "a comprehension has no `if`"));
        }
        let ast::Expr::Name(target) = &clause.target else {
            let message = "the target of a comprehension is one name";
            return Err(Refusal::wrong(self.span(&clause.target), message));
        };
        let name = self.cx.symbol(target.id.as_str());
        let items = self.sequence(&clause.iter)?;
        self.count_elements(items.len(), span)?;
        let mut values = Vec::with_capacity(items.len());
        for item in items {
            self.push(BodyFrame { names: Frame::from_iter([(name, Binding::Value(item))]), is_mesh: false });
            let value = self.eval(element, None);
            drop(self.pop());
            values.push(value?);
        }
        Ok(values)
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

    /// What a comprehension walks: `range(...)` of integers, or a compile-time tuple or list.
    fn sequence(&mut self, iter: &ast::Expr) -> Res<Vec<Value<'c>>> {
        let span = self.span(iter);
        let ast::Expr::Call(call) = iter else {
            let value = self.eval(iter, None)?;
            return value.as_sequence().map(|items| items.to_vec()).ok_or_else(|| {
                Refusal::wrong(span, format!("a comprehension walks a sequence, found {}", value.describe()))
            });
        };
        let callee = self.text(&*call.func);
        if !self.is_builtin(&callee, Builtin::Range) {
            let message = format!("a comprehension walks `range(...)` or a sequence; `{callee}` is not called");
            return Err(Refusal::wrong(span, message));
        }
        self.range(call)
    }

    /// The integers of `range(...)`.
    fn range(&mut self, call: &ast::ExprCall) -> Res<Vec<Value<'c>>> {
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
