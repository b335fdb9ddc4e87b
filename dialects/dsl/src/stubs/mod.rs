//! Stub files of the package, for editors and type checkers: the ops of the registry as functions.

mod ops;

use tf_core::op::OpRegistry;
use tf_target::mma::MmaOpSpec;
use tf_types::{DType, Storage};

use crate::names::plugin_dialects;

/// A stub file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stub {
    /// Where it lies below the folder of stubs.
    pub path: String,
    /// What it says.
    pub text: String,
}

/// What no op decides.
const PACKAGE: &[(&str, &str)] = &[
    ("tilefoundry/__init__.pyi", include_str!("package/root.pyi")),
    ("tilefoundry/module.pyi", include_str!("package/module.pyi")),
    ("tilefoundry/target.pyi", include_str!("package/target.pyi")),
    ("tilefoundry/ir/__init__.pyi", ""),
    ("tilefoundry/ir/core/__init__.pyi", include_str!("package/core.pyi")),
    ("tilefoundry/ir/core/pattern.pyi", include_str!("package/pattern.pyi")),
    ("tilefoundry/ir/types/dim.pyi", include_str!("package/dim.pyi")),
    ("tilefoundry/ir/types/shard.pyi", include_str!("package/shard.pyi")),
    ("tilefoundry/dsl/__init__.pyi", include_str!("package/dsl.pyi")),
    ("tilefoundry/dsl/T/cuda/__init__.pyi", include_str!("package/cuda.pyi")),
];

/// The stubs of the package: ops of both dialects and of those of plugins, dtypes, storages, instructions of platforms, and the
/// rest as it is.
#[must_use]
pub fn stubs(registry: &OpRegistry) -> Vec<Stub> {
    let mut files: Vec<_> =
        PACKAGE.iter().map(|&(path, text)| Stub { path: path.to_owned(), text: text.to_owned() }).collect();
    let mut add = |path: &str, text| files.push(Stub { path: path.to_owned(), text });
    for dialect in plugin_dialects(registry) {
        add(&format!("tilefoundry/dsl/{dialect}/__init__.pyi"), ops::dialect(registry, dialect));
    }
    add("tilefoundry/dsl/tf/__init__.pyi", ops::dialect(registry, "tf"));
    add("tilefoundry/dsl/T/__init__.pyi", ops::dialect(registry, "T"));
    add("tilefoundry/dsl/T/cuda/mma.pyi", instructions());
    add("tilefoundry/dsl/storage.pyi", storages());
    add("tilefoundry/ir/types/__init__.pyi", types());
    add("tilefoundry/ir/types/kinds.pyi", ops::kinds(registry));
    add("tilefoundry/ir/types/storage.pyi", "from tilefoundry.ir.types import StorageKind as StorageKind\n".to_owned());
    files
}

/// `T.cuda.mma`
fn instructions() -> String {
    let mut text = "\
from tilefoundry.ir.types import DType
from tilefoundry.ir.types.shard import Mesh, ShardLayout

class MmaOpSpec:
    \"\"\"A matrix instruction.\"\"\"

    name: str
    operand_layout: str
    shape_mnk: tuple[int, int, int]
    dtype_a: DType
    dtype_b: DType
    dtype_c: DType

class MmaAtom:
    \"\"\"An instruction with the placement of its fragments.\"\"\"

    op: MmaOpSpec
    A: ShardLayout
    B: ShardLayout
    C: ShardLayout
    required_scope: Mesh

def atom(*, op: MmaOpSpec) -> MmaAtom: ...

"
    .to_owned();
    for spec in MmaOpSpec::all() {
        text.push_str(&format!("{}: MmaOpSpec\n", spec.name()));
    }
    text
}

fn storages() -> String {
    let names = Storage::ALL.map(|storage| format!("{}: Storage\n", storage.name()));
    format!("from tilefoundry.ir.types import Storage\n\n{}", names.concat())
}

fn types() -> String {
    let dtypes = DType::ALL.map(|dtype| format!("    {}: DType\n", dtype.name()));
    let storages = Storage::ALL.map(|storage| format!("    {}: Storage\n", storage.name().to_ascii_uppercase()));
    format!(
        "\
from collections.abc import Sequence
from typing import Literal

from tilefoundry.ir.types.dim import Dim
from tilefoundry.ir.types.shard import LayoutBase

class DType:
    \"\"\"An element type.\"\"\"

{}
class Storage:
    \"\"\"Where a tensor lies.\"\"\"

class StorageKind:
    \"\"\"The storages by name.\"\"\"

{}
class TensorType:
    \"\"\"The type of a tensor.\"\"\"

    def __init__(
        self,
        shape: Sequence[Dim | int],
        dtype: DType | {},
        layout: LayoutBase | None = None,
        storage: Storage | {} = \"gmem\",
    ) -> None: ...
",
        dtypes.concat(),
        storages.concat(),
        ops::literals(DType::ALL.map(DType::name)),
        ops::literals(Storage::ALL.map(Storage::name)),
    )
}
