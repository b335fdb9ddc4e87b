//! Moves of values between threads and CTAs: barriers where shared memory is used, refusals where CTAs would have to
//! exchange elements.

use tf_core::diag::Style;
use tf_core::{AnyFunction, Arena, Context, StmtKind};
use tf_framework::{PassManager, PassRegistry, Pipeline};
use tf_lower::LowerRules;
use tf_tir::memory::copy::Copy;
use tf_tir::sync::barrier::Sync;
use tf_transforms::Rules;
use tf_value::DialectBuilder;

fn tensor(shape: &str) -> String {
    format!(r#"Tensor[{shape}, "f32"]"#)
}

/// `(copies, barriers)` of the kernel `f`, whose body runs in scopes of 4 CTAs `g.c` and 4 x 8 threads `t.p`, `t.q`.
fn lower(result: &str, x: &str, body: &str) -> Result<(usize, usize), String> {
    let mut dialects = DialectBuilder::default();
    tf_hir::register(&mut dialects);
    tf_dim::register(&mut dialects);
    tf_tir::register(&mut dialects);
    let (ops, _) = dialects.freeze().expect("registration is complete");
    let mut passes = PassRegistry::default();
    tf_lower::register(&mut passes, LowerRules::default().freeze(&ops).expect("every rule has its op"));
    let arena = Arena::new();
    let cx = Context::new(&arena, ops);
    let lines: String = body.lines().map(|line| format!("                {line}\n")).collect();
    let source = format!(
        r#"from tilefoundry import func, module
from tilefoundry.dsl import Mesh, Tensor, Topology, tf
from tilefoundry.target import CudaTarget

@module(entry="f", target=CudaTarget("nvidia.h200_sxm"), topologies=(Topology("cta", 4), Topology("thread", 32)))
class M:
    @func
    def f(x: Tensor[{x}, "f32"]) -> {result}:
        with Mesh(("cta",), (4,), ("c",)) as g:
            with Mesh(("thread",), (4, 8), ("p", "q")) as t:
{lines}"#
    );
    let file = cx.sources().add("f.py".to_owned(), source);
    let show = |diagnostics: &[tf_core::Diagnostic]| -> String {
        diagnostics.iter().map(|d| d.render(cx.sources(), Style::Plain)).collect()
    };
    let module = tf_dsl::parse_file(&cx, file, &tf_dsl::DslOptions::default()).map_err(|errors| show(&errors))?;
    let pipeline = Pipeline::build(&passes, cx.sources(), "<pipeline>", "lower-tir").expect("a pipeline");
    let rules = Rules;
    let outcome = PassManager::default().verify_with(&rules).run(&pipeline, &cx, module);
    let module = outcome.map_err(|failure| show(&failure.diagnostics))?.module;
    let (mut copies, mut barriers) = (0, 0);
    for function in module.data().functions {
        let AnyFunction::Tir(function) = function else { continue };
        tf_core::walk::walk_stmts(function.body, |stmt| {
            if let StmtKind::Evaluate { callee: tf_core::node::TirCallee::Op(op), .. } = stmt.kind {
                copies += usize::from(op.is::<Copy>());
                barriers += usize::from(op.is::<Sync>());
            }
        });
    }
    Ok((copies, barriers))
}

#[test]
fn a_value_placed_on_ctas_only_is_still_shared_by_threads() {
    let body = r#"h = tf.reshard(x, layout=(8 @ g.c, 64 @ (t.p, t.q)), storage="rmem")
whole = tf.reshard(h, layout=(8 @ g.c, 64), storage="rmem")
return tf.reshard(whole, layout=(8 @ g.c, 64), storage="gmem")"#;
    assert_eq!(lower(&tensor("(8, 64)"), "(8, 64)", body), Ok((4, 1)));
}

#[test]
fn a_loop_waits_for_the_readers_of_the_last_iteration() {
    let body = r#"acc = tf.reshard(x[0:8, :], layout=(8 @ g.c, 64), storage="rmem")
for k in tile(24, 8):
    h = tf.reshard(x[k + 8, :], layout=(8 @ g.c, 64 @ (t.p, t.q)), storage="rmem")
    acc = acc + tf.reshard(h, layout=(8 @ g.c, 64), storage="rmem")
return tf.reshard(acc, layout=(8 @ g.c, 64), storage="gmem")"#;
    assert_eq!(lower(&tensor("(8, 64)"), "(32, 64)", body).map(|(_, barriers)| barriers), Ok(2));
}

#[test]
fn elements_do_not_change_their_cta() {
    let placements = [("(g.c, t.p)", "t.p"), ("(g.c, t.p)", "(t.p, g.c)"), ("(t.p, g.c)", "(g.c, t.p)")];
    for (from, to) in placements {
        for storage in ["rmem", "smem"] {
            let body = format!(
                r#"h = tf.reshard(x, layout=(32 @ {from},), storage="rmem")
moved = tf.reshard(h, layout=(32 @ {to},), storage="{storage}")
return tf.reshard(moved, layout=(32 @ {to},), storage="gmem")"#
            );
            let error = lower(&tensor("(32,)"), "(32,)", &body).expect_err("elements would change their CTA");
            assert!(error.contains("share out the elements over the CTAs differently"), "{error}");
            assert!(error.contains("f.py:12:25"), "{error}");
        }
    }
}

#[test]
fn a_cta_may_drop_what_it_has() {
    let body = r#"h = tf.reshard(x, layout=(64 @ t.q,), storage="rmem")
part = tf.reshard(h, layout=(64 @ (g.c, t.p),), storage="rmem")
return tf.reshard(part, layout=(64 @ (g.c, t.p),), storage="gmem")"#;
    assert_eq!(lower(&tensor("(64,)"), "(64,)", body), Ok((4, 1)));
}

#[test]
fn a_result_is_written_by_whoever_has_it() {
    // gmem is common to all CTAs: no exchange, whatever the placement of the result says.
    let body = r#"h = tf.reshard(x, layout=(32 @ (t.p, g.c),), storage="rmem")
return tf.reshard(tf.exp(h), layout=(32 @ (g.c, t.p),), storage="gmem")"#;
    assert_eq!(lower(&tensor("(32,)"), "(32,)", body), Ok((2, 0)));
}

#[test]
fn threads_do_not_overlap_in_shared_memory() {
    let body = r#"s = tf.reshard(x, layout=((4 @ t.p, 8 @ t.q, 2), (0, 2, 1)), storage="smem")
return tf.reshard(tf.reshard(s, layout=(64,), storage="rmem"), layout=(64,), storage="gmem")"#;
    let error = lower(&tensor("(64,)"), "(64,)", body).expect_err("four threads write one address");
    assert!(error.contains("put elements of different threads at one address"), "{error}");
}

#[test]
fn a_product_has_the_rows_that_its_operand_has() {
    // In whatever order the mesh axes deal them out.
    let body = r#"a = tf.reshard(x, layout=(32 @ (t.q, t.p), 32), storage="rmem")
b = tf.reshard(x, layout=(32, 32), storage="rmem")
return tf.reshard(a @ b, layout=(32 @ (t.q, t.p), 32), storage="gmem")"#;
    assert_eq!(lower(&tensor("(32, 32)"), "(32, 32)", body).map(|(_, barriers)| barriers), Ok(0));
}

#[test]
fn one_value_may_be_returned_twice() {
    let two = format!("tuple[{0}, {0}]", tensor("(32,)"));
    let body = r#"h = tf.reshard(x, layout=(32 @ (t.p, t.q),), storage="rmem")
out = tf.reshard(h, layout=(32 @ (t.p, t.q),), storage="gmem")
return (out, out)"#;
    assert_eq!(lower(&two, "(32,)", body), Ok((3, 0)));
}
