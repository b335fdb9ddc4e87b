//! Evaluation rules may not rely on inference: whatever their operands and attributes are, they give a value or a message, and never panic.

use rustc_hash::FxHashMap;
use tf_core::op::{OpInstance, OpView};
use tf_core::{Arena, Context, Expr};
use tf_hir::{
    Arange, ArgMax, Clamp, Concat, Conv2d, IndexAdd, IndexCopy, IndexSelect, LayerNorm, Quant, QuantScheme, Reduce,
    RepeatInterleave, Reshape, Slice, Softmax, Split, Stack, TopK, Transpose, TupleGetItem, Zeros,
};
use tf_testing::Rng;
use tf_types::DType;
use tf_types::kinds::ReduceKind;
use tf_value::{EvalCx, EvalRegistry, Tensor, Value};

use crate::OPS;
use crate::draw::{Extents, Gen};
use crate::run::{context, operand, value};

/// The message of a panic, if there was one.
fn panic_of<'c>(
    cx: &Context<'c>,
    rules: &EvalRegistry,
    op: OpInstance<'c>,
    args: &[Expr<'c>],
    mut operands: Vec<Value>,
) -> Option<String> {
    let what = format!("{op:?} of {operands:?}");
    let dims = FxHashMap::default();
    let eval = EvalCx { dims: &dims, result_type: cx.scalar(DType::F32) };
    let result = rules.get(op.id).expect("a rule")(OpView { op, args: cx.alloc_slice(args) }, &mut operands, &eval);
    result
        .err()
        .map(|error| error.message)
        .filter(|message| message.contains("panicked"))
        .map(|m| format!("{what}: {m}"))
}

/// Values that an operand should not have.
fn odd_ones(rng: &mut Rng) -> Vec<Value> {
    let shapes: [&[usize]; 6] = [&[], &[0], &[1], &[3], &[2, 0, 3], &[1, 2, 1, 2]];
    let mut found: Vec<Value> = Vec::new();
    for dtype in DType::ALL.into_iter().filter(|dtype| *dtype != DType::F4E2M1) {
        found.push(Tensor::zeros(rng.pick(&shapes), dtype).unwrap().into());
    }
    let extremes = [i64::MIN, -1, i64::MAX, 1 << 40];
    found.extend(extremes.map(|value| Tensor::scalar(value).into()));
    found.extend(extremes.map(|value| Tensor::from_vec(&[1], vec![value]).unwrap().into()));
    found.push(Tensor::scalar(i32::MIN).into());
    found.push(Value::Tuple(Vec::new()));
    found.push(Value::Tuple(vec![Tensor::scalar(1.0f32).into(), Value::Tuple(Vec::new())]));
    found
}

#[test]
fn operands_of_any_kind() {
    let mut wrong = Vec::new();
    for (number, (_, forms, make)) in OPS.iter().enumerate() {
        let arena = Arena::new();
        let (cx, rules) = &context(&arena);
        for (form, rank) in (0..*forms).flat_map(|form| (0..5).map(move |rank| (form, rank))) {
            let mut rng = Rng::new((number * 100 + form * 10 + rank) as u64);
            let dtype =
                rng.pick(&[DType::F32, DType::F16, DType::BF16, DType::I32, DType::I64, DType::Bool, DType::F8E8M0]);
            let mut g = Gen { cx, rng, dtype, rank, form, extents: Extents::Small, special: true };
            let Some(case) = make(&mut g) else { continue };
            let args: Vec<_> = case.operands.iter().map(|one| operand(cx, one)).collect();
            let operands: Vec<_> = case.operands.iter().map(|one| value(one, &mut g.rng, false)).collect();
            let mut check = |operands: Vec<Value>| wrong.extend(panic_of(cx, rules, case.op, &args, operands));
            check(Vec::new());
            check(operands.iter().rev().cloned().collect());
            check([&operands[..], &operands[..]].concat());
            for at in 0..operands.len() {
                check(operands[..at].to_vec());
                for odd in odd_ones(&mut g.rng) {
                    let mut operands = operands.clone();
                    operands[at] = odd;
                    check(operands);
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} panics:\n{}", wrong.len(), wrong[..wrong.len().min(30)].join("\n"));
}

/// Instances that inference refuses.
fn odd_ops<'c>(cx: &Context<'c>) -> Vec<OpInstance<'c>> {
    let mut ops = Vec::new();
    let ints = |values: &[i64]| cx.alloc_slice(values);
    let dims = |values: &[i64]| cx.const_dims(values);
    for odd in [i64::MIN, -9, -1, 0, 1, 3, 9, 1 << 46, i64::MAX] {
        ops.extend([
            Softmax::new(cx, odd),
            ArgMax::new(cx, odd),
            LayerNorm::new(cx, odd, 1e-5),
            TupleGetItem::new(cx, odd),
        ]);
        ops.extend([Concat::new(cx, odd), Stack::new(cx, odd), IndexSelect::new(cx, odd), IndexAdd::new(cx, odd)]);
        ops.extend([IndexCopy::new(cx, odd), Quant::new(cx, QuantScheme::PerTokenGroup, odd, None)]);
        ops.extend(ReduceKind::ALL.iter().map(|&kind| Reduce::new(cx, ints(&[odd, 0]), true, kind)));
        ops.extend([Split::new(cx, odd, 2), Split::new(cx, 0, odd), RepeatInterleave::new(cx, odd, 0)]);
        ops.extend([RepeatInterleave::new(cx, 2, odd), TopK::new(cx, cx.dim(odd), 0, true, true)]);
        ops.extend([TopK::new(cx, cx.dim(1), odd, true, true), Transpose::new(cx, ints(&[0, odd]))]);
        ops.extend([Reshape::new(cx, dims(&[odd])), Reshape::new(cx, dims(&[odd, odd, 0]))]);
        ops.extend([Slice::new(cx, dims(&[odd]), dims(&[1])), Slice::new(cx, dims(&[1]), dims(&[odd]))]);
        ops.extend([Slice::new(cx, dims(&[2, 1]), dims(&[odd, odd])), Clamp::new(cx, odd as f64, f64::NAN)]);
        for at in 0..4 {
            let mut pairs = [[1, 1], [0, 0], [1, 1], [1, 1]];
            pairs[at][at % 2] = odd;
            let [stride, padding, dilation, [groups, other]] = pairs;
            let groups = if at == 3 { other } else { groups };
            ops.push(Conv2d::new(cx, ints(&stride), ints(&padding), ints(&dilation), groups));
        }
        let ty = |shape: &[i64], dtype| cx.tensor(dims(shape), dtype, None, tf_types::Storage::Gmem);
        ops.extend([Zeros::new(cx, ty(&[odd], DType::F32)), Zeros::new(cx, ty(&[2, odd], DType::F8E8M0))]);
        ops.push(Arange::new(cx, ty(&[odd], DType::I64), None, 1));
        ops.push(Arange::new(cx, ty(&[3], DType::I32), Some(cx.dim(odd)), odd));
    }
    ops.extend([Conv2d::new(cx, ints(&[1]), ints(&[]), ints(&[1, 1, 1]), 1), Transpose::new(cx, ints(&[]))]);
    ops
}

#[test]
fn attributes_of_any_value() {
    let arena = Arena::new();
    let (cx, rules) = &context(&arena);
    let f32s = |shape: &[usize]| Value::from(Tensor::zeros(shape, DType::F32).unwrap());
    let index = Value::from(Tensor::from_vec(&[1], vec![0i64]).unwrap());
    let zero = Value::from(Tensor::scalar(0i64));
    let operands: Vec<Vec<Value>> = vec![
        vec![],
        vec![f32s(&[])],
        vec![f32s(&[4])],
        vec![f32s(&[0, 3])],
        vec![f32s(&[2, 3]), f32s(&[3]), f32s(&[3])],
        vec![f32s(&[4]), zero.clone()],
        vec![f32s(&[2, 4]), zero.clone(), zero],
        vec![f32s(&[2, 4]), index.clone(), f32s(&[1, 4])],
        vec![f32s(&[2, 4]), index],
        vec![f32s(&[1, 2, 4, 4]), f32s(&[2, 2, 3, 3]), f32s(&[2])],
        vec![f32s(&[1, 2, 4, 4]), f32s(&[2, 2, 0, 3]), f32s(&[2])],
        vec![Value::Tuple(vec![f32s(&[1])])],
    ];
    let mut wrong = Vec::new();
    for op in odd_ops(cx) {
        for operands in &operands {
            wrong.extend(panic_of(cx, rules, op, &[], operands.clone()));
        }
    }
    assert!(wrong.is_empty(), "{} panics:\n{}", wrong.len(), wrong[..wrong.len().min(30)].join("\n"));
}
