//! What TIR ops mean to a machine of positions and buffers.
//!
//! The machine knows no op, and an op knows no machine: a rule turns a call, once, into a [`Meaning`]; an [`Effect`] then runs for any
//! number of positions at once, through [`Positions`].

mod access;
mod rule;

pub use access::{Access, Addresses, AxisPosition, Lookup, Place, Start, Window};
pub use rule::{TirEvalRule, TirFn};

pub(crate) use rule::tir_handler;

use tf_core::Diagnostic;

use crate::{Tensor, ValueError};

/// What an op does, found once for all runs of a call.
pub enum Meaning {
    /// New memory of the result's type.
    Allocate,
    /// Operand 0 under another layout; the operands after it are the window's starts.
    View(Window),
    /// Where a position is.
    Coordinate(Place),
    /// What positions read and write.
    Effect(Team, Box<dyn Effect>),
    /// Operand 0 is a function of the module, started on a grid of three extents and blocks of three; its arguments follow.
    Launch,
}

/// Who meets to run an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Team {
    /// Every position for itself.
    Each,
    /// That many consecutive threads of a CTA, from a multiple of that number on; fewer where the CTA ends.
    Chunks(u32),
    /// Threads `base..base + count` of a CTA; the others pass by.
    Threads {
        /// The first thread.
        base: u32,
        /// Number of threads.
        count: u32,
    },
    /// All threads of a CTA, which has that many; `None`: however many it has.
    Block(Option<u32>),
    /// All positions of the launch.
    Grid,
}

/// An effect that is ready to run.
pub trait Effect {
    /// Runs it for all positions at once.
    ///
    /// # Errors
    /// What a position may not do; values that do not allow it.
    fn run(&self, positions: &mut dyn Positions) -> Result<(), Stop>;
}

/// The positions that run an effect, and what they hold. Position `i` is row `i` of every tensor.
pub trait Positions {
    /// How many there are.
    fn count(&self) -> usize;
    /// Where a position is along a mesh axis.
    fn coordinate(&self, position: usize, axis: AxisPosition) -> i64;
    /// The elements of an operand that each position needs, `[positions, elements]`; a scalar is repeated.
    ///
    /// # Errors
    /// An element that holds nothing, that is outside of the buffer, or that another position writes meanwhile.
    fn read(&mut self, access: &Access) -> Result<Tensor, Stop>;
    /// Writes elements of an operand, `[positions, elements]`.
    ///
    /// # Errors
    /// An element that is outside of the buffer, or that another position reads or writes meanwhile.
    fn write(&mut self, access: &Access, values: &Tensor) -> Result<(), Stop>;
    /// Starts to write elements: they hold nothing that may be read before [`Positions::wait`].
    ///
    /// # Errors
    /// As [`Positions::write`].
    fn write_later(&mut self, access: &Access, values: &Tensor) -> Result<(), Stop>;
    /// Closes the group of what each position started to write.
    fn commit(&mut self);
    /// Waits until at most that many of the newest groups of each position are pending.
    fn wait(&mut self, pending: usize);
    /// Orders what these positions did before for all of them.
    fn barrier(&mut self);
}

/// Why an effect did not run.
#[derive(Debug)]
pub enum Stop {
    /// The values do not allow it.
    Value(ValueError),
    /// What a position may not do, with its places.
    Report(Box<Diagnostic>),
}

impl From<ValueError> for Stop {
    fn from(error: ValueError) -> Self {
        Self::Value(error)
    }
}

impl From<Diagnostic> for Stop {
    fn from(error: Diagnostic) -> Self {
        Self::Report(Box::new(error))
    }
}
