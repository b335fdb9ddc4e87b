//! Display of types as textual IR writes them, without aliases.

use std::fmt::{Display, Formatter, Result};

use crate::dim::{DimKind, DimOp};
use crate::Dim;

impl Display for Dim<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match *self.data() {
            DimKind::Const(value) => write!(f, "{value}"),
            DimKind::Var(var) => f.write_str(var.name.as_str()),
            DimKind::Op(op, a, b) => {
                let infix = match op {
                    DimOp::Add => "+",
                    DimOp::Sub => "-",
                    DimOp::Mul => "*",
                    DimOp::FloorDiv => "//",
                    DimOp::Mod => "%",
                    DimOp::Min => return write!(f, "min({a}, {b})"),
                    DimOp::Max => return write!(f, "max({a}, {b})"),
                };
                let part = |d: Dim<'_>, f: &mut Formatter<'_>| match d.data() {
                    DimKind::Op(op, ..) if !matches!(op, DimOp::Min | DimOp::Max) => write!(f, "({d})"),
                    _ => write!(f, "{d}"),
                };
                part(a, f)?;
                write!(f, " {infix} ")?;
                part(b, f)
            }
        }
    }
}
