//! Simpler values in the place of values.

use std::ops::Range;

use tf_core::node::FunctionData;
use tf_core::visit::{Cloning, Same, collect_exprs, expr_operands};
use tf_core::{Context, Expr, ExprKind, Literal, Meta, Result};
use tf_hir::Zeros;

use super::cut::{results, with_results};
use super::{FunctionReduction, Site, computed};

/// What takes the place of a value.
#[derive(Clone, Copy)]
enum Simpler {
    /// Its first, second or third operand of the same type.
    Operand(usize),
    /// A parameter of the same type; where the function is called from elsewhere, as others may become new parameters.
    Param,
    /// Zeros; there too.
    Zeros,
    /// A literal becomes 0, or 1.
    Literal(i8),
}

/// Values become something simpler of the same type.
#[derive(Clone, Copy)]
pub struct Replace(Simpler);

impl Replace {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Self> {
        let operands = (0..3).map(Simpler::Operand);
        operands.chain([Simpler::Param, Simpler::Zeros, Simpler::Literal(0), Simpler::Literal(1)]).map(Self)
    }

    /// What stands in for a value, if it is a place.
    fn simpler<'c>(self, site: Site<'c>, value: Expr<'c>) -> Option<StandIn<'c>> {
        match self.0 {
            Simpler::Operand(number) => {
                let fits = |operand: &Expr<'c>| operand.ty() == value.ty();
                expr_operands(value).into_iter().filter(fits).nth(number).map(StandIn::Value)
            }
            Simpler::Param if !site.is_free => {
                site.function.params.iter().copied().find(|param| param.ty() == value.ty()).map(StandIn::Value)
            }
            Simpler::Zeros if !site.is_free => {
                let is_zeros = value.as_op::<Zeros>().is_some();
                (value.ty().as_tensor().is_some() && !is_zeros).then_some(StandIn::Zeros)
            }
            Simpler::Param | Simpler::Zeros => None,
            Simpler::Literal(wanted) => {
                let have = value.literal()?;
                let wanted = like(have, wanted);
                let simplest = |number| have == like(have, number);
                // What is 0 stays 0.
                let done = have == wanted || simplest(0);
                (!done).then_some(StandIn::Literal(wanted))
            }
        }
    }

    fn values<'c>(self, site: Site<'c>) -> Vec<(Expr<'c>, StandIn<'c>)> {
        let Some(body) = site.function.body else { return Vec::new() };
        let values = match self.0 {
            Simpler::Literal(_) => {
                let mut all = collect_exprs(body);
                all.retain(|value| value.literal().is_some());
                all
            }
            _ => computed(body),
        };
        values.into_iter().filter_map(|value| Some((value, self.simpler(site, value)?))).collect()
    }
}

#[derive(Clone, Copy)]
enum StandIn<'c> {
    Value(Expr<'c>),
    Zeros,
    Literal(Literal),
}

fn like(literal: Literal, number: i8) -> Literal {
    match literal {
        Literal::Bool(_) => Literal::Bool(number != 0),
        Literal::Int(_) => Literal::Int(number.into()),
        Literal::Float(_) => Literal::Float(number.into()),
    }
}

impl FunctionReduction for Replace {
    fn name(&self) -> &'static str {
        match self.0 {
            Simpler::Operand(_) => "values by operands",
            Simpler::Param => "values by parameters",
            Simpler::Zeros => "values by zeros",
            Simpler::Literal(_) => "literals",
        }
    }

    fn places(&self, site: Site<'_>) -> usize {
        self.values(site).len()
    }

    fn apply<'c>(&self, cx: &Context<'c>, site: Site<'c>, places: Range<usize>) -> Result<Option<FunctionData<'c>>> {
        let Some(body) = site.function.body else { return Ok(None) };
        let mut clone = Cloning::new(cx);
        // Operands come first, so what stands in for a value may have been replaced itself.
        for &(value, stand_in) in &self.values(site)[places] {
            let new = match stand_in {
                StandIn::Value(other) => clone.visit(&mut Same, other)?,
                StandIn::Zeros => cx.call(Zeros::new(cx, value.ty()), &[], Meta::default())?,
                StandIn::Literal(literal) => cx.expr(ExprKind::Constant(literal), value.ty(), value.meta),
            };
            clone.replace(value, new);
        }
        if !site.is_free {
            let body = clone.visit(&mut Same, body)?;
            return Ok(Some(FunctionData { body: Some(body), ..*site.function }));
        }
        let new: Vec<_> =
            results(body).into_iter().map(|result| clone.visit(&mut Same, result)).collect::<Result<_>>()?;
        let was_tuple = matches!(body.kind, ExprKind::Tuple(_));
        // A tuple of one result stays one; the reduction of results makes it a plain result.
        if was_tuple && new.len() == 1 {
            let body = clone.visit(&mut Same, body)?;
            return Ok(Some(FunctionData { body: Some(body), return_type: body.ty(), ..*site.function }));
        }
        Ok(Some(with_results(cx, site, &new, &[])))
    }
}

#[cfg(test)]
mod tests {
    use super::{Replace, Simpler};
    use crate::hir::on;
    use crate::testing::{check, reduced};

    #[test]
    fn values_become_operands() {
        let before = r#"module @m { hir.func @f(%x: f32, %y: f32) -> f32 {
  %0 = tf.unary %x {kind = "exp"} : (f32) -> f32
  %1 = tf.binary %0, %y {kind = "sub"} : (f32, f32) -> f32
  hir.return %1 } }"#;
        let first = r#"module @m { hir.func @f(%x: f32) -> f32 { hir.return %x } }"#;
        check(&*on(Replace(Simpler::Operand(0))), before, 0..2, 2, first);
        let second = r#"module @m { hir.func @f(%y: f32) -> f32 { hir.return %y } }"#;
        check(&*on(Replace(Simpler::Operand(1))), before, 0..1, 1, second);
        assert_eq!(reduced(&*on(Replace(Simpler::Operand(2))), before, 0..0).0, 0);
    }

    const CALLED: &str = r#"module @m {
  hir.func @f(%x: f32) -> f32 {
    %0 = tf.unary %x {kind = "exp"} : (f32) -> f32
    %1 = tf.unary %0 {kind = "abs"} : (f32) -> f32
    hir.return %1 }
  hir.func @g(%x: f32) -> f32 { %0 = call @f(%x) : (f32) -> f32  hir.return %0 } }"#;

    #[test]
    fn in_a_called_function_values_become_parameters_or_zeros() {
        let (count, after) = reduced(&*on(Replace(Simpler::Param)), CALLED, 0..1);
        assert_eq!(count, 2);
        assert!(!after.expect("it is reduced").contains("exp"));
        let (count, after) = reduced(&*on(Replace(Simpler::Zeros)), CALLED, 1..2);
        assert_eq!(count, 2);
        let after = after.expect("it is reduced");
        assert!(after.contains("tf.zeros") && !after.contains("abs"), "{after}");
    }

    #[test]
    fn literals_become_simple() {
        let text = |number: &str| {
            format!(
                r#"module @m {{ hir.func @f(%x: f32) -> f32 {{
  %0 = constant {number} : f32
  %1 = tf.binary %x, %0 {{kind = "add"}} : (f32, f32) -> f32
  hir.return %1 }} }}"#
            )
        };
        check(&*on(Replace(Simpler::Literal(1))), &text("2.5"), 0..1, 1, &text("1.0"));
        check(&*on(Replace(Simpler::Literal(0))), &text("2.5"), 0..1, 1, &text("0.0"));
        assert_eq!(reduced(&*on(Replace(Simpler::Literal(1))), &text("0.0"), 0..0).0, 0);
    }
}
