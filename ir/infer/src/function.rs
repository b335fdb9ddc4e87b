//! Types of a whole function.

use tf_core::node::FunctionData;
use tf_core::{Context, Diagnostic, Function};

use crate::typer::Typer;

/// Types a function again, without its variants and converters.
///
/// # Errors
/// As [`infer_function`].
pub fn infer_body<'c>(function: Function<'c>, cx: &Context<'c>) -> Result<Function<'c>, Vec<Diagnostic>> {
    Typer::new(cx).function(function)
}

/// Types a function again, with its variants and converters. Calls whose arguments have got other types are of instances that
/// no module has yet (see `tf_core::tree::replaced`).
///
/// # Errors
/// Every type that differs from the inferred one, and what inference refuses.
pub fn infer_function<'c>(function: Function<'c>, cx: &Context<'c>) -> Result<Function<'c>, Vec<Diagnostic>> {
    let mut typer = Typer::new(cx);
    let new = typer.function(function)?;
    let variants = function.variants.iter().map(|&variant| typer.function(variant));
    let variants = variants.collect::<Result<Vec<_>, _>>()?;
    let mut converters = function.converters.to_vec();
    for converter in &mut converters {
        converter.function = typer.function(converter.function)?;
    }
    if variants == function.variants && converters == function.converters {
        return Ok(new);
    }
    let (variants, converters) = (cx.alloc_slice(&variants), cx.alloc_slice(&converters));
    Ok(cx.function(FunctionData { variants, converters, ..*new }))
}
