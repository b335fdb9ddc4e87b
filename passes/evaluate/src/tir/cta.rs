//! What the threads of a CTA are at.

use super::code::Code;
use super::memory::Target;
use super::order::Clocks;
use super::scalar::Scalar;

/// A buffer that no statement has bound.
const UNBOUND: Target = Target { block: u32::MAX, generation: 0, thread: 0, start: 0 };

/// Threads at one place of the code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The next instruction.
    pub at: u32,
    /// Where the functions on the way were called from.
    pub stack: Vec<u32>,
    /// Ascending.
    pub threads: Vec<u32>,
}

impl Group {
    /// Whether they go on alike.
    pub fn is_with(&self, other: &Self) -> bool {
        self.at == other.at && self.stack == other.stack
    }

    /// Takes the threads of another group in.
    pub fn join(&mut self, other: Self) {
        self.threads.extend(other.threads);
        self.threads.sort_unstable();
    }

    /// Some of its threads, at another place.
    pub fn part(&self, at: u32, threads: Vec<u32>) -> Self {
        Self { at, stack: self.stack.clone(), threads }
    }
}

/// A write that a thread has not waited for.
pub struct Pending {
    pub target: Target,
    pub offsets: Vec<i64>,
}

/// The asynchronous copies of a thread: the groups, the oldest first, and what is in no group yet.
#[derive(Default)]
pub struct Copies {
    pub groups: Vec<Vec<Pending>>,
    pub open: Vec<Pending>,
}

/// The state of a CTA, or of the host, which is one of one thread.
pub struct Cta {
    pub id: u32,
    /// Number of threads.
    pub threads: u32,
    /// By buffer, then by thread.
    buffers: Vec<Target>,
    /// By scalar, then by thread.
    scalars: Vec<Scalar>,
    /// Groups that go on.
    pub groups: Vec<Group>,
    /// Groups that wait for other threads at an instruction.
    pub waiting: Vec<Group>,
    /// The block of each allocation.
    pub blocks: Vec<u32>,
    /// How often each thread has come to each allocation.
    generations: Vec<u32>,
    pub clocks: Clocks,
    pub copies: Vec<Copies>,
}

impl Cta {
    /// All threads at the start of the code, whose parameters are these blocks.
    pub fn new(id: u32, threads: u32, code: &Code<'_>, params: &[Target], blocks: Vec<u32>) -> Self {
        let count = threads as usize;
        let mut cta = Self {
            id,
            threads,
            buffers: vec![UNBOUND; code.buffers as usize * count],
            scalars: vec![Scalar::Int(0); code.scalars as usize * count],
            groups: vec![Group { at: code.entries[0], stack: Vec::new(), threads: (0..threads).collect() }],
            waiting: Vec::new(),
            blocks,
            generations: vec![0; code.sites.len() * count],
            clocks: Clocks::new(count),
            copies: (0..count).map(|_| Copies::default()).collect(),
        };
        for (&buffer, &target) in code.params.iter().zip(params) {
            (0..threads).for_each(|thread| *cta.buffer_mut(buffer, thread) = target);
        }
        cta
    }

    fn place(&self, slot: u32, thread: u32) -> usize {
        slot as usize * self.threads as usize + thread as usize
    }

    pub fn buffer(&self, buffer: u32, thread: u32) -> Target {
        Target { thread, ..self.buffers[self.place(buffer, thread)] }
    }

    pub fn buffer_mut(&mut self, buffer: u32, thread: u32) -> &mut Target {
        let at = self.place(buffer, thread);
        &mut self.buffers[at]
    }

    pub fn scalar(&self, scalar: u32, thread: u32) -> &Scalar {
        &self.scalars[self.place(scalar, thread)]
    }

    pub fn scalar_mut(&mut self, scalar: u32, thread: u32) -> &mut Scalar {
        let at = self.place(scalar, thread);
        &mut self.scalars[at]
    }

    /// The memory of an allocation that a thread comes to.
    pub fn allocate(&mut self, site: u32, thread: u32) -> Target {
        let at = self.place(site, thread);
        self.generations[at] += 1;
        Target { block: self.blocks[site as usize], generation: self.generations[at], thread, start: 0 }
    }
}
