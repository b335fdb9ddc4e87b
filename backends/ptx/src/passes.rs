//! `emit-ptx` and `emit-llvm`.
use crate::{Arch, build, host, manifest};
use tf_core::{Module, Result};
use tf_framework::{Artifact, OptionError, Pass, PassCx, PassRegistry};
use tf_mlir::{Session, emit::emit_module};

/// Compiles the kernels of a TIR module to PTX, with a JSON manifest beside it that says how to launch them.
///
/// The PTX needs no other library. Run `lower-tir` first.
#[derive(Clone, Pass)]
#[pass(name = "emit-ptx")]
pub struct EmitPtx {
    /// Architecture, such as `sm_80`; left out, that of the module's device.
    #[option]
    arch: Option<String>,
    /// LLVM's optimization level, 0 to 3.
    #[option]
    #[default("3")]
    opt: i64,
}

impl Pass for EmitPtx {
    fn check(&self) -> Result<(), OptionError> {
        check(self.arch.as_deref(), self.opt)
    }

    fn run<'c>(&self, module: Module<'c>, cx: &mut PassCx<'_, 'c>) -> Result<Module<'c>> {
        let artifact = build::artifact(module, cx.sources(), self.arch.as_deref(), optimization(self.opt))?;
        let json = artifact.manifest_json().map_err(manifest::refused)?;
        let text = Artifact::text("ptx", "ptx", artifact.ptx().to_owned());
        cx.emit_artifact(text.with_companion("json", json.into_bytes()));
        Ok(module)
    }
}

/// Leaves the optimized LLVM IR of a TIR module: of its kernels, or of its CPU functions if it has none.
///
/// Run `lower-tir` first.
#[derive(Clone, Pass)]
#[pass(name = "emit-llvm")]
pub struct EmitLlvm {
    /// Architecture of kernels, such as `sm_80`; left out, that of the module's device.
    #[option]
    arch: Option<String>,
    /// LLVM's optimization level, 0 to 3.
    #[option]
    #[default("3")]
    opt: i64,
}

impl Pass for EmitLlvm {
    fn check(&self) -> Result<(), OptionError> {
        check(self.arch.as_deref(), self.opt)
    }

    fn run<'c>(&self, module: Module<'c>, cx: &mut PassCx<'_, 'c>) -> Result<Module<'c>> {
        let text = if build::has_kernels(module) {
            build::ptx(module, cx.sources(), self.arch.as_deref(), optimization(self.opt))?.0.llvm_ir
        } else {
            let session = Session::new();
            let mlir = emit_module(&session, module, cx.sources())?;
            host::llvm_ir(&session, &mlir, optimization(self.opt))?
        };
        cx.emit_artifact(Artifact::text("llvm", "ll", text));
        Ok(module)
    }
}

/// Registers `emit-ptx` and `emit-llvm`.
pub fn register(registry: &mut PassRegistry) {
    registry.module_pass(EmitPtx::new());
    registry.module_pass(EmitLlvm::new());
}

fn check(arch: Option<&str>, opt: i64) -> Result<(), OptionError> {
    let refuse = |option, message| Err(OptionError { option, message, help: None, missing: false });
    if let Some(Err(error)) = arch.map(str::parse::<Arch>) {
        return refuse("arch", error.message);
    }
    if !(0..=3).contains(&opt) {
        return refuse("opt", format!("expected a level from 0 to 3, found {opt}"));
    }
    Ok(())
}

/// [`check`] has seen that it is one.
fn optimization(opt: i64) -> u8 {
    u8::try_from(opt).unwrap_or(u8::MAX)
}
