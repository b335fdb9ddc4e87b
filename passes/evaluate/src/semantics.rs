//! What values are, and how ops compute them: as a whole, or position by position.

use tf_core::op::OpView;
use tf_core::{Diagnostic, Expr, Result};
use tf_types::Type;
use tf_value::rule::EvalFn;
use tf_value::{EvalCx, Tensor, Value};

use crate::dims::DimSizes;

/// A value on its way from one name to another: into a parameter, out of a function, into a loop.
#[derive(Clone, Copy)]
pub struct Crossing<'a, 'c> {
    /// The type that it has, and the dims of that type.
    pub from: (Type<'c>, &'a DimSizes<'c>),
    /// The type that it gets, and the dims of that one.
    pub to: (Type<'c>, &'a DimSizes<'c>),
    /// What it is the value of.
    pub source: Expr<'c>,
    /// The call or loop.
    pub at: Expr<'c>,
}

/// What the machine's values are.
pub trait Semantics<'c> {
    /// A value; clones share their elements.
    type Value: Clone;

    /// A tensor that comes from outside the program, or stands in it, as the value of `expr`.
    ///
    /// # Errors
    /// Its type has no such value.
    fn tensor(&mut self, tensor: Tensor, expr: Expr<'c>, dims: &DimSizes<'c>) -> Result<Self::Value>;

    /// Several values as one.
    fn tuple(&self, fields: Vec<Self::Value>) -> Self::Value;

    /// Lets go of a field of a tuple that nobody will ask for.
    fn forget(value: &mut Self::Value, field: usize);

    /// The logical shape of a tensor; `None`: the value is a tuple.
    fn shape(value: &Self::Value) -> Option<&[usize]>;

    /// The value of a call of an op, whose rule is given.
    ///
    /// # Errors
    /// What the rule refuses, with the op, its binding and its place.
    fn op(
        &mut self,
        call: (Expr<'c>, OpView<'c>),
        rule: EvalFn,
        operands: &mut [Self::Value],
        dims: &DimSizes<'c>,
    ) -> Result<Self::Value>;

    /// A value under another type.
    ///
    /// # Errors
    /// It has none there.
    fn cross(&mut self, value: Self::Value, crossing: Crossing<'_, 'c>) -> Result<Self::Value>;
}

/// Logical values: placement does not count.
pub struct Whole;

impl<'c> Semantics<'c> for Whole {
    type Value = Value;

    fn tensor(&mut self, tensor: Tensor, _: Expr<'c>, _: &DimSizes<'c>) -> Result<Value> {
        Ok(tensor.into())
    }

    fn tuple(&self, fields: Vec<Value>) -> Value {
        Value::Tuple(fields)
    }

    fn forget(value: &mut Value, field: usize) {
        if let Value::Tuple(fields) = value {
            fields[field] = Value::Tuple(Vec::new());
        }
    }

    fn shape(value: &Value) -> Option<&[usize]> {
        value.as_tensor().map(Tensor::shape)
    }

    fn op(
        &mut self,
        (expr, view): (Expr<'c>, OpView<'c>),
        rule: EvalFn,
        operands: &mut [Value],
        dims: &DimSizes<'c>,
    ) -> Result<Value> {
        let eval = EvalCx { dims, result_type: expr.ty() };
        rule(view, operands, &eval).map_err(|error| failed(expr, error.message, error.help))
    }

    fn cross(&mut self, value: Value, _: Crossing<'_, 'c>) -> Result<Value> {
        Ok(value)
    }
}

/// An error prefixed by the op and the name it is bound to, at its place.
pub fn failed(expr: Expr<'_>, message: String, help: Option<String>) -> Diagnostic {
    let op = expr.op_call().map_or_else(|| expr.describe(), |call| format!("`{}`", call.op.decl.name));
    let binding = expr.meta.name.map(|name| format!("`{name}` = ")).unwrap_or_default();
    let mut error = Diagnostic::error(format!("{binding}{op}: {message}")).at(expr.span());
    error.help = help;
    error
}
