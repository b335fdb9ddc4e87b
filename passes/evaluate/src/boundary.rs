//! What crosses into a function.

use tf_core::{AnyFunction, Diagnostic, Expr, Function, Result, Span};
use tf_types::Type;

use crate::Reading;
use crate::dims::{DimSizes, bind_rest, bind_shapes};

/// The arguments of a function.
pub struct Arguments<'c, V> {
    /// In the order of the parameters; without constants where those are filled by name.
    pub values: Vec<V>,
    /// Whether constants are filled by name.
    pub omits_constants: bool,
    /// Where constants are, those of called functions too.
    pub reading: Option<Reading<'c>>,
}

impl<'c, V> Arguments<'c, V> {
    /// One value a parameter.
    #[must_use]
    pub fn all(values: Vec<V>) -> Self {
        Self { values, omits_constants: false, reading: None }
    }

    /// Activations; the constants are those of a reading.
    #[must_use]
    pub fn activations(values: Vec<V>, reading: Reading<'c>) -> Self {
        Self { values, omits_constants: true, reading: Some(reading) }
    }

    /// Those of a call inside a function that is read in `reading`.
    ///
    /// # Errors
    /// Another number of arguments than the callee takes; a type that its parameter does not take.
    pub fn of_call(
        call: Expr<'c>,
        callee: Function<'c>,
        args: &[Expr<'c>],
        values: Vec<V>,
        reading: Option<&Reading<'c>>,
    ) -> Result<Self> {
        let omits_constants = args.len() != callee.params.len() && args.len() == activations(callee).count();
        let own = reading.and_then(|reading| reading.of_callee(callee));
        if omits_constants && own.is_none() {
            let why = match reading {
                Some(_) => "it belongs to several children, so that every parameter needs an argument",
                None => "there is no reading whose constants it could take",
            };
            return Err(
                Diagnostic::error(format!("the constants of `{}` are missing: {why}", callee.name)).at(call.span())
            );
        }
        if !omits_constants && args.len() != callee.params.len() {
            let (wanted, found) = (callee.params.len(), args.len());
            let message = format!("`{}` takes {wanted} arguments, found {found}", callee.name);
            return Err(Diagnostic::error(message).at(call.span()));
        }
        let params = callee.params.iter().filter(|param| !(omits_constants && param.is_const_param()));
        for (arg, &param) in args.iter().zip(params) {
            if !fits(arg.ty(), param.ty()) {
                let (found, wanted) = (arg.ty(), param.ty());
                let message = format!("{} of `{}` is {wanted}, the argument is {found}", param.describe(), callee.name);
                return Err(Diagnostic::error(message).at(call.span()));
            }
        }
        Ok(Self { values, omits_constants, reading: own.or(reading).cloned() })
    }

    /// The parameters that the values are for, in order.
    pub fn params(&self, function: Function<'c>) -> impl Iterator<Item = Expr<'c>> + use<'c, V> {
        let omits = self.omits_constants;
        function.data().params.iter().copied().filter(move |param| !(omits && param.is_const_param()))
    }

    /// The dims of the function in this call: from the arguments' shapes, and what they do not tell from constants' shapes.
    /// `shape_of`: that of a value, if it is a tensor.
    ///
    /// # Errors
    /// Those of [`crate::bind_dims`].
    pub fn dims(
        &self,
        function: Function<'c>,
        span: Option<Span>,
        shape_of: impl Fn(&V) -> Option<&[usize]>,
    ) -> Result<DimSizes<'c>> {
        let mut shapes = Vec::new();
        let mut stored = Vec::new();
        let mut values = self.values.iter();
        for &param in function.params {
            if self.omits_constants && param.is_const_param() {
                let is_static = param.ty().as_tensor().is_some_and(|ty| ty.static_shape().is_some());
                let name = param.var_name().map_or("", |name| name.as_str());
                let shape = self.reading.as_ref().filter(|_| !is_static).and_then(|reading| reading.stored_shape(name));
                stored.extend(shape.map(|shape| (param, shape)));
            } else if let Some(shape) = values.next().and_then(&shape_of) {
                shapes.push((param, shape));
            }
        }
        let named = |mut error: Diagnostic| {
            error.message = format!("`{}`: {}", function.name, error.message);
            error
        };
        let mut sizes = bind_shapes(&shapes, span).map_err(named)?;
        for (param, shape) in &stored {
            bind_rest(&mut sizes, *param, shape, span).map_err(named)?;
        }
        Ok(sizes)
    }
}

/// The parameters that are not filled from outside.
pub fn activations<'c>(function: Function<'c>) -> impl Iterator<Item = Expr<'c>> {
    function.data().params.iter().copied().filter(|param| !param.is_const_param())
}

/// What a function is given: the parameters of one of values, those of one of statements that are no outputs.
pub fn given<'c>(function: AnyFunction<'c>) -> Vec<Expr<'c>> {
    match function {
        AnyFunction::Hir(function) => function.data().params.to_vec(),
        AnyFunction::Tir(function) => function.inputs_and_outputs().0,
    }
}

/// Whether a value of one type crosses into a parameter of another: the extents are compared as numbers.
fn fits<'c>(arg: Type<'c>, param: Type<'c>) -> bool {
    match (arg.as_tensor(), param.as_tensor()) {
        (Some(arg), Some(param)) => arg.dtype == param.dtype && arg.rank() == param.rank(),
        _ => arg == param,
    }
}

/// A constant of a function that was not called in a reading.
pub fn without_reading(param: Expr<'_>) -> Diagnostic {
    Diagnostic::error(format!("the constant {} has no value: there is no reading", param.describe())).at(param.span())
}
