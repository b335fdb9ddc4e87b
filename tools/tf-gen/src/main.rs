//! `tf-gen chain|tree|dag COUNT [--mlir]`: a program of that many ops on the standard output.

use std::io::Write;
use std::process::ExitCode;

use tf_core::{Arena, Context};
use tf_gen::Shape;
use tf_text::{PrintOptions, print_module};

const USAGE: &str = "usage: tf-gen chain|tree|dag COUNT [--mlir]";

const HELP: &str = "\
tf-gen SHAPE COUNT [--mlir]   writes a program of COUNT ops as textual IR, or with --mlir as MLIR
tf-gen --version              says which version this is

  chain                       each op uses the one before it: the deepest graph
  tree                        no value is used twice
  dag                         values are shared, so that the number of paths is exponential
";

fn generate(args: &[String]) -> Result<String, String> {
    let (shape, count, mlir) = match args {
        [flag] if flag == "-h" || flag == "--help" => return Ok(HELP.to_owned()),
        [flag] if flag == "-V" || flag == "--version" => {
            return Ok(format!("tf-gen {}\n", env!("CARGO_PKG_VERSION")));
        }
        [shape, count] => (shape, count, false),
        [shape, count, flag] if flag == "--mlir" => (shape, count, true),
        _ => return Err(USAGE.to_owned()),
    };
    let shape: Shape = shape.parse()?;
    let count: usize = match count.parse() {
        Ok(count @ 1..) => count,
        _ => return Err(format!("`{count}` is no count of ops from 1\n{USAGE}")),
    };
    if mlir {
        return Ok(tf_gen::mlir(shape, count));
    }
    let registry = tf_gen::registry().map_err(|errors| format!("{errors:?}"))?;
    let arena = Arena::new();
    let cx = Context::new(&arena, registry);
    Ok(print_module(tf_gen::module(&cx, shape, count), &PrintOptions::default()))
}

fn main() -> ExitCode {
    let args: Vec<_> = std::env::args_os().skip(1).map(|arg| arg.to_string_lossy().into_owned()).collect();
    let result = generate(&args).and_then(|text| {
        std::io::stdout().lock().write_all(text.as_bytes()).map_err(|error| format!("standard output: {error}"))
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            let _ = writeln!(std::io::stderr(), "error: {message}");
            ExitCode::FAILURE
        }
    }
}
