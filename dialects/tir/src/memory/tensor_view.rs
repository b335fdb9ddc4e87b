//! `T.tensor_view`

use tf_core::op::attr::{AnyLayout, Dims};
use tf_core::op::{OpCall, RuleError, TypeRule};
use tf_core::{Context, op};
use tf_types::{Storage, TensorType, Type, TypeKind};
use tf_value::rule::DialectBuilder;
use tf_value::tir::{Meaning, Start, TirEvalRule, Window};

use crate::held::{Factor, Held};
use crate::memory::addresses;
use crate::rules::{layout_fits, tensor};

/// The same memory under another shape and layout, from an element start on.
///
/// `coords` are absolute element starts: one for each axis of `memory`, or one for `memory` as a whole; none: the start of `memory`.
/// Element `c` of the view lies at `start(memory) + sum coords[i]*stride[i] + layout(c)`, with a single start at
/// `start(memory) + coords[0] + layout(c)`.
///
/// ```python
/// def f(x: Tensor[(8, 6), "f32"], out: Tensor[(2, 6), "f32"]):
///     rows = T.tensor_view(x, 4, 0, layout=Layout((2, 6), (6, 1)), shape=(2, 6))
///     T.copy(rows, out)
/// ```
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
        if coords.len() > 1 && coords.len() != memory.rank() || coords.len() == 1 && memory.rank() == 0 {
            return Err(RuleError::new(format!(
                "`T.tensor_view` takes one start for each of {} axes or one for all, found {}",
                memory.rank(),
                coords.len()
            ))
            .operand(0, memory.to_string())
            .with_help(
                "a single start is an element number in C-order; without starts the view begins at the first element",
            ));
        }
        for (i, coord) in coords.iter().enumerate() {
            let is_index =
                |ty: &TypeKind<'_>| matches!(ty, TypeKind::Tensor(t) if t.rank() == 0 && t.dtype.is_integer());
            if !is_index(coord.ty().data()) {
                let message = format!("a start must be an integer scalar, found {}", coord.ty());
                return Err(RuleError::new(message)
                    .operand(1 + i, coord.ty().to_string())
                    .with_help("starts count elements: i32 or i64 of rank 0"));
            }
        }
        let shape = call.shape().unwrap_or(memory.shape);
        layout_fits("T.tensor_view", shape, call.layout())?;
        let view = cx.tensor(shape, memory.dtype, Some(call.layout()), memory.storage);
        view.as_tensor().map_or(Ok(()), |window| addresses::inside(call.memory(), coords, window))?;
        Ok(view)
    }
}

impl TirEvalRule for TensorView {
    fn meaning<'c>(call: OpCall<'c, Self>) -> Result<Meaning, RuleError> {
        let memory = tensor(0, "memory", call.memory())?;
        let shape = call.shape().unwrap_or(memory.shape);
        let view = TensorType { shape, layout: Some(call.layout()), ..*memory };
        let (from, to) = (Held::of(memory)?, Held::of(&view)?);
        let is_flat = call.coords().len() == 1 && from.axes.len() != 1;
        let starts = match is_flat {
            true => vec![Start { factors: vec![(1, 1)], room: None }],
            false => (0..call.coords().len()).map(|axis| start(&from, &to, axis)).collect(),
        };
        Ok(Meaning::View(Window { starts, span: span(memory.storage, &to) }))
    }
}

fn start(memory: &Held<'_>, view: &Held<'_>, axis: usize) -> Start {
    let factors = memory.axes[axis].iter().map(|f| (f.step, f.stride)).collect();
    // A view whose axes step as those of the memory is a window of it: it may not run over the end of an axis into the next row.
    let is_window =
        memory.axes.len() == view.axes.len() && axis_stride(&memory.axes[axis]) == axis_stride(&view.axes[axis]);
    let room = (memory.extents()[axis], view.extents()[axis]);
    Start { factors, room: is_window.then_some(room) }
}

/// Elements of memory per coordinate of an axis, if they are always as many.
fn axis_stride(factors: &[Factor]) -> Option<i64> {
    let mut parts = factors.iter().filter(|f| f.extent > 1);
    let last = parts.next_back()?;
    let stride = last.stride / last.step;
    let uniform = |f: &Factor| f.stride == stride * f.step;
    (uniform(last) && parts.all(uniform)).then_some(stride)
}

/// Elements that a view addresses; where every position has memory of its own, its coordinates move nothing.
fn span(storage: Storage, view: &Held<'_>) -> i64 {
    if storage != Storage::Rmem {
        return addresses::addressed(view);
    }
    let mut own = view.clone();
    own.axes.iter_mut().for_each(|factors| factors.retain(|factor| factor.mesh_axis.is_none()));
    addresses::addressed(&own)
}

pub(crate) fn register(r: &mut DialectBuilder) {
    r.op::<TensorView>().types().means().done();
}

#[cfg(test)]
mod tests {
    use tf_core::{Arena, Literal, Meta};
    use tf_types::{DType, Storage, TensorLayout};

    use super::TensorView;
    use crate::test_util::{context, tensor};

    #[test]
    fn windows() {
        let arena = Arena::new();
        let cx = &context(&arena);
        let memory = tensor(cx, &[8, 16], DType::F32, Storage::Smem);
        let start = cx.constant(Literal::Int(2), DType::I64, Meta::default());
        let float = cx.constant(Literal::Float(2.0), DType::F32, Meta::default());
        let layout = TensorLayout::Plain(cx.layout(cx.const_dims(&[2, 4]), Some(cx.const_dims(&[16, 1]))));
        let of = |coords: &[_], shape: &[i64]| {
            let op = TensorView::new(cx, layout, Some(cx.const_dims(shape)));
            let operands: Vec<_> = std::iter::once(memory).chain(coords.iter().copied()).collect();
            cx.call(op, &operands, Meta::default()).map(|view| view.ty().to_string())
        };
        let window = Ok(r#"Tensor[(2, 4), "f32", (2, 4):(16, 1), "smem"]"#.to_owned());
        assert_eq!(of(&[], &[2, 4]), window);
        assert_eq!(of(&[start, start], &[2, 4]), window);
        assert_eq!(of(&[start], &[2, 4]), window);
        let refusal = |coords: &[_], shape: &[i64]| of(coords, shape).unwrap_err().message;
        assert_eq!(
            refusal(&[start; 3], &[2, 4]),
            "`T.tensor_view` takes one start for each of 2 axes or one for all, found 3"
        );
        assert_eq!(refusal(&[float], &[2, 4]), r#"a start must be an integer scalar, found Tensor[(), "f32", "umat"]"#);
        assert_eq!(refusal(&[], &[2, 2]), "`T.tensor_view` of 4 elements has the layout (2, 4):(16, 1) of 8");
    }
}
