//! Integer expressions of addresses, with what is known of their divisibility.
//!
//! A vector access needs an address that is provably a multiple of its width, so every expression carries a divisor:
//! constants know theirs, an induction variable takes the greatest common divisor of start and step, and sums and
//! products combine those of their parts.
use crate::emit::{Builder, V};
use melior::ir::attribute::IntegerAttribute;
use rustc_hash::FxHashMap;
use tf_core::{Diagnostic, Expr, ExprKind, Literal, Result, walk};

/// `term + constant`; `divisor` divides `term` (0: there is none).
#[derive(Clone, Copy)]
pub(crate) struct Index<'a> {
    pub(crate) term: Option<V<'a>>,
    pub(crate) constant: i64,
    pub(crate) divisor: i64,
}

impl<'a> Index<'a> {
    pub(crate) const fn constant(value: i64) -> Self {
        Self { term: None, constant: value, divisor: 0 }
    }

    pub(crate) const fn of(term: V<'a>, divisor: i64) -> Self {
        Self { term: Some(term), constant: 0, divisor }
    }

    /// A number that divides the whole; 0 only for the constant 0.
    pub(crate) fn known_divisor(&self) -> i64 {
        gcd(self.divisor, self.constant)
    }

    /// The value without a term.
    fn as_constant(&self) -> Option<i64> {
        self.term.is_none().then_some(self.constant)
    }
}

pub(crate) fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i64::try_from(a).unwrap_or(1)
}

/// A divisor of a product, given divisors of the factors; 1 where it leaves the range.
fn product(a: i64, b: i64) -> i64 {
    a.checked_mul(b).unwrap_or(1)
}

/// The binary operations of dialect `dim`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arith {
    Add,
    Sub,
    Mul,
    FloorDiv,
    Mod,
    Min,
    Max,
}

impl Arith {
    fn of(name: &str) -> Option<Self> {
        Some(match name {
            "add" => Self::Add,
            "sub" => Self::Sub,
            "mul" => Self::Mul,
            "floor_div" => Self::FloorDiv,
            "mod" => Self::Mod,
            "min" => Self::Min,
            "max" => Self::Max,
            _ => return None,
        })
    }

    /// The value on integers, as dialect `dim` defines it; `None` for a zero divisor.
    fn eval(self, a: i64, b: i64) -> Option<i64> {
        Some(match self {
            Self::Add => a.wrapping_add(b),
            Self::Sub => a.wrapping_sub(b),
            Self::Mul => a.wrapping_mul(b),
            Self::FloorDiv if b != 0 => {
                let quotient = a.wrapping_div(b);
                quotient - i64::from(a.wrapping_rem(b) != 0 && (a < 0) != (b < 0))
            }
            Self::Mod if b != 0 => {
                let rest = a.wrapping_rem(b);
                if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest }
            }
            Self::FloorDiv | Self::Mod => return None,
            Self::Min => a.min(b),
            Self::Max => a.max(b),
        })
    }
}

impl<'a> Builder<'a> {
    /// An index constant.
    pub(crate) fn index(&self, value: i64) -> Result<V<'a>> {
        let r#type = self.index_type();
        self.value("arith.constant", &[], r#type, &[("value", IntegerAttribute::new(r#type, value).into())])
    }

    /// The expression as one value.
    pub(crate) fn materialize(&self, index: Index<'a>) -> Result<V<'a>> {
        match (index.term, index.constant) {
            (None, constant) => self.index(constant),
            (Some(term), 0) => Ok(term),
            (Some(term), constant) => self.binary("arith.addi", term, self.index(constant)?),
        }
    }

    pub(crate) fn add_index(&self, a: Index<'a>, b: Index<'a>) -> Result<Index<'a>> {
        let constant = a.constant.wrapping_add(b.constant);
        let term = match (a.term, b.term) {
            (Some(x), Some(y)) => Some(self.binary("arith.addi", x, y)?),
            (x, y) => x.or(y),
        };
        Ok(Index { term, constant, divisor: gcd(a.divisor, b.divisor) })
    }

    /// `index * factor`
    pub(crate) fn scale_index(&self, index: Index<'a>, factor: i64) -> Result<Index<'a>> {
        let constant = index.constant.wrapping_mul(factor);
        match (index.term, factor) {
            (None, _) | (_, 0) => Ok(Index::constant(constant)),
            (_, 1) => Ok(index),
            (Some(term), _) => {
                let term = self.binary("arith.muli", term, self.index(factor)?)?;
                Ok(Index { term: Some(term), constant, divisor: product(index.divisor, factor) })
            }
        }
    }

    /// An operation of dialect `dim`.
    pub(crate) fn arith(&self, op: Arith, a: Index<'a>, b: Index<'a>) -> Result<Index<'a>> {
        if let (Some(x), Some(y)) = (a.as_constant(), b.as_constant()) {
            let value = op.eval(x, y).ok_or_else(|| Diagnostic::error(format!("the index divides {x} by zero")))?;
            return Ok(Index::constant(value));
        }
        let (da, db) = (a.known_divisor(), b.known_divisor());
        match op {
            Arith::Add => self.add_index(a, b),
            Arith::Sub => self.add_index(a, self.scale_index(b, -1)?),
            Arith::Mul => match (a.as_constant(), b.as_constant()) {
                (_, Some(factor)) => self.scale_index(a, factor),
                (Some(factor), _) => self.scale_index(b, factor),
                _ => {
                    let value = self.binary("arith.muli", self.materialize(a)?, self.materialize(b)?)?;
                    Ok(Index::of(value, product(da, db)))
                }
            },
            Arith::Min | Arith::Max => {
                let name = if op == Arith::Min { "arith.minsi" } else { "arith.maxsi" };
                Ok(Index::of(self.binary(name, self.materialize(a)?, self.materialize(b)?)?, gcd(da, db)))
            }
            Arith::FloorDiv | Arith::Mod => self.divide(op, a, b, (da, db)),
        }
    }

    /// Truncating division corrected to the floor.
    fn divide(&self, op: Arith, a: Index<'a>, b: Index<'a>, (da, db): (i64, i64)) -> Result<Index<'a>> {
        if b.as_constant() == Some(0) {
            return Err(Diagnostic::error("the index divides by zero"));
        }
        let exact = b.as_constant().filter(|divisor| da % divisor == 0);
        if op == Arith::Mod && exact.is_some() {
            return Ok(Index::constant(0));
        }
        let (x, y) = (self.materialize(a)?, self.materialize(b)?);
        if let Some(divisor) = exact {
            return Ok(Index::of(self.binary("arith.divsi", x, y)?, (da / divisor).abs()));
        }
        let zero = self.index(0)?;
        let rest = self.binary("arith.remsi", x, y)?;
        let inexact = self.compare_index("ne", rest, zero)?;
        let apart = self.compare_index("slt", self.binary("arith.xori", rest, y)?, zero)?;
        let adjust = self.binary("arith.andi", inexact, apart)?;
        if op == Arith::Mod {
            let moved = self.binary("arith.addi", rest, y)?;
            let value = self.value("arith.select", &[adjust, moved, rest], self.index_type(), &[])?;
            return Ok(Index::of(value, gcd(da, db)));
        }
        let quotient = self.binary("arith.divsi", x, y)?;
        let lower = self.binary("arith.addi", quotient, self.index(-1)?)?;
        Ok(Index::of(self.value("arith.select", &[adjust, lower, quotient], self.index_type(), &[])?, 1))
    }

    fn compare_index(&self, predicate: &str, x: V<'a>, y: V<'a>) -> Result<V<'a>> {
        const PREDICATES: [&str; 4] = ["eq", "ne", "slt", "sle"];
        let code = PREDICATES.iter().position(|&p| p == predicate).unwrap_or(0) as i64;
        self.value("arith.cmpi", &[x, y], self.int_type(1), &[("predicate", self.i64_attr(code))])
    }
}

/// The index that an integer scalar denotes: a literal, a bound variable, or arithmetic of dialect `dim`.
///
/// # Errors
/// Any other expression; a division by zero.
pub(crate) fn scalar_index<'a, 'c>(
    builder: &Builder<'a>,
    bound: &dyn Fn(Expr<'c>) -> Option<Index<'a>>,
    root: Expr<'c>,
) -> Result<Index<'a>> {
    let mut values: FxHashMap<Expr<'c>, Index<'a>> = FxHashMap::default();
    for expr in walk::post_order(&[root]) {
        let value = match expr.kind {
            ExprKind::Constant(Literal::Int(value)) => Index::constant(value),
            ExprKind::Var { .. } => bound(expr).ok_or_else(|| {
                Diagnostic::error(format!("{} is no index that this function knows", expr.describe())).at(expr.span())
            })?,
            _ => {
                let call = expr.op_call().filter(|call| call.op.decl.name.dialect == "dim" && call.args.len() == 2);
                let known = call.and_then(|call| Some((Arith::of(call.op.decl.name.name)?, call.args)));
                let Some((op, args)) = known else {
                    let message = format!("{} cannot be part of an address", expr.describe());
                    return Err(Diagnostic::error(message).at(expr.span()).with_help("use integers and `dim` ops"));
                };
                builder.arith(op, values[&args[0]], values[&args[1]]).map_err(|error| error.at(expr.span()))?
            }
        };
        values.insert(expr, value);
    }
    Ok(values[&root])
}
