//! Where a HIR function places values: meshes over levels of its module, whose positions they share out.

use rustc_hash::FxHashSet;
use tf_core::{Function, Module, Span};
use tf_target::Device;
use tf_types::{Mesh, Storage};

use super::values::Values;
use super::{Errors, target};

/// The meshes of types, attributes and constraints: extents that multiply to the levels, levels that the module declares and the target
/// has; storages that it has.
pub fn function<'c>(errors: &mut Errors, module: Module<'c>, function: Function<'c>, values: &Values<'c>) {
    let device = target::device(module).ok().flatten();
    let mut check = Check { errors, module, device, meshes: FxHashSet::default(), storages: FxHashSet::default() };
    for &(mesh, expr) in &values.meshes {
        check.mesh(mesh, expr.span().or(function.span));
    }
    let types = values.types.iter().map(|&(ty, expr)| (ty, expr.span().or(function.span)));
    for (ty, span) in types.chain([(function.return_type, function.span)]) {
        for tensor in ty.leaves().iter() {
            tensor.shard().into_iter().for_each(|shard| check.mesh(shard.mesh, span));
            check.storage(tensor.storage, span);
        }
    }
}

struct Check<'a, 'c> {
    errors: &'a mut Errors,
    module: Module<'c>,
    device: Option<&'static Device>,
    meshes: FxHashSet<Mesh<'c>>,
    storages: FxHashSet<Storage>,
}

impl<'c> Check<'_, 'c> {
    fn storage(&mut self, storage: Storage, span: Option<Span>) {
        if let Some(device) = self.device
            && self.storages.insert(storage)
        {
            target::storage(self.errors, device, storage, span);
        }
    }

    fn mesh(&mut self, mesh: Mesh<'c>, span: Option<Span>) {
        if !self.meshes.insert(mesh) {
            return;
        }
        let declared = self.module.data().topologies;
        let levels = declared.map_or(Ok(()), |declared| mesh.check_levels(declared));
        if let Err(error) = mesh.check_extents().and(levels) {
            self.errors.add(span, error.message).help = error.help;
        }
        if let Some(device) = self.device {
            target::levels(self.errors, device, mesh.topologies, |_| span);
        }
    }
}
