//! Registers: what one thread holds of a tensor, as values.
use crate::emit::V;
use tf_types::DType;

/// A tensor in registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct FileId(usize);

struct File<'a> {
    dtype: DType,
    values: Vec<Option<V<'a>>>,
}

/// All registers of a thread at one point of the program.
#[derive(Default)]
pub(crate) struct RegisterFile<'a> {
    files: Vec<File<'a>>,
}

impl<'a> RegisterFile<'a> {
    /// Registers for `len` elements, not written yet.
    pub(crate) fn allocate(&mut self, dtype: DType, len: usize) -> FileId {
        self.files.push(File { dtype, values: vec![None; len] });
        FileId(self.files.len() - 1)
    }

    /// Number of elements.
    pub(crate) fn len(&self, file: FileId) -> usize {
        self.files[file.0].values.len()
    }

    pub(crate) fn dtype(&self, file: FileId) -> DType {
        self.files[file.0].dtype
    }

    /// The value of an element; `None` before it is written.
    pub(crate) fn get(&self, file: FileId, at: usize) -> Option<V<'a>> {
        self.files[file.0].values[at]
    }

    pub(crate) fn set(&mut self, file: FileId, at: usize, value: V<'a>) {
        self.files[file.0].values[at] = Some(value);
    }
}
