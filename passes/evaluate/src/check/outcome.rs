//! What functions give on sets of inputs.

use std::sync::Arc;

use tf_core::guard::guard;
use tf_core::{AnyFunction, Context, Diagnostic, Expr, Result};
use tf_types::{DType, DimKind};
use tf_value::Tensor;

use super::inputs::{self, Zeros, activations};
use super::{CheckEach, values};
use crate::reading::{refused, wanted};
use crate::tensors::Sources;
use crate::{DimSizes, PositionResults, Positions, Reading, ReadingRequest, Request, Step};

/// The results of a function on each set of inputs, as far as it was evaluated there.
pub type Samples = Vec<Option<Outcome>>;

/// What an evaluation gave.
pub struct Outcome {
    pub result: Result<Vec<Tensor>>,
    /// What the positions of a placed function make up.
    pub positions: Option<Result<PositionResults>>,
    /// What it was made on.
    pub set: Set,
}

/// A set of inputs: its number, and what was changed because the program has no value on it as it is drawn.
#[derive(Clone, Copy, Debug)]
pub struct Set {
    pub number: usize,
    pub zeros: Zeros,
    /// Whether outputs are inputs too.
    pub in_place: bool,
}

impl Set {
    /// As it is drawn.
    pub fn drawn(number: usize) -> Self {
        Self { number, zeros: Zeros::Kept, in_place: false }
    }
}

/// A function that is compared.
pub struct Subject<'c> {
    pub reading: Reading<'c>,
    pub function: AnyFunction<'c>,
}

impl Subject<'_> {
    /// Whether positions evaluate it too.
    pub fn is_placed(&self) -> bool {
        matches!(self.function, AnyFunction::Hir(function) if values::is_placed(function))
    }
}

impl CheckEach {
    pub(super) fn sources<'c>(&self, dims: DimSizes<'c>) -> Sources<'c> {
        let store = self.file.as_ref().map(|file| Arc::clone(&file.store));
        let prefix = self.file.as_ref().map_or("", |file| file.prefix.as_str());
        Sources::new(store, None, prefix, Some(0), dims)
    }

    /// Sizes of the dims of a function: those of the file's tensors, else those of the set of that number.
    fn sizes<'c>(&self, function: AnyFunction<'c>, sample: usize) -> DimSizes<'c> {
        let mut sizes = inputs::sizes(function, sample);
        if self.file.is_some() {
            let sources = self.sources(DimSizes::default());
            for param in activations(function) {
                let found = param.var_name().and_then(|name| sources.inputs.find(name.as_str()));
                let (Some(found), Some(ty)) = (found, param.ty().as_tensor()) else { continue };
                for (dim, &extent) in ty.shape.iter().zip(&found.info.shape) {
                    if let DimKind::Var(var) = *dim.data() {
                        sizes.insert(var.name, i64::try_from(extent).unwrap_or(i64::MAX));
                    }
                }
            }
        }
        sizes
    }

    /// A tensor of a set of inputs.
    fn input<'c>(&self, param: Expr<'c>, sources: &Sources<'c>, set: Set) -> Result<Tensor> {
        let name = param.var_name().map_or("", |name| name.as_str());
        let Some(ty) = param.ty().as_tensor() else {
            return Err(Diagnostic::error(format!("parameter `{name}` is no tensor")).at(param.span()));
        };
        if sources.inputs.find(name).is_some() {
            return sources.activation(param, &mut Vec::new());
        }
        wanted(ty, &sources.dims)
            .and_then(|shape| inputs::draw(set.number, name, ty.dtype, &shape, set.zeros))
            .map_err(|error| refused(error).at(param.span()))
    }

    /// The results of a function on the set of inputs that is drawn for `like`.
    pub(super) fn evaluate<'c>(
        &self,
        cx: &Context<'c>,
        subject: &Subject<'c>,
        (like, set): (AnyFunction<'c>, Set),
    ) -> Result<Vec<Tensor>> {
        let sources = self.sources(self.sizes(like, set.number));
        let tensors: Vec<Tensor> =
            activations(like).map(|param| self.input(param, &sources, set)).collect::<Result<_>>()?;
        let Some((engine, _)) = self.engines.find("reference") else {
            return Err(Diagnostic::error("there is no engine `reference`"));
        };
        // A file's tensors state the dims; made-up sizes would contradict them.
        let none = DimSizes::default();
        let dims = if self.file.is_some() { &none } else { &sources.dims };
        let run = guard(|| match subject.function {
            AnyFunction::Hir(function) => {
                let step = Step::Function(subject.reading.clone(), function);
                let request = ReadingRequest { step, inputs: &tensors, dims, times: None };
                let unread = || Err(Diagnostic::error("the engine `reference` runs no readings"));
                engine.run_reading(&request).unwrap_or_else(unread)
            }
            AnyFunction::Tir(function) => {
                let mut given = tensors.iter().cloned();
                let (params, changed) = function.inputs_and_outputs();
                let tensor = |param: &Expr<'c>| match param.is_const_param() {
                    true => subject.reading.constant(*param, &sources.dims),
                    false => given.next().ok_or_else(|| Diagnostic::error("the parameters are others")),
                };
                let inputs = params.iter().map(tensor).collect::<Result<Vec<_>>>()?;
                let held = changed.iter().filter(|_| set.in_place).map(|&param| self.input(param, &sources, set));
                let outputs = held.map(|tensor| tensor.map(Some)).collect::<Result<Vec<_>>>()?;
                let module = subject.reading.module();
                let (entry, dims) = (subject.function, &sources.dims);
                engine.run(&Request { cx, module, entry, inputs: &inputs, outputs: &outputs, dims, argument: None })
            }
        });
        run.unwrap_or_else(|panic| Err(panic.into_diagnostic("the evaluation")))
    }

    /// The results that the positions of a function make up, if it is placed, on the first sets of inputs.
    pub(super) fn at_positions<'c>(
        &self,
        cx: &Context<'c>,
        subject: &Subject<'c>,
        (like, set): (AnyFunction<'c>, Set),
    ) -> Option<Result<PositionResults>> {
        let AnyFunction::Hir(function) = subject.function else { return None };
        if set.number >= values::AT_POSITIONS || !values::is_placed(function) {
            return None;
        }
        let (engine, _) = self.engines.find("reference")?;
        let sources = self.sources(self.sizes(like, set.number));
        let tensors: Result<Vec<Tensor>> = activations(like).map(|param| self.input(param, &sources, set)).collect();
        let none = DimSizes::default();
        let dims = if self.file.is_some() { &none } else { &sources.dims };
        let run = guard(|| {
            let inputs = match &tensors {
                Ok(inputs) => inputs,
                Err(error) => return Some(Err(error.clone())),
            };
            let request =
                ReadingRequest { step: Step::Function(subject.reading.clone(), function), inputs, dims, times: None };
            engine.run_positions(cx, &request, Positions::Any)
        });
        run.unwrap_or_else(|panic| Some(Err(panic.into_diagnostic("the evaluation"))))
    }

    /// The same before a pass. A function of statements may change its outputs in place, which shows when they hold nothing; one that divides
    /// by its integers has a value where none is zero.
    pub(super) fn outcome<'c>(
        &self,
        cx: &Context<'c>,
        subject: &Subject<'c>,
        (like, number): (AnyFunction<'c>, usize),
    ) -> Outcome {
        let set = Set::drawn(number);
        let mut result = self.evaluate(cx, subject, (like, set));
        if result.is_ok() {
            return Outcome { result, positions: self.at_positions(cx, subject, (like, set)), set };
        }
        let is_tir = matches!(subject.function, AnyFunction::Tir(_));
        let has_integers = activations(like)
            .any(|param| param.ty().as_tensor().is_some_and(|ty| !ty.dtype.is_float() && ty.dtype != DType::Bool));
        for (in_place, zeros) in [(true, Zeros::Kept), (false, Zeros::Replaced), (true, Zeros::Replaced)] {
            let may_help = (is_tir || !in_place) && (has_integers && self.file.is_none() || zeros == Zeros::Kept);
            if result.is_ok() || !may_help {
                continue;
            }
            let set = Set { in_place, zeros, ..set };
            let again = self.evaluate(cx, subject, (like, set));
            if again.is_ok() {
                return Outcome { result: again, positions: self.at_positions(cx, subject, (like, set)), set };
            }
            if in_place && zeros == Zeros::Kept {
                result = again;
            }
        }
        Outcome { result, positions: self.at_positions(cx, subject, (like, set)), set }
    }
}
