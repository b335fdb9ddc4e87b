//! Dims: `(#S + 7) floordiv 8`.

use std::fmt::Write;

use tf_types::{Dim, DimKind, DimOp};

use super::types::TypeWriter;
use crate::syntax::precedence;

enum Piece<'c> {
    Text(&'static str),
    /// A dim that needs parentheses unless it binds at least as tightly as that.
    Dim(Dim<'c>, u8),
}

impl<'c> TypeWriter<'c> {
    /// Not recursive: a raw sum may be as long as the source line it came from.
    pub fn write_dim(&mut self, out: &mut String, dim: Dim<'c>) {
        if let Some(value) = dim.as_const() {
            let _ = write!(out, "{value}");
            return;
        }
        let mut stack = vec![Piece::Dim(dim, 0)];
        while let Some(piece) = stack.pop() {
            let (dim, least) = match piece {
                Piece::Text(text) => {
                    out.push_str(text);
                    continue;
                }
                Piece::Dim(dim, least) => (dim, least),
            };
            match *dim.data() {
                DimKind::Const(value) => {
                    let _ = write!(out, "{value}");
                }
                DimKind::Var(var) => self.write_dim_var(out, var),
                DimKind::Op(op, a, b) => {
                    let Some(binds) = precedence(op) else {
                        out.push_str(if op == DimOp::Min { "min(" } else { "max(" });
                        stack.extend([Piece::Text(")"), Piece::Dim(b, 0), Piece::Text(", "), Piece::Dim(a, 0)]);
                        continue;
                    };
                    if binds < least {
                        out.push('(');
                        stack.push(Piece::Text(")"));
                    }
                    stack.extend([Piece::Dim(b, binds + 1), Piece::Text(infix(op)), Piece::Dim(a, binds)]);
                }
            }
        }
    }

    /// `(4, #S)`.
    pub fn write_dims(&mut self, out: &mut String, dims: &[Dim<'c>], brackets: [char; 2]) {
        out.push(brackets[0]);
        for (at, &dim) in dims.iter().enumerate() {
            if at > 0 {
                out.push_str(", ");
            }
            self.write_dim(out, dim);
        }
        out.push(brackets[1]);
    }
}

fn infix(op: DimOp) -> &'static str {
    match op {
        DimOp::Add => " + ",
        DimOp::Sub => " - ",
        DimOp::Mul => " * ",
        DimOp::FloorDiv => " floordiv ",
        DimOp::Mod => " mod ",
        DimOp::Min | DimOp::Max => ", ",
    }
}
