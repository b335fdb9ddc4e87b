//! Dims as Python expressions: `(S + 7) // 8`.

use std::fmt::Write;

use tf_core::{Diagnostic, Result};
use tf_types::{Dim, DimKind, DimOp};

use super::Printer;
use super::doc::Doc;

enum Piece<'c> {
    Text(&'static str),
    /// A dim that needs parentheses unless it binds at least as tightly as that.
    Dim(Dim<'c>, u8),
}

/// How an operator is written, and how tightly it binds; none for `min` and `max`.
fn infix(op: DimOp) -> Option<(&'static str, u8)> {
    Some(match op {
        DimOp::Add => (" + ", 1),
        DimOp::Sub => (" - ", 1),
        DimOp::Mul => (" * ", 2),
        DimOp::FloorDiv => (" // ", 2),
        DimOp::Mod => (" % ", 2),
        DimOp::Min | DimOp::Max => return None,
    })
}

impl<'c> Printer<'_, 'c> {
    pub(super) fn dim(&mut self, dim: Dim<'c>) -> Result<String> {
        if let Some(value) = dim.as_const() {
            return Ok(value.to_string());
        }
        if let Some(text) = self.dims.get(&dim) {
            return Ok(text.to_string());
        }
        let text = self.dim_text(dim)?;
        self.dims.insert(dim, text.as_str().into());
        Ok(text)
    }

    /// Not recursive: a sum may be as long as the line that it came from.
    fn dim_text(&mut self, root: Dim<'c>) -> Result<String> {
        if self.cx.simplify(root) != root {
            let message = format!("the DSL has dims in normal form only, found `{root}`");
            return Err(Diagnostic::error(message));
        }
        let mut out = String::new();
        let mut stack = vec![Piece::Dim(root, 0)];
        while let Some(piece) = stack.pop() {
            let (dim, least) = match piece {
                Piece::Text(text) => {
                    out.push_str(text);
                    continue;
                }
                Piece::Dim(dim, least) => (dim, least),
            };
            match *dim.data() {
                DimKind::Const(value) => drop(write!(out, "{value}")),
                DimKind::Var(var) => out.push_str(self.file.var(var)),
                DimKind::Op(op, a, b) => {
                    if a.as_const().is_some() && b.as_const().is_some() {
                        return Err(Diagnostic::error(format!("the dim `{dim}` is no number")));
                    }
                    if let (DimOp::FloorDiv | DimOp::Mod, Err(error)) = (op, self.cx.check_divisor(b)) {
                        return Err(error.into());
                    }
                    let Some((text, binds)) = infix(op) else {
                        let name = if op == DimOp::Min { "min" } else { "max" };
                        out.push_str(self.file.word(self.cx, name)?);
                        out.push('(');
                        stack.extend([Piece::Text(")"), Piece::Dim(b, 0), Piece::Text(", "), Piece::Dim(a, 0)]);
                        continue;
                    };
                    if binds < least {
                        out.push('(');
                        stack.push(Piece::Text(")"));
                    }
                    stack.extend([Piece::Dim(b, binds + 1), Piece::Text(text), Piece::Dim(a, binds)]);
                }
            }
        }
        Ok(out)
    }

    /// `(4, S)`
    pub(super) fn dims(&mut self, dims: &[Dim<'c>]) -> Result<Doc> {
        let items = dims.iter().map(|&dim| self.dim(dim).map(Doc::Text)).collect::<Result<Vec<_>>>()?;
        Ok(Doc::tuple(items))
    }
}
