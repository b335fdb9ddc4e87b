//! What the author requires of the schedule of one value: `x: where(layout=…, mesh=…, storage=…)`.
//!
//! A constraint is metadata: it never changes types and is never part of equality.

use std::fmt;

use tf_types::{Dim, Mesh, Storage, Symbol};

use crate::{Diagnostic, Result};

tf_types::pointer_handle! {
    /// A schedule constraint; at least one of its fields is given.
    Constraint => ConstraintData
}

/// The data of a [`Constraint`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConstraintData<'c> {
    /// How the axes are split and bound.
    pub layout: Option<LayoutConstraint<'c>>,
    /// Over which positions.
    pub mesh: Option<Mesh<'c>>,
    /// In which storage.
    pub storage: Option<Storage>,
}

/// A layout with wildcards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LayoutConstraint<'c> {
    /// One entry a layout axis.
    pub axes: &'c [AxisConstraint<'c>],
    /// Topologies that no axis is split over.
    pub bindings: &'c [(Symbol<'c>, BindingConstraint<'c>)],
}

/// What is required of one layout axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AxisConstraint<'c> {
    /// `_`
    Any,
    /// An extent.
    Extent(Dim<'c>),
    /// `extent @ topology`; no extent where it is `_`.
    Split(Option<Dim<'c>>, Symbol<'c>),
}

/// What a topology holds that no axis is split over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BindingConstraint<'c> {
    /// `B()`
    Broadcast,
    /// `P("sum")`
    Partial(Symbol<'c>),
}

impl<'c> LayoutConstraint<'c> {
    /// The extents that its axes state.
    pub fn extents(&self) -> impl Iterator<Item = Dim<'c>> {
        self.axes.iter().filter_map(|axis| match *axis {
            AxisConstraint::Any => None,
            AxisConstraint::Extent(extent) => Some(extent),
            AxisConstraint::Split(extent, _) => extent,
        })
    }

    /// The topologies that it names.
    pub fn topologies(&self) -> impl Iterator<Item = Symbol<'c>> {
        let split = self.axes.iter().filter_map(|axis| match *axis {
            AxisConstraint::Split(_, topology) => Some(topology),
            AxisConstraint::Any | AxisConstraint::Extent(_) => None,
        });
        split.chain(self.bindings.iter().map(|binding| binding.0))
    }
}

impl fmt::Debug for Constraint<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.data().fmt(f)
    }
}

impl<'c> ConstraintData<'c> {
    /// Checks what makes a constraint one.
    ///
    /// # Errors
    /// Nothing is required; a topology is bound twice.
    pub fn check(&self) -> Result<()> {
        if self.layout.is_none() && self.mesh.is_none() && self.storage.is_none() {
            let help = "give `layout=`, `mesh=` or `storage=`";
            return Err(Diagnostic::error("the constraint requires nothing").with_help(help));
        }
        let Some(layout) = self.layout else { return Ok(()) };
        let mut bound: Vec<Symbol<'c>> = Vec::new();
        for topology in layout.topologies() {
            if bound.contains(&topology) {
                let message = format!("the constraint binds topology `{topology}` twice");
                return Err(Diagnostic::error(message));
            }
            bound.push(topology);
        }
        Ok(())
    }
}
