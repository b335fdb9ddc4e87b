//! The search for a small case.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustc_hash::FxHashMap;
use tf_core::op::OpRegistry;

use crate::{Case, Reduction};

/// Says whether a case shows what is looked for. Called from several threads.
pub trait Test: Sync {
    /// `None` where `cancelled` became true before there was an answer.
    ///
    /// # Errors
    /// There is none, for a reason that has nothing to do with the case. The search ends with it.
    fn holds(&self, case: &Case, cancelled: &(dyn Fn() -> bool + Sync)) -> Result<Option<bool>, String>;
}

/// What became of cases that were tried, by fingerprint: the whole memory of a search.
pub type Verdicts = FxHashMap<u64, bool>;

/// How far a search has come.
pub struct Status<'a> {
    /// The smallest case so far.
    pub best: &'a Case,
    /// Whether it is another one than at the last call.
    pub shrunk: bool,
    /// Every answer so far.
    pub verdicts: &'a Verdicts,
    /// How many cases were tried by this search.
    pub runs: usize,
    /// The reduction at work.
    pub reduction: &'static str,
    /// How many places it had.
    pub places: usize,
}

/// Looks at a search after every step, and may end it with an error.
pub type Watch<'w> = dyn FnMut(&Status<'_>) -> Result<(), String> + 'w;

/// What a search works with.
pub struct Search<'a> {
    /// The ops of modules.
    pub ops: Arc<OpRegistry>,
    /// What must hold.
    pub test: &'a dyn Test,
    /// How many cases are tried at a time. The result does not depend on it.
    pub jobs: usize,
    /// Becomes true when the search should end early.
    pub stop: &'a (dyn Fn() -> bool + Sync),
    /// Answers that are known, and those that are found.
    pub verdicts: Verdicts,
    /// How many cases were tried.
    pub runs: usize,
}

/// What trying a case gave.
enum Tried {
    /// Cancelled, or not well-formed.
    Nothing,
    /// The test failed.
    Failed(String),
    /// The test's answer, by fingerprint; whether it had to be run.
    Verdict { case: Case, fingerprint: u64, holds: bool, ran: bool },
}

impl Search<'_> {
    /// Reduces until no reduction applies any more, or it is told to stop. The test holds for `case`, and for the result.
    ///
    /// # Errors
    /// Those of the test and of `watch`, at once.
    pub fn run(
        &mut self,
        mut case: Case,
        reductions: &[Box<dyn Reduction>],
        watch: &mut Watch<'_>,
    ) -> Result<Case, String> {
        loop {
            let before = case.fingerprint();
            for reduction in reductions {
                self.chop(reduction.as_ref(), &mut case, watch)?;
            }
            if case.fingerprint() == before || (self.stop)() {
                return Ok(case);
            }
        }
    }

    /// Delta debugging over the places of one reduction: all of them, halves, quarters, and so on, the last ones first.
    fn chop(&mut self, reduction: &dyn Reduction, case: &mut Case, watch: &mut Watch<'_>) -> Result<(), String> {
        let mut count = reduction.places(case, &self.ops);
        let mut size = count;
        while size > 0 {
            let mut end = count;
            while end > 0 {
                if (self.stop)() {
                    return Ok(());
                }
                let ranges: Vec<Range<usize>> = (0..self.jobs.max(1))
                    .map_while(|at| {
                        let end = end.checked_sub(at * size).filter(|end| *end > 0)?;
                        Some(end.saturating_sub(size)..end)
                    })
                    .collect();
                let found = self.first_that_holds(reduction, case, &ranges)?;
                let shrunk = found.is_some();
                end = match found {
                    Some((at, smaller)) => {
                        *case = smaller;
                        count = reduction.places(case, &self.ops);
                        ranges[at].start.min(count)
                    }
                    None => ranges[ranges.len() - 1].start,
                };
                watch(&Status {
                    best: case,
                    shrunk,
                    verdicts: &self.verdicts,
                    runs: self.runs,
                    reduction: reduction.name(),
                    places: count,
                })?;
            }
            size = if size == 1 { 0 } else { size.min(count).div_ceil(2) };
        }
        Ok(())
    }

    /// The first of these candidates for which the test holds. Later ones are tried at the same time and given up when it is found.
    fn first_that_holds(
        &mut self,
        reduction: &dyn Reduction,
        case: &Case,
        ranges: &[Range<usize>],
    ) -> Result<Option<(usize, Case)>, String> {
        let first = AtomicUsize::new(usize::MAX);
        let attempt = |(at, range): (usize, &Range<usize>)| {
            let cancelled = || first.load(Ordering::Relaxed) < at || (self.stop)();
            if cancelled() {
                return Tried::Nothing;
            }
            let Some(smaller) = reduction.apply(case, &self.ops, range.clone()) else { return Tried::Nothing };
            let fingerprint = smaller.fingerprint();
            let known = self.verdicts.get(&fingerprint).copied();
            let holds = match known.map_or_else(|| self.test.holds(&smaller, &cancelled), |known| Ok(Some(known))) {
                Ok(Some(holds)) => holds,
                Ok(None) => return Tried::Nothing,
                Err(error) => {
                    first.fetch_min(at, Ordering::Relaxed);
                    return Tried::Failed(error);
                }
            };
            if holds {
                first.fetch_min(at, Ordering::Relaxed);
            }
            Tried::Verdict { case: smaller, fingerprint, holds, ran: known.is_none() }
        };
        let tried: Vec<Tried> = match ranges {
            [one] => vec![attempt((0, one))],
            many => std::thread::scope(|scope| {
                let attempt = &attempt;
                let threads: Vec<_> =
                    many.iter().enumerate().map(|numbered| scope.spawn(move || attempt(numbered))).collect();
                threads.into_iter().map(|thread| thread.join().unwrap_or(Tried::Nothing)).collect()
            }),
        };
        let mut found = None;
        for (at, tried) in tried.into_iter().enumerate() {
            let (case, fingerprint, holds, ran) = match tried {
                Tried::Nothing => continue,
                Tried::Failed(error) => return Err(error),
                Tried::Verdict { case, fingerprint, holds, ran } => (case, fingerprint, holds, ran),
            };
            self.verdicts.insert(fingerprint, holds);
            self.runs += usize::from(ran);
            if holds && found.is_none() {
                found = Some((at, case));
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::{Search, Test, Verdicts};
    use crate::testing::{case, ops};
    use crate::{Case, reductions, size_of};

    /// Holds where a program subtracts; counts how often it is asked.
    #[derive(Default)]
    struct Subtracts(AtomicUsize);

    impl Test for Subtracts {
        fn holds(&self, case: &Case, _: &(dyn Fn() -> bool + Sync)) -> Result<Option<bool>, String> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Ok(Some(case.module.contains("sub")))
        }
    }

    /// A chain of so many ops, one of which subtracts.
    fn chain(count: usize) -> Case {
        let mut text =
            "module @m entry(@f) { hir.func @f(%x: tensor<16xf32>, %y: tensor<16xf32>) -> tensor<16xf32> {\n"
                .to_owned();
        let mut last = "x".to_owned();
        for at in 0..count {
            let kind = if at == count * 2 / 3 { "sub" } else { "add" };
            text += &format!(
                "%{at} = tf.binary %{last}, %y {{kind = \"{kind}\"}} : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>\n"
            );
            last = at.to_string();
        }
        case(&format!("{text}hir.return %{last} }} }}"))
    }

    fn search(test: &Subtracts, jobs: usize, verdicts: Verdicts, most: usize) -> (Case, Verdicts) {
        let stop = || test.0.load(Ordering::Relaxed) >= most;
        let mut search = Search { ops: ops(), test, jobs, stop: &stop, verdicts, runs: 0 };
        let small = search.run(chain(200), &reductions(), &mut |_| Ok(())).unwrap();
        (small, search.verdicts)
    }

    #[test]
    fn one_op_of_many_is_found_in_few_tries_whatever_the_number_of_jobs() {
        let (one, four) = (Subtracts::default(), Subtracts::default());
        let (small, _) = search(&one, 1, Verdicts::default(), usize::MAX);
        assert_eq!(size_of(&small, &ops()).ops, 1);
        assert!(one.0.load(Ordering::Relaxed) < 60, "{:?}", one.0);
        assert_eq!(search(&four, 4, Verdicts::default(), usize::MAX).0.module, small.module);
    }

    #[test]
    fn a_search_goes_on_where_another_stopped() {
        let whole = Subtracts::default();
        let (small, _) = search(&whole, 1, Verdicts::default(), usize::MAX);
        let (first, second) = (Subtracts::default(), Subtracts::default());
        let (_, verdicts) = search(&first, 1, Verdicts::default(), 5);
        let (again, _) = search(&second, 1, verdicts, usize::MAX);
        assert_eq!(again.module, small.module);
        let asked = |test: &Subtracts| test.0.load(Ordering::Relaxed);
        assert_eq!(asked(&first) + asked(&second), asked(&whole));
    }

    /// Answers so many times.
    struct Fails(AtomicUsize, usize);

    impl Test for Fails {
        fn holds(&self, _: &Case, _: &(dyn Fn() -> bool + Sync)) -> Result<Option<bool>, String> {
            let asked = self.0.fetch_add(1, Ordering::Relaxed);
            if asked < self.1 { Ok(Some(false)) } else { Err("no space".to_owned()) }
        }
    }

    #[test]
    fn an_error_ends_the_search_and_is_no_answer() {
        let test = Fails(AtomicUsize::new(0), 3);
        let mut search =
            Search { ops: ops(), test: &test, jobs: 1, stop: &|| false, verdicts: Verdicts::default(), runs: 0 };
        assert_eq!(search.run(chain(20), &reductions(), &mut |_| Ok(())).unwrap_err(), "no space");
        assert_eq!((search.verdicts.len(), test.0.load(Ordering::Relaxed)), (3, 4));
        let watched = search.run(chain(20), &reductions(), &mut |_| Err("no room".to_owned()));
        assert!(watched.is_err());
    }
}
