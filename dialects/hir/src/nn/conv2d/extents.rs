//! What fits what: ranks, dtypes, channels and windows.

use tf_core::Context;
use tf_core::op::{OpCall, RuleError};
use tf_types::{Dim, DimTuple, TensorType};

use super::Conv2d;
use crate::rules::dtype::{self, Takes};

const WHAT: &str = "`tf.conv2d`";

/// A pair of numbers not below `least`.
fn pair(name: &'static str, values: &[i64], least: i64) -> Result<[i64; 2], RuleError> {
    match *values {
        [height, width] if height >= least && width >= least => Ok([height, width]),
        _ => Err(RuleError::new(format!(
            "{WHAT} takes two numbers of {least} or more as `{name}` (height, width), found {values:?}"
        ))
        .attr(name)
        .with_help(match *values {
            [both] => format!("one number for both is `{name}=({0}, {0})`", both.max(least)),
            _ => "the first number is for the height, the second for the width".into(),
        })),
    }
}

fn check_operands(operands: [&TensorType<'_>; 3]) -> Result<(), RuleError> {
    let forms = [("input", 4, "(N, C, H, W)"), ("weight", 4, "(O, C / groups, KH, KW)"), ("bias", 1, "(O,)")];
    for (at, (name, rank, form)) in forms.into_iter().enumerate() {
        if operands[at].rank() != rank {
            let found = operands[at].rank();
            return Err(RuleError::new(format!("{WHAT} takes `{name}` of rank {rank}, {form}, found rank {found}"))
                .operand(at, format!("{}", operands[at]))
                .with_help(match at {
                    2 => "a convolution without a bias takes `tf.zeros`",
                    _ if found < rank => "`tf.reshape` adds axes of extent 1",
                    _ => "`tf.reshape` joins axes",
                }));
        }
    }
    let [input, ..] = operands;
    dtype::check(WHAT, Takes::Numbers, 0, input)?;
    if let Some((at, other)) = operands.into_iter().enumerate().find(|(_, t)| t.dtype != input.dtype) {
        return Err(RuleError::new(format!(
            "{WHAT} takes operands of one dtype, found {} and {}",
            input.dtype, other.dtype
        ))
        .operand(0, format!("{input}"))
        .operand(at, format!("{other}"))
        .with_help("nothing is promoted: cast one operand"));
    }
    Ok(())
}

/// Groups divide the channels of both sides, and the weight has those of one group.
fn check_channels<'c>(cx: &Context<'c>, operands: [&TensorType<'c>; 3], groups: i64) -> Result<(), RuleError> {
    let [input, weight, bias] = operands;
    let (c, o, per_group) = (input.shape[1], weight.shape[0], weight.shape[1]);
    let parts = cx.dim(groups);
    if groups < 1 {
        return Err(RuleError::new(format!("{WHAT} takes 1 group or more, found {groups}"))
            .attr("groups")
            .with_help("1 sums over all input channels"));
    }
    for (at, name, channels) in [(0, "input", c), (1, "result", o)] {
        if cx.dim_mod(channels, parts) != cx.dim(0) {
            return Err(RuleError::new(format!("{WHAT} cannot cut {channels} {name} channels into {groups} groups"))
                .operand(at, format!("{}", operands[at]))
                .attr("groups")
                .with_help("the number of groups must divide the channels"));
        }
    }
    if cx.dim_mul(per_group, parts) != c {
        let groups = if groups == 1 { String::new() } else { format!(" in {groups} groups") };
        let message = format!("{WHAT} of {c} input channels{groups} has a weight for {per_group}");
        return Err(RuleError::new(message)
            .operand(0, format!("{input}: axis 1 is {c}"))
            .operand(1, format!("{weight}: axis 1 is {per_group}"))
            .with_help("axis 1 of the weight is input channels / groups"));
    }
    if bias.shape[0] != o {
        return Err(RuleError::new(format!("{WHAT} has {o} result channels, but a bias of {}", bias.shape[0]))
            .operand(1, format!("{weight}: axis 0 is {o}"))
            .operand(2, format!("{bias}"))
            .with_help(format!("the bias must have the shape ({o},)")));
    }
    Ok(())
}

/// Checks the operands and attributes; the result's shape.
pub(super) fn check<'c>(
    call: &OpCall<'c, Conv2d>,
    cx: &Context<'c>,
    operands: [&TensorType<'c>; 3],
) -> Result<Vec<Dim<'c>>, RuleError> {
    check_operands(operands)?;
    let stride = pair("stride", call.stride(), 1)?;
    let padding = pair("padding", call.padding(), 0)?;
    let dilation = pair("dilation", call.dilation(), 1)?;
    check_channels(cx, operands, call.groups())?;
    let [input, weight, _] = operands;
    let mut shape = vec![input.shape[0], weight.shape[0]];
    for axis in 0..2 {
        let (image, kernel) = (input.shape[axis + 2], weight.shape[axis + 2]);
        let Some(taps) = kernel.as_const().filter(|&taps| taps > 0) else {
            return Err(RuleError::new(format!("{WHAT} takes a kernel of positive integer extents, found {kernel}"))
                .operand(1, format!("{weight}"))
                .with_help("state the kernel's height and width as integers"));
        };
        let overflow = || RuleError::new(format!("{WHAT} has windows beyond 64 bits"));
        let span = (taps - 1).checked_mul(dilation[axis]).ok_or_else(overflow)?;
        let surplus =
            padding[axis].checked_mul(2).and_then(|p| p.checked_sub(span)?.checked_sub(1)).ok_or_else(overflow)?;
        let free = cx.dim_add(image, cx.dim(surplus));
        if cx.dim_range(free).is_some_and(|(_, stop)| stop <= 0) {
            let image = DimTuple(&input.shape[2..]);
            return Err(RuleError::new(format!(
                "{WHAT} has no window: its {} elements with padding {} do not fit an image of {image} along axis {}",
                span.saturating_add(1),
                padding[axis],
                axis + 2
            ))
            .operand(0, format!("{input}"))
            .operand(1, format!("{weight}"))
            .with_help("pad the image, or take a smaller kernel or dilation"));
        }
        shape.push(cx.dim_add(cx.dim_floor_div(free, cx.dim(stride[axis])), cx.dim(1)));
    }
    Ok(shape)
}
