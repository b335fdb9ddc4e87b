//! `tf-gen chain|tree|dag COUNT [--mlir]`: a program of that many ops on the standard output.

use std::io::Write;
use std::process::ExitCode;

use tf_core::{Arena, Context};
use tf_gen::Shape;
use tf_text::{PrintOptions, print_module};

const USAGE: &str = "usage: tf-gen chain|tree|dag COUNT [--mlir]";

fn generate(args: &[String]) -> Result<String, String> {
    let (shape, count, mlir) = match args {
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
    let args: Vec<_> = std::env::args().skip(1).collect();
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
