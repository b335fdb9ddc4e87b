//! What happens before what: clocks of threads.
//!
//! Two accesses of one element conflict if one of them writes another value and neither comes before the other. Accesses of one thread are in
//! order; a barrier puts what its threads did before it in order before what they do after it; all that a launch does comes after what was
//! done before it, and before what is done after it. A barrier of the grid, like a launch, begins a new *epoch*.

use std::rc::Rc;

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
    pub cta: u32,
    pub epoch: u32,
    /// The instruction.
    pub site: u32,
    /// Barriers that it took part in, and one.
    pub clock: u32,
    /// Barriers that all threads of its CTA took part in.
    pub round: u32,
    /// Up to which time of each thread of its CTA what that did is in order before it.
    pub seen: &'a [u32],
}
