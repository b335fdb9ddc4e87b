//! The manifest's data.

use serde::{Deserialize, Serialize};
use tf_types::DType;

use crate::ArtifactError;

/// Version of the manifest's form; a reader takes exactly this one.
pub const FORMAT: u32 = 1;

/// How to launch the kernels of a PTX text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// [`FORMAT`].
    pub format: u32,
    /// Architecture the PTX is for: `sm_90`, `sm_90a`.
    pub target: String,
    /// Name and version of the program that wrote the artifact.
    pub producer: String,
    /// The entry as its caller sees it.
    pub entry: Entry,
    /// Kernels in launch order, all on one stream.
    pub kernels: Vec<Kernel>,
}

/// The entry ABI.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The entry function's name.
    pub name: String,
    /// All parameters in order.
    pub parameters: Vec<Parameter>,
    /// How many trailing parameters are the results.
    pub outputs: usize,
}

impl Entry {
    /// The parameters that hold the results.
    #[must_use]
    pub fn results(&self) -> &[Parameter] {
        &self.parameters[self.parameters.len().saturating_sub(self.outputs)..]
    }
}

/// One parameter: a dense row-major tensor in global memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameter {
    /// Its name, unique in the entry.
    pub name: String,
    /// Element type, by its name in the language; bool takes one byte.
    #[serde(with = "dtype_name")]
    pub dtype: DType,
    /// Extents, outermost first.
    pub shape: Vec<usize>,
    /// What the caller does with it.
    pub role: Role,
}

impl Parameter {
    /// Bytes of the tensor; `None` where they do not fit the address space.
    #[must_use]
    pub fn bytes(&self) -> Option<usize> {
        let width = (self.dtype.bits() as usize).div_ceil(8);
        self.shape.iter().try_fold(width, |bytes, &extent| bytes.checked_mul(extent))
    }
}

/// What the caller does with a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Filled before the launch, only read.
    Input,
    /// A declared constant (a weight): filled before the launch, only read.
    Const,
    /// Holds nothing before the launch; a result.
    Output,
    /// Filled before the launch and overwritten; a result.
    InOut,
}

impl Role {
    /// Whether the caller provides the content.
    #[must_use]
    pub const fn is_given(self) -> bool {
        !matches!(self, Self::Output)
    }

    /// Whether the content after the launch is a result.
    #[must_use]
    pub const fn is_result(self) -> bool {
        matches!(self, Self::Output | Self::InOut)
    }
}

/// One kernel launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kernel {
    /// The PTX `.entry`'s name.
    pub symbol: String,
    /// Blocks of the grid, x y z.
    pub grid: [u32; 3],
    /// Threads of a block, x y z.
    pub block: [u32; 3],
    /// Dynamic shared memory of a block.
    pub dynamic_shared_bytes: u32,
    /// One per kernel parameter, in order.
    pub arguments: Vec<Argument>,
}

/// What a kernel parameter receives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Argument {
    /// The device address of the entry's parameter of that name.
    Parameter(String),
}

impl Manifest {
    /// Reads a manifest, not yet validated.
    ///
    /// # Errors
    /// No JSON, another format version, or a field that is missing, unknown or of the wrong type, by its path.
    pub(crate) fn from_json(text: &str) -> Result<Self, ArtifactError> {
        let json: serde_json::Value = serde_json::from_str(text)
            .map_err(|error| ArtifactError::new(format!("the manifest is no JSON: {error}")))?;
        match json.get("format").and_then(serde_json::Value::as_u64) {
            Some(version) if version == u64::from(FORMAT) => {}
            Some(version) => {
                return Err(ArtifactError::new(format!("format: this reads version {FORMAT}, found {version}"))
                    .with_help("emit the artifact again with this version's emit-ptx"));
            }
            None => return Err(ArtifactError::new(format!("format: expected the version number {FORMAT}"))),
        }
        serde_path_to_error::deserialize(json).map_err(|error| {
            let path = error.path().to_string();
            ArtifactError::new(if path == "." {
                error.inner().to_string()
            } else {
                format!("{path}: {}", error.inner())
            })
        })
    }
}

/// A dtype as its name in the language.
mod dtype_name {
    use serde::{Deserialize, Deserializer, Serializer};
    use tf_types::DType;

    pub(super) fn serialize<S: Serializer>(dtype: &DType, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(dtype.name())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<DType, D::Error> {
        let name = String::deserialize(deserializer)?;
        DType::from_name(&name).map_err(serde::de::Error::custom)
    }
}
