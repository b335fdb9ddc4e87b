//! Hand-built kernels on the simulated GPU, against the same computation in plain Rust.
use proptest::prelude::{ProptestConfig, any, proptest};
use tf_core::{Arena, Context, Module};
use tf_mlir::{Session, emit::emit_module};
use tf_tir::{
    arith::{binary::Binary, unary::Unary},
    memory::fill::Fill,
    nn::mma::Mma,
    sync::barrier::Sync,
};
use tf_types::{
    DType, TensorLayout,
    kinds::{BinaryKind, UnaryKind},
};

use crate::{
    common::{assert_accepted, context},
    scalar::Num,
    simulate::{Memory, run},
    tir::{Kernel, mesh, mesh_of, place},
};

/// Emits a module, checks its text, runs `f`, and gives the output and the text.
pub fn execute<'c>(cx: &Context<'c>, module: Module<'c>, inputs: &[Memory], output: usize) -> (Vec<f32>, String) {
    for &function in module.functions {
        if let tf_core::AnyFunction::Tir(function) = function {
            verify(cx, function);
        }
    }
    let session = Session::new();
    let mlir = emit_module(&session, module, cx.sources()).unwrap_or_else(|error| panic!("{error:#?}"));
    let text = mlir.as_operation().to_string();
    assert_accepted(&text);
    let mut arguments = inputs.to_vec();
    arguments.push(vec![Num::F(f32::NAN); output]);
    run(&mlir, "f", &mut arguments);
    let float = |n: &Num| match n {
        Num::F(x) => *x,
        Num::I(x) => *x as f32,
        Num::V(_) => panic!("a vector in memory"),
    };
    (arguments.last().unwrap().iter().map(float).collect(), text)
}

fn verify<'c>(cx: &Context<'c>, function: tf_core::PrimFunction<'c>) {
    tf_core::walk::walk_stmts(function.body, |stmt| {
        if let tf_core::StmtKind::Evaluate { callee: tf_core::node::TirCallee::Op(op), args } = stmt.kind {
            let rule = cx.ops().verify.get(op.id).expect("an effect");
            rule(tf_core::op::OpView { op, args }, cx).unwrap();
        }
    });
}

/// Small integers, so that sums and products are exact in any order.
pub fn numbers(count: usize) -> Vec<f32> {
    (0..count).map(|i| ((i * 7 + i / 13) % 17) as f32 - 8.0).collect()
}

pub fn floats(values: &[f32]) -> Memory {
    values.iter().map(|&x| Num::F(x)).collect()
}

#[test]
fn elementwise_chain_with_broadcasting() {
    let arena = Arena::new();
    let cx = context(&arena);
    let threads = mesh(&cx, &[("thread", 64)], &[2, 32]);
    let shape = [4, 128];
    let placed = place(&cx, &shape, threads, "S0 S1");
    let row = place(&cx, &[128], threads, "B S0");
    let column = place(&cx, &[4, 1], threads, "S0 B");
    let mut k = Kernel::new(&cx);
    let [x, r, c, out] = [&shape[..], &[128], &[4, 1], &shape].map(|s| k.param(s, DType::F32));
    let (a, b, d) = (k.load(x, &shape, placed), k.load(r, &[128], row), k.load(c, &[4, 1], column));
    let half = k.scalar(DType::F32);
    k.effect(Fill::new(&cx), &[half, k.float(0.5, DType::F32)]);
    let t = k.registers(&shape, DType::F32, placed);
    k.effect(Binary::new(&cx, BinaryKind::Mul), &[a, b, t]);
    k.effect(Binary::new(&cx, BinaryKind::Add), &[t, d, t]);
    k.effect(Binary::new(&cx, BinaryKind::Mul), &[t, half, t]);
    k.effect(Unary::new(&cx, UnaryKind::Relu), &[t, t]);
    k.store(t, out, &shape, placed);
    let module = k.finish(1, 64);
    let (xs, rs, cs) = (numbers(512), numbers(128), numbers(4));
    let (got, text) = execute(&cx, module, &[floats(&xs), floats(&rs), floats(&cs)], 512);
    let want: Vec<f32> = (0..512).map(|i| ((xs[i] * rs[i % 128] + cs[i / 128]) * 0.5).max(0.0)).collect();
    assert_eq!(got, want);
    // Two rows of four elements, four of the row vector, two of the column: each one access.
    assert_eq!(text.matches("vector.load").count(), 4);
    assert_eq!(text.matches("memref.load").count(), 0);
    assert_eq!(text.matches("vector.store").count(), 2);
    assert_eq!(text.matches("gpu.barrier").count(), 0);
}

#[test]
fn narrow_elements_move_eight_at_a_time() {
    let arena = Arena::new();
    let cx = context(&arena);
    let threads = mesh(&cx, &[("thread", 32)], &[32]);
    for (dtype, per_access) in [(DType::BF16, 8), (DType::F16, 8), (DType::F32, 4), (DType::I64, 2), (DType::Bool, 16)]
    {
        let shape = [512];
        let placed = place(&cx, &shape, threads, "S0");
        let mut k = Kernel::new(&cx);
        let (x, out) = (k.param(&shape, dtype), k.param(&shape, dtype));
        let values = k.load(x, &shape, placed);
        k.store(values, out, &shape, placed);
        let input: Memory = match dtype.is_float() {
            true => floats(&numbers(512)),
            false => (0..512).map(|i| Num::I(i % 2)).collect(),
        };
        let want: Vec<f32> = input.iter().map(|n| if let Num::F(x) = n { *x } else { n.int() as f32 }).collect();
        let (got, text) = execute(&cx, k.finish(1, 32), &[input], 512);
        assert_eq!(got, want, "{dtype}");
        assert_eq!(text.matches("vector.load").count(), 16 / per_access, "{dtype}");
        assert_eq!(text.matches("alignment = 16").count(), 2 * 16 / per_access, "{dtype}");
    }
}

#[test]
fn product_with_accumulators_carried_through_a_loop() {
    let arena = Arena::new();
    let cx = context(&arena);
    let threads = mesh(&cx, &[("thread", 32)], &[4, 8]);
    let (m, n, depth, step) = (8i64, 32i64, 24i64, 8i64);
    let placed = place(&cx, &[m, n], threads, "S0 S1");
    let (left, right) = (place(&cx, &[m, step], threads, "S0 B"), place(&cx, &[step, n], threads, "B S1"));
    let mut k = Kernel::new(&cx);
    let (a, b, out) =
        (k.param(&[m, depth], DType::F32), k.param(&[depth, n], DType::F32), k.param(&[m, n], DType::F32));
    let acc = k.registers(&[m, n], DType::F32, placed);
    k.effect(Fill::new(&cx), &[acc, k.float(0.0, DType::F32)]);
    k.repeat([0, depth, step], |k, at| {
        let zero = k.int(0);
        let plain = |shape: &[i64], strides: &[i64]| {
            TensorLayout::Plain(cx.layout(cx.const_dims(shape), Some(cx.const_dims(strides))))
        };
        let wa = k.view(a, &[zero, at], plain(&[m, step], &[depth, 1]), &[m, step]);
        let wb = k.view(b, &[at, zero], plain(&[step, n], &[n, 1]), &[step, n]);
        let at_a = cx.shard_layout(
            cx.layout(left.layout.shape(), Some(cx.const_dims(&[2 * depth, depth, 1]))),
            left.attrs,
            threads,
        );
        let at_b =
            cx.shard_layout(cx.layout(right.layout.shape(), Some(cx.const_dims(&[n, 4, 1]))), right.attrs, threads);
        let va = k.placed(wa, at_a, &[m, step]);
        let vb = k.placed(wb, at_b, &[step, n]);
        let (ra, rb) = (k.registers(&[m, step], DType::F32, left), k.registers(&[step, n], DType::F32, right));
        k.copy(va, ra);
        k.copy(vb, rb);
        k.effect(Mma::new(&cx, None), &[acc, ra, rb]);
    });
    k.store(acc, out, &[m, n], placed);
    let (xs, ys) = (numbers((m * depth) as usize), numbers((depth * n) as usize));
    let (got, text) = execute(&cx, k.finish(1, 32), &[floats(&xs), floats(&ys)], (m * n) as usize);
    let want: Vec<f32> = (0..m * n)
        .map(|i| (0..depth).map(|t| xs[(i / n * depth + t) as usize] * ys[(t * n + i % n) as usize]).sum())
        .collect();
    assert_eq!(got, want);
    assert!(text.contains("iter_args"), "{text}");
    // Two rows of 8 along k, and 8 rows of 4: all by 128 bits although the window moves.
    assert_eq!(text.matches("vector.load").count(), 4 + 8);
    assert_eq!(text.matches("memref.load").count(), 0);
}

#[test]
fn ctas_and_threads_of_one_mesh() {
    let arena = Arena::new();
    let cx = context(&arena);
    let positions = mesh(&cx, &[("cta", 4), ("thread", 64)], &[4, 2, 32]);
    let shape = [16, 256];
    let placed = place(&cx, &shape, positions, "S0 S0 S1");
    let mut k = Kernel::new(&cx);
    let (x, out) = (k.param(&shape, DType::F32), k.param(&shape, DType::F32));
    let values = k.load(x, &shape, placed);
    k.effect(Unary::new(&cx, UnaryKind::Neg), &[values, values]);
    k.store(values, out, &shape, placed);
    let xs = numbers(16 * 256);
    let (got, text) = execute(&cx, k.finish(4, 64), &[floats(&xs)], 16 * 256);
    assert_eq!(got, xs.iter().map(|x| -x).collect::<Vec<_>>());
    // The ids are asked for once.
    assert_eq!((text.matches("gpu.block_id").count(), text.matches("gpu.thread_id").count()), (1, 1));
    assert!(text.contains("known_block_size = array<i32: 64, 1, 1>"), "{text}");
    assert!(text.contains("known_grid_size = array<i32: 4, 1, 1>"), "{text}");
}

#[test]
fn registers_are_viewed() {
    let arena = Arena::new();
    let cx = context(&arena);
    let threads = mesh(&cx, &[("thread", 32)], &[32]);
    let (whole, part) = (place(&cx, &[8, 32], threads, "S1"), place(&cx, &[2, 32], threads, "S1"));
    let mut k = Kernel::new(&cx);
    let (x, out) = (k.param(&[8, 32], DType::F32), k.param(&[2, 32], DType::F32));
    let values = k.load(x, &[8, 32], whole);
    let (three, zero) = (k.int(3), k.int(0));
    let rows = k.view(values, &[three, zero], TensorLayout::Shard(part), &[2, 32]);
    k.store(rows, out, &[2, 32], part);
    let xs = numbers(256);
    let (got, _) = execute(&cx, k.finish(1, 32), &[floats(&xs)], 64);
    assert_eq!(got, xs[96..160]);
}

#[test]
fn literals_have_names() {
    let arena = Arena::new();
    let cx = context(&arena);
    let mut k = Kernel::new(&cx);
    let out = k.param(&[1], DType::F32);
    let literal = k.float(2.5, DType::F32);
    let named = k.name(literal);
    k.effect(Fill::new(&cx), &[out, named]);
    let (got, _) = execute(&cx, k.finish(1, 32), &[], 1);
    assert_eq!(got, [2.5]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    /// Values go through shared memory from one distribution to another: every address, coordinate and vector width
    /// is right, or the output differs from the input.
    #[test]
    fn any_two_distributions_hold_the_same_elements(
        rows_log in 2u32..5, columns_log in 5u32..8, axes in 0usize..4, from in 0usize..6, to in 0usize..6,
        reversed in any::<bool>(), narrow in any::<bool>(),
    ) {
        let arena = Arena::new();
        let cx = context(&arena);
        let extents: &[i64] = [&[2, 32][..], &[4, 16], &[2, 2, 16], &[64]][axes];
        let mut strides: Vec<i64> = (0..extents.len()).map(|a| extents[a + 1..].iter().product()).collect();
        if reversed && extents.len() == 2 {
            strides = vec![1, extents[0]];
        }
        let threads = mesh_of(&cx, &[("thread", 64)], extents, &strides);
        let attrs = |choice: usize| {
            let words = ["S0", "S1", "B"];
            let picked: Vec<_> = (0..extents.len()).map(|axis| words[(choice + axis * (1 + choice / 3)) % 3]).collect();
            picked.join(" ")
        };
        let shape = [1 << rows_log, 1 << columns_log];
        let dtype = if narrow { DType::BF16 } else { DType::F32 };
        // An axis that cannot be divided is refused by the placement; such cases say nothing here.
        let fits = |attrs: &str| {
            let mut left = shape;
            attrs.split(' ').zip(extents).all(|(word, extent)| {
                let Some(axis) = word.strip_prefix('S').map(|axis| axis.parse::<usize>().unwrap()) else { return true };
                let divides = left[axis] % extent == 0;
                left[axis] /= extent;
                divides
            })
        };
        let (from, to) = (attrs(from), attrs(to));
        if fits(&from) && fits(&to) {
            let (first, second) = (place(&cx, &shape, threads, &from), place(&cx, &shape, threads, &to));
            let mut k = Kernel::new(&cx);
            let (x, out) = (k.param(&shape, dtype), k.param(&shape, dtype));
            let tile = k.shared(&shape, dtype);
            let values = k.load(x, &shape, first);
            k.store(values, tile, &shape, first);
            k.effect(Sync::new(&cx, threads), &[]);
            let other = k.load(tile, &shape, second);
            k.store(other, out, &shape, second);
            let xs = numbers((shape[0] * shape[1]) as usize);
            let (got, _) = execute(&cx, k.finish(1, 64), &[floats(&xs)], xs.len());
            assert_eq!(got, xs);
        }
    }
}
