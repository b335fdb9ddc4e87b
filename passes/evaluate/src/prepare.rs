//! The pass `prepare-weights`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use tf_core::{AnyFunction, Diagnostic, Expr, Function, Module, Result};
use tf_framework::{Artifact, Pass, PassCx};
use tf_types::{Symbol, TensorType};
use tf_value::io::{TensorMap, write_shards};
use tf_value::{Tensor, show_shape};

use crate::boundary::activations;
use crate::reading::{Step, missing, refused, wanted};
use crate::tensors::open;
use crate::{DimSizes, Engines, Found, Reading, ReadingRequest, Resource};

/// Bytes of a shard, unless one tensor is larger.
const SHARD: u64 = 4 << 30;

/// Makes the constants of a module tree of a raw checkpoint, by the converters of its functions, and writes them as a folder of shards.
///
/// The raw tensors of the child `a.b` are named `a.b.NAME`. A converter takes them by its parameters' names; where there is no `p` but
/// `p.0`, `p.1`, … these are stacked on a new leading axis. A constant without a converter is taken over. Children come before
/// their owner, so a converter may call their functions. The table names the raw tensors that nothing took. The module stays as it is.
#[derive(Clone, Pass)]
#[pass(name = "prepare-weights")]
pub struct PrepareWeights {
    /// The raw checkpoint: a safetensors file, a folder of them, or an npz file.
    #[option]
    raw: String,
    /// What stands before the raw tensors' names.
    #[option]
    #[default("")]
    prefix: String,
    /// The folder to write.
    #[option]
    out: String,
    engines: Engines,
}

impl Pass for PrepareWeights {
    fn run<'c>(&self, module: Module<'c>, cx: &mut PassCx<'_, 'c>) -> Result<Module<'c>> {
        let raw = open(&self.raw).map_err(|error| error.at(cx.option_span("raw")))?;
        let mut work = Preparation {
            engines: &self.engines,
            raw: Resource::default().or(raw, self.prefix.as_str()),
            declared: Reading::load(module, Resource::default()).declared(),
            used: BTreeSet::new(),
            prepared: TensorMap::default(),
        };
        for at in postorder(module) {
            work.module(module, &at)?;
        }
        write_shards(Path::new(&self.out), &work.prepared.0, SHARD)
            .map_err(|error| refused(error).at(cx.option_span("out")))?;
        let mut text = table(&work.prepared.0);
        if let Some(line) = work.raw.unused(&work.used) {
            text.push_str(&format!("{line}\n"));
        }
        cx.emit_artifact(Artifact::text("text", "txt", text));
        Ok(module)
    }
}

fn table(tensors: &BTreeMap<String, Tensor>) -> String {
    let width = tensors.keys().map(String::len).max().unwrap_or(0).max("weight".len());
    let mut text = format!("{:width$}  dtype    shape\n", "weight");
    for (name, tensor) in tensors {
        text.push_str(&format!("{name:width$}  {:<7}  {}\n", tensor.dtype().to_string(), show_shape(tensor.shape())));
    }
    text
}

/// The paths of all modules below one and its own, owners last.
fn postorder(root: Module<'_>) -> Vec<Vec<String>> {
    let (mut paths, mut stack) = (Vec::new(), vec![(root, Vec::new())]);
    while let Some((module, path)) = stack.pop() {
        for child in module.child_modules() {
            let mut below = path.clone();
            below.push(child.name.to_string());
            stack.push((child, below));
        }
        paths.push(path);
    }
    paths.reverse();
    paths
}

struct Preparation<'a> {
    engines: &'a Engines,
    raw: Resource,
    /// The constants of all modules.
    declared: BTreeSet<String>,
    /// The raw names that were asked for.
    used: BTreeSet<String>,
    prepared: TensorMap,
}

/// A constant that a module declares.
struct Weight<'c> {
    param: Expr<'c>,
    name: Symbol<'c>,
    converter: Option<Function<'c>>,
}

impl Preparation<'_> {
    fn module<'c>(&mut self, root: Module<'c>, path: &[String]) -> Result<()> {
        // The children's constants are those prepared so far.
        let resource = Resource::new(Arc::new(self.prepared.clone()));
        let mut reading = Reading::load(root, resource);
        for name in path {
            let Some(child) = reading.child(name).cloned() else { return Ok(()) };
            reading = child;
        }
        for weight in declared(reading.module())? {
            let Some(ty) = weight.param.ty().as_tensor() else { continue };
            let dotted = reading.dotted(weight.name.as_str());
            let tensor = match weight.converter {
                Some(converter) => self.convert(&reading, converter, (&dotted, ty))?,
                None => self.taken_over(&reading, &weight, (&dotted, ty))?,
            };
            self.prepared.0.insert(dotted, tensor);
        }
        Ok(())
    }

    /// A raw tensor.
    fn find(&mut self, name: &str) -> Option<Found> {
        let found = self.raw.find(name)?;
        self.used.insert(name.to_owned());
        Some(found)
    }

    fn missing(&self, reading: &Reading<'_>, dotted: String) -> Diagnostic {
        let taken = self.used.union(&self.declared).cloned().collect();
        missing(&self.raw, &[(reading.describe(), vec![dotted])], &taken)
    }

    fn taken_over(
        &mut self,
        reading: &Reading<'_>,
        weight: &Weight<'_>,
        (dotted, ty): (&str, &TensorType<'_>),
    ) -> Result<Tensor> {
        let Some(found) = self.find(dotted) else {
            return Err(self.missing(reading, dotted.to_owned()).at(weight.param.span()));
        };
        check(dotted, ty, &found.info.shape, (&found.info.stored, found.info.holds(ty.dtype)))
            .map_err(|error| error.at(weight.param.span()))?;
        found.read(ty.dtype).map_err(|error| refused(error).at(weight.param.span()))
    }

    fn convert<'c>(
        &mut self,
        reading: &Reading<'c>,
        converter: Function<'c>,
        (dotted, ty): (&str, &TensorType<'c>),
    ) -> Result<Tensor> {
        let inputs =
            converter.params.iter().map(|&param| self.raw_tensor(reading, param)).collect::<Result<Vec<_>>>()?;
        let Some((engine, _)) = self.engines.find("reference") else {
            return Err(Diagnostic::error("there is no engine `reference` to run converters"));
        };
        if activations(converter).count() != converter.params.len() {
            let message =
                format!("the converter of `{dotted}` has a ConstTensor parameter: its parameters are raw tensors");
            return Err(Diagnostic::error(message).at(converter.span));
        }
        let step = Step::Function(reading.clone(), converter);
        let request = ReadingRequest { step, inputs: &inputs, dims: &DimSizes::default(), times: None };
        let outputs = engine.run_reading(&request).unwrap_or_else(|| Ok(Vec::new()))?;
        let [tensor] = outputs.as_slice() else {
            let message = format!("the converter of `{dotted}` gives {} tensors, not one", outputs.len());
            return Err(Diagnostic::error(message).at(converter.span));
        };
        let found = tensor.dtype();
        check(dotted, ty, tensor.shape(), (found.name(), found == ty.dtype))
            .map_err(|error| error.at(converter.span))?;
        Ok(tensor.clone())
    }

    /// What the checkpoint has under a converter's parameter's name, alone or as a list.
    fn raw_tensor<'c>(&mut self, reading: &Reading<'c>, param: Expr<'c>) -> Result<Tensor> {
        let (Some(name), Some(ty)) = (param.var_name(), param.ty().as_tensor()) else {
            return Err(Diagnostic::error(format!("{} is no tensor", param.describe())).at(param.span()));
        };
        let dotted = reading.dotted(name.as_str());
        let fail = |error| refused(error).at(param.span());
        if let Some(found) = self.find(&dotted) {
            return found.read(ty.dtype).map_err(fail);
        }
        let mut parts = Vec::new();
        while let Some(found) = self.find(&format!("{dotted}.{}", parts.len())) {
            parts.push(found.read(ty.dtype).map_err(fail)?);
        }
        if parts.is_empty() {
            return Err(self.missing(reading, dotted).at(param.span()));
        }
        Tensor::stack(&parts, 0).map_err(fail)
    }
}

/// The constants that a module's functions declare, each once.
fn declared(module: Module<'_>) -> Result<Vec<Weight<'_>>> {
    let mut weights: Vec<Weight<'_>> = Vec::new();
    for function in module.data().functions {
        let AnyFunction::Hir(function) = *function else { continue };
        for &param in function.data().params {
            let Some(name) = param.var_name().filter(|_| param.is_const_param()) else { continue };
            match weights.iter().find(|weight| weight.name == name) {
                Some(first) if first.param.ty() != param.ty() => {
                    let (first, second) = (first.param.ty(), param.ty());
                    let message = format!("the constant `{name}` is declared as {first} and as {second}");
                    return Err(Diagnostic::error(message).at(param.span()));
                }
                Some(_) => {}
                None => weights.push(Weight { param, name, converter: None }),
            }
        }
    }
    for function in module.data().functions {
        let AnyFunction::Hir(function) = *function else { continue };
        for converter in function.data().converters {
            let weight = weights.iter_mut().find(|weight| weight.name == converter.weight);
            let Some(weight) = weight else { continue };
            if let Some(first) = weight.converter.replace(converter.function) {
                let mut error = Diagnostic::error(format!("the constant `{}` has two converters", converter.weight))
                    .at(converter.function.span);
                error.labels.extend(first.span.map(|span| (span, "the other one".to_owned())));
                return Err(error);
            }
        }
    }
    Ok(weights)
}

/// A prepared constant has its declared shape and dtype.
fn check(dotted: &str, ty: &TensorType<'_>, shape: &[usize], (dtype, holds): (&str, bool)) -> Result<()> {
    let want = wanted(ty, &DimSizes::default()).map_err(refused)?;
    if holds && want == shape {
        return Ok(());
    }
    let (want, found) = (show_shape(&want), show_shape(shape));
    Err(Diagnostic::error(format!(
        "the constant `{dotted}` is {} of shape {want}, found {dtype} of shape {found}",
        ty.dtype
    )))
}
