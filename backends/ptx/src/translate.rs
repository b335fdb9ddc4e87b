//! NVVM-dialect MLIR to LLVM IR to PTX.
use crate::{Arch, Kernel, kernel};
use inkwell::{
    OptimizationLevel,
    context::Context as LlvmContext,
    module::Module as LlvmModule,
    passes::PassBuilderOptions,
    targets::{CodeModel, FileType, InitializationConfig, RelocMode, Target, TargetMachine, TargetTriple},
};
use melior::ir::{BlockLike, Module, OperationRef, operation::OperationLike};
use mlir_sys::{MlirOperation, mlirTranslateModuleToLLVMIR};
use tf_mlir::{BackendError, GpuOptions, Session, lower_gpu};

const TRIPLE: &str = "nvptx64-nvidia-cuda";

/// How a module is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PtxOptions {
    /// Architecture of the result.
    pub arch: Arch,
    /// LLVM's optimization level, 0 to 3.
    pub optimization: u8,
    /// What the lowering adds to every kernel.
    pub gpu: GpuOptions,
}

impl PtxOptions {
    /// Full optimization for an architecture.
    pub fn new(arch: Arch) -> Self {
        Self { arch, optimization: 3, gpu: GpuOptions::default() }
    }
}

/// A compiled GPU module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ptx {
    /// PTX text that needs no other library.
    pub ptx: String,
    /// The optimized LLVM IR it was made of.
    pub llvm_ir: String,
    /// Its kernels in the order of their definition.
    pub kernels: Vec<Kernel>,
}

/// Lowers a module with one `gpu.module` and compiles that to PTX.
///
/// # Errors
/// Messages of the MLIR step that failed, or those of [`translate`].
pub fn compile<'s>(session: &'s Session, module: &Module<'s>, options: &PtxOptions) -> Result<Ptx, BackendError> {
    let lowered = lower_gpu(session, module, options.gpu)?;
    translate(session, &lowered, options)
}

/// Compiles a module that [`lower_gpu`] made to PTX.
///
/// # Errors
/// No or several `gpu.module`s, operations that have no LLVM form, a function that is neither
/// defined nor an intrinsic, or LLVM's verifier and code generator.
pub fn translate(session: &Session, lowered: &Module<'_>, options: &PtxOptions) -> Result<Ptx, BackendError> {
    let gpu_module = single_gpu_module(lowered)?;
    let level = level(options.optimization)?;
    let context = LlvmContext::create();
    let module = to_llvm(session, &context, gpu_module.to_raw())?;
    let machine = machine(options.arch, level)?;
    let data = machine.get_target_data();
    module.set_triple(&machine.get_triple());
    module.set_data_layout(&data.get_data_layout());
    llvm_step("LLVM's verifier refused the module", module.verify())?;
    refuse_undefined(&module)?;
    let passes = format!("default<O{}>", options.optimization);
    llvm_step("LLVM's optimizer failed", module.run_passes(&passes, &machine, PassBuilderOptions::create()))?;
    let buffer = llvm_step("cannot write PTX", machine.write_to_memory_buffer(&module, FileType::Assembly))?;
    let text = String::from_utf8_lossy(buffer.as_slice());
    Ok(Ptx {
        ptx: text.trim_end_matches('\0').to_owned(),
        llvm_ir: module.print_to_string().to_string(),
        kernels: kernel::kernels(&module, &data),
    })
}

fn single_gpu_module<'c, 'a>(module: &'a Module<'c>) -> Result<OperationRef<'c, 'a>, BackendError> {
    let mut found = None;
    let mut next = module.body().first_operation();
    while let Some(operation) = next {
        if operation.name().as_string_ref().as_str() == Ok("gpu.module") && found.replace(operation).is_some() {
            return Err(BackendError::new("the module holds more than one gpu.module"));
        }
        next = operation.next_in_block();
    }
    found.ok_or_else(|| BackendError::new("the module holds no gpu.module"))
}

fn machine(arch: Arch, level: OptimizationLevel) -> Result<TargetMachine, BackendError> {
    Target::initialize_nvptx(&InitializationConfig::default());
    let triple = TargetTriple::create(TRIPLE);
    let target = llvm_step("LLVM has no NVPTX target", Target::from_triple(&triple))?;
    target
        .create_target_machine(&triple, arch.name(), arch.feature(), level, RelocMode::Default, CodeModel::Default)
        .ok_or_else(|| BackendError::new(format!("LLVM has no target machine for `{arch}`")))
}

/// PTX is loaded alone, so a call that nothing defines would only fail in the driver.
fn refuse_undefined(module: &LlvmModule<'_>) -> Result<(), BackendError> {
    let names: Vec<String> = module
        .get_functions()
        .filter(|function| function.count_basic_blocks() == 0 && function.get_intrinsic_id() == 0)
        .map(|function| function.get_name().to_string_lossy().into_owned())
        .collect();
    if names.is_empty() {
        return Ok(());
    }
    Err(BackendError::new(format!("GPU code calls functions that are not defined: {}", names.join(", "))))
}

/// LLVM's name of an optimization level.
///
/// # Errors
/// A number above 3.
pub(crate) fn level(optimization: u8) -> Result<OptimizationLevel, BackendError> {
    match optimization {
        0 => Ok(OptimizationLevel::None),
        1 => Ok(OptimizationLevel::Less),
        2 => Ok(OptimizationLevel::Default),
        3 => Ok(OptimizationLevel::Aggressive),
        other => Err(BackendError::new(format!("optimization level {other} is not one of 0, 1, 2, 3"))),
    }
}

/// A module operation that holds only LLVM operations as LLVM IR.
///
/// # Errors
/// Operations without an LLVM form.
pub(crate) fn to_llvm<'l>(
    session: &Session,
    context: &'l LlvmContext,
    module: MlirOperation,
) -> Result<LlvmModule<'l>, BackendError> {
    session.attempt("cannot translate the module to LLVM IR", || {
        // SAFETY: both operands live through the call; the module returned is owned by us.
        let raw = unsafe { mlirTranslateModuleToLLVMIR(module, context.raw().cast()) };
        if raw.is_null() { Err(()) } else { Ok(unsafe { LlvmModule::new(raw.cast()) }) }
    })
}

pub(crate) fn llvm_step<T>(what: &str, result: Result<T, impl ToString>) -> Result<T, BackendError> {
    result.map_err(|error| BackendError::with_details(what, vec![error.to_string()]))
}
