//! Ranges of dims over the bounds of their variables.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::dim::{DimKind, DimOp};
use crate::normal::{Linear, Normalizer};
use crate::{Dim, TypeContext};

/// Points evaluated at most to find the exact extremes of one group of atoms.
const MAX_POINTS: u128 = 1 << 14;

/// Atoms below one floor, counted with repetition.
const MAX_ATOMS: usize = 1 << 10;

/// Least and greatest value, both included.
type Interval = (i128, i128);

impl<'c> TypeContext<'c> {
    /// The half-open range `[lo, hi)` of a dim; exact for sums of floors and remainders of modest period, otherwise
    /// a bound that contains it. `None` if a divisor may be zero or negative, or a value exceeds 64 bits.
    pub fn dim_range(&self, dim: Dim<'c>) -> Option<(i64, i64)> {
        let (lo, hi) = self.intervals(dim)?;
        Some((i64::try_from(lo).ok()?, i64::try_from(hi.checked_add(1)?).ok()?))
    }

    /// The greatest value, for sizing buffers: `hi - 1` of a variable.
    pub fn upper_bound(&self, dim: Dim<'c>) -> Option<i64> {
        i64::try_from(self.intervals(dim)?.1).ok()
    }

    /// Post-order over shared nodes: the interval of each from those of its operands, and from its linear form.
    fn intervals(&self, root: Dim<'c>) -> Option<Interval> {
        let mut done: FxHashMap<Dim<'c>, Interval> = FxHashMap::default();
        // The exact form is costlier: it is for the root, and for operands of what is not linear itself.
        let mut wanted = FxHashSet::from_iter([root]);
        let mut stack = vec![(root, false)];
        while let Some((dim, operands_done)) = stack.pop() {
            if done.contains_key(&dim) {
                continue;
            }
            let interval = match *dim.data() {
                DimKind::Const(value) => (value.into(), value.into()),
                DimKind::Var(var) => (var.lo.into(), i128::from(var.hi) - 1),
                DimKind::Op(op, a, b) if !operands_done => {
                    stack.extend([(dim, true), (b, false), (a, false)]);
                    let linear = matches!(op, DimOp::Add | DimOp::Sub) || b.as_const().is_some();
                    if !linear {
                        wanted.extend([a, b]);
                    }
                    continue;
                }
                DimKind::Op(op, a, b) => {
                    let plain = combine(op, done[&a], done[&b])?;
                    match wanted.contains(&dim).then(|| self.linear_interval(dim)).flatten() {
                        Some((lo, hi)) => (plain.0.max(lo), plain.1.min(hi)),
                        None => plain,
                    }
                }
            };
            done.insert(dim, interval);
        }
        done.get(&root).copied()
    }

    /// The interval of a linear form: groups of atoms that share variables are independent of each other.
    fn linear_interval(&self, dim: Dim<'c>) -> Option<Interval> {
        let mut normalizer = Normalizer::new(self);
        let linear = normalizer.linear(dim)?;
        let mut groups: Vec<(Vec<(Dim<'c>, i128)>, Linear<'c>)> = Vec::new();
        for &(atom, coefficient) in &linear.terms {
            let mut periods = Vec::new();
            variables(&normalizer, atom, 1, &mut periods)?;
            let mut terms = Linear { terms: vec![(atom, coefficient)], constant: 0 };
            let mut at = 0;
            while at < groups.len() {
                if groups[at].0.iter().any(|(v, _)| periods.iter().any(|(w, _)| v == w)) {
                    let (more, joined) = groups.swap_remove(at);
                    for (variable, period) in more {
                        merge_period(&mut periods, variable, period)?;
                    }
                    terms.terms.extend(joined.terms);
                } else {
                    at += 1;
                }
            }
            groups.push((periods, terms));
        }
        groups.iter().try_fold((linear.constant, linear.constant), |(lo, hi), (periods, terms)| {
            let (a, b) = extremes(&normalizer, periods, terms)?;
            Some((lo.checked_add(a)?, hi.checked_add(b)?))
        })
    }
}

fn combine(op: DimOp, (a, b): Interval, (c, d): Interval) -> Option<Interval> {
    let floor = |x: i128, y: i128| x.div_euclid(y);
    Some(match op {
        DimOp::Add => (a.checked_add(c)?, b.checked_add(d)?),
        DimOp::Sub => (a.checked_sub(d)?, b.checked_sub(c)?),
        DimOp::Mul => {
            let corners = [a.checked_mul(c)?, a.checked_mul(d)?, b.checked_mul(c)?, b.checked_mul(d)?];
            (corners.into_iter().min()?, corners.into_iter().max()?)
        }
        DimOp::Min => (a.min(c), b.min(d)),
        DimOp::Max => (a.max(c), b.max(d)),
        DimOp::FloorDiv | DimOp::Mod if c <= 0 => return None,
        DimOp::FloorDiv => {
            let corners = [floor(a, c), floor(a, d), floor(b, c), floor(b, d)];
            (corners.into_iter().min()?, corners.into_iter().max()?)
        }
        DimOp::Mod if c == d && floor(a, c) == floor(b, c) => (a.rem_euclid(c), b.rem_euclid(c)),
        DimOp::Mod if a >= 0 => (0, b.min(d - 1)),
        DimOp::Mod => (0, d - 1),
    })
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn merge_period<'c>(periods: &mut Vec<(Dim<'c>, i128)>, variable: Dim<'c>, period: i128) -> Option<()> {
    match periods.iter_mut().find(|p| p.0 == variable) {
        Some(have) => have.1 = (have.1 / gcd(have.1, period)).checked_mul(period)?,
        None => periods.push((variable, period)),
    }
    Some(())
}

/// The variables below an atom, each with the period after which all floors above it repeat their remainder.
fn variables<'c>(
    normalizer: &Normalizer<'_, 'c>,
    atom: Dim<'c>,
    period: i128,
    out: &mut Vec<(Dim<'c>, i128)>,
) -> Option<()> {
    let mut stack = vec![(atom, period)];
    for _ in 0..MAX_ATOMS {
        let Some((atom, period)) = stack.pop() else { return Some(()) };
        match (normalizer.floors.get(&atom), atom.data()) {
            (Some((numerator, d)), _) => {
                let period = period.checked_mul(*d)?;
                stack.extend(numerator.terms.iter().map(|t| (t.0, period)));
            }
            (None, DimKind::Var(_)) => merge_period(out, atom, period)?,
            // An opaque product has no period.
            (None, _) => return None,
        }
    }
    None
}

/// Within one residue class a form is linear in each variable, so extremes lie in its first or last period.
fn extremes<'c>(normalizer: &Normalizer<'_, 'c>, periods: &[(Dim<'c>, i128)], terms: &Linear<'c>) -> Option<Interval> {
    let mut candidates: Vec<Vec<i128>> = Vec::with_capacity(periods.len());
    let mut points = 1u128;
    for &(variable, period) in periods {
        let DimKind::Var(var) = *variable.data() else { return None };
        let (lo, hi) = (i128::from(var.lo), i128::from(var.hi));
        let values: Vec<i128> = if hi - lo <= period.checked_mul(2)? {
            if hi - lo > MAX_POINTS as i128 {
                return None;
            }
            (lo..hi).collect()
        } else {
            if period > MAX_POINTS as i128 {
                return None;
            }
            (lo..lo + period).chain(hi - period..hi).collect()
        };
        points = points.checked_mul(values.len() as u128)?;
        if points > MAX_POINTS {
            return None;
        }
        candidates.push(values);
    }
    let mut extremes: Option<Interval> = None;
    for mut point in 0..points {
        let mut values: FxHashMap<Dim<'c>, i128> = FxHashMap::default();
        for (&(variable, _), choices) in periods.iter().zip(&candidates) {
            values.insert(variable, choices[(point % choices.len() as u128) as usize]);
            point /= choices.len() as u128;
        }
        let value = evaluate(normalizer, terms, &mut values)?;
        extremes = Some(extremes.map_or((value, value), |(lo, hi)| (lo.min(value), hi.max(value))));
    }
    extremes
}

/// Nesting of floors is bounded by [`variables`].
fn evaluate<'c>(
    normalizer: &Normalizer<'_, 'c>,
    linear: &Linear<'c>,
    values: &mut FxHashMap<Dim<'c>, i128>,
) -> Option<i128> {
    linear.terms.iter().try_fold(linear.constant, |sum, &(atom, coefficient)| {
        let value = match values.get(&atom) {
            Some(&value) => value,
            None => {
                let (numerator, d) = normalizer.floors.get(&atom)?;
                let value = evaluate(normalizer, numerator, values)?.div_euclid(*d);
                values.insert(atom, value);
                value
            }
        };
        sum.checked_add(coefficient.checked_mul(value)?)
    })
}

#[cfg(test)]
mod tests {
    use crate::test_util::dims;
    use crate::{Arena, DimOp, TypeContext};

    #[test]
    fn ranges() {
        let arena = Arena::new();
        let cx = &TypeContext::new(&arena);
        let [s, t] = *dims(cx, "S T") else { unreachable!() };
        let int = |v| cx.dim(v);
        let op = |op, a, b| cx.dim_op(op, a, b);
        let range = |d| cx.dim_range(d).unwrap();
        assert_eq!(range(int(7)), (7, 8));
        assert_eq!(range(s), (1, 1025));
        assert_eq!(cx.upper_bound(s), Some(1024));
        assert_eq!(range(op(DimOp::Mod, s, int(4))), (0, 4));
        assert_eq!(range(cx.simplify(op(DimOp::Mod, s, int(4)))), (0, 4));
        assert_eq!(range(cx.ceildiv(s, int(8))), (1, 129));
        assert_eq!(range(op(DimOp::Min, int(512), op(DimOp::FloorDiv, s, int(4)))), (0, 257));
        assert_eq!(range(op(DimOp::Mul, s, t)), (1, 8193));
        assert_eq!(range(op(DimOp::Sub, s, s)), (0, 1));
        assert_eq!(range(op(DimOp::Sub, s, t)), (-7, 1024));
        let both = op(DimOp::Add, cx.dim_mod(s, int(100)), cx.dim_mod(t, int(5)));
        assert_eq!(range(both), (0, 104));
        assert_eq!(cx.dim_range(op(DimOp::FloorDiv, s, op(DimOp::Sub, t, int(1)))), None);
        assert_eq!(range(op(DimOp::FloorDiv, s, t)), (0, 1025));
    }
}
