//! Whether a manifest holds together and fits its PTX.

use std::collections::BTreeSet;

use tf_types::DType;

use crate::manifest::{Argument, Entry, FORMAT, Kernel, Manifest};
use crate::{ArtifactError, ptx};

/// Greatest launch extents of every supported architecture.
const GRID: [u32; 3] = [i32::MAX as u32, 65_535, 65_535];
const BLOCK: [u32; 3] = [1024, 1024, 64];
const THREADS: u64 = 1024;
/// Greatest dynamic shared memory of a block (compute capability 9.0 and 10.0).
const SHARED: u32 = 227 * 1024;

type Check = Result<(), ArtifactError>;

fn wrong(field: impl std::fmt::Display, what: impl std::fmt::Display) -> Check {
    Err(ArtifactError::new(format!("{field}: {what}")))
}

pub(crate) fn validate(manifest: &Manifest, ptx_text: &str) -> Check {
    if manifest.format != FORMAT {
        return wrong("format", format!("this reads version {FORMAT}, found {}", manifest.format));
    }
    let target = &manifest.target;
    let number = target.strip_prefix("sm_").map(|rest| rest.trim_end_matches(['a', 'f']));
    if !number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit())) {
        return wrong("target", format!("expected an architecture such as sm_90, found `{target}`"));
    }
    match ptx::target(ptx_text) {
        Some(found) if found == target => {}
        Some(found) => return wrong("target", format!("the manifest says {target}, the PTX is for {found}")),
        None => return wrong("target", "the PTX text has no `.target` directive"),
    }
    entry(&manifest.entry)?;
    if manifest.kernels.is_empty() {
        return wrong("kernels", "an artifact launches at least one kernel");
    }
    let symbols = ptx::entries(ptx_text);
    for (index, one) in manifest.kernels.iter().enumerate() {
        kernel(&format!("kernels[{index}]"), one, &manifest.entry, &symbols)?;
    }
    unwritten(manifest)
}

fn entry(entry: &Entry) -> Check {
    if entry.name.is_empty() {
        return wrong("entry.name", "a name is needed");
    }
    let (count, outputs) = (entry.parameters.len(), entry.outputs);
    if outputs > count {
        return wrong("entry.outputs", format!("{outputs} of {count} parameters cannot be results"));
    }
    let mut names = BTreeSet::new();
    for (index, parameter) in entry.parameters.iter().enumerate() {
        let field = format!("entry.parameters[{index}]");
        let name = &parameter.name;
        if name.is_empty() || !names.insert(name) {
            return wrong(format!("{field}.name"), format!("`{name}` is no name of its own"));
        }
        if parameter.dtype == DType::F4E2M1 {
            return wrong(format!("{field}.dtype"), "f4e2m1 has no host values");
        }
        if parameter.bytes().is_none_or(|bytes| bytes > isize::MAX as usize) {
            return wrong(format!("{field}.shape"), format!("{:?} is too large", parameter.shape));
        }
        let trailing = index >= count - outputs;
        if parameter.role.is_result() != trailing {
            let expected = if trailing { "output or in_out" } else { "input or const" };
            let what = format!("`{name}` must be {expected}: the last {outputs} of {count} parameters are the results");
            return wrong(format!("{field}.role"), what);
        }
    }
    Ok(())
}

fn kernel(field: &str, kernel: &Kernel, entry: &Entry, symbols: &[ptx::Declared]) -> Check {
    let Some(declared) = symbols.iter().find(|one| one.name == kernel.symbol) else {
        let names: Vec<&str> = symbols.iter().map(|one| one.name.as_str()).collect();
        let what = format!("the PTX has no entry `{}`; it has {}", kernel.symbol, names.join(", "));
        return wrong(format!("{field}.symbol"), what);
    };
    // The driver reads as many arguments as the kernel declares, however many it is given.
    let (takes, given) = (declared.parameters.len(), kernel.arguments.len());
    if takes != given {
        return wrong(
            format!("{field}.arguments"),
            format!("`{}` takes {takes} arguments, found {given}", kernel.symbol),
        );
    }
    if let Some(index) = declared.parameters.iter().position(|one| !ptx::is_address(one)) {
        let what = format!("`{}` declares `{}`, which is no device address", kernel.symbol, declared.parameters[index]);
        return wrong(format!("{field}.arguments[{index}]"), what);
    }
    for (name, extents, limits) in [("grid", &kernel.grid, GRID), ("block", &kernel.block, BLOCK)] {
        for (axis, (&extent, limit)) in extents.iter().zip(limits).enumerate() {
            if extent == 0 || extent > limit {
                return wrong(format!("{field}.{name}[{axis}]"), format!("expected 1 to {limit}, found {extent}"));
            }
        }
    }
    let threads: u64 = kernel.block.iter().map(|&extent| u64::from(extent)).product();
    if threads > THREADS {
        return wrong(format!("{field}.block"), format!("{threads} threads exceed the {THREADS} of a block"));
    }
    if kernel.dynamic_shared_bytes > SHARED {
        let what = format!("{} bytes exceed the {SHARED} of a block", kernel.dynamic_shared_bytes);
        return wrong(format!("{field}.dynamic_shared_bytes"), what);
    }
    for (index, Argument::Parameter(name)) in kernel.arguments.iter().enumerate() {
        if !entry.parameters.iter().any(|parameter| parameter.name == *name) {
            return wrong(format!("{field}.arguments[{index}]"), format!("the entry has no parameter `{name}`"));
        }
    }
    Ok(())
}

/// A result that no kernel receives cannot be written.
fn unwritten(manifest: &Manifest) -> Check {
    let received: BTreeSet<&str> = manifest
        .kernels
        .iter()
        .flat_map(|kernel| &kernel.arguments)
        .map(|Argument::Parameter(name)| name.as_str())
        .collect();
    for (index, parameter) in manifest.entry.parameters.iter().enumerate() {
        if parameter.role.is_result() && !received.contains(parameter.name.as_str()) {
            return wrong(
                format!("entry.parameters[{index}]"),
                format!("no kernel receives the result `{}`", parameter.name),
            );
        }
    }
    Ok(())
}
