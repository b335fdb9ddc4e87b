//! Schedule constraints and ranges.

use std::fmt::Write;

use tf_core::DimVarRangePat;
use tf_core::node::Constraint;
use tf_core::node::constraint::{AxisConstraint, BindingConstraint, LayoutConstraint};

use super::Printer;
use crate::syntax::write_quoted;

impl<'c> Printer<'_, 'c> {
    /// ` where(layout = [_, 4 @cta] {thread = B}, mesh = #mesh0, storage = rmem)`.
    pub fn constraint(&mut self, constraint: Constraint<'c>) {
        let mut separator = " where(";
        if let Some(layout) = constraint.layout {
            self.out.push_str(separator);
            self.layout_constraint(&layout);
            separator = ", ";
        }
        if let Some(mesh) = constraint.mesh {
            let _ = write!(self.out, "{separator}mesh = ");
            self.types.write_mesh(&mut self.out, mesh);
            separator = ", ";
        }
        if let Some(storage) = constraint.storage {
            let _ = write!(self.out, "{separator}storage = {}", storage.name());
        }
        self.out.push(')');
    }

    fn layout_constraint(&mut self, layout: &LayoutConstraint<'c>) {
        self.out.push_str("layout = [");
        for (at, axis) in layout.axes.iter().enumerate() {
            if at > 0 {
                self.out.push_str(", ");
            }
            let (extent, topology) = match *axis {
                AxisConstraint::Any => (None, None),
                AxisConstraint::Extent(extent) => (Some(extent), None),
                AxisConstraint::Split(extent, topology) => (extent, Some(topology)),
            };
            match extent {
                Some(extent) => self.types.write_dim(&mut self.out, extent),
                None => self.out.push('_'),
            }
            if let Some(topology) = topology {
                self.out.push(' ');
                self.symbol(topology);
            }
        }
        self.out.push(']');
        let mut separator = " {";
        for &(topology, binding) in layout.bindings {
            self.out.push_str(separator);
            separator = ", ";
            self.word(topology);
            match binding {
                BindingConstraint::Broadcast => self.out.push_str(" = B"),
                BindingConstraint::Partial(kind) => {
                    self.out.push_str(" = P(");
                    write_quoted(&mut self.out, kind.as_str());
                    self.out.push(')');
                }
            }
        }
        if separator == ", " {
            self.out.push('}');
        }
    }

    /// `S = 1 to 5`.
    pub fn range(&mut self, range: DimVarRangePat<'c>) {
        self.word(range.dim);
        let _ = write!(self.out, " = {} to {}", range.lo, range.hi);
    }
}
