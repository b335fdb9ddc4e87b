//! Random modules over the ops of this repository: text, type inference and verification agree on them.

use rustc_hash::FxHashSet;
use tf_core::equal::structurally_equal;
use tf_core::node::TirCallee;
use tf_core::op::OpId;
use tf_core::tree::in_context;
use tf_core::visit::function_values;
use tf_core::walk::walk_stmts;
use tf_core::{AnyFunction, Arena, Context, Module, StmtKind};
use tf_testing::{Options, random_module};
use tf_text::{PrintOptions, parse_module, print_module};
use tf_transforms::{infer_function, verify};

use crate::common::context;

const CASES: u64 = 2000;
/// Cases of one arena: interned values are shared, as they are in a driver.
const BATCH: u64 = 100;
/// That many ops at least occur somewhere, of the 70 or so that random operands can fit.
const OPS: usize = 50;

fn read_back<'c>(cx: &Context<'c>, module: Module<'c>) {
    let text = print_module(module, &PrintOptions::default());
    let again = parse_module(cx, cx.sources().add("m.tfir", text.as_str()));
    let again = again.unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
    assert!(structurally_equal(module, again), "{text}");
    assert_eq!(print_module(again, &PrintOptions::default()), text);
}

/// No function of the module has an error, and inference changes none.
fn check<'c>(cx: &Context<'c>, module: Module<'c>) {
    let mut errors = verify::module(module, cx);
    for owner in in_context(module, cx) {
        for function in owner.all_functions() {
            errors.extend(verify::function(function, owner, cx));
            let AnyFunction::Hir(function) = function else { continue };
            match infer_function(function, cx) {
                Ok(inferred) => assert!(inferred == function, "inference changes `{}`", function.name),
                Err(refused) => errors.extend(refused),
            }
        }
    }
    assert!(errors.is_empty(), "{errors:#?}\n{}", print_module(module, &PrintOptions::default()));
}

fn ops_of(module: Module<'_>, ops: &mut FxHashSet<OpId>) {
    for function in module.tree().into_iter().flat_map(Module::all_functions) {
        match function {
            AnyFunction::Hir(function) => {
                let values = function_values(function);
                ops.extend(values.into_iter().filter_map(|value| Some(value.op_call()?.op.id)));
            }
            AnyFunction::Tir(function) => walk_stmts(function.body, |stmt| match stmt.kind {
                StmtKind::Let { value, .. } => ops.extend(value.op_call().map(|call| call.op.id)),
                StmtKind::Evaluate { callee: TirCallee::Op(op), .. } => drop(ops.insert(op.id)),
                _ => {}
            }),
        }
    }
}

#[test]
fn modules() {
    let mut ops = FxHashSet::default();
    for first in (0..CASES).step_by(BATCH as usize) {
        let arena = Arena::new();
        let cx = &context(&arena);
        for seed in first..first + BATCH {
            let module = random_module(cx, seed, &Options::default());
            read_back(cx, module);
            check(cx, module);
            ops_of(module, &mut ops);
        }
    }
    assert!(ops.len() >= OPS, "only {} ops occur", ops.len());
}
