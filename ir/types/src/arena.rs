//! The memory that types and IR nodes live in.

use bumpalo_herd::{Herd, Member};

/// Owner of all memory of one compilation. Create it first, then borrow contexts from it.
///
/// One bump allocator per context (see [`crate::TypeContext::fork`]), so that parallel passes allocate
/// without a lock. Nothing in it is dropped: only `Copy` data is admitted.
#[derive(Default)]
pub struct Arena {
    herd: Herd,
}

impl Arena {
    /// An empty arena.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    pub(crate) fn member(&self) -> Member<'_> {
        self.herd.get()
    }
}
