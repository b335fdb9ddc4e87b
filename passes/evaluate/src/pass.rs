//! The pass `evaluate`.

use std::path::Path;

use tf_core::{AnyFunction, Diagnostic, Expr, Function, Module, Result};
use tf_framework::{Artifact, OptionError, Pass, PassCx};
use tf_types::Symbol;
use tf_value::Tensor;
use tf_value::io::write_tensors;

use crate::boundary::activations;
use crate::dims::add_stated;
use crate::reading::refused;
use crate::tensors::{Sources, open};
use crate::{
    DimSizes, Engine, Engines, Positions, Reading, ReadingRequest, Request, Resource, Step, Times, bind_dims, summary,
};

/// Runs the entry on tensors from files and leaves a table of the results.
///
/// A parameter `x` takes the tensor PREFIX + `x` of the inputs file, failing that `x`; one of another dtype is cast. A `ConstTensor`
/// parameter `w` of the child `a.b` takes `a.b.w` of the weights file; without one, or where it lacks it, that name of the inputs file after
/// PREFIX, after `weights.`, or alone. It must have the declared shape and dtype, and is read when it is first needed. The table names what
/// the weights file has and no function declares. A file is safetensors, npz or npy; a folder holds safetensors files.
/// A function of statements takes a tensor of an output's name too, for one that it changes in place.
/// What runs is `entry`, else the method `forward`, else the module's entry function. Results are written as `out0`, `out1`, …, all or
/// nothing. The module stays as it is.
#[derive(Clone, Pass)]
#[pass(name = "evaluate")]
pub struct Evaluate {
    /// A file with the inputs.
    #[option]
    inputs: Option<String>,
    /// The file to write the results to.
    #[option]
    outputs: Option<String>,
    /// A file or folder with the ConstTensor parameters.
    #[option]
    weights: Option<String>,
    /// The function or method to run, or a child, as `a.b` or `a.b.f`.
    #[option]
    entry: Option<String>,
    /// What stands before the parameters' names in the inputs file.
    #[option]
    prefix: Option<String>,
    /// One run of an inputs file that holds several: short for `prefix=RUN.in.`.
    #[option]
    run: Option<String>,
    /// The engine.
    #[option]
    #[default("reference")]
    on: String,
    /// Make up the tensors that no file has, from this seed.
    #[option]
    random: Option<i64>,
    /// Sizes of dims for made-up tensors, as `n:17`.
    #[option]
    dims: Vec<String>,
    /// Every position of the meshes evaluates for itself: `all` gives its results, with the positions as leading axes, `assembled` the
    /// values that they make up.
    #[option]
    mesh: Option<String>,
    /// Adds the time of each op to the table.
    #[option]
    stats: bool,
    engines: Engines,
}

fn bad(option: &'static str, message: String) -> OptionError {
    OptionError { option, message, help: None, missing: false }
}

impl Evaluate {
    fn prefix(&self) -> String {
        match (&self.prefix, &self.run) {
            (Some(prefix), _) => prefix.clone(),
            (None, Some(run)) => format!("{run}.in."),
            (None, None) => String::new(),
        }
    }

    /// How positions are evaluated, if they are.
    fn positions(&self) -> Result<Option<Positions>, OptionError> {
        match self.mesh.as_deref() {
            None => Ok(None),
            Some("all") => Ok(Some(Positions::All)),
            Some("assembled") => Ok(Some(Positions::Assembled)),
            Some(other) => Err(bad("mesh", format!("expected `all` or `assembled`, found `{other}`"))),
        }
    }

    fn sizes(&self) -> Result<Vec<(&str, i64)>, OptionError> {
        let size = |text: &str| {
            let (name, size) = text.split_once(':')?;
            size.parse().ok().filter(|&size: &i64| size >= 0).map(|size| (name.len(), size))
        };
        self.dims
            .iter()
            .map(|text| match size(text) {
                Some((end, size)) => Ok((&text[..end], size)),
                None => Err(bad("dims", format!("expected NAME:SIZE with a size of 0 or more, found `{text}`"))),
            })
            .collect()
    }

    /// The member function to run by an engine that takes one tensor for each parameter.
    fn find<'c>(&self, module: Module<'c>) -> Result<AnyFunction<'c>> {
        let members: Vec<_> = module.functions.iter().map(|f| format!("`{}`", f.name())).collect();
        let known = format!("module `{}` has {}", module.name, members.join(", "));
        match &self.entry {
            Some(name) => module.lookup(name).ok_or_else(|| {
                Diagnostic::error(format!("module `{}` has no function `{name}`", module.name)).with_help(known)
            }),
            None => module.entry_function().or_else(|| only(module.functions)).ok_or_else(|| {
                Diagnostic::error(format!("module `{}` has no entry", module.name))
                    .at(module.span)
                    .with_help(format!("name a function with `entry=NAME`; {known}"))
            }),
        }
    }

    /// What to run of a reading; `None` where that is a TIR function.
    fn step<'c>(&self, root: &Reading<'c>) -> Result<Option<Step<'c>>> {
        let module = root.module();
        let Some(entry) = &self.entry else {
            let forward = module.methods.iter().any(|method| method.name.as_str() == "forward");
            let function = module.entry_function().or_else(|| only(module.functions));
            return match function {
                Some(AnyFunction::Tir(_)) if !forward => Ok(None),
                Some(AnyFunction::Hir(function)) if !forward => Ok(Some(Step::Function(root.clone(), function))),
                _ => root.default_step().map(Some).map_err(|error| {
                    let members = error.help.clone().unwrap_or_default();
                    error.with_help(format!("name what to run with `entry=NAME`; {members}"))
                }),
            };
        };
        if let Some(AnyFunction::Tir(_)) = module.lookup(entry) {
            return Ok(None);
        }
        let mut reading = root;
        let mut names = entry.split('.').peekable();
        while let Some(name) = names.next() {
            if let Some(child) = reading.child(name) {
                reading = child;
            } else if let Some(step) = reading.step(name).filter(|_| names.peek().is_none()) {
                return Ok(Some(step));
            } else if reading.step(name).is_some() {
                let message = format!("`{name}` of {} is no child: `{entry}` names nothing", reading.describe());
                return Err(Diagnostic::error(message).with_help("only children are followed by a dot"));
            } else {
                let message = format!("{} has no function, method or child `{name}`", reading.describe());
                return Err(Diagnostic::error(message).with_help(reading.members()));
            }
        }
        reading.default_step().map(Some)
    }

    /// The outputs of a step of a reading; `None`: the engine runs none, or what is to run is a TIR function.
    fn run_reading<'c>(
        &self,
        engine: &dyn Engine,
        (module, cx): (Module<'c>, &PassCx<'_, 'c>),
        sources: &Sources<'c>,
        notes: &mut Notes,
    ) -> Result<Option<Vec<Tensor>>> {
        if engine.name() != "reference" {
            return Ok(None);
        }
        let positions = self.positions().map_err(|error| Diagnostic::error(error.message))?;
        let step = self.step(&Reading::load(module, sources.constants.clone()));
        let Some(step) = step.map_err(|error| error.at(cx.option_span("entry")))? else { return Ok(None) };
        if let Step::Function(_, function) = &step {
            check_stated(*function, &sources.dims)?;
        }
        let names: Vec<_> = match &step {
            Step::Function(_, function) => activations(*function).filter_map(Expr::var_name).collect(),
            Step::Method(_, method) => method.params.iter().map(|param| param.name).collect(),
        };
        sources.check_devices(names.into_iter().map(|name| (name, false)))?;
        let inputs = match &step {
            Step::Function(_, function) => activations(*function)
                .map(|param| sources.activation(param, &mut notes.converted))
                .collect::<Result<_>>()?,
            Step::Method(_, method) => sources.of_method(*method)?,
        };
        let times = notes.times.as_ref();
        let request = ReadingRequest { step, inputs: &inputs, dims: &sources.dims, times };
        let Some(form) = positions else { return engine.run_reading(&request).transpose() };
        let Some(results) = engine.run_positions(cx.context(), &request, form).transpose()? else { return Ok(None) };
        if form == Positions::All {
            let axes: Vec<_> = results.axes.iter().map(|(name, count)| format!("{name}={count}")).collect();
            notes.positions =
                Some(format!("positions {}\n", if axes.is_empty() { "one".into() } else { axes.join(" ") }));
        }
        Ok(Some(results.outputs))
    }

    /// The outputs of an engine that takes one tensor for each parameter.
    fn run_bound<'c>(
        &self,
        (engine, argument): (&dyn Engine, Option<&str>),
        (module, cx): (Module<'c>, &PassCx<'_, 'c>),
        sources: &Sources<'c>,
        notes: &mut Notes,
    ) -> Result<Vec<Tensor>> {
        let entry = self.find(module).map_err(|error| error.at(cx.option_span("entry")))?;
        let params = match entry {
            AnyFunction::Hir(function) => function.params.to_vec(),
            AnyFunction::Tir(function) => function.inputs_and_outputs().0,
        };
        let reading = Reading::load(module, sources.constants.clone());
        let named = params.iter().filter_map(|param| Some((param.var_name()?, param.is_const_param())));
        sources.check_devices(named).map_err(|error| error.at(entry.span()))?;
        let constants = params.iter().filter(|param| param.is_const_param());
        let shapes = params.iter().filter(|param| !param.is_const_param());
        let given: Vec<_> = shapes
            .map(|&param| Ok((param, sources.activation(param, &mut notes.converted)?)))
            .collect::<Result<_>>()?;
        let changed = match entry {
            AnyFunction::Tir(function) if engine.name() == "reference" => function.inputs_and_outputs().1,
            _ => Vec::new(),
        };
        let held = |&param: &Expr<'c>| {
            let found = param.var_name().is_some_and(|name| sources.inputs.find(name.as_str()).is_some());
            found.then(|| sources.activation(param, &mut notes.converted)).transpose()
        };
        let outputs: Vec<Option<Tensor>> = changed.iter().map(held).collect::<Result<_>>()?;
        let tensors: Vec<Tensor> = given.into_iter().map(|(_, tensor)| tensor).collect();
        let mut bound: Vec<_> = params.iter().copied().filter(|param| !param.is_const_param()).collect();
        bound.extend(changed.iter().zip(&outputs).filter_map(|(&param, tensor)| tensor.as_ref().map(|_| param)));
        let known: Vec<_> = tensors.iter().chain(outputs.iter().flatten()).cloned().collect();
        let mut dims = bind_dims(&bound, &known, entry.span())?;
        add_stated(&mut dims, &sources.dims, entry.span())?;
        let mut filled =
            constants.map(|&param| reading.constant(param, &dims)).collect::<Result<Vec<_>>>()?.into_iter();
        let mut given = tensors.into_iter();
        let inputs: Vec<Tensor> = params
            .iter()
            .filter_map(|param| if param.is_const_param() { filled.next() } else { given.next() })
            .collect();
        dims.extend(bind_dims(&params, &inputs, entry.span())?);
        engine.run(&Request {
            cx: cx.context(),
            module,
            entry,
            inputs: &inputs,
            outputs: &outputs,
            dims: &dims,
            argument,
        })
    }
}

/// What is told beside the results.
#[derive(Default)]
struct Notes {
    positions: Option<String>,
    converted: Vec<String>,
    times: Option<Times>,
}

/// Whether a function has the dims whose sizes are stated.
fn check_stated<'c>(function: Function<'c>, stated: &DimSizes<'c>) -> Result<()> {
    let known: Vec<_> = function.dim_vars_reached().iter().map(|var| var.name).collect();
    let other = stated.keys().copied().filter(|name| !known.contains(name)).map(Symbol::as_str).min();
    let Some(name) = other else { return Ok(()) };
    let known: Vec<_> = known.iter().map(|name| format!("`{name}`")).collect();
    let help = if known.is_empty() { "it has none".to_owned() } else { format!("it has {}", known.join(", ")) };
    let message = format!("`{}` has no dim `{name}`, whose size `dims` states", function.name);
    Err(Diagnostic::error(message).at(function.span).with_help(help))
}

fn only<'c>(functions: &[AnyFunction<'c>]) -> Option<AnyFunction<'c>> {
    if let [one] = functions { Some(*one) } else { None }
}

impl Pass for Evaluate {
    fn check(&self) -> Result<(), OptionError> {
        self.sizes()?;
        if self.positions()?.is_some() && self.on != "reference" {
            return Err(bad("mesh", format!("only the engine `reference` knows positions, found `on={}`", self.on)));
        }
        if self.prefix.is_some() && self.run.is_some() {
            return Err(bad("run", "`prefix` is given too, and `run` is short for one".to_owned()));
        }
        if self.engines.find(&self.on).is_none() {
            let known: Vec<_> = self.engines.names().iter().map(|name| format!("`{name}`")).collect();
            let help = Some(format!("engines here: {}", known.join(", ")));
            return Err(OptionError {
                option: "on",
                message: format!("there is no engine `{}`", self.on),
                help,
                missing: true,
            });
        }
        Ok(())
    }

    fn run<'c>(&self, module: Module<'c>, cx: &mut PassCx<'_, 'c>) -> Result<Module<'c>> {
        let Some((engine, argument)) = self.engines.find(&self.on) else {
            return Err(Diagnostic::error(format!("there is no engine `{}`", self.on)));
        };
        let stated = self.sizes().map_err(|error| Diagnostic::error(error.message))?;
        let dims = stated.into_iter().map(|(name, size)| (cx.symbol(name), size)).collect::<DimSizes<'c>>();
        let file = |path: &Option<String>, option| {
            let opened = path.as_deref().map(open).transpose();
            opened.map_err(|error| error.at(cx.option_span(option)))
        };
        let (inputs, weights) = (file(&self.inputs, "inputs")?, file(&self.weights, "weights")?);
        let unused = weights.clone().and_then(|weights| {
            let resource = Resource::new(weights);
            resource.unused(&Reading::load(module, resource.clone()).declared())
        });
        let sources = Sources::new(inputs, weights, &self.prefix(), self.random.map(i64::cast_unsigned), dims);
        let mut notes = Notes { times: Times::on_terminal(self.stats), ..Notes::default() };
        let outputs = match self.run_reading(engine, (module, cx), &sources, &mut notes)? {
            Some(outputs) => outputs,
            None if self.mesh.is_some() => {
                let message = "`mesh` evaluates HIR functions, but what is to run is a TIR function";
                let error = Diagnostic::error(message).at(cx.option_span("mesh"));
                return Err(error.with_help("evaluate before `lower-tir`"));
            }
            None => self.run_bound((engine, argument), (module, cx), &sources, &mut notes)?,
        };
        let outputs: Vec<(String, Tensor)> =
            outputs.into_iter().enumerate().map(|(i, tensor)| (format!("out{i}"), tensor)).collect();
        if let Some(path) = &self.outputs {
            write_tensors(Path::new(path), outputs.iter().map(|(name, tensor)| (name.as_str(), tensor)))
                .map_err(|error| refused(error).at(cx.option_span("outputs")))?;
        }
        let mut text = summary::table(&outputs);
        text.push_str(notes.positions.as_deref().unwrap_or_default());
        for line in notes.converted {
            text.push_str(&format!("converted {line}\n"));
        }
        if let Some(line) = unused {
            text.push_str(&format!("{line}\n"));
        }
        if let Some(times) = notes.times.filter(|_| self.stats) {
            text.push_str(&times.table());
        }
        cx.emit_artifact(Artifact::text("text", "txt", text));
        Ok(module)
    }
}
