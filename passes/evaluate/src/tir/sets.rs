//! Who accessed an element since it was written.
//!
//! A set is a chain of [`Run`]s, shared by all elements that are accessed alike. A thread that comes again is in it already, and its older
//! accesses go when the chain grows long, so that a chain has a few runs for each position at most. Sets that no element has any more go when
//! the table is full ([`Sets::retain`]).

use rustc_hash::{FxHashMap, FxHashSet};

use super::order::By;

/// The set of nobody.
pub const NOBODY: u32 = 0;
/// The set of what was there before the run.
pub const BEFORE: u32 = 1;

/// How many runs there are at least before sets are given up.
const LEAST_LIMIT: usize = 1 << 14;
/// How many runs a set has at least before accesses are left out that others stand for.
const LEAST_LONG: u32 = 64;
/// Of a set of accesses in several CTAs.
const SEVERAL: u32 = u32::MAX;

/// An access as messages tell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Number of the position in its launch.
    pub who: u32,
    /// The instruction.
    pub site: u32,
    /// Whether the position has not waited yet for what it wrote.
    pub later: bool,
}

/// Accesses of positions with equal steps between their numbers, and the set that they were added to.
#[derive(Clone, Copy)]
struct Run {
    before: u32,
    first: u32,
    step: u32,
    count: u32,
    epoch: u32,
    site: u32,
    clock: u32,
    round: u32,
    later: bool,
    /// The CTA of all accesses of the set, or [`SEVERAL`].
    cta: u32,
    /// The greatest position of the set.
    most: u32,
    /// Runs of the set.
    length: u32,
    /// How many it had when accesses were last left out.
    tidy: u32,
}

impl Run {
    fn who(&self, at: u32) -> u32 {
        self.first + self.step * at
    }

    fn has(&self, who: u32) -> bool {
        who.checked_sub(self.first).is_some_and(|gap| gap.is_multiple_of(self.step) && gap / self.step < self.count)
    }

    /// Whether the access of a position of it is in order before what this position does now.
    fn is_before(&self, who: u32, by: &By<'_>) -> bool {
        // No barrier waits for a copy: only its own thread does.
        if self.later {
            return false;
        }
        let threads = by.seen.len() as u32;
        self.epoch < by.epoch
            || who == by.who
            || who / threads == by.cta && by.seen[(who % threads) as usize] >= self.clock
    }

    /// The positions of it that are in the CTA of this one.
    fn within(&self, by: &By<'_>) -> impl Iterator<Item = u32> {
        let threads = by.seen.len() as u32;
        let [lo, hi] = [by.cta * threads, (by.cta + 1) * threads].map(|bound| bound.saturating_sub(self.first));
        (lo.div_ceil(self.step)..hi.div_ceil(self.step).min(self.count)).map(|at| self.who(at))
    }

    /// With this access more, if that is in step. What is seen of a position is one number, so that times must be equal.
    fn extended(&self, by: &By<'_>) -> Option<Self> {
        let alike = (self.epoch, self.site, self.clock, self.round) == (by.epoch, by.site, by.clock, by.round);
        let step = by.who.checked_sub(self.who(self.count - 1)).filter(|&step| step > 0)?;
        let fits = alike && !self.later && (self.count == 1 || step == self.step);
        fits.then_some(Self { step, count: self.count + 1, ..*self })
    }
}

/// What makes a set of another.
type Step = (u32, u32, u32, u32, u32, bool);

/// Sets of accesses. Elements that are accessed alike have the same set.
pub struct Sets {
    runs: Vec<Run>,
    known: FxHashMap<Step, u32>,
    /// How many runs there may be.
    limit: usize,
}

impl Default for Sets {
    fn default() -> Self {
        let none = Run {
            before: NOBODY,
            first: 0,
            step: 1,
            count: 1,
            epoch: 0,
            site: u32::MAX,
            clock: 0,
            round: 0,
            later: false,
            cta: SEVERAL,
            most: 0,
            length: 0,
            tidy: 0,
        };
        Self { runs: vec![none; 2], known: FxHashMap::default(), limit: LEAST_LIMIT }
    }
}

impl Sets {
    /// The set with one access more, which is not in it.
    fn add(&mut self, set: u32, by: &By<'_>, later: bool) -> u32 {
        let key: Step = (set, by.who, by.epoch, by.clock, by.site, later);
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        let top = (set != NOBODY).then(|| self.runs[set as usize]);
        let extended = top.filter(|_| !later).and_then(|top| top.extended(by));
        let run = extended.unwrap_or(Run {
            before: set,
            first: by.who,
            step: 1,
            count: 1,
            epoch: by.epoch,
            site: by.site,
            clock: by.clock,
            round: by.round,
            later,
            cta: by.cta,
            most: by.who,
            length: 0,
            tidy: 0,
        });
        let (cta, most, length, tidy) = top.map_or((by.cta, 0, 0, 0), |top| (top.cta, top.most, top.length, top.tidy));
        let cta = if cta == by.cta { cta } else { SEVERAL };
        let length = length + u32::from(extended.is_none());
        let id = self.runs.len() as u32;
        self.runs.push(Run { cta, most: most.max(by.who), length, tidy, ..run });
        self.known.insert(key, id);
        id
    }

    /// The set of one access.
    pub fn one(&mut self, by: &By<'_>, later: bool) -> u32 {
        self.add(NOBODY, by, later)
    }

    /// The set with one access more. What comes before it, as far as that is easily told, is left out.
    pub fn with(&mut self, set: u32, by: &By<'_>) -> u32 {
        if set == NOBODY {
            return self.one(by, false);
        }
        // Later accesses of a set have no earlier epoch, and no earlier round of their CTA.
        let top = self.runs[set as usize];
        if top.epoch < by.epoch || top.cta == by.cta && top.round < by.round {
            return self.one(by, false);
        }
        if self.has(set, by) {
            return set;
        }
        match top.length > 2 * top.tidy.max(LEAST_LONG) {
            true => {
                let tidy = self.tidied(set, by);
                self.add(tidy, by, false)
            }
            false => self.add(set, by, false),
        }
    }

    /// Whether the position is in a set already since it was last at a barrier.
    fn has(&self, set: u32, by: &By<'_>) -> bool {
        let runs = self.runs(set).take_while(|run| by.who <= run.most);
        let now = |run: &&Run| !run.later && (run.epoch, run.clock) == (by.epoch, by.clock);
        runs.filter(now).any(|run| run.has(by.who))
    }

    /// The set without what comes before this position, which stands for it, and with the last access only of each other one.
    fn tidied(&mut self, set: u32, by: &By<'_>) -> u32 {
        let (mut seen, mut left) = (FxHashSet::default(), Vec::new());
        for run in self.runs(set) {
            let positions = (0..run.count).rev().map(|at| run.who(at));
            let kept = positions.filter(|&who| run.later || !run.is_before(who, by) && seen.insert(who));
            left.extend(kept.map(|who| (*run, who)));
        }
        let threads = by.seen.len() as u32;
        let mut tidy = NOBODY;
        for (Run { epoch, site, clock, round, later, .. }, who) in left.into_iter().rev() {
            let by = By { who, cta: who / threads, epoch, site, clock, round, seen: by.seen };
            tidy = self.add(tidy, &by, later);
        }
        if tidy != NOBODY {
            let top = &mut self.runs[tidy as usize];
            top.tidy = top.length;
        }
        tidy
    }

    /// Whether some access of the set is in order before this position.
    pub fn any_before(&self, set: u32, by: &By<'_>) -> bool {
        self.runs(set)
            .any(|run| !run.later && (run.epoch < by.epoch || run.within(by).any(|who| run.is_before(who, by))))
    }

    /// An access of the set that is not in order before this position: of the last run the last one.
    pub fn conflict(&self, set: u32, by: &By<'_>) -> Option<Access> {
        self.runs(set).filter(|run| run.later || run.epoch >= by.epoch).find_map(|run| {
            let who = (0..run.count).rev().map(|at| run.who(at)).find(|&who| !run.is_before(who, by))?;
            Some(Access { who, site: run.site, later: run.later })
        })
    }

    /// Whether the set is that of what a position wrote and has not waited for.
    pub fn is_pending(&self, set: u32, who: u32) -> bool {
        self.runs(set).next().is_some_and(|run| run.later && run.first == who)
    }

    /// The runs of a set, the last first.
    fn runs(&self, set: u32) -> impl Iterator<Item = &Run> {
        let run = |id: u32| (id != NOBODY).then(|| &self.runs[id as usize]);
        std::iter::successors(run(set), move |last| run(last.before))
    }

    /// Whether sets that no element has must go.
    pub fn is_full(&self) -> bool {
        self.runs.len() >= self.limit
    }

    /// Numbers of sets so far.
    pub fn len(&self) -> usize {
        self.runs.len()
    }

    /// Forgets the sets that are not `live`, by number; the new number of each. `elements` are those that were looked through for it: a
    /// share of them is how many sets come before it is done again.
    pub fn retain(&mut self, mut live: Vec<bool>, elements: usize) -> Vec<u32> {
        live[..2].fill(true);
        for set in (2..self.runs.len()).rev() {
            if live[set] {
                live[self.runs[set].before as usize] = true;
            }
        }
        let mut numbers = vec![NOBODY; self.runs.len()];
        let mut next = 0;
        for set in 0..self.runs.len() {
            if live[set] {
                let run = self.runs[set];
                self.runs[next as usize] = Run { before: numbers[run.before as usize], ..run };
                numbers[set] = next;
                next += 1;
            }
        }
        self.runs.truncate(next as usize);
        let known = std::mem::take(&mut self.known).into_iter();
        let known = known.filter(|((from, ..), to)| live[*from as usize] && live[*to as usize]);
        let moved = |((from, who, epoch, clock, site, later), to): (Step, u32)| {
            ((numbers[from as usize], who, epoch, clock, site, later), numbers[to as usize])
        };
        self.known = known.map(moved).collect();
        self.limit = LEAST_LIMIT.max(2 * self.runs.len() + elements / 16);
        numbers
    }

    /// Forgets all sets but the first two.
    pub fn clear(&mut self) {
        self.runs.truncate(2);
        self.known.clear();
        self.limit = LEAST_LIMIT;
    }
}

#[cfg(test)]
mod tests {
    use super::super::order::Clocks;
    use super::{NOBODY, Sets};

    /// All threads of a CTA access once at a site.
    fn all(sets: &mut Sets, set: u32, clocks: &Clocks, threads: impl IntoIterator<Item = u32>, site: u32) -> u32 {
        threads.into_iter().fold(set, |set, thread| sets.with(set, &clocks.by(0, thread, 1, site)))
    }

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
        let (mut clocks, mut sets) = (Clocks::new(8), Sets::default());
        let set = all(&mut sets, NOBODY, &clocks, [0, 2, 4, 6], 3);
        assert_eq!(set, all(&mut sets, NOBODY, &clocks, [0, 2, 4, 6], 3));
        assert_eq!(sets.runs(set).count(), 1);
        let others: Vec<_> = (0..8).filter(|&t| sets.conflict(set, &clocks.by(0, t, 1, 4)).is_none()).collect();
        assert!(others.is_empty(), "each thread meets another one's access");
        clocks.meet(&[0, 1, 2, 3, 4]);
        let found = sets.conflict(set, &clocks.by(0, 1, 1, 4)).map(|access| (access.who, access.site));
        assert_eq!(found, Some((6, 3)));
        assert!(sets.any_before(set, &clocks.by(0, 1, 1, 4)) && !sets.any_before(set, &clocks.by(0, 7, 1, 4)));
        clocks.meet(&[0, 1, 2, 3, 4, 5, 6, 7]);
        let next = all(&mut sets, set, &clocks, [5], 4);
        assert_eq!(sets.conflict(next, &clocks.by(0, 4, 1, 5)).map(|access| access.who), Some(5));
        assert!(!sets.runs(next).any(|run| run.has(6)));
    }

    #[test]
    fn reading_again_adds_nothing() {
        let (clocks, mut sets) = (Clocks::new(128), Sets::default());
        // In an order that makes no long runs.
        let order = || (0..128u32).map(|thread| thread * 37 % 128);
        let mut set = all(&mut sets, NOBODY, &clocks, order(), 0);
        let table = sets.len();
        for site in 1..1000 {
            set = all(&mut sets, set, &clocks, order(), site);
        }
        assert_eq!(sets.len(), table);
        assert!(table < 400, "{table}");
    }

    #[test]
    fn barriers_of_some_threads_make_no_longer_sets() {
        let (mut clocks, mut sets) = (Clocks::new(128), Sets::default());
        let mut set = NOBODY;
        for round in 0..1000 {
            let warp: Vec<u32> = (0..32).map(|lane| round % 4 * 32 + lane).collect();
            set = all(&mut sets, set, &clocks, (0..128).map(|thread| thread * 37 % 128), 0);
            clocks.meet(&warp);
        }
        let length = sets.runs(set).count();
        assert!(length <= 2 * 128 + 2, "{length}");
        // Each thread is still in it, with its last access.
        let all_in = (0..128).all(|thread| sets.runs(set).any(|run| run.has(thread)));
        assert!(all_in);
    }

    #[test]
    fn what_no_element_has_goes() {
        let (mut clocks, mut sets) = (Clocks::new(4), Sets::default());
        let mut kept = Vec::new();
        for round in 0..10_000 {
            let set = all(&mut sets, NOBODY, &clocks, 0..4, 0);
            if round % 100 == 0 {
                kept.push(set);
            }
            clocks.meet(&[0, 1, 2, 3]);
        }
        assert!(sets.is_full());
        let by = clocks.by(1, 0, 1, 9);
        let before: Vec<_> = kept.iter().map(|&set| sets.conflict(set, &by)).collect();
        let mut live = vec![false; sets.len()];
        kept.iter().for_each(|&set| live[set as usize] = true);
        let numbers = sets.retain(live, 0);
        assert!(!sets.is_full());
        assert_eq!(sets.len(), 2 + 100, "a set of four is one run");
        let after: Vec<_> = kept.iter().map(|&set| sets.conflict(numbers[set as usize], &by)).collect();
        assert_eq!(before, after);
    }

    #[test]
    fn what_is_not_waited_for_comes_before_nothing() {
        let (mut clocks, mut sets) = (Clocks::new(2), Sets::default());
        let later = sets.one(&clocks.by(0, 0, 1, 3), true);
        clocks.meet(&[0, 1]);
        assert!(!sets.any_before(later, &clocks.by(0, 0, 1, 4)));
        assert!(!sets.any_before(later, &clocks.by(0, 1, 1, 4)));
        assert!(sets.is_pending(later, 0) && !sets.is_pending(later, 1));
    }
}
