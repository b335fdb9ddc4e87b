//! `tf-gen chain|tree|dag COUNT [--functions=N] [--mlir]`: a program of that many ops on the standard output;
//! `tf-gen random COUNT [SEED]`: one of random ops.

use std::io::Write;
use std::process::ExitCode;

use tf_core::{Arena, Context};
use tf_gen::Shape;
use tf_text::{PrintOptions, print_module};

const USAGE: &str = "usage: tf-gen chain|tree|dag COUNT [--functions=N] [--mlir], tf-gen random COUNT [SEED]";

/// The most steps of a function of a random program: most functions of so few have a value.
const STEPS: usize = 24;

const HELP: &str = "\
tf-gen SHAPE COUNT [OPTION]...   writes a program of COUNT ops as textual IR
tf-gen random COUNT [SEED]       writes functions of random ops of all kinds, the same for the same seed (0)
tf-gen --version                 says which version this is

  chain                       each op uses the one before it: the deepest graph
  tree                        no value is used twice
  dag                         values are shared, so that the number of paths is exponential

  --functions=N               N functions of COUNT ops each, which do not call each other
  --mlir                      as MLIR
";

fn random(count: &str, seed: &str) -> Result<String, String> {
    let seed = seed.parse().map_err(|_| format!("`{seed}` is no seed, a number from 0\n{USAGE}"))?;
    let count = match count.parse() {
        Ok(count @ 1..) => count,
        _ => return Err(format!("`{count}` is no count of ops from 1\n{USAGE}")),
    };
    let registry = tf_gen::all_ops().map_err(|errors| format!("{errors:?}"))?;
    let arena = Arena::new();
    let cx = Context::new(&arena, registry);
    let module = tf_gen::random(&cx, seed, count, STEPS).map_err(|error| error.message)?;
    Ok(print_module(module, &PrintOptions::default()))
}

fn generate(args: &[String]) -> Result<String, String> {
    let (shape, count, options) = match args {
        [flag] if flag == "-h" || flag == "--help" => return Ok(HELP.to_owned()),
        [flag] if flag == "-V" || flag == "--version" => {
            return Ok(format!("tf-gen {}\n", env!("CARGO_PKG_VERSION")));
        }
        [shape, count] if shape == "random" => return random(count, "0"),
        [shape, count, seed] if shape == "random" => return random(count, seed),
        [shape, count, options @ ..] => (shape, count, options),
        _ => return Err(USAGE.to_owned()),
    };
    let shape: Shape = shape.parse()?;
    let number = |text: &str, of: &str| match text.parse() {
        Ok(count @ 1..) => Ok(count),
        _ => Err(format!("`{text}` is no count of {of} from 1\n{USAGE}")),
    };
    let count: usize = number(count, "ops")?;
    let (mut functions, mut mlir) = (None, false);
    for option in options {
        match option.strip_prefix("--functions=") {
            Some(text) => functions = Some(number(text, "functions")?),
            None if option == "--mlir" => mlir = true,
            None => return Err(format!("unknown option `{option}`\n{USAGE}")),
        }
    }
    if mlir {
        return Ok(functions.map_or_else(|| tf_gen::mlir(shape, count), |n| tf_gen::mlir_library(shape, n, count)));
    }
    let registry = tf_gen::registry().map_err(|errors| format!("{errors:?}"))?;
    let arena = Arena::new();
    let cx = Context::new(&arena, registry);
    let module = match functions {
        Some(functions) => tf_gen::library(&cx, shape, functions, count),
        None => tf_gen::module(&cx, shape, count),
    };
    Ok(print_module(module, &PrintOptions::default()))
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
