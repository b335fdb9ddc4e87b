//! Hardware levels and meshes of positions.

use crate::intern::interned_handle;
use crate::layout::{OuterLayout, static_product};
use crate::{ComposedLayout, Dim, Layout, Symbol};

/// A level of parallel hardware and its position count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Topology<'c> {
    /// `cta`, `thread`, …
    pub name: Symbol<'c>,
    /// Number of positions; `None`: deferred to the target or a launch.
    pub size: Option<Dim<'c>>,
}

interned_handle! {
    /// Named axes over the positions of one or more levels.
    Mesh => MeshData
}

/// The data of a [`Mesh`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MeshData<'c> {
    /// Levels, outermost first.
    pub topologies: &'c [Topology<'c>],
    /// Positions: axis extents and strides, with an offset once sliced.
    pub layout: MeshLayout<'c>,
    /// Axis names; empty: `x y z` name the first three axes. Never just these.
    pub names: &'c [Symbol<'c>],
}

/// The positions of a mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MeshLayout<'c> {
    /// All of its levels.
    Plain(Layout<'c>),
    /// A slice `m[…]`: offset plus the selected extents.
    Sliced(ComposedLayout<'c>),
}

impl<'c> Mesh<'c> {
    /// Number of axes.
    #[must_use]
    pub fn rank(self) -> usize {
        self.extents().len()
    }

    /// Extents of the axes, of a slice those selected.
    #[must_use]
    pub fn extents(self) -> &'c [Dim<'c>] {
        match self.layout {
            MeshLayout::Plain(layout) => layout.shape(),
            MeshLayout::Sliced(composed) => composed.shape(),
        }
    }

    /// Strides of the axes in positions; of a slice those of its parent.
    #[must_use]
    pub fn strides(self) -> Option<&'c [Dim<'c>]> {
        match self.layout {
            MeshLayout::Plain(layout) => layout.strides(),
            MeshLayout::Sliced(composed) => match composed.outer {
                Some(OuterLayout::Plain(layout)) => layout.strides(),
                _ => None,
            },
        }
    }

    /// Whether this is a slice `m[…]` of another mesh.
    #[must_use]
    pub fn is_sliced(self) -> bool {
        matches!(self.layout, MeshLayout::Sliced(_))
    }

    /// The axis of that name; failing that `x`, `y`, `z` are the first three.
    #[must_use]
    pub fn axis_index(self, name: &str) -> Option<usize> {
        let named = self.names.iter().position(|n| n.as_str() == name);
        named.or_else(|| POSITIONAL.iter().position(|&p| p == name)).filter(|&axis| axis < self.rank())
    }

    /// The name of an axis; `x`, `y`, `z` and then `axis3`, … where it has none.
    #[must_use]
    pub fn axis_name(self, axis: usize) -> String {
        match (self.names.get(axis), POSITIONAL.get(axis)) {
            (Some(name), _) => name.to_string(),
            (None, Some(name)) => (*name).to_owned(),
            (None, None) => format!("axis{axis}"),
        }
    }

    /// Names of the levels, outermost first.
    pub fn topology_names(self) -> impl ExactSizeIterator<Item = Symbol<'c>> {
        self.data().topologies.iter().map(|t| t.name)
    }

    /// Number of positions; `None` if symbolic or overflowing.
    #[must_use]
    pub fn size(self) -> Option<i64> {
        static_product(self.extents())
    }
}

const POSITIONAL: [&str; 3] = ["x", "y", "z"];

/// Whether these are the names that axes have without any.
pub(crate) fn are_positional(names: &[Symbol<'_>]) -> bool {
    names.len() <= POSITIONAL.len()
        && names.iter().zip(POSITIONAL).all(|(name, positional)| name.as_str() == positional)
}

#[cfg(test)]
mod tests {
    use crate::test_util::mesh;
    use crate::{Arena, TypeContext};

    #[test]
    fn positional_names_are_no_names() {
        let arena = Arena::new();
        let cx = &TypeContext::new(&arena);
        let named = mesh(cx, &[("thread", 32)], &[("x", 4), ("y", 8)]);
        assert_eq!(named, cx.mesh(named.topologies, named.layout, &[]));
        assert_eq!((named.axis_index("y"), named.axis_name(1).as_str()), (Some(1), "y"));
        let swapped = mesh(cx, &[("thread", 32)], &[("y", 4), ("x", 8)]);
        assert_eq!((swapped.names.len(), swapped.axis_index("y")), (2, Some(0)));
    }
}
