//! `T.tensor_view`

use tf_core::op::attr::{AnyLayout, Dims};
use tf_core::op::{OpCall, RuleError, TypeRule};
use tf_core::{Context, op};
use tf_types::{Type, TypeKind};
use tf_value::rule::DialectBuilder;

use crate::rules::tensor;

/// The same memory under another shape and layout, from an element start on.
///
/// `coords` are absolute element starts, one for each axis of `memory`; none: the start of `memory`. Element `c` of the
/// view lies at `start(memory) + sum coords[i]*stride[i] + layout(c)`.
#[op(dialect = "T", category = "memory")]
pub struct TensorView {
    /// The buffer, or a view of one.
    #[input(Tensor)]
    memory: (),
    /// Element starts, rank-0 integers.
    #[input(Scalar, variadic)]
    coords: (),
    /// Strides over the view's shape, or a placement.
    layout: AnyLayout,
    /// Logical shape of the view; absent: that of `memory`.
    #[default(None)]
    shape: Option<Dims>,
}

impl TypeRule for TensorView {
    fn infer<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Result<Type<'c>, RuleError> {
        let memory = tensor(0, "memory", call.memory())?;
        let coords = call.coords();
        if !coords.is_empty() && coords.len() != memory.rank() {
            return Err(RuleError::new(format!(
                "`T.tensor_view` takes one start for each of {} axes, found {}",
                memory.rank(),
                coords.len()
            )));
        }
        for (i, coord) in coords.iter().enumerate() {
            let is_index =
                |ty: &TypeKind<'_>| matches!(ty, TypeKind::Tensor(t) if t.rank() == 0 && t.dtype.is_integer());
            if !is_index(coord.ty().data()) {
                let message = format!("a start must be an integer scalar, found {}", coord.ty());
                return Err(RuleError::new(message).operand(1 + i, coord.ty().to_string()));
            }
        }
        Ok(cx.tensor(call.shape().unwrap_or(memory.shape), memory.dtype, Some(call.layout()), memory.storage))
    }
}

pub(crate) fn register(r: &mut DialectBuilder) {
    r.op::<TensorView>().types().done();
}
