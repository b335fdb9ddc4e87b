//! What a launcher has to know about each kernel, read off the LLVM module.
use inkwell::{
    attributes::AttributeLoc, module::Module, targets::TargetData, types::AnyTypeEnum, values::FunctionValue,
};

/// LLVM's calling convention of PTX kernels.
const PTX_KERNEL: u32 = 71;
/// Address space of shared memory.
const SHARED: u16 = 3;

/// A kernel of a compiled module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Entry name in the PTX.
    pub name: String,
    /// Parameters; memrefs are passed as one pointer each.
    pub parameters: u32,
    /// Threads of a CTA along x, y, z, where the module states them.
    pub block: Option<[u32; 3]>,
    /// Bytes of static shared memory.
    pub shared_bytes: u64,
}

/// The kernels of a module in the order of their definition.
pub(crate) fn kernels(module: &Module<'_>, data: &TargetData) -> Vec<Kernel> {
    module
        .get_functions()
        .filter(|function| function.get_call_conventions() == PTX_KERNEL && function.count_basic_blocks() > 0)
        .map(|function| {
            let name = function.get_name().to_string_lossy().into_owned();
            Kernel {
                parameters: function.count_params(),
                block: block(function),
                shared_bytes: shared_bytes(module, data, &name),
                name,
            }
        })
        .collect()
}

fn block(function: FunctionValue<'_>) -> Option<[u32; 3]> {
    ["nvvm.reqntid", "nvvm.maxntid"].into_iter().find_map(|key| {
        let attribute = function.get_string_attribute(AttributeLoc::Function, key)?;
        let text = attribute.get_string_value().to_string_lossy().into_owned();
        let mut sizes = [1; 3];
        for (axis, size) in text.split(',').enumerate() {
            *sizes.get_mut(axis)? = size.trim().parse().ok()?;
        }
        Some(sizes)
    })
}

/// MLIR names the workgroup buffers of a kernel `__wg_<kernel>_<number>`.
fn shared_bytes(module: &Module<'_>, data: &TargetData, kernel: &str) -> u64 {
    let prefix = format!("__wg_{kernel}_");
    module
        .get_globals()
        .filter(|global| global.as_pointer_value().get_type().get_address_space() == SHARED.into())
        .filter(|global| {
            let name = global.get_name().to_string_lossy();
            name.strip_prefix(&prefix).is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
        })
        .map(|global| match global.get_value_type() {
            AnyTypeEnum::ArrayType(array) => data.get_abi_size(&array),
            _ => 0,
        })
        .sum()
}
