//! Each pass checked by evaluation.

mod compare;
mod inputs;

use std::ops::Deref;
use std::sync::Arc;

use tf_core::guard::guard;
use tf_core::{AnyFunction, Context, Diagnostic, Function, Module, Result};
use tf_framework::{Instrumentation, PassRun};
use tf_value::Tensor;
use tf_value::io::TensorStore;

use crate::boundary::activations;
use crate::reading::{refused, wanted};
use crate::tensors::{Sources, open};
use crate::{DimSizes, Engines, Reading, ReadingRequest, Step};
use inputs::Flavour;

pub use inputs::generated_inputs;

/// How many sets of inputs are made up unless told.
const SAMPLES: usize = 6;

/// What programs are evaluated on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckInputs {
    /// That many sets, made up.
    Generated(usize),
    /// The tensors of a file; those that it lacks are made up.
    File(String),
}

impl CheckInputs {
    /// A number of sets, else the name of a file; without a text the usual number.
    ///
    /// # Errors
    /// What was expected.
    pub fn parse(text: Option<&str>) -> Result<Self, String> {
        match text {
            None => Ok(Self::Generated(SAMPLES)),
            Some("") => Err("a number of generated inputs from 1, or a tensor file".to_owned()),
            Some(text) if text.bytes().all(|byte| byte.is_ascii_digit()) => match text.parse() {
                Ok(count @ 1..=10_000) => Ok(Self::Generated(count)),
                _ => Err("a number of generated inputs from 1 to 10000, or a tensor file".to_owned()),
            },
            Some(file) => Ok(Self::File(file.to_owned())),
        }
    }
}

impl std::fmt::Display for CheckInputs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Generated(count) => write!(f, "{count}"),
            Self::File(file) => f.write_str(file),
        }
    }
}

/// Evaluates the entry, or every function of a module without one, before and after each pass that changes the module: another
/// result is an error of that pass. A set of inputs on which the program fails before the pass is left out. What the evaluator does not
/// run, TIR functions, is not checked, which a warning says.
pub struct CheckEach {
    engines: Engines,
    file: Option<(String, Arc<dyn TensorStore>)>,
    samples: usize,
    /// The results of the last module, which is the next pass's module before it.
    known: Option<Known>,
    warnings: Vec<Diagnostic>,
}

/// Results of a module, by its address: instruments outlive no module, but know no lifetime of one.
struct Known {
    module: usize,
    results: Vec<Vec<Result<Vec<Tensor>>>>,
}

/// A function that is compared.
struct Subject<'c> {
    reading: Reading<'c>,
    function: Function<'c>,
}

impl CheckEach {
    /// By the engine `reference` of these.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn new(engines: Engines, inputs: &CheckInputs) -> Result<Self> {
        let (file, samples) = match inputs {
            CheckInputs::Generated(count) => (None, *count),
            CheckInputs::File(path) => (Some((path.clone(), open(path)?)), 1),
        };
        Ok(Self { engines, file, samples, known: None, warnings: Vec::new() })
    }

    /// What was not checked.
    #[must_use]
    pub fn into_warnings(self) -> Vec<Diagnostic> {
        self.warnings
    }

    fn sources<'c>(&self, dims: DimSizes<'c>) -> Sources<'c> {
        Sources::new(self.file.as_ref().map(|(_, file)| Arc::clone(file)), None, "", Some(0), dims)
    }

    /// The entry, or all functions where there is none.
    fn subjects<'c>(&self, module: Module<'c>) -> Vec<Subject<'c>> {
        let root = Reading::load(module, self.sources(DimSizes::default()).constants);
        match module.entry_function() {
            Some(AnyFunction::Hir(function)) => return vec![Subject { reading: root, function }],
            Some(AnyFunction::Tir(_)) => return Vec::new(),
            None => {}
        }
        let (mut subjects, mut stack) = (Vec::new(), vec![root]);
        while let Some(reading) = stack.pop() {
            let module = reading.module();
            subjects.extend(module.functions.iter().filter_map(|function| match *function {
                AnyFunction::Hir(function) => Some(Subject { reading: reading.clone(), function }),
                AnyFunction::Tir(_) => None,
            }));
            stack.extend(module.child_modules().filter_map(|child| reading.child(child.name.as_str()).cloned()));
        }
        subjects
    }

    /// The results of a function on the set of inputs of that number that is drawn for `like`.
    fn evaluate<'c>(&self, subject: &Subject<'c>, like: Function<'c>, sample: usize) -> Result<Vec<Tensor>> {
        let sources = self.sources(inputs::sizes(like, sample));
        let tensors: Vec<Tensor> = activations(like)
            .map(|param| {
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
            })
            .collect::<Result<_>>()?;
        let Some((engine, _)) = self.engines.find("reference") else {
            return Err(Diagnostic::error("there is no engine `reference`"));
        };
        let step = Step::Function(subject.reading.clone(), subject.function);
        // A file's tensors state the dims; made-up sizes would contradict them.
        let none = DimSizes::default();
        let dims = if self.file.is_some() { &none } else { &sources.dims };
        let request = ReadingRequest { step, inputs: &tensors, dims, times: None };
        let run = guard(|| engine.run_reading(&request));
        match run {
            Ok(Some(result)) => result,
            Ok(None) => Err(Diagnostic::error("the engine `reference` runs no readings")),
            Err(panic) => Err(panic.into_diagnostic("the evaluation")),
        }
    }

    fn inputs_text(&self, like: Function<'_>, sample: usize) -> String {
        if let Some((path, _)) = &self.file {
            return format!("on the inputs of `{path}`");
        }
        let mut sizes: Vec<_> = inputs::sizes(like, sample).iter().map(|(name, n)| format!("{name}={n}")).collect();
        sizes.sort();
        let dims = if sizes.is_empty() { String::new() } else { format!(", dims {}", sizes.join(" ")) };
        let flavour = Flavour::of(sample).name();
        format!("on generated inputs {} of {}: {flavour}{dims}", sample + 1, self.samples)
    }

    fn warn(&mut self, warning: Diagnostic) {
        if self.warnings.iter().all(|known| known.message != warning.message) {
            self.warnings.push(warning.coded("check-each"));
        }
    }

    /// Compares a function before and after a pass; the results after it are left in `results`.
    fn compare<'c>(
        &mut self,
        pass: &str,
        (old, new): (&Subject<'c>, &Subject<'c>),
        mut known: Vec<Result<Vec<Tensor>>>,
        results: &mut Vec<Result<Vec<Tensor>>>,
    ) -> Result<()> {
        let name = old.function.name;
        let fault = |what: String| {
            Diagnostic::error(format!("pass `{pass}` changed what `{name}` computes: {what}"))
                .at(old.function.span)
                .coded("check-each")
        };
        if !inputs::fit_each_other(old.function, new.function) {
            return Err(fault("its parameters are others".to_owned()));
        }
        // A pass may narrow the parameters' shapes: then only inputs of the narrower ones have a meaning in both.
        let like = new.function;
        if !inputs::draw_alike(old.function, like) {
            known.clear();
        }
        let mut known = known.into_iter();
        let mut lacking = None;
        let mut compared = false;
        for sample in 0..self.samples {
            let before = known.next().unwrap_or_else(|| self.evaluate(old, like, sample));
            let after = self.evaluate(new, like, sample);
            let difference = match (&before, &after) {
                (Ok(before), Ok(after)) => compare::difference(before, after),
                (Ok(_), Err(error)) => Some(format!("its evaluation fails, as it did not before: {}", error.message)),
                (Err(error), _) => {
                    lacking = Some((sample, error.message.clone()));
                    None
                }
            };
            compared |= before.is_ok();
            if let Some(what) = difference {
                return Err(fault(what).with_note(None, self.inputs_text(like, sample)));
            }
            results.push(after);
        }
        if let Some((sample, why)) = lacking.filter(|_| !compared) {
            let message = format!("`--check-each` finds no inputs on which `{name}` has a value: {why}");
            let text = self.inputs_text(like, sample);
            self.warn(Diagnostic::warning(message).at(old.function.span).with_note(None, text));
        }
        Ok(())
    }
}

fn address(module: Module<'_>) -> usize {
    std::ptr::from_ref(Deref::deref(&module)).addr()
}

impl Instrumentation for CheckEach {
    fn check<'c>(&mut self, run: &PassRun<'_>, before: Module<'c>, after: Module<'c>, _: &Context<'c>) -> Result<()> {
        if before == after {
            return Ok(());
        }
        let (old, new) = (self.subjects(before), self.subjects(after));
        let known = self.known.take().filter(|known| known.module == address(before));
        let mut known = known.map(|known| known.results).unwrap_or_default().into_iter();
        let is_tir = |function: &AnyFunction<'c>| matches!(function, AnyFunction::Tir(_));
        if !old.is_empty() && (after.entry_function().as_ref().is_some_and(is_tir) || new.is_empty()) {
            let message = format!("`--check-each` compares nothing from pass `{}` on", run.decl.name);
            self.warn(Diagnostic::warning(message).with_note(None, "what it leaves is TIR, which is not evaluated"));
            return Ok(());
        }
        let has_entry = before.entry_function().is_some();
        let mut results: Vec<Vec<_>> = new.iter().map(|_| Vec::new()).collect();
        for old in &old {
            let known = known.next().unwrap_or_default();
            let same = |new: &Subject<'c>| {
                has_entry || (new.function.name, new.reading.path()) == (old.function.name, old.reading.path())
            };
            // A function that is no entry may go: nothing may need it any more.
            let Some(at) = new.iter().position(same) else { continue };
            self.compare(run.decl.name, (old, &new[at]), known, &mut results[at])?;
        }
        self.known = Some(Known { module: address(after), results });
        Ok(())
    }
}
