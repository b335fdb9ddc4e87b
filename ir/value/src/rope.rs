//! Rotary embedding.

use crate::{Tensor, ValueError, show_shape};

/// The rows of the tables that the positions name, as f32.
fn rows(table: &Tensor, positions: &[i64]) -> Result<Vec<f32>, ValueError> {
    let &[count, width] = table.shape() else {
        let shape = show_shape(table.shape());
        return Err(ValueError::new(format!("rope takes caches of rank 2 (positions, head size), found {shape}")));
    };
    let values = table.to_f32_vec();
    let mut rows = Vec::with_capacity(positions.len() * width);
    for &position in positions {
        let at = usize::try_from(position).ok().filter(|&at| at < count).ok_or_else(|| {
            ValueError::new(format!("rope position {position} is outside the caches of {count} positions"))
        })?;
        rows.extend_from_slice(&values[at * width..(at + 1) * width]);
    }
    Ok(rows)
}

impl Tensor {
    /// `x * cos + rot(x) * sin` with `rot(x) = concat(-x[d/2:], x[:d/2])` of the last axis. This tensor is `(…, s, h, d)`;
    /// `positions`, of any shape, holds the `s` rows of `cos` and `sin` to use. f32 inside, rounded once.
    ///
    /// # Errors
    /// A rank below 3, an odd last axis, tables of another width, another number of positions than `s`, a position
    /// outside the tables, dtypes that are no floats (positions: no integers).
    pub fn rope(self, cos: &Self, sin: &Self, positions: &Self) -> Result<Self, ValueError> {
        let &[.., length, heads, width] = self.shape() else {
            let shape = show_shape(self.shape());
            return Err(ValueError::new(format!("rope takes (…, positions, heads, head size), found {shape}")));
        };
        if width % 2 == 1 {
            return Err(ValueError::new(format!("rope takes an even head size, found {width}")));
        }
        let positions = positions.to_i64_vec()?;
        if positions.len() != length {
            let count = positions.len();
            return Err(ValueError::new(format!("rope takes {length} positions, one for each row, found {count}")));
        }
        for table in [cos, sin] {
            if table.shape().last() != Some(&width) || !table.dtype().is_float() {
                let (dtype, shape) = (table.dtype(), show_shape(table.shape()));
                return Err(ValueError::new(format!(
                    "rope takes caches of floats of head size {width}, found {dtype} of {shape}"
                )));
            }
        }
        let (cos, sin) = (rows(cos, &positions)?, rows(sin, &positions)?);
        let half = width / 2;
        self.map_rows("rope", heads * width, &|at, rows| {
            let first = at % length * width;
            let (cos, sin) = (&cos[first..first + width], &sin[first..first + width]);
            for row in rows.chunks_mut(width) {
                let (low, high) = row.split_at_mut(half);
                for (i, (low, high)) in low.iter_mut().zip(high).enumerate() {
                    let (a, b) = (*low, *high);
                    *low = a * cos[i] - b * sin[i];
                    *high = b * cos[half + i] + a * sin[half + i];
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use tf_types::DType;

    use crate::Tensor;

    #[test]
    fn refusals() {
        let zeros = |shape: &[usize], dtype| Tensor::zeros(shape, dtype).unwrap();
        let of = |x: &[usize], table: &[usize], positions: &[i64]| {
            let positions = Tensor::from_vec(&[positions.len()], positions.to_vec()).unwrap();
            let table = zeros(table, DType::F32);
            zeros(x, DType::F32).rope(&table, &table, &positions).map(|_| ()).map_err(|e| e.message)
        };
        assert_eq!(of(&[1, 2, 1, 4], &[8, 4], &[7, 0]), Ok(()));
        assert_eq!(
            of(&[1, 2, 1, 4], &[8, 4], &[8, 0]).unwrap_err(),
            "rope position 8 is outside the caches of 8 positions"
        );
        assert!(of(&[1, 2, 1, 4], &[8, 4], &[0, -1]).unwrap_err().contains("position -1"));
        assert!(of(&[1, 2, 1, 5], &[8, 5], &[0, 0]).unwrap_err().contains("even head size, found 5"));
        assert!(of(&[1, 2, 1, 4], &[8, 4], &[0]).unwrap_err().contains("takes 2 positions"));
        assert!(of(&[1, 2, 1, 4], &[8, 6], &[0, 0]).unwrap_err().contains("head size 4, found f32 of (8, 6)"));
        assert!(of(&[2, 4], &[8, 4], &[0, 0]).unwrap_err().contains("found (2, 4)"));
    }
}
