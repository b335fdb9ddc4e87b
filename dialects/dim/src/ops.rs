//! The seven ops.

use tf_core::op::{OpCall, RuleError, TypeRule};
use tf_core::{Context, op};
use tf_types::Type;
use tf_value::{DialectBuilder, EvalCx, EvalRule, Value, ValueError};

use crate::rules::{self, divide};

/// `lhs + rhs`, wrapping.
#[op(dialect = "dim", category = "index")]
pub struct Add {
    /// First term.
    #[input(Scalar)]
    lhs: (),
    /// Second term.
    #[input(Scalar)]
    rhs: (),
}

/// `lhs - rhs`, wrapping.
#[op(dialect = "dim", category = "index")]
pub struct Sub {
    /// What is subtracted from.
    #[input(Scalar)]
    lhs: (),
    /// What is subtracted.
    #[input(Scalar)]
    rhs: (),
}

/// `lhs * rhs`, wrapping.
#[op(dialect = "dim", category = "index")]
pub struct Mul {
    /// First factor.
    #[input(Scalar)]
    lhs: (),
    /// Second factor.
    #[input(Scalar)]
    rhs: (),
}

/// `floor(lhs / rhs)`; a zero divisor is an error.
#[op(dialect = "dim", category = "index")]
pub struct FloorDiv {
    /// Dividend.
    #[input(Scalar)]
    lhs: (),
    /// Divisor.
    #[input(Scalar)]
    rhs: (),
}

/// `lhs - rhs * floor(lhs / rhs)`: the sign of the divisor; a zero divisor is an error.
#[op(dialect = "dim", category = "index")]
pub struct Mod {
    /// Dividend.
    #[input(Scalar)]
    lhs: (),
    /// Divisor.
    #[input(Scalar)]
    rhs: (),
}

/// The lesser of `lhs` and `rhs`.
#[op(dialect = "dim", category = "index")]
pub struct Min {
    /// First candidate.
    #[input(Scalar)]
    lhs: (),
    /// Second candidate.
    #[input(Scalar)]
    rhs: (),
}

/// The greater of `lhs` and `rhs`.
#[op(dialect = "dim", category = "index")]
pub struct Max {
    /// First candidate.
    #[input(Scalar)]
    lhs: (),
    /// Second candidate.
    #[input(Scalar)]
    rhs: (),
}

fn floor_div(lhs: i64, rhs: i64) -> i64 {
    let inexact = lhs.wrapping_rem(rhs) != 0;
    lhs.wrapping_div(rhs) - i64::from(inexact && (lhs < 0) != (rhs < 0))
}

fn floor_mod(lhs: i64, rhs: i64) -> i64 {
    let rest = lhs.wrapping_rem(rhs);
    if rest != 0 && (rest < 0) != (rhs < 0) { rest + rhs } else { rest }
}

macro_rules! rules {
    ($($op:ident => $value:expr;)*) => {
        $(
            impl TypeRule for $op {
                fn infer<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Result<Type<'c>, RuleError> {
                    rules::infer(call, cx)
                }
            }

            impl EvalRule for $op {
                fn eval<'c>(
                    _: OpCall<'c, Self>,
                    operands: &[Value],
                    _: &EvalCx<'_, 'c>,
                ) -> Result<Value, ValueError> {
                    rules::eval::<Self>(operands, $value)
                }
            }
        )*

        pub(crate) fn register(r: &mut DialectBuilder) {
            $(r.op::<$op>().types().evaluates().done();)*
        }
    };
}

rules! {
    Add => |a, b| Ok(a.wrapping_add(b));
    Sub => |a, b| Ok(a.wrapping_sub(b));
    Mul => |a, b| Ok(a.wrapping_mul(b));
    FloorDiv => |a, b| divide("dim.floor_div", a, b, floor_div);
    Mod => |a, b| divide("dim.mod", a, b, floor_mod);
    Min => |a, b| Ok(a.min(b));
    Max => |a, b| Ok(a.max(b));
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tf_core::op::{OpInstance, OpView};
    use tf_core::{Arena, Context, Literal, Meta};
    use tf_types::{DType, Storage};
    use tf_value::{DialectBuilder, EvalCx, Tensor, Value};

    use super::{Add, FloorDiv, Max, Min, Mod, Mul, Sub};

    type Outcome = Result<i64, String>;

    /// Runs every op, in the order of declaration, on each pair.
    fn values(pairs: &[(i64, i64)]) -> Vec<Vec<Outcome>> {
        let mut builder = DialectBuilder::default();
        crate::register(&mut builder);
        let (ops, eval) = builder.freeze().unwrap();
        let arena = Arena::new();
        let cx = &Context::new(&arena, Arc::clone(&ops));
        let instances: [OpInstance<'_>; 7] =
            [Add::new(cx), Sub::new(cx), Mul::new(cx), FloorDiv::new(cx), Mod::new(cx), Min::new(cx), Max::new(cx)];
        let run = |op: OpInstance<'_>, a: i64, b: i64| -> Outcome {
            let rule = eval.get(op.id).unwrap();
            let operands = [Value::from(Tensor::scalar(a)), Value::from(Tensor::scalar(b))];
            let cx = EvalCx { dims: &Default::default(), result_type: cx.scalar(DType::I64) };
            let value = rule(OpView { op, args: &[] }, &operands, &cx).map_err(|e| e.message)?;
            Ok(value.as_tensor().unwrap().to_index().unwrap())
        };
        pairs.iter().map(|&(a, b)| instances.iter().map(|&op| run(op, a, b)).collect()).collect()
    }

    #[test]
    fn numbers_floor_and_wrap() {
        let got = values(&[(7, 2), (-7, 2), (7, -2), (i64::MIN, -1), (i64::MAX, 1)]);
        let ok = |values: [i64; 7]| values.map(Ok).to_vec();
        assert_eq!(got[0], ok([9, 5, 14, 3, 1, 2, 7]));
        assert_eq!(got[1], ok([-5, -9, -14, -4, 1, -7, 2]));
        assert_eq!(got[2], ok([5, 9, -14, -4, -1, -2, 7]));
        assert_eq!(got[3], ok([i64::MAX, i64::MIN + 1, i64::MIN, i64::MIN, 0, i64::MIN, -1]));
        assert_eq!(got[4][0], Ok(i64::MIN));
    }

    #[test]
    fn zero_divisors_are_errors() {
        let got = &values(&[(5, 0)])[0];
        assert_eq!(got[3], Err("`dim.floor_div` divides 5 by zero".into()));
        assert_eq!(got[4], Err("`dim.mod` divides 5 by zero".into()));
    }

    #[test]
    fn types() {
        let mut builder = DialectBuilder::default();
        crate::register(&mut builder);
        let (ops, _) = builder.freeze().unwrap();
        let arena = Arena::new();
        let cx = &Context::new(&arena, ops);
        let index = cx.constant(Literal::Int(1), DType::I32, Meta::default());
        let sum = cx.call(Add::new(cx), &[index, index], Meta::default()).unwrap();
        assert_eq!(sum.ty(), crate::umat_scalar(cx));
        assert_ne!(sum.ty(), cx.scalar(DType::I64));
        let float = cx.constant(Literal::Float(1.0), DType::F32, Meta::default());
        let error = cx.call(Mod::new(cx), &[index, float], Meta::default()).unwrap_err();
        assert_eq!(error.message, r#"`dim.mod` takes rank-0 i32 or i64 operands, found Tensor[(), "f32", "umat"]"#);
        let vector = cx.tensor(&[cx.dim(4)], DType::I64, None, Storage::Gmem);
        let vector = cx.var(cx.symbol("v"), vector, Meta::default());
        let error = cx.call(Mul::new(cx), &[vector, index], Meta::default()).unwrap_err();
        assert_eq!(error.notes[0].1, r#"operand 0: `v` is Tensor[(4,), "i64"]"#);
    }
}
