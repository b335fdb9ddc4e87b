//! Liveness of buffers, shared by the passes that ask.

use tf_core::{Context, PrimFunction};
use tf_dataflow::Liveness;
use tf_framework::FunctionAnalysis;
use tf_tir::overwritten;

/// Which buffers of a TIR function are read later, given what its effects overwrite.
pub struct BufferLiveness;

impl FunctionAnalysis for BufferLiveness {
    const NAME: &'static str = "liveness";
    type Subject<'c> = PrimFunction<'c>;
    type Result<'c> = Liveness<'c>;

    fn run<'c>(&self, function: PrimFunction<'c>, _: &Context<'c>) -> Liveness<'c> {
        Liveness::new(function, overwritten)
    }
}
