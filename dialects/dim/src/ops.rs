//! The ops: declarations, and which elementwise operation each is.

use tf_core::op::{Op, OpCall, OpName, RuleError, TypeRule};
use tf_core::{Context, op};
use tf_types::Type;
use tf_types::kinds::{BinaryKind, UnaryKind};
use tf_value::{DialectBuilder, EvalCx, EvalRule, Value, ValueError};

use crate::rules::{self, ScalarKind, ScalarOp};

/// `lhs + rhs`; integers wrap.
#[op(dialect = "dim", category = "index")]
pub struct Add {
    /// First term.
    #[input(Scalar)]
    lhs: (),
    /// Second term.
    #[input(Scalar)]
    rhs: (),
}

/// `lhs - rhs`; integers wrap.
#[op(dialect = "dim", category = "index")]
pub struct Sub {
    /// What is subtracted from.
    #[input(Scalar)]
    lhs: (),
    /// What is subtracted.
    #[input(Scalar)]
    rhs: (),
}

/// `lhs * rhs`; integers wrap.
#[op(dialect = "dim", category = "index")]
pub struct Mul {
    /// First factor.
    #[input(Scalar)]
    lhs: (),
    /// Second factor.
    #[input(Scalar)]
    rhs: (),
}

/// `lhs / rhs`; integers truncate toward zero, and a zero divisor of integers is an error.
#[op(dialect = "dim", category = "index")]
pub struct Div {
    /// Dividend.
    #[input(Scalar)]
    lhs: (),
    /// Divisor.
    #[input(Scalar)]
    rhs: (),
}

/// `floor(lhs / rhs)` of integers; a zero divisor is an error.
#[op(dialect = "dim", category = "index")]
pub struct FloorDiv {
    /// Dividend.
    #[input(Scalar)]
    lhs: (),
    /// Divisor.
    #[input(Scalar)]
    rhs: (),
}

/// `lhs - rhs * floor(lhs / rhs)` of integers: the sign of the divisor; a zero divisor is an error.
#[op(dialect = "dim", category = "index")]
pub struct Mod {
    /// Dividend.
    #[input(Scalar)]
    lhs: (),
    /// Divisor.
    #[input(Scalar)]
    rhs: (),
}

/// The lesser of `lhs` and `rhs`; NaN wins.
#[op(dialect = "dim", category = "index")]
pub struct Min {
    /// First candidate.
    #[input(Scalar)]
    lhs: (),
    /// Second candidate.
    #[input(Scalar)]
    rhs: (),
}

/// The greater of `lhs` and `rhs`; NaN wins.
#[op(dialect = "dim", category = "index")]
pub struct Max {
    /// First candidate.
    #[input(Scalar)]
    lhs: (),
    /// Second candidate.
    #[input(Scalar)]
    rhs: (),
}

/// Whether `lhs` equals `rhs`.
#[op(dialect = "dim", category = "compare")]
pub struct CmpEq {
    /// Left operand.
    #[input(Scalar)]
    lhs: (),
    /// Right operand.
    #[input(Scalar)]
    rhs: (),
}

/// Whether `lhs` differs from `rhs`.
#[op(dialect = "dim", category = "compare")]
pub struct CmpNe {
    /// Left operand.
    #[input(Scalar)]
    lhs: (),
    /// Right operand.
    #[input(Scalar)]
    rhs: (),
}

/// Whether `lhs` is less than `rhs`.
#[op(dialect = "dim", category = "compare")]
pub struct CmpLt {
    /// Left operand.
    #[input(Scalar)]
    lhs: (),
    /// Right operand.
    #[input(Scalar)]
    rhs: (),
}

/// Whether `lhs` is at most `rhs`.
#[op(dialect = "dim", category = "compare")]
pub struct CmpLe {
    /// Left operand.
    #[input(Scalar)]
    lhs: (),
    /// Right operand.
    #[input(Scalar)]
    rhs: (),
}

/// Whether `lhs` is greater than `rhs`.
#[op(dialect = "dim", category = "compare")]
pub struct CmpGt {
    /// Left operand.
    #[input(Scalar)]
    lhs: (),
    /// Right operand.
    #[input(Scalar)]
    rhs: (),
}

/// Whether `lhs` is at least `rhs`.
#[op(dialect = "dim", category = "compare")]
pub struct CmpGe {
    /// Left operand.
    #[input(Scalar)]
    lhs: (),
    /// Right operand.
    #[input(Scalar)]
    rhs: (),
}

/// Whether both hold.
#[op(dialect = "dim", category = "logic")]
pub struct LogicalAnd {
    /// First condition.
    #[input(Scalar)]
    lhs: (),
    /// Second condition.
    #[input(Scalar)]
    rhs: (),
}

/// Whether one of them holds.
#[op(dialect = "dim", category = "logic")]
pub struct LogicalOr {
    /// First condition.
    #[input(Scalar)]
    lhs: (),
    /// Second condition.
    #[input(Scalar)]
    rhs: (),
}

/// `-operand`; integers wrap.
#[op(dialect = "dim", category = "index")]
pub struct Neg {
    /// What is negated.
    #[input(Scalar)]
    operand: (),
}

/// Whether `operand` does not hold.
#[op(dialect = "dim", category = "logic")]
pub struct LogicalNot {
    /// A condition.
    #[input(Scalar)]
    operand: (),
}

macro_rules! scalar_ops {
    ($($op:ident => $kind:expr;)*) => {
        $(
            impl ScalarOp for $op {
                const KIND: ScalarKind = $kind;
            }

            impl TypeRule for $op {
                fn infer<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Result<Type<'c>, RuleError> {
                    rules::infer(call, cx)
                }
            }

            impl EvalRule for $op {
                fn eval<'c>(
                    _: OpCall<'c, Self>,
                    operands: &mut [Value],
                    _: &EvalCx<'_, 'c>,
                ) -> Result<Value, ValueError> {
                    rules::eval::<Self>(operands)
                }
            }
        )*

        const KINDS: &[(OpName, ScalarKind)] = &[$(($op::DECL.name, $op::KIND)),*];

        pub(crate) fn register(r: &mut DialectBuilder) {
            $(r.op::<$op>().types().evaluates().done();)*
        }
    };
}

scalar_ops! {
    Add => ScalarKind::Binary(BinaryKind::Add);
    Sub => ScalarKind::Binary(BinaryKind::Sub);
    Mul => ScalarKind::Binary(BinaryKind::Mul);
    Div => ScalarKind::Binary(BinaryKind::Div);
    FloorDiv => ScalarKind::Binary(BinaryKind::FloorDiv);
    Mod => ScalarKind::Binary(BinaryKind::Mod);
    Min => ScalarKind::Binary(BinaryKind::Min);
    Max => ScalarKind::Binary(BinaryKind::Max);
    CmpEq => ScalarKind::Binary(BinaryKind::Eq);
    CmpNe => ScalarKind::Binary(BinaryKind::Ne);
    CmpLt => ScalarKind::Binary(BinaryKind::Lt);
    CmpLe => ScalarKind::Binary(BinaryKind::Le);
    CmpGt => ScalarKind::Binary(BinaryKind::Gt);
    CmpGe => ScalarKind::Binary(BinaryKind::Ge);
    LogicalAnd => ScalarKind::Binary(BinaryKind::And);
    LogicalOr => ScalarKind::Binary(BinaryKind::Or);
    Neg => ScalarKind::Unary(UnaryKind::Neg);
    LogicalNot => ScalarKind::Unary(UnaryKind::Not);
}

/// The operation that an op of this dialect is; none for ops of others. Back ends emit by it.
#[must_use]
pub fn kind(name: OpName) -> Option<ScalarKind> {
    KINDS.iter().find(|(op, _)| op.key == name.key).map(|(_, kind)| *kind)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tf_core::op::{OpInstance, OpView};
    use tf_core::{Arena, Context, Diagnostic, Expr, Literal, Meta};
    use tf_types::{DType, Storage, Type};
    use tf_value::{DialectBuilder, EvalCx, EvalRegistry, Tensor, Value};

    use super::{
        Add, CmpEq, CmpGe, CmpGt, CmpLe, CmpLt, CmpNe, Div, FloorDiv, LogicalAnd, LogicalNot, LogicalOr, Max, Min, Mod,
        Mul, Neg, Sub,
    };

    fn context(arena: &Arena) -> (Context<'_>, Arc<EvalRegistry>) {
        let mut builder = DialectBuilder::default();
        crate::register(&mut builder);
        let (ops, eval) = builder.freeze().unwrap();
        (Context::new(arena, ops), eval)
    }

    fn value(cx: &Context<'_>, eval: &EvalRegistry, op: OpInstance<'_>, operands: &[Tensor]) -> Result<Tensor, String> {
        let rule = eval.get(op.id).unwrap();
        let mut operands: Vec<_> = operands.iter().cloned().map(Value::from).collect();
        let cx = EvalCx { dims: &Default::default(), result_type: cx.scalar(DType::I64) };
        let value = rule(OpView { op, args: &[] }, &mut operands, &cx).map_err(|error| error.message)?;
        Ok(value.as_tensor().unwrap().clone())
    }

    #[test]
    fn integers_floor_and_wrap() {
        let arena = Arena::new();
        let (cx, eval) = &context(&arena);
        let instances = [
            Add::new(cx),
            Sub::new(cx),
            Mul::new(cx),
            FloorDiv::new(cx),
            Mod::new(cx),
            Min::new(cx),
            Max::new(cx),
            Div::new(cx),
        ];
        let got = |a: i64, b: i64| {
            instances
                .map(|op| value(cx, eval, op, &[Tensor::scalar(a), Tensor::scalar(b)]).unwrap().to_index().unwrap())
        };
        assert_eq!(got(7, 2), [9, 5, 14, 3, 1, 2, 7, 3]);
        assert_eq!(got(-7, 2), [-5, -9, -14, -4, 1, -7, 2, -3]);
        assert_eq!(got(7, -2), [5, 9, -14, -4, -1, -2, 7, -3]);
        assert_eq!(got(i64::MIN, -1), [i64::MAX, i64::MIN + 1, i64::MIN, i64::MIN, 0, i64::MIN, -1, i64::MIN]);
        assert_eq!(got(i64::MAX, 1)[0], i64::MIN);
        let error = |op, a: i64| value(cx, eval, op, &[Tensor::scalar(a), Tensor::scalar(0i64)]).unwrap_err();
        assert_eq!(error(FloorDiv::new(cx), 5), "`dim.floor_div` divides 5 by zero");
        assert_eq!(error(Mod::new(cx), 5), "`dim.mod` divides 5 by zero");
        assert_eq!(error(Div::new(cx), -1), "`dim.div` divides -1 by zero");
        let least = value(cx, eval, Neg::new(cx), &[Tensor::scalar(i32::MIN)]).unwrap();
        assert_eq!(least.to_index(), Ok(1 << 31), "an i32 is widened first");
    }

    #[test]
    fn floats_comparisons_and_logic() {
        let arena = Arena::new();
        let (cx, eval) = &context(&arena);
        let (half, nan) = (Tensor::scalar(0.5f32), Tensor::scalar(f32::NAN));
        let of = |op, operands: &[&Tensor]| {
            let operands: Vec<_> = operands.iter().map(|&t| t.clone()).collect();
            value(cx, eval, op, &operands).unwrap().to_f64_vec()[0]
        };
        assert_eq!(of(Mul::new(cx), &[&half, &half]), 0.25);
        assert_eq!(of(Div::new(cx), &[&half, &Tensor::scalar(0.0f32)]), f64::INFINITY);
        assert!(of(Min::new(cx), &[&half, &nan]).is_nan());
        let all = [CmpEq::new(cx), CmpNe::new(cx), CmpLt::new(cx), CmpLe::new(cx), CmpGt::new(cx), CmpGe::new(cx)];
        let compared = |a: &Tensor, b: &Tensor| all.map(|op| of(op, &[a, b]) == 1.0);
        assert_eq!(compared(&half, &nan), [false, true, false, false, false, false]);
        assert_eq!(compared(&Tensor::scalar(3i32), &Tensor::scalar(3i64)), [true, false, false, true, false, true]);
        assert_eq!(compared(&Tensor::scalar(-4i64), &Tensor::scalar(3i64)), [false, true, true, true, false, false]);
        let (yes, no) = (Tensor::scalar(true), Tensor::scalar(false));
        assert_eq!(of(LogicalAnd::new(cx), &[&yes, &no]), 0.0);
        assert_eq!(of(LogicalOr::new(cx), &[&yes, &no]), 1.0);
        assert_eq!(of(LogicalNot::new(cx), &[&no]), 1.0);
    }

    fn of<'c>(cx: &Context<'c>, op: OpInstance<'c>, operands: &[Expr<'c>]) -> Result<Type<'c>, Diagnostic> {
        cx.call(op, operands, Meta::default()).map(Expr::ty)
    }

    fn refusal<'c>(cx: &Context<'c>, op: OpInstance<'c>, operands: &[Expr<'c>]) -> Diagnostic {
        of(cx, op, operands).unwrap_err()
    }

    #[test]
    fn types() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let index = cx.constant(Literal::Int(1), DType::I32, Meta::default());
        let long = cx.constant(Literal::Int(1), DType::I64, Meta::default());
        let float = cx.constant(Literal::Float(1.0), DType::F32, Meta::default());
        let truth = cx.constant(Literal::Bool(true), DType::Bool, Meta::default());
        assert_eq!(of(cx, Add::new(cx), &[index, long]), Ok(crate::umat_scalar(cx)));
        assert_ne!(crate::umat_scalar(cx), cx.scalar(DType::I64));
        assert_eq!(of(cx, Mul::new(cx), &[float, float]), Ok(cx.umat_scalar(DType::F32)));
        assert_eq!(of(cx, Neg::new(cx), &[float]), Ok(cx.umat_scalar(DType::F32)));
        for operands in [[index, long], [float, float]] {
            assert_eq!(of(cx, CmpLt::new(cx), &operands), Ok(cx.umat_scalar(DType::Bool)));
        }
        assert_eq!(of(cx, CmpEq::new(cx), &[truth, truth]), Ok(cx.umat_scalar(DType::Bool)));
        assert_eq!(of(cx, LogicalAnd::new(cx), &[truth, truth]), Ok(cx.umat_scalar(DType::Bool)));
        assert_eq!(
            refusal(cx, Mod::new(cx), &[index, float]).message,
            r#"`dim.mod` takes rank-0 i32 or i64 operands, found Tensor[(), "f32", "umat"]"#
        );
        assert_eq!(
            refusal(cx, Add::new(cx), &[index, float]).message,
            "`dim.add` takes operands of one dtype, found i64 and f32"
        );
        assert_eq!(
            refusal(cx, CmpLt::new(cx), &[truth, truth]).message,
            r#"`dim.cmp_lt` takes rank-0 numbers, found Tensor[(), "bool", "umat"]"#
        );
        assert_eq!(
            refusal(cx, LogicalNot::new(cx), &[index]).message,
            r#"`dim.logical_not` takes rank-0 bools, found Tensor[(), "i32", "umat"]"#
        );
        let vector = cx.tensor(&[cx.dim(4)], DType::I64, None, Storage::Gmem);
        let vector = cx.var(cx.symbol("v"), vector, Meta::default());
        let error = refusal(cx, Sub::new(cx), &[vector, index]);
        assert_eq!(error.notes[0].1, r#"operand 0: `v` is Tensor[(4,), "i64"]"#);
        assert_eq!(refusal(cx, LogicalOr::new(cx), &[truth, float]).message.matches("bools").count(), 1);
    }
}
