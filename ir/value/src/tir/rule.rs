//! The rule by which a TIR op is evaluated.

use tf_core::guard::{Panic, guard};
use tf_core::op::rules::typed;
use tf_core::op::{Op, OpCall, OpView, RuleError};

use super::{Effect, Meaning, Positions, Stop};
use crate::ValueError;

/// What a TIR op means.
pub trait TirEvalRule: Op {
    /// The meaning of a call whose types have no symbolic extent.
    ///
    /// # Errors
    /// Operands for which there is none: a placement without static positions, elements that a position does not hold.
    fn meaning<'c>(call: OpCall<'c, Self>) -> Result<Meaning, RuleError>;
}

/// Handler of a [`TirEvalRule`].
pub type TirFn = for<'c> fn(OpView<'c>) -> Result<Meaning, RuleError>;

fn panicked<O: Op>(panic: Panic) -> String {
    let place = panic.place.map(|place| format!(" (at {place})")).unwrap_or_default();
    format!("the evaluation of `{}` panicked: {}{place}", O::DECL.name, panic.message)
}

/// Panics are caught in the crate that registers the op.
pub(crate) fn tir_handler<O: TirEvalRule>(view: OpView<'_>) -> Result<Meaning, RuleError> {
    let meaning = guard(|| O::meaning(typed(view))).map_err(|panic| RuleError::new(panicked::<O>(panic)))??;
    Ok(match meaning {
        Meaning::Effect(team, effect) => {
            Meaning::Effect(team, Box::new(Guarded::<O> { effect, op: std::marker::PhantomData }))
        }
        meaning => meaning,
    })
}

struct Guarded<O> {
    effect: Box<dyn Effect>,
    op: std::marker::PhantomData<O>,
}

impl<O: Op> Effect for Guarded<O> {
    fn run(&self, positions: &mut dyn Positions) -> Result<(), Stop> {
        guard(|| self.effect.run(positions)).unwrap_or_else(|panic| Err(ValueError::new(panicked::<O>(panic)).into()))
    }
}
