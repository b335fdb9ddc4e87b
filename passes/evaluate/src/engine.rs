//! Engines: what can run an entry function.

use std::sync::Arc;

use tf_core::{AnyFunction, Context, Module, Result};
use tf_value::Tensor;

use crate::{DimSizes, Positions, Step, Times};

/// What an engine is asked to run.
pub struct Request<'a, 'c> {
    /// For new nodes, and for the sources of spans.
    pub cx: &'a Context<'c>,
    /// The module of the entry.
    pub module: Module<'c>,
    /// What to run.
    pub entry: AnyFunction<'c>,
    /// One tensor for each input parameter, in order, with its dtype and a shape that fits its type.
    pub inputs: &'a [Tensor],
    /// What each output parameter of a TIR function holds before the run, where it is an input too; may be shorter.
    pub outputs: &'a [Option<Tensor>],
    /// The sizes of the dims in the inputs' types.
    pub dims: &'a DimSizes<'c>,
    /// What follows the colon in `on=cuda:0`.
    pub argument: Option<&'a str>,
}

/// A step of a reading to run.
pub struct ReadingRequest<'a, 'c> {
    /// A function or a method, with the reading that has its constants.
    pub step: Step<'c>,
    /// The activations, one for each parameter that is no constant.
    pub inputs: &'a [Tensor],
    /// Sizes of dims that the activations do not tell.
    pub dims: &'a DimSizes<'c>,
    /// Where the time of each op is counted, if it is.
    pub times: Option<&'a Times>,
}

/// What positions hold in the end.
pub struct PositionResults {
    /// The tensors of the result, in order.
    pub outputs: Vec<Tensor>,
    /// The positions of all meshes that occurred, as axes with names: those that stand before the axes of every output of
    /// [`Positions::All`].
    pub axes: Vec<(String, usize)>,
    /// Whether the positions are the leading axes of an output, one an output.
    pub spread: Vec<bool>,
}

/// Runs entry functions.
pub trait Engine: Send + Sync {
    /// Its name in `on=NAME` or `on=NAME:ARGUMENT`.
    fn name(&self) -> &'static str;

    /// The outputs in order: of a HIR function the fields of its value, of a TIR function its output parameters.
    ///
    /// # Errors
    /// The entry is nothing that this engine runs, or the run fails.
    fn run<'c>(&self, request: &Request<'_, 'c>) -> Result<Vec<Tensor>>;

    /// The outputs of a step of a reading, whose constants are read when they are needed. `None`: the engine runs no readings,
    /// it takes one tensor for each parameter.
    fn run_reading<'c>(&self, _: &ReadingRequest<'_, 'c>) -> Option<Result<Vec<Tensor>>> {
        None
    }

    /// The outputs of a function of a reading that every position of its meshes evaluates for itself. `None`: the engine does not.
    fn run_positions<'c>(
        &self,
        _: &Context<'c>,
        _: &ReadingRequest<'_, 'c>,
        _: Positions,
    ) -> Option<Result<PositionResults>> {
        None
    }
}

/// The engines of a driver, in the order they were added. Clones share the engines.
#[derive(Clone, Default)]
pub struct Engines(Vec<Arc<dyn Engine>>);

impl Engines {
    /// Adds an engine; one of the same name is replaced.
    pub fn add(&mut self, engine: impl Engine + 'static) {
        self.extend(Self(vec![Arc::new(engine)]));
    }

    /// Adds all engines of another set, in the same way.
    pub fn extend(&mut self, other: Self) {
        for engine in other.0 {
            self.0.retain(|old| old.name() != engine.name());
            self.0.push(engine);
        }
    }

    /// The engine that `on=TEXT` names, and what follows its colon.
    #[must_use]
    pub fn find<'t>(&self, text: &'t str) -> Option<(&dyn Engine, Option<&'t str>)> {
        let (name, argument) = match text.split_once(':') {
            Some((name, argument)) => (name, Some(argument)),
            None => (text, None),
        };
        let engine = self.0.iter().find(|engine| engine.name() == name)?;
        Some((engine.as_ref(), argument))
    }

    /// All names.
    #[must_use]
    pub fn names(&self) -> Vec<&'static str> {
        self.0.iter().map(|engine| engine.name()).collect()
    }
}
