//! What a target allows.

use tf_core::{Module, Span, Target, TargetKind};
use tf_target::Device;
use tf_types::{Storage, Topology};

use super::Errors;

/// The device that a module's levels are checked against: its target's, or the default; none for the CPU, which has no levels.
pub fn device(module: Module<'_>) -> Result<Option<&'static Device>, String> {
    of_target(module.target)
}

/// The device of a target; see [`device`].
pub fn of_target(target: Option<Target<'_>>) -> Result<Option<&'static Device>, String> {
    match target {
        Some(Target { kind: TargetKind::Cpu, .. }) => Ok(None),
        Some(target) => tf_target::lookup(target.device.as_str()).map(Some).map_err(|e| e.to_string()),
        None => tf_target::lookup(tf_target::default_device()).map(Some).map_err(|e| e.to_string()),
    }
}

/// Checks levels against a device: known, in its order, each once, within the limits. `span` is the place of a level.
pub fn levels(errors: &mut Errors, device: &Device, topologies: &[Topology<'_>], span: impl Fn(usize) -> Option<Span>) {
    let known = &device.architecture.levels;
    let mut last = None;
    for (index, topology) in topologies.iter().enumerate() {
        let span = span(index);
        let name = topology.name.as_str();
        let Some(at) = known.iter().position(|level| level == name) else {
            let known: Vec<_> = known.iter().map(|level| format!("`{level}`")).collect();
            errors.add(span, format!("`{}` has no level `{name}`; it has {}", device.name, known.join(", ")));
            continue;
        };
        if last.is_some_and(|last| at <= last) {
            errors.add(span, format!("level `{name}` stands twice or out of order: `{}` is outermost", known[0]));
        }
        last = Some(at);
        let Some(size) = topology.size.and_then(|size| size.as_const()) else { continue };
        if size < 1 {
            errors.add(span, format!("level `{name}` has {size} positions, but needs at least 1"));
        }
        if let Some(limit) = device.level_limit(name).filter(|&limit| size > limit) {
            let message = format!("level `{name}` has {size} positions, but `{}` allows at most {limit}", device.name);
            errors.add(span, message);
        }
    }
}

/// Checks that a device has a storage: not every one has tensor memory.
pub fn storage(errors: &mut Errors, device: &Device, storage: Storage, span: Option<Span>) {
    if storage == Storage::Tmem && device.integer("tensor_memory_per_cta").is_err() {
        errors.add(span, format!("`{}` has no tensor memory, the storage tmem", device.name)).help =
            Some("use smem or rmem, or a device that has it, such as `nvidia.b200_sxm`".to_owned());
    }
}
