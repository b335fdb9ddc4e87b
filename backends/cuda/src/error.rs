//! Why an artifact does not run.

use std::fmt;

/// Why an artifact does not run on a device.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CudaError {
    /// The CUDA driver library cannot be loaded.
    NoDriver,
    /// The driver has no device of that ordinal.
    NoDevice {
        /// What was asked for.
        ordinal: usize,
        /// How many devices there are.
        count: usize,
    },
    /// The driver rejects the PTX.
    Ptx {
        /// The driver's error.
        error: String,
        /// The log of its compiler; may be empty.
        log: String,
    },
    /// Inputs that do not fit the entry's parameters.
    Inputs(String),
    /// A driver call failed.
    Driver {
        /// What was being done.
        doing: String,
        /// The driver's error.
        error: String,
    },
}

impl fmt::Display for CudaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoDriver => f.write_str("there is no CUDA driver: the library libcuda.so cannot be loaded"),
            Self::NoDevice { ordinal, count: 0 } => write!(f, "there is no CUDA device {ordinal}: the driver has none"),
            Self::NoDevice { ordinal, count } => {
                write!(f, "there is no CUDA device {ordinal}: the driver has {count}, numbered from 0")
            }
            Self::Ptx { error, log } if log.is_empty() => write!(f, "the driver rejects the PTX: {error}"),
            Self::Ptx { error, log } => write!(f, "the driver rejects the PTX: {error}\n{log}"),
            Self::Inputs(what) => f.write_str(what),
            Self::Driver { doing, error } => write!(f, "CUDA error while {doing}: {error}"),
        }
    }
}

impl std::error::Error for CudaError {}
