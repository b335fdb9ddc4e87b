//! Work on functions in parallel, with results in order.

use std::sync::Mutex;
use std::time::Instant;

use rayon::prelude::*;
use tf_core::Context;

use tf_core::guard::{Panic, guard};

/// Threads that can be handed to another copy of this crate, as a plugin has one.
pub(crate) trait Workers: Sync {
    /// How many.
    fn threads(&self) -> usize;
    /// Calls `work` with every number below `pieces`, in any order, and returns when all are done. `work` must not panic.
    fn run(&self, pieces: usize, work: &(dyn Fn(usize) + Sync));
}

/// The rayon pool of this copy of the crate.
pub(crate) struct Own;

impl Workers for Own {
    fn threads(&self) -> usize {
        rayon::current_num_threads()
    }

    fn run(&self, pieces: usize, work: &(dyn Fn(usize) + Sync)) {
        (0..pieces).into_par_iter().for_each(work);
    }
}

/// Applies `f` to every item, in parallel where there are several; each worker has a fork of the context. The results are in the order of
/// the items, whatever the number of threads.
pub fn map_in_parallel<'c, T: Sync, R: Send>(
    cx: &Context<'c>,
    items: &[T],
    f: impl Fn(&Context<'c>, &T) -> R + Sync,
) -> Vec<R> {
    map_with(&Own, cx, items, f)
}

pub(crate) fn map_with<'c, T: Sync, R: Send>(
    workers: &dyn Workers,
    cx: &Context<'c>,
    items: &[T],
    f: impl Fn(&Context<'c>, &T) -> R + Sync,
) -> Vec<R> {
    map_timed(workers, cx, items, f).0
}

/// The results of a piece of the work and the seconds that it took.
type Piece<R> = (Result<Vec<R>, Panic>, f64);

/// With the seconds that the work took, summed over the threads.
pub(crate) fn map_timed<'c, T: Sync, R: Send>(
    workers: &dyn Workers,
    cx: &Context<'c>,
    items: &[T],
    f: impl Fn(&Context<'c>, &T) -> R + Sync,
) -> (Vec<R>, f64) {
    let started = Instant::now();
    let threads = workers.threads();
    if items.len() < 2 || threads < 2 {
        let results = items.iter().map(|item| f(cx, item)).collect();
        return (results, started.elapsed().as_secs_f64());
    }
    // More pieces than threads, since functions differ in size.
    let size = items.len().div_ceil(threads * 4);
    let pieces: Vec<_> = items.chunks(size).map(|items| (Mutex::new(Some(cx.fork())), items)).collect();
    let results: Vec<Mutex<Option<Piece<R>>>> = pieces.iter().map(|_| Mutex::new(None)).collect();
    workers.run(pieces.len(), &|at| {
        let (fork, items) = &pieces[at];
        // Each piece is taken once; a lock that is held by nobody else cannot be poisoned.
        let Some(cx) = fork.lock().ok().and_then(|mut fork| fork.take()) else { return };
        let started = Instant::now();
        let done = guard(|| items.iter().map(|item| f(&cx, item)).collect());
        if let Ok(mut slot) = results[at].lock() {
            *slot = Some((done, started.elapsed().as_secs_f64()));
        }
    });
    let (mut out, mut busy) = (Vec::with_capacity(items.len()), 0.0);
    for slot in results {
        match slot.into_inner().ok().flatten() {
            Some((Ok(piece), seconds)) => {
                out.extend(piece);
                busy += seconds;
            }
            // The first one in order, on the thread that asked for the work.
            Some((Err(panic), _)) => match panic.place {
                Some(place) => panic!("{} (at {place})", panic.message),
                None => panic!("{}", panic.message),
            },
            None => unreachable!("every piece is run"),
        }
    }
    (out, busy)
}
