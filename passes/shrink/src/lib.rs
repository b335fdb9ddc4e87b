//! Delta debugging: a [`Case`] (a module, its pipeline and its inputs) is made small while a [`Test`] holds.
//!
//! A [`Reduction`] knows one way to make cases smaller and finds the places where it applies; the [`Search`] chooses places by halves, so
//! that a thousand ops take tens of tries. Every module that is tried has been typed again and verified. The result depends on the case and
//! on the test's answers only: a search that is given the answers of an earlier one goes on where that one ended.

mod case;
mod hir;
mod inputs;
mod module;
mod pipeline;
mod reduction;
mod retype;
mod search;
mod subject;
#[cfg(test)]
mod testing;
mod tir;

use std::sync::Arc;

use tf_core::op::OpRegistry;

pub use case::{Case, Inputs};
pub use reduction::{ModuleReduction, OnModule, Reduction};
pub use search::{Search, Status, Test, Verdicts, Watch};
pub use subject::{Size, parsed, size, text, well_formed};

/// All reductions: first what makes runs shorter, then those that cut most.
#[must_use]
pub fn reductions() -> Vec<Box<dyn Reduction>> {
    let mut all = inputs::fewer_sets();
    all.extend(pipeline::reductions());
    all.extend(module::reductions());
    all.extend(hir::reductions());
    all.extend(tir::reductions());
    all.extend(inputs::reductions());
    all
}

/// How large the module of a case is.
#[must_use]
pub fn size_of(case: &Case, ops: &Arc<OpRegistry>) -> Size {
    size(&case.module, ops)
}
