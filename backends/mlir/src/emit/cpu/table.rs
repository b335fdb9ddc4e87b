//! Which function emits which op.
use super::{Binding, Emitter, arith, memory, nn, tensor};
use tf_core::{
    Diagnostic, Expr, Result,
    op::{Op, OpName, OpView},
};
use tf_tir::{
    arith::{binary::Binary, clamp::Clamp, unary::Unary},
    launch::Launch,
    memory::{alloc_tensor::AllocTensor, copy::Copy, fill::Fill, tensor_view::TensorView},
    nn::{mma::Mma, relu::Relu},
    sync::barrier::Sync,
    tensor::reduce::Reduce,
};

type Effect = for<'a, 'c> fn(&mut Emitter<'a, 'c>, OpView<'c>) -> Result<()>;
type Value = for<'a, 'c> fn(&mut Emitter<'a, 'c>, Expr<'c>) -> Result<Binding<'a>>;

const EFFECTS: [(OpName, Effect); 10] = [
    (Copy::DECL.name, memory::copy),
    (Fill::DECL.name, memory::fill),
    (Binary::DECL.name, arith::binary),
    (Unary::DECL.name, arith::unary),
    (Clamp::DECL.name, arith::clamp),
    (Relu::DECL.name, arith::relu),
    (Reduce::DECL.name, tensor::reduce),
    (Mma::DECL.name, nn::mma),
    (Sync::DECL.name, device_only),
    (Launch::DECL.name, device_only),
];

const VALUES: [(OpName, Value); 2] =
    [(AllocTensor::DECL.name, memory::alloc_tensor), (TensorView::DECL.name, memory::tensor_view)];

fn find<F: std::marker::Copy>(table: &[(OpName, F)], name: OpName) -> Result<F> {
    let entry = table.iter().find(|(op, _)| op.key == name.key);
    entry.map(|(_, handler)| *handler).ok_or_else(|| Diagnostic::error(format!("`{name}` has no CPU form")))
}

/// Emits an effect.
pub(super) fn effect<'c>(e: &mut Emitter<'_, 'c>, view: OpView<'c>) -> Result<()> {
    find(&EFFECTS, view.op.decl.name)?(e, view)
}

/// Emits an allocation or a view.
pub(super) fn value<'a, 'c>(e: &mut Emitter<'a, 'c>, expr: Expr<'c>) -> Result<Binding<'a>> {
    match expr.op_call() {
        Some(view) => find(&VALUES, view.op.decl.name)?(e, expr),
        None => Err(Diagnostic::error(format!("{} has no CPU form", expr.describe())).at(expr.span())),
    }
}

fn device_only<'c>(_: &mut Emitter<'_, 'c>, view: OpView<'c>) -> Result<()> {
    let message = format!("`{}` in a CPU function: there are no positions and no device", view.op.decl.name);
    Err(Diagnostic::error(message).with_help("lower with target=cpu"))
}
