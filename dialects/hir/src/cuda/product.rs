//! What the matrix instructions share.

use tf_core::Context;
use tf_core::op::{Op, OpCall, RuleError};
use tf_types::access::{AccessRelation, AxisAccess};
use tf_types::{DType, DimTuple, ShardLayout, TensorLayout, TensorType, Type};
use tf_value::{Value, ValueError};

use crate::rules::{operand, storage};

/// How an operand lies in the instruction's registers; the value does not depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orientation {
    /// Column-major.
    N,
    /// Row-major.
    T,
}

impl Orientation {
    /// Both.
    pub const ALL: &'static [Self] = &[Self::N, Self::T];

    /// The value in source and textual IR.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::N => "N",
            Self::T => "T",
        }
    }
}

tf_core::attr_enum!(Orientation);

/// The dtypes (a, b, accumulator) that the instructions have.
const DTYPES: [[DType; 3]; 5] = {
    use DType::{BF16, F16, F32};
    [[F16, F16, F16], [BF16, BF16, BF16], [F16, F16, F32], [BF16, BF16, F32], [F32, F32, F32]]
};

/// Checks dtypes and shapes of `a` (M, K) and `b` (K, N).
pub(super) fn check<'c, O: Op>(
    call: &OpCall<'c, O>,
    [m, n, k]: [i64; 3],
    dtypes: [DType; 3],
) -> Result<[&'c TensorType<'c>; 2], RuleError> {
    let what = format!("`{}`", O::DECL.name);
    if !DTYPES.contains(&dtypes) {
        let form = |[a, b, acc]: [DType; 3]| format!("{a} {b} {acc}");
        return Err(RuleError::new(format!("{what} has no form of the dtypes {} (a, b, acc)", form(dtypes)))
            .with_help(format!("there are {}", DTYPES.map(form).join(", "))));
    }
    let operands = [operand::tensor(call, 0)?, operand::tensor(call, 1)?];
    for (at, (name, extents)) in [("a", [m, k]), ("b", [k, n])].into_iter().enumerate() {
        let (found, dtype) = (operands[at], dtypes[at]);
        if found.static_shape().as_deref() != Some(&extents) {
            let [rows, columns] = extents;
            let message =
                format!("{what} takes `{name}` of shape ({rows}, {columns}), found {}", DimTuple(found.shape));
            return Err(RuleError::new(message)
                .operand(at, format!("{found}"))
                .with_help("the instruction multiplies one tile: take windows of the operands"));
        }
        if found.dtype != dtype {
            let message =
                format!("{what} with dtype_{name} = \"{dtype}\" takes `{name}` of {dtype}, found {}", found.dtype);
            return Err(RuleError::new(message)
                .operand(at, format!("{found}"))
                .with_help(format!("cast `{name}`, or state its dtype")));
        }
    }
    Ok(operands)
}

/// The placement of one operand that is distributed over positions.
pub(super) fn distributed<'c>(tensor: &TensorType<'c>) -> Option<ShardLayout<'c>> {
    tensor.shard().filter(|shard| shard.is_sharded())
}

/// The result; without a placement it is C-order where an operand has a plain layout, and has no layout otherwise.
pub(super) fn result<'c>(
    what: &str,
    cx: &Context<'c>,
    operands: [&TensorType<'c>; 2],
    shape: [i64; 2],
    dtype: DType,
    placement: Option<ShardLayout<'c>>,
) -> Result<Type<'c>, RuleError> {
    let shape = cx.const_dims(&shape);
    let plain = operands.iter().any(|t| t.layout.is_some() && t.shard().is_none());
    let layout = match placement {
        Some(shard) => Some(TensorLayout::Shard(shard)),
        None => plain.then(|| TensorLayout::Plain(cx.c_order_layout(shape))),
    };
    Ok(cx.tensor(shape, dtype, layout, storage::anchor(what, &operands)?))
}

/// Domain: m, n, k.
pub(super) fn access<'c>(cx: &Context<'c>, [m, n, k]: [i64; 3]) -> Vec<AccessRelation<'c>> {
    let read = |dims: [usize; 2]| dims.map(AxisAccess::Proj).to_vec();
    let tile = AccessRelation::to(cx.const_dims(&[m, n])).dim(cx.dim(k)).sums([2]);
    vec![tile.reads(0, read([0, 2])).reads(1, read([2, 1]))]
}

/// `a @ b`, accumulated in f32 and rounded once whatever the accumulator's dtype.
pub(super) fn value<O: Op>(operands: &[Value], dtype: DType) -> Result<Value, ValueError> {
    let wide = |index| operand::value::<O>(operands, index)?.cast(DType::F32);
    wide(0)?.matmul(&wide(1)?)?.cast(dtype).map(Value::from)
}
