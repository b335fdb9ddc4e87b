//! Addresses computed from a loop's induction variable, against the same arithmetic in plain Rust.
use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop_assert_eq, prop_oneof, proptest};
use tf_core::{Arena, Context, Expr, Meta};
use tf_tir::memory::fill::Fill;
use tf_types::{DType, TensorLayout};

use crate::{
    common::context,
    kernels::{execute, floats, numbers},
    tir::{Kernel, mesh, place},
};

/// An index expression: the induction variable, a constant, or an operation.
#[derive(Clone, Debug)]
enum Index {
    Induction,
    Constant(i64),
    Op(usize, Box<(Index, Index)>),
}

const OPS: usize = 7;

fn indices() -> impl Strategy<Value = Index> {
    let leaf = prop_oneof![2 => Just(Index::Induction), 3 => (-20i64..40).prop_map(Index::Constant)];
    leaf.prop_recursive(3, 12, 2, |inner| {
        (0..OPS, inner.clone(), inner).prop_map(|(op, a, b)| Index::Op(op, Box::new((a, b))))
    })
}

/// The value at an iteration; `None` where it divides by zero.
fn value(index: &Index, at: i64) -> Option<i64> {
    Some(match index {
        Index::Induction => at,
        Index::Constant(value) => *value,
        Index::Op(op, operands) => {
            let (a, b) = (value(&operands.0, at)?, value(&operands.1, at)?);
            match op {
                0 => a.wrapping_add(b),
                1 => a.wrapping_sub(b),
                2 => a.wrapping_mul(b),
                3 | 4 if b == 0 => return None,
                3 => (a as f64 / b as f64).floor() as i64,
                4 => a - b * (a as f64 / b as f64).floor() as i64,
                5 => a.min(b),
                _ => a.max(b),
            }
        }
    })
}

fn expression<'c>(cx: &Context<'c>, k: &Kernel<'_, 'c>, index: &Index, induction: Expr<'c>) -> Expr<'c> {
    match index {
        Index::Induction => induction,
        Index::Constant(value) => k.int(*value),
        Index::Op(op, operands) => {
            let a = expression(cx, k, &operands.0, induction);
            let b = expression(cx, k, &operands.1, induction);
            let op = match op {
                0 => tf_dim::Add::new(cx),
                1 => tf_dim::Sub::new(cx),
                2 => tf_dim::Mul::new(cx),
                3 => tf_dim::FloorDiv::new(cx),
                4 => tf_dim::Mod::new(cx),
                5 => tf_dim::Min::new(cx),
                _ => tf_dim::Max::new(cx),
            };
            cx.call(op, &[a, b], Meta::default()).unwrap()
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    /// A window of 8 elements a thread moves by the expression, kept inside the buffer: its loads are as wide as the
    /// divisors allow, and the simulated hardware refuses any that is misaligned.
    #[test]
    fn windows_move_where_the_arithmetic_says(
        index in indices(), unit in prop_oneof![Just(1i64), Just(2), Just(4), Just(8)], start in 0i64..6, step in 1i64..9,
        scaled in any::<bool>(),
    ) {
        let (step, iterations) = (if scaled { step * 4 } else { step }, 4);
        let stop = start + step * iterations;
        let defined = (start..stop).step_by(step as usize).all(|at| value(&index, at).is_some_and(|v| v.abs() < 1 << 40));
        if defined {
            let arena = Arena::new();
            let cx = context(&arena);
            let threads = mesh(&cx, &[("thread", 32)], &[32]);
            let (len, size) = (512i64, 256i64);
            let placed = place(&cx, &[size], threads, "S0");
            let mut k = Kernel::new(&cx);
            let (x, out) = (k.param(&[len], DType::F32), k.param(&[iterations, size], DType::F32));
            k.repeat([start, stop, step], |k, at| {
                let op = |op, a, b| cx.call(op, &[a, b], Meta::default()).unwrap();
                let moved = expression(&cx, k, &index, at);
                let inside = op(tf_dim::Min::new(&cx), op(tf_dim::Max::new(&cx), moved, k.int(0)), k.int(len - size));
                let aligned = op(tf_dim::FloorDiv::new(&cx), inside, k.int(unit));
                let window = op(tf_dim::Mul::new(&cx), aligned, k.int(unit));
                let row = op(tf_dim::FloorDiv::new(&cx), op(tf_dim::Sub::new(&cx), at, k.int(start)), k.int(step));
                let plain = |strides: &[i64], shape: &[i64]| {
                    TensorLayout::Plain(cx.layout(cx.const_dims(shape), Some(cx.const_dims(strides))))
                };
                let from = k.view(x, &[window], plain(&[1], &[size]), &[size]);
                let values = k.load(from, &[size], placed);
                let zero = k.int(0);
                let to = k.view(out, &[row, zero], plain(&[size, 1], &[1, size]), &[1, size]);
                let flat = k.view(to, &[], TensorLayout::Shard(placed), &[size]);
                k.copy(values, flat);
            });
            let xs = numbers(len as usize);
            let (got, _) = execute(&cx, k.finish(1, 32), &[floats(&xs)], (iterations * size) as usize);
            let starts = (start..stop).step_by(step as usize).map(|at| {
                value(&index, at).unwrap().clamp(0, len - size).div_euclid(unit) * unit
            });
            let want: Vec<f32> = starts.flat_map(|s| xs[s as usize..(s + size) as usize].to_vec()).collect();
            prop_assert_eq!(got, want);
        }
    }

    /// The value of the expression itself, also where it is negative.
    #[test]
    fn values_are_those_of_the_dialect(index in indices(), start in -9i64..9, step in 1i64..5) {
        let iterations = 5;
        let stop = start + step * iterations;
        let values: Vec<_> = (start..stop).step_by(step as usize).map(|at| value(&index, at)).collect();
        let exact = |v: &Option<i64>| v.is_some_and(|v| v.abs() < 1 << 24);
        if values.iter().all(exact) {
            let arena = Arena::new();
            let cx = context(&arena);
            let mut k = Kernel::new(&cx);
            let out = k.param(&[iterations], DType::I64);
            k.repeat([start, stop, step], |k, at| {
                let op = |op, a, b| cx.call(op, &[a, b], Meta::default()).unwrap();
                let row = op(tf_dim::FloorDiv::new(&cx), op(tf_dim::Sub::new(&cx), at, k.int(start)), k.int(step));
                let layout = TensorLayout::Plain(cx.layout(cx.const_dims(&[1]), Some(cx.const_dims(&[1]))));
                let cell = k.view(out, &[row], layout, &[1]);
                let found = expression(&cx, k, &index, at);
                if found.ty().as_tensor().unwrap().dtype == DType::I64 {
                    k.effect(Fill::new(&cx), &[cell, found]);
                }
            });
            let (got, _) = execute(&cx, k.finish(1, 32), &[], iterations as usize);
            let want: Vec<f32> = values.into_iter().map(|v| v.unwrap() as f32).collect();
            prop_assert_eq!(got, want);
        }
    }
}
