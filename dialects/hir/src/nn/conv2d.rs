//! `conv2d` (spec: hir §8; shard §10, §11; decisions 19, 23).

use tf_core::op::attr::Ints;
use tf_core::op::{AccessRule, OpCall, RuleError, TypeRule};
use tf_core::{Context, op};
use tf_types::access::{AccessRelation, AxisAccess};
use tf_types::propagate::Propagation;
use tf_types::{TensorLayout, Type};
use tf_value::{ConvGeometry, DialectBuilder, EvalCx, EvalRule, Value, ValueError};

use crate::rules::{layout, operand, place};

mod extents;
mod terms;

/// `out[n, o, y, x] = bias[o] + sum over c, i, j of input[n, g + c, y * s + i * d - p, x * s + j * d - p] * weight[o, c, i, j]`
/// with the first channel `g` of the group of `o`; outside the image the input is 0. 16-bit floats accumulate in f32.
#[op(dialect = "tf", category = "nn", name = "conv2d")]
pub struct Conv2d {
    /// `(N, C, H, W)`
    #[input(Tensor)]
    input: (),
    /// `(O, C / groups, KH, KW)`; the kernel's extents are integers.
    #[input(Tensor)]
    weight: (),
    /// `(O,)`
    #[input(Tensor)]
    bias: (),
    /// Distance of neighbouring windows: height, width.
    stride: Ints,
    /// Zeros on both sides: height, width.
    padding: Ints,
    /// Distance of neighbouring elements of a window: height, width.
    dilation: Ints,
    /// Groups of channels that do not mix.
    groups: i64,
}

/// Domain: n, co, oh, ow, ci, kh, kw. An input channel is one of the result channel's group.
fn relation(input_channel: AxisAccess) -> AccessRelation {
    use AxisAccess::{Complex, Proj};
    AccessRelation {
        domain_rank: 7,
        operands: vec![
            vec![Proj(0), input_channel, Complex(vec![2, 5]), Complex(vec![3, 6])],
            vec![Proj(1), Proj(4), Proj(5), Proj(6)],
            vec![Proj(1)],
        ],
        result: vec![Proj(0), Proj(1), Proj(2), Proj(3)],
    }
}

impl TypeRule for Conv2d {
    fn infer<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Result<Type<'c>, RuleError> {
        let what = "`tf.conv2d`";
        let operands = [operand::tensor(&call, 0)?, operand::tensor(&call, 1)?, operand::tensor(&call, 2)?];
        let [input, ..] = operands;
        let shape = extents::check(&call, cx, operands)?;
        terms::check(operands, call.groups())?;
        // Groups that are split with their result channels are found by them.
        let channel = AxisAccess::Proj(if call.groups() == 1 { 4 } else { 1 });
        let how = Propagation { partial_dims: vec![4, 5, 6], fresh: true, ..Propagation::default() };
        let layout = match place::propagate(what, cx, &operands, &relation(channel), &shape, &how)? {
            Some(shard) => Some(TensorLayout::Shard(shard)),
            None => match layout::common_placement(what, &operands)? {
                Some(shard) => Some(layout::broadcast_on(cx, shard, &shape)?),
                None if input.layout.is_some() => Some(TensorLayout::Plain(cx.c_order_layout(&shape))),
                None => layout::or_c_order(cx, None, &shape, input.storage),
            },
        };
        Ok(cx.tensor(&shape, input.dtype, layout, input.storage))
    }
}

impl AccessRule for Conv2d {
    fn access(call: OpCall<'_, Self>) -> AccessRelation {
        relation(if call.groups() == 1 { AxisAccess::Proj(4) } else { AxisAccess::Complex(vec![1, 4]) })
    }
}

fn pair(name: &str, values: &[i64]) -> Result<[usize; 2], ValueError> {
    let unsigned = |&value| usize::try_from(value).ok();
    match values.iter().map(unsigned).collect::<Option<Vec<_>>>().as_deref() {
        Some(&[height, width]) => Ok([height, width]),
        _ => Err(ValueError::new(format!("`{name}` must be two numbers, found {values:?}"))),
    }
}

impl EvalRule for Conv2d {
    fn eval<'c>(call: OpCall<'c, Self>, operands: &[Value], _: &EvalCx<'_, 'c>) -> Result<Value, ValueError> {
        let of = |index| operand::value::<Self>(operands, index);
        let geometry = ConvGeometry {
            stride: pair("stride", call.stride())?,
            padding: pair("padding", call.padding())?,
            dilation: pair("dilation", call.dilation())?,
            groups: usize::try_from(call.groups()).unwrap_or(0),
        };
        of(0)?.conv2d(of(1)?, of(2)?, &geometry).map(Value::from)
    }
}

pub(super) fn register(r: &mut DialectBuilder) {
    r.op::<Conv2d>().types().access().evaluates().done();
}

#[cfg(test)]
mod tests;
