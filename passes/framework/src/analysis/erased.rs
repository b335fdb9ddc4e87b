//! Results of different analyses in one table.

use std::any::TypeId;
use std::marker::PhantomData;
use std::sync::Arc;

use super::FunctionAnalysis;

/// What every result can do.
trait Held: Send + Sync {}
impl<T: Send + Sync> Held for T {}

/// The result of an analysis. `std::any::Any` would do, were it not that results refer to nodes and so are not `'static`.
pub(super) struct Erased<'c> {
    analysis: TypeId,
    result: Arc<dyn Held + 'c>,
    /// Neither a longer nor a shorter lifetime stands in for `'c`.
    invariant: PhantomData<fn(&'c ()) -> &'c ()>,
}

impl<'c> Erased<'c> {
    pub(super) fn new<A: FunctionAnalysis>(result: Arc<A::Result<'c>>) -> Self {
        Self { analysis: TypeId::of::<A>(), result, invariant: PhantomData }
    }

    /// The result, if it is one of `A`.
    pub(super) fn get<A: FunctionAnalysis>(&self) -> Option<Arc<A::Result<'c>>> {
        if self.analysis != TypeId::of::<A>() {
            return None;
        }
        let result = Arc::into_raw(Arc::clone(&self.result)).cast::<A::Result<'c>>();
        // SAFETY: only `new` makes one, from an `Arc<A::Result<'c>>` of the analysis that the id names and this same `'c`.
        Some(unsafe { Arc::from_raw(result) })
    }
}
