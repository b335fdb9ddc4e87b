//! What happens before what: clocks of threads, and who accessed an element since.
//!
//! Two accesses of one element conflict if one of them writes another value and neither comes before the other. Accesses of one thread are in
//! order; a barrier puts what its threads did before it in order before what they do after it; all that a launch does comes after what was
//! done before it, and before what is done after it. A barrier of the grid, like a launch, begins a new *epoch*.

use std::rc::Rc;

use rustc_hash::FxHashMap;

/// A set of accesses; that of nobody.
pub const NOBODY: u32 = 0;
/// The set of what was there before the run.
pub const BEFORE: u32 = 1;

/// The clocks of the threads of a CTA.
pub struct Clocks {
    /// Barriers that each thread took part in.
    own: Vec<u32>,
    /// Up to which time of each other thread what it did is in order before this thread. Shared by threads that met last.
    seen: Vec<Rc<[u32]>>,
    /// Barriers that all threads took part in.
    round: u32,
}

impl Clocks {
    pub fn new(threads: usize) -> Self {
        let nothing: Rc<[u32]> = vec![0; threads].into();
        Self { own: vec![1; threads], seen: vec![nothing; threads], round: 0 }
    }

    /// A barrier of these threads.
    pub fn meet(&mut self, threads: &[u32]) {
        let Some(&first) = threads.first() else { return };
        let mut latest = self.seen[first as usize].to_vec();
        let mut last = Rc::clone(&self.seen[first as usize]);
        for &thread in threads {
            let seen = &self.seen[thread as usize];
            if !Rc::ptr_eq(seen, &last) {
                latest.iter_mut().zip(seen.iter()).for_each(|(latest, &seen)| *latest = seen.max(*latest));
                last = Rc::clone(seen);
            }
        }
        for &thread in threads {
            let clock = &mut self.own[thread as usize];
            latest[thread as usize] = *clock;
            *clock += 1;
        }
        let latest: Rc<[u32]> = latest.into();
        threads.iter().for_each(|&thread| self.seen[thread as usize] = Rc::clone(&latest));
        self.round += u32::from(threads.len() == self.own.len());
    }

    /// A thread as one that accesses now.
    pub fn by(&self, cta: u32, thread: u32, epoch: u32, site: u32) -> By<'_> {
        let at = thread as usize;
        let who = cta * self.own.len() as u32 + thread;
        By { who, cta, epoch, site, clock: self.own[at], round: self.round, seen: &self.seen[at] }
    }
}

/// A position that accesses now.
#[derive(Clone, Copy)]
pub struct By<'a> {
    /// Its number in the launch.
    pub who: u32,
    cta: u32,
    epoch: u32,
    /// The instruction.
    site: u32,
    clock: u32,
    round: u32,
    seen: &'a [u32],
}

impl By<'_> {
    fn node(&self, before: u32, later: bool, is_within: bool) -> Node {
        let Self { who, cta, epoch, site, clock, round, .. } = *self;
        Node { before, who, cta, epoch, site, clock, round, later, is_within }
    }
}

/// An access, and the set that it was added to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    before: u32,
    /// Number of the position in its launch.
    pub who: u32,
    cta: u32,
    epoch: u32,
    /// The instruction.
    pub site: u32,
    clock: u32,
    round: u32,
    /// Whether the position has not waited yet for what it wrote.
    pub later: bool,
    /// Whether all accesses of the set are of one CTA.
    is_within: bool,
}

impl Node {
    /// Whether it is in order before what this position does now.
    fn is_before(&self, by: &By<'_>) -> bool {
        // No barrier waits for a copy: only its own thread does.
        if self.later {
            return false;
        }
        let threads = by.seen.len() as u32;
        self.epoch < by.epoch
            || self.who == by.who
            || self.cta == by.cta && by.seen[(self.who % threads) as usize] >= self.clock
    }
}

/// Sets of accesses. Elements that are accessed alike have the same set.
pub struct Sets {
    nodes: Vec<Node>,
    known: FxHashMap<Node, u32>,
}

impl Default for Sets {
    fn default() -> Self {
        let none = Node {
            before: NOBODY,
            who: 0,
            cta: 0,
            epoch: 0,
            site: u32::MAX,
            clock: 0,
            round: 0,
            later: false,
            is_within: false,
        };
        Self { nodes: vec![none; 2], known: FxHashMap::default() }
    }
}

impl Sets {
    fn intern(&mut self, node: Node) -> u32 {
        let next = self.nodes.len() as u32;
        let id = *self.known.entry(node).or_insert(next);
        if id == next {
            self.nodes.push(node);
        }
        id
    }

    /// The set of one access.
    pub fn one(&mut self, by: &By<'_>, later: bool) -> u32 {
        self.intern(by.node(NOBODY, later, true))
    }

    /// The set with one access more. What comes before it, as far as that is easily told, is left out.
    pub fn with(&mut self, set: u32, by: &By<'_>) -> u32 {
        if set == NOBODY {
            return self.one(by, false);
        }
        let top = self.nodes[set as usize];
        if top.who == by.who && top.epoch == by.epoch && top.clock == by.clock && !top.later {
            return set;
        }
        // Later accesses of a set have no earlier epoch, and no earlier round of their CTA.
        let within = top.is_within && top.cta == by.cta && top.epoch == by.epoch;
        if top.epoch < by.epoch || within && top.round < by.round {
            return self.one(by, false);
        }
        self.intern(by.node(set, false, within))
    }

    /// Whether some access of the set is in order before this position.
    pub fn any_before(&self, set: u32, by: &By<'_>) -> bool {
        self.accesses(set).any(|node| node.is_before(by))
    }

    /// An access of the set that is not in order before this position.
    pub fn conflict(&self, set: u32, by: &By<'_>) -> Option<Node> {
        self.accesses(set).find(|node| !node.is_before(by)).copied()
    }

    /// The accesses of a set, the last first.
    pub fn accesses(&self, set: u32) -> impl Iterator<Item = &Node> {
        let node = |id: u32| (id != NOBODY).then(|| &self.nodes[id as usize]);
        std::iter::successors(node(set), move |last| node(last.before))
    }

    /// Forgets all sets but the first two.
    pub fn clear(&mut self) {
        self.nodes.truncate(2);
        self.known.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::{Clocks, NOBODY, Sets};

    #[test]
    fn barriers_order_those_who_meet() {
        let (mut clocks, mut sets) = (Clocks::new(4), Sets::default());
        let first = sets.one(&clocks.by(0, 0, 1, 7), false);
        let conflicts =
            |sets: &Sets, clocks: &Clocks, thread| sets.conflict(first, &clocks.by(0, thread, 1, 8)).is_some();
        assert!(!conflicts(&sets, &clocks, 0) && conflicts(&sets, &clocks, 1));
        clocks.meet(&[0, 1]);
        assert!(!conflicts(&sets, &clocks, 1) && conflicts(&sets, &clocks, 2));
        clocks.meet(&[1, 2]);
        assert!(!conflicts(&sets, &clocks, 2), "through the thread that met both");
        assert!(conflicts(&sets, &clocks, 3));
        assert!(sets.conflict(first, &clocks.by(1, 1, 1, 8)).is_some(), "another CTA");
        assert!(sets.conflict(first, &clocks.by(1, 1, 2, 8)).is_none(), "after the grid met");
    }

    #[test]
    fn sets_are_shared_and_drop_what_comes_before() {
        let (mut clocks, mut sets) = (Clocks::new(2), Sets::default());
        let both = |sets: &mut Sets, clocks: &Clocks| {
            let one = sets.with(NOBODY, &clocks.by(0, 0, 1, 3));
            sets.with(one, &clocks.by(0, 1, 1, 3))
        };
        let set = both(&mut sets, &clocks);
        assert_eq!(set, both(&mut sets, &clocks));
        assert_eq!(sets.accesses(set).count(), 2);
        clocks.meet(&[0, 1]);
        let next = sets.with(set, &clocks.by(0, 0, 1, 4));
        assert_eq!(sets.accesses(next).count(), 1);
    }

    #[test]
    fn what_is_not_waited_for_comes_before_nothing() {
        let (mut clocks, mut sets) = (Clocks::new(2), Sets::default());
        let later = sets.one(&clocks.by(0, 0, 1, 3), true);
        clocks.meet(&[0, 1]);
        assert!(!sets.any_before(later, &clocks.by(0, 0, 1, 4)));
        assert!(!sets.any_before(later, &clocks.by(0, 1, 1, 4)));
    }
}
