//! Copies of views into row-major order.

use ndarray::{ArrayView2, ArrayViewD, Axis, Ix2, Slice, s};

use crate::element::Element;
use crate::kernel::{CHUNK, made_in_chunks};

/// Edge of the square tiles in which a plane that lies column by column is copied: every line of the cache is read and written once.
const TILE: usize = 16;
/// Rows of a plane that one task copies at least.
const ROWS: usize = 4 * TILE;

/// The elements of a view in row-major order.
pub(crate) fn gather<T: Element>(view: ArrayViewD<'_, T>) -> Vec<T> {
    let count = view.len();
    if count == 0 {
        return Vec::new();
    }
    let view = compact(view);
    let row = count / view.shape()[0];
    let least = if view.ndim() == 2 { ROWS } else { 1 };
    made_in_chunks(count, row * (CHUNK / row).max(least), &|from, out| {
        let mut part = view.clone();
        let first = from / row;
        part.slice_axis_inplace(Axis(0), Slice::from(first..first + out.len() / row));
        copy(part, out);
    })
}

/// The same elements in the same order with two axes or more; neighbours that move as one axis are one.
fn compact<T>(mut view: ArrayViewD<'_, T>) -> ArrayViewD<'_, T> {
    for outer in (0..view.ndim().saturating_sub(1)).rev() {
        if view.merge_axes(Axis(outer), Axis(outer + 1)) {
            view = view.index_axis_move(Axis(outer), 0);
        }
    }
    while view.ndim() < 2 {
        view = view.insert_axis(Axis(0));
    }
    view
}

fn copy<T: Element>(view: ArrayViewD<'_, T>, out: &mut [T]) {
    if view.ndim() > 2 {
        let part = out.len() / view.shape()[0];
        for (view, out) in view.outer_iter().zip(out.chunks_mut(part)) {
            copy(view, out);
        }
    } else if let Ok(plane) = view.into_dimensionality::<Ix2>() {
        copy_plane(plane, out);
    }
}

fn copy_plane<T: Element>(plane: ArrayView2<'_, T>, out: &mut [T]) {
    let (rows, columns) = plane.dim();
    if plane.strides()[1] == 1 || columns == 1 {
        for (row, out) in plane.rows().into_iter().zip(out.chunks_mut(columns)) {
            match row.to_slice() {
                Some(row) => out.copy_from_slice(row),
                None => out[0] = row[0],
            }
        }
        return;
    }
    for left in (0..columns).step_by(TILE) {
        let width = TILE.min(columns - left);
        for top in (0..rows).step_by(TILE) {
            let height = TILE.min(rows - top);
            let mut tile = [[T::default(); TILE]; TILE];
            for (at, lane) in tile[..width].iter_mut().enumerate() {
                let column = plane.slice(s![top..top + height, left + at]);
                match column.as_slice() {
                    Some(column) => lane[..height].copy_from_slice(column),
                    None => lane.iter_mut().zip(column).for_each(|(to, from)| *to = *from),
                }
            }
            for row in 0..height {
                let out = &mut out[(top + row) * columns + left..][..width];
                for (out, lane) in out.iter_mut().zip(&tile) {
                    *out = lane[row];
                }
            }
        }
    }
}
