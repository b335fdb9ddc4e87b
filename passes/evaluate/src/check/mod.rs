//! Each pass checked by evaluation.

mod compare;
mod inputs;
mod source;
mod values;

use std::ops::Deref;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use tf_core::guard::guard;
use tf_core::{AnyFunction, Context, Diagnostic, Expr, Module, Result};
use tf_framework::{Instrumentation, Numerics, PassRun};
use tf_types::DimKind;
use tf_value::Tensor;
use tf_value::io::TensorStore;

use crate::reading::{refused, wanted};
use crate::tensors::{Sources, open};
use crate::{DimSizes, Engines, Positions, Reading, ReadingRequest, Request, Step};
use compare::{Allowed, Difference};
use inputs::{Flavour, activations};

pub use inputs::generated_inputs;
pub use source::CheckInputs;

/// What helps where results differ by rounding only.
const ROUNDS: &str = "the values are near each other: a pass that may round differently says so, `#[pass(…, rounds)]`";

/// Evaluates the entry, or every function of a module without one, before and after each pass that changes it: another result is an
/// error of that pass. How near results must be, the pass says ([`Numerics`]). A set of inputs on which the program fails before the
/// pass is left out. So are, where a pass makes statements of values, sets with numbers of which sums depend on their order.
pub struct CheckEach {
    engines: Engines,
    file: Option<File>,
    samples: usize,
    /// The results of the last module, which is the next pass's module before it.
    known: Option<Known>,
    /// The module before the pass that left a module, by address: what a pass over others does was compared step by step.
    compared: FxHashMap<usize, usize>,
    warnings: Vec<Diagnostic>,
}

/// The tensors that stand in for made-up ones.
struct File {
    path: String,
    prefix: String,
    store: Arc<dyn TensorStore>,
}

/// Results of a module, by its address: instruments outlive no module, but know no lifetime of one.
struct Known {
    module: usize,
    results: Vec<Samples>,
}

/// The results of a function on each set of inputs, as far as it was evaluated there.
type Samples = Vec<Option<Outcome>>;

/// What an evaluation gave.
struct Outcome {
    result: Result<Vec<Tensor>>,
    /// What the positions of a placed function make up.
    positions: Option<Result<Vec<Tensor>>>,
    /// Whether outputs were inputs too.
    in_place: bool,
}

/// A function that is compared.
struct Subject<'c> {
    reading: Reading<'c>,
    function: AnyFunction<'c>,
}

impl CheckEach {
    /// By the engine `reference` of these.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn new(engines: Engines, inputs: &CheckInputs) -> Result<Self> {
        let (file, samples) = match inputs {
            CheckInputs::Generated(count) => (None, *count),
            CheckInputs::File { path, prefix } => {
                (Some(File { path: path.clone(), prefix: prefix.clone(), store: open(path)? }), 1)
            }
        };
        Ok(Self { engines, file, samples, known: None, compared: FxHashMap::default(), warnings: Vec::new() })
    }

    /// What was not checked.
    #[must_use]
    pub fn into_warnings(self) -> Vec<Diagnostic> {
        self.warnings
    }

    fn sources<'c>(&self, dims: DimSizes<'c>) -> Sources<'c> {
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

    /// The entry, or all functions where there is none.
    fn subjects<'c>(&self, module: Module<'c>) -> Vec<Subject<'c>> {
        let root = Reading::load(module, self.sources(DimSizes::default()).constants);
        if let Some(function) = module.entry_function() {
            return vec![Subject { reading: root, function }];
        }
        let (mut subjects, mut stack) = (Vec::new(), vec![root]);
        while let Some(reading) = stack.pop() {
            let module = reading.module();
            let own = module.data().functions.iter();
            subjects.extend(own.map(|&function| Subject { reading: reading.clone(), function }));
            stack.extend(module.child_modules().filter_map(|child| reading.child(child.name.as_str()).cloned()));
        }
        subjects
    }

    /// A tensor of the set of inputs of that number.
    fn input<'c>(&self, param: Expr<'c>, sources: &Sources<'c>, sample: usize) -> Result<Tensor> {
        let name = param.var_name().map_or("", |name| name.as_str());
        let Some(ty) = param.ty().as_tensor() else {
            return Err(Diagnostic::error(format!("parameter `{name}` is no tensor")).at(param.span()));
        };
        if sources.inputs.find(name).is_some() {
            return sources.activation(param, &mut Vec::new());
        }
        wanted(ty, &sources.dims)
            .and_then(|shape| inputs::draw(sample, name, ty.dtype, &shape))
            .map_err(|error| refused(error).at(param.span()))
    }

    /// The results of a function on the set of inputs of that number that is drawn for `like`. `in_place`: outputs are inputs too.
    fn evaluate<'c>(
        &self,
        cx: &Context<'c>,
        subject: &Subject<'c>,
        (like, sample): (AnyFunction<'c>, usize),
        in_place: bool,
    ) -> Result<Vec<Tensor>> {
        let sources = self.sources(self.sizes(like, sample));
        let tensors: Vec<Tensor> =
            activations(like).map(|param| self.input(param, &sources, sample)).collect::<Result<_>>()?;
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
                let held = changed.iter().filter(|_| in_place).map(|&param| self.input(param, &sources, sample));
                let outputs = held.map(|tensor| tensor.map(Some)).collect::<Result<Vec<_>>>()?;
                let module = subject.reading.module();
                let (entry, dims) = (subject.function, &sources.dims);
                engine.run(&Request { cx, module, entry, inputs: &inputs, outputs: &outputs, dims, argument: None })
            }
        });
        run.unwrap_or_else(|panic| Err(panic.into_diagnostic("the evaluation")))
    }

    /// The results that the positions of a function make up, if it is placed, on the first sets of inputs.
    fn at_positions<'c>(
        &self,
        cx: &Context<'c>,
        subject: &Subject<'c>,
        (like, sample): (AnyFunction<'c>, usize),
    ) -> Option<Result<Vec<Tensor>>> {
        let AnyFunction::Hir(function) = subject.function else { return None };
        if sample >= values::AT_POSITIONS || !values::is_placed(function) {
            return None;
        }
        let (engine, _) = self.engines.find("reference")?;
        let sources = self.sources(self.sizes(like, sample));
        let tensors: Result<Vec<Tensor>> = activations(like).map(|param| self.input(param, &sources, sample)).collect();
        let none = DimSizes::default();
        let dims = if self.file.is_some() { &none } else { &sources.dims };
        let run = guard(|| {
            let inputs = match &tensors {
                Ok(inputs) => inputs,
                Err(error) => return Some(Err(error.clone())),
            };
            let request =
                ReadingRequest { step: Step::Function(subject.reading.clone(), function), inputs, dims, times: None };
            let results = engine.run_positions(cx, &request, Positions::Any)?;
            Some(results.map(|results| results.outputs))
        });
        run.unwrap_or_else(|panic| Some(Err(panic.into_diagnostic("the evaluation"))))
    }

    /// The same before a pass: a function of statements may change its outputs in place, which shows when they hold nothing.
    fn outcome<'c>(&self, cx: &Context<'c>, subject: &Subject<'c>, like: (AnyFunction<'c>, usize)) -> Outcome {
        let result = self.evaluate(cx, subject, like, false);
        if result.is_err() && matches!(subject.function, AnyFunction::Tir(_)) {
            return Outcome { result: self.evaluate(cx, subject, like, true), positions: None, in_place: true };
        }
        Outcome { result, positions: self.at_positions(cx, subject, like), in_place: false }
    }

    fn inputs_text(&self, like: AnyFunction<'_>, sample: usize) -> String {
        if let Some(file) = &self.file {
            return format!("on the inputs of `{}`", file.path);
        }
        let mut sizes: Vec<_> = inputs::sizes(like, sample).iter().map(|(name, n)| format!("{name}={n}")).collect();
        sizes.sort();
        let dims = if sizes.is_empty() { String::new() } else { format!(", dims {}", sizes.join(" ")) };
        let flavour = Flavour::of(sample).name();
        format!("on generated inputs {} of {}: {flavour}{dims}", sample + 1, self.samples)
    }

    /// Whether passes that were compared, one after the other, lead from one module to the other.
    fn is_compared(&self, before: Module<'_>, after: Module<'_>) -> bool {
        let mut at = address(after);
        for _ in 0..self.compared.len() {
            let Some(&earlier) = self.compared.get(&at) else { return false };
            if earlier == address(before) {
                return true;
            }
            at = earlier;
        }
        false
    }

    /// A file without any of the parameters is most likely another program's.
    fn warn_of_no_tensors(&mut self, function: AnyFunction<'_>) {
        let Some(file) = &self.file else { return };
        let sources = self.sources(DimSizes::default());
        let mut names = activations(function).filter_map(Expr::var_name).peekable();
        if names.peek().is_some() && !names.any(|name| sources.inputs.find(name.as_str()).is_some()) {
            let message =
                format!("`{}` has no tensor for a parameter of `{}`: all are made up", file.path, function.name());
            self.warn(sources.inputs.explain(Diagnostic::warning(message).at(function.span()), &[]));
        }
    }

    fn warn(&mut self, warning: Diagnostic) {
        if self.warnings.iter().all(|known| known.message != warning.message) {
            self.warnings.push(warning.coded("check-each"));
        }
    }

    /// Compares a function before and after a pass; the results after it are left in `results`.
    fn compare<'c>(
        &mut self,
        (run, cx): (&PassRun<'_>, &Context<'c>),
        (old, new): (&Subject<'c>, &Subject<'c>),
        mut known: Samples,
        results: &mut Samples,
    ) -> Result<()> {
        let (pass, name) = (run.decl.name, old.function.name());
        let fault = |what: String| {
            let message = format!("pass `{pass}` changed what `{name}` computes: {what}");
            Diagnostic::error(message).at(old.function.span()).coded("check-each")
        };
        if old.function == new.function && old.reading.path() == new.reading.path() {
            *results = known;
            return Ok(());
        }
        if !inputs::fit_each_other(old.function, new.function) {
            return Err(fault("its parameters are others".to_owned()));
        }
        // A pass may narrow the parameters' shapes: then only inputs of the narrower ones have a meaning in both.
        let like = new.function;
        if !inputs::draw_alike(old.function, like) {
            known.clear();
        }
        self.warn_of_no_tensors(like);
        known.resize_with(self.samples, || None);
        let mut lacking = None;
        let mut compared = false;
        let lowers = matches!((old.function, new.function), (AnyFunction::Hir(_), AnyFunction::Tir(_)));
        let allowed = if lowers { Allowed::Lowering } else { Allowed::By(run.numerics) };
        for (sample, known) in known.into_iter().enumerate() {
            let flavour = Flavour::of(sample);
            if run.numerics == Numerics::FastMath && !flavour.is_tame() || lowers && !flavour.is_summed_in_any_order() {
                results.push(None);
                continue;
            }
            let before = known.unwrap_or_else(|| self.outcome(cx, old, (like, sample)));
            let Outcome { result: before, positions: old_positions, in_place } = before;
            let after = self.evaluate(cx, new, (like, sample), in_place);
            let positions = self.at_positions(cx, new, (like, sample));
            let difference = match (&before, &after) {
                (Ok(before), Ok(after)) => compare::difference(before, after, allowed),
                (Ok(_), Err(error)) => {
                    let what = format!("its evaluation fails, as it did not before: {}", error.message);
                    Some(Difference { at: error.span, ..Difference::new(what) })
                }
                (Err(error), _) => {
                    lacking = Some((sample, error.message.clone()));
                    None
                }
            };
            let difference = difference.or_else(|| {
                let (before, after) = ((&before, old_positions.as_ref()), (&after, positions.as_ref()));
                values::difference(before, after, allowed).filter(|_| !lowers)
            });
            compared |= before.is_ok() || matches!(old_positions, Some(Ok(_)));
            if let Some(Difference { what, is_rounding, at }) = difference {
                let mut error = fault(what).with_note(None, self.inputs_text(like, sample));
                if let Some(at) = at {
                    error = error.with_note(Some(at), "it fails here");
                }
                if is_rounding {
                    error = error.with_help(ROUNDS);
                }
                return Err(error);
            }
            results.push(Some(Outcome { result: after, positions, in_place }));
        }
        if let Some((sample, why)) = lacking.filter(|_| !compared) {
            let message = format!("`--check-each` finds no inputs on which `{name}` has a value: {why}");
            let text = self.inputs_text(like, sample);
            self.warn(Diagnostic::warning(message).at(old.function.span()).with_note(None, text));
        }
        Ok(())
    }
}

fn address(module: Module<'_>) -> usize {
    std::ptr::from_ref(Deref::deref(&module)).addr()
}

impl Instrumentation for CheckEach {
    fn check<'c>(&mut self, run: &PassRun<'_>, before: Module<'c>, after: Module<'c>, cx: &Context<'c>) -> Result<()> {
        if before == after || self.is_compared(before, after) {
            return Ok(());
        }
        let (old, new) = (self.subjects(before), self.subjects(after));
        let known = self.known.take().filter(|known| known.module == address(before));
        let mut known = known.map(|known| known.results).unwrap_or_default().into_iter();
        let (is_entry, entry) = (before.entry_function().is_some(), after.entry_function());
        let fault = |function: AnyFunction<'c>, what: &str| {
            let message = format!("pass `{}` {what} `{}`", run.decl.name, function.name());
            Err(Diagnostic::error(message).at(function.span()).coded("check-each"))
        };
        let mut results: Vec<Samples> = new.iter().map(|_| Vec::new()).collect();
        for old in &old {
            let known = known.next().unwrap_or_default();
            if is_entry && entry.is_none() {
                return fault(old.function, "left no entry in the place of");
            }
            let same = |new: &Subject<'c>| {
                is_entry || (new.function.name(), new.reading.path()) == (old.function.name(), old.reading.path())
            };
            match new.iter().position(same) {
                Some(at) => self.compare((run, cx), (old, &new[at]), known, &mut results[at])?,
                None => return fault(old.function, "removed"),
            }
        }
        self.compared.insert(address(after), address(before));
        self.known = Some(Known { module: address(after), results });
        Ok(())
    }
}
