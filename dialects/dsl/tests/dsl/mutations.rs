//! Programs that are nearly right: of HIR, TIR, with factories and dataclasses. There is a module that comes back from both of its
//! texts, or there are messages with places inside the file.

use std::path::Path;

use tf_core::equal::structurally_equal;
use tf_core::{Arena, Context, Diagnostic, Module};
use tf_dsl::{DslOptions, PrintOptions, parse_file, print_module};
use tf_testing::{Mutator, Rng, is_inside};

use crate::common::{reference, registry};
use crate::hostile::PIECES;

/// Mutations of one run.
const CASES: u64 = 1_500;

/// The reference programs, those of the documentation, and random ones.
fn corpus() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut texts: Vec<String> = (0..30).map(crate::sources::source).collect();
    for folder in ["programs", "tir"] {
        for entry in std::fs::read_dir(root.join("tests/reference").join(folder)).expect("the programs are here") {
            let name = entry.expect("an entry").file_name().into_string().expect("a name");
            if name.ends_with(".py") {
                texts.push(reference(&format!("{folder}/{name}")));
            }
        }
    }
    let guide = std::fs::read_to_string(root.join("docs/dsl.md")).expect("the guide is here");
    texts.extend(guide.split("```python\n").skip(1).filter_map(|rest| Some(rest.split_once("```")?.0.to_owned())));
    texts.sort();
    texts
}

fn read<'c>(cx: &Context<'c>, text: &str) -> Result<Module<'c>, Vec<Diagnostic>> {
    parse_file(cx, cx.sources().add("mutated.py", text), &DslOptions::default())
}

/// Whether the text is a module.
fn check(seed: u64, text: &str) -> bool {
    let arena = Arena::new();
    let cx = &Context::new(&arena, registry());
    let module = match read(cx, text) {
        Ok(module) => module,
        Err(errors) => {
            assert!(!errors.is_empty(), "seed {seed}:\n{text}");
            for error in &errors {
                let labels = error.labels.iter().map(|(span, _)| *span);
                let notes = error.notes.iter().filter_map(|(span, _)| *span);
                for span in error.span.into_iter().chain(labels).chain(notes) {
                    assert!(is_inside(cx, span), "seed {seed}: {error:?}\n{text}");
                }
            }
            return false;
        }
    };
    let printed = print_module(cx, module, &PrintOptions::default());
    let printed = printed.unwrap_or_else(|error| panic!("seed {seed} is not printed: {}\n{text}", error.message));
    let again = read(cx, &printed);
    let again =
        again.unwrap_or_else(|errors| panic!("seed {seed} is not read again: {}\n{printed}", errors[0].message));
    assert!(structurally_equal(module, again), "seed {seed} is another module:\n{text}\n{printed}");
    let printed = tf_text::print_module(module, &tf_text::PrintOptions::default());
    let again = tf_text::parse_module(cx, cx.sources().add("printed.tfir", printed.as_str()));
    let again =
        again.unwrap_or_else(|errors| panic!("seed {seed} is not read again: {}\n{printed}", errors[0].message));
    assert!(structurally_equal(module, again), "seed {seed} is another module:\n{text}\n{printed}");
    true
}

#[test]
fn mutated_programs_are_read_or_refused() {
    let corpus = corpus();
    let mutator = Mutator::new(&corpus, PIECES);
    let read = (0..CASES).filter(|&seed| check(seed, &mutator.text(&mut Rng::new(seed)))).count();
    assert!(read > 20, "only {read} of {CASES} are right");
}
