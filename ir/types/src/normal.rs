//! The normal form of dims.
//!
//! An expression becomes a linear combination of *atoms* (variables, opaque products, floors) and is built back from
//! it. Shared sub-expressions are visited once. What lies outside the quasi-affine subset is left unchanged.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::dim::{DimKind, DimOp, DimVar};
use crate::{Dim, Symbol, TypeContext};

/// `sum(coefficient * atom) + constant`; atoms are distinct, coefficients are not zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Linear<'c> {
    pub(crate) terms: Vec<(Dim<'c>, i128)>,
    pub(crate) constant: i128,
}

/// Terms that are looked for one by one.
const FEW_TERMS: usize = 8;

/// Coefficients stay far inside `i128`, so that sums of a few cannot overflow.
fn bounded(value: Option<i128>) -> Option<i128> {
    value.filter(|v| v.unsigned_abs() < 1 << 100)
}

impl<'c> Linear<'c> {
    fn constant(value: i128) -> Self {
        Self { terms: Vec::new(), constant: value }
    }

    fn atom(atom: Dim<'c>) -> Self {
        Self { terms: vec![(atom, 1)], constant: 0 }
    }

    fn as_constant(&self) -> Option<i128> {
        self.terms.is_empty().then_some(self.constant)
    }

    fn add_term(&mut self, atom: Dim<'c>, coefficient: i128) -> Option<()> {
        match self.terms.iter().position(|t| t.0 == atom) {
            Some(at) => {
                self.terms[at].1 = bounded(self.terms[at].1.checked_add(coefficient))?;
                if self.terms[at].1 == 0 {
                    self.terms.remove(at);
                }
            }
            None if coefficient != 0 => self.terms.push((atom, coefficient)),
            None => {}
        }
        Some(())
    }

    fn add_scaled(&mut self, other: &Self, factor: i128) -> Option<()> {
        if self.terms.len().min(other.terms.len()) < FEW_TERMS {
            for &(atom, coefficient) in &other.terms {
                self.add_term(atom, bounded(coefficient.checked_mul(factor))?)?;
            }
        } else {
            self.merge(other, factor)?;
        }
        self.constant = bounded(self.constant.checked_add(bounded(other.constant.checked_mul(factor))?))?;
        Some(())
    }

    /// Adds the terms of another sum; the terms are found by a table, since both are long.
    fn merge(&mut self, other: &Self, factor: i128) -> Option<()> {
        let known: FxHashMap<Dim<'c>, usize> = self.terms.iter().enumerate().map(|(at, term)| (term.0, at)).collect();
        for &(atom, coefficient) in &other.terms {
            let coefficient = bounded(coefficient.checked_mul(factor))?;
            match known.get(&atom) {
                Some(&at) => self.terms[at].1 = bounded(self.terms[at].1.checked_add(coefficient))?,
                None => self.terms.push((atom, coefficient)),
            }
        }
        self.terms.retain(|term| term.1 != 0);
        Some(())
    }

    /// Adds a term whose atom is in no other one.
    fn push(&mut self, atom: Dim<'c>, coefficient: i128) {
        if coefficient != 0 {
            self.terms.push((atom, coefficient));
        }
    }

    fn scaled(&self, factor: i128) -> Option<Self> {
        let mut out = Self::default();
        out.add_scaled(self, factor)?;
        Some(out)
    }
}

/// Quotient and remainder with the remainder in `(-d/2, d/2]`.
fn balanced(value: i128, d: i128) -> (i128, i128) {
    let mut rest = value.rem_euclid(d);
    if 2 * rest > d {
        rest -= d;
    }
    ((value - rest) / d, rest)
}

fn gcd(mut a: i128, mut b: i128) -> i128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.abs()
}

/// Converts one expression; every `None` means "outside the subset".
pub(crate) struct Normalizer<'a, 'c> {
    cx: &'a TypeContext<'c>,
    /// Position of each variable by first appearance.
    order: FxHashMap<Dim<'c>, usize>,
    /// Numerator and denominator of each floor atom.
    pub(crate) floors: FxHashMap<Dim<'c>, (Linear<'c>, i128)>,
    /// Position of the last variable below each floor atom, and the number of floors before it.
    last: FxHashMap<Dim<'c>, (usize, usize)>,
}

impl<'a, 'c> Normalizer<'a, 'c> {
    pub(crate) fn new(cx: &'a TypeContext<'c>) -> Self {
        Self { cx, order: FxHashMap::default(), floors: FxHashMap::default(), last: FxHashMap::default() }
    }

    /// The linear form of `root`.
    pub(crate) fn linear(&mut self, root: Dim<'c>) -> Option<Linear<'c>> {
        self.number_variables(root)?;
        self.convert(root)
    }

    /// Numbers the variables left to right; refuses one name with two ranges.
    fn number_variables(&mut self, root: Dim<'c>) -> Option<()> {
        let constant = constant_nodes(root)?;
        let mut seen = FxHashSet::default();
        let mut stack = vec![root];
        while let Some(dim) = stack.pop() {
            if !seen.insert(dim) {
                continue;
            }
            match *dim.data() {
                DimKind::Const(_) => {}
                DimKind::Var(_) => _ = self.position(dim),
                // A product of two non-constants is one variable.
                DimKind::Op(DimOp::Mul, a, b) if !constant[&a] && !constant[&b] => _ = self.position(dim),
                DimKind::Op(_, a, b) => stack.extend([b, a]),
            }
        }
        Some(())
    }

    fn position(&mut self, variable: Dim<'c>) -> usize {
        let next = self.order.len();
        *self.order.entry(variable).or_insert(next)
    }

    fn convert(&mut self, root: Dim<'c>) -> Option<Linear<'c>> {
        // The form of an operand is changed in place where nothing else needs it, so that a long sum is no sum of copies.
        let mut uses = self.uses(root);
        let mut done: FxHashMap<Dim<'c>, Linear<'c>> = FxHashMap::default();
        let mut stack = vec![(root, false)];
        while let Some((dim, operands_done)) = stack.pop() {
            if done.contains_key(&dim) {
                continue;
            }
            let linear = match *dim.data() {
                DimKind::Const(value) => Linear::constant(value.into()),
                DimKind::Var(_) => Linear::atom(dim),
                DimKind::Op(_, a, b) if !operands_done => {
                    stack.extend([(dim, true), (b, false), (a, false)]);
                    continue;
                }
                DimKind::Op(op, a, b) => {
                    let mut operand = |of: Dim<'c>| {
                        let left = uses.get_mut(&of)?;
                        *left -= 1;
                        if *left == 0 { done.remove(&of) } else { done.get(&of).cloned() }
                    };
                    let (lhs, rhs) = (operand(a)?, operand(b)?);
                    self.combine(dim, op, lhs, rhs)?
                }
            };
            done.insert(dim, linear);
        }
        done.remove(&root)
    }

    /// How often the dims below `root` are operands of others.
    fn uses(&self, root: Dim<'c>) -> FxHashMap<Dim<'c>, usize> {
        let mut uses = FxHashMap::default();
        let mut stack = vec![root];
        while let Some(dim) = stack.pop() {
            let DimKind::Op(_, a, b) = *dim.data() else { continue };
            for operand in [a, b] {
                let count = uses.entry(operand).or_insert(0);
                *count += 1;
                if *count == 1 {
                    stack.push(operand);
                }
            }
        }
        uses
    }

    fn combine(&mut self, whole: Dim<'c>, op: DimOp, lhs: Linear<'c>, rhs: Linear<'c>) -> Option<Linear<'c>> {
        let mut out = lhs;
        match op {
            DimOp::Add => out.add_scaled(&rhs, 1)?,
            DimOp::Sub => out.add_scaled(&rhs, -1)?,
            DimOp::Mul => match (out.as_constant(), rhs.as_constant()) {
                (_, Some(factor)) => out = out.scaled(factor)?,
                (Some(factor), _) => out = rhs.scaled(factor)?,
                _ => out = Linear::atom(whole),
            },
            DimOp::FloorDiv => out = self.floor_by(&out, &rhs)?,
            DimOp::Mod => {
                let quotient = self.floor_by(&out, &rhs)?;
                out.add_scaled(&quotient, rhs.as_constant()?.checked_neg()?)?;
            }
            DimOp::Min | DimOp::Max => {
                let mut difference = out.clone();
                difference.add_scaled(&rhs, -1)?;
                let lhs_greater = if self.never_negative(&difference)? {
                    true
                } else if self.never_negative(&difference.scaled(-1)?)? {
                    false
                } else {
                    return None;
                };
                if lhs_greater != (op == DimOp::Max) {
                    out = rhs;
                }
            }
        }
        Some(out)
    }

    fn floor_by(&mut self, lhs: &Linear<'c>, rhs: &Linear<'c>) -> Option<Linear<'c>> {
        let divisor = rhs.as_constant()?;
        if let Some(value) = lhs.as_constant().filter(|_| divisor < 0) {
            return Some(Linear::constant((-value).div_euclid(-divisor)));
        }
        if divisor > 0 { self.floor(lhs, divisor) } else { None }
    }

    /// `e // d` with `d > 0`.
    fn floor(&mut self, e: &Linear<'c>, d: i128) -> Option<Linear<'c>> {
        let (mut out, mut numerator) = (Linear::default(), Linear::default());
        for &(atom, coefficient) in &e.terms {
            let (quotient, rest) = balanced(coefficient, d);
            out.push(atom, quotient);
            numerator.push(atom, rest);
        }
        let (quotient, rest) = balanced(e.constant, d);
        out.constant = quotient;
        if numerator.terms.is_empty() {
            out.constant += rest.div_euclid(d);
            return Some(out);
        }
        let common = numerator.terms.iter().fold(gcd(rest, d), |g, t| gcd(g, t.1));
        numerator.constant = rest / common;
        numerator.terms.iter_mut().for_each(|t| t.1 /= common);
        let d = d / common;
        if let [(atom, 1)] = numerator.terms[..]
            && let Some((inner, a)) = self.floors.get(&atom).cloned()
        {
            let mut merged = inner;
            merged.constant = bounded(merged.constant.checked_add(a.checked_mul(numerator.constant)?))?;
            let floor = self.floor(&merged, bounded(a.checked_mul(d))?)?;
            out.add_scaled(&floor, 1)?;
            return Some(out);
        }
        let top = self.build(&numerator)?;
        let atom = self.cx.dim_op(DimOp::FloorDiv, top, self.cx.dim(i64::try_from(d).ok()?));
        let last = numerator.terms.iter().map(|t| self.last_variable(t.0)).max().unwrap_or(0);
        let number = self.last.len();
        self.last.entry(atom).or_insert((last, number));
        self.floors.insert(atom, (numerator, d));
        out.add_term(atom, 1)?;
        Some(out)
    }

    fn last_variable(&mut self, atom: Dim<'c>) -> usize {
        match self.last.get(&atom) {
            Some(&(last, _)) => last,
            None => self.position(atom),
        }
    }

    /// Whether the value is `>= 0` for all integer values of its variables; `None` on overflow.
    fn never_negative(&self, value: &Linear<'c>) -> Option<bool> {
        // Replace each floor by its rational bound `e/d` or `(e - (d-1))/d`, over one common denominator.
        let (mut bound, mut denominator) = (value.clone(), 1i128);
        while let Some(at) = bound.terms.iter().position(|t| self.floors.contains_key(&t.0)) {
            let (atom, coefficient) = bound.terms.remove(at);
            let (numerator, d) = &self.floors[&atom];
            bound = bound.scaled(*d)?;
            denominator = denominator.checked_mul(*d)?;
            bound.add_scaled(numerator, coefficient)?;
            if coefficient > 0 {
                bound.constant = bound.constant.checked_sub(coefficient.checked_mul(d - 1)?)?;
            }
        }
        Some(bound.terms.is_empty() && bound.constant > -denominator)
    }

    /// The dim of a linear form.
    pub(crate) fn build(&mut self, linear: &Linear<'c>) -> Option<Dim<'c>> {
        let (mut floors, mut terms): (Vec<_>, Vec<_>) =
            linear.terms.iter().copied().partition(|t| self.floors.contains_key(&t.0));
        terms.sort_by_key(|t| self.position(t.0));
        floors.sort_by_cached_key(|t| self.floor_key(t.0));
        let mut sum: Option<Dim<'c>> = None;
        for (atom, coefficient) in terms.into_iter().chain(floors) {
            let coefficient = i64::try_from(coefficient).ok()?;
            sum = Some(match sum {
                None if coefficient == -1 => self.cx.dim_op(DimOp::Sub, self.cx.dim(0), atom),
                None => self.times(coefficient, atom),
                Some(sum) if coefficient > 0 => self.cx.dim_op(DimOp::Add, sum, self.times(coefficient, atom)),
                Some(sum) => self.cx.dim_op(DimOp::Sub, sum, self.times(coefficient.checked_neg()?, atom)),
            });
        }
        let constant = i64::try_from(linear.constant).ok()?;
        Some(match sum {
            None => self.cx.dim(constant),
            Some(sum) if constant == 0 => sum,
            Some(sum) if constant > 0 => self.cx.dim_op(DimOp::Add, sum, self.cx.dim(constant)),
            Some(sum) => self.cx.dim_op(DimOp::Sub, sum, self.cx.dim(constant.checked_neg()?)),
        })
    }

    fn times(&self, coefficient: i64, atom: Dim<'c>) -> Dim<'c> {
        if coefficient == 1 { atom } else { self.cx.dim_op(DimOp::Mul, self.cx.dim(coefficient), atom) }
    }

    /// Last variable, denominator, constant, then coefficients by variable; first come breaks what ties remain.
    fn floor_key(&self, atom: Dim<'c>) -> (usize, i128, i128, Vec<i128>, usize) {
        let (last, number) = self.last[&atom];
        let (numerator, d) = &self.floors[&atom];
        let mut coefficients = vec![0; last + 1];
        for &(variable, coefficient) in numerator.terms.iter().filter(|t| !self.floors.contains_key(&t.0)) {
            coefficients[self.order[&variable]] = coefficient;
        }
        (last, *d, numerator.constant, coefficients, number)
    }
}

/// For every node below `root`: whether it has no variable. `None`: one name with two ranges.
fn constant_nodes<'c>(root: Dim<'c>) -> Option<FxHashMap<Dim<'c>, bool>> {
    let mut constant: FxHashMap<Dim<'c>, bool> = FxHashMap::default();
    let mut variables: FxHashMap<Symbol<'c>, DimVar<'c>> = FxHashMap::default();
    let mut stack = vec![(root, false)];
    while let Some((dim, operands_done)) = stack.pop() {
        if constant.contains_key(&dim) {
            continue;
        }
        let is_constant = match *dim.data() {
            DimKind::Const(_) => true,
            DimKind::Var(var) => {
                if *variables.entry(var.name).or_insert(var) != var {
                    return None;
                }
                false
            }
            DimKind::Op(_, a, b) if !operands_done => {
                stack.extend([(dim, true), (b, false), (a, false)]);
                continue;
            }
            DimKind::Op(_, a, b) => constant[&a] && constant[&b],
        };
        constant.insert(dim, is_constant);
    }
    Some(constant)
}

impl<'c> TypeContext<'c> {
    /// The normal form of a dim. Two dims count as equal iff their normal forms are the same handle.
    pub fn simplify(&self, dim: Dim<'c>) -> Dim<'c> {
        if !dim.is_op() {
            return dim;
        }
        if let Some(&normal) = self.normal_forms.borrow().get(&dim) {
            return normal;
        }
        // Sorting floors can change which variable appears first; a few rounds reach the fixed point.
        let mut current = dim;
        for _ in 0..8 {
            let mut normalizer = Normalizer::new(self);
            let next = normalizer.linear(current).and_then(|l| normalizer.build(&l)).unwrap_or(current);
            if next == current {
                break;
            }
            current = next;
        }
        self.normal_forms.borrow_mut().extend([(dim, current), (current, current)]);
        current
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn long_sums_add_up_as_short_ones_do() {
        let arena = crate::Arena::new();
        let cx = &crate::TypeContext::new(&arena);
        let variable = |at: usize| cx.dim_var(crate::DimVar { name: cx.symbol(&format!("v{at}")), lo: 0, hi: 9 });
        let variables: Vec<_> = (0..40).map(variable).collect();
        let sum = |range: std::ops::Range<usize>| {
            let mut sum = super::Linear::constant(3);
            range.for_each(|at| sum.push(variables[at], at as i128 - 12));
            sum
        };
        for (mine, theirs, factor) in [(0..30, 10..40, 1), (0..30, 0..30, -1), (5..25, 0..40, 7), (0..9, 20..40, 0)] {
            let (mut merged, mut added) = (sum(mine.clone()), sum(mine));
            let other = sum(theirs);
            merged.merge(&other, factor).unwrap();
            other.terms.iter().for_each(|term| added.add_term(term.0, term.1 * factor).unwrap());
            assert_eq!(merged, added);
        }
    }
}
