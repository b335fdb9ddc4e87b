//! `emit-mlir`: the module as MLIR text.
use crate::{Session, emit::emit_module};
use tf_core::{Module, Result};
use tf_framework::{Artifact, Pass, PassCx, PassRegistry};

/// Leaves the TIR module as one MLIR module in text, which `mlir-opt` of the same LLVM release accepts.
///
/// Device functions are in `gpu.module @kernels`; host functions and CPU functions are `func.func`s. Run `lower-tir`
/// first.
#[derive(Clone, Pass)]
#[pass(name = "emit-mlir")]
pub struct EmitMlir {}

impl Pass for EmitMlir {
    fn run<'c>(&self, module: Module<'c>, cx: &mut PassCx<'_, 'c>) -> Result<Module<'c>> {
        let session = Session::new();
        let mlir = emit_module(&session, module, cx.sources())?;
        cx.emit_artifact(Artifact::text("mlir", "mlir", format!("{}\n", mlir.as_operation())));
        Ok(module)
    }
}

/// Registers `emit-mlir`.
pub fn register(registry: &mut PassRegistry) {
    registry.module_pass(EmitMlir::new());
}
