//! `T.alloc_tensor`

use tf_core::op::attr::TypeAttr;
use tf_core::op::{OpCall, RuleError, TypeRule};
use tf_core::{Context, op};
use tf_types::{Storage, Type, TypeKind};
use tf_value::rule::DialectBuilder;
use tf_value::tir::{Meaning, TirEvalRule};

use crate::memory::addresses;
use crate::rules::layout_fits;

/// A new buffer of `tensor_type`; one instance for each unit of its storage's owning level.
///
/// ```python
/// def f(x: Tensor[(4, 6), "f32"], out: Tensor[(4, 6), "f32"]):
///     held = T.alloc_tensor(TensorType((4, 6), "f32", None, "rmem"))
///     T.copy(x, held)
///     T.copy(held, out)
/// ```
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
            TypeKind::Tensor(tensor) => {
                tensor.layout.map_or(Ok(()), |layout| layout_fits("T.alloc_tensor", tensor.shape, layout))?;
                addresses::apart(tensor)?;
                Ok(ty)
            }
            _ => Err(RuleError::new(format!("`T.alloc_tensor` allocates a tensor, found {ty}"))),
        }
    }
}

impl TirEvalRule for AllocTensor {
    fn meaning<'c>(_: OpCall<'c, Self>) -> Result<Meaning, RuleError> {
        Ok(Meaning::Allocate)
    }
}

pub(crate) fn register(r: &mut DialectBuilder) {
    r.op::<AllocTensor>().types().means().done();
}

#[cfg(test)]
mod tests {
    use tf_core::{Arena, Meta};
    use tf_types::{DType, Storage, TensorLayout};

    use super::AllocTensor;
    use crate::test_util::context;

    #[test]
    fn what_memory_can_hold() {
        let arena = Arena::new();
        let cx = &context(&arena);
        let of = |ty| cx.call(AllocTensor::new(cx, ty), &[], Meta::default()).map(|expr| expr.ty() == ty);
        let refusal = |ty| of(ty).unwrap_err().message;
        let held = |layout, storage| cx.tensor(cx.const_dims(&[2, 8]), DType::F32, layout, storage);
        let plain = |extents: &[i64]| Some(TensorLayout::Plain(cx.c_order_layout(cx.const_dims(extents))));
        assert_eq!(of(held(plain(&[2, 8]), Storage::Smem)), Ok(true));
        assert_eq!(of(held(None, Storage::Rmem)), Ok(true));
        assert!(refusal(held(None, Storage::Umat)).ends_with("in umat"));
        assert_eq!(refusal(cx.unit()), "`T.alloc_tensor` allocates a tensor, found ()");
        assert_eq!(
            refusal(held(plain(&[2, 4]), Storage::Smem)),
            "`T.alloc_tensor` of 16 elements has the layout (2, 4):(4, 1) of 8"
        );
    }
}
