//! Printing back: what is read, printed and read again is the same module, and prints the same text.

use tf_core::equal::structurally_equal;
use tf_core::{Arena, Context};
use tf_dsl::{DslOptions, PrintOptions, parse_file, print_module};

use crate::common::{reference, registry};

/// The text of a module of `source`; panics where it does not come back.
fn printed(name: &str, source: &str) -> String {
    let arena = Arena::new();
    let cx = &Context::new(&arena, registry());
    let read = |file: &str, text: &str| {
        let id = cx.sources().add(file, text);
        let shown = |d: &tf_core::Diagnostic| format!("{:?}: {}", d.span.map(|s| (s.line, s.column)), d.message);
        parse_file(cx, id, &DslOptions::default()).unwrap_or_else(|errors| {
            panic!("{name}, {file}: {:?}\n{text}", errors.iter().map(shown).collect::<Vec<_>>())
        })
    };
    let module = read("first.py", source);
    let text = print_module(cx, module, &PrintOptions::default())
        .unwrap_or_else(|error| panic!("{name} is not printed: {} at {:?}", error.message, error.span));
    let again = read("printed.py", &text);
    assert!(structurally_equal(module, again), "{name} is another module when it is read again:\n{text}");
    let second = print_module(cx, again, &PrintOptions::default()).expect("what is printed once is printed twice");
    assert_eq!(text, second, "{name}: the second print differs");
    text
}

/// The sources in a folder of the reference values.
fn sources(folder: &str) -> Vec<String> {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/reference").join(folder);
    let files = std::fs::read_dir(dir).expect("the programs are here");
    let mut names: Vec<_> = files
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok()?.strip_suffix(".py").map(str::to_owned))
        .collect();
    names.sort();
    names
}

#[test]
fn programs_come_back() {
    for name in sources("programs") {
        printed(&name, &reference(&format!("programs/{name}.py")));
    }
}

#[test]
fn programs_of_tir_come_back() {
    for name in sources("tir") {
        printed(&name, &reference(&format!("tir/{name}.py")));
    }
}

#[test]
fn accepted_cases_come_back() {
    let cases: serde_json::Value = serde_json::from_str(&reference("accepted.json")).expect("a file of cases");
    for case in cases["cases"].as_array().expect("cases") {
        let text = |key: &str| case[key].as_str().unwrap_or_default();
        printed(text("id"), text("source"));
    }
}
