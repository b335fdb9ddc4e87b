//! CPU modules as LLVM IR.
use crate::translate::{level, llvm_step, to_llvm};
use inkwell::{
    context::Context as LlvmContext,
    passes::PassBuilderOptions,
    targets::{CodeModel, InitializationConfig, RelocMode, Target, TargetMachine},
};
use melior::ir::Module;
use tf_mlir::{BackendError, Pipeline, Session, gpu::copy};

/// LLVM IR of the functions of a module without device code, for this machine, after LLVM's optimizer.
///
/// # Errors
/// The messages of the MLIR pass, or of the LLVM step, that failed; an optimization level above 3.
pub fn llvm_ir(session: &Session, module: &Module<'_>, optimization: u8) -> Result<String, BackendError> {
    let level = level(optimization)?;
    session.verify(module)?;
    let mut lowered = copy(module)?;
    Pipeline::Cpu.run(session, &mut lowered)?;
    let context = LlvmContext::create();
    let module = to_llvm(session, &context, lowered.as_operation().to_raw())?;
    llvm_step("LLVM has no target for this machine", Target::initialize_native(&InitializationConfig::default()))?;
    let triple = TargetMachine::get_default_triple();
    let target = llvm_step("LLVM has no target for this machine", Target::from_triple(&triple))?;
    let machine = target
        .create_target_machine(&triple, "generic", "", level, RelocMode::Default, CodeModel::Default)
        .ok_or_else(|| BackendError::new(format!("LLVM has no target machine for {triple}")))?;
    module.set_triple(&triple);
    module.set_data_layout(&machine.get_target_data().get_data_layout());
    let passes = format!("default<O{optimization}>");
    llvm_step("LLVM's optimizer failed", module.run_passes(&passes, &machine, PassBuilderOptions::create()))?;
    Ok(module.print_to_string().to_string())
}
