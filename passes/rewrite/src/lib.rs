//! Pattern rewriting, of any dialect.
//!
//! A [`RewritePattern`] looks at one expression and says what may stand in its place. [`rewrite!`] writes those that are trees of
//! ops; [`Patterns`] has them by their root; [`Greedy`] applies them until none fits.
//!
//! A rewrite keeps the value: shape, dtype, layout and storage, and every bit. It may remove a failure of a run, and never adds one.
//! Patterns that change bits of floats say so ([`RewritePattern::fast_math`]) and are used only where that is asked for.

mod driver;
mod macros;
mod pattern;
mod patterns;

pub use driver::{Applied, Greedy};
pub use pattern::{Number, RewritePattern, Rewriter, Root};
pub use patterns::Patterns;
#[doc(hidden)]
pub use tf_core;
