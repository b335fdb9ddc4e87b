//! Work on functions in parallel, with results in order.

use rayon::prelude::*;
use tf_core::Context;

/// Applies `f` to every item, in parallel where there are several; each worker has a fork of the context. The results are in the order of
/// the items, whatever the number of threads.
pub fn map_in_parallel<'c, T, R>(cx: &Context<'c>, items: &[T], f: impl Fn(&Context<'c>, &T) -> R + Sync) -> Vec<R>
where
    T: Sync,
    R: Send,
{
    let threads = rayon::current_num_threads();
    if items.len() < 2 || threads < 2 {
        return items.iter().map(|item| f(cx, item)).collect();
    }
    // More pieces than threads, since functions differ in size.
    let piece = items.len().div_ceil(threads * 4);
    let pieces: Vec<_> = items.chunks(piece).map(|items| (cx.fork(), items)).collect();
    let results: Vec<Vec<R>> =
        pieces.into_par_iter().map(|(cx, items)| items.iter().map(|item| f(&cx, item)).collect()).collect();
    results.into_iter().flatten().collect()
}
