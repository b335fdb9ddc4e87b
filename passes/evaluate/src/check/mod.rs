//! Each pass checked by evaluation.

mod compare;
mod inputs;
mod outcome;
mod source;
mod values;

use std::collections::BTreeSet;
use std::ops::Deref;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use tf_core::{AnyFunction, Context, Diagnostic, Expr, Module, Result};
use tf_framework::{Instrumentation, Numerics, PassRun};
use tf_value::io::TensorStore;

use crate::tensors::open;
use crate::{DimSizes, Engines, Reading};
use compare::{Allowed, Difference};
use inputs::{Flavour, activations};
use outcome::{Outcome, Samples, Set, Subject};

pub use inputs::{Zeros, generated_inputs};
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

    fn inputs_text(&self, like: AnyFunction<'_>, set: Set) -> String {
        let Set { number: sample, zeros, .. } = set;
        if let Some(file) = &self.file {
            return format!("on the inputs of `{}`", file.path);
        }
        let mut sizes: Vec<_> = inputs::sizes(like, sample).iter().map(|(name, n)| format!("{name}={n}")).collect();
        sizes.sort();
        let dims = if sizes.is_empty() { String::new() } else { format!(", dims {}", sizes.join(" ")) };
        let flavour = Flavour::of(sample).name();
        let zeros = if zeros == Zeros::Replaced { ", integers without 0" } else { "" };
        format!("on generated inputs {} of {}: {flavour}{zeros}{dims}", sample + 1, self.samples)
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
            self.warn(sources.inputs.explain(Diagnostic::warning(message).at(function.span()), &[], &BTreeSet::new()));
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
        let mut lacking: Vec<(Set, String)> = Vec::new();
        let mut compared = 0;
        let lowers = matches!((old.function, new.function), (AnyFunction::Hir(_), AnyFunction::Tir(_)));
        let allowed = if lowers { Allowed::Lowering } else { Allowed::By(run.numerics) };
        for (sample, known) in known.into_iter().enumerate() {
            let flavour = Flavour::of(sample);
            if run.numerics == Numerics::FastMath && !flavour.is_tame() || lowers && !flavour.is_summed_in_any_order() {
                results.push(None);
                continue;
            }
            let before = known.unwrap_or_else(|| self.outcome(cx, old, (like, sample)));
            let Outcome { result: before, positions: old_positions, set } = before;
            let after = self.evaluate(cx, new, (like, set));
            let positions = self.at_positions(cx, new, (like, set));
            let difference = match (&before, &after) {
                (Ok(before), Ok(after)) => compare::difference(before, after, allowed),
                (Ok(_), Err(error)) => {
                    let what = format!("its evaluation fails, as it did not before: {}", error.message);
                    Some(Difference { at: error.span, ..Difference::new(what) })
                }
                (Err(_), _) => None,
            };
            let difference = difference.or_else(|| {
                let (before, after) = ((&before, old_positions.as_ref()), (&after, positions.as_ref()));
                values::difference(before, after, allowed).filter(|_| !lowers)
            });
            match &before {
                Ok(_) => compared += 1,
                Err(_) if matches!(old_positions, Some(Ok(_))) => compared += 1,
                // Positions have values of a placed function where the whole has none, and evaluate the first sets only.
                Err(_) if compared > 0 && old_positions.is_none() && old.is_placed() => {}
                Err(error) => lacking.push((set, error.message.clone())),
            }
            if let Some(Difference { what, is_rounding, at, .. }) = difference {
                let mut error = fault(what).with_note(None, self.inputs_text(like, set));
                if let Some(at) = at {
                    error = error.with_note(Some(at), "it fails here");
                }
                if is_rounding {
                    error = error.with_help(ROUNDS);
                }
                return Err(error);
            }
            results.push(Some(Outcome { result: after, positions, set }));
        }
        if let Some((set, why)) = lacking.first() {
            let message = match compared {
                0 => format!("`--check-each` finds no inputs on which `{name}` has a value: {why}"),
                _ => {
                    let (left, all) = (lacking.len(), lacking.len() + compared);
                    format!(
                        "`--check-each` leaves out {left} of {all} sets of inputs, on which `{name}` has no value: {why}"
                    )
                }
            };
            let text = self.inputs_text(like, *set);
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
