//! Builders for unit tests.

use crate::mesh::MeshLayout;
use crate::{Dim, DimVar, Mesh, Topology, TypeContext};

/// `16 S 1`: integers, or variables `S` in `[1, 1025)` and `T` in `[1, 9)`.
pub fn dims<'c>(cx: &TypeContext<'c>, text: &str) -> &'c [Dim<'c>] {
    let dim = |word: &str| match (word.parse(), word) {
        (Ok(value), _) => cx.dim(value),
        (Err(_), "T") => cx.dim_var(DimVar { name: cx.symbol("T"), lo: 1, hi: 9 }),
        (Err(_), name) => cx.dim_var(DimVar { name: cx.symbol(name), lo: 1, hi: 1025 }),
    };
    let dims: Vec<_> = text.split_whitespace().map(dim).collect();
    cx.dims(&dims)
}

/// A mesh with C-order strides; a size or extent of 0 stands for the variable `S`.
pub fn mesh<'c>(cx: &TypeContext<'c>, levels: &[(&str, i64)], axes: &[(&str, i64)]) -> Mesh<'c> {
    let size = |value: i64| if value == 0 { dims(cx, "S")[0] } else { cx.dim(value) };
    let levels: Vec<_> =
        levels.iter().map(|&(name, value)| Topology { name: cx.symbol(name), size: Some(size(value)) }).collect();
    let shape: Vec<_> = axes.iter().map(|&(_, extent)| size(extent)).collect();
    let names: Vec<_> = axes.iter().map(|&(name, _)| cx.symbol(name)).collect();
    cx.mesh(&levels, MeshLayout::Plain(cx.c_order_layout(&shape)), &names)
}
