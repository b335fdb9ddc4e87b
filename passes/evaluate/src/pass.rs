//! The pass `evaluate`.

use std::path::Path;

use tf_core::{AnyFunction, Diagnostic, Module, Result};
use tf_framework::{Artifact, OptionError, Pass, PassCx};
use tf_value::Tensor;
use tf_value::io::write_tensors;

use crate::tensors::{Sources, open};
use crate::{DimSizes, Engines, Request, bind_dims, summary};

/// Runs the entry on tensors from files and leaves a table of the results.
///
/// A parameter `x` takes the tensor PREFIX + `x` of the inputs file, failing that `x`. A `ConstTensor` parameter `w` takes `w` of the
/// weights file; without one, or where it lacks it, PREFIX + `w`, `weights.w` or `w` of the inputs file. A tensor of another dtype is cast.
/// Results are written as `out0`, `out1`, …, all or nothing. The module stays as it is.
#[derive(Clone, Pass)]
#[pass(name = "evaluate")]
pub struct Evaluate {
    /// A safetensors file with the inputs.
    #[option]
    inputs: Option<String>,
    /// The safetensors file to write the results to.
    #[option]
    outputs: Option<String>,
    /// A safetensors file with the ConstTensor parameters.
    #[option]
    weights: Option<String>,
    /// The function to run, instead of the module's entry.
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

    fn sizes(&self) -> Result<Vec<(&str, i64)>, OptionError> {
        let size = |text: &str| {
            let (name, size) = text.split_once(':')?;
            size.parse().ok().map(|size| (name.len(), size))
        };
        self.dims
            .iter()
            .map(|text| match size(text) {
                Some((end, size)) => Ok((&text[..end], size)),
                None => Err(bad("dims", format!("expected NAME:SIZE, found `{text}`"))),
            })
            .collect()
    }

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
}

fn only<'c>(functions: &[AnyFunction<'c>]) -> Option<AnyFunction<'c>> {
    if let [one] = functions { Some(*one) } else { None }
}

impl Pass for Evaluate {
    fn check(&self) -> Result<(), OptionError> {
        self.sizes()?;
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
        let entry = self.find(module)?;
        let params = match entry {
            AnyFunction::Hir(function) => function.params,
            AnyFunction::Tir(function) => {
                &function.params[..function.params.len().saturating_sub(function.output_count)]
            }
        };
        let stated = self.sizes().map_err(|error| Diagnostic::error(error.message))?;
        let sources = Sources {
            inputs: self.inputs.as_deref().map(open).transpose()?,
            weights: self.weights.as_deref().map(open).transpose()?,
            prefix: self.prefix(),
            random: self.random.map(i64::cast_unsigned),
            dims: stated.into_iter().map(|(name, size)| (cx.symbol(name), size)).collect::<DimSizes<'c>>(),
        };
        let mut converted = Vec::new();
        let inputs = params.iter().map(|&p| sources.tensor(p, &mut converted)).collect::<Result<Vec<_>>>()?;
        let dims = bind_dims(params, &inputs, entry.span())?;
        let context = cx.context();
        let request = Request { cx: context, module, entry, inputs: &inputs, dims: &dims, argument };
        let outputs: Vec<(String, Tensor)> =
            engine.run(&request)?.into_iter().enumerate().map(|(i, tensor)| (format!("out{i}"), tensor)).collect();
        if let Some(path) = &self.outputs {
            write_tensors(Path::new(path), outputs.iter().map(|(name, tensor)| (name.as_str(), tensor)))
                .map_err(|error| Diagnostic::error(error.message))?;
        }
        let mut text = summary::table(&outputs);
        for line in converted {
            text.push_str(&format!("converted {line}\n"));
        }
        cx.emit_artifact(Artifact::text("text", "txt", text));
        Ok(module)
    }
}
