//! GPU modules: from gpu / memref / vector / arith to the NVVM dialect.
use crate::{BackendError, Pipeline, Session};
use melior::ir::{
    Attribute, BlockLike, Module, RegionLike,
    operation::{OperationLike, OperationMutLike, OperationRefMut},
};

/// Start of the (quoted) name that MLIR gives to a kernel's dynamic shared memory.
const DYNAMIC_SHARED: &str = "\"__dynamic_shmem__";

/// What the lowering adds to every kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GpuOptions {
    /// CTAs that must fit on one multiprocessor (`.minnctapersm`). With 1 the assembler may use
    /// every register; without it, it trades registers for occupancy and then spills.
    pub min_blocks: Option<u32>,
    /// State a known block size as exact (`.reqntid`) instead of as an upper bound (`.maxntid`).
    pub exact_block: bool,
}

impl Default for GpuOptions {
    fn default() -> Self {
        Self { min_blocks: Some(1), exact_block: true }
    }
}

/// Lowers a module with `gpu.module`s to one where these hold only LLVM and NVVM operations; the
/// argument is left as it is.
///
/// # Errors
/// The messages of the pass or verifier that failed.
pub fn lower_gpu<'s>(
    session: &'s Session,
    module: &Module<'s>,
    options: GpuOptions,
) -> Result<Module<'s>, BackendError> {
    session.verify(module)?;
    let mut lowered = copy(module)?;
    Pipeline::Gpu.run(session, &mut lowered)?;
    let mut outer = lowered.body().first_operation_mut();
    while let Some(operation) = outer {
        if operation.name().as_string_ref().as_str() == Ok("gpu.module") {
            annotate(session, &operation, options)?;
        }
        outer = operation.next_in_block_mut();
    }
    session.verify(&lowered)?;
    Ok(lowered)
}

/// A deep copy of a module.
///
/// # Errors
/// Only if MLIR returns no module for the copied operation.
pub fn copy<'c>(module: &Module<'c>) -> Result<Module<'c>, BackendError> {
    let operation = module.as_operation();
    Module::from_operation((*operation).clone()).ok_or_else(|| BackendError::new("cannot copy the MLIR module"))
}

fn annotate(session: &Session, module: &OperationRefMut<'_, '_>, options: GpuOptions) -> Result<(), BackendError> {
    let Some(block) = module.region(0).ok().and_then(|region| region.first_block()) else {
        return Ok(());
    };
    let mut next = block.first_operation_mut();
    while let Some(mut symbol) = next {
        if symbol.has_attribute("nvvm.kernel") {
            if let Some(count) = options.min_blocks
                && !symbol.has_attribute("nvvm.minctasm")
            {
                symbol.set_attribute("nvvm.minctasm", attribute(session, &format!("{count} : i32"))?);
            }
            if options.exact_block
                && let Ok(size) = symbol.attribute("nvvm.maxntid")
            {
                // The assembler refuses a kernel that states both.
                let text = size.to_string();
                symbol.set_attribute("nvvm.reqntid", attribute(session, &text)?);
                symbol.remove_attribute("nvvm.maxntid").map_err(|error| BackendError::new(error.to_string()))?;
            }
        }
        if symbol.name().as_string_ref().as_str() == Ok("llvm.mlir.global")
            && symbol.attribute("sym_name").is_ok_and(|name| name.to_string().starts_with(DYNAMIC_SHARED))
        {
            // As an internal global it would become a static buffer of no bytes.
            symbol.set_attribute("linkage", attribute(session, "#llvm.linkage<external>")?);
        }
        next = symbol.next_in_block_mut();
    }
    Ok(())
}

fn attribute<'s>(session: &'s Session, text: &str) -> Result<Attribute<'s>, BackendError> {
    Attribute::parse(session.context(), text)
        .ok_or_else(|| BackendError::new(format!("cannot parse the attribute `{text}`")))
}
