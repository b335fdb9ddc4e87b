//! [`Tensor`]: an n-d array of one dtype.

use half::{bf16, f16};
use ndarray::{ArrayD, IxDyn};
use tf_types::DType;

use crate::element::{Element, SharedArray};
use crate::gather::gather;
use crate::{F8E8M0, Fp8E4M3, ValueError};

/// A typed n-d array. Clones, slices, permutations and (where the elements lie in row-major order) reshapes share storage.
#[derive(Clone, Debug)]
pub enum Tensor {
    /// IEEE binary32.
    F32(SharedArray<f32>),
    /// IEEE binary16.
    F16(SharedArray<f16>),
    /// bfloat16.
    BF16(SharedArray<bf16>),
    /// `float8_e4m3fn`.
    Fp8E4M3(SharedArray<Fp8E4M3>),
    /// Powers of two.
    F8E8M0(SharedArray<F8E8M0>),
    /// Signed 32-bit.
    I32(SharedArray<i32>),
    /// Signed 64-bit.
    I64(SharedArray<i64>),
    /// Truth values.
    Bool(SharedArray<bool>),
}

/// Evaluates an expression with `$array` bound to the typed array ([`SharedArray<T>`]) of a tensor, whatever its dtype.
#[macro_export]
macro_rules! with_array {
    ($tensor:expr, $array:ident => $body:expr) => {
        match $tensor {
            $crate::Tensor::F32($array) => $body,
            $crate::Tensor::F16($array) => $body,
            $crate::Tensor::BF16($array) => $body,
            $crate::Tensor::Fp8E4M3($array) => $body,
            $crate::Tensor::F8E8M0($array) => $body,
            $crate::Tensor::I32($array) => $body,
            $crate::Tensor::I64($array) => $body,
            $crate::Tensor::Bool($array) => $body,
        }
    };
}

/// Evaluates an expression with `$type` naming the host type of a dtype. `f4e2m1` has none and returns a refusal from the function around.
macro_rules! with_dtype {
    ($dtype:expr, $type:ident => $body:expr) => {
        with_dtype!(@each $dtype, $type => $body, F32: f32, F16: f16, BF16: bf16, Fp8E4M3: Fp8E4M3, F8E8M0: F8E8M0, I32: i32, I64: i64, Bool: bool)
    };
    (@each $dtype:expr, $type:ident => $body:expr, $($variant:ident: $host:ty),+) => {
        match $dtype {
            $(DType::$variant => {
                type $type = $host;
                $body
            })+
            DType::F4E2M1 => return Err(f4e2m1_refused()),
        }
    };
}

/// The refusal of a value of dtype `f4e2m1`.
#[must_use]
pub fn f4e2m1_refused() -> ValueError {
    ValueError::new("f4e2m1 has no values in the evaluator").with_help("use fp8e4m3")
}

/// Requests of fewer bytes than these are made without asking first.
const SMALL: usize = 1 << 29;

/// How many elements a shape has, each of which is about to take `width` bytes (0: no storage is made).
///
/// # Errors
/// More than fit the memory: an allocation that fails later would end the process.
pub fn element_count(shape: &[usize], width: usize) -> Result<usize, ValueError> {
    // Zero extents do not excuse the others: ndarray wants the product of the non-zero ones to fit too.
    let all = shape.iter().filter(|&&n| n != 0).try_fold(1usize, |count, &n| count.checked_mul(n));
    let fits = |count: usize| {
        let bytes = count.checked_mul(width);
        bytes.is_some_and(|bytes| bytes < SMALL || Vec::<u8>::new().try_reserve_exact(bytes).is_ok())
    };
    let is_empty = shape.contains(&0);
    match all {
        Some(count) if count <= isize::MAX as usize / 8 && (is_empty || fits(count)) => {
            Ok(if is_empty { 0 } else { count })
        }
        _ => Err(ValueError::new(format!(
            "a tensor of shape {} is too large for this machine's memory",
            show_shape(shape)
        ))),
    }
}

/// A shape as the language writes it: `(4, 6)`, `(4,)`, `()`.
#[must_use]
pub fn show_shape(shape: &[usize]) -> String {
    match shape {
        [one] => format!("({one},)"),
        _ => format!("({})", shape.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
    }
}

impl Tensor {
    /// A tensor of these elements in row-major order.
    ///
    /// # Errors
    /// Another number of elements than the shape has.
    pub fn from_vec<T: Element>(shape: &[usize], elements: Vec<T>) -> Result<Self, ValueError> {
        let count = elements.len();
        if element_count(shape, 0)? != count {
            return Err(ValueError::new(format!(
                "a tensor of shape {} cannot hold {count} elements",
                show_shape(shape)
            )));
        }
        Ok(T::wrap(from_parts(shape, elements)))
    }

    /// An f32 tensor of these elements in row-major order.
    ///
    /// # Errors
    /// Another number of elements than the shape has.
    pub fn from_f32(shape: &[usize], elements: &[f32]) -> Result<Self, ValueError> {
        Self::from_vec(shape, elements.to_vec())
    }

    /// A tensor with the same value everywhere.
    ///
    /// # Errors
    /// A shape too large for memory.
    pub fn full<T: Element>(shape: &[usize], value: T) -> Result<Self, ValueError> {
        Ok(T::wrap(from_parts(shape, vec![value; element_count(shape, T::BYTES)?])))
    }

    /// Zeros (`false`; `2^-127` for f8e8m0, which has no zero).
    ///
    /// # Errors
    /// `f4e2m1`; a shape too large for memory.
    pub fn zeros(shape: &[usize], dtype: DType) -> Result<Self, ValueError> {
        with_dtype!(dtype, T => Self::full(shape, T::default()))
    }

    /// A rank-0 tensor.
    #[must_use]
    pub fn scalar<T: Element>(value: T) -> Self {
        T::wrap(from_parts(&[], vec![value]))
    }

    /// A rank-0 tensor of `dtype` from a number, cast as [`Tensor::cast`] casts an f32.
    ///
    /// # Errors
    /// `f4e2m1`; a negative number for `f8e8m0`.
    pub fn scalar_from_f64(value: f64, dtype: DType) -> Result<Self, ValueError> {
        Self::scalar(value as f32).cast(dtype)
    }

    /// A rank-0 tensor of `dtype` from an integer, cast as [`Tensor::cast`] casts an i64.
    ///
    /// # Errors
    /// `f4e2m1`; a negative number for `f8e8m0`.
    pub fn scalar_from_i64(value: i64, dtype: DType) -> Result<Self, ValueError> {
        Self::scalar(value).cast(dtype)
    }

    /// A tensor from the little-endian bytes of its elements in row-major order; bool is one byte, non-zero is true.
    ///
    /// # Errors
    /// `f4e2m1`; another number of bytes than the shape needs.
    pub fn from_le_bytes(shape: &[usize], dtype: DType, bytes: &[u8]) -> Result<Self, ValueError> {
        with_dtype!(dtype, T => {
            let width = <T as Element>::BYTES;
            let count = element_count(shape, width)?;
            if count.checked_mul(width) != Some(bytes.len()) {
                let (len, shape) = (bytes.len(), show_shape(shape));
                return Err(ValueError::new(format!("{len} bytes cannot be {dtype} of shape {shape}: {count} elements of {width} bytes")));
            }
            Self::from_vec(shape, bytes.chunks_exact(width).map(<T as Element>::read_le).collect())
        })
    }

    /// The elements' little-endian bytes in row-major order; bool is one byte, 0 or 1.
    #[must_use]
    pub fn to_le_bytes(&self) -> Vec<u8> {
        fn bytes<T: Element>(array: &SharedArray<T>) -> Vec<u8> {
            let mut bytes = Vec::with_capacity(array.len() * T::BYTES);
            for &element in row_major(array).iter() {
                element.write_le(&mut bytes);
            }
            bytes
        }
        with_array!(self, array => bytes(array))
    }

    /// Extents, outermost first.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        with_array!(self, array => array.shape())
    }

    /// Number of axes.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.shape().len()
    }

    /// Bytes of an element in memory.
    pub(crate) fn width(&self) -> usize {
        fn of<T: Element>(_: &SharedArray<T>) -> usize {
            T::BYTES
        }
        with_array!(self, array => of(array))
    }

    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        with_array!(self, array => array.len())
    }

    /// Whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Element type.
    #[must_use]
    pub fn dtype(&self) -> DType {
        match self {
            Self::F32(_) => DType::F32,
            Self::F16(_) => DType::F16,
            Self::BF16(_) => DType::BF16,
            Self::Fp8E4M3(_) => DType::Fp8E4M3,
            Self::F8E8M0(_) => DType::F8E8M0,
            Self::I32(_) => DType::I32,
            Self::I64(_) => DType::I64,
            Self::Bool(_) => DType::Bool,
        }
    }

    /// The typed array, if the dtype is `T`'s.
    #[must_use]
    pub fn array<T: Element>(&self) -> Option<&SharedArray<T>> {
        T::array(self)
    }

    /// The elements in row-major order, if the dtype is `T`'s.
    #[must_use]
    pub fn to_vec<T: Element>(&self) -> Option<Vec<T>> {
        Some(row_major(self.array::<T>()?).into_owned())
    }

    /// The elements in row-major order as f32: exact for floats and bool, rounded for large integers.
    #[must_use]
    pub fn to_f32_vec(&self) -> Vec<f32> {
        self.to_f64_vec().into_iter().map(|x| x as f32).collect()
    }

    /// The elements in row-major order as f64: exact except for integers beyond 2^53.
    #[must_use]
    pub fn to_f64_vec(&self) -> Vec<f64> {
        match &self.contiguous() {
            Self::F32(array) => array.iter().map(|&x| f64::from(x)).collect(),
            Self::F16(array) => array.iter().map(|x| x.to_f64()).collect(),
            Self::BF16(array) => array.iter().map(|x| x.to_f64()).collect(),
            Self::Fp8E4M3(array) => array.iter().map(|x| f64::from(x.to_f32())).collect(),
            Self::F8E8M0(array) => array.iter().map(|x| f64::from(x.to_f32())).collect(),
            Self::I32(array) => array.iter().map(|&x| f64::from(x)).collect(),
            Self::I64(array) => array.iter().map(|&x| x as f64).collect(),
            Self::Bool(array) => array.iter().map(|&x| f64::from(u8::from(x))).collect(),
        }
    }

    /// The elements in row-major order as i64, for integers and bool.
    ///
    /// # Errors
    /// A float dtype.
    pub fn to_i64_vec(&self) -> Result<Vec<i64>, ValueError> {
        match self {
            Self::I32(array) => Ok(array.iter().map(|&x| i64::from(x)).collect()),
            Self::I64(array) => Ok(array.iter().copied().collect()),
            Self::Bool(array) => Ok(array.iter().map(|&x| i64::from(x)).collect()),
            _ => Err(ValueError::new(format!("expected integers, found {}", self.dtype()))),
        }
    }

    /// The one element of an i32 or i64 tensor (a slice start, a position).
    ///
    /// # Errors
    /// Another dtype, or another number of elements.
    pub fn to_index(&self) -> Result<i64, ValueError> {
        match (self.dtype().is_integer(), self.len()) {
            (true, 1) => Ok(self.to_i64_vec()?[0]),
            _ => Err(ValueError::new(format!(
                "expected one i32 or i64 number, found {} of shape {}",
                self.dtype(),
                show_shape(self.shape())
            ))),
        }
    }
}

/// An array of row-major elements whose number is known to be right.
pub(crate) fn from_parts<T: Element>(shape: &[usize], elements: Vec<T>) -> SharedArray<T> {
    filled(IxDyn(shape), elements).into_shared()
}

/// The elements in row-major order, borrowed where they already lie so.
pub(crate) fn row_major<T: Element>(array: &SharedArray<T>) -> std::borrow::Cow<'_, [T]> {
    match array.as_slice() {
        Some(slice) => slice.into(),
        None => gather(array.view()).into(),
    }
}

/// The storage of a row-major array that nobody else holds.
///
/// # Errors
/// The array, where it is shared or lies in another order.
pub(crate) fn reused<T: Element>(array: SharedArray<T>) -> Result<ArrayD<T>, SharedArray<T>> {
    if array.is_standard_layout() { array.try_into_owned_nocopy() } else { Err(array) }
}

fn filled<T>(shape: IxDyn, elements: Vec<T>) -> ArrayD<T> {
    ArrayD::from_shape_vec(shape, elements).expect("as many elements as the shape has")
}

/// A row-major array of one's own: the same storage where nobody else holds it, else a copy.
pub(crate) fn owned<T: Element>(array: SharedArray<T>) -> ArrayD<T> {
    reused(array).unwrap_or_else(|array| filled(array.raw_dim(), row_major(&array).into_owned()))
}

#[cfg(test)]
mod tests {
    use tf_types::DType;

    use super::Tensor;

    #[test]
    fn bytes_round_trip_in_every_dtype() {
        for dtype in DType::ALL {
            let Ok(zeros) = Tensor::zeros(&[2, 3], dtype) else {
                assert_eq!(dtype, DType::F4E2M1);
                continue;
            };
            assert_eq!((zeros.dtype(), zeros.shape(), zeros.rank()), (dtype, &[2, 3][..], 2));
            let bytes = zeros.to_le_bytes();
            let back = Tensor::from_le_bytes(&[2, 3], dtype, &bytes).unwrap();
            assert_eq!(back.to_le_bytes(), bytes);
        }
    }

    #[test]
    fn every_byte_but_zero_is_true_and_indices_have_64_bits() {
        let flags = Tensor::from_le_bytes(&[3], DType::Bool, &[0, 1, 255]).unwrap();
        assert_eq!(flags.to_i64_vec(), Ok(vec![0, 1, 1]));
        assert_eq!(flags.to_le_bytes(), [0, 1, 1]);
        assert_eq!(Tensor::scalar((1i64 << 40) + 1).to_index(), Ok((1 << 40) + 1));
    }

    #[test]
    fn refusals_name_the_numbers() {
        let error = Tensor::from_f32(&[2, 3], &[0.0; 5]).unwrap_err();
        assert_eq!(error.message, "a tensor of shape (2, 3) cannot hold 5 elements");
        let error = Tensor::zeros(&[2], DType::F4E2M1).unwrap_err();
        assert_eq!(error.message, "f4e2m1 has no values in the evaluator");
        let error = Tensor::from_le_bytes(&[2], DType::I32, &[0; 7]).unwrap_err();
        assert_eq!(error.message, "7 bytes cannot be i32 of shape (2,): 2 elements of 4 bytes");
        let error = Tensor::zeros(&[usize::MAX, 2, 0], DType::F32).unwrap_err();
        assert!(error.message.ends_with("is too large for this machine's memory"), "{error}");
        // Nothing is stored of an empty tensor, and no element of a narrow dtype is counted as a wide one.
        assert_eq!(Tensor::zeros(&[1 << 42, 0], DType::F32).unwrap().len(), 0);
        let most = isize::MAX as usize / 8;
        assert_eq!(super::element_count(&[most], 0).unwrap(), most);
        assert!([1, 8].map(|width| super::element_count(&[most], width)).iter().all(Result::is_err));
        let error = Tensor::scalar(1.0f32).to_index().unwrap_err();
        assert_eq!(error.message, "expected one i32 or i64 number, found f32 of shape ()");
    }
}
