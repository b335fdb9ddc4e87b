//! Where a HIR function places values: layouts of their elements, on meshes over levels of its module, whose positions they share out.

use rustc_hash::FxHashSet;
use tf_core::{Context, Function, Module, Span};
use tf_target::Device;
use tf_types::{Mesh, Storage, Symbol, TensorType};

use super::values::Values;
use super::{Errors, target};

/// The layouts of types, each of the elements of its shape; the meshes of types, attributes and constraints: extents that multiply to the
/// levels, levels that the module declares and the target has; storages that it has.
pub fn function<'c>(
    errors: &mut Errors,
    module: Module<'c>,
    function: Function<'c>,
    values: &Values<'c>,
    cx: &Context<'c>,
) {
    let device = target::device(module).ok().flatten();
    let mut check = Check {
        errors,
        cx,
        module,
        device,
        meshes: FxHashSet::default(),
        levels: FxHashSet::default(),
        storages: FxHashSet::default(),
    };
    for &(mesh, expr) in &values.meshes {
        check.mesh(mesh, expr.span().or(function.span));
    }
    for &expr in &values.constrained {
        let layout = expr.meta.constraint.and_then(|constraint| constraint.layout);
        let span = expr.span().or(function.span);
        layout.iter().flat_map(|layout| layout.topologies()).for_each(|level| check.level(level, span));
    }
    let types = values.types.iter().map(|&(ty, expr)| (ty, expr.span().or(function.span)));
    let declared = function.return_type;
    let result = (values.types.iter().all(|&(ty, _)| ty != declared)).then_some((declared, function.span));
    for (ty, span) in types.chain(result) {
        for tensor in ty.leaves().iter() {
            tensor.shard().into_iter().for_each(|shard| check.mesh(shard.mesh, span));
            check.storage(tensor.storage, span);
            check.layout(tensor, span);
        }
    }
}

struct Check<'a, 'c> {
    errors: &'a mut Errors,
    cx: &'a Context<'c>,
    module: Module<'c>,
    device: Option<&'static Device>,
    meshes: FxHashSet<Mesh<'c>>,
    /// Those that constraints name.
    levels: FxHashSet<Symbol<'c>>,
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

    /// A level that a constraint names: declared by the module, or where that declares none, one of the target.
    fn level(&mut self, level: Symbol<'c>, span: Option<Span>) {
        if !self.levels.insert(level) {
            return;
        }
        let (name, declared) = (level.as_str(), self.module.data().topologies);
        let known: Vec<&str> = match (declared, self.device) {
            (Some(declared), _) => declared.iter().map(|topology| topology.name.as_str()).collect(),
            (None, Some(device)) => device.architecture.levels.iter().map(String::as_str).collect(),
            (None, None) => return,
        };
        if !known.contains(&name) {
            let message = format!("the constraint names the level `{name}`, which nothing declares");
            self.errors.add(span, message).help = Some(match known[..] {
                [] => "the module declares no levels".to_owned(),
                _ => format!("there are {}", known.join(", ")),
            });
        }
    }

    /// A value without a residency has no addresses: a vector of extents says so by the empty layout.
    fn layout(&mut self, tensor: &TensorType<'c>, span: Option<Span>) {
        if let Some(layout) = tensor.layout
            && tensor.storage != Storage::Umat
            && let Err(error) = self.cx.check_layout(layout, tensor.shape)
        {
            self.errors.add(span, error.message).help = error.help;
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
