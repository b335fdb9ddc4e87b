//! Blocks of matrices, widened and laid out as the product of blocks reads them.

use ndarray::{ArrayView2, Axis};
use pulp::{Simd, WithSimd};

use super::tile::{DEPTH, Row, VECTORS};
use crate::element::Numeric;

/// Most columns of a block.
pub(super) const COLUMNS: usize = 512;

/// A matrix whose rows, or else columns, are runs of memory.
#[derive(Clone, Copy)]
pub(super) struct Lines<'a, T> {
    /// Its rows are the runs.
    view: ArrayView2<'a, T>,
    /// Whether these are the matrix's columns.
    turned: bool,
}

impl<'a, T> Lines<'a, T> {
    /// Of a matrix whose rows or columns are runs; a single column is one line.
    pub(super) fn new(matrix: ArrayView2<'a, T>) -> Self {
        let turned = match matrix.ncols() {
            1 => matrix.nrows() > 1 && matrix.strides()[0] == 1,
            _ => matrix.strides()[1] != 1,
        };
        Self { view: if turned { matrix.reversed_axes() } else { matrix }, turned }
    }

    pub(super) const fn turned(&self) -> bool {
        self.turned
    }

    /// All lines, one after the other, where nothing lies between them.
    pub(super) fn all(&self) -> Option<&'a [T]> {
        self.view.to_slice()
    }

    /// `length` elements of line `at` from number `from` on.
    pub(super) fn run(&self, at: usize, from: usize, length: usize) -> &'a [T] {
        let line = self.view.index_axis_move(Axis(0), at);
        &line.to_slice().expect("lines are runs of memory")[from..from + length]
    }
}

/// Rows from number `first` on, as many as `rows` has, of the columns `from` to `from + depth`. `rows` is followed by three more where the
/// height is no multiple of 4.
pub(super) fn pack_lhs<T: Numeric<Wide = f32>>(
    lhs: &Lines<'_, T>,
    (first, height): (usize, usize),
    (from, depth): (usize, usize),
    rows: &mut [Row],
) {
    if !lhs.turned {
        for (at, row) in rows[..height].iter_mut().enumerate() {
            T::load(lhs.run(first + at, from, depth), &mut row[..depth]);
        }
        return;
    }
    let mut lines = [[0.0; DEPTH]; 4];
    for at in (0..depth).step_by(4) {
        for (line, number) in lines.iter_mut().zip(from + at..from + depth) {
            T::load(lhs.run(number, first, height), &mut line[..height]);
        }
        for (group, rows) in rows.chunks_exact_mut(4).enumerate() {
            let block = turned(lines.each_ref().map(|line| chunk(line, group * 4)));
            for (row, block) in rows.iter_mut().zip(block) {
                row[at..at + 4].copy_from_slice(&block);
            }
        }
    }
}

/// Columns of a matrix as panels: the rows `from` to `from + depth` of the columns `first` to `first + width`. A panel is [`VECTORS`] vectors wide
/// and has room for `depth` rows, rounded up to a multiple of 4. What lies beyond the matrix is any value.
pub(super) struct PackRhs<'r, 'p, T> {
    pub(super) rhs: Lines<'r, T>,
    pub(super) columns: (usize, usize),
    pub(super) rows: (usize, usize),
    pub(super) panels: &'p mut [f32],
}

impl<T: Numeric<Wide = f32>> WithSimd for PackRhs<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { rhs, columns: (first, width), rows: (from, depth), panels } = self;
        let (wide, room) = (VECTORS * S::F32_LANES, depth.next_multiple_of(4));
        if !rhs.turned {
            let mut line = [0.0; COLUMNS];
            let panels = S::as_mut_simd_f32s(panels).0.as_chunks_mut::<VECTORS>().0;
            for at in 0..depth {
                T::load(rhs.run(from + at, first, width), &mut line[..width]);
                let pieces = S::as_simd_f32s(&line[..width.next_multiple_of(wide)]).0.as_chunks::<VECTORS>().0;
                for (panel, piece) in pieces.iter().enumerate() {
                    panels[panel * room + at] = *piece;
                }
            }
            return;
        }
        let mut lines = [[0.0; DEPTH]; 4];
        for group in (0..width).step_by(4) {
            for (line, number) in lines.iter_mut().zip(first + group..first + width) {
                T::load(rhs.run(number, from, depth), &mut line[..depth]);
            }
            for at in (0..depth).step_by(4) {
                for (row, block) in (at..).zip(turned(lines.each_ref().map(|line| chunk(line, at)))) {
                    if wide % 4 == 0 {
                        let place = (group / wide * room + row) * wide + group % wide;
                        panels[place..place + 4].copy_from_slice(&block);
                    } else {
                        for (column, value) in (group..width.next_multiple_of(wide)).zip(block) {
                            panels[(column / wide * room + row) * wide + column % wide] = value;
                        }
                    }
                }
            }
        }
    }
}

#[inline(always)]
fn chunk(line: &[f32; DEPTH], from: usize) -> &[f32; 4] {
    line[from..].first_chunk().expect("blocks end at multiples of 4")
}

/// Columns as rows.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn turned(rows: [&[f32; 4]; 4]) -> [[f32; 4]; 4] {
    use std::arch::x86_64::{_MM_TRANSPOSE4_PS, _mm_loadu_ps, _mm_storeu_ps};
    let mut block = [[0.0; 4]; 4];
    // SAFETY: four floats each; every processor of this architecture has these instructions. Compilers find eight shuffles on their own only
    // rarely.
    unsafe {
        let [mut a, mut b, mut c, mut d] = rows.map(|row| _mm_loadu_ps(row.as_ptr()));
        _MM_TRANSPOSE4_PS(&mut a, &mut b, &mut c, &mut d);
        for (to, from) in block.iter_mut().zip([a, b, c, d]) {
            _mm_storeu_ps(to.as_mut_ptr(), from);
        }
    }
    block
}

/// Columns as rows.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn turned(rows: [&[f32; 4]; 4]) -> [[f32; 4]; 4] {
    std::array::from_fn(|column| rows.map(|row| row[column]))
}
