//! Reading the input.

use std::io::Read;
use std::path::Path;

use tf_core::{Context, Module};
use tf_dsl::DslOptions;

use crate::args::{Args, Language};
use crate::error::{Outcome, Stop, report, stop};

fn language(args: &Args, file: &str) -> Outcome<Language> {
    if let Some(language) = args.language {
        return Ok(language);
    }
    if file == "-" {
        return Ok(Language::Tfir);
    }
    match Path::new(file).extension().and_then(|extension| extension.to_str()) {
        Some("py") => Ok(Language::Dsl),
        Some("tfir") => Ok(Language::Tfir),
        _ => {
            stop(format!("the language of `{file}` is not known from its name; write `--input=dsl` or `--input=tfir`"))
        }
    }
}

fn read(file: &str) -> Outcome<String> {
    let mut bytes = Vec::new();
    let result = match file {
        "-" => std::io::stdin().read_to_end(&mut bytes).map(drop),
        _ => std::fs::read(file).map(|read| bytes = read),
    };
    if let Err(error) = result {
        return stop(format!("cannot read `{file}`: {error}"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Stop::Said(format!("`{file}` is not UTF-8 text: byte {at} starts no character"))
    })
}

/// The module of the input file; mistakes are reported.
///
/// # Errors
/// The file cannot be read or has mistakes.
pub fn module<'c>(args: &Args, cx: &Context<'c>) -> Outcome<Module<'c>> {
    let Some(file) = args.file.as_deref() else {
        return stop("no input; write a file's name, or `-` for the standard input (`--help` shows all options)");
    };
    let language = language(args, file)?;
    if args.module.is_some() && language == Language::Tfir {
        return stop("`--module` chooses from a `.py` file; textual IR has one module");
    }
    let text = read(file)?;
    let name = if file == "-" { "<stdin>" } else { file };
    let id = cx.sources().add(name, text);
    let parsed = match language {
        Language::Dsl => tf_dsl::parse_file(cx, id, &DslOptions { module: args.module.clone() }),
        Language::Tfir => tf_text::parse_module(cx, id),
    };
    parsed.map_err(|diagnostics| {
        report(&diagnostics, cx.sources());
        Stop::Reported
    })
}
