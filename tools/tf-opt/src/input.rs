//! Reading the inputs.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use tf_core::{Context, Diagnostic, FileId, Module};
use tf_dsl::DslOptions;
use tf_framework::Recipe;

use crate::args::{Args, Language, check_inputs};
use crate::error::{Outcome, Stop, stop};
use crate::output;

/// What one compilation reads: a file, or a part of one.
pub struct Unit {
    /// The file's name in messages.
    pub name: String,
    /// The name that an output file of its own has, without extension.
    pub stem: String,
    /// What it is written in.
    pub language: Language,
    /// Its text. A later part of a file begins with empty lines, so that line numbers are those of the file.
    pub text: String,
}

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

/// Bytes that are read of one file: devices have no end.
const MOST_BYTES: u64 = 1 << 30;

/// The text of a file, or of the standard input.
///
/// # Errors
/// It cannot be read, is too long, or is no text.
pub fn read(file: &str) -> Outcome<String> {
    let bytes = match file {
        "-" => bytes_of(std::io::stdin(), 0, MOST_BYTES),
        _ => File::open(file).and_then(|open| {
            let length = open.metadata().map_or(0, |data| data.len());
            bytes_of(open, length, MOST_BYTES)
        }),
    };
    let bytes = match bytes {
        Ok(bytes) if bytes.len() as u64 > MOST_BYTES => {
            return stop(format!("`{file}` has more than {MOST_BYTES} bytes, which is the most that is read"));
        }
        Ok(bytes) => bytes,
        Err(error) => return stop(format!("cannot read `{file}`: {error}")),
    };
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
        Stop::Said(format!("`{file}` is not UTF-8 text: byte {at} starts no character, in line {line}"))
    })
}

/// What can be read, up to one byte more than is allowed.
fn bytes_of(source: impl Read, length: u64, most: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(length.min(most) as usize);
    source.take(most + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The parts between lines `// -----` or `# -----`, each after as many empty lines as stand before it in the whole.
fn parts(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    for (number, line) in text.split_inclusive('\n').enumerate() {
        if matches!(line.trim_end(), "// -----" | "# -----") {
            parts.push("\n".repeat(number + 1));
        } else if let Some(part) = parts.last_mut() {
            part.push_str(line);
        }
    }
    parts
}

/// Inputs that would be written over each other, where each has files of its own.
fn distinct(args: &Args, units: &[Unit]) -> Outcome<()> {
    let output = args.output.as_deref().filter(|path| output::is_folder(path));
    let Some(folder) = args.tree_dir.as_deref().or(output) else { return Ok(()) };
    let mut seen: HashMap<&str, &str> = HashMap::new();
    for unit in units {
        if let Some(other) = seen.insert(&unit.stem, &unit.name) {
            return stop(format!(
                "`{other}` and `{}` would both be written as `{}` in `{folder}`; give them other names, or run them one by one",
                unit.name, unit.stem
            ));
        }
    }
    Ok(())
}

/// All inputs in order.
///
/// # Errors
/// A file that cannot be read, an unknown language, or two inputs for one file in a folder.
pub fn units(args: &Args) -> Outcome<Vec<Unit>> {
    if args.files.is_empty() {
        return stop("no input; write a file's name, or `-` for the standard input (`--help` shows all options)");
    }
    let mut units = Vec::new();
    for file in &args.files {
        let language = language(args, file)?;
        if args.module.is_some() && language == Language::Tfir {
            return stop("`--module` chooses from a `.py` file; textual IR has one module");
        }
        let text = read(file)?;
        let name = if file == "-" { "<stdin>" } else { file };
        let stem = Path::new(file).file_stem().map_or("out".into(), |stem| stem.to_string_lossy());
        let stem = if file == "-" { "stdin".into() } else { stem };
        if !args.split {
            units.push(Unit { name: name.to_owned(), stem: stem.into_owned(), language, text });
            continue;
        }
        for (number, text) in parts(&text).into_iter().enumerate() {
            let stem = if number == 0 { stem.to_string() } else { format!("{stem}.{number}") };
            units.push(Unit { name: name.to_owned(), stem, language, text });
        }
    }
    distinct(args, &units)?;
    Ok(units)
}

/// Sets the arguments as a reproducer says.
///
/// # Errors
/// The file is no reproducer, or the command line says otherwise.
pub fn follow_recipe(args: &mut Args) -> Outcome<Vec<String>> {
    let Some(file) = args.run_reproducer.take() else { return Ok(Vec::new()) };
    if !args.files.is_empty() || args.pipeline.is_some() || args.pipeline_file.is_some() {
        return stop("`--run-reproducer` has its own input and pipeline; give no others");
    }
    let recipe = Recipe::parse(&read(&file)?).map_err(|why| Stop::Said(format!("`{file}` is no reproducer: {why}")))?;
    let recipe = recipe.read_from(Path::new(&file));
    args.files.push(file);
    args.language = Some(Language::Tfir);
    args.pipeline = Some(recipe.pipeline);
    args.verify_each &= recipe.verify_each;
    if let (None, Some(inputs)) = (&args.check_each, &recipe.check_each) {
        args.check_each = Some(check_inputs(Some(inputs))?);
    }
    args.threads = args.threads.or(recipe.threads);
    for plugin in recipe.plugins {
        if !args.plugins.contains(&plugin) {
            args.plugins.push(plugin);
        }
    }
    Ok(recipe.after)
}

/// The module of a unit.
///
/// # Errors
/// All mistakes in it.
pub fn module<'c>(args: &Args, unit: &Unit, file: FileId, cx: &Context<'c>) -> Result<Module<'c>, Vec<Diagnostic>> {
    let module = match unit.language {
        Language::Dsl => tf_dsl::parse_file(cx, file, &DslOptions { module: args.module.clone() }),
        Language::Tfir => tf_text::parse_module(cx, file),
    };
    module.map_err(|errors| errors.into_iter().map(|error| error.coded("input")).collect())
}

#[cfg(test)]
mod tests {
    use super::{bytes_of, parts};

    #[test]
    fn what_has_no_end_is_read_to_the_limit() {
        assert_eq!(bytes_of(std::io::repeat(b'a'), 0, 1000).unwrap().len(), 1001);
        assert_eq!(bytes_of(&b"abc"[..], 9, 1000).unwrap(), b"abc");
    }

    #[test]
    fn parts_keep_their_line_numbers() {
        assert_eq!(parts("a\n// -----\nb\n# -----\nc"), ["a\n", "\n\nb\n", "\n\n\n\nc"]);
        assert_eq!(parts("a\n  // -----\n// ------\n"), ["a\n  // -----\n// ------\n"]);
    }
}
