//! `emit-ptx` and `emit-llvm`.
use crate::{Arch, Ptx, PtxOptions, compile, host, manifest};
use tf_core::{AnyFunction, Diagnostic, Module, Result, TargetKind};
use tf_framework::{Artifact, OptionError, Pass, PassCx, PassRegistry};
use tf_mlir::{BackendError, Session, emit::emit_module};

/// Architecture of a module that states no device.
const DEFAULT_ARCH: &str = "sm_90";

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
        if !has_kernels(module) {
            let message = format!("module `{}` has no device function to compile to PTX", module.name);
            return Err(Diagnostic::error(message)
                .at(module.span)
                .with_help("run `lower-tir` first, for a CUDA device"));
        }
        let arch = arch(self.arch.as_deref(), module)?;
        let ptx = ptx(module, cx, arch, self.opt)?;
        let artifact = manifest::artifact(module, &ptx, arch.name())?;
        let json = artifact.manifest_json().map_err(manifest::refused)?;
        let text = Artifact::text("ptx", "ptx", ptx.ptx);
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
        let text = if has_kernels(module) {
            ptx(module, cx, arch(self.arch.as_deref(), module)?, self.opt)?.llvm_ir
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

fn has_kernels(module: Module<'_>) -> bool {
    module.functions.iter().any(|f| matches!(f, AnyFunction::Tir(f) if f.target.kind == TargetKind::Cuda))
}

/// The architecture asked for, else that of the device that the module or its first kernel states.
fn arch(asked: Option<&str>, module: Module<'_>) -> Result<Arch> {
    let kernels = module.functions.iter().filter_map(|function| match function {
        AnyFunction::Tir(function) => Some(function.target),
        AnyFunction::Hir(_) => None,
    });
    let targets = module.target.into_iter().chain(kernels);
    let device = targets.filter(|t| t.kind == TargetKind::Cuda).map(|t| t.device).find(|d| !d.as_str().is_empty());
    let code = match (asked, device) {
        (Some(arch), _) => arch.to_owned(),
        (None, None) => DEFAULT_ARCH.to_owned(),
        (None, Some(device)) => {
            let device = tf_target::lookup(device.as_str());
            device.map_err(|error| Diagnostic::error(error.to_string()).at(module.span))?.architecture.code
        }
    };
    code.parse().map_err(|error: BackendError| Diagnostic::from(error).at(module.span))
}

fn ptx(module: Module<'_>, cx: &PassCx<'_, '_>, arch: Arch, opt: i64) -> Result<Ptx> {
    let session = Session::new();
    let mlir = emit_module(&session, module, cx.sources())?;
    let options = PtxOptions { optimization: optimization(opt), ..PtxOptions::new(arch) };
    Ok(compile(&session, &mlir, &options)?)
}
