//! `T.alloc_tensor`: registers of a thread, or shared memory of a CTA.
use crate::emit::{
    gpu::{
        Buffer, KernelCx,
        index::Index,
        memory::{Place, local_len},
    },
    table::EmitBuffer,
};
use tf_core::{Diagnostic, Expr, Result, op::OpCall};
use tf_tir::{held::Held, memory::alloc_tensor::AllocTensor};
use tf_types::Storage;

impl EmitBuffer for AllocTensor {
    fn emit<'a, 'c>(call: OpCall<'c, Self>, var: Expr<'c>, cx: &mut KernelCx<'a, 'c>) -> Result<Buffer<'a, 'c>> {
        let ty = call.tensor_type();
        let tensor = ty.as_tensor().ok_or_else(|| Diagnostic::error(format!("{ty} cannot be allocated")))?;
        let held = Held::of(tensor).map_err(Diagnostic::from)?;
        let place = match tensor.storage {
            Storage::Rmem => {
                let len = local_len(&held)?;
                Place::Registers { file: cx.registers.allocate(tensor.dtype, len), at: (0..len).collect() }
            }
            Storage::Smem => {
                let (number, memref) =
                    *cx.shared.get(&var).ok_or_else(|| Diagnostic::error(format!("{var:?} has no shared memory")))?;
                Place::Memory { memref, start: Index::constant(0), shared: Some(number) }
            }
            other => {
                let message = format!("a buffer in {other} cannot be allocated by device code");
                return Err(
                    Diagnostic::error(message).with_help("allocate it in rmem or smem, or pass it as a parameter")
                );
            }
        };
        Ok(Buffer { dtype: tensor.dtype, held, place })
    }
}
