//! `rms_norm`.

use tf_core::op::{AccessRule, OpCall, RuleError, TypeRule};
use tf_core::{Context, op};
use tf_types::Type;
use tf_types::access::{AccessRelation, AxisAccess, identity};
use tf_value::{DialectBuilder, EvalCx, EvalRule, Value, ValueError};

use crate::rules::dtype::{self, Takes};
use crate::rules::{layout, operand, partial};

/// `out[…, i] = x[…, i] * rsqrt(mean over the last axis of x^2 + eps) * weight[i]`; computed in f32 and rounded once to the
/// dtype of `x`.
///
/// ```python
/// def f(x: Tensor[(4, 6), "f16"], w: Tensor[(6,), "f32"]):
///     return tf.rms_norm(x, w, eps=1e-6)
/// ```
#[op(dialect = "tf", category = "nn")]
pub struct RmsNorm {
    /// The operand, of rank 1 or more.
    #[input(Tensor)]
    x: (),
    /// Rank 1, as long as the last axis; any float dtype and placement.
    #[input(Tensor)]
    weight: (),
    /// Added to the mean of squares.
    #[default(1e-6)]
    eps: f64,
}

impl TypeRule for RmsNorm {
    fn infer<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Result<Type<'c>, RuleError> {
        let what = "`tf.rms_norm`";
        let (x, weight) = (operand::tensor(&call, 0)?, operand::tensor(&call, 1)?);
        let Some(&length) = x.shape.last() else {
            return Err(RuleError::new(format!("{what} takes rank 1 or more, found rank 0"))
                .operand(0, format!("{x}"))
                .with_help("a scalar has no axis to normalise"));
        };
        let &[found] = weight.shape else {
            return Err(RuleError::new(format!("{what} takes a weight of rank 1, found rank {}", weight.rank()))
                .operand(1, format!("{weight}"))
                .with_help(format!("the weight must have the shape ({length},)")));
        };
        if length != found {
            return Err(RuleError::new(format!("{what} normalises {length} elements, but the weight has {found}"))
                .operand(0, format!("{x}: axis {} is {length}", x.rank() - 1))
                .operand(1, format!("{weight}"))
                .with_help(format!("the weight must have the shape ({length},)")));
        }
        dtype::check(what, Takes::Floats, 0, x)?;
        dtype::check(what, Takes::Floats, 1, weight)?;
        partial::check(what, partial::NONE, &[x, weight])?;
        Ok(cx.tensor(x.shape, x.dtype, layout::same(cx, x), x.storage))
    }
}

impl AccessRule for RmsNorm {
    /// Domain: the result, then the normalised axis.
    fn access<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Vec<AccessRelation<'c>> {
        let shape = operand::shape(call.x());
        let Some((&length, leading)) = shape.split_last() else { return Vec::new() };
        let mut read = identity(shape.len());
        read[leading.len()] = AxisAccess::Proj(shape.len());
        let weight = vec![AxisAccess::Proj(leading.len())];
        vec![AccessRelation::to(shape).dim(length).reads(0, read).reads(1, weight)]
    }
}

impl EvalRule for RmsNorm {
    fn eval<'c>(call: OpCall<'c, Self>, operands: &mut [Value], _: &EvalCx<'_, 'c>) -> Result<Value, ValueError> {
        let (x, weight) = (operand::take::<Self>(operands, 0)?, operand::value::<Self>(operands, 1)?);
        x.rms_norm(weight, call.eps()).map(Value::from)
    }
}

pub(super) fn register(r: &mut DialectBuilder) {
    r.op::<RmsNorm>().types().access().evaluates().done();
}

#[cfg(test)]
mod tests {
    use tf_core::Meta;
    use tf_types::{Arena, DType};

    use super::RmsNorm;
    use crate::test_util::{context, mesh, placed, plain};

    #[test]
    fn types() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let of =
            |x, w| cx.call(RmsNorm::new(cx, 1e-6), &[x, w], Meta::default()).map(|e| e.ty()).map_err(|e| e.message);
        let x = plain(cx, "x", "4 S", DType::BF16);
        assert_eq!(of(x, plain(cx, "w", "S", DType::F32)), Ok(x.ty()));
        assert_eq!(of(x, plain(cx, "w", "S", DType::BF16)), Ok(x.ty()));
        let refusal = |x, w: &str, dtype| of(x, plain(cx, "w", w, dtype)).unwrap_err();
        assert_eq!(refusal(x, "4", DType::F32), "`tf.rms_norm` normalises S elements, but the weight has 4");
        assert_eq!(refusal(x, "4 S", DType::F32), "`tf.rms_norm` takes a weight of rank 1, found rank 2");
        assert_eq!(refusal(x, "S", DType::I32), "`tf.rms_norm` takes floats, found i32");
        let ints = plain(cx, "x", "4 6", DType::I32);
        assert_eq!(refusal(ints, "6", DType::F32), "`tf.rms_norm` takes floats, found i32");
        let scalar = plain(cx, "x", "", DType::F32);
        assert_eq!(refusal(scalar, "1", DType::F32), "`tf.rms_norm` takes rank 1 or more, found rank 0");
    }

    #[test]
    fn placements() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let of =
            |x, w| cx.call(RmsNorm::new(cx, 1e-6), &[x, w], Meta::default()).map(|e| e.ty()).map_err(|e| e.message);
        let m = mesh(cx, "w=4 t=2");
        let (x, weight) = (placed(cx, "x", "16 64", "S0 S1", m), plain(cx, "w", "64", DType::F32));
        assert_eq!(of(x, weight), Ok(x.ty()));
        assert_eq!(of(x, placed(cx, "w", "64", "B S0", m)), Ok(x.ty()));
        let terms = |states, shape| placed(cx, "t", shape, states, m);
        let refusal = "`tf.rms_norm` cannot take unreduced terms, but `w` holds P(\"sum\")";
        assert_eq!(of(terms("Psum B", "16 64"), weight).unwrap_err(), refusal);
        assert_eq!(of(x, terms("Psum B", "64")).unwrap_err(), refusal);
    }
}
