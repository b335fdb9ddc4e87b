//! The type of ops that compute each element alone and keep the operand's type.

use tf_core::Context;
use tf_core::op::{Op, OpCall, RuleError};
use tf_types::Type;

use crate::rules::dtype::{self, Takes};
use crate::rules::{layout, operand, partial};

/// The type of operand 0, which must have a dtype the op takes and no partial terms but those the row keeps.
///
/// # Errors
/// As said.
pub fn infer<'c, O: Op>(
    call: &OpCall<'c, O>,
    cx: &Context<'c>,
    takes: Takes,
    row: partial::Row,
) -> Result<Type<'c>, RuleError> {
    let x = operand::tensor(call, 0)?;
    let what = format!("`{}`", O::DECL.name);
    dtype::check(&what, takes, 0, x)?;
    partial::check(&what, row, &[x])?;
    Ok(cx.tensor(x.shape, x.dtype, layout::same(cx, x), x.storage))
}
