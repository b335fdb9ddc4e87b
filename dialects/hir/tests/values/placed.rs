//! Ops that place values: of one position they are the identity, or refused.

use tf_hir::{Local, Reshard};
use tf_types::mesh::MeshLayout;
use tf_types::{ShardAttr, ShardLayout, Storage, TensorLayout, Topology};

use crate::draw::{Case, Gen, Operand, Refusal};
use crate::want::Expected;

/// A placement on two positions: whole, or with the first axis in parts.
fn placement<'c>(g: &Gen<'_, 'c>, shape: &[usize], split: bool) -> Option<ShardLayout<'c>> {
    let cx = g.cx;
    let thread = Topology { name: cx.symbol("thread"), size: Some(cx.dim(2)) };
    let extents = g.dims(&[2]);
    let mesh = cx.mesh(&[thread], MeshLayout::Plain(cx.c_order_layout(&extents)), &[cx.symbol("w")]);
    let attr = if split { ShardAttr::Split(0) } else { ShardAttr::Broadcast };
    cx.canonical_shard_layout(&g.dims(shape), mesh, &[attr]).ok()
}

/// Form 0 keeps the placement; form 1 places on two positions, form 2 cuts in two.
pub fn reshard<'c>(g: &mut Gen<'_, 'c>) -> Option<Case<'c>> {
    let mut shape = g.shape();
    if g.form == 2 {
        *shape.first_mut()? *= 2;
    }
    let x = g.nd(&shape);
    let op = match g.form {
        0 => Reshard::new(g.cx, None, None),
        form => Reshard::new(g.cx, Some(placement(g, &shape, form == 2)?), Some(Storage::Rmem)),
    };
    Some(Case::one(op, &[&x], Some(Expected::same(&x))))
}

/// Form 0: every position has the whole value; form 1: parts.
pub fn local<'c>(g: &mut Gen<'_, 'c>) -> Option<Case<'c>> {
    let cx = g.cx;
    let mut shape = g.shape();
    let split = g.form == 1;
    if split {
        *shape.first_mut()? *= 2;
    }
    let placement = placement(g, &shape, split)?;
    let ty = cx.tensor(&g.dims(&shape), g.dtype, Some(TensorLayout::Shard(placement)), Storage::Rmem);
    let x = g.nd(&shape);
    let want = if split { Err(Refusal::Run("mesh=all")) } else { Ok(vec![Expected::same(&x)]) };
    Some(Case { op: Local::new(cx), operands: vec![Operand::Placed(x, ty)], want })
}
