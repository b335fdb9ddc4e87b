//! The reference programs as artifacts: they assemble without spills and access memory by 128 bits.
use crate::common::assemble;
use std::path::Path;
use tf_core::{Arena, Context, Module};
use tf_framework::{Artifact, PassManager, PassRegistry, Pipeline};
use tf_lower::LowerRules;
use tf_value::DialectBuilder;

fn context(arena: &Arena) -> Context<'_> {
    let mut builder = DialectBuilder::default();
    tf_dim::register(&mut builder);
    tf_hir::register(&mut builder);
    tf_tir::register(&mut builder);
    let (ops, _) = builder.freeze().unwrap();
    Context::new(arena, ops)
}

fn parse<'c>(cx: &Context<'c>, name: &str) -> Module<'c> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../tests/reference/programs/{name}.py"));
    source(cx, name, &std::fs::read_to_string(path).unwrap())
}

fn source<'c>(cx: &Context<'c>, name: &str, text: &str) -> Module<'c> {
    let file = cx.sources().add(format!("{name}.py"), text);
    tf_dsl::parse_file(cx, file, &tf_dsl::DslOptions::default()).unwrap()
}

/// The artifacts of a pipeline, or the first message.
fn run<'c>(cx: &Context<'c>, module: Module<'c>, pipeline: &str) -> Result<Vec<Artifact>, String> {
    let mut registry = PassRegistry::default();
    tf_lower::register(&mut registry, LowerRules::default().freeze(cx.ops()).unwrap());
    tf_mlir::register(&mut registry);
    tf_ptx::register(&mut registry);
    let built = Pipeline::build(&registry, cx.sources(), "pipeline", pipeline);
    let pipeline = built.map_err(|error| error.diagnostics[0].message.clone())?;
    match PassManager::default().run(&pipeline, cx, module) {
        Ok(outcome) => Ok(outcome.artifacts),
        Err(failure) => Err(failure.diagnostics[0].message.clone()),
    }
}

/// The first artifact of a source, as text.
pub fn ptx_of(text: &str, pipeline: &str) -> Result<String, String> {
    let arena = Arena::new();
    let cx = context(&arena);
    let module = source(&cx, "source", text);
    let artifact = run(&cx, module, pipeline)?.remove(0);
    Ok(String::from_utf8(artifact.bytes).unwrap())
}

fn artifact(name: &str, pipeline: &str) -> Result<Artifact, String> {
    let arena = Arena::new();
    let cx = context(&arena);
    let module = parse(&cx, name);
    run(&cx, module, pipeline).map(|mut artifacts| artifacts.remove(0))
}

/// 128-bit accesses, however LLVM writes the lanes.
fn wide(ptx: &str, what: &str) -> usize {
    ptx.lines().filter(|line| line.contains(what) && (line.contains(".v4.b32") || line.contains(".v2.b64"))).count()
}

/// PTX for both architectures, assembled, with its numbers of 128-bit global loads and stores.
fn accesses(name: &str) -> (usize, usize) {
    let counts = ["sm_80", "sm_90"].map(|arch| {
        let artifact = artifact(name, &format!("lower-tir,emit-ptx{{arch={arch}}}")).unwrap();
        let ptx = String::from_utf8(artifact.bytes).unwrap();
        assemble(&ptx, arch);
        (wide(&ptx, "ld.global"), wide(&ptx, "st.global"))
    });
    assert_eq!(counts[0], counts[1]);
    counts[0]
}

#[test]
fn vector_add() {
    assert_eq!(accesses("vector_add"), (2, 1));
}

#[test]
fn rms_rows() {
    // 4 rows of 16 elements and 16 of the gain, 8 bf16 each.
    assert_eq!(accesses("rms_rows"), (10, 8));
}

#[test]
fn softmax_rows() {
    assert_eq!(accesses("softmax_rows"), (16, 16));
}

#[test]
fn square() {
    accesses("square");
}

#[test]
fn column_mean() {
    let (loads, stores) = accesses("column_mean");
    assert!(loads == 16 && stores == 1, "{loads} {stores}");
}

#[test]
fn tile_k_loop() {
    let (loads, _) = accesses("tile_k_loop");
    assert!(loads > 0);
}

/// A matrix of 32 rows whose rows are reduced over a mesh of 128 threads, as PTX that assembles.
fn reduced(mesh: &str, axes: &str, layout: &str, result: &str, kind: &str) -> String {
    let text = format!(
        r#"
from tilefoundry import func, module
from tilefoundry.dsl import Mesh, Tensor, Topology, tf
from tilefoundry.target import CudaTarget

@module(entry="f", target=CudaTarget("nvidia.h200_sxm"), topologies=(Topology("thread", 128),))
class M:
    @func
    def f(x: Tensor[(32, 256), "f32"]) -> Tensor[(32, 1), "f32"]:
        with Mesh(("thread",), {mesh}, {axes}) as t:
            held = tf.reshard(x, layout={layout}, storage="rmem")
            total = tf.reduce(held, axes=(1,), keepdim=True, kind="{kind}")
            return tf.reshard(total, layout={result}, storage="gmem")
"#
    );
    let arena = Arena::new();
    let cx = context(&arena);
    let module = source(&cx, "m", &text);
    let artifact = run(&cx, module, "lower-tir,emit-ptx{arch=sm_80}").unwrap().remove(0);
    let ptx = String::from_utf8(artifact.bytes).unwrap();
    assemble(&ptx, "sm_80");
    ptx
}

#[test]
fn reductions_over_some_lanes_shuffle_only() {
    let ptx = reduced("(16, 8)", r#"("row", "lane")"#, "(32 @ t.row, 256 @ t.lane)", "(32 @ t.row, 1)", "max");
    // Two rows a thread, three steps for eight lanes.
    assert_eq!((ptx.matches("shfl.sync.bfly").count(), ptx.matches("bar.sync").count()), (6, 0));
    assert!(ptx.contains("max.NaN.f32"), "{ptx}");
    assert_eq!(wide(&ptx, "ld.global"), 16);
}

#[test]
fn reductions_across_warps_exchange_through_shared_memory() {
    let ptx = reduced(
        "(2, 2, 32)",
        r#"("row", "warp", "lane")"#,
        "(32 @ t.row, 256 @ (t.warp, t.lane))",
        "(32 @ t.row, 1)",
        "sum",
    );
    // 16 rows a thread, five steps for the lanes, then two warps meet once.
    assert_eq!((ptx.matches("shfl.sync.bfly").count(), ptx.matches("bar.sync").count()), (80, 1));
    assert!(wide(&ptx, "st.shared") >= 4 && wide(&ptx, "ld.shared") >= 8, "{ptx}");
}

#[test]
fn manifest_describes_entry_and_launch() {
    let artifact = artifact("rms_rows", "lower-tir,emit-ptx").unwrap();
    let [(extension, json)] = &artifact.companions[..] else { panic!("one companion") };
    assert_eq!(*extension, "json");
    let manifest: serde_json::Value = serde_json::from_slice(json).unwrap();
    assert_eq!(manifest["target"], "sm_90");
    assert_eq!(manifest["kernels"][0]["symbol"], "rms_rows");
    assert_eq!(manifest["kernels"][0]["grid"], serde_json::json!([1, 1, 1]));
    assert_eq!(manifest["kernels"][0]["block"], serde_json::json!([128, 1, 1]));
    let parameters = manifest["entry"]["parameters"].as_array().unwrap();
    let roles: Vec<_> = parameters.iter().map(|p| p["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["input", "const", "output"]);
    assert_eq!(parameters[0]["shape"], serde_json::json!([16, 512]));
    assert_eq!(parameters[0]["dtype"], "bf16");
}

#[test]
fn the_device_states_the_architecture() {
    let ptx = String::from_utf8(artifact("vector_add", "lower-tir,emit-ptx{opt=0}").unwrap().bytes).unwrap();
    assert!(ptx.contains(".target sm_90"));
}

#[test]
fn llvm_ir_of_kernels_and_of_cpu_functions() {
    let text = |pipeline| String::from_utf8(artifact("vector_add", pipeline).unwrap().bytes).unwrap();
    assert!(text("lower-tir,emit-llvm{arch=sm_80}").contains("define ptx_kernel void @vector_add"));
    let cpu = text("lower-tir{target=cpu},emit-llvm");
    assert!(cpu.contains("define") && !cpu.contains("ptx_kernel"), "{cpu}");
}

#[test]
fn mlir_text() {
    let text = String::from_utf8(artifact("column_mean", "lower-tir,emit-mlir").unwrap().bytes).unwrap();
    for expected in ["gpu.container_module", "gpu.module @kernels", "gpu.launch_func", "gpu.barrier", "vector.load"] {
        assert!(text.contains(expected), "no {expected}: {text}");
    }
}

#[test]
fn refusals() {
    let error = |pipeline| artifact("vector_add", pipeline).unwrap_err();
    assert_eq!(error("emit-mlir"), "function `vector_add` is HIR, code is emitted from TIR");
    assert_eq!(error("emit-ptx"), "module `VectorAdd` has no device function to compile to PTX");
    assert!(error("lower-tir,emit-ptx{arch=sm_35}").contains("unknown GPU architecture `sm_35`"));
    assert!(error("lower-tir,emit-ptx{opt=7}").contains("expected a level from 0 to 3, found 7"));
}
