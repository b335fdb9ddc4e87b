//! Writing what is left.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use tf_core::Diagnostic;
use tf_core::op::OpRegistry;
use tf_dsl::PrintOptions;
use tf_opt::shell::quoted;
use tf_shrink::{Case, Inputs, parsed};
use tf_value::Tensor;
use tf_value::io::{write_atomic, write_tensors};

use crate::args::Emit;
use crate::test::Runner;

/// Writes to the standard output.
pub fn stdout(text: &str) -> ExitCode {
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
    ExitCode::SUCCESS
}

/// Writes an error.
pub fn failure(message: &str) -> ExitCode {
    let _ = std::io::stderr().lock().write_all(format!("error: {message}\n").as_bytes());
    ExitCode::FAILURE
}

/// Writes a note.
pub fn note(message: &str) {
    let _ = std::io::stderr().lock().write_all(format!("note: {message}\n").as_bytes());
}

/// Where tensors go beside a result.
pub fn tensors_path(output: &Path) -> PathBuf {
    match output.extension() {
        Some(extension) if extension == "tfir" || extension == "py" => output.with_extension("safetensors"),
        _ => output.with_added_extension("safetensors"),
    }
}

/// The most elements of a tensor that is shown as text.
const SHOWN: usize = 64;

/// A line of comment for each tensor.
fn inputs_shown(case: &Case, comment: &str) -> String {
    let Inputs::Tensors(tensors) = &case.inputs else { return String::new() };
    let line = |(name, tensor): (&String, &Tensor)| {
        let values = match tensor.len() {
            0..=SHOWN => elements(tensor),
            count => format!("{count} elements"),
        };
        format!("{comment} input {name}: {} of shape {:?}: {values}\n", tensor.dtype(), tensor.shape())
    };
    tensors.iter().map(line).collect()
}

/// The elements of a tensor as they are: no float dtype is wider than f32, no integer wider than i64.
fn elements(tensor: &Tensor) -> String {
    match tensor.to_i64_vec() {
        Ok(integers) if !tensor.dtype().is_float() => format!("{integers:?}"),
        _ => format!("{:?}", tensor.to_f32_vec()),
    }
}

/// The case in Python syntax.
///
/// # Errors
/// It has what the syntax cannot say.
pub fn dsl(case: &Case, ops: &Arc<OpRegistry>) -> Result<String, String> {
    let printed = parsed(&case.module, ops, |cx, module| {
        Some(tf_dsl::print_module(cx, module, &PrintOptions::default()).map_err(|error| error.message))
    });
    printed.unwrap_or_else(|| Err("it cannot be printed".to_owned()))
}

/// Writes the case, and its tensors beside it.
///
/// # Errors
/// The file system refuses.
pub fn write(
    case: &Case,
    (output, emit): (&Path, Emit),
    runner: &Runner,
    ops: &Arc<OpRegistry>,
    errors: &[Diagnostic],
) -> Result<(), String> {
    let tensors = tensors_path(output);
    if let Inputs::Tensors(inputs) = &case.inputs {
        write_tensors(&tensors, inputs.iter().map(|(name, tensor)| (name.as_str(), tensor)))
            .map_err(|error| error.message)?;
    }
    let text = match emit {
        Emit::Tfir => {
            let mut text = runner.reproducer(case, (output, &tensors), errors);
            let shown = inputs_shown(case, "//");
            if !shown.is_empty() {
                let _ = write!(text, "\n{shown}");
            }
            text
        }
        Emit::Dsl => {
            let program = dsl(case, ops)?;
            format!("# {}\n{}\n{program}", command(case, output, runner), inputs_shown(case, "#"))
        }
    };
    write_atomic(output, text.as_bytes()).map_err(|error| format!("cannot write `{}`: {error}", output.display()))
}

/// What runs a case that was written in Python syntax, as a shell reads it.
pub fn command(case: &Case, output: &Path, runner: &Runner) -> String {
    let mut words = vec!["tf-opt".to_owned(), output.display().to_string()];
    words.extend(runner.recipe.plugins.iter().map(|plugin| format!("--load-pass-plugin={plugin}")));
    words.push(format!("--pipeline={}", case.pipeline));
    words.extend(match &case.inputs {
        Inputs::None => None,
        Inputs::Generated(count) => Some(format!("--check-each={count}")),
        Inputs::Tensors(_) => Some(format!("--check-each={}", tensors_path(output).display())),
    });
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use tf_types::DType;
    use tf_value::Tensor;

    use super::elements;

    #[test]
    fn elements_are_shown_as_they_are() {
        let of = |values: Vec<i64>| Tensor::from_vec(&[values.len()], values).unwrap();
        assert_eq!(elements(&of(vec![i64::MAX, -(1 << 53) - 1])), "[9223372036854775807, -9007199254740993]");
        assert_eq!(elements(&of(vec![1, 0]).cast(DType::Bool).unwrap()), "[1, 0]");
        let floats = Tensor::from_f32(&[4], &[0.1, -0.0, f32::NAN, f32::MAX]).unwrap();
        assert_eq!(elements(&floats), "[0.1, -0.0, NaN, 3.4028235e38]");
    }
}
