//! NumPy's array format: a header of Python literals, then the elements.
//!
//! Dtypes that NumPy has no name for are opaque bytes, as the `ml_dtypes` package writes them: bf16 `<V2`, 8-bit floats `|V1`.

use safetensors::Dtype;
use tf_types::DType;

use super::TensorInfo;
use super::foreign::{foreign, language_dtype};
use crate::tensor::{element_count, show_shape};
use crate::{Tensor, ValueError};

const MAGIC: &[u8] = b"\x93NUMPY";

/// What stands before the elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub info: TensorInfo,
    fortran: bool,
    big_endian: bool,
    element: Stored,
    /// Where the elements begin.
    data_at: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stored {
    Known(Dtype),
    /// Bits without a meaning, that many bytes an element.
    Raw(usize),
}

impl Header {
    /// The header at the beginning of `bytes`; enough of them are needed, not all.
    ///
    /// # Errors
    /// What is wrong, without the file's name.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let short = || "its header is cut off".to_owned();
        if !bytes.starts_with(MAGIC) {
            return Err("it does not begin as a NumPy array".to_owned());
        }
        let (length, text_at) = match bytes.get(6).ok_or_else(short)? {
            1 => (bytes.get(8..10).map(|b| usize::from(u16::from_le_bytes([b[0], b[1]]))), 10),
            2 | 3 => {
                (bytes.get(8..12).and_then(|b| usize::try_from(u32::from_le_bytes([b[0], b[1], b[2], b[3]])).ok()), 12)
            }
            version => return Err(format!("version {version} of the format is not read")),
        };
        let data_at = length.and_then(|length| length.checked_add(text_at)).ok_or_else(short)?;
        let text = bytes.get(text_at..data_at).ok_or_else(short)?;
        let text = std::str::from_utf8(text).map_err(|_| "its header is no text".to_owned())?;
        let quoted = field(text, "descr")?.strip_prefix('\'').and_then(|rest| rest.split('\'').next());
        let descr = quoted.ok_or_else(|| "its elements are records, which are not read".to_owned())?;
        let (element, big_endian) =
            stored(descr).ok_or_else(|| format!("its dtype is `{descr}`, which is not read: {READ} are"))?;
        let order = field(text, "fortran_order")?;
        let order = order.split([',', '}']).next().map_or(order, str::trim_end);
        let fortran = match order {
            "True" => true,
            "False" => false,
            _ => return Err(format!("its `fortran_order` is `{order}`, neither True nor False")),
        };
        let shape = field(text, "shape")?.strip_prefix('(').and_then(|rest| rest.split(')').next());
        let extents = shape.ok_or_else(|| "its shape is no tuple".to_owned())?.split(',').map(str::trim);
        let shape = extents.filter(|extent| !extent.is_empty()).map(str::parse).collect::<Result<Vec<usize>, _>>();
        let shape = shape.map_err(|_| "its shape is no tuple of integers".to_owned())?;
        let (dtype, stored) = match element {
            Stored::Known(known) => (language_dtype(known), known.to_string()),
            Stored::Raw(width) => (None, format!("V{width}")),
        };
        let info = TensorInfo { stored, dtype, shape };
        Ok(Self { info, fortran, big_endian, element, data_at })
    }

    fn width(&self) -> usize {
        match self.element {
            Stored::Known(known) => known.bitsize() / 8,
            Stored::Raw(width) => width,
        }
    }

    /// The length of the whole file; `None` where no memory holds the elements.
    pub fn file_length(&self) -> Option<usize> {
        let count = element_count(&self.info.shape, self.width()).ok()?;
        (count * self.width()).checked_add(self.data_at)
    }

    /// The array as `dtype`, from the whole file. `what` names it in refusals.
    ///
    /// # Errors
    /// Another number of bytes than the shape needs; bits without a meaning for another dtype than theirs; a refused cast.
    pub fn read(&self, what: &str, bytes: &[u8], dtype: DType) -> Result<Tensor, ValueError> {
        let (width, shape) = (self.width(), show_shape(&self.info.shape));
        let want = element_count(&self.info.shape, width)? * width;
        let mut data = bytes.get(self.data_at..).unwrap_or_default().to_vec();
        match data.len() {
            found if found < want => {
                let message = format!("{what} has {found} bytes of data, its shape {shape} takes {want}");
                return Err(ValueError::new(message));
            }
            found if found > want => {
                let message = format!("{what} has more than the {want} bytes of data that its shape {shape} takes");
                return Err(ValueError::new(message));
            }
            _ => {}
        }
        if self.big_endian {
            data.chunks_exact_mut(width).for_each(<[u8]>::reverse);
        }
        let mut shape = self.info.shape.clone();
        if self.fortran {
            shape.reverse();
        }
        let tensor = match self.element {
            _ if self.info.holds(dtype) => Tensor::from_le_bytes(&shape, dtype, &data)?,
            Stored::Known(known) => match language_dtype(known) {
                Some(own) => Tensor::from_le_bytes(&shape, own, &data)?.cast(dtype)?,
                None => foreign(what, known, &shape, &data, dtype)?,
            },
            Stored::Raw(_) => {
                let stored = &self.info.stored;
                return Err(ValueError::new(format!("{what} is `{stored}`: bits that cannot be {dtype}")));
            }
        };
        if !self.fortran {
            return Ok(tensor);
        }
        let axes: Vec<usize> = (0..shape.len()).rev().collect();
        tensor.permute(&axes)
    }
}

/// What follows `'name':`, with nothing before it.
fn field<'t>(text: &'t str, name: &str) -> Result<&'t str, String> {
    let rest = text.split_once(&format!("'{name}'")).map(|(_, rest)| rest.trim_start());
    rest.and_then(|rest| rest.strip_prefix(':'))
        .map(str::trim_start)
        .ok_or_else(|| format!("its header lacks `{name}`"))
}

/// The kinds of [`stored`], in words.
const READ: &str = "f2, f4, f8, i1 to i8, u1 to u4, b1, V1 and V2";

fn stored(descr: &str) -> Option<(Stored, bool)> {
    let (order, kind) = descr.split_at_checked(1)?;
    let big_endian = match order {
        "<" | "|" | "=" => false,
        ">" => true,
        _ => return None,
    };
    let element = match kind {
        "f4" => Stored::Known(Dtype::F32),
        "f2" => Stored::Known(Dtype::F16),
        "f8" => Stored::Known(Dtype::F64),
        "i8" => Stored::Known(Dtype::I64),
        "i4" => Stored::Known(Dtype::I32),
        "i2" => Stored::Known(Dtype::I16),
        "i1" => Stored::Known(Dtype::I8),
        "u1" => Stored::Known(Dtype::U8),
        "u2" => Stored::Known(Dtype::U16),
        "u4" => Stored::Known(Dtype::U32),
        "b1" => Stored::Known(Dtype::BOOL),
        "V2" => Stored::Raw(2),
        "V1" => Stored::Raw(1),
        _ => return None,
    };
    Some((element, big_endian))
}

/// A whole `.npy` file.
pub(super) fn write(tensor: &Tensor) -> Vec<u8> {
    let descr = match tensor.dtype() {
        DType::F32 => "<f4",
        DType::F16 => "<f2",
        DType::BF16 => "<V2",
        DType::I32 => "<i4",
        DType::I64 => "<i8",
        DType::Bool => "|b1",
        DType::Fp8E4M3 | DType::F8E8M0 | DType::F4E2M1 => "|V1",
    };
    let shape = show_shape(tensor.shape());
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    // The elements begin at a multiple of 64 bytes, and the header ends in a line break.
    let length = (10 + text.len() + 1).next_multiple_of(64) - 10;
    text.push_str(&" ".repeat(length - 1 - text.len()));
    text.push('\n');
    let version: u8 = if u16::try_from(length).is_ok() { 1 } else { 2 };
    let mut bytes = [MAGIC, &[version, 0]].concat();
    match u16::try_from(length) {
        Ok(length) => bytes.extend(length.to_le_bytes()),
        Err(_) => bytes.extend((length as u32).to_le_bytes()),
    }
    bytes.extend(text.as_bytes());
    bytes.extend(tensor.to_le_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use tf_types::DType;

    use super::{Header, write};
    use crate::Tensor;

    fn file(descr: &str, fortran: &str, shape: &str, data: &[u8]) -> Vec<u8> {
        let text = format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
        let length = u16::try_from(text.len()).unwrap().to_le_bytes();
        [b"\x93NUMPY\x01\0".as_slice(), &length, text.as_bytes(), data].concat()
    }

    #[test]
    fn every_dtype_round_trips() {
        for dtype in DType::ALL {
            let Ok(tensor) = Tensor::zeros(&[2, 3], dtype) else { continue };
            let bytes = write(&tensor);
            let header = Header::parse(&bytes).unwrap();
            assert!(header.info.holds(dtype) && header.data_at.is_multiple_of(64), "{dtype}");
            let back = header.read("x", &bytes, dtype).unwrap();
            assert_eq!((back.shape(), back.to_le_bytes()), (tensor.shape(), tensor.to_le_bytes()));
        }
    }

    #[test]
    fn orders_of_bytes_and_axes() {
        let bytes = file(">i2", "False", "(2,)", &[0, 1, 1, 0]);
        let read = |bytes: &[u8]| Header::parse(bytes).unwrap().read("x", bytes, DType::I64).unwrap();
        assert_eq!(read(&bytes).to_i64_vec(), Ok(vec![1, 256]));
        let bytes = file("|i1", "True", "(2, 3)", &[1, 4, 2, 5, 3, 6]);
        assert_eq!((read(&bytes).shape(), read(&bytes).to_i64_vec()), (&[2, 3][..], Ok(vec![1, 2, 3, 4, 5, 6])));
        let bytes = file("<f8", "False", "()", &1.5f64.to_le_bytes());
        let header = Header::parse(&bytes).unwrap();
        assert_eq!(header.read("x", &bytes, DType::F32).unwrap().to_f32_vec(), [1.5]);
    }

    #[test]
    fn wrong_files_are_refused() {
        let refused = |bytes: &[u8]| Header::parse(bytes).unwrap_err();
        assert_eq!(refused(b"nothing"), "it does not begin as a NumPy array");
        assert_eq!(refused(b"\x93NUMPY\x01\0\xff\xff{"), "its header is cut off");
        assert_eq!(
            refused(&file("<c8", "False", "()", &[])),
            "its dtype is `<c8`, which is not read: f2, f4, f8, i1 to i8, u1 to u4, b1, V1 and V2 are"
        );
        assert!(refused(&file("|O", "False", "()", &[])).starts_with("its dtype is `|O`, which is not read"));
        assert_eq!(
            refused(&file("<f4", "Falsehood", "()", &[])),
            "its `fortran_order` is `Falsehood`, neither True nor False"
        );
        assert_eq!(refused(&file("<f4", "False", "4", &[])), "its shape is no tuple");
        assert_eq!(refused(&file("<f4", "False", "(-2,)", &[])), "its shape is no tuple of integers");

        assert_eq!(refused(&file("<f4", "False", "(a,)", &[])), "its shape is no tuple of integers");
        let short = file("<f4", "False", "(3,)", &[0; 8]);
        let error = Header::parse(&short).unwrap().read("`x`", &short, DType::F32).unwrap_err();
        assert_eq!(error.message, "`x` has 8 bytes of data, its shape (3,) takes 12");
        let long = file("<f4", "False", "(3,)", &[0; 13]);
        let error = Header::parse(&long).unwrap().read("`x`", &long, DType::F32).unwrap_err();
        assert_eq!(error.message, "`x` has more than the 12 bytes of data that its shape (3,) takes");
        for shape in ["(4611686018427387904, 8)", "(4611686018427387904, 8, 0)"] {
            let huge = file("<f4", "False", shape, &[0; 12]);
            let header = Header::parse(&huge).unwrap();
            assert_eq!(header.file_length(), None);
            assert!(header.read("`x`", &huge, DType::F32).unwrap_err().message.contains("is too large"));
        }
        let raw = file("|V1", "False", "(3,)", &[0; 3]);
        let error = Header::parse(&raw).unwrap().read("`x`", &raw, DType::F32).unwrap_err();
        assert_eq!(error.message, "`x` is `V1`: bits that cannot be f32");
    }
}
