//! Whole programs of the reference.

mod common;

use common::{reference, with_source};
use tf_core::walk::post_order;
use tf_core::{AnyFunction, ExprKind};

/// Source, then `name: type` of every named value of the entry, operands first.
fn named(program: &str) -> Vec<String> {
    with_source(&reference(&format!("programs/{program}.py")), |cx, result| {
        let module = result.unwrap_or_else(|errors| {
            panic!("{}", errors.iter().map(|e| format!("{:?} {}\n", e.span, e.message)).collect::<String>())
        });
        let Some(AnyFunction::Hir(entry)) = module.entry_function() else { panic!("no entry") };
        let _ = cx;
        let mut lines: Vec<String> = post_order(&[entry.body])
            .into_iter()
            .filter_map(|e| {
                assert!(e.span().is_some(), "{e:?} has no span");
                let name = e.data().meta.name?;
                Some(format!("{name}: {}", e.ty()))
            })
            .collect();
        lines.push(format!("-> {}", entry.return_type));
        lines
    })
}

#[test]
fn all() {
    for p in ["vector_add", "square", "rms_rows", "softmax_rows", "column_mean", "tile_k_loop"] {
        println!("== {p}");
        for line in named(p) {
            println!("{line}");
        }
    }
    let _ = |e: tf_core::Expr<'_>| matches!(e.kind, ExprKind::Grid(_));
}
