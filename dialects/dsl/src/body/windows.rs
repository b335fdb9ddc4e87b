//! Indices of the form `base + offset`, and whether windows of loops stay on their axis.

use ruff_python_ast as ast;
use ruff_python_ast::Operator;
use tf_core::{Expr, Span};
use tf_types::Dim;

use crate::parser::{Binding, Parser};
use crate::refusal::{Refusal, Res};
use crate::value::{Value, Window};

/// What an index counts from.
#[derive(Clone, Copy)]
pub(crate) enum Base<'c> {
    /// The start of the axis.
    Zero,
    /// A run-time scalar.
    Scalar(Expr<'c>),
    /// The variable of a tile loop, standing for its window.
    Window(Window<'c>),
}

/// `base + offset`.
#[derive(Clone, Copy)]
pub(crate) struct Index<'c> {
    pub(crate) base: Base<'c>,
    pub(crate) offset: Dim<'c>,
}

impl<'c> Base<'c> {
    pub(crate) fn scalar(self) -> Option<Expr<'c>> {
        match self {
            Self::Zero => None,
            Self::Scalar(expr) => Some(expr),
            Self::Window(window) => Some(window.iv),
        }
    }
}

impl<'c> Parser<'_, 'c> {
    /// Reads an index; sums and differences with compile-time offsets stay offsets.
    pub(crate) fn index(&mut self, expr: &ast::Expr) -> Res<Index<'c>> {
        let span = self.span(expr);
        let ast::Expr::BinOp(binary) = expr else { return self.plain_index(expr) };
        if !matches!(binary.op, Operator::Add | Operator::Sub) {
            return self.plain_index(expr);
        }
        let (left, right) = self.nested(span, |p| Ok((p.index(&binary.left)?, p.index(&binary.right)?)))?;
        let adds = binary.op == Operator::Add;
        let combine = |a: Dim<'c>, b: Dim<'c>| match (a.as_const(), b.as_const()) {
            (_, Some(0)) => a,
            (Some(0), _) if adds => b,
            _ if adds => self.cx.dim_add(a, b),
            _ => self.cx.dim_sub(a, b),
        };
        match (left.base, right.base) {
            (base, Base::Zero) => Ok(Index { base, offset: combine(left.offset, right.offset) }),
            (Base::Zero, base) if adds => Ok(Index { base, offset: combine(left.offset, right.offset) }),
            (Base::Window(_), _) | (_, Base::Window(_)) => {
                let name = self.window_in(expr).unwrap_or("k");
                Err(self.no_moved_window(expr, name))
            }
            (Base::Scalar(a), Base::Scalar(b)) => {
                let dtypes = [a, b].map(|scalar| scalar.ty().as_tensor().map(|tensor| tensor.dtype));
                match dtypes {
                    [Some(a), Some(b)] if a != b => {
                        let message = format!("an index is made of scalars of one dtype, found {a} and {b}");
                        let help =
                            "the variable of a loop and an extent are i64: cast the other, `tf.cast(i, dtype=\"i64\")`";
                        Err(Refusal::wrong(span, message).help(help))
                    }
                    _ => self.plain_index(expr),
                }
            }
            _ => self.plain_index(expr),
        }
    }

    /// The variable of a tile loop that arithmetic is done on.
    pub(crate) fn window_in<'x>(&self, expr: &'x ast::Expr) -> Option<&'x str> {
        let mut left = vec![expr];
        while let Some(expr) = left.pop() {
            match expr {
                ast::Expr::BinOp(binary) => left.extend([&*binary.right, &*binary.left]),
                ast::Expr::UnaryOp(unary) => left.push(&unary.operand),
                ast::Expr::Name(name) => {
                    let bound = self.binding(self.cx.symbol(name.id.as_str()));
                    if matches!(bound.as_deref(), Some(Binding::Value(Value::Window(_)))) {
                        return Some(name.id.as_str());
                    }
                }
                _ => {}
            }
        }
        None
    }

    pub(crate) fn no_moved_window(&self, expr: &ast::Expr, name: &str) -> Refusal {
        let message = format!("`{}` is no moved window", self.text(expr));
        let help = format!(
            "a tile window is moved by an integer: `{name} + 32`; others have both ends: `2 * {name} : 2 * {name} + 4`"
        );
        Refusal::wrong(self.span(expr), message).help(help)
    }

    fn plain_index(&mut self, expr: &ast::Expr) -> Res<Index<'c>> {
        let span = self.span(expr);
        let zero = self.cx.dim(0);
        let (base, offset) = match self.eval(expr, None)? {
            Value::Int(value) => (Base::Zero, self.cx.dim(value)),
            Value::Dim(dim) => (Base::Zero, dim),
            Value::Expr(scalar) => (Base::Scalar(scalar), zero),
            Value::Window(window) => (Base::Window(window), zero),
            Value::MeshAxis(mesh, axis) => (Base::Scalar(self.coordinate(mesh, axis, span)?), zero),
            other => return Err(Refusal::wrong(span, format!("an index is an integer, found {}", other.describe()))),
        };
        Ok(Index { base, offset })
    }

    /// Checks a window of `size` elements `stride` apart at `index` against a static axis, where the loop that counts
    /// the index is static too.
    pub(crate) fn check_window(
        &self,
        index: Index<'c>,
        size: Dim<'c>,
        stride: i64,
        axis: usize,
        extent: Dim<'c>,
        span: Span,
    ) -> Res<()> {
        let loops = self.body.as_ref().map_or(&[][..], |body| &body.loops);
        let open = index.base.scalar().and_then(|iv| loops.iter().find(|open| open.iv == iv));
        let domain = match (index.base, open) {
            (Base::Zero, _) => Some((0, 0)),
            (_, Some(open)) => {
                let bounds = (open.start.as_const(), open.stop.as_const(), open.step.as_const());
                let (Some(start), Some(stop), Some(step)) = bounds else { return Ok(()) };
                let (start, stop, step) = (i128::from(start), i128::from(stop), i128::from(step));
                (step > 0 && start < stop).then(|| (start, start + (stop - start - 1) / step * step))
            }
            (_, None) => None,
        };
        let (Some((first, last)), Some(offset), Some(size), Some(extent)) =
            (domain, index.offset.as_const(), size.as_const(), extent.as_const())
        else {
            return Ok(());
        };
        let (offset, size) = (i128::from(offset), i128::from(size));
        let reach = last + offset + (size - 1).max(0) * i128::from(stride) + i128::from(size > 0);
        if first + offset < 0 {
            let message = format!("the window starts at {}, before axis {axis} of extent {extent}", first + offset);
            return Err(Refusal::wrong(span, message));
        }
        if reach > i128::from(extent) {
            let message = format!("the window reaches {reach}, but axis {axis} has extent {extent}");
            return Err(
                Refusal::wrong(span, message).help("windows are not cut off: their last element must be on the axis")
            );
        }
        Ok(())
    }
}
