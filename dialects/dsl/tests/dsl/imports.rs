//! Names that a file imports.

use crate::common::with_source;

/// The type of the first parameter of the entry, else the first error with its help.
fn parameter(head: &str, annotation: &str) -> String {
    let source = format!("{head}\n@func\ndef f(x: {annotation}):\n    return x\n");
    with_source(&source, |_, result| match result {
        Ok(module) => module.entry_function().map(|f| f.params()[0].ty().to_string()).unwrap_or_default(),
        Err(errors) => {
            let help = errors[0].help.as_deref().unwrap_or_default();
            format!("{} | {help}", errors[0].message)
        }
    })
}

#[test]
fn a_name_that_is_not_imported_is_told_its_home() {
    let head = "from tilefoundry import func\nfrom tilefoundry.dsl import Tensor";
    for (annotation, want) in [
        ("Tensor[(4,), \"f32\", Layout((4,), (1,))]", "tilefoundry.ir.types.shard import Layout"),
        ("Tensor[(4,), DType.f32]", "tilefoundry import DType"),
        ("Tensor[(DimVar(\"n\", 1, 9),), \"f32\"]", "tilefoundry.dsl import DimVar"),
        ("Tensor[(4,), \"f32\", smem]", "tilefoundry.dsl.storage import smem"),
        ("Tensor[(4,), \"f32\", StorageKind.SMEM]", "tilefoundry.ir.types.storage import StorageKind"),
    ] {
        let told = parameter(head, annotation);
        assert!(told.ends_with(&format!("| add it to `from {want}`")), "{annotation}: {told}");
    }
}
