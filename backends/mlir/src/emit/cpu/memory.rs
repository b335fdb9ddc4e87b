//! Allocations, views, data movement.
use super::{
    Binding, Emitter,
    buffer::{Buffer, is_dense, strided},
    nest,
};
use tf_core::{
    Diagnostic, Expr, Result,
    op::{OpView, rules::typed},
};
use tf_tir::memory::{copy::Copy, fill::Fill, tensor_view::TensorView};
use tf_types::{DType, TensorType};

/// The tensor type of an allocation or a view.
fn tensor_type<'c>(expr: Expr<'c>) -> Result<&'c TensorType<'c>> {
    expr.ty().as_tensor().ok_or_else(|| Diagnostic::error(format!("{} is no tensor", expr.ty())))
}

pub(super) fn alloc_tensor<'a, 'c>(e: &mut Emitter<'a, 'c>, expr: Expr<'c>) -> Result<Binding<'a>> {
    let tensor = tensor_type(expr)?;
    let (shape, strides) = strided(tensor, "a buffer")?;
    if !is_dense(&shape, &strides) {
        return Err(Diagnostic::error(format!("a buffer of a CPU function is dense, found strides {strides:?}"))
            .with_help("allocate it in C order and take a view"));
    }
    Ok(Binding::Buffer(e.allocate(tensor.dtype, &shape)?))
}

pub(super) fn tensor_view<'a, 'c>(e: &mut Emitter<'a, 'c>, expr: Expr<'c>) -> Result<Binding<'a>> {
    let tensor = tensor_type(expr)?;
    let call = expr.as_op::<TensorView>().ok_or_else(|| Diagnostic::error("no view"))?;
    let (shape, strides) = strided(tensor, "a view")?;
    let memory: Buffer<'a> = e.buffer(call.memory())?.clone();
    let coords = call.coords().iter().map(|&coord| e.coordinate(coord)).collect::<Result<Vec<_>>>()?;
    Ok(Binding::Buffer(memory.view(&e.s, &coords, shape, strides)?))
}

pub(super) fn copy<'c>(e: &mut Emitter<'_, 'c>, view: OpView<'c>) -> Result<()> {
    let call = typed::<Copy>(view);
    let (src, dst) = (e.buffer(call.src())?, e.buffer(call.dst())?);
    if src.shape != dst.shape {
        let message = format!("`T.copy` of shape {:?} to {:?} has no CPU form", src.shape, dst.shape);
        return Err(Diagnostic::error(message).with_help("take a `T.tensor_view` of one shape"));
    }
    nest::each(&e.s, &dst.shape, |s, at| {
        let element = src.load(s, at)?;
        dst.store(s, element, at)
    })
}

pub(super) fn fill<'c>(e: &mut Emitter<'_, 'c>, view: OpView<'c>) -> Result<()> {
    let call = typed::<Fill>(view);
    let dst = e.buffer(call.tensor())?;
    let value = match call.value().literal() {
        Some(literal) => e.s.constant(dst.dtype, literal)?,
        None if dst.dtype.is_integer() => {
            let wide = e.wide(call.value())?;
            e.s.cast(DType::I64, dst.dtype, wide)?
        }
        None => e.buffer(call.value())?.load(&e.s, &[])?,
    };
    nest::each(&e.s, &dst.shape, |s, at| dst.store(s, value, at))
}
