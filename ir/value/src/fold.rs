//! Folds of elements along an axis.
//!
//! Elements are folded in a fixed order that depends on the dtype and the shape only: up to 64 lanes within a block, blocks in sequence within a
//! piece of fixed length, pieces pairwise. So long sums stay accurate, and threads do not matter.

use std::ops::Range;

use rayon::prelude::*;

use crate::element::Numeric;
use crate::kernel::{BLOCK, CHUNK, each_pair};
use crate::vector::vectorized;

/// Independent partial results within a long block and a shorter one; fixed numbers, so that the order of folding is. Several vectors of them,
/// because a vector waits some cycles for its last result.
const LANES: usize = 64;
const FEW_LANES: usize = 16;
/// Elements folded by lanes; more of them would be summed one after the other for too long.
pub(crate) const SPAN: usize = 1 << 12;
/// Columns of one task when the reduced axis is not the innermost; their totals stay in the first-level cache.
const COLUMNS: usize = 1024;
/// Rows folded one after the other; longer runs are halved.
const ROWS: usize = 64;

/// An associative fold. Function pointers, so that the loops over tensors are compiled once for each element type.
pub(crate) struct Fold<W> {
    /// The identity.
    pub(crate) start: W,
    /// Folds up to [`SPAN`] elements.
    pub(crate) block: fn(&[W]) -> W,
    /// Folds a row into the totals of its columns.
    pub(crate) row: fn(&mut [W], &[W]),
    /// Joins two results.
    pub(crate) join: fn(W, W) -> W,
}

/// The fold with `$join` of `$term` of each element; `$start` is the identity.
macro_rules! fold_of {
    ($start:expr, $term:expr, $join:expr) => {
        $crate::fold::Fold {
            start: $start,
            block: |elements| $crate::fold::fold_block(elements, $start, $term, $join),
            row: |totals, elements| {
                $crate::kernel::each_pair(totals, elements, |total, element| $join(total, $term(element)))
            },
            join: $join,
        }
    };
}

pub(crate) use fold_of;

/// Folds up to [`SPAN`] elements.
pub(crate) fn fold_block<W: Copy>(
    elements: &[W],
    start: W,
    term: impl Fn(W) -> W + Copy,
    join: impl Fn(W, W) -> W + Copy,
) -> W {
    if elements.len() < FEW_LANES {
        return elements.iter().fold(start, |total, &element| join(total, term(element)));
    }
    vectorized(
        #[inline(always)]
        move || match elements.len() < 4 * LANES {
            true => fold_lanes::<W, FEW_LANES>(elements, start, term, join),
            false => fold_lanes::<W, LANES>(elements, start, term, join),
        },
    )
}

#[inline(always)]
fn fold_lanes<W: Copy, const N: usize>(
    elements: &[W],
    start: W,
    term: impl Fn(W) -> W,
    join: impl Fn(W, W) -> W + Copy,
) -> W {
    let mut lanes = [start; N];
    let (whole, rest) = elements.as_chunks::<N>();
    for chunk in whole {
        for (lane, &element) in lanes.iter_mut().zip(chunk) {
            *lane = join(*lane, term(element));
        }
    }
    for (lane, &element) in lanes.iter_mut().zip(rest) {
        *lane = join(*lane, term(element));
    }
    joined(lanes, join)
}

/// One result of all lanes.
#[inline(always)]
pub(crate) fn joined<W: Copy, const N: usize>(mut lanes: [W; N], join: impl Fn(W, W) -> W) -> W {
    let mut width = N / 2;
    while width > 0 {
        for lane in 0..width {
            lanes[lane] = join(lanes[lane], lanes[lane + width]);
        }
        width /= 2;
    }
    lanes[0]
}

impl<W: Copy> Fold<W> {
    /// Folds neighbours until one is left; there is at least one.
    fn pairwise(&self, mut pieces: Vec<W>) -> W {
        while pieces.len() > 1 {
            pieces = pieces.chunks(2).map(|pair| pair[1..].iter().fold(pair[0], |a, &b| (self.join)(a, b))).collect();
        }
        pieces[0]
    }
}

/// `source` is `[outer, red, inner]`, row-major; the middle axis is folded.
pub(crate) fn fold<T: Numeric>(source: &[T], [outer, red, inner]: [usize; 3], fold: &Fold<T::Wide>) -> Vec<T::Wide> {
    if outer == 0 || red == 0 || inner == 0 {
        return vec![fold.start; outer * inner];
    }
    if inner == 1 { fold_rows(source, red, fold) } else { fold_columns(source, [outer, red, inner], fold) }
}

fn fold_rows<T: Numeric>(source: &[T], red: usize, fold: &Fold<T::Wide>) -> Vec<T::Wide> {
    if red <= BLOCK {
        return fold_short_rows(source, red, fold);
    }
    let piece = |elements: &[T]| {
        if let Some(wide) = T::wide_of(elements) {
            return wide.chunks(SPAN).fold(fold.start, |total, span| (fold.join)(total, (fold.block)(span)));
        }
        let mut wide = [T::Wide::default(); BLOCK];
        elements.chunks(BLOCK).fold(fold.start, |total, block| {
            let wide = &mut wide[..block.len()];
            T::load(block, wide);
            (fold.join)(total, (fold.block)(wide))
        })
    };
    let row = |row: &[T]| match row.len() {
        n if n <= CHUNK => piece(row),
        _ => fold.pairwise(row.par_chunks(CHUNK).map(piece).collect()),
    };
    source.par_chunks(red).with_min_len((CHUNK / red).max(1)).map(row).collect()
}

/// Rows of up to [`BLOCK`] elements, several of which are widened together.
fn fold_short_rows<T: Numeric>(source: &[T], red: usize, fold: &Fold<T::Wide>) -> Vec<T::Wide> {
    let together = BLOCK / red;
    let mut totals = vec![fold.start; source.len() / red];
    let blocks = totals.par_chunks_mut(together).zip(source.par_chunks(together * red));
    blocks.with_min_len((CHUNK / (together * red)).max(1)).for_each(|(totals, elements)| {
        let mut room;
        let wide = match T::wide_of(elements) {
            Some(wide) => wide,
            None => {
                room = [T::Wide::default(); BLOCK];
                T::load(elements, &mut room[..elements.len()]);
                &room[..elements.len()]
            }
        };
        for (total, row) in totals.iter_mut().zip(wide.chunks(red)) {
            *total = (fold.join)(fold.start, (fold.block)(row));
        }
    });
    totals
}

fn fold_columns<T: Numeric>(source: &[T], [outer, red, inner]: [usize; 3], fold: &Fold<T::Wide>) -> Vec<T::Wide> {
    let tiles = inner.div_ceil(COLUMNS);
    let tile = |index: usize| {
        let (at, from) = (index / tiles, index % tiles * COLUMNS);
        let width = COLUMNS.min(inner - from);
        let row = |row: usize| {
            let begin = (at * red + row) * inner + from;
            &source[begin..begin + width]
        };
        fold_row_range(&row, 0..red, width, fold)
    };
    let min_tiles = (CHUNK / (red * COLUMNS.min(inner))).max(1);
    let parts: Vec<Vec<T::Wide>> = (0..outer * tiles).into_par_iter().with_min_len(min_tiles).map(tile).collect();
    parts.into_iter().flatten().collect()
}

/// Folds rows of `width` elements column by column, each half of a long range on its own.
fn fold_row_range<'s, T: Numeric>(
    row: &(dyn Fn(usize) -> &'s [T] + Sync),
    range: Range<usize>,
    width: usize,
    fold: &Fold<T::Wide>,
) -> Vec<T::Wide> {
    if range.len() <= ROWS {
        let mut wide = Vec::new();
        let mut totals = vec![fold.start; width];
        for at in range {
            let elements = match T::wide_of(row(at)) {
                Some(elements) => elements,
                None => {
                    wide.resize(width, T::Wide::default());
                    T::load(row(at), &mut wide);
                    &wide
                }
            };
            (fold.row)(&mut totals, elements);
        }
        return totals;
    }
    let middle = range.start + (range.len() / 2).next_multiple_of(ROWS);
    let halves = (range.start..middle, middle..range.end);
    let half = |range| fold_row_range(row, range, width, fold);
    let (mut totals, rest) = match range.len() * width > CHUNK {
        true => rayon::join(|| half(halves.0), || half(halves.1)),
        false => (half(halves.0), half(halves.1)),
    };
    each_pair(&mut totals, &rest, fold.join);
    totals
}
