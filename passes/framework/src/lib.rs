//! Passes and what runs them.
//!
//! A pass is a struct with `derive(Pass)` and one of the traits [`Pass`], [`FunctionPass`], [`PrimFuncPass`], [`AnyFunctionPass`]. A driver
//! registers prototypes in a [`PassRegistry`], builds a [`Pipeline`] from text and runs it with a [`PassManager`]. Passes return new IR and
//! never mutate: when one fails, the module before it is intact.

mod analysis;
mod apply;
mod chrome;
mod counter;
mod cx;
mod guarded;
mod instrument;
mod manager;
pub mod option;
mod parallel;
mod pass;
mod registry;
mod relink;
mod remark;
mod resolve;
pub mod text;

pub use analysis::FunctionAnalysis;
pub use chrome::TraceLog;
pub use counter::Counter;
pub use cx::{Artifact, FunctionCx, PassCx};
pub use instrument::{
    Instrumentation, IrPrinter, IrTree, PassRun, Print, PrintWhen, Progress, Recipe, Reproducer, Statistics, TimeLimit,
    Timing, TimingFormat, TracePage,
};
pub use manager::{Failure, Outcome, PassManager, Verifier};
pub use option::{NestedPipeline, OptionDecl, OptionKind, OptionValue};
pub use parallel::map_in_parallel;
pub use pass::{AnyFunctionPass, FunctionPass, Numerics, OptionError, Pass, PassDecl, PassInfo, PrimFuncPass};
pub use registry::{Entry, Options, PassRegistry, PatternHelp};
pub use remark::{RemarkFilter, RemarkKind};
pub use resolve::{Pipeline, PipelineError};
pub use tf_core::guard::{Panic, guard, record_panics};
pub use tf_framework_macros::{OptionValue, Pass};
