//! Positions and values of the greatest and least elements along an axis.
//!
//! NaN is greater than every number, all NaNs are equal and so are both zeros; among equals the lowest index comes first.

use std::borrow::Cow;
use std::cmp::Ordering;

use half::{bf16, f16};
use rayon::prelude::*;

use crate::element::{Element, SharedArray};
use crate::kernel::CHUNK;
use crate::tensor::{from_parts, row_major, show_shape};
use crate::{F8E8M0, Fp8E4M3, Tensor, ValueError, normalize_axis, with_array};

/// Up to as many best elements are kept in order while the others go by.
const FEW: usize = 32;

/// The order of elements.
trait Ranked: Element {
    fn rank(self, other: Self) -> Ordering;
}

fn by_value(a: f32, b: f32) -> Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

macro_rules! ranked {
    ($($type:ty => |$a:ident, $b:ident| $order:expr;)+) => {$(
        impl Ranked for $type {
            fn rank(self, other: Self) -> Ordering {
                let ($a, $b) = (self, other);
                $order
            }
        }
    )+};
}

ranked! {
    f32 => |a, b| by_value(a, b);
    f16 => |a, b| by_value(a.to_f32(), b.to_f32());
    bf16 => |a, b| by_value(a.to_f32(), b.to_f32());
    Fp8E4M3 => |a, b| by_value(a.to_f32(), b.to_f32());
    F8E8M0 => |a, b| by_value(a.to_f32(), b.to_f32());
    i32 => |a, b| a.cmp(&b);
    i64 => |a, b| a.cmp(&b);
    bool => |a, b| a.cmp(&b);
}

/// An array as lanes along one axis: `[outer, lane, inner]` elements, row-major.
struct Lanes<'a, T: Clone> {
    elements: Cow<'a, [T]>,
    lane: usize,
    inner: usize,
    count: usize,
}

impl<'a, T: Ranked> Lanes<'a, T> {
    fn new(x: &'a SharedArray<T>, axis: usize) -> Self {
        let (lane, inner) = (x.shape()[axis], x.shape()[axis + 1..].iter().product::<usize>());
        let count = x.shape()[..axis].iter().product::<usize>() * inner;
        Self { elements: row_major(x), lane, inner, count }
    }

    /// The element at `at` of lane `number`.
    fn get(&self, number: usize, at: usize) -> T {
        self.elements[(number / self.inner * self.lane + at) * self.inner + number % self.inner]
    }

    /// The elements of lane `number`; there are some.
    fn lane(&self, number: usize) -> impl Iterator<Item = T> {
        let first = number / self.inner * self.lane * self.inner + number % self.inner;
        self.elements[first..].iter().step_by(self.inner).take(self.lane).copied()
    }

    /// Lanes that one task takes.
    fn grain(&self) -> usize {
        (CHUNK / self.lane.max(1)).max(1)
    }

    fn first_greatest(&self, number: usize) -> i64 {
        let mut best = (0, self.get(number, 0));
        for (at, element) in self.lane(number).enumerate() {
            if element.rank(best.1) == Ordering::Greater {
                best = (at as i64, element);
            }
        }
        best.0
    }

    /// The first `k` indices in order.
    fn leading(&self, number: usize, k: usize, largest: bool) -> Vec<usize> {
        if k == 0 || self.lane == 0 {
            return Vec::new();
        }
        let order = |a: &(usize, T), b: &(usize, T)| {
            let rank = a.1.rank(b.1);
            (if largest { rank.reverse() } else { rank }).then(a.0.cmp(&b.0))
        };
        let elements = self.lane(number).enumerate();
        let mut found: Vec<(usize, T)> = Vec::new();
        if k <= FEW {
            for new in elements {
                // Most elements of a long lane come after all of the best ones.
                if found.len() == k && order(&new, &found[k - 1]) == Ordering::Greater {
                    continue;
                }
                let place = found.partition_point(|old| order(old, &new) == Ordering::Less);
                found.truncate(k - 1);
                found.insert(place, new);
            }
        } else {
            found.extend(elements);
            if k < found.len() {
                found.select_nth_unstable_by(k - 1, order);
                found.truncate(k);
            }
            found.sort_unstable_by(order);
        }
        found.into_iter().map(|(at, _)| at).collect()
    }
}

fn argmax_of<T: Ranked>(x: &SharedArray<T>, axis: usize) -> Tensor {
    let lanes = Lanes::new(x, axis);
    let found: Vec<i64> =
        (0..lanes.count).into_par_iter().with_min_len(lanes.grain()).map(|lane| lanes.first_greatest(lane)).collect();
    let mut shape = x.shape().to_vec();
    shape.remove(axis);
    Tensor::I64(from_parts(&shape, found))
}

fn topk_of<T: Ranked>(x: &SharedArray<T>, axis: usize, k: usize, largest: bool) -> (Tensor, Tensor) {
    let lanes = Lanes::new(x, axis);
    let leading: Vec<Vec<usize>> = (0..lanes.count)
        .into_par_iter()
        .with_min_len(lanes.grain())
        .map(|lane| lanes.leading(lane, k, largest))
        .collect();
    let mut shape = x.shape().to_vec();
    shape[axis] = k;
    let mut values = Vec::with_capacity(lanes.count * k);
    let mut indices = Vec::with_capacity(lanes.count * k);
    for (outer, block) in leading.chunks(lanes.inner.max(1)).enumerate() {
        for at in 0..k {
            for (inner, order) in block.iter().enumerate() {
                values.push(lanes.get(outer * lanes.inner + inner, order[at]));
                indices.push(order[at] as i64);
            }
        }
    }
    (T::wrap(from_parts(&shape, values)), Tensor::I64(from_parts(&shape, indices)))
}

impl Tensor {
    /// The i64 index of the first greatest element along an axis, which disappears.
    ///
    /// # Errors
    /// An axis out of range, or empty.
    pub fn argmax(&self, axis: i64) -> Result<Self, ValueError> {
        let axis = normalize_axis(axis, self.rank())?;
        if self.shape()[axis] == 0 {
            return Err(ValueError::new(format!(
                "argmax over the empty axis {axis} of shape {}",
                show_shape(self.shape())
            )));
        }
        Ok(with_array!(self, x => argmax_of(x, axis)))
    }

    /// The `k` greatest (or least) elements along an axis, best first, and their i64 indices.
    ///
    /// # Errors
    /// An axis out of range; `k` greater than its extent.
    pub fn topk(&self, k: usize, axis: i64, largest: bool) -> Result<(Self, Self), ValueError> {
        let axis = normalize_axis(axis, self.rank())?;
        let extent = self.shape()[axis];
        if k > extent {
            return Err(ValueError::new(format!("topk of {k} exceeds axis {axis} of extent {extent}")));
        }
        Ok(with_array!(self, x => topk_of(x, axis, k, largest)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tf_types::DType;

    use crate::Tensor;

    #[test]
    fn nan_is_greatest_and_ties_take_the_first() {
        let x = Tensor::from_f32(&[2, 4], &[1.0, f32::NAN, 2.0, f32::NAN, -0.0, 0.0, -1.0, 0.0]).unwrap();
        assert_eq!(x.argmax(-1).unwrap().to_vec::<i64>().unwrap(), [1, 0]);
        let (values, indices) = x.topk(3, 1, true).unwrap();
        assert_eq!(indices.to_vec::<i64>().unwrap(), [1, 3, 2, 0, 1, 3]);
        assert!(values.to_f32_vec()[1].is_nan());
        let (_, least) = x.topk(4, 1, false).unwrap();
        assert_eq!(least.to_vec::<i64>().unwrap(), [0, 2, 1, 3, 2, 0, 1, 3]);
    }

    #[test]
    fn empty_extents_and_refusals() {
        let x = Tensor::zeros(&[0, 3], DType::F32).unwrap();
        assert_eq!(x.argmax(1).unwrap().shape(), [0]);
        assert_eq!(x.argmax(0).unwrap_err().message, "argmax over the empty axis 0 of shape (0, 3)");
        let (values, indices) = x.topk(2, 1, true).unwrap();
        assert_eq!((values.shape(), indices.shape()), (&[0, 2][..], &[0, 2][..]));
        assert_eq!(x.topk(4, 1, true).unwrap_err().message, "topk of 4 exceeds axis 1 of extent 3");
        let none = Tensor::zeros(&[3, 0], DType::I32).unwrap().topk(2, 0, true).unwrap();
        assert_eq!(none.0.shape(), [2, 0]);
    }

    /// Few and many best elements of a long lane are the same ones.
    #[test]
    fn any_number_of_best_elements_is_in_one_order() {
        let values: Vec<_> = (0..2 * 900).map(|i| (i * 7919 % 101) as f32).collect();
        let x = Tensor::from_f32(&[2, 900], &values).unwrap();
        for largest in [false, true] {
            let all = x.topk(900, 1, largest).unwrap().1.to_vec::<i64>().unwrap();
            for k in [1, 32, 33, 500] {
                let some = x.topk(k, 1, largest).unwrap().1.to_vec::<i64>().unwrap();
                assert!(some.chunks(k).zip(all.chunks(900)).all(|(some, all)| some == &all[..k]), "{k} {largest}");
            }
        }
    }

    proptest! {
        /// Against a stable sort of every lane.
        #[test]
        fn topk_agrees_with_a_sort(
            values in proptest::collection::vec(-3i32..4, 24), k in 0usize..=4, axis in 0usize..3, largest: bool,
        ) {
            let x = Tensor::from_vec(&[2, 4, 3], values.clone()).unwrap();
            let shape = [2usize, 4, 3];
            let k = k.min(shape[axis]);
            let (got, indices) = x.topk(k, axis as i64, largest).unwrap();
            let mut perm = vec![0, 1, 2];
            perm.swap(axis, 2);
            let lanes = |t: &Tensor| t.permute(&perm).unwrap().cast(DType::I64).unwrap().to_vec::<i64>().unwrap();
            for (lane, elements) in lanes(&x).chunks(shape[axis]).enumerate() {
                let mut order: Vec<usize> = (0..elements.len()).collect();
                order.sort_by_key(|&at| if largest { -elements[at] } else { elements[at] });
                let want: Vec<i64> = order[..k].iter().map(|&at| at as i64).collect();
                prop_assert_eq!(&lanes(&indices)[lane * k..(lane + 1) * k], &want[..]);
                let want: Vec<i64> = order[..k].iter().map(|&at| elements[at]).collect();
                prop_assert_eq!(&lanes(&got)[lane * k..(lane + 1) * k], &want[..]);
            }
            if largest {
                let first = x.argmax(axis as i64).unwrap().to_vec::<i64>().unwrap();
                let top = x.topk(1, axis as i64, true).unwrap().1;
                prop_assert_eq!(first, top.to_vec::<i64>().unwrap());
            }
        }
    }
}
