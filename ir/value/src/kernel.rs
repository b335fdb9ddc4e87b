//! Loops over elements: blocks of widened elements, chunks in parallel. Every element is computed alone, so thread counts do not matter.

use std::borrow::Cow;

use ndarray::{ArrayView1, ArrayViewD, Axis, IxDyn};
use rayon::prelude::*;

use crate::ValueError;
use crate::element::{Element, Numeric, SharedArray};
use crate::gather::gather;
use crate::tensor::{element_count, from_parts, row_major};
use crate::view::broadcast_shapes;

/// Elements widened at a time: two f32 operands and a result stay in the first-level cache.
pub(crate) const BLOCK: usize = 512;
/// Elements of one parallel task.
pub(crate) const CHUNK: usize = 1 << 14;
/// Shorter rows than this are copied out and walked as one flat run.
const MIN_ROW: usize = 32;

/// Fills `out` in parallel, `chunk` elements a task; `fill` gets the position of the first one. Behind a `dyn` call, so that the parallel
/// driver is compiled once for each element type and not once for each op.
pub(crate) fn fill_chunks<O: Element>(out: &mut [O], chunk: usize, fill: &(dyn Fn(usize, &mut [O]) + Sync)) {
    out.par_chunks_mut(chunk).enumerate().for_each(|(index, out)| fill(index * chunk, out));
}

/// An op on two blocks that leaves its result in the first.
pub(crate) type Arithmetic<W> = fn(&mut [W], &[W]);
/// A test of two blocks.
pub(crate) type Test<W> = fn(&[W], &[W], &mut [bool]);

/// Replaces every element by `f` of it.
pub(crate) fn each<W: Copy>(block: &mut [W], f: impl Fn(W) -> W) {
    for value in block {
        *value = f(*value);
    }
}

/// Replaces every element of `a` by `f` of it and its partner.
pub(crate) fn each_pair<W: Copy>(a: &mut [W], b: &[W], f: impl Fn(W, W) -> W) {
    for (a, &b) in a.iter_mut().zip(b) {
        *a = f(*a, b);
    }
}

/// Whether `f` holds of every pair.
pub(crate) fn each_test<W: Copy>(a: &[W], b: &[W], out: &mut [bool], f: impl Fn(W, W) -> bool) {
    for ((out, &a), &b) in out.iter_mut().zip(a).zip(b) {
        *out = f(a, b);
    }
}

/// `f`, which works on a block in place, of all elements.
pub(crate) fn map<T: Numeric>(x: &SharedArray<T>, f: fn(&mut [T::Wide])) -> SharedArray<T> {
    let source = row_major(x);
    let mut out = vec![T::default(); source.len()];
    fill_chunks(&mut out, CHUNK, &|from, out| {
        let mut wide = [T::Wide::default(); BLOCK];
        for (out, source) in out.chunks_mut(BLOCK).zip(source[from..].chunks(BLOCK)) {
            let wide = &mut wide[..out.len()];
            T::load(&source[..out.len()], wide);
            f(wide);
            T::store(wide, out);
        }
    });
    from_parts(x.shape(), out)
}

/// `f` of all pairs, rounded to the operands' dtype; operands broadcast.
///
/// # Errors
/// Shapes that do not broadcast.
pub(crate) fn arithmetic<T: Numeric>(
    lhs: &SharedArray<T>,
    rhs: &SharedArray<T>,
    f: Arithmetic<T::Wide>,
) -> Result<SharedArray<T>, ValueError> {
    zip_blocks(lhs, rhs, &|a, b, out| {
        f(a, b);
        T::store(a, out);
    })
}

/// `f` of all pairs; operands broadcast.
///
/// # Errors
/// Shapes that do not broadcast.
pub(crate) fn predicate<T: Numeric>(
    lhs: &SharedArray<T>,
    rhs: &SharedArray<T>,
    f: Test<T::Wide>,
) -> Result<SharedArray<bool>, ValueError> {
    zip_blocks(lhs, rhs, &|a, b, out| f(a, b, out))
}

/// What is done with two widened blocks; the first may be overwritten.
type Step<'s, T, O> = &'s (dyn Fn(&mut [<T as Numeric>::Wide], &[<T as Numeric>::Wide], &mut [O]) + Sync);

/// An operand of a flat run: as many row-major elements as the result has, or one for all.
enum Flat<'a, T: Clone> {
    All(Cow<'a, [T]>),
    One(T),
}

impl<'a, T: Element> Flat<'a, T> {
    /// `None` where the operand is broadcast along some axes only.
    fn of(array: &'a SharedArray<T>, count: usize) -> Option<Self> {
        match array.len() {
            n if n == count => Some(Self::All(row_major(array))),
            1 => array.first().map(|&value| Self::One(value)),
            _ => None,
        }
    }

    fn repeated(array: &'a SharedArray<T>, shape: &[usize], count: usize) -> Self {
        Self::of(array, count).unwrap_or_else(|| {
            let view = array.broadcast(IxDyn(shape)).expect("operands broadcast to the result");
            Self::All(gather(view).into())
        })
    }
}

impl<T: Numeric> Flat<'_, T> {
    fn load(&self, from: usize, wide: &mut [T::Wide]) {
        match self {
            Self::All(elements) => T::load(&elements[from..from + wide.len()], wide),
            Self::One(value) => wide.fill(value.widen()),
        }
    }
}

/// Widens both operands block by block and hands the blocks to `step`.
fn zip_blocks<T: Numeric, O: Element>(
    lhs: &SharedArray<T>,
    rhs: &SharedArray<T>,
    step: Step<'_, T, O>,
) -> Result<SharedArray<O>, ValueError> {
    let shape = broadcast_shapes(lhs.shape(), rhs.shape())?;
    let count = element_count(&shape)?;
    let mut out = vec![O::default(); count];
    let flat = |array| Flat::of(array, count).is_some();
    let row = shape.last().copied().unwrap_or(1);
    if count > 0 && row >= MIN_ROW && !(flat(lhs) && flat(rhs)) {
        let lhs = lhs.broadcast(IxDyn(&shape)).expect("operands broadcast to the result");
        let rhs = rhs.broadcast(IxDyn(&shape)).expect("operands broadcast to the result");
        zip_rows::<T, O>(&lhs, &rhs, &mut out, row, step);
    } else {
        let (lhs, rhs) = (Flat::repeated(lhs, &shape, count), Flat::repeated(rhs, &shape, count));
        fill_chunks(&mut out, CHUNK, &|chunk, out| {
            let (mut a, mut b) = ([T::Wide::default(); BLOCK], [T::Wide::default(); BLOCK]);
            for (block, out) in out.chunks_mut(BLOCK).enumerate() {
                let (n, from) = (out.len(), chunk + block * BLOCK);
                lhs.load(from, &mut a[..n]);
                rhs.load(from, &mut b[..n]);
                step(&mut a[..n], &b[..n], out);
            }
        });
    }
    Ok(from_parts(&shape, out))
}

/// As [`zip_blocks`], row by row along the last axis.
fn zip_rows<T: Numeric, O: Element>(
    lhs: &ArrayViewD<'_, T>,
    rhs: &ArrayViewD<'_, T>,
    out: &mut [O],
    row: usize,
    step: Step<'_, T, O>,
) {
    let rows_per_task = (CHUNK / row).max(1);
    fill_chunks(out, row * rows_per_task, &|first, out| {
        let (mut a, mut b) = ([T::Wide::default(); BLOCK], [T::Wide::default(); BLOCK]);
        for (index, out) in out.chunks_mut(row).enumerate() {
            let at = first / row + index;
            let (lhs, rhs) = (nth_row(lhs, at), nth_row(rhs, at));
            for (block, out) in out.chunks_mut(BLOCK).enumerate() {
                let (from, n) = (block * BLOCK, out.len());
                load_row(&lhs, from, &mut a[..n]);
                load_row(&rhs, from, &mut b[..n]);
                step(&mut a[..n], &b[..n], out);
            }
        }
    });
}

/// The row of the last axis that is number `at` in row-major order of the other axes.
fn nth_row<'a, T>(view: &ArrayViewD<'a, T>, mut at: usize) -> ArrayView1<'a, T> {
    let mut rest = view.clone();
    let outer = rest.ndim() - 1;
    for axis in (0..outer).rev() {
        let extent = rest.shape()[axis];
        rest.collapse_axis(Axis(axis), at % extent);
        at /= extent;
    }
    while rest.ndim() > 1 {
        rest = rest.index_axis_move(Axis(0), 0);
    }
    rest.into_dimensionality().expect("one axis is left")
}

fn load_row<T: Numeric>(row: &ArrayView1<'_, T>, from: usize, wide: &mut [T::Wide]) {
    match row.to_slice() {
        Some(slice) => T::load(&slice[from..from + wide.len()], wide),
        None if row.strides()[0] == 0 => wide.fill(row[0].widen()),
        None => {
            for (wide, &value) in wide.iter_mut().zip(row.iter().skip(from)) {
                *wide = value.widen();
            }
        }
    }
}
