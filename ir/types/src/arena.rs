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

/// Asks for large pages where a chunk of the arena begins: `room` bytes below `first`, its first allocation. Walks over a
/// million nodes jump through 100 MB, and with pages of 4 KiB each jump also misses the cache of page addresses.
#[cfg(target_os = "linux")]
pub(crate) fn advise_huge_pages(first: usize, room: usize) {
    const HUGE: usize = 2 << 20;
    let (from, to) = ((first - room).next_multiple_of(HUGE), first / HUGE * HUGE);
    if from < to {
        // SAFETY: advice on memory of the arena changes no contents; a refusal changes nothing at all.
        unsafe { libc::madvise(std::ptr::without_provenance_mut(from), to - from, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn advise_huge_pages(_first: usize, _room: usize) {}
