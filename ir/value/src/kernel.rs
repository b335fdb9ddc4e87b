//! Loops over elements: blocks of widened elements, chunks in parallel. Every element is computed alone, so thread counts do not matter.

use std::borrow::Cow;

use ndarray::{ArrayView1, ArrayViewD, Axis, IxDyn};
use rayon::prelude::*;

use crate::ValueError;
use crate::element::{Element, Numeric, SharedArray};
use crate::gather::gather;
use crate::tensor::{element_count, from_parts, reused, row_major};
use crate::vector::vectorized;
use crate::view::broadcast_shapes;

/// Elements widened at a time: two f32 operands and a result stay in the first-level cache.
pub(crate) const BLOCK: usize = 512;
/// Elements of one parallel task.
pub(crate) const CHUNK: usize = 1 << 14;
/// Shorter rows than this are copied out and walked as one flat run.
const MIN_ROW: usize = 32;

/// Fills `out` in parallel, `chunk` elements a task; `fill` gets the position of the first one. Behind a `dyn` call, so that the parallel
/// driver is compiled once for each element type and not once for each op.
pub(crate) fn fill_chunks<O: Element>(out: &mut [O], chunk: usize, fill: Fill<'_, O>) {
    out.par_chunks_mut(chunk).enumerate().for_each(|(index, out)| fill(index * chunk, out));
}

/// As [`fill_chunks`], in new memory: no page of it is touched before the task that fills it.
pub(crate) fn made_in_chunks<O: Element>(count: usize, chunk: usize, fill: Fill<'_, O>) -> Vec<O> {
    let mut out = Vec::with_capacity(count);
    out.spare_capacity_mut()[..count].par_chunks_mut(chunk).enumerate().for_each(|(index, out)| {
        // `fill` takes elements; these are overwritten while they are in the cache.
        for element in &mut *out {
            element.write(O::default());
        }
        // SAFETY: each has just been written.
        fill(index * chunk, unsafe { out.assume_init_mut() });
    });
    // SAFETY: the chunks are all elements, and each has been written.
    unsafe { out.set_len(count) };
    out
}

/// Writes elements, the first of which has this number.
pub(crate) type Fill<'f, O> = &'f (dyn Fn(usize, &mut [O]) + Sync);

/// A row-major array whose elements `f` makes of those of another one at the same places, `piece` elements at a time, which lie in the cache
/// then, and `chunk` of them, a multiple, in one task. In the storage of the other one where nobody else holds it.
pub(crate) fn transformed<T: Element>(
    x: SharedArray<T>,
    (chunk, piece): (usize, usize),
    f: Fill<'_, T>,
) -> SharedArray<T> {
    match reused(x) {
        Ok(mut own) => {
            let elements = own.as_slice_mut().expect("reused arrays are row-major");
            fill_chunks(elements, chunk, &|from, out| {
                for (at, out) in out.chunks_mut(piece).enumerate() {
                    f(from + at * piece, out);
                }
            });
            own.into_shared()
        }
        Err(x) => {
            let source = row_major(&x);
            let mut made = Vec::with_capacity(source.len());
            let room = made.spare_capacity_mut()[..source.len()].par_chunks_mut(chunk);
            room.zip(source.par_chunks(chunk)).enumerate().for_each(|(index, (out, source))| {
                for (at, (out, source)) in out.chunks_mut(piece).zip(source.chunks(piece)).enumerate() {
                    f(index * chunk + at * piece, out.write_copy_of_slice(source));
                }
            });
            // SAFETY: the pieces are all elements, and each has been written.
            unsafe { made.set_len(source.len()) };
            from_parts(x.shape(), made)
        }
    }
}

/// An op on two blocks that leaves its result in the first.
pub(crate) type Arithmetic<W> = fn(&mut [W], &[W]);
/// A test of two blocks.
pub(crate) type Test<W> = fn(&[W], &[W], &mut [bool]);

/// Replaces every element by `f` of it.
pub(crate) fn each<W: Copy>(block: &mut [W], f: impl Fn(W) -> W + Copy) {
    vectorized(
        #[inline(always)]
        move || {
            for value in block {
                *value = f(*value);
            }
        },
    );
}

/// Replaces every element of `a` by `f` of it and its partner.
pub(crate) fn each_pair<W: Copy>(a: &mut [W], b: &[W], f: impl Fn(W, W) -> W) {
    vectorized(
        #[inline(always)]
        move || {
            for (a, &b) in a.iter_mut().zip(b) {
                *a = f(*a, b);
            }
        },
    );
}

/// Whether `f` holds of every pair.
pub(crate) fn each_test<W: Copy>(a: &[W], b: &[W], out: &mut [bool], f: impl Fn(W, W) -> bool) {
    vectorized(
        #[inline(always)]
        move || {
            for ((out, &a), &b) in out.iter_mut().zip(a).zip(b) {
                *out = f(a, b);
            }
        },
    );
}

/// `f`, which works on a block in place, of all elements.
pub(crate) fn map<T: Numeric>(x: SharedArray<T>, f: fn(&mut [T::Wide])) -> SharedArray<T> {
    transformed(x, (CHUNK, BLOCK), &|_, out| in_wide(out, &mut [T::Wide::default(); BLOCK], f))
}

/// Lets `f` work on the widened elements, in `room` where they are not wide already, and rounds what it leaves.
pub(crate) fn in_wide<T: Numeric>(elements: &mut [T], room: &mut [T::Wide], f: impl FnOnce(&mut [T::Wide])) {
    if let Some(wide) = T::as_wide(elements) {
        return f(wide);
    }
    let wide = &mut room[..elements.len()];
    T::load(elements, wide);
    f(wide);
    T::store(wide, elements);
}

/// `f` of all pairs, rounded to the operands' dtype; operands broadcast. Takes the storage of an operand that nobody else holds.
///
/// # Errors
/// Shapes that do not broadcast.
pub(crate) fn arithmetic<T: Numeric>(
    lhs: SharedArray<T>,
    rhs: SharedArray<T>,
    f: Arithmetic<T::Wide>,
) -> Result<SharedArray<T>, ValueError> {
    let shape = broadcast_shapes(lhs.shape(), rhs.shape())?;
    element_count(&shape, T::BYTES)?;
    let fits = |array: SharedArray<T>| if array.shape() == shape { reused(array) } else { Err(array) };
    let (mut out, other, out_is_lhs) = match fits(lhs) {
        Ok(out) => (out, rhs, true),
        Err(lhs) => match fits(rhs) {
            Ok(out) => (out, lhs, false),
            Err(rhs) => {
                return zip(&lhs, &rhs, &|a, b, out| {
                    f(a, b);
                    T::store(a, out);
                });
            }
        },
    };
    let elements = out.as_slice_mut().expect("reused arrays are row-major");
    let source = Source::of(&other, &shape);
    let step: Step<'_, T> = if out_is_lhs {
        &|a, b, out| {
            T::load(out, a);
            f(a, b);
            T::store(a, out);
        }
    } else {
        &|a, b, out| {
            T::load(out, b);
            f(a, b);
            T::store(a, out);
        }
    };
    let sources = if out_is_lhs { (Source::Out, source) } else { (source, Source::Out) };
    let (chunk, row) = rows_of(&sources);
    fill_chunks(elements, chunk, &|first, out| fill_rows(first, out, row, &sources, step));
    Ok(out.into_shared())
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
    let shape = broadcast_shapes(lhs.shape(), rhs.shape())?;
    let count = element_count(&shape, bool::BYTES)?;
    let sources = (Source::of(lhs, &shape), Source::of(rhs, &shape));
    let (chunk, row) = rows_of(&sources);
    let out = made_in_chunks(count, chunk, &|first, out| {
        let (mut a, mut b) = ([T::Wide::default(); BLOCK], [T::Wide::default(); BLOCK]);
        in_blocks(first, out, row, |from, out| {
            let n = out.len();
            f(sources.0.block(from, &mut a[..n]), sources.1.block(from, &mut b[..n]), out);
        });
    });
    Ok(from_parts(&shape, out))
}

/// What is done with two widened blocks, which may be overwritten.
type Step<'s, T> = &'s (dyn Fn(&mut [<T as Numeric>::Wide], &mut [<T as Numeric>::Wide], &mut [T]) + Sync);

/// Where the elements of an operand come from, in the row-major order of the result.
enum Source<'a, T: Clone> {
    /// As many row-major elements as the result has.
    All(Cow<'a, [T]>),
    /// One for all.
    One(T),
    /// Row by row of a broadcast view, whose rows have that length.
    Rows(ArrayViewD<'a, T>, usize),
    /// The step itself reads them where it writes the result.
    Out,
}

impl<'a, T: Numeric> Source<'a, T> {
    /// An operand of a result of that shape.
    fn of(array: &'a SharedArray<T>, shape: &[usize]) -> Self {
        let count: usize = shape.iter().product();
        let row = shape.last().copied().unwrap_or(1);
        match array.len() {
            n if n == count => Self::All(row_major(array)),
            1 => Self::One(*array.first().expect("there is one")),
            _ => {
                let view = array.broadcast(IxDyn(shape)).expect("operands broadcast to the result");
                if row >= MIN_ROW { Self::Rows(view, row) } else { Self::All(gather(view).into()) }
            }
        }
    }

    /// What a block may not cross a multiple of.
    fn row(&self) -> Option<usize> {
        if let Self::Rows(_, row) = self { Some(*row) } else { None }
    }

    /// The widened elements from number `from` on, all of one row: where they are, or in `room`.
    fn block<'b>(&'b self, from: usize, room: &'b mut [T::Wide]) -> &'b [T::Wide] {
        if let Self::All(elements) = self
            && let Some(wide) = T::wide_of(&elements[from..from + room.len()])
        {
            return wide;
        }
        self.load(from, room);
        room
    }

    /// Widens the elements from number `from` on, all of one row.
    fn load(&self, from: usize, wide: &mut [T::Wide]) {
        match self {
            Self::All(elements) => T::load(&elements[from..from + wide.len()], wide),
            Self::One(value) => wide.fill(value.widen()),
            Self::Rows(view, row) => load_row(&nth_row(view, from / row), from % row, wide),
            Self::Out => {}
        }
    }
}

/// Widens both operands block by block and hands the blocks to `step`.
fn zip<T: Numeric>(
    lhs: &SharedArray<T>,
    rhs: &SharedArray<T>,
    step: Step<'_, T>,
) -> Result<SharedArray<T>, ValueError> {
    let shape = broadcast_shapes(lhs.shape(), rhs.shape())?;
    let (count, sources) = (element_count(&shape, T::BYTES)?, (Source::of(lhs, &shape), Source::of(rhs, &shape)));
    let (chunk, row) = rows_of(&sources);
    let out = made_in_chunks(count, chunk, &|first, out| fill_rows(first, out, row, &sources, step));
    Ok(from_parts(&shape, out))
}

/// The elements of one task, and those that no block crosses a multiple of.
fn rows_of<T: Numeric>((lhs, rhs): &(Source<'_, T>, Source<'_, T>)) -> (usize, usize) {
    let row = lhs.row().or(rhs.row()).unwrap_or(CHUNK);
    (row * (CHUNK / row).max(1), row)
}

/// Calls `step` for the blocks of `out`, the elements from number `first` on, with the number of the first element of each.
fn in_blocks<O>(first: usize, out: &mut [O], row: usize, mut step: impl FnMut(usize, &mut [O])) {
    for (index, out) in out.chunks_mut(row).enumerate() {
        for (block, out) in out.chunks_mut(BLOCK).enumerate() {
            step(first + index * row + block * BLOCK, out);
        }
    }
}

/// Calls `step` for the blocks of `out`, with the elements of both operands.
fn fill_rows<T: Numeric>(
    first: usize,
    out: &mut [T],
    row: usize,
    (lhs, rhs): &(Source<'_, T>, Source<'_, T>),
    step: Step<'_, T>,
) {
    let (mut a, mut b) = ([T::Wide::default(); BLOCK], [T::Wide::default(); BLOCK]);
    in_blocks(first, out, row, |from, out| {
        let n = out.len();
        lhs.load(from, &mut a[..n]);
        rhs.load(from, &mut b[..n]);
        step(&mut a[..n], &mut b[..n], out);
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
