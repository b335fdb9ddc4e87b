//! Facts about the hardware that programs run on.
//!
//! The tables are the JSON files in `data/`: one a device, one an architecture. A fact is a value with its unit and origin, or it is
//! unavailable with a reason; asking for one that is unavailable is an error, never a zero.

mod facts;
pub mod mma;

pub use facts::{Architecture, Device, Fact, TargetError, TargetFamily, default_device, device_names, lookup};
