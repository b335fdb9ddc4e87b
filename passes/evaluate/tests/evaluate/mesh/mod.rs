//! Evaluation position by position.

mod cases;
mod checked;
mod random;
mod reports;
mod special;

use std::sync::Arc;

use tf_core::diag::Style;
use tf_core::{Arena, Context, Module};
use tf_dsl::{DslOptions, parse_file};
use tf_evaluate::{DimSizes, Engine, PositionResults, Positions, Reading, ReadingRequest, Reference, Resource};
use tf_testing::Rng;
use tf_value::io::TensorMap;
use tf_value::{EvalRegistry, Tensor};

use crate::common::context;
use crate::generated::{expected, input};

/// What the default step of a module gives, as a whole and in a form.
pub fn both<'c>(
    cx: &Context<'c>,
    rules: &Arc<EvalRegistry>,
    module: Module<'c>,
    inputs: &[Tensor],
    form: Positions,
) -> (tf_core::Result<Vec<Tensor>>, tf_core::Result<PositionResults>) {
    let reading = Reading::load(module, Resource::new(Arc::new(TensorMap::default())));
    let step = reading.default_step().unwrap();
    let request = ReadingRequest { step, inputs, dims: &DimSizes::default(), times: None };
    let engine = Reference::new(Arc::clone(rules));
    (engine.run_reading(&request).unwrap(), engine.run_positions(cx, &request, form).unwrap())
}

/// Inputs of a function whose parameters have no dims.
pub fn inputs(function: tf_core::Function<'_>, seed: u64) -> Vec<Tensor> {
    let mut rng = Rng::new(seed);
    let of = |param: &tf_core::Expr<'_>| {
        let (dtype, shape) = expected(param.ty(), &DimSizes::default()).pop().unwrap();
        input(&mut rng, dtype, &shape).unwrap()
    };
    function.params.iter().map(of).collect()
}

/// What every position of a DSL program holds in the end, or the rendered error.
pub fn positions(source: &str, inputs: &[Tensor], form: Positions) -> Result<PositionResults, String> {
    let arena = Arena::new();
    let (cx, rules) = &context(&arena);
    let file = cx.sources().add("t.py", source);
    let show = |error: &tf_core::Diagnostic| error.render(cx.sources(), Style::Plain);
    let module = parse_file(cx, file, &DslOptions::default());
    let module = module.map_err(|errors| errors.iter().map(show).collect::<String>())?;
    both(cx, rules, module, inputs, form).1.map_err(|error| show(&error))
}
