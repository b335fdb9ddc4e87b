//! The engine `reference`.

use std::sync::Arc;

use tf_core::{AnyFunction, Diagnostic, Result};
use tf_value::{EvalRegistry, Tensor, Value};

use crate::machine::Machine;
use crate::{Engine, Request};

/// Interprets HIR on host tensors: the semantics that every other engine is compared with.
pub struct Reference {
    rules: Arc<EvalRegistry>,
}

impl Reference {
    /// Over the evaluation rules of a driver's ops.
    #[must_use]
    pub fn new(rules: Arc<EvalRegistry>) -> Self {
        Self { rules }
    }
}

impl Engine for Reference {
    fn name(&self) -> &'static str {
        "reference"
    }

    fn run<'c>(&self, request: &Request<'_, 'c>) -> Result<Vec<Tensor>> {
        let function = match request.entry {
            AnyFunction::Hir(function) => function,
            AnyFunction::Tir(function) => {
                let message =
                    format!("the engine `reference` does not run TIR functions yet: `{}` is one", function.name);
                return Err(Diagnostic::error(message).at(function.span).with_help("evaluate before `lower-tir`"));
            }
        };
        let arguments = request.inputs.iter().map(|input| Value::Tensor(input.clone())).collect();
        let value = Machine::new(&self.rules).run(function, arguments, request.dims.clone())?;
        Ok(tensors(value))
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
