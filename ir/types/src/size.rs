//! Element counts and bytes.

use crate::dim::{DimKind, DimOp};
use crate::{Dim, TensorType, Type, TypeError, TypeKind};

/// An integer factor and the other factors of a product of dims.
fn factors<'c>(dims: &[Dim<'c>]) -> Option<(i128, Vec<Dim<'c>>)> {
    let (mut constant, mut symbolic) = (1i128, Vec::new());
    let mut stack = dims.to_vec();
    while let Some(dim) = stack.pop() {
        match *dim.data() {
            DimKind::Const(value) => constant = constant.checked_mul(value.into())?,
            DimKind::Op(DimOp::Mul, a, b) => stack.extend([a, b]),
            _ => symbolic.push(dim),
        }
    }
    Some((constant, symbolic))
}

/// Whether two shapes hold the same number of elements: equal integer parts and the same symbolic factors in any
/// order. Undecidable counts as unequal.
#[must_use]
pub fn same_element_count<'c>(lhs: &[Dim<'c>], rhs: &[Dim<'c>]) -> bool {
    let (Some((a, xs)), Some((b, mut ys))) = (factors(lhs), factors(rhs)) else { return false };
    if a == 0 && b == 0 {
        return true;
    }
    let all_found = xs.iter().all(|x| ys.iter().position(|y| y == x).map(|at| ys.swap_remove(at)).is_some());
    a == b && all_found && ys.is_empty()
}

impl TensorType<'_> {
    /// Product of the logical extents; 1 at rank 0.
    ///
    /// # Errors
    /// A symbolic or negative extent, or a count beyond `i64`.
    pub fn numel(&self) -> Result<i64, TypeError> {
        self.shape.iter().try_fold(1i64, |count, &extent| {
            let value = extent
                .as_const()
                .ok_or_else(|| TypeError::new(format!("the size of {self} depends on the symbolic extent {extent}")))?;
            if value < 0 {
                return Err(TypeError::new(format!("the size of {self} is unknown: extent {value} is negative")));
            }
            count.checked_mul(value).ok_or_else(|| TypeError::new(format!("the size of {self} is beyond 64 bits")))
        })
    }

    /// `ceil(numel * bits / 8)`, a logical size.
    ///
    /// # Errors
    /// As [`TensorType::numel`].
    pub fn bytes(&self) -> Result<i64, TypeError> {
        let bits = i128::from(self.numel()?) * i128::from(self.dtype.bits());
        i64::try_from((bits + 7) / 8).map_err(|_| TypeError::new(format!("the size of {self} is beyond 64 bits")))
    }
}

impl<'c> Type<'c> {
    /// The tensor types below tuples, left to right.
    pub fn leaves(self) -> Vec<&'c TensorType<'c>> {
        let (mut leaves, mut stack) = (Vec::new(), vec![self]);
        while let Some(ty) = stack.pop() {
            match ty.data() {
                TypeKind::Tensor(tensor) => leaves.push(tensor),
                TypeKind::Tuple(fields) => stack.extend(fields.iter().rev()),
                TypeKind::Unit | TypeKind::Callable { .. } => {}
            }
        }
        leaves
    }

    /// Elements of all tensor leaves; 0 without any.
    ///
    /// # Errors
    /// As [`TensorType::numel`].
    pub fn numel(self) -> Result<i64, TypeError> {
        sum(self.leaves().into_iter().map(TensorType::numel))
    }

    /// Bytes of all tensor leaves; 0 without any.
    ///
    /// # Errors
    /// As [`TensorType::numel`].
    pub fn bytes(self) -> Result<i64, TypeError> {
        sum(self.leaves().into_iter().map(TensorType::bytes))
    }
}

fn sum(mut values: impl Iterator<Item = Result<i64, TypeError>>) -> Result<i64, TypeError> {
    values.try_fold(0i64, |total, value| {
        total.checked_add(value?).ok_or_else(|| TypeError::new("the size of the tuple is beyond 64 bits"))
    })
}

#[cfg(test)]
mod tests {
    use super::same_element_count;
    use crate::test_util::dims;
    use crate::{Arena, DType, Storage, TypeContext};

    #[test]
    fn sizes() {
        let arena = Arena::new();
        let cx = &TypeContext::new(&arena);
        let tensor = |shape, dtype| cx.tensor(dims(cx, shape), dtype, None, Storage::Gmem);
        let size = |ty: crate::Type<'_>| (ty.numel().unwrap(), ty.bytes().unwrap());
        assert_eq!(size(tensor("16 128", DType::F32)), (2048, 8192));
        assert_eq!(size(tensor("3 5", DType::F4E2M1)), (15, 8));
        assert_eq!(size(tensor("9", DType::Bool)), (9, 2));
        assert_eq!(size(tensor("", DType::BF16)), (1, 2));
        assert_eq!(size(cx.tuple(&[tensor("4", DType::F32), tensor("9", DType::Bool)])), (13, 18));
        assert_eq!(size(tensor("0 7", DType::F32)), (0, 0));
        assert_eq!(size(cx.unit()), (0, 0));
        let refusal = |shape| tensor(shape, DType::F32).bytes().unwrap_err().message;
        assert_eq!(refusal("S 7"), r#"the size of Tensor[(S, 7), "f32"] depends on the symbolic extent S"#);
        assert_eq!(refusal("-2 7"), r#"the size of Tensor[(-2, 7), "f32"] is unknown: extent -2 is negative"#);
        assert_eq!(
            refusal("9223372036854775807 9"),
            r#"the size of Tensor[(9223372036854775807, 9), "f32"] is beyond 64 bits"#
        );
        let large = tensor("9223372036854775807", DType::BF16);
        assert!(large.bytes().unwrap_err().message.ends_with("is beyond 64 bits"));
        let pair = cx.tuple(&[large, large]);
        assert_eq!(pair.numel().unwrap_err().message, "the size of the tuple is beyond 64 bits");
    }

    #[test]
    fn element_counts_compare_factor_by_factor() {
        let arena = Arena::new();
        let cx = &TypeContext::new(&arena);
        let same = |a, b| same_element_count(dims(cx, a), dims(cx, b));
        assert!(same("12 64", "6 2 32 2"));
        assert!(!same("12 64", "6 64"));
        assert!(same("S T 4", "2 T 2 S"));
        assert!(!same("S T 4", "2 T 2 T"));
        let eight = cx.dim_mul(cx.dim(8), dims(cx, "S")[0]);
        assert!(same_element_count(&[eight], dims(cx, "S 8")));
    }
}
