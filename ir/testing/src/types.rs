//! Dims, meshes and types.

use tf_core::Context;
use tf_types::{
    DType, Dim, DimOp, DimVar, DimVars, Mesh, MeshLayout, ShardAttr, Storage, TensorLayout, Topology, Type,
};

use crate::Rng;

/// The range of `S`.
pub const S: (i64, i64) = (1, 33);

pub fn dims<'c>(cx: &Context<'c>) -> Vec<Dim<'c>> {
    let var = |name: &str, lo, hi| cx.dim_var(DimVar { name: cx.symbol(name), lo, hi });
    let s = var("S", S.0, S.1);
    let sum = cx.dim_op(DimOp::Add, s, cx.dim(7));
    vec![s, cx.dim(4), cx.dim(8), var("N", 0, 5), cx.dim_op(DimOp::FloorDiv, sum, cx.dim(8)), cx.dim(1)]
}

/// The dims that a function with parameters of these types may name: their variables are in the parameters' shapes.
pub fn bounds<'c>(dims: &[Dim<'c>], params: &[Type<'c>]) -> Vec<Dim<'c>> {
    let mut known = DimVars::default();
    let leaves: Vec<_> = params.iter().flat_map(|ty| ty.leaves()).collect();
    leaves.iter().flat_map(|tensor| tensor.shape).for_each(|&dim| known.add_dim(dim));
    let is_bound = |dim: &Dim<'c>| {
        let mut used = DimVars::default();
        used.add_dim(*dim);
        used.as_slice().iter().all(|var| known.as_slice().contains(var))
    };
    dims.iter().copied().filter(is_bound).collect()
}

pub fn meshes<'c>(cx: &Context<'c>) -> Vec<Mesh<'c>> {
    let level = |name: &str, size| Topology { name: cx.symbol(name), size: Some(cx.dim(size)) };
    let plain = |shape: &[i64]| MeshLayout::Plain(cx.c_order_layout(cx.const_dims(shape)));
    let names = |names: &[&str]| names.iter().map(|name| cx.symbol(name)).collect::<Vec<_>>();
    vec![
        cx.mesh(&[level("cta", 4)], plain(&[4]), &names(&["b"])),
        cx.mesh(&[level("thread", 64)], plain(&[2, 32]), &names(&["w", "l"])),
        cx.mesh(&[level("cta", 4), level("thread", 64)], plain(&[4, 64]), &names(&["b", "t"])),
    ]
}

/// A few types of tensors: small and symbolic shapes, several dtypes, layouts, placements and storages.
pub fn types<'c>(cx: &Context<'c>, rng: &mut Rng, dims: &[Dim<'c>], meshes: &[Mesh<'c>]) -> Vec<Type<'c>> {
    let f32_matrix = cx.tensor(cx.const_dims(&[4, 8]), DType::F32, None, Storage::Gmem);
    let mut types = vec![f32_matrix, cx.tensor(&[dims[0], cx.dim(8)], DType::F32, None, Storage::Gmem)];
    for _ in 0..3 {
        let rank = rng.below(3);
        let shape: Vec<_> = (0..rank).map(|_| rng.pick(dims)).collect();
        let dtype = rng.pick(&[DType::F32, DType::BF16, DType::I32, DType::I64, DType::Bool]);
        let storage = rng.pick(&[Storage::Gmem, Storage::Smem, Storage::Rmem]);
        let layout = layout(cx, rng, &shape, meshes);
        types.push(cx.tensor(&shape, dtype, layout, storage));
    }
    types
}

pub fn layout<'c>(cx: &Context<'c>, rng: &mut Rng, shape: &[Dim<'c>], meshes: &[Mesh<'c>]) -> Option<TensorLayout<'c>> {
    match rng.below(4) {
        0 if !shape.is_empty() && !meshes.is_empty() => {
            let mesh = rng.pick(meshes);
            let axes = mesh.rank();
            let sum = cx.symbol("sum");
            let attrs: Vec<_> = (0..axes).map(|_| rng.pick(&[ShardAttr::Broadcast, ShardAttr::Partial(sum)])).collect();
            Some(TensorLayout::Shard(cx.shard_layout(cx.c_order_layout(shape), &attrs, mesh)))
        }
        1 => Some(TensorLayout::Plain(cx.c_order_layout(shape))),
        2 => Some(TensorLayout::Plain(cx.layout(shape, None))),
        _ => None,
    }
}
