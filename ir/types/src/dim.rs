//! Symbolic dimensions.

use rustc_hash::FxHashMap;

use crate::intern::interned_handle;
use crate::{Symbol, TypeContext, TypeError};

interned_handle! {
    /// An extent, stride or bound: an integer, a dim variable, or arithmetic over those.
    /// Built raw by [`crate::TypeContext::dim_op`], in normal form by `simplify`.
    Dim => DimKind
}

/// A named extent, drawn from the half-open range `[lo, hi)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DimVar<'c> {
    /// Non-empty name, unique within a signature.
    pub name: Symbol<'c>,
    /// Least value.
    pub lo: i64,
    /// One past the greatest value.
    pub hi: i64,
}

/// Arithmetic on dims; division and remainder floor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DimOp {
    /// `a + b`
    Add,
    /// `a - b`
    Sub,
    /// `a * b`
    Mul,
    /// `a // b`
    FloorDiv,
    /// `a % b`
    Mod,
    /// `min(a, b)`
    Min,
    /// `max(a, b)`
    Max,
}

/// The form of a [`Dim`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DimKind<'c> {
    /// A plain integer.
    Const(i64),
    /// A variable.
    Var(DimVar<'c>),
    /// A binary operation.
    Op(DimOp, Dim<'c>, Dim<'c>),
}

impl Dim<'_> {
    /// Whether it is arithmetic; a variable or an integer is its own normal form.
    #[must_use]
    pub fn is_op(self) -> bool {
        matches!(self.0, DimKind::Op(..))
    }

    /// The integer, if this is one.
    #[must_use]
    pub fn as_const(self) -> Option<i64> {
        match *self.0 {
            DimKind::Const(value) => Some(value),
            _ => None,
        }
    }

    /// Number of operations as it is written: a shared one counts at each of its places.
    #[must_use]
    pub fn op_count(self) -> u64 {
        let (mut counts, mut stack) = (FxHashMap::default(), vec![self]);
        while let Some(&dim) = stack.last() {
            let DimKind::Op(_, a, b) = *dim.data() else {
                counts.insert(dim, 0_u64);
                stack.pop();
                continue;
            };
            match (counts.get(&a), counts.get(&b)) {
                (Some(&a), Some(&b)) => {
                    counts.insert(dim, a.saturating_add(b).saturating_add(1));
                    stack.pop();
                }
                (left, right) => {
                    stack.extend([left.is_none().then_some(a), right.is_none().then_some(b)].into_iter().flatten())
                }
            }
        }
        counts[&self]
    }
}

impl<'c> TypeContext<'c> {
    /// A checked dim variable over `[lo, hi)`.
    ///
    /// # Errors
    /// An empty name; `lo >= hi`.
    pub fn new_dim_var(&self, name: &str, lo: i64, hi: i64) -> Result<Dim<'c>, TypeError> {
        if name.is_empty() {
            return Err(TypeError::new("a dim variable needs a name"));
        }
        if lo >= hi {
            return Err(TypeError::new(format!("dim variable `{name}` needs lo < hi, got [{lo}, {hi})"))
                .with_help("the range is half-open; a fixed size k is [k, k+1)"));
        }
        Ok(self.dim_var(DimVar { name: self.symbol(name), lo, hi }))
    }

    /// Checks what `//`, `%` and [`Self::ceildiv`] divide by: extents are shared out over one part or more.
    ///
    /// # Errors
    /// A divisor that is below 1 whatever its variables are.
    pub fn check_divisor(&self, divisor: Dim<'c>) -> Result<(), TypeError> {
        match divisor.as_const().or_else(|| self.upper_bound(divisor)) {
            Some(most) if most < 1 => Err(TypeError::new(format!("`{divisor}` divides a dim, but is below 1"))
                .with_help("dims are divided by positive integers and extents")),
            _ => Ok(()),
        }
    }

    fn normal_op(&self, op: DimOp, lhs: Dim<'c>, rhs: Dim<'c>) -> Dim<'c> {
        let folded = match (op, lhs.as_const(), rhs.as_const()) {
            (DimOp::Add, Some(a), Some(b)) => a.checked_add(b),
            (DimOp::Sub, Some(a), Some(b)) => a.checked_sub(b),
            (DimOp::Mul, Some(a), Some(b)) => a.checked_mul(b),
            (DimOp::Min, Some(a), Some(b)) => Some(a.min(b)),
            (DimOp::Max, Some(a), Some(b)) => Some(a.max(b)),
            (DimOp::FloorDiv, Some(a), Some(b)) if b > 0 => Some(a.div_euclid(b)),
            (DimOp::Mod, Some(a), Some(b)) if b > 0 => Some(a.rem_euclid(b)),
            _ => None,
        };
        match folded {
            Some(value) => self.dim(value),
            None => self.simplify(self.dim_op(op, lhs, rhs)),
        }
    }

    /// `lhs + rhs` in normal form.
    pub fn dim_add(&self, lhs: Dim<'c>, rhs: Dim<'c>) -> Dim<'c> {
        self.normal_op(DimOp::Add, lhs, rhs)
    }

    /// `lhs - rhs` in normal form.
    pub fn dim_sub(&self, lhs: Dim<'c>, rhs: Dim<'c>) -> Dim<'c> {
        self.normal_op(DimOp::Sub, lhs, rhs)
    }

    /// `lhs * rhs` in normal form.
    pub fn dim_mul(&self, lhs: Dim<'c>, rhs: Dim<'c>) -> Dim<'c> {
        self.normal_op(DimOp::Mul, lhs, rhs)
    }

    /// `lhs // rhs` in normal form.
    pub fn dim_floor_div(&self, lhs: Dim<'c>, rhs: Dim<'c>) -> Dim<'c> {
        self.normal_op(DimOp::FloorDiv, lhs, rhs)
    }

    /// `lhs % rhs` in normal form.
    pub fn dim_mod(&self, lhs: Dim<'c>, rhs: Dim<'c>) -> Dim<'c> {
        self.normal_op(DimOp::Mod, lhs, rhs)
    }

    /// `min(lhs, rhs)` in normal form.
    pub fn dim_min(&self, lhs: Dim<'c>, rhs: Dim<'c>) -> Dim<'c> {
        self.normal_op(DimOp::Min, lhs, rhs)
    }

    /// `max(lhs, rhs)` in normal form.
    pub fn dim_max(&self, lhs: Dim<'c>, rhs: Dim<'c>) -> Dim<'c> {
        self.normal_op(DimOp::Max, lhs, rhs)
    }

    /// `((lhs + rhs) - 1) // rhs` in normal form.
    pub fn ceildiv(&self, lhs: Dim<'c>, rhs: Dim<'c>) -> Dim<'c> {
        let sum = self.dim_op(DimOp::Sub, self.dim_op(DimOp::Add, lhs, rhs), self.dim(1));
        self.simplify(self.dim_op(DimOp::FloorDiv, sum, rhs))
    }

    /// The product of the dims in normal form; 1 for none.
    pub fn product(&self, dims: &[Dim<'c>]) -> Dim<'c> {
        dims.iter().fold(self.dim(1), |product, &dim| self.dim_mul(product, dim))
    }

    /// The unique slice of the normal forms of these dims.
    pub fn normal_dims(&self, dims: &[Dim<'c>]) -> &'c [Dim<'c>] {
        if !dims.iter().any(|dim| dim.is_op()) {
            return self.dims(dims);
        }
        let normal: Vec<_> = dims.iter().map(|&d| self.simplify(d)).collect();
        self.dims(&normal)
    }
}

#[cfg(test)]
mod tests {
    use crate::{Arena, TypeContext};

    #[test]
    fn variables_are_checked() {
        let arena = Arena::new();
        let cx = &TypeContext::new(&arena);
        assert_eq!(cx.new_dim_var("n", 1, 9).unwrap(), cx.new_dim_var("n", 1, 9).unwrap());
        let refusal = |name, lo, hi| cx.new_dim_var(name, lo, hi).unwrap_err().message;
        assert_eq!(refusal("n", 8, 8), "dim variable `n` needs lo < hi, got [8, 8)");
        assert_eq!(refusal("", 1, 8), "a dim variable needs a name");
    }

    #[test]
    fn operations_count_as_they_are_written() {
        let arena = Arena::new();
        let cx = &TypeContext::new(&arena);
        let n = cx.new_dim_var("n", 1, 9).unwrap();
        let power = |rounds| (0..rounds).fold(n, |power, _| cx.dim_op(crate::DimOp::Mul, power, power));
        assert_eq!([0, 1, 2, 20, 80].map(|rounds| power(rounds).op_count()), [0, 1, 3, (1 << 20) - 1, u64::MAX]);
    }

    #[test]
    fn divisors_are_positive_for_some_value_at_least() {
        let arena = Arena::new();
        let cx = &TypeContext::new(&arena);
        let (n, int) = (cx.new_dim_var("n", 1, 9).unwrap(), |value| cx.dim(value));
        for divisor in [n, int(1), cx.dim_sub(n, int(7))] {
            assert!(cx.check_divisor(divisor).is_ok(), "{divisor}");
        }
        for divisor in [int(0), int(-2), cx.dim_sub(n, int(8)), cx.dim_sub(int(0), n)] {
            let error = cx.check_divisor(divisor).unwrap_err();
            assert_eq!(error.message, format!("`{divisor}` divides a dim, but is below 1"));
        }
    }

    #[test]
    fn arithmetic_folds_and_normalises() {
        let arena = Arena::new();
        let cx = &TypeContext::new(&arena);
        let (n, int) = (cx.new_dim_var("n", 1, 9).unwrap(), |value| cx.dim(value));
        assert_eq!(cx.dim_floor_div(int(-7), int(2)), int(-4));
        assert_eq!(cx.dim_mod(int(-7), int(2)), int(1));
        assert_eq!(cx.dim_max(int(3), int(5)), int(5));
        assert_eq!(cx.dim_min(n, cx.dim_add(n, int(1))), n);
        assert_eq!(cx.dim_sub(cx.dim_add(n, int(2)), n), int(2));
        assert_eq!(cx.product(&[int(4), n, int(2)]).to_string(), "8 * n");
        assert_eq!(cx.dim_add(int(i64::MAX), int(1)).to_string(), format!("{} + 1", i64::MAX));
        assert_eq!(cx.dim_floor_div(int(1), int(0)).to_string(), "1 // 0");
        assert_eq!(cx.normal_dims(&[cx.dim_op(crate::DimOp::Mul, n, int(2))])[0].to_string(), "2 * n");
    }
}
