//! What is known of functions, computed when a pass asks and kept for later passes.

mod erased;

use std::any::TypeId;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};
use tf_core::{AnyFunction, Context, Module};
use tf_types::Symbol;

use erased::Erased;

/// Something that can be computed of one function. A pass asks with [`FunctionCx::analysis`](crate::FunctionCx::analysis) or
/// [`PassCx::analysis`](crate::PassCx::analysis).
///
/// Functions never change, so a result holds as long as its function is in the module. When a pass puts another function in its
/// place, the result is dropped, unless the pass declares `preserves("name")`: then it becomes the new function's, and the pass
/// answers for it that what it says is true there. A function that calls others is always looked at anew, because its calls follow
/// the functions that were replaced.
///
/// An analysis looks at the function, not at the module; its fields, such as a table of rules, are the same for the whole run.
pub trait FunctionAnalysis: Send + Sync + 'static {
    /// Its name in `preserves` and in traces.
    const NAME: &'static str;
    /// What it looks at: `Function`, `PrimFunction` or `AnyFunction`.
    type Subject<'c>: Copy + Into<AnyFunction<'c>>;
    /// What it finds.
    type Result<'c>: Send + Sync + 'c;

    /// Computes it.
    fn run<'c>(&self, function: Self::Subject<'c>, cx: &Context<'c>) -> Self::Result<'c>;
}

/// Where a function stands: the number of its module in the tree, its name there, and which part of the member it is.
type Place<'c> = (usize, Symbol<'c>, usize);

fn places<'c>(root: Module<'c>) -> impl Iterator<Item = (Place<'c>, AnyFunction<'c>)> {
    root.tree().into_iter().enumerate().flat_map(|(at, module)| {
        module.all_functions().flat_map(move |member| {
            let parts: Vec<_> = match member {
                AnyFunction::Hir(function) => function.with_parts().map(AnyFunction::Hir).collect(),
                tir @ AnyFunction::Tir(_) => vec![tir],
            };
            parts.into_iter().enumerate().map(move |(part, function)| ((at, member.name(), part), function))
        })
    })
}

/// Whether a pass's work on it is followed by the manager's on its calls.
fn calls_others(function: AnyFunction<'_>) -> bool {
    match function {
        AnyFunction::Hir(function) => function.body.is_some_and(|body| body.calls_functions),
        AnyFunction::Tir(_) => false,
    }
}

/// A result with the name of its analysis.
type Known<'c> = (&'static str, Erased<'c>);

/// The results of one run of a pipeline.
#[derive(Default)]
pub(crate) struct Analyses<'c> {
    known: Mutex<FxHashMap<(AnyFunction<'c>, TypeId), Known<'c>>>,
}

impl<'c> Analyses<'c> {
    /// Entries are whole at any time: none is made under the lock.
    fn lock(&self) -> MutexGuard<'_, FxHashMap<(AnyFunction<'c>, TypeId), Known<'c>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn get<A: FunctionAnalysis>(
        &self,
        analysis: &A,
        subject: A::Subject<'c>,
        cx: &Context<'c>,
    ) -> Arc<A::Result<'c>> {
        let function: AnyFunction<'c> = subject.into();
        let key = (function, TypeId::of::<A>());
        if let Some(known) = self.lock().get(&key).and_then(|(_, result)| result.get::<A>()) {
            return known;
        }
        let _span = tracing::info_span!("analysis", name = A::NAME, function = function.name().as_str()).entered();
        let result = Arc::new(analysis.run(subject, cx));
        self.lock().insert(key, (A::NAME, Erased::new::<A>(Arc::clone(&result))));
        result
    }

    /// After a pass: results of functions that are gone go too; those that the pass preserves become those of the functions in
    /// the same place.
    pub(crate) fn follow(&self, before: Module<'c>, after: Module<'c>, preserved: &[&str]) {
        let mut known = self.lock();
        if before == after || known.is_empty() {
            return;
        }
        let old: FxHashMap<Place<'c>, AnyFunction<'c>> = places(before).collect();
        let mut new = FxHashMap::default();
        let mut still = FxHashSet::default();
        for (place, function) in places(after) {
            still.insert(function);
            if let Some(&old) = old.get(&place) {
                new.insert(old, function);
            }
        }
        let mut kept = FxHashMap::default();
        for ((function, analysis), (name, result)) in known.drain() {
            if still.contains(&function) {
                kept.insert((function, analysis), (name, result));
            } else if let Some(&now) = new.get(&function)
                && preserved.contains(&name)
                && !calls_others(now)
            {
                kept.entry((now, analysis)).or_insert((name, result));
            }
        }
        *known = kept;
    }
}
