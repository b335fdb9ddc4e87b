//! Products of a few rows with a matrix, which is read once: nothing is packed, and columns are what threads share.

use pulp::{Simd, WithSimd};

use super::pack::Lines;
use crate::element::Numeric;

/// From as many rows on, packing pays.
pub(super) const FEW: usize = 8;
/// Elements of the inner axis that are summed one after the other, in lanes or not; the sums of blocks are added up.
const BLOCK: usize = 512;
/// Rows of the matrix added at a time.
const TOGETHER: usize = 4;
/// Most columns of a task: long pieces of rows, whose sums stay in the first-level cache.
pub(super) const WIDTH: usize = 1024;

/// Room that so many rows and columns need.
pub(super) const fn room(height: usize, width: usize) -> usize {
    let lines_and_sums = (TOGETHER + height) * width;
    if lines_and_sums < BLOCK { BLOCK } else { lines_and_sums }
}

/// Some rows, each of them `depth` long, times the columns `first` to `first + width` of a matrix; `out` has a row for each of them, `width` long.
pub(super) struct Few<'r, 'a, T> {
    pub(super) rows: &'a [f32],
    pub(super) depth: usize,
    pub(super) rhs: Lines<'r, T>,
    pub(super) columns: (usize, usize),
    pub(super) out: &'a mut [f32],
    /// As much as [`room`] says, of any values.
    pub(super) room: &'a mut [f32],
}

impl<T: Numeric<Wide = f32>> WithSimd for Few<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        if self.rhs.turned() {
            macro_rules! rows {
                ($($count:literal)+) => {
                    match self.out.len() / self.columns.1 {
                        $($count => self.dots::<S, $count>(simd),)+
                        _ => unreachable!("fewer than {FEW} rows"),
                    }
                };
            }
            rows!(1 2 3 4 5 6 7);
        } else {
            self.sums();
        }
    }
}

impl<T: Numeric<Wide = f32>> Few<'_, '_, T> {
    /// Columns of the matrix are runs of memory: each product is one of two runs.
    #[inline(always)]
    fn dots<S: Simd, const N: usize>(self, simd: S) {
        let (first, width) = self.columns;
        let room = self.room;
        for column in 0..width {
            let mut totals = [[simd.splat_f32s(0.0); 2]; N];
            let mut tails = [0.0f32; N];
            for from in (0..self.depth).step_by(BLOCK) {
                let mut sums = [[simd.splat_f32s(0.0); 2]; N];
                let length = BLOCK.min(self.depth - from);
                let run = self.rhs.run(first + column, from, length);
                let run = match T::wide_of(run) {
                    Some(run) => run,
                    None => {
                        T::load(run, &mut room[..length]);
                        &room[..length]
                    }
                };
                let (vectors, tail) = S::as_simd_f32s(run);
                for ((row, sums), end) in self.rows.chunks(self.depth).zip(&mut sums).zip(&mut tails) {
                    let (factors, rest) = S::as_simd_f32s(&row[from..from + length]);
                    for (at, (&a, &b)) in factors.iter().zip(vectors).enumerate() {
                        sums[at % 2] = simd.mul_add_f32s(a, b, sums[at % 2]);
                    }
                    for (&a, &b) in rest.iter().zip(tail) {
                        *end = a.mul_add(b, *end);
                    }
                }
                for (total, sum) in totals.as_flattened_mut().iter_mut().zip(sums.as_flattened()) {
                    *total = simd.add_f32s(*total, *sum);
                }
            }
            for (row, (totals, tail)) in totals.into_iter().zip(tails).enumerate() {
                self.out[row * width + column] = simd.reduce_sum_f32s(simd.add_f32s(totals[0], totals[1])) + tail;
            }
        }
    }

    /// Rows of the matrix are runs of memory: they are scaled and added up.
    #[inline(always)]
    fn sums(self) {
        let Self { rows, depth, rhs, columns: (first, width), out, room } = self;
        let (room, part) = room.split_at_mut(TOGETHER * width);
        for block in (0..depth).step_by(BLOCK) {
            let sums = if block == 0 { &mut *out } else { &mut part[..out.len()] };
            sums.fill(0.0);
            let end = depth.min(block + BLOCK);
            for from in (block..end).step_by(TOGETHER) {
                let count = TOGETHER.min(end - from);
                let mut lines: [&[f32]; TOGETHER] = [&[]; TOGETHER];
                for ((at, line), room) in lines[..count].iter_mut().enumerate().zip(room.chunks_mut(width)) {
                    let run = rhs.run(from + at, first, width);
                    *line = match T::wide_of(run) {
                        Some(run) => run,
                        None => {
                            T::load(run, room);
                            room
                        }
                    };
                }
                for (row, sums) in rows.chunks(depth).zip(sums.chunks_mut(width)) {
                    let factors = &row[from..from + count];
                    let [a, b, c, d] = lines;
                    if let &[e, f, g, h] = factors {
                        for ((((sum, a), b), c), d) in sums.iter_mut().zip(a).zip(b).zip(c).zip(d) {
                            *sum = e.mul_add(*a, f.mul_add(*b, g.mul_add(*c, h.mul_add(*d, *sum))));
                        }
                    } else {
                        for (factor, line) in factors.iter().zip(lines) {
                            for (sum, line) in sums.iter_mut().zip(line) {
                                *sum = factor.mul_add(*line, *sum);
                            }
                        }
                    }
                }
            }
            if block > 0 {
                out.iter_mut().zip(&*part).for_each(|(out, part)| *out += part);
            }
        }
    }
}
