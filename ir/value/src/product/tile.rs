//! Products of packed blocks: a tile of the result lies in registers while a block of the inner axis goes by.

use pulp::{Simd, WithSimd};

/// Elements of the inner axis in a block; the rows of a tile and a panel of columns of that depth share the first-level cache.
pub(super) const DEPTH: usize = 256;
/// Rows of a tile where there are 32 vector registers.
const ROWS: usize = 12;
/// Vectors of a row of a tile.
pub(super) const VECTORS: usize = 2;

/// A row of the left block. Longer than the block, so that rows do not all fall into the same lines of the cache.
pub(super) type Row = [f32; DEPTH + 16];
pub(super) const EMPTY: Row = [0.0; DEPTH + 16];

/// The product of two blocks.
pub(super) struct Product<'a> {
    /// Rows of the left block.
    pub(super) lhs: &'a [Row],
    /// Panels of the right one, each [`VECTORS`] vectors wide and `room` rows long.
    pub(super) rhs: &'a [f32],
    /// Rows of a panel that there is room for.
    pub(super) room: usize,
    /// Extent of the inner axis, at most [`DEPTH`] and `room`.
    pub(super) depth: usize,
    pub(super) out: Out,
    /// Whether the product is added to what `out` holds.
    pub(super) add: bool,
}

/// Part of a row-major matrix: where it begins, the distance of its rows, and how many columns it has.
#[derive(Clone, Copy)]
pub(super) struct Out {
    pub(super) start: *mut f32,
    pub(super) stride: usize,
    pub(super) columns: usize,
}

impl Product<'_> {
    /// # Safety
    /// `out` has as many rows as `lhs`, all its own, and holds values if the product is added to them.
    pub(super) unsafe fn run(self) {
        pulp::Arch::new().dispatch(self);
    }
}

impl WithSimd for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let width = VECTORS * S::F32_LANES;
        let most = if S::REGISTER_COUNT < 32 { ROWS / 2 } else { ROWS };
        let (panels, _) = S::as_simd_f32s(self.rhs).0.as_chunks::<VECTORS>();
        for (group, rows) in self.lhs.chunks(most).enumerate() {
            for (at, panel) in (0..self.out.columns).step_by(width).zip(panels.chunks(self.room)) {
                let columns = width.min(self.out.columns - at);
                // SAFETY: a tile within `out`, by the caller's promise.
                let start = unsafe { self.out.start.add(group * most * self.out.stride + at) };
                let (panel, out) = (&panel[..self.depth], Out { start, columns, ..self.out });
                macro_rules! rows {
                    ($($count:literal)+) => {
                        match rows.len() {
                            $($count => tile::<S, $count>(simd, rows.first_chunk().expect("so many"), panel, out, self.add),)+
                            _ => unreachable!("a group has 1 to {ROWS} rows"),
                        }
                    };
                }
                rows!(1 2 3 4 5 6 7 8 9 10 11 12);
            }
        }
    }
}

#[inline(always)]
fn tile<S: Simd, const N: usize>(simd: S, lhs: &[Row; N], rhs: &[[S::f32s; VECTORS]], out: Out, add: bool) {
    let mut sums = [[simd.splat_f32s(0.0); VECTORS]; N];
    for (at, rhs) in (0..DEPTH).zip(rhs) {
        for (row, sums) in lhs.iter().zip(&mut sums) {
            let factor = simd.splat_f32s(row[at]);
            for (sum, &rhs) in sums.iter_mut().zip(rhs) {
                *sum = simd.mul_add_f32s(factor, rhs, *sum);
            }
        }
    }
    for (at, sums) in sums.into_iter().enumerate() {
        // SAFETY: the caller's promise to `Product::run`.
        unsafe { put(simd, sums, out.start.add(at * out.stride), out.columns, add) };
    }
}

/// Writes the first `columns` of `sums`, or adds them.
#[inline(always)]
unsafe fn put<S: Simd>(simd: S, sums: [S::f32s; VECTORS], out: *mut f32, columns: usize, add: bool) {
    if columns == VECTORS * S::F32_LANES {
        for (at, sum) in sums.into_iter().enumerate() {
            // SAFETY: these are columns of `out`, which hold values if they are read.
            unsafe {
                let out = out.add(at * S::F32_LANES).cast::<S::f32s>();
                out.write_unaligned(if add { simd.add_f32s(out.read_unaligned(), sum) } else { sum });
            }
        }
    } else {
        let mut row = [0.0; VECTORS * 16];
        for (sum, part) in sums.into_iter().zip(row.chunks_mut(S::F32_LANES)) {
            simd.partial_store_f32s(part, sum);
        }
        for (at, &sum) in row[..columns].iter().enumerate() {
            // SAFETY: as above.
            unsafe {
                let out = out.add(at);
                out.write(if add { out.read() + sum } else { sum });
            }
        }
    }
}
