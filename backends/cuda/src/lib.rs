//! Runs artifacts on a CUDA device.
//!
//! The driver library is loaded when first needed; without one every call ends in [`CudaError::NoDriver`]. Nothing here links LLVM: what
//! one machine compiled runs on another.

mod bind;
mod driver;
mod error;

use tf_artifact::Artifact;
use tf_value::Tensor;

pub use driver::Device;
pub use error::CudaError;

/// What a run gives.
#[derive(Clone, Debug)]
pub struct Run {
    /// The results, in the order of the entry's result parameters.
    pub outputs: Vec<Tensor>,
    /// Median time of all kernels of one launch in microseconds, between CUDA events; `None` where no timing was asked for.
    pub median_us: Option<f64>,
}

/// The devices that the driver offers, by ordinal.
///
/// # Errors
/// There is no driver, or it does not start.
pub fn devices() -> Result<Vec<Device>, CudaError> {
    driver::devices()
}

/// Runs an artifact once on device `ordinal` and copies its results out. `inputs` bind by parameter name, in any order, and must have the
/// parameters' dtype and shape. Result memory is filled with ones (NaN, -1, true) before the launch, so that what a kernel leaves out shows.
///
/// # Errors
/// Inputs that do not fit (checked first), no driver, no such device, PTX that the driver rejects (with its log), a failed launch.
pub fn run(artifact: &Artifact, ordinal: usize, inputs: &[(&str, Tensor)]) -> Result<Vec<Tensor>, CudaError> {
    run_timed(artifact, ordinal, inputs, 0).map(|run| run.outputs)
}

/// As [`run`], and then `runs` more launches to warm up and as many timed ones. The results are those of the first launch.
///
/// # Errors
/// As [`run`].
pub fn run_timed(artifact: &Artifact, ordinal: usize, inputs: &[(&str, Tensor)], runs: u32) -> Result<Run, CudaError> {
    let images = bind::images(artifact, inputs)?;
    driver::run(artifact, ordinal, &images, runs)
}
