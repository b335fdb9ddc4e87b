//! Exchange between the lanes of a warp.
use crate::emit::{V, gpu::KernelCx};
use melior::ir::{Attribute, ValueLike};
use tf_core::{Diagnostic, Result};
use tf_types::DType;

/// Lanes of a warp.
const WARP: i64 = 32;

impl<'a> KernelCx<'a, '_> {
    /// The value that lane `l xor distance` holds.
    ///
    /// # Errors
    /// None that a well-typed value can cause.
    pub(crate) fn shuffle_xor(&self, dtype: DType, value: V<'a>, distance: i64) -> Result<V<'a>> {
        let builder = &self.builder;
        let i32 = builder.int_type(32);
        // The hardware moves 32-bit registers; wider and narrower values travel inside those.
        let (carried, unpack) = match dtype {
            DType::Bool => (builder.value("arith.extui", &[value], i32, &[])?, Some("arith.trunci")),
            _ => (value, None),
        };
        let (offset, width) = (builder.integer(i32, distance)?, builder.integer(i32, WARP)?);
        let mode = Attribute::parse(builder.context(), "#gpu<shuffle_mode xor>")
            .ok_or_else(|| Diagnostic::error("MLIR has no shuffle mode attribute"))?;
        let results = [carried.r#type(), builder.int_type(1)];
        let moved = builder.op("gpu.shuffle", &[carried, offset, width], &results, &[("mode", mode)])?;
        let moved = crate::emit::build::first_result(moved)?;
        match unpack {
            Some(name) => builder.value(name, &[moved], value.r#type(), &[]),
            None => Ok(moved),
        }
    }
}
