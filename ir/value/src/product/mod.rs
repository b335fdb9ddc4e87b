//! Products of matrices of floats, accumulated in f32 and rounded once.
//!
//! The result is cut into tiles, which threads take one after the other. For a tile, blocks of both operands are widened and laid out (`pack`)
//! so that the innermost loop (`tile`) keeps its sums in registers; a few rows are multiplied as they lie (`few`). Every element is summed in
//! the same order however the result is cut, so results do not depend on the number of threads.

use std::cell::RefCell;
use std::mem::MaybeUninit;

use rayon::prelude::*;

use self::few::{FEW, Few, WIDTH};
use self::pack::{COLUMNS, Lines, PackRhs, pack_lhs};
use self::tile::{DEPTH, EMPTY, Out, Product, Row};
use crate::ValueError;
use crate::element::{Numeric, SharedArray};
use crate::gather::gather;
use crate::matmul::Batch;
use crate::tensor::{element_count, from_parts};
use crate::view::broadcast_shapes;

mod few;
mod pack;
mod tile;

/// Most rows of a tile of the result; with [`COLUMNS`] columns the blocks of both operands share the second-level cache.
const ROWS: usize = DEPTH;
/// Tiles are made smaller until each thread has as many.
const TILES: usize = 4;
/// Multiplications that make a task worth its while.
const TASK: usize = 1 << 16;
/// Most elements of the right block that a thread keeps from task to task. Tiles need fewer; a few rows that are long may need more.
const MOST_KEPT: usize = 1 << 18;

/// Blocks of the tile that a thread computes, and its sums where the result has another type.
struct Room {
    lhs: Vec<Row>,
    rhs: Vec<f32>,
    sums: Vec<f32>,
}

thread_local! {
    /// Kept from tile to tile: new memory costs more than what a small tile computes in it.
    static ROOM: RefCell<Room> = const { RefCell::new(Room { lhs: Vec::new(), rhs: Vec::new(), sums: Vec::new() }) };
}

/// The first `count` elements, made where there are none.
fn room_for<T: Clone>(room: &mut Vec<T>, count: usize, zero: T) -> &mut [T] {
    if room.len() < count {
        room.resize(count, zero);
    }
    &mut room[..count]
}

/// The batch product of two arrays of rank >= 2 whose inner extents agree.
pub(crate) fn product<T: Numeric<Wide = f32>>(
    lhs: &SharedArray<T>,
    rhs: &SharedArray<T>,
) -> Result<SharedArray<T>, ValueError> {
    let (m, n) = (lhs.shape()[lhs.ndim() - 2], rhs.shape()[rhs.ndim() - 1]);
    if n < FEW && n < m {
        // The matrix that is large comes last.
        let turned = product(&across(rhs.clone()), &across(lhs.clone()))?;
        let turned = across(turned);
        return Ok(from_parts(turned.shape(), gather(turned.view())));
    }
    let mut shape = broadcast_shapes(&lhs.shape()[..lhs.ndim() - 2], &rhs.shape()[..rhs.ndim() - 2])?;
    let (lhs, rhs) = (in_lines(lhs), in_lines(rhs));
    let (lhs, rhs) = (Batch::new(&lhs, &shape), Batch::new(&rhs, &shape));
    shape.extend([m, n]);
    let count = element_count(&shape, T::BYTES)?;
    let depth = lhs.columns();
    if count == 0 || depth == 0 {
        return Ok(from_parts(&shape, vec![T::default(); count]));
    }
    let mut out = Vec::with_capacity(count);
    let matrices = Matrices { lhs, rhs, m, n, depth, out: Start(out.spare_capacity_mut().as_mut_ptr()) };
    let (rows, columns) = matrices.tile(count / (m * n));
    let (down, along) = (m.div_ceil(rows), n.div_ceil(columns));
    let least = TASK / (rows.min(m) * columns.min(n) * depth).max(1);
    (0..count / (m * n) * down * along).into_par_iter().with_min_len(least.max(1)).for_each(|at| {
        let (matrix, tile) = (at / (down * along), at % (down * along));
        let (top, left) = (tile % down * rows, tile / down * columns);
        let (height, width) = (rows.min(m - top), columns.min(n - left));
        ROOM.with_borrow_mut(|room| {
            matrices.compute(matrix, (top, height), (left, width), room);
            if room.rhs.len() > MOST_KEPT {
                room.rhs = Vec::new();
            }
        });
    });
    // SAFETY: the tiles cover all elements, and each has been written.
    unsafe { out.set_len(count) };
    Ok(from_parts(&shape, out))
}

/// The last two axes swapped.
fn across<T: Numeric>(mut array: SharedArray<T>) -> SharedArray<T> {
    let rank = array.ndim();
    array.swap_axes(rank - 2, rank - 1);
    array
}

/// The same array, whose matrices lie row by row or column by column.
fn in_lines<T: Numeric>(array: &SharedArray<T>) -> SharedArray<T> {
    let rank = array.ndim();
    let is_run = |axis: usize| array.strides()[axis] == 1 && array.shape()[axis] > 1;
    if is_run(rank - 1) || is_run(rank - 2) {
        return array.clone();
    }
    from_parts(array.shape(), gather(array.view()))
}

/// Where a result begins that several threads write.
struct Start<T>(*mut MaybeUninit<T>);

// SAFETY: threads write tiles, which have no element in common.
unsafe impl<T: Send> Sync for Start<T> {}

struct Matrices<'a, T> {
    lhs: Batch<'a, T>,
    rhs: Batch<'a, T>,
    m: usize,
    n: usize,
    depth: usize,
    out: Start<T>,
}

impl<T: Numeric<Wide = f32>> Matrices<'_, T> {
    /// Rows and columns of a tile.
    fn tile(&self, matrices: usize) -> (usize, usize) {
        let (tiles_each, most) = if self.m < FEW { (TILES / 2, WIDTH) } else { (TILES, COLUMNS) };
        let wanted = tiles_each * rayon::current_num_threads();
        let (mut rows, mut columns) = (ROWS, most);
        let tiles = |rows, columns| matrices * self.m.div_ceil(rows) * self.n.div_ceil(columns);
        while tiles(rows, columns) < wanted && (rows > 64 || columns > 128) {
            if rows.min(self.m) > columns.min(self.n) || columns <= 128 {
                rows /= 2;
            } else {
                columns /= 2;
            }
        }
        (rows, columns)
    }

    /// Computes one tile of one matrix.
    fn compute(&self, matrix: usize, (top, height): (usize, usize), (left, width): (usize, usize), room: &mut Room) {
        let (lhs, rhs) = (Lines::new(self.lhs.matrix(matrix)), Lines::new(self.rhs.matrix(matrix)));
        // SAFETY: a place within the result.
        let start = unsafe { self.out.0.add((matrix * self.m + top) * self.n + left) };
        let Room { lhs: rows, rhs: panels, sums } = room;
        if self.m < FEW {
            let whole = if lhs.turned() { None } else { lhs.all().and_then(T::wide_of) };
            let factors = match whole {
                Some(factors) => factors,
                None => {
                    let factors = room_for(panels, height * self.depth, 0.0);
                    for (row, factors) in factors.chunks_mut(self.depth).enumerate() {
                        if lhs.turned() {
                            (0..self.depth)
                                .zip(factors)
                                .for_each(|(at, factor)| *factor = lhs.run(at, row, 1)[0].widen());
                        } else {
                            T::load(lhs.run(row, 0, self.depth), factors);
                        }
                    }
                    factors
                }
            };
            let (out, room) =
                room_for(sums, height * width + few::room(height, width), 0.0).split_at_mut(height * width);
            pulp::Arch::new().dispatch(Few {
                rows: factors,
                depth: self.depth,
                rhs,
                columns: (left, width),
                out,
                room,
            });
            self.store(start, out, width);
            return;
        }
        // Where `f32` is the result's type, sums go there at once.
        let direct = T::as_wide(&mut []).is_some();
        let out = match direct {
            true => Out { start: start.cast(), stride: self.n, columns: width },
            false => Out { start: room_for(sums, height * width, 0.0).as_mut_ptr(), stride: width, columns: width },
        };
        let rows = room_for(rows, height.next_multiple_of(4), EMPTY);
        // Whole panels, whatever the width of a vector, and where vectors do not cross lines of the cache.
        let panels = room_for(panels, width.next_multiple_of(32) * DEPTH.min(self.depth.next_multiple_of(4)) + 16, 0.0);
        let skipped = panels.as_ptr().align_offset(64).min(16);
        let panels = &mut panels[skipped..];
        for from in (0..self.depth).step_by(DEPTH) {
            let depth = DEPTH.min(self.depth - from);
            pulp::Arch::new().dispatch(PackRhs { rhs, columns: (left, width), rows: (from, depth), panels });
            pack_lhs(&lhs, (top, height), (from, depth), rows);
            let room = depth.next_multiple_of(4);
            // SAFETY: the tile is this task's; the first block writes it, the others add.
            unsafe { Product { lhs: &rows[..height], rhs: panels, room, depth, out, add: from > 0 }.run() };
        }
        if !direct {
            self.store(start, &sums[..height * width], width);
        }
    }

    /// Rounds the sums of a tile.
    fn store(&self, start: *mut MaybeUninit<T>, sums: &[f32], width: usize) {
        for (row, sums) in sums.chunks(width).enumerate() {
            // SAFETY: a row of this task's tile.
            let out = unsafe { std::slice::from_raw_parts_mut(start.add(row * self.n), width) };
            // `store` takes elements.
            for element in &mut *out {
                element.write(T::default());
            }
            // SAFETY: each has just been written.
            T::store(sums, unsafe { out.assume_init_mut() });
        }
    }
}
