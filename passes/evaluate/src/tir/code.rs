//! Statements as instructions.

use std::rc::Rc;

use tf_core::Span;
use tf_tir::held::{Factor, addresses};
use tf_types::DType;
use tf_value::tir::{Effect, Team, Window};

use super::scalar::ScalarCode;

/// A kernel or a host function with all it calls, over numbered buffers and scalars. No function calls itself, so that each has its own.
#[derive(Default)]
pub struct Code<'c> {
    pub instructions: Vec<Instruction<'c>>,
    /// Where each instruction stands.
    pub spans: Vec<Option<Span>>,
    /// The site of the first instruction: sites number the instructions of all code.
    pub first_site: u32,
    /// Number of buffers.
    pub buffers: u32,
    /// Number of scalars.
    pub scalars: u32,
    /// Memory that instructions allocate.
    pub sites: Vec<Allocated>,
    /// The buffers of the parameters that callers see.
    pub params: Vec<u32>,
    /// Their memory, as a caller that is no function has it.
    pub memory: Vec<Allocated>,
    /// The first instruction of each function; that of the entry comes first.
    pub entries: Vec<u32>,
    /// Whether all CTAs meet somewhere.
    pub meets_grid: bool,
}

impl Code<'_> {
    /// A buffer more.
    pub fn new_buffer(&mut self) -> u32 {
        self.buffers += 1;
        self.buffers - 1
    }

    /// A scalar more.
    pub fn new_scalar(&mut self) -> u32 {
        self.scalars += 1;
        self.scalars - 1
    }
}

/// Memory of a parameter or an allocation.
#[derive(Clone)]
pub struct Allocated {
    /// What messages call it.
    pub name: String,
    pub span: Option<Span>,
    pub dtype: DType,
    /// Elements of one instance.
    pub len: usize,
    /// How many instances there are.
    pub scope: Scope,
    /// Factors of the logical axes.
    pub axes: Vec<Vec<Factor>>,
}

impl Allocated {
    /// Extents of the logical axes.
    pub fn shape(&self) -> Vec<i64> {
        self.axes.iter().map(|factors| factors.iter().map(|factor| factor.extent).product()).collect()
    }

    /// The addresses of all elements, in C-order.
    pub fn addresses(&self) -> Vec<i64> {
        addresses(self.axes.iter().flatten().copied())
    }
}

/// Who shares an instance of a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Nobody: every thread has one.
    Thread,
    /// The threads of a CTA.
    Cta,
    /// All positions of a launch.
    Grid,
}

/// An operand of an instruction.
pub enum Operand<'c> {
    /// The buffer of that number.
    Buffer(u32),
    /// A scalar, with the dtype of the operand.
    Scalar(ScalarCode<'c>, DType),
}

/// An instruction. Targets are places in the code.
pub enum Instruction<'c> {
    /// Sets a scalar.
    Set { to: u32, value: ScalarCode<'c> },
    /// Keeps a scalar in memory of its own.
    Spill { to: u32, site: u32, value: ScalarCode<'c> },
    /// Allocates memory.
    Allocate { to: u32, site: u32 },
    /// Makes a view.
    View { to: u32, from: u32, window: Window, starts: Vec<ScalarCode<'c>>, name: String },
    /// Gives a buffer another name.
    Bind { to: u32, from: u32 },
    /// Runs an effect.
    Run { name: String, team: Team, effect: Box<dyn Effect>, operands: Vec<Operand<'c>> },
    /// Goes on elsewhere.
    Jump(u32),
    /// Goes on elsewhere where a condition does not hold.
    Unless(ScalarCode<'c>, u32),
    /// Refuses a step that does not go forward.
    CheckStep { step: u32 },
    /// Goes on elsewhere at the end of a loop.
    Past { at: u32, stop: u32, target: u32 },
    /// Next index of a loop; at the end of the integers the loop ends.
    Advance { at: u32, step: u32, head: u32, exit: u32 },
    /// The next round of a `while` loop, which starts there; the scalar counts a thread's rounds since it came to the loop.
    Again { rounds: u32, head: u32 },
    /// Goes on elsewhere where a scalar is outside of a range.
    Outside { value: ScalarCode<'c>, lo: i64, hi: i64, target: u32 },
    /// Runs the function of that number.
    Call(usize),
    /// Ends the function.
    Return,
    /// What is never reached.
    Abort(String),
    /// Positions of a mesh that opens: CTAs and threads, where it states them.
    Open { mesh: String, ctas: Option<i64>, threads: Option<i64> },
    /// Starts a kernel: grid and block, x y z.
    Launch { name: String, code: Rc<Code<'c>>, extents: Vec<ScalarCode<'c>>, args: Vec<Operand<'c>> },
}
