//! What only a run can find: messages of the evaluation rules.

use rustc_hash::FxHashMap;
use tf_core::op::OpInstance;
use tf_core::{Arena, Context, Expr, Meta};
use tf_hir::{Arange, ArgMax, CacheUpdate, IndexSelect, InsertSlice, Reshape, Split, TopK, TupleGetItem, Zeros};
use tf_types::{DType, Dim, DimVar, Storage};
use tf_value::{DialectBuilder, EvalCx, EvalRegistry, Tensor, Value, ValueError};

/// A variable of the tensor's dtype with these extents.
fn var<'c>(cx: &Context<'c>, shape: &[Dim<'c>], dtype: DType) -> Expr<'c> {
    cx.var(cx.symbol("x"), cx.tensor(shape, dtype, None, Storage::Gmem), Meta::default())
}

/// Types the call, then evaluates it with `n` of this size.
fn run<'c>(
    cx: &Context<'c>,
    rules: &EvalRegistry,
    op: OpInstance<'c>,
    operands: &[(Expr<'c>, Value)],
    n: i64,
) -> Result<Value, ValueError> {
    let (args, mut values): (Vec<_>, Vec<_>) = operands.iter().cloned().unzip();
    let call = cx.call(op, &args, Meta::default()).unwrap();
    let sizes = FxHashMap::from_iter([(cx.symbol("n"), n)]);
    let eval_cx = EvalCx { dims: &sizes, result_type: call.ty() };
    rules.get(op.id).unwrap()(call.op_call().unwrap(), &mut values, &eval_cx)
}

fn number(value: i32) -> Value {
    Tensor::scalar(value).into()
}

fn zeros(shape: &[usize], dtype: DType) -> Value {
    Tensor::zeros(shape, dtype).unwrap().into()
}

#[test]
fn windows_and_counts() {
    let mut builder = DialectBuilder::default();
    tf_hir::register(&mut builder);
    let (ops, rules) = builder.freeze().unwrap();
    let arena = Arena::new();
    let cx = &Context::new(&arena, ops);
    let n = cx.dim_var(DimVar { name: cx.symbol("n"), lo: 0, hi: 99 });
    let known = |shape: &[i64], dtype| var(cx, cx.const_dims(shape), dtype);
    let of = |op, operands: &[_], size| run(cx, &rules, op, operands, size).unwrap_err().message;

    let rows = [
        (known(&[4, 6], DType::F32), zeros(&[4, 6], DType::F32)),
        (known(&[2, 6], DType::F32), zeros(&[2, 6], DType::F32)),
    ];
    let at = |row| (known(&[], DType::I32), number(row));
    let insert = |row| of(InsertSlice::new(cx), &[rows[0].clone(), rows[1].clone(), at(row), at(0)], 0);
    assert_eq!(insert(3), "insert window [3, 5) leaves axis 0 of extent 4");
    assert_eq!(insert(-1), "insert window [-1, 1) leaves axis 0 of extent 4");

    let cache = (known(&[1, 8, 2, 4], DType::F16), zeros(&[1, 8, 2, 4], DType::F16));
    let new = (known(&[1, 2, 2, 4], DType::F16), zeros(&[1, 2, 2, 4], DType::F16));
    let update = |position, count| of(CacheUpdate::new(cx), &[cache.clone(), at(position), at(count), new.clone()], 0);
    assert_eq!(update(7, 2), "cache_update writes rows [7, 9) of a cache of 8: cur_pos + s leaves its capacity");
    assert_eq!(update(-1, 1), "cache_update writes rows [-1, 0) of a cache of 8: cur_pos + s leaves its capacity");
    // Rows of `new` beyond `s` need no room.
    let last = run(cx, &rules, CacheUpdate::new(cx), &[cache.clone(), at(7), at(1), new.clone()], 0).unwrap();
    assert_eq!(last.as_tensor().unwrap().shape(), [1, 8, 2, 4]);
    assert_eq!(update(0, 3), "cache_update writes s = 3 rows of 2 new ones");
    assert_eq!(update(0, 0), "cache_update writes s = 0 rows of 2 new ones");

    let tall = |size: usize| (var(cx, &[n, cx.dim(4)], DType::F32), zeros(&[size, 4], DType::F32));
    let message = of(Split::new(cx, 0, 2), &[tall(5)], 5);
    assert_eq!(message, "split of (5, 4) cannot cut axis 0 of extent 5 into 2 equal parts");
    let message = of(Reshape::new(cx, cx.dims(&[cx.dim(2), cx.dim(8)])), &[tall(5)], 5);
    assert_eq!(message, "reshape of (5, 4) to (2, 8): 20 elements cannot become 16");
    let negative = cx.dims(&[cx.dim_sub(n, cx.dim(9)), cx.dim(5)]);
    assert_eq!(of(Reshape::new(cx, negative), &[tall(5)], 5), "`tf.reshape` takes no negative extent, found -4");
    assert_eq!(of(ArgMax::new(cx, 0), &[tall(0)], 0), "argmax over the empty axis 0 of shape (0, 4)");
    assert_eq!(of(TopK::new(cx, cx.dim(3), 0, true, true), &[tall(2)], 2), "topk of 3 exceeds axis 0 of extent 2");
    let k = cx.dim_sub(n, cx.dim(9));
    assert_eq!(of(TopK::new(cx, k, 0, true, true), &[tall(5)], 5), "`tf.topk` takes no negative k, found -4");

    let index = (known(&[1], DType::I32), Tensor::from_vec(&[1], vec![4i32]).unwrap().into());
    let message = of(IndexSelect::new(cx, 0), &[rows[0].clone(), index], 0);
    assert_eq!(message, "index 4 (number 0) leaves axis 0 of extent 4");

    let short = cx.tensor(&[cx.dim_sub(n, cx.dim(9))], DType::I64, None, Storage::Gmem);
    assert_eq!(of(Zeros::new(cx, short), &[], 5), "`tf.zeros` makes no negative extent, found -4");
    assert_eq!(of(Arange::new(cx, short, None, 1), &[], 5), "`tf.arange` makes no negative extent, found -4");
    let pair = cx.tuple(&[cx.scalar(DType::F32); 2]);
    let tuple = cx.var(cx.symbol("t"), pair, Meta::default());
    let message = of(TupleGetItem::new(cx, 1), &[(tuple, Value::Tuple(vec![number(1)]))], 0);
    assert_eq!(message, "`tf.tuple_get_item` takes field 1 of a tuple of 1");
}
