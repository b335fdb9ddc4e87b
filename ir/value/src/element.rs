//! The host types behind the dtypes.

use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};
use ndarray::ArcArray;
use ndarray::IxDyn;
use tf_types::DType;

use crate::vector::vectorized;
use crate::{F8E8M0, Fp8E4M3, Tensor};

/// An n-d array with shared storage: clones and views copy no elements.
pub type SharedArray<T> = ArcArray<T, IxDyn>;

/// A host type that stores the elements of one dtype.
pub trait Element: Copy + Default + PartialEq + std::fmt::Debug + Send + Sync + 'static {
    /// The dtype stored so.
    const DTYPE: DType;
    /// Bytes of one element in host memory and in files.
    const BYTES: usize = size_of::<Self>();

    /// A tensor over this array.
    fn wrap(array: SharedArray<Self>) -> Tensor;
    /// The array of a tensor of this dtype; `None` for another dtype.
    fn array(tensor: &Tensor) -> Option<&SharedArray<Self>>;
    /// Reads one element from exactly [`Self::BYTES`] little-endian bytes.
    fn read_le(bytes: &[u8]) -> Self;
    /// Appends the element's little-endian bytes.
    fn write_le(self, bytes: &mut Vec<u8>);
}

/// An element that takes part in arithmetic, done in [`Self::Wide`]: f32 for floats of up to 32 bits (so that 16-bit floats round once),
/// the type itself for integers and bool.
pub trait Numeric: Element {
    /// The type that arithmetic is done in.
    type Wide: Copy + Default + PartialEq + Send + Sync + 'static;

    /// Widens a block; both slices have one length.
    fn load(src: &[Self], dst: &mut [Self::Wide]);
    /// Rounds a block; both slices have one length.
    fn store(src: &[Self::Wide], dst: &mut [Self]);

    /// The same elements, where widening changes nothing.
    fn as_wide(_: &mut [Self]) -> Option<&mut [Self::Wide]> {
        None
    }

    /// As [`Self::as_wide`], to read.
    fn wide_of(_: &[Self]) -> Option<&[Self::Wide]> {
        None
    }

    /// Widens one element.
    fn widen(self) -> Self::Wide {
        let mut wide = [Self::Wide::default()];
        Self::load(&[self], &mut wide);
        wide[0]
    }
    /// Rounds one element.
    fn narrow(wide: Self::Wide) -> Self {
        let mut narrow = [Self::default()];
        Self::store(&[wide], &mut narrow);
        narrow[0]
    }
}

macro_rules! element {
    ($type:ty, $variant:ident, |$bytes:ident| $read:expr, |$value:ident| $write:expr) => {
        impl Element for $type {
            const DTYPE: DType = DType::$variant;

            fn wrap(array: SharedArray<Self>) -> Tensor {
                Tensor::$variant(array)
            }
            fn array(tensor: &Tensor) -> Option<&SharedArray<Self>> {
                match tensor {
                    Tensor::$variant(array) => Some(array),
                    _ => None,
                }
            }
            fn read_le($bytes: &[u8]) -> Self {
                $read
            }
            fn write_le(self, bytes: &mut Vec<u8>) {
                let $value = self;
                bytes.extend_from_slice(&$write);
            }
        }
    };
}

element!(f32, F32, |b| Self::from_le_bytes([b[0], b[1], b[2], b[3]]), |v| v.to_le_bytes());
element!(f16, F16, |b| Self::from_le_bytes([b[0], b[1]]), |v| v.to_le_bytes());
element!(bf16, BF16, |b| Self::from_le_bytes([b[0], b[1]]), |v| v.to_le_bytes());
element!(Fp8E4M3, Fp8E4M3, |b| Self(b[0]), |v| [v.0]);
element!(F8E8M0, F8E8M0, |b| Self(b[0]), |v| [v.0]);
element!(i32, I32, |b| Self::from_le_bytes([b[0], b[1], b[2], b[3]]), |v| v.to_le_bytes());
element!(i64, I64, |b| Self::from_le_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]]), |v| v.to_le_bytes());
element!(bool, Bool, |b| b[0] != 0, |v| [u8::from(v)]);

macro_rules! numeric_as_itself {
    ($($type:ty),+) => {$(
        impl Numeric for $type {
            type Wide = Self;
            fn as_wide(block: &mut [Self]) -> Option<&mut [Self]> {
                Some(block)
            }
            fn wide_of(block: &[Self]) -> Option<&[Self]> {
                Some(block)
            }
            fn load(src: &[Self], dst: &mut [Self]) {
                dst.copy_from_slice(src);
            }
            fn store(src: &[Self], dst: &mut [Self]) {
                dst.copy_from_slice(src);
            }
        }
    )+};
}

numeric_as_itself!(f32, i32, i64, bool);

impl Numeric for f16 {
    type Wide = f32;
    fn load(src: &[Self], dst: &mut [f32]) {
        src.convert_to_f32_slice(dst);
    }
    fn store(src: &[f32], dst: &mut [Self]) {
        dst.convert_from_f32_slice(src);
    }
}

/// The upper half of an f32.
impl Numeric for bf16 {
    type Wide = f32;
    fn load(src: &[Self], dst: &mut [f32]) {
        vectorized(
            #[inline(always)]
            || {
                for (wide, narrow) in dst.iter_mut().zip(src) {
                    *wide = f32::from_bits(u32::from(narrow.to_bits()) << 16);
                }
            },
        );
    }
    fn store(src: &[f32], dst: &mut [Self]) {
        vectorized(
            #[inline(always)]
            || {
                for (narrow, wide) in dst.iter_mut().zip(src) {
                    let bits = wide.to_bits();
                    // Half a step up, a little less where the step below is even; a NaN stays one.
                    let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16;
                    let quiet = bits >> 16 | 0x40;
                    *narrow = Self::from_bits(if wide.is_nan() { quiet } else { rounded } as u16);
                }
            },
        );
    }
}

impl Numeric for Fp8E4M3 {
    type Wide = f32;
    fn load(src: &[Self], dst: &mut [f32]) {
        for (wide, narrow) in dst.iter_mut().zip(src) {
            *wide = narrow.to_f32();
        }
    }
    fn store(src: &[f32], dst: &mut [Self]) {
        for (narrow, wide) in dst.iter_mut().zip(src) {
            *narrow = Self::from_f32(*wide);
        }
    }
}

#[cfg(test)]
mod tests {
    use half::bf16;

    use super::Numeric;

    /// All bf16, their neighbours in f32 and the places halfway between them, as the crate `half` has it.
    #[test]
    fn bf16_is_the_rounded_upper_half() {
        for upper in 0..=u16::MAX {
            let narrow = bf16::from_bits(upper);
            assert_eq!(narrow.widen().to_bits(), u32::from(upper) << 16);
            for lower in [0, 1, 0x7fff, 0x8000, 0x8001, 0xffff] {
                let wide = f32::from_bits(u32::from(upper) << 16 | lower);
                assert_eq!(bf16::narrow(wide).to_bits(), bf16::from_f32(wide).to_bits(), "{wide:e}");
            }
        }
    }
}
