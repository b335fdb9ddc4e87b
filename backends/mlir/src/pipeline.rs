//! Pass pipelines as text, the same text `mlir-opt --pass-pipeline` takes.
use crate::{BackendError, Session};
use melior::{ir::Module, pass::PassManager, utility::parse_pass_pipeline};

/// func, scf, memref, vector, arith and math to the LLVM dialect. `arith-expand` turns bf16
/// conversions into integer code, which needs no compiler runtime; math functions become the C
/// library's, whatever LLVM has no instruction for.
const CPU: &str = "builtin.module(\
canonicalize,cse,\
func.func(arith-expand{include-bf16=true}),\
func.func(convert-vector-to-scf),lower-affine,convert-scf-to-cf,\
expand-strided-metadata,convert-vector-to-llvm,finalize-memref-to-llvm,\
func.func(convert-math-to-llvm),convert-math-to-libm,\
convert-arith-to-llvm,convert-index-to-llvm,convert-cf-to-llvm,convert-func-to-llvm,\
reconcile-unrealized-casts)";

/// GPU modules to the NVVM dialect. Parameters become bare pointers, which is what a driver
/// launch passes; vector, arith and memref go through the same conversion.
const GPU: &str = "builtin.module(gpu.module(\
canonicalize,cse,lower-affine,convert-scf-to-cf,expand-strided-metadata,\
convert-gpu-to-nvvm{use-bare-ptr-memref-call-conv=1},canonicalize,cse,\
reconcile-unrealized-casts))";

/// The lowering pipelines of the two targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pipeline {
    /// Host functions to the LLVM dialect.
    Cpu,
    /// GPU modules to the NVVM dialect.
    Gpu,
}

impl Pipeline {
    /// The pipeline as pass-manager text.
    pub fn text(self) -> &'static str {
        match self {
            Self::Cpu => CPU,
            Self::Gpu => GPU,
        }
    }

    /// Runs the pipeline in place, verifying after every pass.
    ///
    /// # Errors
    /// The messages of the pass or verifier that failed; the module is then half lowered.
    pub fn run(self, session: &Session, module: &mut Module) -> Result<(), BackendError> {
        run(session, module, self.text())
    }
}

/// Runs a pipeline given as text over `module`.
///
/// # Errors
/// An unknown pass or option, or the messages of the pass that failed.
pub fn run(session: &Session, module: &mut Module, text: &str) -> Result<(), BackendError> {
    let manager = PassManager::new(session.context());
    manager.enable_verifier(true);
    let mut reason = String::new();
    session
        .attempt("bad MLIR pass pipeline", || {
            parse_pass_pipeline(manager.as_operation_pass_manager(), text).map_err(|error| reason = error.to_string())
        })
        .map_err(|mut error| {
            error.details.push(reason.clone());
            error
        })?;
    session.attempt("an MLIR pass failed", || manager.run(module))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_pass_is_named() {
        let session = Session::new();
        let mut module = session.parse("module {}").unwrap();
        let error = run(&session, &mut module, "builtin.module(no-such-pass)").unwrap_err();
        assert!(error.to_string().contains("no-such-pass"), "{error}");
    }

    #[test]
    fn failing_pass_reports_mlirs_message() {
        let session = Session::new();
        let text = "gpu.module @k { gpu.func @f(%x: tensor<4xf32>) kernel { gpu.return } }";
        let mut module = session.parse(text).unwrap();
        let error = Pipeline::Gpu.run(&session, &mut module).unwrap_err();
        assert_eq!(error.message, "an MLIR pass failed");
        assert!(error.details.iter().any(|d| d.contains("failed to legalize")), "{error}");
    }
}
