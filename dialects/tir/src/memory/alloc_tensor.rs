//! `T.alloc_tensor`

use tf_core::op::attr::TypeAttr;
use tf_core::op::{OpCall, RuleError, TypeRule};
use tf_core::{Context, op};
use tf_types::{Storage, Type, TypeKind};
use tf_value::rule::DialectBuilder;

/// A new buffer of `tensor_type`; one instance for each unit of its storage's owning level.
#[op(dialect = "T", category = "memory")]
pub struct AllocTensor {
    /// Shape, dtype, placement and storage.
    tensor_type: TypeAttr,
}

impl TypeRule for AllocTensor {
    fn infer<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Result<Type<'c>, RuleError> {
        let ty = call.tensor_type();
        match ty.data() {
            TypeKind::Tensor(tensor) if tensor.storage == Storage::Umat => {
                Err(RuleError::new(format!("a buffer must reside somewhere, found {ty} in umat"))
                    .with_help("state rmem, smem, gmem or host"))
            }
            TypeKind::Tensor(_) => Ok(ty),
            _ => Err(RuleError::new(format!("`T.alloc_tensor` allocates a tensor, found {ty}"))),
        }
    }
}

pub(crate) fn register(r: &mut DialectBuilder) {
    r.op::<AllocTensor>().types().done();
}
