//! `conv2d`.

use tf_core::op::attr::Ints;
use tf_core::op::{AccessRule, OpCall, RuleError, TypeRule};
use tf_core::{Context, op};
use tf_types::access::{AccessRelation, AffineMap, AxisAccess};
use tf_types::{TensorLayout, Type};
use tf_value::{ConvGeometry, DialectBuilder, EvalCx, EvalRule, Value, ValueError};

use crate::rules::{layout, operand, place};

mod extents;
mod terms;

/// `out[n, o, y, x] = bias[o] + sum over c, i, j of input[n, g + c, y * s + i * d - p, x * s + j * d - p] * weight[o, c, i, j]`
/// with the first channel `g` of the group of `o`; outside the image the input is 0, which an infinite weight
/// makes NaN. 16-bit floats accumulate in f32.
///
/// ```python
/// def f(x: Tensor[(1, 8, 5, 5), "f32"], w: Tensor[(4, 8, 3, 3), "f32"], b: Tensor[(4,), "f32"]):
///     return tf.conv2d(x, w, b, stride=(2, 2), padding=(1, 1), dilation=(1, 1), groups=1)
/// ```
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

impl TypeRule for Conv2d {
    fn infer<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Result<Type<'c>, RuleError> {
        let what = "`tf.conv2d`";
        let operands = [operand::tensor(&call, 0)?, operand::tensor(&call, 1)?, operand::tensor(&call, 2)?];
        let [input, ..] = operands;
        let shape = extents::check(&call, cx, operands)?;
        terms::check(operands, call.groups())?;
        let layout = match place::propagate(what, cx, &call, &shape)? {
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
    /// Domain: n, co, oh, ow, ci, kh, kw. The input channels of a result channel are those of its group.
    fn access<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Vec<AccessRelation<'c>> {
        let operands = [call.input(), call.weight(), call.bias()].map(|operand| operand.ty().as_tensor());
        let [Some(input), Some(weight), Some(bias)] = operands else { return Vec::new() };
        let Ok(shape) = extents::check(&call, cx, [input, weight, bias]) else { return Vec::new() };
        let channel = match call.groups() {
            1 => AxisAccess::Proj(4),
            groups => {
                let per_group = cx.dim_floor_div(weight.shape[0], cx.dim(groups));
                let map = AffineMap::default().and_blocks(1, per_group, weight.shape[1]);
                AxisAccess::Map(map.term(4, None))
            }
        };
        let tap = |axis: usize| {
            let [stride, padding, dilation] =
                [call.stride(), call.padding(), call.dilation()].map(|pair| cx.dim(pair[axis]));
            let map = AffineMap::default().term(2 + axis, stride).term(5 + axis, dilation);
            AxisAccess::Map(map.plus(cx.dim_sub(cx.dim(0), padding)))
        };
        let kernel = [1, 4, 5, 6].map(AxisAccess::Proj).to_vec();
        let domain = weight.shape[1..].iter().fold(AccessRelation::to(&shape), |domain, &extent| domain.dim(extent));
        let image = vec![AxisAccess::Proj(0), channel, tap(0), tap(1)];
        vec![domain.reads(0, image).reads(1, kernel).reads(2, vec![AxisAccess::Proj(1)]).sums([4, 5, 6]).fresh()]
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
    fn eval<'c>(call: OpCall<'c, Self>, operands: &mut [Value], _: &EvalCx<'_, 'c>) -> Result<Value, ValueError> {
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
