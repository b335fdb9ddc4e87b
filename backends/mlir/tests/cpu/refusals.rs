//! What a CPU function cannot hold is refused by name; what goes wrong at run time ends the program.
use std::process::Command;

use tf_core::{AnyFunction, Context, Literal, Meta, StmtKind, Target, TargetKind, node::FunctionData};
use tf_mlir::engine::CpuProgram;
use tf_tir::{
    arith::{binary::Binary, unary::Unary},
    memory::{alloc_tensor::AllocTensor, copy::Copy},
    sync::barrier::Sync,
    tensor::reduce::Reduce,
};
use tf_types::kinds::{BinaryKind, ReduceKind, UnaryKind};
use tf_types::{DType, DimVar, Mesh, ShardAttr, Storage, TensorLayout, Topology, mesh::MeshLayout};
use tf_value::Tensor;

use crate::support::{Block, compile, cpu, int, module, param, run, view, with_context};

fn mesh<'c>(cx: &Context<'c>) -> Mesh<'c> {
    let thread = Topology { name: cx.symbol("thread"), size: Some(cx.dim(4)) };
    let layout = cx.layout(cx.const_dims(&[4]), Some(cx.const_dims(&[1])));
    cx.mesh(&[thread], MeshLayout::Plain(layout), &[cx.symbol("t")])
}

/// The message and the help of a refusal.
fn refusal(build: impl for<'c> FnOnce(&Context<'c>, &mut Block<'c>, tf_core::Expr<'c>)) -> (String, String) {
    with_context(|cx| {
        let x = param(cx, "x", DType::F32, &[8]);
        let mut block = Block::default();
        build(cx, &mut block, x);
        let error = compile(cx, &[x], 1, block).unwrap_err();
        (error.message, error.help.unwrap_or_default())
    })
}

#[test]
fn placement_and_device_memory() {
    for (storage, name) in [(Storage::Smem, "smem"), (Storage::Rmem, "rmem"), (Storage::Gmem, "gmem")] {
        let got = refusal(|cx, block, _| {
            let ty = cx.tensor(cx.const_dims(&[8]), DType::F32, None, storage);
            let value = cx.call(AllocTensor::new(cx, ty), &[], Meta::default()).unwrap();
            block.bind(cx, value);
        });
        let message = format!("a buffer resides in {name}, and a CPU function has only host memory");
        assert_eq!(got, (message, "lower with target=cpu".into()));
    }
    let placed = with_context(|cx| {
        let shape = cx.const_dims(&[8]);
        let shard = cx.canonical_shard_layout(shape, mesh(cx), &[ShardAttr::Split(0)]).unwrap();
        let ty = cx.tensor(shape, DType::F32, Some(TensorLayout::Shard(shard)), Storage::Host);
        let x = cx.var(cx.symbol("x"), ty, Meta::default());
        compile(cx, &[x], 1, Block::default()).unwrap_err()
    });
    assert_eq!(placed.message, "`x` is placed on a mesh, and a CPU function has no positions");
    assert_eq!(placed.help.as_deref(), Some("lower with target=cpu"));
}

#[test]
fn more_elements_than_can_be_counted() {
    let error = with_context(|cx| {
        let x = param(cx, "x", DType::F32, &[1 << 31, 1 << 31, 1 << 31]);
        compile(cx, &[x], 1, Block::default()).unwrap_err()
    });
    assert_eq!(error.message, "a buffer of shape [2147483648, 2147483648, 2147483648] is too large");
}

#[test]
fn device_statements() {
    let (message, help) = refusal(|cx, block, _| block.run(cx, Sync::new(cx, mesh(cx)), &[]));
    assert_eq!(message, "`T.sync` in a CPU function: there are no positions and no device");
    assert_eq!(help, "lower with target=cpu");
    let (message, _) = refusal(|cx, block, _| {
        let body = Block::default().stmt(cx);
        let kind = StmtKind::MeshScope { mesh: mesh(cx), binding: cx.symbol("m"), body };
        block.push(cx.stmt(kind, None));
    });
    assert_eq!(message, "mesh `m` in a CPU function, which has no positions");
}

#[test]
fn dtypes_and_kinds() {
    let (message, _) = refusal(|cx, block, _| {
        block.alloc(cx, DType::F8E8M0, &[4]);
    });
    assert_eq!(message, "f8e8m0 has no compiled form yet");
    let (message, _) = refusal(|cx, block, x| block.run(cx, Binary::new(cx, BinaryKind::Mod), &[x, x, x]));
    assert_eq!(message, "`mod` takes i32 or i64, found f32");
    let (message, _) = refusal(|cx, block, x| block.run(cx, Unary::new(cx, UnaryKind::Not), &[x, x]));
    assert_eq!(message, "`not` takes bool, found f32");
    let (message, _) = refusal(|cx, block, _| {
        let (src, dst) = (block.alloc(cx, DType::I32, &[4]), block.alloc(cx, DType::I32, &[1]));
        block.run(cx, Reduce::new(cx, &[0], ReduceKind::Mean), &[src, dst]);
    });
    assert_eq!(message, "`mean` takes floats, found i32");
}

#[test]
fn symbols_and_loops() {
    let (message, _) = refusal(|cx, block, _| block.repeat(cx, [int(cx, 0), int(cx, 4), int(cx, 0)], |_, _| {}));
    assert_eq!(message, "a loop's step must be positive, found 0");
    let symbolic = with_context(|cx| {
        let n = cx.dim_var(DimVar { name: cx.symbol("n"), lo: 1, hi: 64 });
        let ty = cx.tensor(&[n], DType::F32, None, Storage::Host);
        let x = cx.var(cx.symbol("x"), ty, Meta::default());
        compile(cx, &[x], 1, Block::default()).unwrap_err().message
    });
    assert_eq!(symbolic, "`x` has a symbolic extent, and code is generated for known extents");
}

#[test]
fn the_engine_says_what_it_runs() {
    with_context(|cx| {
        let x = param(cx, "x", DType::F32, &[8]);
        let cuda = Target { kind: TargetKind::Cuda, device: cx.symbol("nvidia.h200_sxm") };
        let device = module(cx, &[x], 1, cuda, Block::default());
        let error = CpuProgram::compile(cx, device, device.functions[0]).unwrap_err();
        let message = "engine `cpu-jit` needs a CPU function, and `@f` has target nvidia.h200_sxm";
        assert_eq!(error.message, message);
        assert_eq!(error.help.as_deref(), Some("it runs a module lowered with `lower-tir{target=cpu}`"));
        let body = cx.constant(Literal::Float(0.0), DType::F32, Meta::default());
        let function = FunctionData::new(cx.symbol("g"), &[], body, body.ty());
        let hir = AnyFunction::Hir(cx.function(function));
        let error = CpuProgram::compile(cx, device, hir).unwrap_err();
        assert_eq!(error.message, "engine `cpu-jit` needs a CPU function, and `@g` is HIR: lower it first");
    });
}

#[test]
fn inputs_are_checked() {
    with_context(|cx| {
        let params = [param(cx, "x", DType::F32, &[2]), param(cx, "out", DType::F32, &[2])];
        let mut block = Block::default();
        block.run(cx, Copy::new(cx), &params);
        let program = CpuProgram::compile(cx, module(cx, &params, 1, cpu(cx), block), {
            let mut again = Block::default();
            again.run(cx, Copy::new(cx), &params);
            module(cx, &params, 1, cpu(cx), again).functions[0]
        })
        .unwrap();
        let error = program.run(&[]).unwrap_err();
        assert_eq!(error.message, "`@f` takes 1 inputs, found 0");
        assert_eq!(error.help.as_deref(), Some("state a value of `x`"));
        let error = program.run(&[Tensor::zeros(&[3], DType::F32).unwrap()]).unwrap_err();
        assert_eq!(error.message, "input `x` must be f32 of shape (2,), found f32 of shape (3,)");
        let error = program.run(&[Tensor::zeros(&[2], DType::I32).unwrap()]).unwrap_err();
        assert_eq!(error.message, "input `x` must be f32 of shape (2,), found i32 of shape (2,)");
    });
}

/// What a child of this test binary does that must not survive.
const DEADLY: &str = "TF_MLIR_DEADLY_CASE";

#[test]
#[ignore = "run by the test below in a process of its own"]
fn deadly() {
    let case = std::env::var(DEADLY).unwrap_or_default();
    with_context(|cx| match case.as_str() {
        "divide" => {
            let params = [param(cx, "x", DType::I32, &[2]), param(cx, "out", DType::I32, &[2])];
            let mut block = Block::default();
            block.run(cx, Binary::new(cx, BinaryKind::Div), &[params[0], params[0], params[1]]);
            run(cx, &params, 1, block, &[Tensor::zeros(&[2], DType::I32).unwrap()]).unwrap();
        }
        _ => {
            let params = [
                param(cx, "x", DType::I32, &[8]),
                param(cx, "start", DType::I64, &[]),
                param(cx, "out", DType::I32, &[4]),
            ];
            let mut block = Block::default();
            let window = block.bind(cx, view(cx, params[0], &[params[1]], &[4], &[1]));
            block.run(cx, Copy::new(cx), &[window, params[2]]);
            let start: i64 = case.parse().unwrap();
            let inputs = [Tensor::zeros(&[8], DType::I32).unwrap(), Tensor::scalar(start)];
            run(cx, &params, 1, block, &inputs).unwrap();
        }
    });
}

#[test]
fn zero_divisors_and_windows_outside_end_the_program() {
    let outcome = |case: &str| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--ignored", "--exact", "refusals::deadly", "--nocapture"]).env(DEADLY, case);
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    for start in ["0", "4"] {
        assert_eq!(outcome(start).0, Some(0), "a window from {start} lies inside");
    }
    for case in ["5", "-1", "divide"] {
        let (code, said) = outcome(case);
        assert_eq!(code, Some(1), "{case}: {said}");
        assert!(said.contains("error: "), "{case}: {said}");
    }
}
