//! The reference's programs and its refusals of stage `evaluate`, from their sources.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value as Json;
use tf_core::{Arena, Context, Diagnostic, Span};
use tf_dsl::{DslOptions, parse_file};
use tf_evaluate::{DimSizes, Engine, Positions, Reading, ReadingRequest, Reference, Resource};
use tf_types::DType;
use tf_value::io::{TensorStore, open_tensors};
use tf_value::{DialectBuilder, Tensor, Tolerance};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/reference")
}

fn json(name: &str) -> Json {
    serde_json::from_str(&std::fs::read_to_string(folder().join(name)).unwrap()).unwrap()
}

fn text<'j>(json: &'j Json, key: &str) -> &'j str {
    json[key].as_str().unwrap()
}

fn dtype(json: &Json) -> DType {
    DType::from_name(text(json, "dtype")).unwrap()
}

/// The outputs of a step of a source's module, or every error.
pub fn evaluate(
    source: &str,
    (module, step): (Option<&str>, &str),
    resource: Resource,
    inputs: &[Tensor],
    form: Option<Positions>,
) -> Result<Vec<Tensor>, Vec<Diagnostic>> {
    let arena = Arena::new();
    let mut builder = DialectBuilder::default();
    tf_dim::register(&mut builder);
    tf_hir::register(&mut builder);
    let (ops, rules) = builder.freeze().unwrap();
    let cx = Context::new(&arena, ops);
    let file = cx.sources().add("test.py", source);
    let module = parse_file(&cx, file, &DslOptions { module: module.map(str::to_owned) })?;
    let step = Reading::load(module, resource).step(step).unwrap();
    let request = ReadingRequest { step, inputs, dims: &DimSizes::default(), times: None };
    let engine = Reference::new(rules);
    let outputs = match form {
        None => engine.run_reading(&request).unwrap(),
        Some(form) => engine.run_positions(&cx, &request, form).unwrap().map(|results| results.outputs),
    };
    outputs.map_err(|error| vec![error])
}

#[test]
fn programs_have_the_reference_values() {
    let manifest = json("programs/manifest.json");
    let mut runs = 0;
    for program in manifest["programs"].as_array().unwrap() {
        let name = text(program, "name");
        let source = std::fs::read_to_string(folder().join("programs").join(text(program, "file"))).unwrap();
        let store = open_tensors(folder().join("programs").join(text(program, "tensors"))).unwrap();
        let store: Arc<dyn TensorStore> = Arc::from(store);
        let tensor = |entry: &Json| store.get_as(text(entry, "tensor"), dtype(entry)).unwrap().unwrap();
        for run in program["runs"].as_array().unwrap() {
            let what = format!("{name}, run {}", text(run, "run"));
            let inputs: Vec<_> = run["inputs"].as_array().unwrap().iter().map(tensor).collect();
            let resource = Resource::default().or(Arc::clone(&store), "weights.");
            let is_function = text(program, "entry_is") == "function";
            let forms = [None, is_function.then_some(Positions::Assembled)];
            for form in &forms[..if is_function { 2 } else { 1 }] {
                let step = (Some(text(program, "module")), text(program, "entry"));
                let outputs = evaluate(&source, step, resource.clone(), &inputs, *form);
                let outputs = outputs.unwrap_or_else(|errors| panic!("{what}, {form:?}: {errors:?}"));
                let wanted = run["outputs"].as_array().unwrap();
                assert_eq!(outputs.len(), wanted.len(), "{what}");
                for (got, want) in outputs.iter().zip(wanted) {
                    let tolerance = Tolerance {
                        rtol: want["rtol"].as_f64().unwrap(),
                        atol: want["atol"].as_f64().unwrap(),
                        signed_zero: want["signed_zero"].as_bool().unwrap_or(false),
                    };
                    let result = tolerance.compare(got, &tensor(want));
                    assert!(result.pass(), "{what}, {form:?}: {result}");
                }
                runs += 1;
            }
        }
    }
    // 43 runs, of which two are of a method: positions evaluate functions.
    assert_eq!(runs, 43 + 41);
}

/// Cases whose place the front end gives: a loop is at its `i in range(…)`, not at its `for`.
const ELSEWHERE: &[&str] = &["run_empty_loop"];

fn filled(inputs: &Json) -> Vec<Tensor> {
    let fill = |entry: &Json| {
        let extents = entry["shape"].as_array().unwrap();
        let shape: Vec<usize> = extents.iter().map(|n| usize::try_from(n.as_u64().unwrap()).unwrap()).collect();
        let count = shape.iter().product();
        let numbers = vec![entry["fill"].as_f64().unwrap() as f32; count];
        Tensor::from_f32(&shape, &numbers).unwrap().cast(dtype(entry)).unwrap()
    };
    inputs.as_array().unwrap().iter().map(fill).collect()
}

fn covers(span: Span, line: u64, column: u64) -> bool {
    let (line, column) = (u32::try_from(line).unwrap(), u32::try_from(column).unwrap());
    let (start, end) = ((span.line.get(), span.column), (span.end_line, span.end_column));
    start.0 == line && start.1 <= column && (line, column) < end
}

/// Whether a text has a keyword, `a|b` either: case aside, a single letter or number as a word.
fn has(text: &str, keyword: &str) -> bool {
    let text = text.to_lowercase();
    keyword.to_lowercase().split('|').any(|word| {
        let whole = word.chars().count() == 1 || word.chars().all(|c| c.is_ascii_digit());
        if !whole {
            return text.contains(word);
        }
        text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|found| found == word)
    })
}

#[test]
fn refusals_point_and_explain() {
    let cases = json("refusals.json");
    let cases = cases["cases"].as_array().unwrap().iter().filter(|case| case["stage"] == "evaluate");
    let (mut count, mut wrong) = (0, Vec::new());
    for case in cases {
        count += 1;
        let id = text(case, "id");
        let entry = case["entry"].as_str().unwrap_or("f");
        let inputs = filled(&case["inputs"]);
        let twins =
            if case["accepted_inputs"].is_null() { filled(&case["inputs"]) } else { filled(&case["accepted_inputs"]) };
        if let Err(errors) = evaluate(text(case, "accepted"), (None, entry), Resource::default(), &twins, None) {
            wrong.push(format!("{id}: the accepted twin is refused: {errors:?}"));
        }
        match evaluate(text(case, "source"), (None, entry), Resource::default(), &inputs, None) {
            Ok(_) => wrong.push(format!("{id}: not refused")),
            Err(errors) => {
                let error = &errors[0];
                let (line, column) = (case["line"].as_u64().unwrap(), case["column"].as_u64().unwrap());
                let words = case["keywords"].as_array().unwrap().iter().map(|word| word.as_str().unwrap());
                let lacking: Vec<_> = words.filter(|word| !has(&error.message, word)).collect();
                let elsewhere =
                    ELSEWHERE.contains(&id) && error.span.is_some_and(|span| u64::from(span.line.get()) == line);
                if !elsewhere && !error.span.is_some_and(|span| covers(span, line, column)) {
                    wrong.push(format!("{id}: at {:?}, not {line}:{column}: {}", error.span, error.message));
                } else if !lacking.is_empty() {
                    wrong.push(format!("{id}: lacks {lacking:?}: {}", error.message));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count} cases:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(count, 20);
}
