//! Memory: elements, whether they hold something, and who accessed them.

use std::collections::TryReserveError;

use tf_value::{Tensor, ValueError};

use super::code::{Allocated, Scope};
use super::order::By;
use super::sets::{Access, BEFORE, NOBODY, Sets};

/// What is known of an element that positions share.
#[derive(Clone, Copy)]
struct Cell {
    /// Those who wrote the value that it has.
    writers: u32,
    /// Those who read it since.
    readers: u32,
    /// The allocation that it was written for, where a statement allocates the same memory again.
    generation: u32,
}

const EMPTY: Cell = Cell { writers: NOBODY, readers: NOBODY, generation: 0 };

/// All instances of an allocation, or a parameter.
struct Block {
    what: Allocated,
    /// Bytes of an element.
    width: usize,
    /// Bytes that are counted for it.
    taken: usize,
    bytes: Vec<u8>,
    /// Of memory that is shared.
    cells: Vec<Cell>,
    /// Of memory that is not: whether an element holds something.
    written: Vec<bool>,
}

/// Where elements are.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// The number of the block.
    pub block: u32,
    pub generation: u32,
    /// The thread whose instance it is, where each has one.
    pub thread: u32,
    /// The element that addresses count from.
    pub start: i64,
}

/// Why an access is refused.
#[derive(Debug)]
pub struct Fault {
    pub kind: FaultKind,
    pub block: u32,
    /// The element of the instance.
    pub element: i64,
}

/// What is wrong with an access.
#[derive(Clone, Copy, Debug)]
pub enum FaultKind {
    /// The element is outside of the memory.
    Outside,
    /// It holds nothing.
    Empty,
    /// A read, and a write that is not in order before it.
    ReadOfWrite(Access),
    /// A write, and a write that is not in order before it.
    WriteOfWrite(Access),
    /// The same, in one run of one instruction.
    WrittenAtOnce(Access),
    /// A write, and a read that is not in order before it.
    WriteOfRead(Access),
}

/// Bytes that a run may take for its memory, with what is known of the elements.
const MOST_BYTES: usize = 1 << 34;

/// Fills an empty vector, if there is room.
fn filled<T: Clone>(vec: &mut Vec<T>, len: usize, value: T) -> Result<(), TryReserveError> {
    vec.try_reserve_exact(len)?;
    vec.resize(len, value);
    Ok(())
}

/// All memory of a run.
#[derive(Default)]
pub struct Memory {
    blocks: Vec<Block>,
    /// Bytes of all blocks.
    taken: usize,
    pub sets: Sets,
}

impl Memory {
    /// A block that holds nothing, with instances for that many threads.
    ///
    /// # Errors
    /// A dtype without values; more than [`MOST_BYTES`] of the run, or than there is.
    pub fn allocate(&mut self, what: Allocated, threads: usize) -> Result<u32, ValueError> {
        let width = Tensor::zeros(&[1], what.dtype)?.to_le_bytes().len();
        let instances = if what.scope == Scope::Thread { threads } else { 1 };
        let shared = what.scope != Scope::Thread;
        let known = if shared { size_of::<Cell>() } else { size_of::<bool>() };
        let too_large = || {
            let message = format!("{} is too large to be evaluated", what.name);
            ValueError::new(message).with_help(format!("the memory of a run takes at most {} GiB", MOST_BYTES >> 30))
        };
        // Elements that share an address are listed one by one too.
        let listed = what
            .axes
            .iter()
            .flatten()
            .try_fold(1usize, |count, factor| count.checked_mul(usize::try_from(factor.extent).ok()?));
        let elements = what.len.checked_mul(instances).ok_or_else(too_large)?;
        let taken = elements.max(listed.ok_or_else(too_large)?).checked_mul(width + known);
        let taken = taken.and_then(|bytes| bytes.checked_add(self.taken)).filter(|&bytes| bytes <= MOST_BYTES);
        let taken = taken.ok_or_else(too_large)?;
        let mut block =
            Block { bytes: Vec::new(), cells: Vec::new(), written: Vec::new(), width, taken: 0, what: what.clone() };
        let [cells, written] = if shared { [elements, 0] } else { [0, elements] };
        filled(&mut block.bytes, elements * width, 0)
            .and_then(|()| filled(&mut block.cells, cells, EMPTY))
            .and_then(|()| filled(&mut block.written, written, false))
            .map_err(|_| too_large())?;
        block.taken = taken - self.taken;
        self.taken = taken;
        self.blocks.push(block);
        Ok(self.blocks.len() as u32 - 1)
    }

    /// Frees the blocks from that number on.
    pub fn truncate(&mut self, blocks: usize) {
        self.taken -= self.blocks.drain(blocks..).map(|block| block.taken).sum::<usize>();
    }

    /// Number of blocks.
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Makes a block hold nothing in all of its instances.
    pub fn clear(&mut self, block: u32) {
        let block = &mut self.blocks[block as usize];
        block.cells.fill(EMPTY);
        block.written.fill(false);
    }

    /// Makes the instance of a thread hold nothing.
    pub fn clear_own(&mut self, block: u32, thread: u32) {
        let block = &mut self.blocks[block as usize];
        if block.what.scope == Scope::Thread {
            let len = block.what.len;
            block.written[thread as usize * len..][..len].fill(false);
        }
    }

    /// What a block is.
    pub fn what(&self, block: u32) -> &Allocated {
        &self.blocks[block as usize].what
    }

    /// Puts elements into a shared block before the run; `addresses` by element.
    pub fn fill(&mut self, block: u32, addresses: &[i64], bytes: &[u8]) {
        let block = &mut self.blocks[block as usize];
        for (&at, bytes) in addresses.iter().zip(bytes.chunks(block.width)) {
            let at = at as usize;
            block.bytes[at * block.width..][..block.width].copy_from_slice(bytes);
            block.cells[at] = Cell { writers: BEFORE, ..EMPTY };
        }
    }

    /// The elements of a shared block after the run.
    ///
    /// # Errors
    /// One holds nothing.
    pub fn contents(&self, number: u32, addresses: &[i64]) -> Result<Vec<u8>, Fault> {
        let block = &self.blocks[number as usize];
        let mut bytes = Vec::with_capacity(addresses.len() * block.width);
        for &at in addresses {
            if block.cells[at as usize].writers == NOBODY {
                return Err(Fault { kind: FaultKind::Empty, block: number, element: at });
            }
            bytes.extend_from_slice(&block.bytes[at as usize * block.width..][..block.width]);
        }
        Ok(bytes)
    }

    /// All that was done comes before all that will be.
    pub fn settle(&mut self) {
        for cell in self.blocks.iter_mut().flat_map(|block| &mut block.cells) {
            cell.writers = cell.writers.min(BEFORE);
            cell.readers = NOBODY;
        }
        self.sets.clear();
    }

    /// Gives up the sets that no element has, when there are many.
    fn make_room(&mut self) {
        if !self.sets.is_full() {
            return;
        }
        let mut live = vec![false; self.sets.len()];
        let mut elements = 0;
        for block in &self.blocks {
            elements += block.cells.len();
            block.cells.iter().flat_map(|cell| [cell.writers, cell.readers]).for_each(|set| live[set as usize] = true);
        }
        let numbers = self.sets.retain(live, elements);
        for cell in self.blocks.iter_mut().flat_map(|block| &mut block.cells) {
            cell.writers = numbers[cell.writers as usize];
            cell.readers = numbers[cell.readers as usize];
        }
    }

    /// Appends the bytes of elements.
    ///
    /// # Errors
    /// See [`FaultKind`].
    pub fn read(&mut self, by: &By<'_>, target: Target, offsets: &[i64], bytes: &mut Vec<u8>) -> Result<(), Fault> {
        self.make_room();
        let block = &mut self.blocks[target.block as usize];
        let (width, len) = (block.width, block.what.len as i64);
        let fault = |kind, element| Fault { kind, block: target.block, element };
        if block.what.scope == Scope::Thread {
            let first = target.thread as usize * block.what.len;
            for &offset in offsets {
                let element = target.start + offset;
                if !(0..len).contains(&element) {
                    return Err(fault(FaultKind::Outside, element));
                }
                let at = first + element as usize;
                if !block.written[at] {
                    return Err(fault(FaultKind::Empty, element));
                }
                bytes.extend_from_slice(&block.bytes[at * width..][..width]);
            }
            return Ok(());
        }
        let (mut trusted, mut last) = (NOBODY, (NOBODY, NOBODY));
        for &offset in offsets {
            let element = target.start + offset;
            if !(0..len).contains(&element) {
                return Err(fault(FaultKind::Outside, element));
            }
            let at = element as usize;
            let cell = &mut block.cells[at];
            if cell.writers != trusted {
                if cell.writers != NOBODY && !self.sets.any_before(cell.writers, by) {
                    let other = self.sets.conflict(cell.writers, by);
                    return Err(fault(other.map_or(FaultKind::Empty, FaultKind::ReadOfWrite), element));
                }
                trusted = cell.writers;
            }
            if cell.writers == NOBODY || cell.generation != target.generation {
                return Err(fault(FaultKind::Empty, element));
            }
            if cell.readers != last.0 || last.1 == NOBODY {
                last = (cell.readers, self.sets.with(cell.readers, by));
            }
            cell.readers = last.1;
            bytes.extend_from_slice(&block.bytes[at * width..][..width]);
        }
        Ok(())
    }

    /// Writes elements. `later`: the position has not waited for them yet.
    ///
    /// # Errors
    /// See [`FaultKind`].
    pub fn write(
        &mut self,
        by: &By<'_>,
        target: Target,
        offsets: &[i64],
        bytes: &[u8],
        later: bool,
    ) -> Result<(), Fault> {
        self.make_room();
        let block = &mut self.blocks[target.block as usize];
        let (width, len) = (block.width, block.what.len as i64);
        let fault = |kind, element| Fault { kind, block: target.block, element };
        let is_own = block.what.scope == Scope::Thread;
        let first = if is_own { target.thread as usize * block.what.len } else { 0 };
        let own = if is_own { NOBODY } else { self.sets.one(by, later) };
        let (mut trusted, mut unread, mut last) = (NOBODY, NOBODY, (NOBODY, NOBODY));
        for (&offset, value) in offsets.iter().zip(bytes.chunks(width)) {
            let element = target.start + offset;
            if !(0..len).contains(&element) {
                return Err(fault(FaultKind::Outside, element));
            }
            let at = first + element as usize;
            let old = &mut block.bytes[at * width..][..width];
            if is_own {
                block.written[at] = true;
                old.copy_from_slice(value);
                continue;
            }
            let cell = &mut block.cells[at];
            // Who writes what is there already disturbs nobody.
            if !later && cell.writers != NOBODY && cell.generation == target.generation && *old == *value {
                if last.0 != cell.writers || last.1 == NOBODY {
                    let known = self.sets.any_before(cell.writers, by);
                    last = (cell.writers, if known { cell.writers } else { self.sets.with(cell.writers, by) });
                }
                cell.writers = last.1;
                continue;
            }
            if cell.writers != trusted {
                if let Some(other) = self.sets.conflict(cell.writers, by) {
                    return Err(fault(FaultKind::WriteOfWrite(other), element));
                }
                trusted = cell.writers;
            }
            if cell.readers != unread {
                if let Some(other) = self.sets.conflict(cell.readers, by) {
                    return Err(fault(FaultKind::WriteOfRead(other), element));
                }
                unread = cell.readers;
            }
            *cell = Cell { writers: own, readers: NOBODY, generation: target.generation };
            old.copy_from_slice(value);
        }
        Ok(())
    }

    /// The position has waited for what it wrote.
    pub fn arrive(&mut self, by: &By<'_>, target: Target, offsets: &[i64]) {
        let own = self.sets.one(by, false);
        for &offset in offsets {
            let at = (target.start + offset) as usize;
            let cell = &mut self.blocks[target.block as usize].cells[at];
            if self.sets.is_pending(cell.writers, by.who) {
                cell.writers = own;
            }
        }
    }
}
