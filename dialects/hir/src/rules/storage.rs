//! Result storage by anchors.

use tf_core::op::RuleError;
use tf_types::{Storage, TensorType};

/// The one residency that the operands agree on; `umat` abstains, and all `umat` gives `umat`.
///
/// # Errors
/// Two operands with different residencies.
pub fn anchor(what: &str, operands: &[&TensorType<'_>]) -> Result<Storage, RuleError> {
    let mut anchored = operands.iter().enumerate().filter(|(_, t)| t.storage != Storage::Umat);
    let Some((first, anchor)) = anchored.next() else { return Ok(Storage::Umat) };
    match anchored.find(|(_, t)| t.storage != anchor.storage) {
        None => Ok(anchor.storage),
        Some((second, other)) => Err(RuleError::new(format!(
            "{what} takes operands of one storage, found {} and {}",
            anchor.storage, other.storage
        ))
        .operand(first, format!("{anchor}"))
        .operand(second, format!("{other}"))
        .with_help(format!("reshard one operand to {} or {}", anchor.storage, other.storage))),
    }
}
