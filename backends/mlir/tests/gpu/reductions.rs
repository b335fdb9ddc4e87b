//! Reductions on the simulated GPU: within threads, across lanes, across warps.
use tf_core::Arena;
use tf_tir::tensor::plan::ReducePlan;
use tf_tir::tensor::reduce::Reduce;
use tf_types::{DType, ShardLayout, kinds::ReduceKind};

use crate::{
    common::context,
    kernels::{execute, floats, numbers},
    scalar::Num,
    tir::{Kernel, mesh, mesh_of, place},
};

struct Case<'a> {
    mesh: (&'a [i64], &'a [i64]),
    shape: [i64; 2],
    from: &'a str,
    to: &'a str,
    axis: i64,
    kind: ReduceKind,
    repeat: i64,
}

/// Reduces one axis of a matrix on a mesh; gives the emitted text.
fn reduction(case: &Case<'_>, dtype: DType) -> String {
    let arena = Arena::new();
    let cx = context(&arena);
    let count: i64 = case.mesh.0.iter().product();
    let threads = mesh_of(&cx, &[("thread", count)], case.mesh.0, case.mesh.1);
    let [rows, columns] = case.shape;
    let reduced = if case.axis == 0 { [1, columns] } else { [rows, 1] };
    let from = place(&cx, &case.shape, threads, case.from);
    let to: ShardLayout = place(&cx, &reduced, threads, case.to);
    let mut k = Kernel::new(&cx);
    let (x, out) = (k.param(&case.shape, dtype), k.param(&reduced, dtype));
    let dst = k.registers(&reduced, dtype, to);
    let values = k.load(x, &case.shape, from);
    let plan = ReducePlan::new(values.ty().as_tensor().unwrap(), dst.ty().as_tensor().unwrap(), &[case.axis]).unwrap();
    let mut operands = vec![values, dst];
    if plan.workspace_len() > 0 {
        operands.push(k.shared(&[plan.workspace_len()], tf_tir::tensor::reduce::accumulator(dtype)));
    }
    let op = Reduce::new(&cx, cx.alloc_slice(&[case.axis]), case.kind);
    match case.repeat {
        1 => k.effect(op, &operands),
        times => k.repeat([0, times, 1], |k, _| k.effect(op, &operands)),
    }
    k.store(dst, out, &reduced, to);
    let module = k.finish(1, count);
    let xs = numbers((rows * columns) as usize);
    let input = if dtype.is_float() { floats(&xs) } else { xs.iter().map(|&x| Num::I(x as i64)).collect() };
    let (got, text) = execute(&cx, module, &[input], (reduced[0] * reduced[1]) as usize);
    let cell = |at: usize| {
        let element =
            |i: usize| if case.axis == 0 { xs[i * columns as usize + at] } else { xs[at * columns as usize + i] };
        let length = case.shape[case.axis as usize] as usize;
        let all = (0..length).map(element);
        match case.kind {
            ReduceKind::Sum => all.sum(),
            ReduceKind::Mean => all.sum::<f32>() / length as f32,
            ReduceKind::Max => all.fold(f32::NEG_INFINITY, f32::max),
            ReduceKind::AbsMax => all.fold(0.0, |m: f32, x| m.max(x.abs())),
        }
    };
    let want: Vec<f32> = (0..got.len()).map(cell).collect();
    assert_eq!(got, want);
    text
}

#[test]
fn reduction_over_all_lanes() {
    for kind in ReduceKind::ALL {
        let case = Case {
            mesh: (&[2, 32], &[32, 1]),
            shape: [6, 64],
            from: "S0 S1",
            to: "S0 B",
            axis: 1,
            kind: *kind,
            repeat: 1,
        };
        let text = reduction(&case, DType::F32);
        // Three cells, five steps each, nothing through memory.
        assert_eq!(text.matches("gpu.shuffle").count(), 15);
        assert_eq!(text.matches("gpu.barrier").count(), 0);
    }
}

#[test]
fn reduction_over_some_lanes() {
    // Eight groups of four lanes; then lanes that are not neighbours.
    for (mesh, steps) in [((&[16, 4][..], &[4, 1][..]), 2), ((&[4, 8], &[1, 4]), 3)] {
        let case = Case { mesh, shape: [32, 16], from: "S0 S1", to: "S0 B", axis: 1, kind: ReduceKind::Sum, repeat: 1 };
        let text = reduction(&case, DType::F32);
        let cells = 32 / mesh.0[0] as usize;
        assert_eq!(text.matches("gpu.shuffle").count(), cells * steps);
    }
}

#[test]
fn reduction_within_a_thread_only() {
    let case =
        Case { mesh: (&[32], &[1]), shape: [64, 5], from: "S0", to: "S0", axis: 1, kind: ReduceKind::Mean, repeat: 1 };
    let text = reduction(&case, DType::F32);
    assert_eq!(text.matches("gpu.shuffle").count() + text.matches("gpu.barrier").count(), 0);
}

#[test]
fn reduction_across_warps() {
    for kind in ReduceKind::ALL {
        // Rows over warps, columns over lanes: no lane is reduced.
        let case = Case {
            mesh: (&[4, 32], &[32, 1]),
            shape: [8, 64],
            from: "S0 S1",
            to: "B S1",
            axis: 0,
            kind: *kind,
            repeat: 1,
        };
        let text = reduction(&case, DType::F32);
        assert_eq!((text.matches("gpu.shuffle").count(), text.matches("gpu.barrier").count()), (0, 1));
    }
    // Lanes and warps are reduced, and some warps are kept.
    let case = Case {
        mesh: (&[2, 4, 32], &[128, 32, 1]),
        shape: [6, 256],
        from: "S0 S1 S1",
        to: "S0 B B",
        axis: 1,
        kind: ReduceKind::AbsMax,
        repeat: 1,
    };
    let text = reduction(&case, DType::BF16);
    assert_eq!((text.matches("gpu.shuffle").count(), text.matches("gpu.barrier").count()), (15, 1));
    // The reduced warps are not neighbours.
    let case = Case {
        mesh: (&[2, 4, 32], &[128, 32, 1]),
        shape: [4, 256],
        from: "S1 S0 S1",
        to: "B S0 B",
        axis: 1,
        kind: ReduceKind::Sum,
        repeat: 1,
    };
    reduction(&case, DType::F32);
    // One axis of lanes and warps.
    let case = Case {
        mesh: (&[4, 16], &[1, 4]),
        shape: [32, 16],
        from: "S0 S1",
        to: "S0 B",
        axis: 1,
        kind: ReduceKind::Sum,
        repeat: 1,
    };
    reduction(&case, DType::F32);
}

#[test]
fn a_workspace_in_a_loop_is_guarded() {
    let case = Case {
        mesh: (&[4, 32], &[32, 1]),
        shape: [8, 64],
        from: "S0 S1",
        to: "B S1",
        axis: 0,
        kind: ReduceKind::Sum,
        repeat: 3,
    };
    let text = reduction(&case, DType::F32);
    assert_eq!(text.matches("gpu.barrier").count(), 2);
}

#[test]
fn reduction_of_integers() {
    for dtype in [DType::I32, DType::I64] {
        let case = Case {
            mesh: (&[2, 32], &[32, 1]),
            shape: [4, 64],
            from: "S0 S1",
            to: "S0 B",
            axis: 1,
            kind: ReduceKind::Sum,
            repeat: 1,
        };
        reduction(&case, dtype);
    }
}

#[test]
fn nan_propagates_through_a_maximum() {
    let arena = Arena::new();
    let cx = context(&arena);
    let threads = mesh(&cx, &[("thread", 32)], &[32]);
    let (from, to) = (place(&cx, &[64], threads, "S0"), place(&cx, &[1], threads, "B"));
    let mut k = Kernel::new(&cx);
    let (x, out) = (k.param(&[64], DType::F32), k.param(&[1], DType::F32));
    let (values, dst) = (k.load(x, &[64], from), k.registers(&[1], DType::F32, to));
    k.effect(Reduce::new(&cx, &[0], ReduceKind::Max), &[values, dst]);
    k.store(dst, out, &[1], to);
    let mut xs = numbers(64);
    xs[37] = f32::NAN;
    let (got, _) = execute(&cx, k.finish(1, 32), &[floats(&xs)], 1);
    assert!(got[0].is_nan());
}
