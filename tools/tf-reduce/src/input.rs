//! What is reduced: the module of a file, and how it is run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tf_core::diag::Style;
use tf_core::op::OpRegistry;
use tf_core::{Arena, Context, Diagnostic, Module, SourceMap};
use tf_dsl::DslOptions;
use tf_evaluate::CheckInputs;
use tf_framework::{Recipe, text as pipeline_text};
use tf_shrink::{Case, Inputs, text, well_formed};
use tf_value::io::open_tensors;

use crate::args::Args;
use crate::files::in_place;

/// A case, and what its runs have in common.
pub struct Input {
    /// What is reduced.
    pub case: Case,
    /// Plugins and switches.
    pub recipe: Recipe,
    /// The ops of the module.
    pub ops: Arc<OpRegistry>,
    /// The files that were read or run, which stay as they are.
    pub files: Vec<PathBuf>,
}

/// Reads the file; `expanded` is a pipeline, for plugins, with named ones expanded.
///
/// # Errors
/// It cannot be read; a recipe, a plugin, a module, a pipeline or a tensor file that is wrong.
pub fn read(args: &Args, expanded: impl Fn(&str, &[String]) -> Result<String, String>) -> Result<Input, String> {
    let file = &args.file;
    let source = text_of(file)?;
    let is_python = Path::new(file).extension().is_some_and(|extension| extension == "py");
    let given = match (&args.pipeline, &args.pipeline_file) {
        (Some(text), _) => Some(text.clone()),
        (None, Some(file)) => Some(text_of(file)?),
        (None, None) => None,
    };
    let mut recipe = match Recipe::parse(&source) {
        Ok(recipe) => recipe.read_from(Path::new(file)),
        Err(why) if source.starts_with("// tf-opt reproducer") => {
            return Err(format!("`{file}` is no reproducer: {why}"));
        }
        Err(_) => Recipe { verify_each: true, ..Recipe::default() },
    };
    for plugin in &args.plugins {
        if !recipe.plugins.contains(plugin) {
            recipe.plugins.push(plugin.clone());
        }
    }
    let ops =
        tf_opt::ops(tf_opt::builtins(), &recipe.plugins).map_err(|error| shown(&[error], &SourceMap::default()))?;
    let pipeline = match given {
        // Of another pipeline it is not known what ran before.
        Some(text) => {
            recipe.after.clear();
            expanded(&text, &recipe.plugins)?
        }
        None => std::mem::take(&mut recipe.pipeline),
    };
    let pipeline = pipeline_text::parse(pipeline.trim()).map_err(|error| format!("the pipeline: {}", error.message))?;
    let stated = recipe.check_each.take().map(|text| CheckInputs::parse(Some(&text)));
    let stated = stated.transpose().map_err(|wanted| format!("`{file}`: `check-each` is {wanted}"))?;
    let inputs = args.inputs.clone().or(stated);
    recipe.threads = None;
    let files = files(args, &recipe, inputs.as_ref());
    let arena = Arena::new();
    let cx = Context::new(&arena, Arc::clone(&ops));
    let module = parsed(args, &cx, is_python, &source).map_err(|errors| shown(&errors, cx.sources()))?;
    let module = well_formed(&cx, module).ok_or_else(|| {
        format!("`{file}` breaks a rule before any pass runs: `tf-opt {file}` says which; only what keeps the rules is reduced")
    })?;
    let inputs = inputs.map_or(Ok(Inputs::None), |inputs| read_inputs(&inputs, module))?;
    let module = text(module);
    let after = std::mem::take(&mut recipe.after);
    Ok(Input { case: Case { module: module.into(), pipeline, after, inputs }, recipe, ops, files })
}

/// The program, the pipeline, plugins, and tensors: with an index or a folder of them all that lie there.
fn files(args: &Args, recipe: &Recipe, inputs: Option<&CheckInputs>) -> Vec<PathBuf> {
    let named = [Some(&args.file), args.pipeline_file.as_ref()];
    let mut files: Vec<PathBuf> = named.into_iter().flatten().chain(&recipe.plugins).map(PathBuf::from).collect();
    if let Some(CheckInputs::File { path, .. }) = inputs {
        let path = PathBuf::from(path);
        let folder = match path.extension() {
            _ if path.is_dir() => Some(path.as_path()),
            Some(extension) if extension == "json" => path.parent(),
            _ => None,
        };
        let beside = folder.and_then(|folder| in_place(folder).read_dir().ok());
        files.extend(beside.into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())));
        files.push(path);
    }
    files
}

fn text_of(file: &str) -> Result<String, String> {
    let bytes = std::fs::read(file).map_err(|error| format!("cannot read `{file}`: {error}"))?;
    String::from_utf8(bytes).map_err(|_| format!("`{file}` is not UTF-8 text"))
}

fn parsed<'c>(args: &Args, cx: &Context<'c>, is_python: bool, source: &str) -> Result<Module<'c>, Vec<Diagnostic>> {
    let id = cx.sources().add(args.file.as_str(), source);
    if is_python {
        return tf_dsl::parse_file(cx, id, &DslOptions { module: args.module.clone() });
    }
    if args.module.is_some() {
        return Err(vec![Diagnostic::error("`--module` chooses from a `.py` file; textual IR has one module")]);
    }
    tf_text::parse_module(cx, id)
}

/// The textual IR of a program in Python syntax; `None` where it is none.
pub fn python(source: &str, ops: &Arc<OpRegistry>) -> Option<String> {
    let arena = Arena::new();
    let cx = Context::new(&arena, Arc::clone(ops));
    let id = cx.sources().add("<printed>", source);
    tf_dsl::parse_file(&cx, id, &DslOptions { module: None }).ok().map(text)
}

/// Diagnostics as the text of one message.
fn shown(errors: &[Diagnostic], sources: &SourceMap) -> String {
    let text: String = errors.iter().map(|error| error.render(sources, Style::Plain)).collect();
    text.strip_prefix("error: ").unwrap_or(&text).trim_end().to_owned()
}

/// The inputs, of a file the tensors that parameters of the module are named after.
fn read_inputs(inputs: &CheckInputs, module: Module<'_>) -> Result<Inputs, String> {
    let (path, prefix) = match inputs {
        CheckInputs::Generated(count) => return Ok(Inputs::Generated(*count)),
        CheckInputs::File { path, prefix } => (path, prefix),
    };
    let store = open_tensors(path).map_err(|error| error.message)?;
    let mut tensors = BTreeMap::new();
    let tree = module.tree();
    let params = tree.iter().flat_map(|module| module.all_functions()).flat_map(|function| function.params());
    for param in params.filter(|param| !param.is_const_param()) {
        let (Some(name), Some(ty)) = (param.var_name(), param.ty().as_tensor()) else { continue };
        let of = |prefix: &str| store.get_as(&format!("{prefix}{name}"), ty.dtype);
        if let Some(tensor) = of(prefix).or_else(|| of("")) {
            tensors.insert(name.to_string(), tensor.map_err(|error| error.message)?);
        }
    }
    Ok(Inputs::Tensors(Arc::new(tensors)))
}
