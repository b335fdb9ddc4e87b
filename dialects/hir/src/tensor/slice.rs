//! `slice`.

use tf_core::op::attr::Dims;
use tf_core::op::{AccessRule, OpCall, RuleError, TypeRule};
use tf_core::{Context, op};
use tf_types::access::{AccessRelation, AffineMap};
use tf_types::{Dim, Layout, OuterLayout, ShardLayout, TensorLayout, TensorType, Type, layout_axis_to_tensor_axis};
use tf_value::{DialectBuilder, EvalCx, EvalRule, Value, ValueError, extent};

use crate::rules::{axis, operand};

/// `out[i] = x[starts[a] + i[a] * strides[a]]` on every axis `a`, for `i[a] < sizes[a]`.
///
/// ```python
/// def f(x: Tensor[(8, 6), "f32"], first: Tensor[(), "i64"]):
///     return tf.slice(x, (first, 1), sizes=(2, 3), strides=(1, 2))
/// ```
#[op(dialect = "tf", category = "tensor")]
pub struct Slice {
    /// The operand.
    #[input(Tensor)]
    x: (),
    /// The first index of each axis: rank-0 integers.
    #[input(Scalar, variadic)]
    starts: (),
    /// Extents of the window, one an axis.
    sizes: Dims,
    /// Steps, one an axis: positive integers.
    strides: Dims,
}

/// The window on one axis.
#[derive(Clone, Copy)]
struct Window<'c> {
    /// The first index; `None`: known at run time.
    start: Option<i64>,
    size: Dim<'c>,
    stride: i64,
}

impl<'c> Window<'c> {
    fn narrows(self, extent: Dim<'c>) -> bool {
        self.start != Some(0) || self.size != extent || self.stride != 1
    }

    /// One past the last index read from a start of 0.
    fn span(self) -> Option<i64> {
        match self.size.as_const()? {
            0 => Some(0),
            size => (size - 1).checked_mul(self.stride)?.checked_add(1),
        }
    }
}

/// Checks every axis and reads its window.
fn windows<'c>(
    cx: &Context<'c>,
    call: &OpCall<'c, Slice>,
    x: &TensorType<'c>,
    sizes: &[Dim<'c>],
) -> Result<Vec<Window<'c>>, RuleError> {
    let (starts, strides) = (call.starts(), call.strides());
    for (what, count) in [("starts", starts.len()), ("sizes", sizes.len()), ("strides", strides.len())] {
        if count != x.rank() {
            return Err(RuleError::new(format!(
                "`tf.slice` of an operand of rank {} takes {} {what}, found {count}",
                x.rank(),
                x.rank()
            ))
            .operand(0, format!("{x}"))
            .with_help("starts, sizes and strides have one entry for each axis of the operand"));
        }
    }
    let mut windows = Vec::with_capacity(x.rank());
    for axis in 0..x.rank() {
        let (start, size, stride) = (starts[axis], sizes[axis], strides[axis]);
        let at = axis + 1;
        if !start.ty().as_tensor().is_some_and(|t| t.rank() == 0 && t.dtype.is_integer()) {
            return Err(RuleError::new(format!(
                "`tf.slice` takes rank-0 integers (i32, i64) as starts, found {} on axis {axis}",
                start.ty()
            ))
            .operand(at, format!("{}", start.ty()))
            .with_help(axis::INDEX_HELP));
        }
        let Some(stride) = stride.as_const().filter(|&stride| stride > 0) else {
            return Err(RuleError::new(format!(
                "`tf.slice` takes a positive integer as the stride of axis {axis}, found {stride}"
            ))
            .attr_with("strides", format!("axis {axis} has {stride}"))
            .with_help("a window runs forwards; a stride of 1 takes every element"));
        };
        if size.as_const().is_some_and(|size| size < 0) {
            return Err(RuleError::new(format!("`tf.slice` takes no negative size, found {size} on axis {axis}"))
                .attr_with("sizes", format!("axis {axis} has {size}"))
                .with_help("a size counts elements: the end less the start"));
        }
        let window = Window { start: axis::literal(start), size, stride };
        check_inside(cx, window, axis, x)?;
        windows.push(window);
    }
    Ok(windows)
}

/// Refuses a window that leaves its axis wherever that is known.
fn check_inside<'c>(cx: &Context<'c>, window: Window<'c>, axis: usize, x: &TensorType<'c>) -> Result<(), RuleError> {
    let refuse = |message: String| {
        Err(RuleError::new(message)
            .operand(0, format!("{x}: axis {axis} is {}", x.shape[axis]))
            .with_help("windows are not cut off at the end of an axis"))
    };
    if let Some(start) = window.start.filter(|&start| start < 0) {
        return refuse(format!("`tf.slice` starts at {start} on axis {axis}; the least index is 0"));
    }
    let (Some(extent), Some(span)) = (x.shape[axis].as_const(), window.span()) else {
        let first = cx.dim(window.start.unwrap_or(0));
        let last = cx.dim_mul(cx.dim_sub(window.size, cx.dim(1)), cx.dim(window.stride));
        let end = cx.dim_add(first, cx.dim_add(last, cx.dim(1)));
        let excess = cx.dim_sub(end, x.shape[axis]);
        return match cx.dim_range(excess) {
            Some((least, _)) if least > 0 => {
                refuse(format!("`tf.slice` window [{first}, {end}) leaves axis {axis} of extent {}", x.shape[axis]))
            }
            _ => Ok(()),
        };
    };
    match window.start.unwrap_or(0).checked_add(span) {
        Some(end) if end <= extent => Ok(()),
        _ if window.start.is_none() => refuse(format!(
            "`tf.slice` has a window of {} with stride {} on axis {axis}, whose extent is {extent}: it fits at no start",
            window.size, window.stride
        )),
        end => {
            let start = window.start.unwrap_or(0);
            let end = end.map_or("beyond 64 bits".to_owned(), |end| end.to_string());
            let step = if window.stride == 1 { String::new() } else { format!(" with stride {}", window.stride) };
            refuse(format!("`tf.slice` window [{start}, {end}){step} leaves axis {axis} of extent {extent}"))
        }
    }
}

/// `base + sum of start * stride` over the axes of a layout; `None` if a start or a stride is not known.
fn offset<'c>(
    cx: &Context<'c>,
    base: Dim<'c>,
    terms: impl Iterator<Item = (Option<i64>, Option<Dim<'c>>)>,
) -> Option<Dim<'c>> {
    let mut sum = base;
    for (start, stride) in terms {
        match start? {
            0 => {}
            start => sum = cx.dim_add(sum, cx.dim_mul(cx.dim(start), stride?)),
        }
    }
    Some(sum)
}

/// A view of a plain layout with strides at static starts; otherwise none.
fn plain<'c>(cx: &Context<'c>, layout: Layout<'c>, base: Dim<'c>, windows: &[Window<'c>]) -> Option<TensorLayout<'c>> {
    let strides = layout.strides().filter(|strides| strides.len() == windows.len())?;
    let offset = offset(cx, base, windows.iter().zip(strides).map(|(w, &stride)| (w.start, Some(stride))))?;
    let sizes: Vec<_> = windows.iter().map(|w| w.size).collect();
    let strides: Vec<_> = windows.iter().zip(strides).map(|(w, &s)| cx.dim_mul(s, cx.dim(w.stride))).collect();
    let outer = OuterLayout::Plain(cx.layout(&sizes, Some(&strides)));
    Some(TensorLayout::Composed(cx.composed_layout(None, offset, Some(outer))))
}

/// The placement of the window: only axes that are whole on every position may be narrowed.
fn placed<'c>(
    cx: &Context<'c>,
    x: &TensorType<'c>,
    shard: ShardLayout<'c>,
    base: Dim<'c>,
    windows: &[Window<'c>],
) -> Result<TensorLayout<'c>, RuleError> {
    let map = layout_axis_to_tensor_axis(shard.layout.shape(), x.shape);
    let split = shard.split_target_axes(x.shape);
    let mut extents = shard.layout.shape().to_vec();
    let mut strides = shard.layout.strides().map(<[_]>::to_vec);
    let mut terms = Vec::new();
    for (axis, window) in windows.iter().enumerate().filter(|(axis, w)| w.narrows(x.shape[*axis])) {
        if let Some(mesh_axis) = split.iter().position(|target| *target == Some(axis)) {
            return Err(RuleError::new(format!(
                "`tf.slice` narrows axis {axis}, which is split over mesh axis `{}`",
                shard.mesh.axis_name(mesh_axis)
            ))
            .operand(0, format!("{x}"))
            .with_help(format!("reshard the operand so that axis {axis} is whole, or take all of it")));
        }
        let positions: Vec<_> = (0..map.len()).filter(|&at| map[at] == Some(axis)).collect();
        let [position] = positions[..] else {
            return Err(RuleError::new(format!(
                "`tf.slice` narrows axis {axis}, which the placement factors into {} parts; it must be one",
                positions.len()
            ))
            .operand(0, format!("{x}"))
            .with_help(format!("reshard the operand with axis {axis} as one extent")));
        };
        terms.push((window.start, strides.as_ref().map(|s| s[position])));
        extents[position] = window.size;
        if let Some(strides) = &mut strides {
            strides[position] = cx.dim_mul(strides[position], cx.dim(window.stride));
        }
    }
    let window = cx.shard_layout(cx.layout(&extents, strides.as_deref()), shard.attrs, shard.mesh);
    Ok(match offset(cx, base, terms.into_iter()) {
        Some(offset) if offset != cx.dim(0) => {
            TensorLayout::Composed(cx.composed_layout(None, offset, Some(OuterLayout::Shard(window))))
        }
        _ => TensorLayout::Shard(window),
    })
}

impl TypeRule for Slice {
    fn infer<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Result<Type<'c>, RuleError> {
        let x = operand::tensor(&call, 0)?;
        let sizes = cx.normal_dims(call.sizes());
        let windows = windows(cx, &call, x, sizes)?;
        let zero = cx.dim(0);
        let layout = match x.layout {
            None => None,
            Some(TensorLayout::Plain(layout)) => plain(cx, layout, zero, &windows),
            Some(TensorLayout::Shard(shard)) => Some(placed(cx, x, shard, zero, &windows)?),
            Some(TensorLayout::Composed(view)) => match (view.inner, view.outer) {
                (None, Some(OuterLayout::Plain(layout))) => plain(cx, layout, view.offset, &windows),
                (None, Some(OuterLayout::Shard(shard))) => Some(placed(cx, x, shard, view.offset, &windows)?),
                _ => None,
            },
        };
        Ok(cx.tensor(sizes, x.dtype, layout, x.storage))
    }
}

impl AccessRule for Slice {
    /// Domain: the window. An axis read from its first element with stride 1 is a projection.
    fn access<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Vec<AccessRelation<'c>> {
        let mut window = AccessRelation::to(cx.normal_dims(call.sizes()));
        let mut read = Vec::with_capacity(call.sizes().len());
        for (axis, (&start, &stride)) in call.starts().iter().zip(call.strides()).enumerate() {
            let stride = Some(stride).filter(|stride| stride.as_const() != Some(1));
            let (position, start) = axis::from(cx, AffineMap::default().term(axis, stride), start, axis + 1);
            read.push(position);
            window.reads.extend(start);
        }
        vec![window.reads(0, read)]
    }
}

impl EvalRule for Slice {
    fn eval<'c>(call: OpCall<'c, Self>, operands: &mut [Value], cx: &EvalCx<'_, 'c>) -> Result<Value, ValueError> {
        let unsigned = |what: &str, dims: &[Dim<'c>]| -> Result<Vec<usize>, ValueError> {
            let value = |&dim| {
                let value = extent(dim, cx.dims)?;
                usize::try_from(value)
                    .map_err(|_| ValueError::new(format!("`tf.slice` takes no negative {what}, found {value}")))
            };
            dims.iter().map(value).collect()
        };
        let starts: Result<Vec<_>, _> =
            (1..operands.len()).map(|index| operand::value::<Self>(operands, index)?.to_index()).collect();
        let (sizes, strides) = (unsigned("size", call.sizes())?, unsigned("stride", call.strides())?);
        operand::value::<Self>(operands, 0)?.slice(&starts?, &sizes, &strides).map(Value::from)
    }
}

pub(super) fn register(r: &mut DialectBuilder) {
    r.op::<Slice>().types().access().evaluates().done();
}

#[cfg(test)]
mod tests {
    use tf_core::{Context, Diagnostic, Expr, Literal, Meta};
    use tf_types::{Arena, DType, Storage, TensorLayout, Type};

    use super::Slice;
    use crate::test_util::{context, dims, factored, mesh, placed, plain, var};

    /// Starts: integers, or `i` for a run-time one.
    fn infer<'c>(
        cx: &Context<'c>,
        x: Expr<'c>,
        starts: &str,
        sizes: &str,
        strides: &str,
    ) -> Result<Type<'c>, Diagnostic> {
        let start = |word: &str| match word.parse() {
            Ok(value) => cx.constant(Literal::Int(value), DType::I64, Meta::default()),
            Err(_) => var(cx, word, cx.scalar(DType::I64)),
        };
        let operands: Vec<_> = std::iter::once(x).chain(starts.split_whitespace().map(start)).collect();
        let (sizes, strides) = (dims(cx, sizes), dims(cx, strides));
        cx.call(Slice::new(cx, cx.dims(&sizes), cx.dims(&strides)), &operands, Meta::default()).map(Expr::ty)
    }

    #[test]
    fn shapes_and_plain_layouts() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let of = |x, starts, sizes, strides| infer(cx, x, starts, sizes, strides).unwrap();
        let x = plain(cx, "x", "S 6", DType::F32);
        assert_eq!(of(x, "0 1", "S 2", "1 2").to_string(), r#"Tensor[(S, 2), "f32"]"#);
        assert_eq!(of(x, "i 6", "4 0", "1 1").to_string(), r#"Tensor[(4, 0), "f32"]"#);
        let layout = Some(TensorLayout::Plain(cx.c_order_layout(&dims(cx, "4 6"))));
        let x = var(cx, "x", cx.tensor(&dims(cx, "4 6"), DType::F32, layout, Storage::Smem));
        let view = of(x, "1 2", "2 2", "1 2");
        assert_eq!(view.to_string(), r#"Tensor[(2, 2), "f32", (2, 2):(6, 2) + 8, "smem"]"#);
        let inner = of(var(cx, "v", view), "1 1", "1 1", "1 1");
        assert_eq!(inner.to_string(), r#"Tensor[(1, 1), "f32", (1, 1):(6, 2) + 16, "smem"]"#);
        assert_eq!(of(x, "i 2", "2 2", "1 1").to_string(), r#"Tensor[(2, 2), "f32", "smem"]"#);
    }

    #[test]
    fn refusals() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let x = plain(cx, "x", "4 6", DType::F32);
        let of = |starts, sizes, strides| infer(cx, x, starts, sizes, strides).unwrap_err().message;
        assert_eq!(of("3 0", "6 6", "1 1"), "`tf.slice` window [3, 9) leaves axis 0 of extent 4");
        assert_eq!(of("0 2", "4 5", "1 1"), "`tf.slice` window [2, 7) leaves axis 1 of extent 6");
        assert_eq!(of("0 0", "3 6", "2 1"), "`tf.slice` window [0, 5) with stride 2 leaves axis 0 of extent 4");
        assert_eq!(
            of("i 0", "5 6", "1 1"),
            "`tf.slice` has a window of 5 with stride 1 on axis 0, whose extent is 4: it fits at no start"
        );
        assert_eq!(of("-1 0", "1 6", "1 1"), "`tf.slice` starts at -1 on axis 0; the least index is 0");
        assert_eq!(of("0 0", "-1 6", "1 1"), "`tf.slice` takes no negative size, found -1 on axis 0");
        assert_eq!(of("0 0", "2 2", "1 0"), "`tf.slice` takes a positive integer as the stride of axis 1, found 0");
        assert_eq!(of("0 0", "2 2", "S 1"), "`tf.slice` takes a positive integer as the stride of axis 0, found S");
        assert_eq!(of("0", "2 2", "1 1"), "`tf.slice` of an operand of rank 2 takes 2 starts, found 1");
        let tall = plain(cx, "x", "S 6", DType::F32);
        let error = infer(cx, tall, "1 0", "S 6", "1 1").unwrap_err();
        assert_eq!(error.message, "`tf.slice` window [1, S + 1) leaves axis 0 of extent S");
        infer(cx, tall, "1 0", "4 6", "1 1").unwrap();
        let huge = i64::MAX.to_string();
        assert!(of(&format!("1 {huge}"), "1 2", "1 1").contains("[9223372036854775807, beyond 64 bits)"));
        let op = Slice::new(cx, cx.const_dims(&[2]), cx.const_dims(&[1]));
        let float = plain(cx, "s", "", DType::F32);
        let error = cx.call(op, &[plain(cx, "x", "4", DType::F32), float], Meta::default()).unwrap_err();
        assert_eq!(
            error.message,
            r#"`tf.slice` takes rank-0 integers (i32, i64) as starts, found Tensor[(), "f32"] on axis 0"#
        );
    }

    #[test]
    fn placements() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let m = mesh(cx, "w=4");
        let shard = Some(TensorLayout::Shard(factored(cx, "4 4 128", "S0", m)));
        let x = var(cx, "x", cx.tensor(&dims(cx, "16 128"), DType::F32, shard, Storage::Rmem));
        let layout = |x, starts, sizes, strides| {
            let ty = infer(cx, x, starts, sizes, strides).unwrap();
            let layout = ty.as_tensor().unwrap().layout.unwrap();
            let kind = matches!(layout, TensorLayout::Composed(_));
            (var(cx, "v", ty), kind, layout.to_string())
        };
        let (view, composed, text) = layout(x, "0 32", "16 32", "1 1");
        assert!(composed);
        assert_eq!(text, "((4 @ w, 4, 32), (512, 128, 1)) + 32");
        let (_, _, text) = layout(view, "0 8", "16 4", "1 2");
        assert_eq!(text, "((4 @ w, 4, 4), (512, 128, 2)) + 40");
        let (_, composed, text) = layout(x, "0 i", "16 32", "1 1");
        assert!(!composed);
        assert_eq!(text, "((4 @ w, 4, 32), (512, 128, 1))");
        assert_eq!(layout(x, "0 0", "16 128", "1 1").2, "((4 @ w, 4, 128), (512, 128, 1))");
        let refusal = |x, starts, sizes| infer(cx, x, starts, sizes, "1 1").unwrap_err();
        let error = refusal(x, "0 0", "8 128");
        assert_eq!(error.message, "`tf.slice` narrows axis 0, which is split over mesh axis `w`");
        assert_eq!(error.help.unwrap(), "reshard the operand so that axis 0 is whole, or take all of it");
        refusal(x, "i 0", "16 128");
        let parts = Some(TensorLayout::Shard(factored(cx, "4 2 2 128", "B", m)));
        let parts = var(cx, "x", cx.tensor(&dims(cx, "16 128"), DType::F32, parts, Storage::Rmem));
        let message = refusal(parts, "0 0", "8 128").message;
        assert_eq!(message, "`tf.slice` narrows axis 0, which the placement factors into 3 parts; it must be one");
        let term = placed(cx, "t", "16 128", "Psum", m);
        assert!(layout(term, "0 32", "16 32", "1 1").2.contains(r#"w @ P("sum")"#));
    }
}
