//! Whole programs of the reference, with the types of what they bind.

use crate::common::{reference, with_source};
use tf_core::walk::post_order;
use tf_core::{AnyFunction, Expr, ExprKind};

/// `name: type` of every named value of the entry, operands first, then the result's type.
fn types_of(program: &str) -> Vec<String> {
    with_source(&reference(&format!("programs/{program}.py")), |_, result| {
        let module = result.unwrap_or_else(|errors| panic!("{errors:?}"));
        let Some(AnyFunction::Hir(entry)) = module.entry_function() else { panic!("no entry") };
        let nodes = post_order(&[entry.body.unwrap()]);
        assert!(nodes.iter().all(|e| e.span().is_some()), "a node has no span");
        let named = |e: &Expr<'_>| Some(format!("{}: {}", e.data().meta.name?, e.ty()));
        let mut lines: Vec<String> = nodes.iter().filter_map(named).collect();
        lines.push(entry.return_type.to_string());
        lines
    })
}

#[test]
fn vector_add() {
    let held = r#"Tensor[(4096,), "f32", (8 @ c, 128 @ t, 4), "rmem"]"#;
    let want = [format!("xr: {held}"), format!("yr: {held}"), format!("total: {held}")];
    assert_eq!(types_of("vector_add")[..3], want);
    assert_eq!(types_of("vector_add")[3], r#"Tensor[(4096,), "f32", (8 @ c, 128 @ t, 4)]"#);
}

#[test]
fn square() {
    let want = [
        r#"held: Tensor[(24, 96), "f32", (4 @ warp, 6, 32 @ lane, 3), "rmem"]"#,
        r#"Tensor[(24, 96), "f32", (4 @ warp, 6, 32 @ lane, 3)]"#,
    ];
    assert_eq!(types_of("square"), want);
}

#[test]
fn rms_rows() {
    let want = [
        r#"raw: Tensor[(16, 512), "bf16", (4 @ warp, 4, 32 @ lane, 16), "rmem"]"#,
        r#"wide: Tensor[(16, 512), "f32", (4 @ warp, 4, 32 @ lane, 16), "rmem"]"#,
        r#"energy: Tensor[(16, 1), "f32", (4 @ warp, 4, 1, 1), "rmem"]"#,
        r#"scale: Tensor[(16, 1), "f32", (4 @ warp, 4, 1, 1), "rmem"]"#,
        r#"held_gain: Tensor[(512,), "bf16", (32 @ lane, 16), "rmem"]"#,
        r#"normed: Tensor[(16, 512), "f32", (4 @ warp, 4, 32 @ lane, 16), "rmem"]"#,
        r#"narrow: Tensor[(16, 512), "bf16", (4 @ warp, 4, 32 @ lane, 16), "rmem"]"#,
        r#"Tensor[(16, 512), "bf16", (4 @ warp, 4, 32 @ lane, 16)]"#,
    ];
    assert_eq!(types_of("rms_rows"), want);
}

#[test]
fn softmax_rows() {
    let wide = r#"Tensor[(64, 1024), "f32", (8 @ block, 4 @ warp, 2, 32 @ lane, 32), "rmem"]"#;
    let narrow = r#"Tensor[(64, 1), "f32", (8 @ block, 4 @ warp, 2, 1, 1), "rmem"]"#;
    let want = [("row", wide), ("peak", narrow), ("powers", wide), ("mass", narrow), ("share", wide)];
    let types = types_of("softmax_rows");
    assert_eq!(types[..5], want.map(|(name, ty)| format!("{name}: {ty}")));
    assert_eq!(types[5], r#"Tensor[(64, 1024), "f32", (8 @ block, 4 @ warp, 2, 32 @ lane, 32)]"#);
}

#[test]
fn column_mean() {
    let want = [
        r#"held: Tensor[(64, 128), "f32", (4 @ warp, 16, 32 @ lane, 4), "rmem"]"#,
        r#"mean: Tensor[(1, 128), "f32", (1, 1, 32 @ lane, 4), "rmem"]"#,
        r#"Tensor[(1, 128), "f32", (1, 32 @ lane, 4)]"#,
    ];
    assert_eq!(types_of("column_mean"), want);
}

#[test]
fn tile_k_loop() {
    let left = r#"Tensor[(32, 32), "f32", (4 @ warp, 8, 32), "rmem"]"#;
    let right = r#"Tensor[(32, 64), "f32", (32, 32 @ lane, 2), "rmem"]"#;
    let acc = r#"Tensor[(32, 64), "f32", (4 @ warp, 8, 32 @ lane, 2), "rmem"]"#;
    let want = [
        ("first_left", left),
        ("first_right", right),
        ("acc", acc),
        ("left", left),
        ("right", right),
        ("acc", acc),
        ("acc", acc),
    ];
    assert_eq!(types_of("tile_k_loop")[..7], want.map(|(name, ty)| format!("{name}: {ty}")));
    with_source(&reference("programs/tile_k_loop.py"), |_, result| {
        let module = result.unwrap_or_else(|errors| panic!("{errors:?}"));
        assert_eq!(module.topologies.unwrap().iter().map(ToString::to_string).collect::<Vec<_>>(), ["thread 128"]);
        assert_eq!(module.target.unwrap().to_string(), "nvidia.h200_sxm");
        let Some(AnyFunction::Hir(entry)) = module.entry_function() else { panic!("no entry") };
        let grid = post_order(&[entry.body.unwrap()]).into_iter().find_map(|e| match e.kind {
            ExprKind::Grid(region) => Some(region),
            _ => None,
        });
        let grid = grid.expect("the program has a loop");
        assert_eq!([grid.start, grid.stop, grid.step].map(|d| d.to_string()), ["0", "224", "32"]);
        assert_eq!(grid.carries[0].var_name().unwrap().as_str(), "acc");
        let starts: Vec<_> = post_order(grid.yields)
            .into_iter()
            .filter(|e| e.op_call().is_some_and(|c| (c.op.decl.name.dialect, c.op.decl.name.name) == ("dim", "add")))
            .collect();
        assert_eq!(starts.len(), 2);
        assert!(starts.iter().all(|s| s.op_call().unwrap().args[0] == grid.induction));
    });
}

/// Every program of the reference is read.
#[test]
fn all_programs_are_read() {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/reference/programs");
    let mut names: Vec<_> = std::fs::read_dir(dir)
        .expect("the programs are here")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok()?.strip_suffix(".py").map(str::to_owned))
        .collect();
    names.sort();
    assert_eq!(names.len(), 24);
    for name in names {
        with_source(&reference(&format!("programs/{name}.py")), |_, result| {
            assert!(result.is_ok(), "{name}: {:?}", result.err());
        });
    }
}

/// The TIR programs of the reference, too.
#[test]
fn programs_of_tir_are_read() {
    for name in ["scale_add", "exchange_sum", "rows_in_place", "launched_rows", "two_tiles", "countdown"] {
        with_source(&reference(&format!("tir/{name}.py")), |_, result| {
            assert!(result.is_ok(), "{name}: {:?}", result.err());
        });
    }
}
