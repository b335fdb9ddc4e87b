//! Files that are nearly right: a module that comes back, or errors with places inside the file.

use tf_core::equal::structurally_equal;
use tf_core::{Arena, Context};
use tf_testing::{Mutator, Options, Rng, is_inside, random_module};
use tf_text::{PrintOptions, parse_module, print_module};

use crate::common::registry;

/// Mutations of one run, and random modules that they are made of.
const CASES: u64 = 4_000;
const MODULES: u64 = 60;

/// Pieces that change the meaning of what is around them.
const PIECES: &[&str] = &[
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    "<",
    ">",
    "->",
    "=",
    "-",
    "\"",
    "//",
    "0x",
    "\n",
    "#S",
    "#mesh0",
    "!t0",
    "%x",
    "%0",
    "@m",
    "$x",
    "i64",
    "tensor<4xf32>",
    "tensor<?x",
    "tuple<",
    "shard<",
    "composed<",
    "layout<",
    "mesh<",
    "dim<\"S\", 1, 9>",
    "loc(unknown)",
    "loc(\"a\":1:2 to 3:4)",
    "where(layout = [_])",
    "const ",
    "target(\"cpu\") ",
    "outputs(1) ",
    "entry(@f) ",
    "module @a {\n",
    "hir.func @f() -> i64 {\n",
    "hir.yield ",
    "hir.return ",
    "hir.variant ",
    "hir.converter ",
    "tir.func @g() ",
    "let %b = ",
    "tir.for %i = 0 to 4 step 1 : i64 {\n",
    "tir.while ",
    "tir.if ",
    "tir.mesh ",
    "tir.dispatch ",
    "tir.return\n",
    "call @f() : () -> i64",
    "tuple ",
    "constant 1 : i64",
    "floordiv ",
    "mod ",
    "min(",
    "true",
    "none",
    "nan",
    "inf",
    "method @f(x) source(\"\") {\n",
    "}\n}\n",
];

fn corpus() -> Vec<String> {
    let options = Options { hir: &["t"], tir: &["T", "t"], steps: 8, ..Options::default() };
    let text = |seed| {
        let arena = Arena::new();
        let cx = &Context::new(&arena, registry());
        let locations = (seed % 3 == 0).then(|| cx.sources());
        print_module(random_module(cx, seed, &options), &PrintOptions { locations })
    };
    (0..MODULES).map(text).collect()
}

/// Whether the text is a module.
fn check(seed: u64, text: &str) -> bool {
    let arena = Arena::new();
    let cx = &Context::new(&arena, registry());
    let module = match parse_module(cx, cx.sources().add("m.tfir", text)) {
        Ok(module) => module,
        Err(errors) => {
            assert!(!errors.is_empty(), "seed {seed}:\n{text}");
            for error in errors {
                let span = error.span.expect("every error has a place");
                assert!(is_inside(cx, span), "seed {seed}: {error:?}\n{text}");
            }
            return false;
        }
    };
    for options in [PrintOptions { locations: Some(cx.sources()) }, PrintOptions::default()] {
        let printed = print_module(module, &options);
        let again = parse_module(cx, cx.sources().add("printed.tfir", printed.as_str()));
        let again =
            again.unwrap_or_else(|errors| panic!("seed {seed} is not read again: {}\n{printed}", errors[0].message));
        assert!(structurally_equal(module, again), "seed {seed} is another module:\n{text}\n{printed}");
    }
    true
}

#[test]
fn mutated_modules_are_read_or_refused() {
    let corpus = corpus();
    let mutator = Mutator::new(&corpus, PIECES);
    let read = (0..CASES).filter(|&seed| check(seed, &mutator.text(&mut Rng::new(seed)))).count();
    assert!(read > 100, "only {read} of {CASES} are right");
}
