//! Addresses of what a position reads and writes.

use crate::ValueError;

/// Where the positions of a mesh axis are: the coordinate is `(id / stride) % extent` of a thread or CTA id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AxisPosition {
    /// Of threads within a CTA; otherwise of CTAs.
    pub in_cta: bool,
    /// Ids per coordinate.
    pub stride: i64,
    /// Number of coordinates.
    pub extent: i64,
}

impl AxisPosition {
    /// The coordinate of the position with this thread or CTA id.
    #[must_use]
    pub fn of(self, id: i64) -> i64 {
        (id / self.stride.max(1)) % self.extent.max(1)
    }
}

/// A coordinate of a position: along the axis, less where a slice of the mesh starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The axis of the whole mesh.
    pub axis: AxisPosition,
    /// The first coordinate of the slice.
    pub start: i64,
}

/// Elements of an operand that each position accesses, by the index that the position counts them with.
pub struct Access {
    /// The operand.
    pub operand: usize,
    /// Elements of one position.
    pub len: usize,
    /// Where they are, in elements from the start of the buffer or view.
    pub addresses: Addresses,
}

/// Addresses of elements.
pub enum Addresses {
    /// The sum of what the element and what the mesh coordinates add.
    Strided {
        /// By element.
        offsets: Vec<i64>,
        /// Elements per coordinate along an axis.
        steps: Vec<(AxisPosition, i64)>,
    },
    /// Those that no strides give.
    Looked(Box<dyn Lookup>),
}

/// Addresses that are looked up for each position.
pub trait Lookup {
    /// Appends the address of each element.
    ///
    /// # Errors
    /// The position does not hold an element.
    fn addresses(&self, coordinate: &dyn Fn(AxisPosition) -> i64, found: &mut Vec<i64>) -> Result<(), ValueError>;
}

/// A view of memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// What each start adds to the address.
    pub starts: Vec<Start>,
    /// Elements from the first to the last that the view may address; 0: none.
    pub span: i64,
}

/// The start of a view along one axis of its memory, or along the memory as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// Factors of the axis, outermost first: coordinate and elements of memory per value.
    pub factors: Vec<(i64, i64)>,
    /// Extents of the memory and of the view along the axis, where the view is a window of it.
    pub room: Option<(i64, i64)>,
}

impl Start {
    /// Elements of memory before a coordinate. The outermost factor takes all that the inner ones do not.
    #[must_use]
    pub fn offset(&self, coordinate: i64) -> i64 {
        let mut rest = coordinate;
        let mut offset = 0i64;
        for &(step, stride) in &self.factors {
            let value = rest.div_euclid(step.max(1));
            rest = rest.rem_euclid(step.max(1));
            offset = offset.saturating_add(value.saturating_mul(stride));
        }
        offset
    }
}

#[cfg(test)]
mod tests {
    use super::{AxisPosition, Start};

    #[test]
    fn coordinates() {
        let lane = AxisPosition { in_cta: true, stride: 1, extent: 32 };
        let warp = AxisPosition { in_cta: true, stride: 32, extent: 4 };
        assert_eq!((lane.of(70), warp.of(70)), (6, 2));
    }

    #[test]
    fn starts_of_a_factored_axis() {
        let start = Start { factors: vec![(8, 64), (1, 1)], room: None };
        assert_eq!([0, 3, 8, 19].map(|at| start.offset(at)), [0, 3, 64, 131]);
        assert_eq!(Start { factors: vec![(1, 16)], room: None }.offset(-1), -16);
    }
}
