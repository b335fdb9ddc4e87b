//! `tf.slice`: a view of the window, without data movement.

use tf_core::op::OpView;
use tf_core::op::rules::typed;
use tf_core::{Expr, Result};
use tf_hir::Slice;
use tf_tir::held::Held;
use tf_tir::memory::tensor_view::TensorView;
use tf_types::{Storage, TensorLayout};

use crate::lowerer::Lowerer;

pub(super) fn lower<'c>(lowerer: &mut Lowerer<'_, 'c>, _: Expr<'c>, view: OpView<'c>) -> Result<Expr<'c>> {
    let call = typed::<Slice>(view);
    let cx = lowerer.cx;
    let memory = lowerer.buffer(call.x())?;
    let source = lowerer.tensor(memory);
    if source.storage == Storage::Rmem || source.shard().is_some() {
        return Err(lowerer
            .refuse("a window of a value that is spread over positions is not lowered yet")
            .with_help("slice the tensor in gmem, then reshard the window"));
    }
    let held = Held::of(source).map_err(|error| lowerer.refuse_type(error))?;
    let steps = call.strides().iter().map(|s| s.as_const());
    let strides: Option<Vec<_>> =
        held.axes.iter().zip(steps).map(|(factors, step)| Some(cx.dim(factors.first()?.stride * step?))).collect();
    let strides = strides.ok_or_else(|| lowerer.refuse("a window with a symbolic step is not lowered"))?;
    let mut args = vec![memory];
    for &start in call.starts() {
        args.push(lowerer.coordinate(start)?);
    }
    let layout = TensorLayout::Plain(cx.layout(call.sizes(), Some(&strides)));
    lowerer.bind_op(TensorView::new(cx, layout, Some(call.sizes())), &args, "w")
}
