//! The engine `cpu-jit`: a CPU TIR function compiled for the host and run on tensors.
use crate::{
    Session,
    emit::cpu,
    jit::{Argument, Jit},
};
use melior::ir::{Location, Module as MlirModule};
use tf_core::{AnyFunction, Context, Diagnostic, Module, PrimFunction, Result, TargetKind};
use tf_evaluate::{Engine, Engines, Request};
use tf_types::DType;
use tf_value::{Tensor, ValueError, show_shape};

/// The engine's name.
pub const NAME: &str = "cpu-jit";

/// LLVM's optimisation level.
const OPTIMIZATION: u8 = 2;

/// A parameter as the host passes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name in the function.
    pub name: String,
    /// Element type.
    pub dtype: DType,
    /// Extents.
    pub shape: Vec<usize>,
}

/// A compiled entry function.
#[derive(Debug)]
pub struct CpuProgram {
    jit: Jit,
    name: String,
    inputs: Vec<Parameter>,
    outputs: Vec<Parameter>,
}

impl CpuProgram {
    /// Compiles a function of a module that `lower-tir{target=cpu}` made.
    ///
    /// # Errors
    /// A function of HIR, or one that runs on a device; what the emitter refuses.
    pub fn compile<'c>(cx: &Context<'c>, module: Module<'c>, entry: AnyFunction<'c>) -> Result<Self> {
        let function = on_cpu(module, entry)?;
        let mut parameters = Vec::with_capacity(function.params.len());
        for param in function.params {
            parameters.push(parameter(*param).map_err(|error| error.at(param.span()).at(function.span))?);
        }
        let session = Session::new();
        let mlir = MlirModule::new(Location::unknown(session.context()));
        cpu::emit_function(&session, mlir.body(), cx.sources(), function)?;
        let jit = Jit::compile(&session, &mlir, OPTIMIZATION)?;
        let outputs = parameters.split_off(parameters.len() - function.output_count);
        Ok(Self { jit, name: function.name.to_string(), inputs: parameters, outputs })
    }

    /// What the function reads, in order.
    #[must_use]
    pub fn inputs(&self) -> &[Parameter] {
        &self.inputs
    }

    /// What the function writes, in order.
    #[must_use]
    pub fn outputs(&self) -> &[Parameter] {
        &self.outputs
    }

    /// Runs the function on one tensor for each input, and gives its outputs.
    ///
    /// # Errors
    /// A missing or superfluous input; one of another dtype or shape than its parameter.
    pub fn run(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
        if inputs.len() != self.inputs.len() {
            let missing = self.inputs.get(inputs.len());
            let message = format!("`@{}` takes {} inputs, found {}", self.name, self.inputs.len(), inputs.len());
            let error = Diagnostic::error(message);
            return Err(match missing {
                Some(input) => error.with_help(format!("state a value of `{}`", input.name)),
                None => error,
            });
        }
        for (input, parameter) in inputs.iter().zip(&self.inputs) {
            if (input.dtype(), input.shape()) != (parameter.dtype, &parameter.shape[..]) {
                return Err(Diagnostic::error(format!(
                    "input `{}` must be {} of shape {}, found {} of shape {}",
                    parameter.name,
                    parameter.dtype,
                    show_shape(&parameter.shape),
                    input.dtype(),
                    show_shape(input.shape())
                )));
            }
        }
        let mut sources: Vec<Vec<u8>> = inputs.iter().map(Tensor::to_le_bytes).collect();
        let mut results: Vec<Vec<u8>> = Vec::with_capacity(self.outputs.len());
        for output in &self.outputs {
            results.push(Tensor::zeros(&output.shape, output.dtype).map_err(value_error)?.to_le_bytes());
        }
        let mut arguments: Vec<Argument<'_>> = Vec::with_capacity(sources.len() + results.len());
        for (bytes, parameter) in sources.iter_mut().zip(&self.inputs) {
            arguments.push(Argument::Output { bytes, shape: &parameter.shape });
        }
        for (bytes, parameter) in results.iter_mut().zip(&self.outputs) {
            arguments.push(Argument::Output { bytes, shape: &parameter.shape });
        }
        // SAFETY: emitted code checks where windows lie; it may write everywhere, to inputs too, which are copies.
        unsafe { self.jit.invoke(&self.name, &mut arguments) }?;
        let tensors = results.iter().zip(&self.outputs);
        tensors.map(|(b, p)| Tensor::from_le_bytes(&p.shape, p.dtype, b).map_err(value_error)).collect()
    }
}

/// The entry as a CPU function.
fn on_cpu<'c>(module: Module<'c>, found: AnyFunction<'c>) -> Result<PrimFunction<'c>> {
    let refuse = |what: String| {
        Err(Diagnostic::error(format!("engine `{NAME}` needs a CPU function, and `@{}` {what}", found.name()))
            .at(found.span())
            .with_help("it runs a module lowered with `lower-tir{target=cpu}`"))
    };
    let AnyFunction::Tir(function) = found else { return refuse("is HIR: lower it first".to_owned()) };
    let device = module.functions.iter().find_map(|member| match member {
        AnyFunction::Tir(f) if f.target.kind == TargetKind::Cuda => Some(f),
        _ => None,
    });
    match device {
        Some(kernel) if kernel.name == function.name => refuse(format!("has target {}", kernel.target)),
        Some(kernel) => refuse(format!("is the host side of `@{}` of target {}", kernel.name, kernel.target)),
        None => Ok(function),
    }
}

fn parameter(param: tf_core::Expr<'_>) -> Result<Parameter> {
    let what = param.describe();
    let tensor = param.ty().as_tensor().ok_or_else(|| Diagnostic::error(format!("{what} is no tensor")))?;
    let shape = tensor.static_shape().unwrap_or_default();
    let extents = shape.iter().map(|&n| usize::try_from(n)).collect::<std::result::Result<Vec<_>, _>>();
    let (Ok(shape), true) = (extents, shape.len() == tensor.rank()) else {
        return Err(Diagnostic::error(format!(
            "{what} has a symbolic extent, and code is generated for known extents"
        ))
        .with_help("bind the dims before lowering"));
    };
    Ok(Parameter { name: param.var_name().map_or_else(|| what, |name| name.to_string()), dtype: tensor.dtype, shape })
}

fn value_error(error: ValueError) -> Diagnostic {
    let diagnostic = Diagnostic::error(error.message);
    match error.help {
        Some(help) => diagnostic.with_help(help),
        None => diagnostic,
    }
}

/// The engine `cpu-jit`. It compiles anew for each run.
struct CpuJit;

impl Engine for CpuJit {
    fn name(&self) -> &'static str {
        NAME
    }

    fn run<'c>(&self, request: &Request<'_, 'c>) -> Result<Vec<Tensor>> {
        if let Some(argument) = request.argument {
            return Err(Diagnostic::error(format!("engine `{NAME}` takes no argument, found `{argument}`")));
        }
        CpuProgram::compile(request.cx, request.module, request.entry)?.run(request.inputs)
    }
}

/// Adds `cpu-jit`.
pub fn register_engines(engines: &mut Engines) {
    engines.add(CpuJit);
}
