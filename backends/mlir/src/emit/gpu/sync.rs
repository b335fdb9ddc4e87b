//! `T.sync`: a barrier of the whole CTA.
use crate::emit::{gpu::KernelCx, table::EmitEffect};
use tf_core::{Diagnostic, Result, op::OpCall};
use tf_tir::{sync::barrier::Sync, tensor::reduce::Positions};

impl EmitEffect for Sync {
    const WRITES: &'static [usize] = &[];

    fn emit<'a, 'c>(call: OpCall<'c, Self>, cx: &mut KernelCx<'a, 'c>) -> Result<()> {
        let positions = Positions::of(call.mesh()).map_err(Diagnostic::from)?;
        let threads: i64 = positions.axes.iter().filter(|a| a.in_cta).map(|a| a.extent).product();
        let block = cx.prologue.geometry().total(true);
        if threads != block {
            let message = format!("`T.sync` of {threads} threads of a CTA of {block} is not built yet");
            return Err(Diagnostic::error(message).with_help("synchronise all threads of the CTA"));
        }
        cx.barrier()
    }
}
