//! Generated modules with every feature survive printing and parsing.

use tf_core::{Arena, Context};
use tf_testing::{Options, random_module};

use crate::common::{registry, round_trip};

/// At least so many; the environment variable raises it.
const CASES: u64 = 2000;

#[test]
fn modules() {
    let wanted = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    let options = Options { hir: &["t"], tir: &["T", "t"], steps: 8, ..Options::default() };
    // One arena for some cases: interned values are shared, as they are in a driver.
    let mut seed = 0;
    while seed < CASES.max(wanted) {
        let arena = Arena::new();
        let cx = &Context::new(&arena, registry());
        for _ in 0..100 {
            seed += 1;
            let module = random_module(cx, seed, &options);
            round_trip(cx, module);
        }
    }
}

/// Functions that call each other: the types of their results stay small.
#[test]
fn modules_of_many_functions() {
    let options =
        Options { hir: &["t"], tir: &["T", "t"], hir_functions: 150, tir_functions: 50, ..Options::default() };
    for seed in 0..20 {
        let arena = Arena::new();
        let cx = &Context::new(&arena, registry());
        round_trip(cx, random_module(cx, seed, &options));
    }
}
