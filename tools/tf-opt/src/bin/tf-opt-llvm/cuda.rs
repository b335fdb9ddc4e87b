//! The engine `cuda:N`: compiles the module to an artifact and runs that on a device.

use tf_core::{Diagnostic, Result};
use tf_evaluate::{Engine, Request};
use tf_value::Tensor;

/// LLVM's optimisation level.
const OPTIMIZATION: u8 = 3;

/// Runs modules that `lower-tir` made on device N; `cuda` alone is device 0.
pub struct Cuda;

impl Engine for Cuda {
    fn name(&self) -> &'static str {
        "cuda"
    }

    fn run<'c>(&self, request: &Request<'_, 'c>) -> Result<Vec<Tensor>> {
        let argument = request.argument.unwrap_or("0");
        let ordinal: usize = argument.parse().map_err(|_| {
            Diagnostic::error(format!("`on=cuda:{argument}` names no device"))
                .with_help("state the device's number, as in on=cuda:0")
        })?;
        let artifact = tf_ptx::artifact(request.module, request.cx.sources(), None, OPTIMIZATION)?;
        let names: Vec<_> = artifact.manifest().entry.parameters.iter().map(|p| p.name.as_str()).collect();
        let inputs: Vec<_> = names.into_iter().zip(request.inputs.iter().cloned()).collect();
        tf_cuda::run(&artifact, ordinal, &inputs).map_err(|error| Diagnostic::error(error.to_string()))
    }
}
