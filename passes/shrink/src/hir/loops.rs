//! Loops with fewer rounds and carries.

use std::ops::Range;

use tf_core::node::{FunctionData, GridRegion};
use tf_core::visit::{Cloning, ExprCloner};
use tf_core::{Context, Expr, ExprKind, Literal, NodeSet, Result};
use tf_hir::TupleGetItem;

use super::{FunctionReduction, Site, computed};

/// What becomes of a loop.
#[derive(Clone, Copy, PartialEq, Eq)]
enum To {
    /// What its first round computes.
    FirstRound,
    /// A loop of so many rounds.
    Rounds(i64),
    /// A loop without one of its carries, which keeps its initial value.
    FewerCarries,
}

/// Loops become smaller.
#[derive(Clone, Copy)]
pub struct Loops(To);

impl Loops {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Self> {
        [To::FirstRound, To::Rounds(1), To::Rounds(2), To::FewerCarries].into_iter().map(Self)
    }
}

fn region<'c>(value: Expr<'c>) -> Option<&'c GridRegion<'c>> {
    match value.kind {
        ExprKind::Grid(region) => Some(region),
        _ => None,
    }
}

fn rounds(region: &GridRegion<'_>) -> Option<i64> {
    let (start, stop, step) = (region.start.as_const()?, region.stop.as_const()?, region.step.as_const()?);
    (step > 0).then(|| stop.saturating_sub(start).max(0).saturating_add(step - 1) / step)
}

impl To {
    fn places(self, region: &GridRegion<'_>) -> usize {
        match self {
            Self::FirstRound => usize::from(region.start.as_const().is_some()),
            Self::Rounds(wanted) => {
                let bounds_known = region.start.as_const().is_some() && region.step.as_const().is_some();
                usize::from(bounds_known && rounds(region).is_none_or(|rounds| rounds > wanted))
            }
            Self::FewerCarries => region.carries.len(),
        }
    }
}

struct Smaller<'c> {
    to: To,
    loops: NodeSet<Expr<'c>>,
    /// Carries that go.
    carries: NodeSet<Expr<'c>>,
}

impl<'c> Smaller<'c> {
    fn first_round(&mut self, region: &GridRegion<'c>, clone: &mut Cloning<'_, 'c>) -> Result<Option<Expr<'c>>> {
        let Some(start) = region.start.as_const() else { return Ok(None) };
        for (&carry, &init) in region.carries.iter().zip(region.inits) {
            let init = clone.visit(self, init)?;
            clone.replace(carry, init);
        }
        let first = ExprKind::Constant(Literal::Int(start));
        let first = clone.cx.expr(first, region.induction.ty(), region.induction.meta);
        clone.replace(region.induction, first);
        let values = region.yields.iter().chain(&region.body);
        let values: Vec<_> = values.map(|&value| clone.visit(self, value)).collect::<Result<_>>()?;
        Ok(Some(match values[..] {
            [one] => one,
            _ => tuple(clone.cx, &values),
        }))
    }

    /// The loop without the carries that go, as a value of its former type.
    fn fewer_carries(
        &mut self,
        old: Expr<'c>,
        region: &GridRegion<'c>,
        clone: &mut Cloning<'_, 'c>,
    ) -> Result<Expr<'c>> {
        let cx = clone.cx;
        let inits: Vec<_> = region.inits.iter().map(|&init| clone.visit(self, init)).collect::<Result<_>>()?;
        for (&carry, &init) in region.carries.iter().zip(&inits) {
            if self.carries.contains(&carry) {
                clone.replace(carry, init);
            }
        }
        let kept: Vec<usize> =
            (0..region.carries.len()).filter(|&at| !self.carries.contains(&region.carries[at])).collect();
        if kept.is_empty() {
            return Ok(if inits.len() == 1 { inits[0] } else { tuple(cx, &inits) });
        }
        clone.retype_carries(region);
        let of = |list: Vec<Expr<'c>>| cx.alloc_slice(&list);
        let carries = of(kept.iter().map(|&at| clone.get(region.carries[at])).collect());
        let mut yields = Vec::new();
        for &at in &kept {
            yields.push(clone.visit(self, region.yields[at])?);
        }
        let new = GridRegion {
            carries,
            inits: of(kept.iter().map(|&at| inits[at]).collect()),
            yields: of(yields),
            ..*region
        };
        let new = cx.grid(new, cx.loop_type(carries, None), old.meta);
        if region.carries.len() == 1 {
            return Ok(new);
        }
        let mut fields = inits;
        for (number, &at) in kept.iter().enumerate() {
            fields[at] = match kept.len() {
                1 => new,
                _ => cx.call(TupleGetItem::new(cx, number as i64), &[new], old.meta.source())?,
            };
        }
        Ok(tuple(cx, &fields))
    }
}

fn tuple<'c>(cx: &Context<'c>, fields: &[Expr<'c>]) -> Expr<'c> {
    let types: Vec<_> = fields.iter().map(|field| field.ty()).collect();
    cx.expr(ExprKind::Tuple(cx.alloc_slice(fields)), cx.tuple(&types), tf_core::Meta::default())
}

impl<'c> ExprCloner<'c> for Smaller<'c> {
    fn descends(&mut self, expr: Expr<'c>, _: &mut Cloning<'_, 'c>) -> bool {
        !self.loops.contains(&expr) || matches!(self.to, To::Rounds(_))
    }

    fn clone_grid(&mut self, expr: Expr<'c>, clone: &mut Cloning<'_, 'c>) -> Result<Expr<'c>> {
        let Some(region) = region(expr).filter(|_| self.loops.contains(&expr)) else { return clone.rebuild(expr) };
        match self.to {
            To::FirstRound => match self.first_round(region, clone)? {
                Some(value) => Ok(value),
                None => clone.rebuild(expr),
            },
            To::FewerCarries => self.fewer_carries(expr, region, clone),
            To::Rounds(rounds) => {
                let rebuilt = clone.rebuild(expr)?;
                let (Some(new), Some(start), Some(step)) =
                    (self::region(rebuilt), region.start.as_const(), region.step.as_const())
                else {
                    return Ok(rebuilt);
                };
                let stop = clone.cx.dim(start + rounds * step);
                Ok(clone.cx.grid(GridRegion { stop, ..*new }, rebuilt.ty(), rebuilt.meta))
            }
        }
    }

    fn clone_call(&mut self, expr: Expr<'c>, clone: &mut Cloning<'_, 'c>) -> Result<Expr<'c>> {
        // A field of a tuple that stands in for a loop is the field's value.
        if let Some(call) = expr.as_op::<TupleGetItem>()
            && let ExprKind::Tuple(fields) = clone.get(call.value()).kind
            && let Some(&field) = usize::try_from(call.index()).ok().and_then(|at| fields.get(at))
        {
            return Ok(field);
        }
        clone.rebuild(expr)
    }
}

impl FunctionReduction for Loops {
    fn name(&self) -> &'static str {
        match self.0 {
            To::FirstRound => "loops by their first round",
            To::Rounds(_) => "rounds of loops",
            To::FewerCarries => "carries of loops",
        }
    }

    fn places(&self, site: Site<'_>) -> usize {
        let values = site.function.body.map(computed).unwrap_or_default();
        values.into_iter().filter_map(region).map(|region| self.0.places(region)).sum()
    }

    fn apply<'c>(&self, cx: &Context<'c>, site: Site<'c>, places: Range<usize>) -> Result<Option<FunctionData<'c>>> {
        let Some(body) = site.function.body else { return Ok(None) };
        let mut smaller = Smaller { to: self.0, loops: NodeSet::default(), carries: NodeSet::default() };
        let mut share = crate::reduction::Share::new(places);
        for value in computed(body) {
            let Some(region) = region(value) else { continue };
            let own = share.next(self.0.places(region));
            if own.is_empty() {
                continue;
            }
            smaller.loops.insert(value);
            if self.0 == To::FewerCarries {
                smaller.carries.extend(region.carries[own].iter().copied());
            }
        }
        let body = Cloning::new(cx).visit(&mut smaller, body)?;
        let return_type = if site.is_free { body.ty() } else { site.function.return_type };
        Ok(Some(FunctionData { body: Some(body), return_type, ..*site.function }))
    }
}

#[cfg(test)]
mod tests {
    use super::{Loops, To};
    use crate::hir::on;
    use crate::testing::{check, reduced};

    const LOOP: &str = r#"module @m { hir.func @f(%x: f32, %y: f32) -> f32 {
  %0 = hir.grid %i = 2 to 8 step 2 iter(%a = %x, %b = %y) : tuple<f32, f32> {
    %2 = tf.binary %a, %b {kind = "add"} : (f32, f32) -> f32
    hir.yield %2, %a
  }
  %1 = tf.tuple_get_item %0 {index = 0} : (tuple<f32, f32>) -> f32
  hir.return %1 } }"#;

    #[test]
    fn a_loop_becomes_its_first_round() {
        let after = r#"module @m { hir.func @f(%x: f32, %y: f32) -> f32 {
  %0 = tf.binary %x, %y {kind = "add"} : (f32, f32) -> f32
  hir.return %0 } }"#;
        check(&*on(Loops(To::FirstRound)), LOOP, 0..1, 1, after);
    }

    #[test]
    fn a_loop_gets_fewer_rounds() {
        check(&*on(Loops(To::Rounds(2))), LOOP, 0..1, 1, &LOOP.replace("2 to 8", "2 to 6"));
        check(&*on(Loops(To::Rounds(1))), LOOP, 0..1, 1, &LOOP.replace("2 to 8", "2 to 4"));
        assert_eq!(reduced(&*on(Loops(To::Rounds(2))), &LOOP.replace("2 to 8", "2 to 5"), 0..0).0, 0);
    }

    #[test]
    fn a_carry_keeps_its_initial_value() {
        let after = r#"module @m { hir.func @f(%x: f32, %y: f32) -> f32 {
  %0 = hir.grid %i = 2 to 8 step 2 iter(%a = %x) : f32 {
    %2 = tf.binary %a, %y {kind = "add"} : (f32, f32) -> f32
    hir.yield %2
  }
  hir.return %0 } }"#;
        check(&*on(Loops(To::FewerCarries)), LOOP, 1..2, 2, after);
        check(
            &*on(Loops(To::FewerCarries)),
            LOOP,
            0..2,
            2,
            "module @m { hir.func @f(%x: f32, %y: f32) -> f32 { hir.return %x } }",
        );
    }
}
