//! Ops that only move elements, or make up some.

use tf_hir::{
    Arange, CacheUpdate, Concat, InsertSlice, Rank, RepeatInterleave, Reshape, ShapeOf, Slice, Split, Stack, Transpose,
    TupleGetItem, Zeros,
};
use tf_types::DType;

use crate::draw::{Case, Extents, Gen, Operand, Refusal};
use crate::nd::{Nd, Num, each, moved, number, seen};
use crate::want::{Expected, Want};

pub fn reshape<'c>(g: &mut Gen<'_, 'c>) -> Option<Case<'c>> {
    let shape = g.shape();
    let x = g.nd(&shape);
    // Neighbours are joined, and axes of 1 come in.
    let mut new = Vec::new();
    for &extent in &shape {
        match new.last_mut() {
            Some(last) if g.rng.once_in(3) => *last *= extent,
            _ => new.push(extent),
        }
        if g.rng.once_in(4) && new.len() < 8 {
            new.push(1);
        }
    }
    if g.extents != Extents::Empty {
        g.rng.once_in(2).then(|| new.reverse());
    }
    let want = Expected::new(x.dtype, &new, |index| x.cells[number(index, &new)]);
    Some(Case::one(Reshape::new(g.cx, g.cx.dims(&g.dims(&new))), &[&x], Some(want)))
}

pub fn transpose<'c>(g: &mut Gen<'_, 'c>) -> Option<Case<'c>> {
    let shape = g.shape();
    let (x, order) = (g.nd(&shape), g.order(shape.len()));
    let result: Vec<_> = order.iter().map(|&axis| shape[axis]).collect();
    let want = Expected::new(x.dtype, &result, |index| {
        let mut source = vec![0; shape.len()];
        order.iter().zip(index).for_each(|(&axis, &at)| source[axis] = at);
        x.at(&source)
    });
    let perm: Vec<_> = order.iter().map(|&axis| g.signed(axis, shape.len())).collect();
    Some(Case::one(Transpose::new(g.cx, g.cx.alloc_slice(&perm)), &[&x], Some(want)))
}

pub fn slice<'c>(g: &mut Gen<'_, 'c>) -> Option<Case<'c>> {
    let shape = g.shape();
    let x = g.nd(&shape);
    let (mut first, mut sizes, mut strides) = (Vec::new(), Vec::new(), Vec::new());
    for &extent in &shape {
        let size = g.rng.below(extent + 1);
        let stride = if size > 1 { 1 + g.rng.below((extent - 1) / (size - 1)) } else { 1 + g.rng.below(3) };
        let span = if size == 0 { 0 } else { (size - 1) * stride + 1 };
        first.push(g.rng.below(extent - span + 1));
        sizes.push(size);
        strides.push(stride);
    }
    let want = Expected::new(x.dtype, &sizes, |index| {
        let source: Vec<_> = (0..shape.len()).map(|axis| first[axis] + index[axis] * strides[axis]).collect();
        x.at(&source)
    });
    let mut operands = vec![Operand::Tensor(x)];
    operands.extend(first.iter().map(|&at| g.position(at)));
    let (sizes, strides) = (g.dims(&sizes), g.dims(&strides));
    Some(Case { op: Slice::new(g.cx, g.cx.dims(&sizes), g.cx.dims(&strides)), operands, want: Ok(vec![want]) })
}

pub fn insert_slice<'c>(g: &mut Gen<'_, 'c>) -> Option<Case<'c>> {
    let shape = g.shape();
    let (mut first, mut sizes) = (Vec::new(), Vec::new());
    for &extent in &shape {
        sizes.push(g.rng.below(extent + 1));
        first.push(g.rng.below(extent - sizes[sizes.len() - 1] + 1));
    }
    let (x, update) = (g.nd(&shape), g.nd(&sizes));
    let want = Expected::new(x.dtype, &shape, |index| {
        let inside = (0..shape.len()).all(|axis| (first[axis]..first[axis] + sizes[axis]).contains(&index[axis]));
        let source: Vec<_> = index.iter().zip(&first).map(|(at, first)| at.wrapping_sub(*first)).collect();
        if inside { update.at(&source) } else { x.at(index) }
    });
    let mut operands = vec![Operand::Tensor(x), Operand::Tensor(update)];
    operands.extend(first.iter().map(|&at| g.position(at)));
    Some(Case { op: InsertSlice::new(g.cx), operands, want: Ok(vec![want]) })
}

pub fn concat<'c>(g: &mut Gen<'_, 'c>) -> Option<Case<'c>> {
    let shape = g.shape();
    let axis = if shape.is_empty() { return None } else { g.axis(shape.len()) };
    let count = 1 + g.rng.below(4);
    let parts: Vec<Nd> = (0..count)
        .map(|_| {
            let extent = g.rng.below(4);
            g.nd(&moved(&shape, axis, extent))
        })
        .collect();
    let total = parts.iter().map(|part| part.shape[axis]).sum();
    let want = Expected::new(g.dtype, &moved(&shape, axis, total), |index| {
        let (mut part, mut at) = (0, index[axis]);
        while at >= parts[part].shape[axis] {
            at -= parts[part].shape[axis];
            part += 1;
        }
        parts[part].at(&moved(index, axis, at))
    });
    let op = Concat::new(g.cx, g.signed(axis, shape.len()));
    Some(Case::one(op, &parts.iter().collect::<Vec<_>>(), Some(want)))
}

pub fn stack<'c>(g: &mut Gen<'_, 'c>) -> Option<Case<'c>> {
    let shape = g.shape();
    let (axis, count) = (g.axis(shape.len() + 1), 1 + g.rng.below(3));
    let parts: Vec<_> = (0..count).map(|_| g.nd(&shape)).collect();
    let mut result = shape.clone();
    result.insert(axis, count);
    let want = Expected::new(g.dtype, &result, |index| {
        let mut source = index.to_vec();
        let part = source.remove(axis);
        parts[part].at(&source)
    });
    let op = Stack::new(g.cx, g.signed(axis, shape.len() + 1));
    Some(Case::one(op, &parts.iter().collect::<Vec<_>>(), Some(want)))
}

pub fn split<'c>(g: &mut Gen<'_, 'c>) -> Option<Case<'c>> {
    let mut shape = g.shape();
    let axis = if shape.is_empty() { return None } else { g.axis(shape.len()) };
    let (count, length) = (1 + g.rng.below(4), g.rng.below(3));
    shape[axis] = count * length;
    let x = g.nd(&shape);
    let part = |number: usize| {
        Expected::new(x.dtype, &moved(&shape, axis, length), |index| {
            x.at(&moved(index, axis, number * length + index[axis]))
        })
    };
    let want = Ok((0..count).map(part).collect());
    let op = Split::new(g.cx, g.signed(axis, shape.len()), count as i64);
    Some(Case { want, ..Case::one(op, &[&x], None) })
}

pub fn tuple_get_item<'c>(g: &mut Gen<'_, 'c>) -> Option<Case<'c>> {
    let fields: Vec<_> = (0..3)
        .map(|_| {
            let shape = g.shape();
            g.nd(&shape)
        })
        .collect();
    let at = g.rng.below(3);
    let want = Ok(vec![Expected::same(&fields[at])]);
    Some(Case { op: TupleGetItem::new(g.cx, at as i64), operands: vec![Operand::Tuple(fields)], want })
}

pub fn repeat_interleave<'c>(g: &mut Gen<'_, 'c>) -> Option<Case<'c>> {
    let shape = g.shape();
    let axis = if shape.is_empty() { return None } else { g.axis(shape.len()) };
    let (x, repeats) = (g.nd(&shape), g.rng.below(4));
    let want = Expected::new(x.dtype, &moved(&shape, axis, shape[axis] * repeats), |index| {
        x.at(&moved(index, axis, index[axis] / repeats))
    });
    let op = RepeatInterleave::new(g.cx, repeats as i64, g.signed(axis, shape.len()));
    Some(Case::one(op, &[&x], Some(want)))
}

pub fn shape_of<'c>(g: &mut Gen<'_, 'c>) -> Option<Case<'c>> {
    let shape = g.shape();
    let x = g.nd(&shape);
    let want = Expected::new(DType::I64, &[shape.len()], |index| Want::Int(shape[index[0]] as i64));
    Some(Case::one(ShapeOf::new(g.cx), &[&x], Some(want)))
}

pub fn rank<'c>(g: &mut Gen<'_, 'c>) -> Option<Case<'c>> {
    let shape = g.shape();
    let x = g.nd(&shape);
    let want = Expected::new(DType::I64, &[], |_| Want::Int(shape.len() as i64));
    Some(Case::one(Rank::new(g.cx), &[&x], Some(want)))
}

pub fn arange<'c>(g: &mut Gen<'_, 'c>) -> Option<Case<'c>> {
    if g.rank != 1 {
        return None;
    }
    let shape = g.shape();
    let (start, step) = (g.rng.below(2_000_000_000) as i64 - 1_000_000_000, 1 + g.rng.below(2_000_000_000) as i64);
    let want = g.dtype.is_integer().then(|| {
        Expected::new(g.dtype, &shape, |index| {
            let value = start.wrapping_add(step.wrapping_mul(index[0] as i64));
            Want::Int(if g.dtype == DType::I32 { (value as i32).into() } else { value })
        })
    });
    Some(Case::one(Arange::new(g.cx, g.ty(&shape, g.dtype), Some(g.cx.dim(start)), step), &[], want))
}

pub fn zeros<'c>(g: &mut Gen<'_, 'c>) -> Option<Case<'c>> {
    let shape = g.shape();
    let zero = if g.floats() { Want::Float(0.0) } else { Want::Int(0) };
    let want = Expected::new(g.dtype, &shape, |_| zero);
    Some(Case::one(Zeros::new(g.cx, g.ty(&shape, g.dtype)), &[], Some(want)))
}

pub fn cache_update<'c>(g: &mut Gen<'_, 'c>) -> Option<Case<'c>> {
    if g.rank != 4 {
        return None;
    }
    let mut shape = g.shape();
    let length = 1 + g.rng.below(3);
    let new = g.nd(&moved(&shape, 1, length));
    shape[1] = length + g.rng.below(3);
    let (cache, count) = (g.nd(&shape), g.rng.below(length + 2));
    let first = g.rng.below(shape[1] + 1);
    let operand = |g: &mut Gen<'_, 'c>, value: usize| {
        let ones = vec![1; g.rng.below(3)];
        Operand::Tensor(Nd { dtype: DType::I32, shape: ones, cells: vec![Num::Int(value as i64)] })
    };
    let (position, rows) = (operand(g, first), operand(g, count));
    let want = if count == 0 || count > length {
        Err(Refusal::Run("rows of"))
    } else if first + count > shape[1] {
        Err(Refusal::Run("capacity"))
    } else {
        Ok(vec![Expected::new(g.dtype, &shape, |index| match index[1].checked_sub(first) {
            Some(row) if row < count => new.at(&moved(index, 1, row)),
            _ => cache.at(index),
        })])
    };
    let operands = vec![Operand::Tensor(cache), position, rows, Operand::Tensor(new)];
    Some(Case { op: CacheUpdate::new(g.cx), operands, want })
}

/// The indices of a broadcast view are what the tests think they are.
#[test]
fn indices() {
    let mut found = Vec::new();
    each(&[2, 1, 2], |index| found.push((index.to_vec(), seen(index, &[1, 2]), number(index, &[2, 1, 2]))));
    let want = [([0, 0, 0], 0, 0), ([0, 0, 1], 1, 1), ([1, 0, 0], 0, 2), ([1, 0, 1], 1, 3)];
    assert_eq!(found, want.map(|(index, last, number)| (index.to_vec(), vec![0, last], number)));
}
