//! Builders for unit tests.

use std::sync::Arc;

use tf_core::op::OpInstance;
use tf_core::{Context, Expr, Meta};
use tf_types::mesh::MeshLayout;
use tf_types::{Arena, DType, Dim, DimVar, Mesh, ShardAttr, ShardLayout, Storage, TensorLayout, Topology, Type};
use tf_value::{DialectBuilder, EvalRegistry};

/// A context with the ops of this crate, and their evaluation rules.
pub fn context(arena: &Arena) -> (Context<'_>, Arc<EvalRegistry>) {
    let mut builder = DialectBuilder::default();
    crate::register(&mut builder);
    let (ops, eval) = builder.freeze().unwrap();
    (Context::new(arena, ops), eval)
}

/// `16 S 1`: integers, or variables in `[1, 1025)`.
pub fn dims<'c>(cx: &Context<'c>, text: &str) -> Vec<Dim<'c>> {
    let dim = |word: &str| match word.parse() {
        Ok(value) => cx.dim(value),
        Err(_) => cx.dim_var(DimVar { name: cx.symbol(word), lo: 1, hi: 1025 }),
    };
    text.split_whitespace().map(dim).collect()
}

/// A mesh over `thread`: `w=4 t=2`.
pub fn mesh<'c>(cx: &Context<'c>, axes: &str) -> Mesh<'c> {
    let axes: Vec<_> = axes.split_whitespace().map(|axis| axis.split_once('=').unwrap()).collect();
    let extents = dims(cx, &axes.iter().map(|axis| axis.1).collect::<Vec<_>>().join(" "));
    let names: Vec<_> = axes.iter().map(|axis| cx.symbol(axis.0)).collect();
    let thread = Topology { name: cx.symbol("thread"), size: Some(cx.product(&extents)) };
    cx.mesh(&[thread], MeshLayout::Plain(cx.c_order_layout(&extents)), &names)
}

/// `S0 B Psum D`: one attribute a mesh axis.
pub fn attrs<'c>(cx: &Context<'c>, text: &str) -> Vec<ShardAttr<'c>> {
    let attr = |word: &str| match word.split_at(1) {
        ("S", axis) => ShardAttr::Split(axis.parse().unwrap()),
        ("P", reduction) => ShardAttr::Partial(cx.symbol(reduction)),
        ("D", _) => ShardAttr::Dynamic,
        _ => ShardAttr::Broadcast,
    };
    text.split_whitespace().map(attr).collect()
}

/// A placement with attributes on layout axes and row-major strides.
pub fn factored<'c>(cx: &Context<'c>, shape: &str, states: &str, mesh: Mesh<'c>) -> ShardLayout<'c> {
    cx.shard_layout(cx.c_order_layout(&dims(cx, shape)), &attrs(cx, states), mesh)
}

/// An unplaced variable in gmem.
pub fn plain<'c>(cx: &Context<'c>, name: &str, shape: &str, dtype: DType) -> Expr<'c> {
    var(cx, name, cx.tensor(&dims(cx, shape), dtype, None, Storage::Gmem))
}

/// An f32 variable in rmem, attributes on logical axes.
pub fn placed<'c>(cx: &Context<'c>, name: &str, shape: &str, states: &str, mesh: Mesh<'c>) -> Expr<'c> {
    let shape = dims(cx, shape);
    let shard = cx.canonical_shard_layout(&shape, mesh, &attrs(cx, states)).unwrap();
    var(cx, name, cx.tensor(&shape, DType::F32, Some(TensorLayout::Shard(shard)), Storage::Rmem))
}

/// A variable of that type.
pub fn var<'c>(cx: &Context<'c>, name: &str, ty: Type<'c>) -> Expr<'c> {
    cx.var(cx.symbol(name), ty, Meta::default())
}

/// `(4, 4, 64):(256, 64, 1) S0 B`: the placement of a type, with attributes on layout axes.
pub fn placement(ty: Type<'_>) -> String {
    let shard = ty.as_tensor().unwrap().shard().unwrap();
    let attr = |attr: &ShardAttr<'_>| match attr {
        ShardAttr::Split(axis) => format!("S{axis}"),
        ShardAttr::Broadcast => "B".to_owned(),
        ShardAttr::Partial(reduction) => format!("P{reduction}"),
        ShardAttr::Dynamic => "D".to_owned(),
    };
    let attrs: Vec<_> = shard.attrs.iter().map(attr).collect();
    format!("{} {}", shard.layout, attrs.join(" "))
}

/// Checks the types of an activation: any float of any shape and placement as it is; a refusal of `refused`; Partial
/// terms kept for the reductions in `kept` and refused for the others.
pub fn check_activation<'c>(cx: &Context<'c>, op: OpInstance<'c>, refused: [DType; 2], kept: &[&str]) {
    let name = op.decl.name;
    let of = |x| cx.call(op, &[x], Meta::default()).map(|e| e.ty()).map_err(|e| e.message);
    for dtype in [DType::F32, DType::F16, DType::BF16, DType::Fp8E4M3] {
        for shape in ["", "S 4", "2 3 0"] {
            let x = plain(cx, "x", shape, dtype);
            assert_eq!(of(x), Ok(x.ty()));
        }
    }
    for dtype in refused {
        let refusal = format!("`{name}` takes floats, found {dtype}");
        assert_eq!(of(plain(cx, "x", "4", dtype)), Err(refusal));
    }
    let x = |states: &str| placed(cx, "x", "16 64", states, mesh(cx, "w=4 t=2"));
    assert_eq!(of(x("S0 S1")), Ok(x("S0 S1").ty()));
    for reduction in ["sum", "max", "min", "prod"] {
        let x = x(&format!("P{reduction} B"));
        let refusal = format!("`{name}` cannot take unreduced terms, but `w` holds P(\"{reduction}\")");
        assert_eq!(of(x), if kept.contains(&reduction) { Ok(x.ty()) } else { Err(refusal) });
    }
}
