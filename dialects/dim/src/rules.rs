//! What the ops have in common: which scalars they take, what they give, their values.

use tf_core::op::{Op, OpCall, RuleError};
use tf_core::{Context, Expr};
use tf_types::kinds::{BinaryKind, UnaryKind};
use tf_types::{DType, Type};
use tf_value::{Tensor, Value, ValueError};

/// The elementwise operation that an op is, on scalars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScalarKind {
    /// Of two operands.
    Binary(BinaryKind),
    /// Of one operand.
    Unary(UnaryKind),
}

/// An op of the dialect.
pub trait ScalarOp: Op {
    /// What it computes.
    const KIND: ScalarKind;
}

/// The type of integer results: rank-0 `i64` in `umat` with the empty layout.
pub fn umat_scalar<'c>(cx: &Context<'c>) -> Type<'c> {
    cx.umat_scalar(DType::I64)
}

/// The dtypes an operation takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    Integers,
    Numbers,
    Bools,
    Anything,
}

impl Takes {
    const fn of(kind: ScalarKind) -> Self {
        match kind {
            ScalarKind::Binary(BinaryKind::FloorDiv | BinaryKind::Mod) => Self::Integers,
            ScalarKind::Binary(BinaryKind::And | BinaryKind::Or) | ScalarKind::Unary(UnaryKind::Not) => Self::Bools,
            ScalarKind::Binary(BinaryKind::Eq | BinaryKind::Ne) => Self::Anything,
            _ => Self::Numbers,
        }
    }

    const fn admits(self, dtype: DType) -> bool {
        match self {
            Self::Integers => dtype.is_integer(),
            Self::Numbers => dtype.is_integer() || dtype.is_float(),
            Self::Bools => matches!(dtype, DType::Bool),
            Self::Anything => true,
        }
    }

    const fn text(self) -> &'static str {
        match self {
            Self::Integers => "rank-0 i32 or i64 operands",
            Self::Numbers => "rank-0 numbers",
            Self::Bools => "rank-0 bools",
            Self::Anything => "rank-0 operands",
        }
    }
}

fn described(operand: Expr<'_>) -> String {
    format!("{} is {}", operand.describe(), operand.ty())
}

/// The result type, once all operands are scalars that the op takes: integers of any width, or one dtype.
pub(crate) fn infer<'c, O: ScalarOp>(call: OpCall<'c, O>, cx: &Context<'c>) -> Result<Type<'c>, RuleError> {
    let takes = Takes::of(O::KIND);
    let mut dtypes = Vec::with_capacity(2);
    for (index, &operand) in call.operands().iter().enumerate() {
        let dtype = operand.ty().as_tensor().filter(|t| t.rank() == 0).map(|t| t.dtype);
        let Some(dtype) = dtype.filter(|&dtype| takes.admits(dtype)) else {
            let message = format!("`{}` takes {}, found {}", O::DECL.name, takes.text(), operand.ty());
            return Err(RuleError::new(message).operand(index, described(operand)));
        };
        dtypes.push(if dtype.is_integer() { DType::I64 } else { dtype });
    }
    let dtype = dtypes[0];
    if let Some(&other) = dtypes.get(1).filter(|&&other| other != dtype) {
        let message = format!("`{}` takes operands of one dtype, found {dtype} and {other}", O::DECL.name);
        let error = RuleError::new(message).with_help("write a literal of that dtype, or cast the value into a buffer");
        return Err((0..2).fold(error, |error, at| error.operand(at, described(call.operands()[at]))));
    }
    let is_comparison = matches!(O::KIND, ScalarKind::Binary(kind) if kind.is_comparison());
    Ok(cx.umat_scalar(if is_comparison { DType::Bool } else { dtype }))
}

/// The value of a call.
pub(crate) fn eval<O: ScalarOp>(operands: &[Value]) -> Result<Value, ValueError> {
    match (O::KIND, operands) {
        (ScalarKind::Binary(kind), [Value::Tensor(lhs), Value::Tensor(rhs)]) => {
            let integers = lhs.dtype().is_integer() && rhs.dtype().is_integer();
            if integers && let Some(value) = integer(kind, lhs.to_index()?, rhs.to_index()?) {
                return value.map(|value| Tensor::scalar(value).into()).map_err(|_| {
                    ValueError::new(format!("`{}` divides {} by zero", O::DECL.name, lhs.to_index().unwrap_or(0)))
                });
            }
            Ok(wide(lhs)?.binary(wide(rhs)?, kind)?.into())
        }
        (ScalarKind::Unary(kind), [Value::Tensor(operand)]) => Ok(wide(operand)?.unary(kind)?.into()),
        _ => Err(ValueError::new(format!("`{}` takes scalars, found {} values", O::DECL.name, operands.len()))),
    }
}

fn wide(operand: &Tensor) -> Result<Tensor, ValueError> {
    if operand.dtype().is_integer() { operand.cast(DType::I64) } else { Ok(operand.clone()) }
}

struct ZeroDivisor;

/// Arithmetic of two integers, which addresses are full of, without a tensor in between; none for other kinds.
fn integer(kind: BinaryKind, lhs: i64, rhs: i64) -> Option<Result<i64, ZeroDivisor>> {
    let divided = |f: fn(i64, i64) -> i64| if rhs == 0 { Err(ZeroDivisor) } else { Ok(f(lhs, rhs)) };
    Some(match kind {
        BinaryKind::Add => Ok(lhs.wrapping_add(rhs)),
        BinaryKind::Sub => Ok(lhs.wrapping_sub(rhs)),
        BinaryKind::Mul => Ok(lhs.wrapping_mul(rhs)),
        BinaryKind::Div => divided(i64::wrapping_div),
        BinaryKind::FloorDiv => divided(floor_div),
        BinaryKind::Mod => divided(floor_mod),
        BinaryKind::Min => Ok(lhs.min(rhs)),
        BinaryKind::Max => Ok(lhs.max(rhs)),
        _ => return None,
    })
}

fn floor_div(lhs: i64, rhs: i64) -> i64 {
    let inexact = lhs.wrapping_rem(rhs) != 0;
    lhs.wrapping_div(rhs) - i64::from(inexact && (lhs < 0) != (rhs < 0))
}

fn floor_mod(lhs: i64, rhs: i64) -> i64 {
    let rest = lhs.wrapping_rem(rhs);
    if rest != 0 && (rest < 0) != (rhs < 0) { rest + rhs } else { rest }
}
