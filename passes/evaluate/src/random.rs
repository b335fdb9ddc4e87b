//! Made-up tensors.

use tf_types::DType;
use tf_value::{Tensor, ValueError, element_count};

/// A tensor that depends on seed, name, dtype and shape only: floats in `[-1, 1)` (`f8e8m0`: powers of two in `[1, 2]`), integers
/// from 0 to 7, truth values.
///
/// # Errors
/// A shape too large for memory; `f4e2m1`.
pub fn made_up(seed: u64, name: &str, dtype: DType, shape: &[usize]) -> Result<Tensor, ValueError> {
    let count = drawn_count(shape, dtype)?;
    let mut numbers = Numbers::new(seed, name);
    if dtype.is_float() {
        let positive = dtype == DType::F8E8M0;
        let unit = |n: u64| (n >> 40) as f32 / (1u64 << 24) as f32;
        let number = |n| if positive { 1.0 + unit(n) } else { 2.0 * unit(n) - 1.0 };
        let values: Vec<f32> = (0..count).map(|_| number(numbers.next())).collect();
        return Tensor::from_vec(shape, values)?.cast(dtype);
    }
    let range = if dtype == DType::Bool { 2 } else { 8 };
    let values: Vec<i64> = (0..count).map(|_| (numbers.next() % range) as i64).collect();
    Tensor::from_vec(shape, values)?.cast(dtype)
}

/// How many numbers are drawn for a tensor: f32 or i64, which are cast to the dtype then.
///
/// # Errors
/// A shape too large for memory.
pub fn drawn_count(shape: &[usize], dtype: DType) -> Result<usize, ValueError> {
    element_count(shape, if dtype.is_float() { size_of::<f32>() } else { size_of::<i64>() })
}

/// SplitMix64, started by seed and name, so that the tensor of a parameter does not depend on the others.
pub struct Numbers(u64);

impl Numbers {
    /// The numbers of a tensor.
    pub fn new(seed: u64, name: &str) -> Self {
        Self(
            name.bytes()
                .fold(seed ^ 0x9e37_79b9_7f4a_7c15, |hash, b| (hash ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3)),
        )
    }

    /// The next one, any of 64 bits.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`, which is at least 1.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use tf_types::DType;

    use super::made_up;

    #[test]
    fn what_memory_does_not_hold_is_refused() {
        for dtype in [DType::F32, DType::BF16, DType::I32, DType::Bool] {
            let message = made_up(0, "x", dtype, &[1 << 50]).unwrap_err().message;
            assert_eq!(message, "a tensor of shape (1125899906842624,) is too large for this machine's memory");
        }
    }
}
