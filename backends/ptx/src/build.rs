//! From a TIR module to PTX and to an artifact.
use crate::{Arch, Ptx, PtxOptions, compile, manifest};
use tf_artifact::Artifact;
use tf_core::{AnyFunction, Diagnostic, Module, Result, SourceMap, TargetKind};
use tf_mlir::{BackendError, Session, emit::emit_module};

/// Architecture of a module that states no device.
const DEFAULT_ARCH: &str = "sm_90";

/// The artifact of a module that `lower-tir` made: the PTX of its kernels and how its host function launches them.
/// `arch` is an architecture such as `sm_80`; `None`: that of the module's device.
///
/// # Errors
/// No device function or no launch; an unknown architecture; what the back end refuses.
pub fn artifact(module: Module<'_>, sources: &SourceMap, arch: Option<&str>, optimization: u8) -> Result<Artifact> {
    if !has_kernels(module) {
        let message = format!("module `{}` has no device function to compile to PTX", module.name);
        return Err(Diagnostic::error(message).at(module.span).with_help("run `lower-tir` first, for a CUDA device"));
    }
    let (ptx, arch) = ptx(module, sources, arch, optimization)?;
    manifest::artifact(module, &ptx, arch.name())
}

pub(crate) fn ptx(
    module: Module<'_>,
    sources: &SourceMap,
    asked: Option<&str>,
    optimization: u8,
) -> Result<(Ptx, Arch)> {
    let arch = arch(asked, module)?;
    let session = Session::new();
    let mlir = emit_module(&session, module, sources)?;
    let options = PtxOptions { optimization, ..PtxOptions::new(arch) };
    Ok((compile(&session, &mlir, &options)?, arch))
}

pub(crate) fn has_kernels(module: Module<'_>) -> bool {
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
            device
                .map_err(|error| Diagnostic::error(error.to_string()).at(module.target_span()))?
                .architecture
                .code
                .clone()
        }
    };
    code.parse().map_err(|error: BackendError| Diagnostic::from(error).at(module.target_span()))
}
