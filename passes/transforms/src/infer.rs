//! `typeinfer`: infers every type again and compares it with what stands there.

use tf_core::{Function, Result};
use tf_framework::{Counter, FunctionCx, FunctionPass, Pass};

use tf_infer::infer_body;

/// Infers the type of every expression of each HIR function again, operands first.
///
/// A type that differs from the one that stands there is an error, as is a body whose shape or dtype is not the declared one, or whose
/// layout or storage differs from one that is declared. A loop carry without layout or strides takes those of its yield, once. A call whose
/// arguments have other layouts or storages than the parameters becomes one of an instance: the callee elaborated for these types. Running
/// the pass again changes nothing.
#[derive(Clone, Pass)]
#[pass(name = "typeinfer")]
pub struct TypeInfer {
    #[statistic("functions retyped")]
    retyped: Counter,
}

impl FunctionPass for TypeInfer {
    fn run<'c>(&self, function: Function<'c>, cx: &FunctionCx<'_, 'c>) -> Result<Function<'c>> {
        match infer_body(function, cx) {
            Ok(new) => {
                self.retyped.add(u64::from(new != function));
                Ok(new)
            }
            Err(errors) => {
                errors.into_iter().for_each(|error| cx.emit(error));
                Ok(function)
            }
        }
    }
}
