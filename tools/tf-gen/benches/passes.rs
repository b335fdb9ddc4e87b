//! Passes that keep values on generated programs: a chain and a shared graph of 1 M ops, and 10,000 functions of 100 ops.
//!
//! `RAYON_NUM_THREADS=1 cargo bench -p tf-gen --bench passes` prints million ops a second: medians of rounds that alternate between the
//! passes, each on a fresh module, in time of the processor.

use std::sync::Arc;
use std::time::Duration;

use tf_core::{Arena, Context};
use tf_framework::{PassManager, PassRegistry, Pipeline};
use tf_gen::Shape;
use tf_rewrite::Patterns;
use tf_value::DialectBuilder;

const ROUNDS: usize = 7;
const PASSES: [&str; 4] = ["cse", "canonicalize", "constprop", "dce"];

/// A program by its shape, number of functions and ops of each.
const PROGRAMS: [(Shape, usize, usize); 4] =
    [(Shape::Chain, 1, 100_000), (Shape::Chain, 1, 1_000_000), (Shape::Dag, 1, 1_000_000), (Shape::Chain, 10_000, 100)];

fn cpu_time() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    now.try_into().expect("the time of a thread is not negative")
}

fn main() {
    let mut dialects = DialectBuilder::default();
    tf_hir::register(&mut dialects);
    let (ops, rules) = dialects.freeze().expect("the dialect registers");
    let (mut registry, mut patterns) = (PassRegistry::default(), Patterns::default());
    tf_transforms::patterns::register(&mut patterns);
    tf_transforms::register(&mut registry, &rules, patterns);
    for case in PROGRAMS {
        let mut times = [const { Vec::new() }; PASSES.len()];
        for _ in 0..ROUNDS {
            for (pass, times) in PASSES.iter().zip(&mut times) {
                let arena = Arena::new();
                let cx = Context::new(&arena, Arc::clone(&ops));
                let (shape, functions, ops) = case;
                let module = tf_gen::library(&cx, shape, functions, ops);
                let pipeline = Pipeline::build(&registry, cx.sources(), "bench", pass).expect("a pass");
                let start = cpu_time();
                assert!(PassManager::default().run(&pipeline, &cx, module).is_ok());
                times.push(cpu_time() - start);
            }
        }
        let (shape, functions, ops) = case;
        print!("{:>6} {functions:>6} x {ops:>8}:", shape.name());
        for (pass, times) in PASSES.iter().zip(&mut times) {
            times.sort_unstable();
            let rate = (functions * ops) as f64 / times[ROUNDS / 2].as_secs_f64() / 1e6;
            print!("  {pass} {rate:.1}");
        }
        println!("  M ops/s");
    }
}
