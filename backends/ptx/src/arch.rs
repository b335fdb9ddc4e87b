//! GPU architectures and the PTX version each one is compiled with.
use std::{fmt, str::FromStr};
use tf_mlir::BackendError;

/// Name and PTX feature of every known architecture. Versions are the lowest that cover the
/// architecture's own instructions, so that old drivers still load the result; all are accepted by
/// the assembler of CUDA 12.9 (PTX up to 8.8).
const KNOWN: [(&str, &str); 10] = [
    ("sm_80", "+ptx80"),
    ("sm_86", "+ptx80"),
    ("sm_87", "+ptx80"),
    ("sm_89", "+ptx81"),
    ("sm_90", "+ptx80"),
    ("sm_90a", "+ptx80"),
    ("sm_100", "+ptx86"),
    ("sm_100a", "+ptx86"),
    ("sm_120", "+ptx87"),
    ("sm_120a", "+ptx87"),
];

/// A known GPU architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arch {
    name: &'static str,
    feature: &'static str,
}

impl Arch {
    /// All known architectures.
    pub fn known() -> impl Iterator<Item = Self> {
        KNOWN.into_iter().map(|(name, feature)| Self { name, feature })
    }

    /// The name, such as `sm_90a`.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// LLVM's feature string that selects the PTX version.
    pub fn feature(self) -> &'static str {
        self.feature
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name)
    }
}

impl FromStr for Arch {
    type Err = BackendError;

    fn from_str(name: &str) -> Result<Self, BackendError> {
        Self::known().find(|arch| arch.name == name).ok_or_else(|| {
            let names: Vec<&str> = KNOWN.iter().map(|(name, _)| *name).collect();
            BackendError::new(format!("unknown GPU architecture `{name}`; known: {}", names.join(", ")))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parse_and_unknown_ones_list_the_known() {
        for arch in Arch::known() {
            assert_eq!(arch.name().parse::<Arch>().unwrap(), arch);
        }
        let error = "sm_35".parse::<Arch>().unwrap_err().message;
        assert!(error.starts_with("unknown GPU architecture `sm_35`; known: sm_80, sm_86"), "{error}");
    }
}
