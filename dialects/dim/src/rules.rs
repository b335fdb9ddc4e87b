//! What the seven ops have in common.

use tf_core::Context;
use tf_core::op::{Op, OpCall, RuleError};
use tf_types::{DType, Storage, TensorLayout, Type};
use tf_value::{Tensor, Value, ValueError};

/// The type of every result: rank-0 `i64` in `umat` with the empty layout (spec: types §2).
pub fn umat_scalar<'c>(cx: &Context<'c>) -> Type<'c> {
    let empty = cx.layout(&[], Some(&[]));
    cx.tensor(&[], DType::I64, Some(TensorLayout::Plain(empty)), Storage::Umat)
}

/// The result type, once both operands are rank-0 integers.
pub(crate) fn infer<'c, O: Op>(call: OpCall<'c, O>, cx: &Context<'c>) -> Result<Type<'c>, RuleError> {
    for (index, operand) in call.operands().iter().enumerate() {
        let is_index = operand.ty().as_tensor().is_some_and(|t| t.rank() == 0 && t.dtype.is_integer());
        if !is_index {
            let message = format!("`{}` takes rank-0 i32 or i64 operands, found {}", O::DECL.name, operand.ty());
            return Err(RuleError::new(message).operand(index, format!("{} is {}", operand.describe(), operand.ty())));
        }
    }
    Ok(umat_scalar(cx))
}

/// `f(lhs, rhs)` as a rank-0 `i64`.
pub(crate) fn eval<O: Op>(
    operands: &[Value],
    f: impl FnOnce(i64, i64) -> Result<i64, ValueError>,
) -> Result<Value, ValueError> {
    let [Value::Tensor(lhs), Value::Tensor(rhs)] = operands else {
        return Err(ValueError::new(format!("`{}` takes two scalars, found {} values", O::DECL.name, operands.len())));
    };
    Ok(Tensor::scalar(f(lhs.to_index()?, rhs.to_index()?)?).into())
}

/// `f(lhs, rhs)` unless the divisor is 0.
pub(crate) fn divide(what: &str, lhs: i64, rhs: i64, f: impl FnOnce(i64, i64) -> i64) -> Result<i64, ValueError> {
    match rhs {
        0 => Err(ValueError::new(format!("`{what}` divides {lhs} by zero"))),
        _ => Ok(f(lhs, rhs)),
    }
}
