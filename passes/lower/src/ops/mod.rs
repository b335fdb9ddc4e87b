//! Lowering rules, one file a family of ops.

mod elementwise;
mod matmul;
mod reduce;
mod reshard;
mod slice;

use tf_core::op::{OpRegistry, RegistryError};
use tf_hir::{Binary, Cast, MatMul, Reduce, Reshard, Slice, Unary};

use crate::table::LowerTable;

pub(crate) use reshard::store;

pub(crate) fn register(table: &mut LowerTable, ops: &OpRegistry) -> Result<(), RegistryError> {
    table.register::<Binary>(ops, elementwise::binary)?;
    table.register::<Unary>(ops, elementwise::unary)?;
    table.register::<Cast>(ops, elementwise::cast)?;
    table.register::<Reduce>(ops, reduce::lower)?;
    table.register::<MatMul>(ops, matmul::lower)?;
    table.register::<Slice>(ops, slice::lower)?;
    table.register::<Reshard>(ops, reshard::lower)
}
