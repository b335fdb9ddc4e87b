//! Reductions over axes.

use std::convert::identity;

use half::{bf16, f16};
use tf_types::DType;
use tf_types::kinds::ReduceKind;

use crate::binary::max_f32;
use crate::element::{Element, Numeric, SharedArray};
use crate::fold::{Fold, fold, fold_of};
use crate::tensor::{from_parts, row_major};
use crate::view::normalize_axis;
use crate::{Fp8E4M3, Tensor, ValueError};

/// A tensor seen as `[outer, red, inner]`, and the shape its reduction has.
struct Plan {
    perm: Option<Vec<usize>>,
    extents: [usize; 3],
    result: Vec<usize>,
}

impl Plan {
    fn new(shape: &[usize], axes: &[i64], keepdim: bool) -> Result<Self, ValueError> {
        let rank = shape.len();
        let mut reduced = vec![false; rank];
        for &axis in axes {
            let at = normalize_axis(axis, rank)?;
            if std::mem::replace(&mut reduced[at], true) {
                return Err(ValueError::new(format!("reduce names axis {at} twice in {axes:?}")));
            }
        }
        let result = (0..rank)
            .filter(|&axis| keepdim || !reduced[axis])
            .map(|axis| if reduced[axis] { 1 } else { shape[axis] })
            .collect();
        let product = |axes: &[usize]| axes.iter().map(|&axis| shape[axis]).product::<usize>();
        let (gone, kept): (Vec<usize>, Vec<usize>) = (0..rank).partition(|&axis| reduced[axis]);
        let together = gone.windows(2).all(|pair| pair[1] == pair[0] + 1);
        if together {
            let first = gone.first().copied().unwrap_or(rank);
            let (outer, inner) = kept.split_at(first.min(kept.len()));
            return Ok(Self { perm: None, extents: [product(outer), product(&gone), product(inner)], result });
        }
        let extents = [product(&kept), product(&gone), 1];
        Ok(Self { perm: Some(kept.into_iter().chain(gone).collect()), extents, result })
    }
}

/// Least value of a float dtype: -inf, or the most negative finite value where infinities are absent.
trait Least: Numeric<Wide = f32> {
    const LEAST: f32 = f32::NEG_INFINITY;
}
impl Least for f32 {}
impl Least for f16 {}
impl Least for bf16 {}
impl Least for Fp8E4M3 {
    const LEAST: f32 = -Self::MAX;
}

fn finish<T: Numeric>(plan: &Plan, values: &[T::Wide]) -> Tensor {
    let mut elements = vec![T::default(); values.len()];
    T::store(values, &mut elements);
    T::wrap(from_parts(&plan.result, elements))
}

fn floats<T: Least>(x: &SharedArray<T>, plan: &Plan, kind: ReduceKind) -> Tensor {
    let sum = fold_of!(0.0, identity, |a: f32, b: f32| a + b);
    let chosen = match kind {
        ReduceKind::Sum | ReduceKind::Mean => sum,
        // The start is the dtype's own least value; the lanes may start lower, no element does.
        ReduceKind::Max => Fold { start: T::LEAST, ..fold_of!(f32::NEG_INFINITY, identity, max_f32) },
        ReduceKind::AbsMax => fold_of!(0.0, f32::abs, max_f32),
    };
    let mut values = fold(&row_major(x), plan.extents, &chosen);
    if kind == ReduceKind::Mean {
        let count = plan.extents[1] as f32;
        values.iter_mut().for_each(|total| *total /= count);
    }
    finish::<T>(plan, &values)
}

macro_rules! integers {
    ($name:ident, $type:ty) => {
        fn $name(x: &SharedArray<$type>, plan: &Plan, kind: ReduceKind) -> Result<Tensor, ValueError> {
            let chosen = match kind {
                ReduceKind::Sum => fold_of!(0, identity, <$type>::wrapping_add),
                ReduceKind::Max => fold_of!(<$type>::MIN, identity, <$type>::max),
                // The absolute value of the least integer wraps to itself, so 0 is the identity of an empty axis only.
                ReduceKind::AbsMax if plan.extents[1] == 0 => fold_of!(0, identity, <$type>::max),
                ReduceKind::AbsMax => fold_of!(<$type>::MIN, <$type>::wrapping_abs, <$type>::max),
                ReduceKind::Mean => {
                    return Err(refused(kind, "floats", <$type>::DTYPE).with_help("cast to a float dtype first"));
                }
            };
            Ok(finish::<$type>(plan, &fold(&row_major(x), plan.extents, &chosen)))
        }
    };
}

integers!(ints, i32);
integers!(longs, i64);

fn refused(kind: ReduceKind, takes: &str, found: DType) -> ValueError {
    ValueError::new(format!("reduce of kind `{kind}` takes {takes}, found {found}"))
}

impl Tensor {
    /// Combines the elements along `axes` (negative ones count from the end); a reduced axis becomes 1 (`keepdim`) or disappears. The dtype
    /// stays; floats accumulate in f32 and are rounded once. An empty axis gives the kind's identity: MAX the least value, ABS_MAX and SUM 0,
    /// MEAN NaN.
    ///
    /// # Errors
    /// An axis out of range or named twice; MEAN of integers; MEAN, SUM and ABS_MAX of bool.
    pub fn reduce(&self, axes: &[i64], keepdim: bool, kind: ReduceKind) -> Result<Self, ValueError> {
        let plan = Plan::new(self.shape(), axes, keepdim)?;
        let ordered = match &plan.perm {
            Some(perm) => self.permute(perm)?,
            None => self.clone(),
        };
        match &ordered {
            Self::F32(x) => Ok(floats(x, &plan, kind)),
            Self::F16(x) => Ok(floats(x, &plan, kind)),
            Self::BF16(x) => Ok(floats(x, &plan, kind)),
            Self::Fp8E4M3(x) => Ok(floats(x, &plan, kind)),
            Self::F8E8M0(_) => match (kind, plan.extents[1]) {
                // The dtype's least value, 2^-127, is its smallest.
                (ReduceKind::Max, 0) => Self::zeros(&plan.result, DType::F8E8M0),
                _ => self.cast(DType::F32)?.reduce(axes, keepdim, kind)?.cast(DType::F8E8M0),
            },
            Self::I32(x) => ints(x, &plan, kind),
            Self::I64(x) => longs(x, &plan, kind),
            Self::Bool(x) => match kind {
                ReduceKind::Max => {
                    let any = fold_of!(false, identity, |a: bool, b: bool| a || b);
                    Ok(finish::<bool>(&plan, &fold(&row_major(x), plan.extents, &any)))
                }
                _ => Err(refused(kind, "numbers", DType::Bool)),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use tf_types::DType;
    use tf_types::kinds::ReduceKind;

    use crate::Tensor;

    /// Sums of integers (exact) over every set of axes against index arithmetic.
    #[test]
    fn sums_agree_with_indices() {
        let shape = [3, 5, 2, 300];
        let x = Tensor::from_vec(&shape, (0..9000i64).map(|i| i * 7919 % 10_007).collect()).unwrap();
        let elements = x.to_vec::<i64>().unwrap();
        for mask in 0..16u32 {
            let axes: Vec<i64> = (0..4).filter(|axis| mask & (1 << axis) != 0).collect();
            let kept: Vec<usize> = (0..4).filter(|axis| mask & (1 << axis) == 0).collect();
            let got = x.reduce(&axes, false, ReduceKind::Sum).unwrap();
            let mut want = vec![0i64; got.len()];
            for (flat, element) in elements.iter().enumerate() {
                let index = [flat / 3000, flat / 600 % 5, flat / 300 % 2, flat % 300];
                want[kept.iter().fold(0, |at, &axis| at * shape[axis] + index[axis])] += element;
            }
            assert_eq!(got.to_vec::<i64>().unwrap(), want, "axes {axes:?}");
        }
    }

    /// Rows of every length are widened alike; sums of small integers are exact.
    #[test]
    fn rows_of_narrow_floats_are_summed_in_f32() {
        for length in [1, 3, 16, 255, 511, 512, 513, 1100] {
            let values: Vec<_> = (0..70 * length).map(|i| (i * 37 % 13) as f32 - 6.0).collect();
            let wide = Tensor::from_f32(&[70, length], &values).unwrap();
            for dtype in [DType::BF16, DType::F16] {
                for kind in [ReduceKind::Sum, ReduceKind::Max, ReduceKind::AbsMax, ReduceKind::Mean] {
                    let got = wide.cast(dtype).unwrap().reduce(&[1], false, kind).unwrap();
                    let want = wide.reduce(&[1], false, kind).unwrap().cast(dtype).unwrap();
                    assert_eq!(got.to_le_bytes(), want.to_le_bytes(), "{length} {dtype} {kind:?}");
                }
            }
        }
    }

    #[test]
    fn long_sums_stay_accurate_and_deterministic() {
        let n = 1_000_003;
        let x = Tensor::full(&[n], 0.1f32).unwrap();
        let got = x.reduce(&[0], false, ReduceKind::Sum).unwrap().to_f32_vec()[0];
        assert!((f64::from(got) / (f64::from(0.1f32) * n as f64) - 1.0).abs() < 1e-6, "{got}");
        let column = x.reshape(&[n, 1]).unwrap().broadcast_to(&[n, 2]).unwrap();
        let got = column.reduce(&[0], false, ReduceKind::Sum).unwrap().to_f32_vec();
        assert!((f64::from(got[1]) / (f64::from(0.1f32) * n as f64) - 1.0).abs() < 1e-5, "{got:?}");
    }

    #[test]
    fn thread_counts_do_not_matter() {
        let values: Vec<f32> = (0..600_000).map(|i| ((i % 100_003) as f32).sin()).collect();
        let x = Tensor::from_f32(&[300, 2000], &values).unwrap();
        let compute = || {
            let sums =
                [&[0][..], &[1], &[0, 1]].map(|axes| x.reduce(axes, true, ReduceKind::Sum).unwrap().to_le_bytes());
            let product = x.matmul(&x.permute(&[1, 0]).unwrap()).unwrap().to_le_bytes();
            (sums, product)
        };
        let with = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(compute);
        let alone = with(1);
        assert!([2, 3, 5].into_iter().all(|threads| with(threads) == alone));
    }

    #[test]
    fn refusals() {
        let of = |dtype, kind| {
            Tensor::zeros(&[2, 2], dtype).unwrap().reduce(&[1], true, kind).map(|_| ()).map_err(|e| e.message)
        };
        assert_eq!(of(DType::I32, ReduceKind::Mean), Err("reduce of kind `mean` takes floats, found i32".into()));
        assert_eq!(of(DType::Bool, ReduceKind::Sum), Err("reduce of kind `sum` takes numbers, found bool".into()));
        let x = Tensor::zeros(&[2, 2], DType::F32).unwrap();
        let error = x.reduce(&[1, -1], true, ReduceKind::Sum).unwrap_err();
        assert_eq!(error.message, "reduce names axis 1 twice in [1, -1]");
        let error = x.reduce(&[2], true, ReduceKind::Sum).unwrap_err();
        assert_eq!(error.message, "axis 2 is out of range for rank 2");
    }

    #[test]
    fn nan_wins_in_every_lane() {
        for at in 0..40 {
            let mut elements = vec![1.0f32; 40];
            elements[at] = f32::NAN;
            let x = Tensor::from_f32(&[40], &elements).unwrap();
            for kind in [ReduceKind::Max, ReduceKind::AbsMax] {
                assert!(x.reduce(&[0], false, kind).unwrap().to_f32_vec()[0].is_nan());
            }
        }
    }
}
