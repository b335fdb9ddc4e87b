//! Rules of ops that depend on the open meshes and on the device: barriers, matrix instructions, coordinates.

use tf_core::op::{OpCall, OpView};
use tf_core::{Diagnostic, Span};
use tf_tir::mesh::coordinate::Coordinate;
use tf_tir::nn::mma::{self, Mma};
use tf_tir::sync::barrier::Sync;
use tf_tir::sync::participants::{Barrier, in_scope};

use super::Check;

impl<'c> Check<'_, 'c> {
    /// What the verification rule of an effect cannot see.
    pub(super) fn placed_effect(&mut self, view: OpView<'c>, span: Option<Span>) {
        if let Some(sync) = OpCall::new(view) {
            self.barrier(sync, span);
        }
        if let Some(mma) = OpCall::new(view) {
            self.instruction(mma, span);
        }
    }

    /// An open mesh or a slice of one; a kernel has so many named barriers.
    fn barrier(&mut self, call: OpCall<'c, Sync>, span: Option<Span>) {
        let legal = in_scope(self.cx, call.mesh(), &self.scope.meshes);
        let drawn = match Barrier::of(call.mesh()) {
            Ok(Barrier::Named { .. }) => self.barriers.draw().map(drop),
            _ => Ok(()),
        };
        for error in [legal, drawn].into_iter().filter_map(Result::err) {
            self.errors.0.push(Diagnostic::from(error).at(span));
        }
    }

    /// Some open mesh has the threads of the instruction, and the device has the instruction.
    fn instruction(&mut self, call: OpCall<'c, Mma>, span: Option<Span>) {
        let Ok(Some(atom)) = mma::atom(&call, self.cx) else { return };
        if !self.scope.meshes.iter().any(|&open| self.cx.scope_matches(open, atom.required_scope)) {
            let message = format!("`{}` runs on {}, which is not open here", atom.op.name(), atom.required_scope);
            let note = (None, self.scope.describe_meshes());
            self.errors.add(span, message).notes.push(note);
        }
        if let Some(device) = self.device
            && !device.architecture.capabilities.iter().any(|known| known == atom.op.capability())
        {
            let (name, needed, found) = (atom.op.name(), atom.op.capability(), &device.architecture);
            let message =
                format!("`{name}` needs `{needed}`, and `{}` has {}", device.name, found.capabilities.join(", "));
            self.errors.add(span, message);
        }
    }

    /// A coordinate is one of an open mesh.
    pub(super) fn coordinate(&mut self, view: OpView<'c>, span: Option<Span>) {
        let Some(call) = OpCall::<Coordinate>::new(view) else { return };
        if in_scope(self.cx, call.mesh(), &self.scope.meshes).is_err() {
            let message = format!("a coordinate of {}, which is not open here", call.mesh());
            let note = (None, self.scope.describe_meshes());
            self.errors.add(span, message).notes.push(note);
        }
    }
}
