//! Reading a text instead of a file: what its last definition stands for.

use tf_core::{AnyFunction, Context, Diagnostic, Module};

use crate::{Closed, DslOptions};

/// What a source text defines, as executing it in Python would bind it.
#[derive(Clone, Copy, Debug)]
pub enum Script<'c> {
    /// A class under `@module`, or a function that declares a target or levels of its own.
    Module(Module<'c>),
    /// A function under `@func` or `@prim_func` that declares no context; `tf_core::tree::implicit_module` gives it a module.
    Function(AnyFunction<'c>),
}

/// Reads a text with definitions of any kind, of HIR and of TIR; the last one counts, classes before functions.
///
/// ```
/// use tf_core::{Arena, Context};
/// use tf_dsl::{Script, parse_script};
///
/// let mut dialects = tf_value::DialectBuilder::default();
/// tf_dim::register(&mut dialects);
/// tf_hir::register(&mut dialects);
/// tf_tir::register(&mut dialects);
/// let (ops, _) = dialects.freeze().expect("each op is registered once");
/// let arena = Arena::new();
/// let cx = Context::new(&arena, ops);
///
/// let text = r#"
/// from tilefoundry import func
/// from tilefoundry.dsl import Tensor, tf
///
/// @func
/// def soft(x: Tensor[(4, 8), "f32"]) -> Tensor[(4, 8), "f32"]:
///     return tf.softmax(x, axis=1)
/// "#;
/// let Ok(Script::Function(soft)) = parse_script(&cx, text) else { panic!("a function alone") };
/// assert_eq!(soft.name().as_str(), "soft");
///
/// let errors = parse_script(&cx, &text.replace("softmax", "softmaks")).unwrap_err();
/// assert_eq!(errors[0].help.as_deref(), Some("did you mean `softmax`?"));
/// ```
///
/// # Errors
/// As [`parse_file`](crate::parse_file).
pub fn parse_script<'c>(cx: &Context<'c>, text: &str) -> Result<Script<'c>, Vec<Diagnostic>> {
    let file = cx.sources().add("<source>", text);
    let (module, is_alone) = crate::read(cx, file, &DslOptions::default(), &Closed)?;
    Ok(match module.entry_function().filter(|_| is_alone) {
        Some(function) => Script::Function(function),
        None => Script::Module(module),
    })
}

/// Reads a text with one function: itself, or its module where the decorator declares a context.
///
/// # Errors
/// As [`parse_script`]; also where the text defines a class under `@module`.
pub fn parse_func_source<'c>(cx: &Context<'c>, text: &str) -> Result<Script<'c>, Vec<Diagnostic>> {
    match parse_script(cx, text)? {
        Script::Module(module) if !is_of_function(module) => {
            let message = format!("the source defines the module `{}`, and a function was expected", module.name);
            let error = Diagnostic::error(message).with_help("read it as a module");
            Err(vec![match module.span {
                Some(span) => error.at(span),
                None => error,
            }])
        }
        script => Ok(script),
    }
}

/// Reads a text with a class under `@module`.
///
/// # Errors
/// As [`parse_script`]; also where the text defines functions only.
pub fn parse_module_source<'c>(cx: &Context<'c>, text: &str) -> Result<Module<'c>, Vec<Diagnostic>> {
    match parse_script(cx, text)? {
        Script::Module(module) => Ok(module),
        Script::Function(function) => {
            let message = format!("the source defines the function `{}`, and a module was expected", function.name());
            Err(vec![
                Diagnostic::error(message).with_help("read it as a function, or put it into a class under `@module`"),
            ])
        }
    }
}

/// Whether a module is the implicit one of a function.
fn is_of_function(module: Module<'_>) -> bool {
    module.entry_function().is_some_and(|function| function.span() == module.span)
}
