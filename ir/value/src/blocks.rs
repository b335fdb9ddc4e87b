//! The allocator for programs that hold large tensors.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Mutex;

/// Smaller blocks are the system's business alone.
const LEAST: usize = 1 << 20;
/// How many blocks are kept, and how many bytes together.
const PLACES: usize = 16;
const MOST: usize = 256 << 20;

/// The system's allocator, which keeps up to 256 MiB of large blocks (from 1 MiB) for the next request of the same size and asks for large
/// pages for new ones. A tensor of 64 MiB has 16,384 pages of 4 KiB: taking them from the system and giving them back costs several times
/// what most ops on it cost. Every block is one of the system's: a library with another allocator over it may free what this one made.
pub struct LargeBlocks {
    kept: Mutex<Kept>,
}

struct Kept {
    /// The next place to use.
    next: usize,
    bytes: usize,
    blocks: [Block; PLACES],
}

#[derive(Clone, Copy)]
struct Block {
    start: *mut u8,
    size: usize,
}

// SAFETY: the blocks belong to whoever has them, and they are nobody else's.
unsafe impl Send for Kept {}

const NONE: Block = Block { start: std::ptr::null_mut(), size: 0 };

impl Kept {
    fn remove(&mut self, at: usize) -> Block {
        self.bytes -= self.blocks[at].size;
        std::mem::replace(&mut self.blocks[at], NONE)
    }
}

impl Default for LargeBlocks {
    fn default() -> Self {
        Self::new()
    }
}

impl LargeBlocks {
    /// Keeps nothing yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { kept: Mutex::new(Kept { next: 0, bytes: 0, blocks: [NONE; PLACES] }) }
    }

    /// A kept block of exactly that size.
    fn take(&self, size: usize) -> Option<Block> {
        // Whoever would have to wait goes to the system.
        let mut kept = self.kept.try_lock().ok()?;
        let at = kept.blocks.iter().position(|block| block.size == size)?;
        Some(kept.remove(at))
    }

    /// Keeps a block where there is room, in the place of the oldest one; what it returns goes back to the system.
    fn keep(&self, block: Block) -> [Block; 2] {
        let Ok(mut kept) = self.kept.try_lock() else { return [block, NONE] };
        if block.size > MOST {
            return [block, NONE];
        }
        let at = kept.next;
        let oldest = kept.remove(at);
        // Even where there is no room, so that sizes nobody asks for any more leave one after the other.
        kept.next = (at + 1) % PLACES;
        if kept.bytes + block.size > MOST {
            return [block, oldest];
        }
        kept.blocks[at] = block;
        kept.bytes += block.size;
        [oldest, NONE]
    }
}

/// What the system's blocks are aligned to, whoever asks: two words.
const ALIGNED: usize = 2 * size_of::<usize>();

const fn is_large(layout: Layout) -> bool {
    // What the system aligns anyway, so that blocks of one size can stand for each other.
    layout.size() >= LEAST && layout.align() <= ALIGNED
}

// SAFETY: every block is one of the system's, of the size asked for and aligned as every block of that size, and is handed out to one owner at
// a time: it leaves the table when it is taken.
unsafe impl GlobalAlloc for LargeBlocks {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if is_large(layout)
            && let Some(block) = self.take(layout.size())
        {
            return block.start;
        }
        // SAFETY: the caller's promise.
        let start = unsafe { System.alloc(layout) };
        advise(start, layout.size());
        start
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // New pages are zero already.
        // SAFETY: the caller's promise.
        let start = unsafe { System.alloc_zeroed(layout) };
        advise(start, layout.size());
        start
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        if !is_large(layout) {
            // SAFETY: the caller's promise.
            return unsafe { System.dealloc(start, layout) };
        }
        for block in self.keep(Block { start, size: layout.size() }) {
            if !block.start.is_null() {
                // SAFETY: a block of the system's of that size that nobody owns now; the system frees any alignment up to two words alike.
                unsafe { System.dealloc(block.start, Layout::from_size_align_unchecked(block.size, ALIGNED)) };
            }
        }
    }

    unsafe fn realloc(&self, start: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's promise; the system moves pages instead of contents.
        unsafe { System.realloc(start, layout, size) }
    }
}

/// Asks for large pages in a new block.
#[cfg(target_os = "linux")]
fn advise(start: *mut u8, size: usize) {
    const HUGE: usize = 2 << 20;
    if start.is_null() || size < 2 * HUGE {
        return;
    }
    let from = start.addr().next_multiple_of(HUGE);
    let to = (start.addr() + size) / HUGE * HUGE;
    if from < to {
        // SAFETY: advice changes no contents; a refusal changes nothing at all.
        unsafe { libc::madvise(start.with_addr(from).cast(), to - from, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(not(target_os = "linux"))]
fn advise(_: *mut u8, _: usize) {}

#[cfg(test)]
mod tests {
    use std::alloc::{GlobalAlloc, Layout};

    use super::{LEAST, LargeBlocks, MOST, PLACES};

    fn layout(size: usize) -> Layout {
        Layout::from_size_align(size, 8).unwrap()
    }

    #[test]
    fn a_block_serves_the_next_request_of_its_size() {
        let blocks = LargeBlocks::new();
        // SAFETY: each block is used within its size and freed once, with its layout.
        unsafe {
            let first = blocks.alloc(layout(3 * LEAST));
            first.write_bytes(7, 3 * LEAST);
            blocks.dealloc(first, layout(3 * LEAST));
            let other = blocks.alloc(layout(3 * LEAST - 8));
            assert_ne!(other, first);
            let again = blocks.alloc(layout(3 * LEAST));
            assert_eq!(again, first);
            let clean = blocks.alloc_zeroed(layout(3 * LEAST));
            assert!(std::slice::from_raw_parts(clean, 3 * LEAST).iter().all(|&byte| byte == 0));
            let grown = blocks.realloc(again, layout(3 * LEAST), 9 * LEAST);
            assert_eq!(grown.read(), 7);
            blocks.dealloc(grown, layout(9 * LEAST));
            blocks.dealloc(clean, layout(3 * LEAST));
            blocks.dealloc(other, layout(3 * LEAST - 8));
        }
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let blocks = LargeBlocks::new();
        for size in (1..2 * PLACES).map(|n| n * 5 * LEAST) {
            // SAFETY: as above.
            unsafe {
                let block = blocks.alloc(layout(size));
                blocks.dealloc(block, layout(size));
            }
            let kept = blocks.kept.lock().unwrap();
            assert_eq!(kept.bytes, kept.blocks.iter().map(|block| block.size).sum::<usize>());
            assert!(kept.bytes <= MOST);
        }
        // SAFETY: as above.
        unsafe {
            let small = blocks.alloc(layout(64));
            blocks.dealloc(small, layout(64));
        }
        assert!(blocks.kept.lock().unwrap().blocks.iter().all(|block| block.size != 64));
    }

    #[test]
    fn later_sizes_take_the_place_of_earlier_ones() {
        let blocks = LargeBlocks::new();
        // SAFETY: as above.
        unsafe {
            let first: Vec<_> = (0..4).map(|_| blocks.alloc(layout(MOST / 4))).collect();
            first.into_iter().for_each(|block| blocks.dealloc(block, layout(MOST / 4)));
            for _ in 0..PLACES + 1 {
                let later = blocks.alloc(layout(48 * LEAST));
                blocks.dealloc(later, layout(48 * LEAST));
            }
        }
        let kept = blocks.kept.lock().unwrap();
        assert!(kept.blocks.iter().any(|block| block.size == 48 * LEAST));
    }
}
