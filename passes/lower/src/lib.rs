//! Lowering of HIR to TIR, and of TIR to TIR.
//!
//! `lower-tir` expands to `hir-to-tir`, `bufferize`, `host-entry`. The lowering of an op is one rule in [`LowerRules`],
//! which sees a [`Lowerer`] and never the nesting of statements.

mod block;
pub mod bufferize;
mod function;
mod grid;
pub mod hir_to_tir;
pub mod host_entry;
mod lowerer;
mod ops;
mod table;

use tf_framework::{OptionDecl, OptionValue, PassRegistry};

pub use lowerer::Lowerer;
pub use table::{LowerFn, LowerRules, LowerTable};

use crate::bufferize::Bufferize;
use crate::hir_to_tir::{HirToTir, LowerTarget};
use crate::host_entry::HostEntry;

/// Registers the passes of this crate and the pipeline `lower-tir`.
pub fn register(passes: &mut PassRegistry, table: LowerTable) {
    passes.module_pass(HirToTir { target: LowerTarget::default(), table });
    passes.prim_func_pass(Bufferize::default());
    passes.module_pass(HostEntry {});
    passes.pipeline(
        "lower-tir",
        "Lowers HIR to TIR: functions, buffers, and the host function that launches the entry kernel.",
        LOWER_TIR_OPTIONS,
        |options| Ok(format!("hir-to-tir{{{}}},bufferize,host-entry", options.forward("target").trim())),
    );
}

const LOWER_TIR_OPTIONS: &[OptionDecl] = &[OptionDecl {
    name: "target",
    doc: "What the functions will run on; `cpu` drops placement.",
    kind: <LowerTarget as OptionValue>::KIND,
    default: Some("cuda"),
    required: false,
}];
