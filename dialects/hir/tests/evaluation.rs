//! Every op through its call node: the value has the inferred shape and dtype. The numbers of all kinds are the tensor
//! engine's own tests.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use tf_core::{Arena, Context, Expr, Meta};
use tf_hir::{Binary, Cast, MatMul, Reduce, Reshard, Slice, Unary};
use tf_types::kinds::{BinaryKind, ReduceKind, UnaryKind};
use tf_types::{DType, DimVar, Storage};
use tf_value::{DialectBuilder, EvalCx, EvalRegistry, Tensor, Value, ValueError};

fn context(arena: &Arena) -> (Context<'_>, Arc<EvalRegistry>) {
    let mut builder = DialectBuilder::default();
    tf_hir::register(&mut builder);
    let (ops, eval) = builder.freeze().unwrap();
    (Context::new(arena, ops), eval)
}

/// A gmem variable of the tensor's type, whose first extent is `n` if `symbolic`.
fn operand<'c>(cx: &Context<'c>, tensor: &Tensor, symbolic: bool) -> Expr<'c> {
    let mut shape: Vec<_> = tensor.shape().iter().map(|&extent| cx.dim(extent as i64)).collect();
    if symbolic {
        shape[0] = cx.dim_var(DimVar { name: cx.symbol("n"), lo: 0, hi: 99 });
    }
    let ty = cx.tensor(&shape, tensor.dtype(), None, Storage::Gmem);
    cx.var(cx.symbol("x"), ty, Meta::default())
}

/// The value of a call of ops without symbolic extents, checked against its type.
fn run(call: Expr<'_>, eval: &EvalRegistry, operands: &[Tensor]) -> Result<Tensor, ValueError> {
    let view = call.op_call().unwrap();
    let mut values: Vec<_> = operands.iter().cloned().map(Value::from).collect();
    let sizes = FxHashMap::from_iter([]);
    let cx = EvalCx { dims: &sizes, result_type: call.ty() };
    let value = eval.get(view.op.id).unwrap()(view, &mut values, &cx)?;
    let tensor = value.as_tensor().unwrap();
    let ty = call.ty().as_tensor().unwrap();
    assert_eq!(tensor.dtype(), ty.dtype, "{:?}", view.op);
    let shape: Vec<_> = tensor.shape().iter().map(|&extent| extent as i64).collect();
    assert_eq!(Some(shape), ty.static_shape(), "{:?}", view.op);
    Ok(tensor.clone())
}

fn ints(shape: &[usize], values: &[i32]) -> Tensor {
    Tensor::from_vec(shape, values.to_vec()).unwrap()
}

#[test]
fn one_case_of_every_op() {
    let arena = Arena::new();
    let (cx, eval) = &context(&arena);
    let x = Tensor::from_f32(&[2, 3], &[1.0, -2.5, 3.0, 4.0, 5.5, -6.0]).unwrap();
    let row = Tensor::from_f32(&[3], &[1.0, 0.0, 3.0]).unwrap();
    let of = |op, operands: &[Tensor]| {
        let args: Vec<_> = operands.iter().map(|t| operand(cx, t, false)).collect();
        run(cx.call(op, &args, Meta::default()).unwrap(), eval, operands).unwrap().to_f32_vec()
    };
    let pair = [x.clone(), row.clone()];
    assert_eq!(of(Binary::new(cx, BinaryKind::Add), &pair), [2.0, -2.5, 6.0, 5.0, 5.5, -3.0]);
    assert_eq!(of(Binary::new(cx, BinaryKind::Ge), &pair), [1.0, 0.0, 1.0, 1.0, 1.0, 0.0]);
    let quotient = Binary::new(cx, BinaryKind::Div);
    assert_eq!(of(quotient, &[ints(&[2], &[7, -7]), ints(&[1], &[2])]), [3.0, -3.0]);
    let one = std::slice::from_ref(&x);
    assert_eq!(of(Unary::new(cx, UnaryKind::Relu), one), [1.0, 0.0, 3.0, 4.0, 5.5, 0.0]);
    assert_eq!(of(Cast::new(cx, DType::I32), one), [1.0, -2.0, 3.0, 4.0, 5.0, -6.0]);
    assert_eq!(of(Reduce::new(cx, &[-1], true, ReduceKind::AbsMax), one), [3.0, 6.0]);
    assert_eq!(of(Reduce::new(cx, &[0], false, ReduceKind::Mean), one), [2.5, 1.5, -1.5]);
    let column = Tensor::from_f32(&[3, 1], &[1.0, 2.0, 1.0]).unwrap();
    assert_eq!(of(MatMul::new(cx), &[x.clone(), column]), [-1.0, 9.0]);
    assert_eq!(of(Reshard::new(cx, None, None), one), x.to_f32_vec());
    let slice = Slice::new(cx, cx.const_dims(&[1, 2]), cx.const_dims(&[1, 2]));
    let starts = [Tensor::scalar(1i64), Tensor::scalar(0i32)];
    assert_eq!(of(slice, &[x, starts[0].clone(), starts[1].clone()]), [4.0, -6.0]);
}

#[test]
fn run_time_refusals() {
    let arena = Arena::new();
    let (cx, eval) = &context(&arena);
    let of = |op, operands: &[Tensor]| {
        let args: Vec<_> = operands.iter().map(|t| operand(cx, t, false)).collect();
        run(cx.call(op, &args, Meta::default()).unwrap(), eval, operands).unwrap_err().message
    };
    let x = ints(&[4], &[1, 2, 3, 4]);
    let slice = Slice::new(cx, cx.const_dims(&[2]), cx.const_dims(&[1]));
    let past = of(slice, &[x.clone(), Tensor::scalar(3i64)]);
    assert_eq!(past, "slice of size 2 from 3 leaves axis 0 of extent 4");
    let zero = of(Binary::new(cx, BinaryKind::Mod), &[x.clone(), Tensor::scalar(0i32)]);
    assert!(zero.contains("zero"), "{zero}");
    let negative = Tensor::from_f32(&[1], &[-2.0]).unwrap();
    let message = of(Cast::new(cx, DType::F8E8M0), std::slice::from_ref(&negative));
    assert!(message.contains("f8e8m0") && message.contains("-2"), "{message}");
    let message = of(Cast::new(cx, DType::F4E2M1), std::slice::from_ref(&negative));
    assert!(message.contains("f4e2m1"), "{message}");
}

#[test]
fn rules_check_their_operands_themselves() {
    let arena = Arena::new();
    let (cx, eval) = &context(&arena);
    let op = Binary::new(cx, BinaryKind::Add);
    let sizes = FxHashMap::from_iter([]);
    let eval_cx = EvalCx { dims: &sizes, result_type: cx.unit() };
    let rule = eval.get(op.id).unwrap();
    let view = tf_core::op::OpView { op, args: &[] };
    let x = Value::from(ints(&[1], &[1]));
    let message = |values: &mut [Value]| rule(view, values, &eval_cx).unwrap_err().message;
    assert_eq!(message(&mut [x.clone()]), "`tf.binary` got 1 operands");
    let pair = Value::Tuple(vec![x.clone(), x.clone()]);
    assert_eq!(message(&mut [x.clone(), pair]), "`tf.binary` takes tensors, but operand 1 is a tuple of 2");
    // Unequal dtypes promote.
    let half = Value::from(Tensor::from_f32(&[1], &[0.5]).unwrap());
    let sum = rule(view, &mut [x, half], &eval_cx).unwrap();
    assert_eq!(sum.as_tensor().unwrap().to_f32_vec(), [1.5]);
}

#[test]
fn symbolic_sizes_take_this_runs_value() {
    let arena = Arena::new();
    let (cx, eval) = &context(&arena);
    let x = ints(&[3, 2], &[1, 2, 3, 4, 5, 6]);
    let arg = operand(cx, &x, true);
    let n = arg.ty().as_tensor().unwrap().shape[0];
    let zero = cx.constant(tf_core::Literal::Int(0), DType::I64, Meta::default());
    let op = Slice::new(cx, cx.dims(&[n, cx.dim(1)]), cx.const_dims(&[1, 1]));
    let call = cx.call(op, &[arg, zero, zero], Meta::default()).unwrap();
    let mut operands = [Value::from(x), Value::from(Tensor::scalar(0i64)), Value::from(Tensor::scalar(0i64))];
    let sizes = FxHashMap::from_iter([(cx.symbol("n"), 3)]);
    let rule = eval.get(op.id).unwrap();
    let value = rule(call.op_call().unwrap(), &mut operands, &EvalCx { dims: &sizes, result_type: call.ty() }).unwrap();
    assert_eq!(value.as_tensor().unwrap().to_f32_vec(), [1.0, 3.0, 5.0]);
    let none = FxHashMap::from_iter([]);
    let cx = EvalCx { dims: &none, result_type: call.ty() };
    let error = rule(call.op_call().unwrap(), &mut operands, &cx).unwrap_err();
    assert_eq!(error.message, "the size of dim `n` is not known in this run");
}
