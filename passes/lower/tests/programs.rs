//! The reference programs lower for both targets, and what comes out obeys the rules.

use std::path::Path;

use tf_core::diag::Style;
use tf_core::{AnyFunction, Arena, Context, Module, StmtKind, TargetKind};
use tf_framework::{PassManager, PassRegistry, Pipeline};
use tf_lower::LowerRules;
use tf_tir::memory::copy::Copy;
use tf_tir::sync::barrier::Sync;
use tf_tir::tensor::reduce::Reduce;
use tf_transforms::Rules;
use tf_value::DialectBuilder;

const PROGRAMS: [&str; 6] = ["vector_add", "square", "rms_rows", "softmax_rows", "column_mean", "tile_k_loop"];

fn lowered(name: &str, target: &str, check: impl FnOnce(Module<'_>)) {
    let mut dialects = DialectBuilder::default();
    tf_hir::register(&mut dialects);
    tf_dim::register(&mut dialects);
    tf_tir::register(&mut dialects);
    let (ops, _) = dialects.freeze().expect("registration is complete");
    let mut passes = PassRegistry::default();
    tf_lower::register(&mut passes, LowerRules::default().freeze(&ops).expect("every rule has its op"));
    let arena = Arena::new();
    let cx = Context::new(&arena, ops);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../tests/reference/programs/{name}.py"));
    let text = std::fs::read_to_string(path).expect("a reference program");
    let file = cx.sources().add(format!("{name}.py"), text);
    let show = |diagnostics: &[tf_core::Diagnostic]| -> String {
        diagnostics.iter().map(|d| d.render(cx.sources(), Style::Plain)).collect()
    };
    let module = tf_dsl::parse_file(&cx, file, &tf_dsl::DslOptions::default());
    let module = module.unwrap_or_else(|errors| panic!("{}", show(&errors)));
    let text = format!("lower-tir{{target={target}}}");
    let pipeline = Pipeline::build(&passes, cx.sources(), "<pipeline>", &text);
    let pipeline = pipeline.unwrap_or_else(|error| panic!("{error:?}"));
    let rules = Rules;
    let outcome = PassManager::default().verify_with(&rules).run(&pipeline, &cx, module);
    let outcome = outcome.unwrap_or_else(|failure| panic!("{name}: {}", show(&failure.diagnostics)));
    check(outcome.module);
}

fn count(module: Module<'_>, is: impl Fn(tf_core::Stmt<'_>) -> bool) -> usize {
    let mut n = 0;
    for function in module.data().functions {
        if let AnyFunction::Tir(function) = function {
            tf_core::walk::walk_stmts(function.body, |stmt| n += usize::from(is(stmt)));
        }
    }
    n
}

fn evaluates<O: tf_core::op::Op>(stmt: tf_core::Stmt<'_>) -> bool {
    matches!(stmt.kind, StmtKind::Evaluate { callee: tf_core::node::TirCallee::Op(op), .. } if op.is::<O>())
}

#[test]
fn every_program_lowers_for_cuda_with_a_host_entry() {
    for name in PROGRAMS {
        lowered(name, "cuda", |module| {
            assert_eq!(module.entry.map(|e| e.as_str()), Some("main"), "{name}");
            assert_eq!(module.data().functions.len(), 2, "{name}");
        });
    }
}

#[test]
fn every_program_lowers_for_the_cpu_without_placement() {
    for name in PROGRAMS {
        lowered(name, "cpu", |module| {
            let Some(AnyFunction::Tir(entry)) = module.entry_function() else { panic!("{name}: no TIR entry") };
            assert_eq!(entry.target.kind, TargetKind::Cpu, "{name}");
            assert_eq!(count(module, |s| matches!(s.kind, StmtKind::MeshScope { .. })), 0, "{name}");
        });
    }
}

#[test]
fn a_reduction_across_warps_has_a_workspace_and_one_across_lanes_none() {
    let workspaces = |module: Module<'_>| {
        count(module, |s| {
            evaluates::<Reduce>(s) && matches!(s.kind, StmtKind::Evaluate { args, .. } if args.len() == 3)
        })
    };
    lowered("column_mean", "cuda", |module| assert_eq!(workspaces(module), 1));
    lowered("softmax_rows", "cuda", |module| assert_eq!(workspaces(module), 0));
}

#[test]
fn a_carry_is_one_accumulator_and_needs_no_barrier() {
    lowered("tile_k_loop", "cuda", |module| {
        assert_eq!(count(module, |s| matches!(s.kind, StmtKind::For { .. })), 1);
        assert_eq!(count(module, evaluates::<Sync>), 0);
        // Four loads, the initial and the next value of the accumulator, one store.
        assert_eq!(count(module, evaluates::<Copy>), 7);
    });
}
