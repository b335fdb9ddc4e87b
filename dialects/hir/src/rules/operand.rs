//! Operands of a call, as types and as values.

use tf_core::Expr;
use tf_core::op::{Op, OpCall, RuleError};
use tf_types::{Dim, TensorType, TypeKind};
use tf_value::{Tensor, Value, ValueError};

/// The type of an operand that must be a tensor.
///
/// # Errors
/// It is a tuple or no value.
pub fn tensor<'c, O: Op>(call: &OpCall<'c, O>, index: usize) -> Result<&'c TensorType<'c>, RuleError> {
    tensor_of(&O::DECL.name, call, index)
}

/// As [`tensor`], of an op that is known by another name: that of its kind.
///
/// # Errors
/// As [`tensor`].
pub fn tensor_of<'c, O: Op>(
    name: &dyn std::fmt::Display,
    call: &OpCall<'c, O>,
    index: usize,
) -> Result<&'c TensorType<'c>, RuleError> {
    let ty = call.operands()[index].ty();
    ty.as_tensor().ok_or_else(|| {
        let operand = O::DECL.inputs().nth(index).or(O::DECL.inputs().last()).map_or("operand", |p| p.name);
        let error = RuleError::new(format!("`{name}` takes a tensor as `{operand}`, found {ty}"))
            .operand(index, format!("{}: {ty}", call.operands()[index].describe()));
        match ty.data() {
            TypeKind::Tuple(_) => error.with_help("take one of its fields: `t[0]`, or `a, b = t`"),
            _ => error,
        }
    })
}

/// The shape of a tensor operand; empty for what is no tensor.
#[must_use]
pub fn shape(operand: Expr<'_>) -> &[Dim<'_>] {
    operand.ty().as_tensor().map_or(&[], |t| t.shape)
}

/// The value of an operand that must be a tensor.
///
/// # Errors
/// It is missing or a tuple.
pub fn value<O: Op>(operands: &[Value], index: usize) -> Result<&Tensor, ValueError> {
    match operands.get(index) {
        Some(Value::Tensor(tensor)) => Ok(tensor),
        Some(Value::Tuple(fields)) => Err(ValueError::new(format!(
            "`{}` takes tensors, but operand {index} is a tuple of {}",
            O::DECL.name,
            fields.len()
        ))),
        None => Err(ValueError::new(format!("`{}` got {} operands", O::DECL.name, operands.len()))),
    }
}

/// As [`value`], taken out of the operands: where nobody else holds its elements, the result may take their place.
///
/// # Errors
/// As [`value`].
pub fn take<O: Op>(operands: &mut [Value], index: usize) -> Result<Tensor, ValueError> {
    value::<O>(operands, index)?;
    match std::mem::replace(&mut operands[index], Value::Tuple(Vec::new())) {
        Value::Tensor(tensor) => Ok(tensor),
        Value::Tuple(_) => unreachable!("it is a tensor"),
    }
}

/// The values of operands that must all be tensors.
///
/// # Errors
/// One is a tuple.
pub fn values<O: Op>(operands: &[Value]) -> Result<Vec<Tensor>, ValueError> {
    (0..operands.len()).map(|index| value::<O>(operands, index).cloned()).collect()
}
