//! Matrix instructions: their shapes, dtypes, and what each thread holds of their operands.
//!
//! An instruction is known by its name, such as `SM80_16x8x16_F32BF16BF16F32_TN`: architecture, (M, N, K), the dtypes of the result,
//! of A, B and the accumulator, and the orientation of A and B. Facts are those of the PTX instruction set manual: `mma.m16n8k16`,
//! `mma.m16n8k8` on tf32, `wgmma.m64nNk16`.

mod fragment;
mod spec;

pub use fragment::{Fragment, Operand};
pub use spec::{MmaAtom, MmaOpSpec};
