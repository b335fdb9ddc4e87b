//! Loops, windows, local buffers, several outputs.
use tf_core::{Literal, Meta};
use tf_tir::{
    arith::{binary::Binary, unary::Unary},
    memory::{copy::Copy, fill::Fill},
    nn::mma::Mma,
    tensor::reduce::Reduce,
};
use tf_types::DType;
use tf_types::kinds::{BinaryKind, ReduceKind, UnaryKind};
use tf_value::{Tensor, compare};

use crate::support::{Block, cpu, int, module, param, param_like, run, view, with_context};

fn counted(shape: &[usize], dtype: DType) -> Tensor {
    let n = shape.iter().product::<usize>() as i64;
    let values = Tensor::from_vec(shape, (0..n).map(|i| (i * 7919) % 61 - 30).collect::<Vec<i64>>()).unwrap();
    values.cast(dtype).unwrap()
}

/// Tiles along k with an accumulator outside the loop: windows at `k` and `dim.add(k, 0)`, starts that depend on the loop.
#[test]
fn tiled_product_accumulates_over_a_loop() {
    for (dtype, tolerance) in [(DType::F32, 0.0), (DType::BF16, 0.0), (DType::I32, 0.0)] {
        let (a, b) = (counted(&[8, 96], dtype), counted(&[96, 5], dtype));
        let got = with_context(|cx| {
            let acc_dtype = if dtype.is_float() { DType::F32 } else { dtype };
            let params = [param_like(cx, "a", &a), param_like(cx, "b", &b), param(cx, "out", acc_dtype, &[8, 5])];
            let mut block = Block::default();
            let acc = block.alloc(cx, acc_dtype, &[8, 5]);
            let zero = if dtype.is_float() { Literal::Float(0.0) } else { Literal::Int(0) };
            block.run(cx, Fill::new(cx), &[acc, cx.constant(zero, acc_dtype, Meta::default())]);
            block.repeat(cx, [int(cx, 0), int(cx, 96), int(cx, 32)], |k, body| {
                let same = cx.call(tf_dim::Add::new(cx), &[k, int(cx, 0)], Meta::default()).unwrap();
                let left = body.view(cx, params[0], &[int(cx, 0), k], &[8, 32], &[96, 1]);
                let right = body.view(cx, params[1], &[same, int(cx, 0)], &[32, 5], &[5, 1]);
                let tile = body.alloc(cx, dtype, &[32, 5]);
                body.run(cx, Copy::new(cx), &[right, tile]);
                body.run(cx, Mma::new(cx, None), &[acc, left, tile]);
            });
            block.run(cx, Copy::new(cx), &[acc, params[2]]);
            run(cx, &params, 1, block, &[a.clone(), b.clone()]).unwrap()
        });
        let wide = if dtype.is_float() { DType::F32 } else { dtype };
        let want = a.cast(wide).unwrap().matmul(&b.cast(wide).unwrap()).unwrap();
        let result = compare(&got[0], &want, tolerance, tolerance);
        assert!(result.pass(), "{dtype}: {result}");
    }
}

/// A view of a view adds starts; steps and transposed strides work; a start may be an input.
#[test]
fn windows_compose() {
    let x = counted(&[6, 10], DType::I32);
    let start = Tensor::scalar(2i64);
    let got = with_context(|cx| {
        let params = [
            param_like(cx, "x", &x),
            param_like(cx, "start", &start),
            param(cx, "stepped", DType::I32, &[2, 3]),
            param(cx, "transposed", DType::I32, &[3, 2]),
        ];
        let mut block = Block::default();
        let outer = block.view(cx, params[0], &[int(cx, 1), params[1]], &[4, 8], &[10, 1]);
        let inner = block.view(cx, outer, &[int(cx, 1), int(cx, 1)], &[2, 3], &[20, 2]);
        block.run(cx, Copy::new(cx), &[inner, params[2]]);
        let turned = block.view(cx, inner, &[], &[3, 2], &[2, 20]);
        block.run(cx, Copy::new(cx), &[turned, params[3]]);
        run(cx, &params, 2, block, &[x.clone(), start.clone()]).unwrap()
    });
    let want = x.slice(&[2, 3], &[2, 3], &[2, 2]).unwrap();
    assert_eq!(got[0].to_vec::<i32>(), want.to_vec::<i32>());
    assert_eq!(got[1].to_vec::<i32>(), want.permute(&[1, 0]).unwrap().to_vec::<i32>());
}

/// Stores through a window leave the rest; the induction variable is a value; loops nest.
#[test]
fn windows_are_written_and_loops_nest() {
    let got = with_context(|cx| {
        let params = [param(cx, "out", DType::I64, &[4, 6])];
        let mut block = Block::default();
        block.run(cx, Fill::new(cx), &[params[0], int(cx, -1)]);
        block.repeat(cx, [int(cx, 1), int(cx, 4), int(cx, 2)], |i, rows| {
            rows.repeat(cx, [int(cx, 0), i, int(cx, 1)], |j, columns| {
                let product = cx.call(tf_dim::Mul::new(cx), &[i, int(cx, 10)], Meta::default()).unwrap();
                let value = cx.call(tf_dim::Add::new(cx), &[product, j], Meta::default()).unwrap();
                let cell = view(cx, params[0], &[i, j], &[1, 1], &[6, 1]);
                let cell = columns.bind(cx, cell);
                columns.run(cx, Fill::new(cx), &[cell, value]);
            });
        });
        run(cx, &params, 1, block, &[]).unwrap()
    });
    let mut want = vec![-1i64; 24];
    (want[6], want[18], want[19], want[20]) = (10, 30, 31, 32);
    assert_eq!(got[0].to_vec::<i64>().unwrap(), want);
}

/// Softmax of rows by hand, with local buffers too large for the stack.
#[test]
fn softmax_of_rows() {
    let x = counted(&[64, 1000], DType::BF16).binary(Tensor::scalar(0.125f32), BinaryKind::Mul).unwrap();
    let got = with_context(|cx| {
        let shape = [64, 1000];
        let params = [param_like(cx, "x", &x), param(cx, "out", DType::BF16, &shape)];
        let mut block = Block::default();
        let (wide, top) = (block.alloc(cx, DType::F32, &shape), block.alloc(cx, DType::F32, &[64, 1]));
        let (power, sum) = (block.alloc(cx, DType::F32, &shape), block.alloc(cx, DType::F32, &[64, 1]));
        block.run(cx, Unary::new(cx, UnaryKind::Cast), &[params[0], wide]);
        block.run(cx, Reduce::new(cx, &[1], ReduceKind::Max), &[wide, top]);
        block.run(cx, Binary::new(cx, BinaryKind::Sub), &[wide, top, wide]);
        block.run(cx, Unary::new(cx, UnaryKind::Exp), &[wide, power]);
        block.run(cx, Reduce::new(cx, &[1], ReduceKind::Sum), &[power, sum]);
        block.run(cx, Binary::new(cx, BinaryKind::Div), &[power, sum, power]);
        block.run(cx, Unary::new(cx, UnaryKind::Cast), &[power, params[1]]);
        run(cx, &params, 1, block, std::slice::from_ref(&x)).unwrap()
    });
    let wide = x.cast(DType::F32).unwrap();
    let top = wide.reduce(&[1], true, ReduceKind::Max).unwrap();
    let shifted = wide.binary(top, BinaryKind::Sub).unwrap();
    let power = shifted.unary(UnaryKind::Exp).unwrap();
    let sum = power.reduce(&[1], true, ReduceKind::Sum).unwrap();
    let want = power.binary(sum, BinaryKind::Div).unwrap().cast(DType::BF16).unwrap();
    let result = compare(&got[0], &want, 8e-3, 0.0);
    assert!(result.pass(), "{result}");
}

/// Vectors of bf16 are shuffled here where several rows are reduced side by side: LLVM 22 ended the process on hosts with
/// AVX-512 BF16.
#[test]
fn bf16_rows_are_scaled_and_reduced() {
    let (x, scale) = (counted(&[4, 2, 16], DType::BF16), counted(&[4, 2, 1], DType::BF16));
    let got = with_context(|cx| {
        let params =
            [param_like(cx, "x", &x), param_like(cx, "scale", &scale), param(cx, "out", DType::BF16, &[4, 2, 1])];
        let mut block = Block::default();
        let scaled = block.alloc(cx, DType::BF16, &[4, 2, 16]);
        block.run(cx, Binary::new(cx, BinaryKind::Mul), &[params[0], params[1], scaled]);
        block.run(cx, Reduce::new(cx, &[2], ReduceKind::Mean), &[scaled, params[2]]);
        run(cx, &params, 1, block, &[x.clone(), scale.clone()]).unwrap()
    });
    let scaled = x.binary(scale, BinaryKind::Mul).unwrap();
    let want = scaled.reduce(&[2], true, ReduceKind::Mean).unwrap();
    let result = compare(&got[0], &want, 0.0, 0.0);
    assert!(result.pass(), "{result}");
}

#[test]
fn reduced_axes_may_be_left_out_and_buffers_may_be_empty() {
    let x = counted(&[3, 4, 5], DType::F32);
    let empty = Tensor::zeros(&[0, 4], DType::F32).unwrap();
    let got = with_context(|cx| {
        let params = [
            param_like(cx, "x", &x),
            param_like(cx, "empty", &empty),
            param(cx, "kept", DType::F32, &[4]),
            param(cx, "identity", DType::F32, &[1, 4]),
            param(cx, "none", DType::F32, &[0, 4]),
        ];
        let mut block = Block::default();
        block.run(cx, Reduce::new(cx, &[0, 2], ReduceKind::Sum), &[params[0], params[2]]);
        block.run(cx, Reduce::new(cx, &[0], ReduceKind::Max), &[params[1], params[3]]);
        block.run(cx, Unary::new(cx, UnaryKind::Exp), &[params[1], params[4]]);
        run(cx, &params, 3, block, &[x.clone(), empty.clone()]).unwrap()
    });
    let want = x.reduce(&[0, 2], false, ReduceKind::Sum).unwrap();
    assert!(compare(&got[0], &want, 1e-6, 0.0).pass());
    assert!(compare(&got[1], &empty.reduce(&[0], true, ReduceKind::Max).unwrap(), 0.0, 0.0).pass());
    assert_eq!(got[2].shape(), &[0, 4]);
}

/// A function of many statements needs no deep stack here.
#[test]
fn long_functions() {
    let n = 3000;
    let got = with_context(|cx| {
        let params = [param(cx, "x", DType::I32, &[1]), param(cx, "out", DType::I32, &[1])];
        let mut block = Block::default();
        let mut last = params[0];
        for _ in 0..n {
            let next = block.alloc(cx, DType::I32, &[1]);
            block.run(cx, Binary::new(cx, BinaryKind::Add), &[last, params[0], next]);
            last = next;
        }
        block.run(cx, Copy::new(cx), &[last, params[1]]);
        run(cx, &params, 1, block, &[Tensor::from_vec(&[1], vec![2i32]).unwrap()]).unwrap()
    });
    assert_eq!(got[0].to_vec::<i32>().unwrap(), [2 * (n + 1)]);
}

/// What is emitted is MLIR that other tools read: its text parses and verifies.
#[test]
fn the_module_is_text() {
    with_context(|cx| {
        let params = [param(cx, "x", DType::Bool, &[4, 6]), param(cx, "out", DType::I64, &[2, 2])];
        let mut block = Block::default();
        block.repeat(cx, [int(cx, 0), int(cx, 2), int(cx, 1)], |k, body| {
            let window = body.view(cx, params[0], &[k, int(cx, 1)], &[2, 2], &[6, 2]);
            body.run(cx, Unary::new(cx, UnaryKind::Cast), &[window, params[1]]);
            body.run(cx, Binary::new(cx, BinaryKind::FloorDiv), &[params[1], params[1], params[1]]);
        });
        let module = module(cx, &params, 1, cpu(cx), block);
        let session = tf_mlir::Session::new();
        let mlir = melior::ir::Module::new(melior::ir::Location::unknown(session.context()));
        let Some(tf_core::AnyFunction::Tir(function)) = module.entry_function() else { panic!("no function") };
        tf_mlir::emit::cpu::emit_function(&session, mlir.body(), cx.sources(), function).unwrap();
        let text = mlir.as_operation().to_string();
        assert!(text.contains("strided<[6, 2], offset: ?>") && text.contains("memref<4x6xi8>"), "{text}");
        let again = session.parse(&text).unwrap();
        assert_eq!(again.as_operation().to_string(), text);
    });
}
