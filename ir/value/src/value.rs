//! [`Value`]: what evaluation of an expression gives.

use crate::Tensor;

/// An evaluated value.
#[derive(Clone, Debug)]
pub enum Value {
    /// A tensor in its logical shape; a scalar has rank 0.
    Tensor(Tensor),
    /// Several values in field order.
    Tuple(Vec<Value>),
}

impl Value {
    /// The tensor, if this is one.
    #[must_use]
    pub fn as_tensor(&self) -> Option<&Tensor> {
        match self {
            Self::Tensor(tensor) => Some(tensor),
            Self::Tuple(_) => None,
        }
    }

    /// The fields, if this is a tuple.
    #[must_use]
    pub fn as_tuple(&self) -> Option<&[Self]> {
        match self {
            Self::Tensor(_) => None,
            Self::Tuple(fields) => Some(fields),
        }
    }
}

impl From<Tensor> for Value {
    fn from(tensor: Tensor) -> Self {
        Self::Tensor(tensor)
    }
}
