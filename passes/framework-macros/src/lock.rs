//! Expansion of `locked_versions!`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{Error, Result};

/// Crates whose types cross between a driver and a plugin; what they depend on crosses inside them.
const CROSSING: [&str; 6] = ["tf-types", "tf-core", "tf-value", "tf-framework", "tf-rewrite", "tf-lower"];

#[derive(Default)]
struct Package {
    versions: BTreeSet<String>,
    /// By version.
    dependencies: BTreeMap<String, Vec<String>>,
}

/// The packages of a lock file by name. It is read by lines, as cargo writes it.
fn packages(text: &str) -> BTreeMap<String, Package> {
    let mut packages: BTreeMap<String, Package> = BTreeMap::new();
    for block in text.split("[[package]]").skip(1) {
        let quoted = |line: &str| line.split('"').nth(1).unwrap_or_default().to_owned();
        let field = |name: &str| block.lines().find(|line| line.starts_with(name)).map(quoted).unwrap_or_default();
        let (name, version) = (field("name = "), field("version = "));
        let list =
            block.split_once("dependencies = [").map_or("", |(_, rest)| rest.split(']').next().unwrap_or_default());
        let dependencies = list.lines().filter(|line| line.contains('"')).map(quoted).collect();
        let package = packages.entry(name).or_default();
        package.versions.insert(version.clone());
        package.dependencies.insert(version, dependencies);
    }
    packages
}

/// Lines `crate: version` of what the crossing crates link.
fn versions(text: &str) -> String {
    let packages = packages(text);
    let mut lines = BTreeSet::new();
    for name in CROSSING {
        let Some(package) = packages.get(name) else { continue };
        for dependency in package.dependencies.values().flatten() {
            let (name, version) = match dependency.split_once(' ') {
                Some((name, rest)) => (name, rest.split(' ').next().unwrap_or_default().to_owned()),
                None => {
                    let only = packages.get(dependency).and_then(|p| p.versions.first());
                    (dependency.as_str(), only.cloned().unwrap_or_default())
                }
            };
            lines.insert(format!("{name}: {version}"));
        }
    }
    lines.into_iter().collect::<Vec<_>>().join("\n")
}

fn lock_file(manifest: &Path) -> Option<PathBuf> {
    manifest.ancestors().map(|folder| folder.join("Cargo.lock")).find(|file| file.is_file())
}

pub fn expand() -> Result<TokenStream> {
    let refuse = |why: String| Error::new(Span::call_site(), why);
    let manifest =
        std::env::var("CARGO_MANIFEST_DIR").map_err(|error| refuse(format!("CARGO_MANIFEST_DIR: {error}")))?;
    let file =
        lock_file(Path::new(&manifest)).ok_or_else(|| refuse(format!("no Cargo.lock at or above {manifest}")))?;
    let text = std::fs::read_to_string(&file).map_err(|error| refuse(format!("{}: {error}", file.display())))?;
    let (versions, file) = (versions(&text), file.to_string_lossy().into_owned());
    // The constant makes the crate depend on the lock file.
    Ok(quote!({
        const _: &[u8] = ::core::include_bytes!(#file);
        #versions
    }))
}

#[cfg(test)]
mod tests {
    #[test]
    fn direct_dependencies_with_their_versions() {
        let lock = r#"
version = 4

[[package]]
name = "half"
version = "2.7.1"

[[package]]
name = "hashbrown"
version = "0.15.0"

[[package]]
name = "hashbrown"
version = "0.17.1"

[[package]]
name = "other"
version = "1.0.0"

[[package]]
name = "tf-value"
version = "0.1.0"
dependencies = [
 "half",
 "hashbrown 0.17.1",
]
"#;
        assert_eq!(super::versions(lock), "half: 2.7.1\nhashbrown: 0.17.1");
    }
}
