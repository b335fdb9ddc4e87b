//! Stored dtypes and what becomes of those the language does not have.

use safetensors::Dtype;
use tf_types::DType;

use crate::tensor::element_count;
use crate::{Tensor, ValueError};

/// The language's dtype of that name.
pub(super) fn language_dtype(stored: Dtype) -> Option<DType> {
    Some(match stored {
        Dtype::F32 => DType::F32,
        Dtype::F16 => DType::F16,
        Dtype::BF16 => DType::BF16,
        Dtype::F8_E4M3 => DType::Fp8E4M3,
        Dtype::F8_E8M0 => DType::F8E8M0,
        Dtype::I32 => DType::I32,
        Dtype::I64 => DType::I64,
        Dtype::BOOL => DType::Bool,
        _ => return None,
    })
}

/// Numbers of a dtype that the language does not have as `dtype`: integers by way of i64, F64 to integers and bool at once, to floats by way
/// of f32, as torch casts. `what` names the tensor in the refusal.
///
/// # Errors
/// The dtype is none of U8, I8, I16, U16, U32, F64; another number of bytes than the shape needs; a refused cast.
pub(super) fn foreign(
    what: &str,
    stored: Dtype,
    shape: &[usize],
    bytes: &[u8],
    dtype: DType,
) -> Result<Tensor, ValueError> {
    element_count(shape, 8)?;
    let integers = |elements: Vec<i64>| Tensor::from_vec(shape, elements);
    let numbers = match stored {
        Dtype::U8 => integers(bytes.iter().map(|&b| i64::from(b)).collect()),
        Dtype::I8 => integers(bytes.iter().map(|&b| i64::from(b.cast_signed())).collect()),
        Dtype::I16 => integers(bytes.as_chunks().0.iter().map(|&b| i64::from(i16::from_le_bytes(b))).collect()),
        Dtype::U16 => integers(bytes.as_chunks().0.iter().map(|&b| i64::from(u16::from_le_bytes(b))).collect()),
        Dtype::U32 => integers(bytes.as_chunks().0.iter().map(|&b| i64::from(u32::from_le_bytes(b))).collect()),
        Dtype::F64 => {
            let numbers = bytes.as_chunks().0.iter().map(|&b| f64::from_le_bytes(b));
            match dtype {
                DType::I32 => Tensor::from_vec(shape, numbers.map(|x| x as i32).collect()),
                DType::I64 => Tensor::from_vec(shape, numbers.map(|x| x as i64).collect()),
                DType::Bool => Tensor::from_vec(shape, numbers.map(|x| x != 0.0).collect()),
                _ => Tensor::from_vec(shape, numbers.map(|x| x as f32).collect()),
            }
        }
        _ => Err(ValueError::new(format!("{what} is {stored}, which is not read")).with_help(
            "store it as one of F64, F32, F16, BF16, the 8-bit floats, integers of up to 32 bits, I64 or BOOL",
        )),
    };
    numbers?.cast(dtype)
}
