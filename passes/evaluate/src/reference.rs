//! The engine `reference`.

use std::sync::Arc;

use tf_core::node::{Literal, Method};
use tf_core::{AnyFunction, Context, Diagnostic, Expr, Function, Result, Span};
use tf_value::{EvalRegistry, Tensor, Value};

use crate::boundary::{Arguments, activations};
use crate::dims::add_stated;
use crate::machine::Machine;
use crate::mesh::PerPosition;
use crate::method::{self, Calls, Item};
use crate::reach::{Known, Reach, arity};
use crate::reading::{Step, refused};
use crate::semantics::{Semantics, Whole};
use crate::{DimSizes, Engine, PositionResults, Positions, Reading, ReadingRequest, Request, tir};

/// Interprets functions of values and of statements on host tensors: the semantics that every other engine is compared with.
pub struct Reference {
    rules: Arc<EvalRegistry>,
}

impl Reference {
    /// Over the evaluation rules of a driver's ops.
    #[must_use]
    pub fn new(rules: Arc<EvalRegistry>) -> Self {
        Self { rules }
    }

    /// The arguments of a function that is run from outside, and its dims.
    fn bound<'c>(
        &self,
        reading: &Reading<'c>,
        function: Function<'c>,
        request: &ReadingRequest<'_, 'c>,
    ) -> Result<(Arguments<'c, Value>, DimSizes<'c>)> {
        check_arity(function, request.inputs.len())?;
        let values = request.inputs.iter().map(|input| Value::Tensor(input.clone())).collect();
        let arguments = Arguments::activations(values, reading.clone());
        let mut dims = arguments.dims(function, function.span, Whole::shape)?;
        add_stated(&mut dims, request.dims, function.span)?;
        let mut reach = Reach::default();
        reach.function(reading, function, dims.clone(), true);
        let names: Vec<_> = activations(function).filter_map(Expr::var_name).collect();
        reach.finish(reading, &names, function.span)?;
        Ok((arguments, dims))
    }

    fn run_function<'c>(
        &self,
        reading: &Reading<'c>,
        function: Function<'c>,
        request: &ReadingRequest<'_, 'c>,
    ) -> Result<Value> {
        let (arguments, dims) = self.bound(reading, function, request)?;
        Machine::new(&self.rules, Whole, request.times).run(function, arguments, dims)
    }

    fn at_positions<'c>(
        &self,
        cx: &Context<'c>,
        (reading, function): (&Reading<'c>, Function<'c>),
        request: &ReadingRequest<'_, 'c>,
        form: Positions,
    ) -> Result<PositionResults> {
        let (_, dims) = self.bound(reading, function, request)?;
        let mut semantics = PerPosition::new(cx, reading.module());
        let inputs = activations(function).zip(request.inputs);
        let values =
            inputs.map(|(param, input)| semantics.tensor(input.clone(), param, &dims)).collect::<Result<Vec<_>>>()?;
        let arguments = Arguments::activations(values, reading.clone());
        let mut machine = Machine::new(&self.rules, semantics, request.times);
        let value = machine.run(function, arguments, dims.clone())?;
        let (outputs, spread) = machine.semantics.results(function, &value, &dims, form)?.into_iter().unzip();
        Ok(PositionResults { outputs, axes: machine.semantics.axes(), spread })
    }

    fn run_method<'c>(
        &self,
        reading: &Reading<'c>,
        method: Method<'c>,
        request: &ReadingRequest<'_, 'c>,
    ) -> Result<Vec<Tensor>> {
        let shapes = request.inputs.iter().map(|input| {
            let extents = input.shape().iter().map(|&n| i64::try_from(n).ok()).collect();
            Item::Value(Known::Tensor(Some(extents)))
        });
        let mut reach = Reach::default();
        method::run(&mut reach, reading, method, shapes.collect(), Vec::new(), 0)?;
        let names: Vec<_> = method.params.iter().take(request.inputs.len()).map(|param| param.name).collect();
        reach.finish(reading, &names, method.span)?;
        let mut calls = Evaluation { machine: Machine::new(&self.rules, Whole, request.times) };
        let inputs = request.inputs.iter().map(|input| Item::Value(Value::Tensor(input.clone()))).collect();
        let mut found = Vec::new();
        let mut stack = vec![method::run(&mut calls, reading, method, inputs, Vec::new(), 0)?];
        while let Some(item) = stack.pop() {
            match item {
                Item::Value(value) => found.extend(tensors(value)),
                Item::Literal(literal) => found.extend(tensors(calls.literal(literal))),
                Item::Tuple(items) => stack.extend(items.into_iter().rev()),
                Item::None => {}
                Item::Text | Item::Reading(_) | Item::Group(_) | Item::Step(_) => {
                    let message = format!("method `{}` returns something that is no tensor", method.name);
                    return Err(Diagnostic::error(message).at(method.span));
                }
            }
        }
        Ok(found)
    }
}

impl Engine for Reference {
    fn name(&self) -> &'static str {
        "reference"
    }

    fn run<'c>(&self, request: &Request<'_, 'c>) -> Result<Vec<Tensor>> {
        let function = match request.entry {
            AnyFunction::Hir(function) => function,
            AnyFunction::Tir(function) => return tir::run(request, function, &self.rules),
        };
        let (wanted, found) = (function.params.len(), request.inputs.len());
        if wanted != found {
            let message =
                format!("`{}` takes one argument for each of its {wanted} parameters, found {found}", function.name);
            let error = Diagnostic::error(message).at(function.span);
            if found != activations(function).count() {
                return Err(error);
            }
            let constants = names(function, true).join("`, `");
            let help = format!("activations alone are the list of a reading; here `{constants}` are arguments too");
            return Err(error.with_help(help));
        }
        let arguments = request.inputs.iter().map(|input| Value::Tensor(input.clone())).collect();
        let value =
            Machine::new(&self.rules, Whole, None).run(function, Arguments::all(arguments), request.dims.clone())?;
        Ok(tensors(value))
    }

    fn run_reading<'c>(&self, request: &ReadingRequest<'_, 'c>) -> Option<Result<Vec<Tensor>>> {
        Some(match &request.step {
            Step::Function(reading, function) => self.run_function(reading, *function, request).map(tensors),
            Step::Method(reading, method) => self.run_method(reading, *method, request),
        })
    }

    fn run_positions<'c>(
        &self,
        cx: &Context<'c>,
        request: &ReadingRequest<'_, 'c>,
        form: Positions,
    ) -> Option<Result<PositionResults>> {
        Some(match &request.step {
            Step::Function(reading, function) => self.at_positions(cx, (reading, *function), request, form),
            Step::Method(_, method) => {
                let message = format!("positions evaluate a function, found the method `{}`", method.name);
                let error = Diagnostic::error(message).at(method.span);
                Err(error.with_help("name a function with `entry=NAME`, of a child as `entry=a.b.f`"))
            }
        })
    }
}

fn check_arity(function: Function<'_>, found: usize) -> Result<()> {
    if found == activations(function).count() {
        return Ok(());
    }
    let (given, constants) = (names(function, false), names(function, true));
    Err(arity(&format!("`{}`", function.name), &given, &constants, found).at(function.span))
}

/// The names of a function's constants, or of its other parameters.
fn names(function: Function<'_>, constants: bool) -> Vec<String> {
    let params = function.params.iter().filter(|param| param.is_const_param() == constants);
    params.filter_map(|param| param.var_name()).map(|name| name.to_string()).collect()
}

/// The calls of a method, carried out.
struct Evaluation<'a, 'c> {
    machine: Machine<'a, 'c, Whole>,
}

impl<'c> Calls<'c> for Evaluation<'_, 'c> {
    type Value = Value;

    fn call(
        &mut self,
        reading: &Reading<'c>,
        function: Function<'c>,
        values: Vec<Value>,
        span: Option<Span>,
    ) -> Result<Value> {
        // A host call, hence arguments are cast as inputs are.
        let cast = activations(function).zip(values).map(|(param, value)| match (param.ty().as_tensor(), value) {
            (Some(ty), Value::Tensor(tensor)) => {
                tensor.cast(ty.dtype).map(Value::Tensor).map_err(|error| refused(error).at(span))
            }
            (_, value) => Ok(value),
        });
        let arguments = Arguments::activations(cast.collect::<Result<_>>()?, reading.clone());
        let dims: DimSizes<'c> = arguments.dims(function, span, Whole::shape)?;
        self.machine.run(function, arguments, dims)
    }

    fn literal(&self, literal: Literal) -> Value {
        match literal {
            Literal::Bool(value) => Tensor::scalar(value).into(),
            Literal::Int(value) => Tensor::scalar(value).into(),
            Literal::Float(value) => Tensor::scalar(value as f32).into(),
        }
    }

    fn fields(&self, value: &Value) -> Option<Vec<Value>> {
        value.as_tuple().map(<[Value]>::to_vec)
    }
}

/// The tensors of a value, left to right.
fn tensors(value: Value) -> Vec<Tensor> {
    let (mut found, mut stack) = (Vec::new(), vec![value]);
    while let Some(value) = stack.pop() {
        match value {
            Value::Tensor(tensor) => found.push(tensor),
            Value::Tuple(fields) => stack.extend(fields.into_iter().rev()),
        }
    }
    found
}
