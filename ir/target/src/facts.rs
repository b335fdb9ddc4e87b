//! Devices and architectures as the data files state them.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

use serde::Deserialize;

const ARCHITECTURES: [&str; 3] = [
    include_str!("../data/architectures/nvidia.sm90.json"),
    include_str!("../data/architectures/nvidia.sm100.json"),
    include_str!("../data/architectures/apple.amx.json"),
];

/// By name, sorted.
const DEVICES: [(&str, &str); 3] = [
    ("apple.m2_pro", include_str!("../data/devices/apple.m2_pro.json")),
    ("nvidia.b200_sxm", include_str!("../data/devices/nvidia.b200_sxm.json")),
    ("nvidia.h200_sxm", include_str!("../data/devices/nvidia.h200_sxm.json")),
];

/// A device or fact that is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetError(pub String);

impl fmt::Display for TargetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
impl std::error::Error for TargetError {}

/// A value, or why there is none.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Fact {
    /// A number.
    Known {
        /// The number.
        value: serde_json::Number,
        /// Its unit.
        unit: String,
        /// `vendor`, `measured`, `derived` or `reference`.
        origin: String,
        /// Under which it holds, such as `dense`; empty: always.
        #[serde(default)]
        conditions: String,
    },
    /// No number.
    Unavailable {
        /// Why.
        unavailable: String,
    },
}

/// Who generates code for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TargetFamily {
    /// NVIDIA GPUs.
    Cuda,
    /// Apple's matrix units; nothing generates code for them.
    Amx,
}

/// What devices of one generation share.
#[derive(Clone, Debug, Deserialize)]
pub struct Architecture {
    /// Its name, such as `nvidia.sm90`.
    pub name: String,
    /// Its family.
    pub kind: TargetFamily,
    /// The code generator's name of it, such as `sm_90`.
    pub code: String,
    /// Parallel levels, outermost first.
    pub levels: Vec<String>,
    /// What it can do, such as `wgmma`.
    pub capabilities: Vec<String>,
    /// Dtypes it computes in.
    pub compute_dtypes: Vec<String>,
    /// The level that owns an instance of each storage.
    pub owners: BTreeMap<String, String>,
    facts: BTreeMap<String, Fact>,
}

/// A device.
#[derive(Clone, Debug)]
pub struct Device {
    /// Its name, such as `nvidia.h200_sxm`.
    pub name: String,
    /// Its generation.
    pub architecture: Architecture,
    facts: BTreeMap<String, Fact>,
}

#[derive(Deserialize)]
struct DeviceFile {
    name: String,
    architecture: String,
    facts: BTreeMap<String, Fact>,
}

fn read<T: for<'a> Deserialize<'a>>(text: &str) -> T {
    serde_json::from_str(text).expect("the data files are checked by a test")
}

/// The device that programs run on where they state none.
#[must_use]
pub const fn default_device() -> &'static str {
    "nvidia.h200_sxm"
}

/// All devices by name.
#[must_use]
pub fn device_names() -> [&'static str; 3] {
    DEVICES.map(|(name, _)| name)
}

/// The devices of the data files, in their order.
static KNOWN: LazyLock<Vec<Device>> = LazyLock::new(|| {
    let architectures: Vec<Architecture> = ARCHITECTURES.iter().map(|text| read(text)).collect();
    let device = |(_, text): &(&str, &str)| {
        let file: DeviceFile = read(text);
        let architecture = architectures.iter().find(|a| a.name == file.architecture).cloned();
        let architecture = architecture.expect("the data files are checked by a test");
        Device { name: file.name, architecture, facts: file.facts }
    };
    DEVICES.iter().map(device).collect()
});

/// The facts of a device.
///
/// # Errors
/// An unknown device; the message lists the known ones.
pub fn lookup(device: &str) -> Result<&'static Device, TargetError> {
    KNOWN.iter().find(|known| known.name == device).ok_or_else(|| {
        let known = device_names().map(|name| format!("`{name}`")).join(", ");
        TargetError(format!("unknown device `{device}`; known are {known}"))
    })
}

impl Device {
    /// A fact of the device or of its architecture.
    ///
    /// # Errors
    /// There is none of that name.
    pub fn fact(&self, name: &str) -> Result<&Fact, TargetError> {
        let found = self.facts.get(name).or_else(|| self.architecture.facts.get(name));
        found.ok_or_else(|| TargetError(format!("`{}` has no fact `{name}`", self.name)))
    }

    /// A fact as a number.
    ///
    /// # Errors
    /// There is none of that name, or it is unavailable.
    pub fn number(&self, name: &str) -> Result<f64, TargetError> {
        match self.fact(name)? {
            Fact::Known { value, .. } => Ok(value.as_f64().expect("JSON numbers are finite")),
            Fact::Unavailable { unavailable } => {
                Err(TargetError(format!("`{name}` of `{}` is unavailable: {unavailable}", self.name)))
            }
        }
    }

    /// A fact as an integer, such as `threads_per_cta`.
    ///
    /// # Errors
    /// There is none of that name, it is unavailable, or it is no integer.
    pub fn integer(&self, name: &str) -> Result<i64, TargetError> {
        let number = self.number(name)?;
        match self.fact(name)? {
            Fact::Known { value, .. } if value.is_i64() => Ok(value.as_i64().unwrap_or_default()),
            _ => Err(TargetError(format!("`{name}` of `{}` is {number}, which is no integer", self.name))),
        }
    }

    /// The most positions a level can have in one program: threads of a CTA; CTAs are not limited.
    #[must_use]
    pub fn level_limit(&self, level: &str) -> Option<i64> {
        (level == "thread").then(|| self.integer("threads_per_cta").ok()).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::{ARCHITECTURES, Architecture, DEVICES, Fact, TargetFamily, default_device, lookup, read};

    #[test]
    fn data_files_are_whole() {
        for (name, _) in DEVICES {
            assert_eq!(lookup(name).unwrap().name, name);
        }
        for text in ARCHITECTURES {
            assert!(!read::<Architecture>(text).levels.is_empty());
        }
    }

    #[test]
    fn facts_of_the_default_device() {
        let device = lookup(default_device()).unwrap();
        assert_eq!((device.architecture.code.as_str(), device.architecture.kind), ("sm_90", TargetFamily::Cuda));
        assert_eq!(device.integer("sm_count"), Ok(132));
        assert_eq!(device.integer("threads_per_cta"), Ok(1024));
        assert_eq!(device.number("hbm_bandwidth"), Ok(4.8e12));
        assert_eq!((device.level_limit("thread"), device.level_limit("cta")), (Some(1024), None));
        assert_eq!(device.architecture.owners["tmem"], "cta");
        let throughput = device.fact("bf16_throughput").unwrap();
        assert!(
            matches!(throughput, Fact::Known { conditions, unit, .. } if conditions == "dense" && unit == "flop/s")
        );
        assert_eq!((device.integer("block_z"), device.integer("grid_y")), (Ok(64), Ok(65535)));
    }

    #[test]
    fn what_is_not_known_is_refused() {
        let message = lookup("nvidia.h200").unwrap_err().to_string();
        assert_eq!(
            message,
            "unknown device `nvidia.h200`; known are `apple.m2_pro`, `nvidia.b200_sxm`, `nvidia.h200_sxm`"
        );
        let device = lookup("nvidia.h200_sxm").unwrap();
        let message = device.number("tensor_memory_per_cta").unwrap_err().to_string();
        assert!(message.contains("unavailable: this architecture has no tensor memory"), "{message}");
        assert_eq!(device.number("speed").unwrap_err().to_string(), "`nvidia.h200_sxm` has no fact `speed`");
    }
}
