//! What a reduction is.

use std::ops::Range;
use std::sync::Arc;

use tf_core::op::OpRegistry;
use tf_core::{AnyFunction, Context, Module, Result};

use crate::{Case, subject};

/// One way to make cases smaller. It finds places where it applies, in an order that is the same every time; the search chooses among them.
pub trait Reduction: Send + Sync {
    /// What progress lines call it.
    fn name(&self) -> &'static str;

    /// How many places there are.
    fn places(&self, case: &Case, ops: &Arc<OpRegistry>) -> usize;

    /// The case with these places reduced; `None` where that is not well-formed or changes nothing.
    fn apply(&self, case: &Case, ops: &Arc<OpRegistry>, places: Range<usize>) -> Option<Case>;
}

/// A reduction of a module; what it makes is typed and verified before it is tried.
pub trait ModuleReduction: Send + Sync {
    /// What progress lines call it.
    fn name(&self) -> &'static str;

    /// How many places there are.
    fn places<'c>(&self, cx: &Context<'c>, module: Module<'c>) -> usize;

    /// The module with these places reduced, the same where nothing can be done.
    ///
    /// # Errors
    /// What type inference refuses: such a module is not tried.
    fn apply<'c>(&self, cx: &Context<'c>, module: Module<'c>, places: Range<usize>) -> Result<Module<'c>>;
}

/// A [`ModuleReduction`] as a [`Reduction`].
pub struct OnModule<R>(pub R);

impl<R: ModuleReduction> Reduction for OnModule<R> {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn places(&self, case: &Case, ops: &Arc<OpRegistry>) -> usize {
        subject::parsed(&case.module, ops, |cx, module| Some(self.0.places(cx, module))).unwrap_or(0)
    }

    fn apply(&self, case: &Case, ops: &Arc<OpRegistry>, places: Range<usize>) -> Option<Case> {
        subject::parsed(&case.module, ops, |cx, module| {
            let new = self.0.apply(cx, module, places).ok().filter(|new| *new != module)?;
            let new = subject::well_formed(cx, new)?;
            let text = subject::text(new);
            if text == *case.module {
                return None;
            }
            let inputs = subject::fitting(&case.inputs, new);
            Some(Case { module: text.into(), inputs, ..case.clone() })
        })
    }
}

/// Shares out a range of places over a list of lists: the part of each that has `count` places.
pub(crate) struct Share {
    left: Range<usize>,
}

impl Share {
    pub fn new(places: Range<usize>) -> Self {
        Self { left: places }
    }

    /// The places of the next list, counted from its own first.
    pub fn next(&mut self, count: usize) -> Range<usize> {
        let own = self.left.start.min(count)..self.left.end.min(count);
        self.left = self.left.start.saturating_sub(count)..self.left.end.saturating_sub(count);
        own
    }
}

/// The functions of a tree, members and instances, owners first.
pub(crate) fn functions<'c>(module: Module<'c>) -> Vec<AnyFunction<'c>> {
    module.tree().into_iter().flat_map(|module| module.all_functions().collect::<Vec<_>>()).collect()
}

#[cfg(test)]
mod tests {
    use super::Share;

    #[test]
    fn places_are_shared_out() {
        let mut share = Share::new(2..7);
        assert_eq!([share.next(3), share.next(0), share.next(3), share.next(9)], [2..3, 0..0, 0..3, 0..1]);
        assert_eq!(share.next(5), 0..0);
    }
}
