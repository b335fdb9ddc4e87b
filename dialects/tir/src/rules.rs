//! What the rules of several ops check.

use tf_core::Expr;
use tf_core::op::RuleError;
use tf_types::TensorType;

/// The operand's tensor type.
pub fn tensor<'c>(index: usize, name: &str, operand: Expr<'c>) -> Result<&'c TensorType<'c>, RuleError> {
    operand.ty().as_tensor().ok_or_else(|| {
        RuleError::new(format!("`{name}` must be a tensor, found {}", operand.ty()))
            .operand(index, operand.ty().to_string())
    })
}

/// Refuses two operands of unequal dtype.
pub fn same_dtype(op: &str, a: (usize, Expr<'_>), b: (usize, Expr<'_>)) -> Result<(), RuleError> {
    let (ta, tb) = (tensor(a.0, "operand", a.1)?, tensor(b.0, "operand", b.1)?);
    if ta.dtype == tb.dtype {
        return Ok(());
    }
    let message = format!("`{op}` takes operands of one dtype, found {} and {}", ta.dtype, tb.dtype);
    Err(RuleError::new(message).operand(a.0, a.1.ty().to_string()).operand(b.0, b.1.ty().to_string()))
}

/// Refuses two operands of unequal shape.
pub fn same_shape(op: &str, a: (usize, Expr<'_>), b: (usize, Expr<'_>)) -> Result<(), RuleError> {
    let (ta, tb) = (tensor(a.0, "operand", a.1)?, tensor(b.0, "operand", b.1)?);
    if ta.shape == tb.shape {
        return Ok(());
    }
    let message = format!("`{op}` takes operands of one shape, found {} and {}", a.1.ty(), b.1.ty());
    Err(RuleError::new(message).operand(a.0, a.1.ty().to_string()).operand(b.0, b.1.ty().to_string()))
}

/// Refuses an operand whose shape does not broadcast to that of `target` (right-aligned, 1 expands).
pub fn broadcasts_to(op: &str, a: (usize, Expr<'_>), target: (usize, Expr<'_>)) -> Result<(), RuleError> {
    let (ta, tb) = (tensor(a.0, "operand", a.1)?, tensor(target.0, "operand", target.1)?);
    let aligned = ta.rank() <= tb.rank()
        && ta.shape.iter().rev().zip(tb.shape.iter().rev()).all(|(x, y)| x == y || x.as_const() == Some(1));
    if aligned {
        return Ok(());
    }
    let message = format!("`{op}`: {} does not broadcast to {}", a.1.ty(), target.1.ty());
    Err(RuleError::new(message).operand(a.0, a.1.ty().to_string()).operand(target.0, target.1.ty().to_string()))
}
