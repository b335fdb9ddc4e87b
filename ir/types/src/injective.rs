//! Whether a layout keeps its elements apart.

use crate::Layout;

/// Elements that are compared one by one.
const MOST: usize = 1 << 16;

impl Layout<'_> {
    /// Whether no two coordinates have one offset; `None` where that depends on symbols, strides are missing or there
    /// are too many elements to tell.
    #[must_use]
    pub fn is_injective(self) -> Option<bool> {
        let (shape, strides) = (self.static_shape()?, self.static_strides()?);
        if shape.contains(&0) {
            return Some(true);
        }
        let mut axes: Vec<(i64, i64)> = shape.into_iter().zip(strides).filter(|(extent, _)| *extent > 1).collect();
        if axes.iter().any(|(_, stride)| *stride == 0) {
            return Some(false);
        }
        axes.sort_by_key(|(_, stride)| stride.unsigned_abs());
        // Each axis steps over all that the smaller ones reach.
        let mut reach = 0u128;
        let is_nested = axes.iter().all(|&(extent, stride)| {
            let steps_over = u128::from(stride.unsigned_abs()) > reach;
            reach += u128::from(stride.unsigned_abs()) * (extent as u128 - 1);
            steps_over
        });
        if is_nested {
            return Some(true);
        }
        let mut offsets = vec![0i128];
        for (extent, stride) in axes {
            if offsets.len().checked_mul(usize::try_from(extent).ok()?)? > MOST {
                return None;
            }
            let steps = (0..extent).map(|step| i128::from(step) * i128::from(stride));
            offsets = steps.flat_map(|step| offsets.iter().map(move |offset| offset + step)).collect();
        }
        offsets.sort_unstable();
        Some(offsets.windows(2).all(|pair| pair[0] != pair[1]))
    }
}

#[cfg(test)]
mod tests {
    use crate::test_util::dims;
    use crate::{Arena, TypeContext};

    #[test]
    fn elements_are_apart() {
        let arena = Arena::new();
        let cx = &TypeContext::new(&arena);
        let of = |shape, strides| cx.layout(dims(cx, shape), Some(dims(cx, strides))).is_injective();
        assert_eq!(of("16 64", "64 1"), Some(true));
        assert_eq!(of("16 64", "1 16"), Some(true));
        assert_eq!(of("5 3", "3 8"), Some(true));
        assert_eq!(of("1 64", "0 1"), Some(true));
        assert_eq!(of("0 64", "0 0"), Some(true));
        assert_eq!(of("16 64", "0 1"), Some(false));
        assert_eq!(of("16 64", "32 1"), Some(false));
        assert_eq!(of("300 300", "7 6"), None);
        assert_eq!(of("S 2", "2 1"), None);
        assert_eq!(cx.layout(dims(cx, "4"), None).is_injective(), None);
    }
}
