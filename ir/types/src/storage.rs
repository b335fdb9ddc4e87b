//! Memory levels.

use crate::TypeError;

/// Where a tensor resides. Order and numbers are part of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Storage {
    /// CPU memory.
    Host = 1,
    /// Device global memory.
    Gmem = 2,
    /// Shared memory of one CTA.
    Smem = 3,
    /// Registers of one thread.
    Rmem = 4,
    /// Tensor memory of one CTA.
    Tmem = 5,
    /// Residency not decided.
    Umat = 6,
}

impl Storage {
    /// All storages, by number.
    pub const ALL: [Self; 6] = [Self::Host, Self::Gmem, Self::Smem, Self::Rmem, Self::Tmem, Self::Umat];

    /// The name in source and textual IR.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Gmem => "gmem",
            Self::Smem => "smem",
            Self::Rmem => "rmem",
            Self::Tmem => "tmem",
            Self::Umat => "umat",
        }
    }

    /// The storage of that name.
    ///
    /// # Errors
    /// An unknown name; the message lists the valid ones.
    pub fn from_name(name: &str) -> Result<Self, TypeError> {
        Self::ALL.into_iter().find(|s| s.name() == name).ok_or_else(|| {
            let known: Vec<_> = Self::ALL.iter().map(|s| s.name()).collect();
            TypeError::new(format!("unknown storage `{name}`; expected one of {}", known.join(", ")))
        })
    }

    /// Rank for stride decisions: rmem 0, smem 1, gmem 2, umat as rmem; host and tmem have none.
    #[must_use]
    pub const fn level(self) -> Option<u8> {
        match self {
            Self::Rmem | Self::Umat => Some(0),
            Self::Smem => Some(1),
            Self::Gmem => Some(2),
            Self::Host | Self::Tmem => None,
        }
    }
}

impl std::fmt::Display for Storage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
