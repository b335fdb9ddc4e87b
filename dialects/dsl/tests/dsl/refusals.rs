//! The reference's wrong and right sources.

use crate::common::{reference, with_source};
use serde_json::Value;
use tf_core::Diagnostic;

/// Cases of rules that are checked after reading: of a target, and of a whole module.
const LATER: &[&str] = &["umat_parameter", "unknown_level", "too_many_threads"];

fn cases(file: &str) -> Vec<Value> {
    let all: Value = serde_json::from_str(&reference(file)).expect("the file is JSON");
    all["cases"].as_array().expect("it has cases").clone()
}

fn text<'a>(case: &'a Value, field: &str) -> &'a str {
    case[field].as_str().unwrap_or_default()
}

fn errors(source: &str) -> Vec<Diagnostic> {
    with_source(source, |_, result| result.err().unwrap_or_default())
}

/// Short and numeric keywords count as whole words.
fn holds(message: &str, keyword: &str) -> bool {
    let (message, keyword) = (message.to_lowercase(), keyword.to_lowercase());
    let is_word = keyword.chars().all(|c| c.is_ascii_digit()) || (keyword.len() == 1 && keyword != "&");
    if !is_word {
        return message.contains(&keyword);
    }
    message.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == keyword)
}

/// What is wrong with a message, if anything.
fn complaint(case: &Value, error: &Diagnostic) -> Option<String> {
    let missing: Vec<_> = case["keywords"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .filter(|keyword| !keyword.split('|').any(|k| holds(&error.message, k)))
        .collect();
    if !missing.is_empty() {
        return Some(format!("lacks {missing:?}: {}", error.message));
    }
    let (line, column) = (case["line"].as_u64()? as u32, case["column"].as_u64()? as u32);
    let Some(span) = error.span else { return Some("has no place".to_owned()) };
    let covers = span.column == column || (span.column < column && (span.end_line > line || column < span.end_column));
    if span.line.get() != line || !covers {
        return Some(format!("is at {}:{}, not {line}:{column}", span.line, span.column));
    }
    None
}

#[test]
fn wrong_sources_are_refused_in_the_right_place() {
    let mut failures = Vec::new();
    for case in cases("refusals.json") {
        let id = text(&case, "id");
        let found = errors(text(&case, "source"));
        let twin = errors(text(&case, "accepted"));
        if let Some(error) = twin.first() {
            failures.push(format!("{id}: the accepted twin: {}", error.message));
        }
        if text(&case, "stage") == "evaluate" || LATER.contains(&id) {
            // Finding it while reading is as good.
            failures.extend(found.first().and_then(|e| complaint(&case, e)).map(|c| format!("{id} {c}")));
            continue;
        }
        match found.first() {
            None => failures.push(format!("{id} is accepted")),
            Some(error) => failures.extend(complaint(&case, error).map(|c| format!("{id} {c}"))),
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn right_sources_are_read() {
    let mut failures = Vec::new();
    for case in cases("accepted.json") {
        let id = text(&case, "id");
        let found = errors(text(&case, "source"));
        failures.extend(found.first().map(|error| format!("{id}: {}", error.message)));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
