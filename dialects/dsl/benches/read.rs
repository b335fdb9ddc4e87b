//! Reading functions of 10 k and 1 M ops, with type inference, and printing them back, in time of the processor.
//!
//! `cargo bench -p tf-dsl`; `READ_LARGEST=10000` leaves the million out.

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use tf_core::{Arena, Context};
use tf_dsl::{DslOptions, PrintOptions, parse_file, print_module};

/// What this thread has computed, without what others on the machine took from it.
fn cpu_time() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    now.try_into().expect("the time of a thread is not negative")
}

/// A function of `count` ops: operators, calls with and without attributes, literals; every name is bound anew.
fn program(count: usize) -> String {
    let mut text = String::from("from tilefoundry import func\nfrom tilefoundry.dsl import Tensor, tf\n");
    text.push_str("@func\ndef f(x: Tensor[(16, 128), \"f32\"]) -> Tensor[(16, 128), \"f32\"]:\n");
    for at in 0..count / 4 {
        let _ = writeln!(text, "    y{at} = x + x\n    z = tf.softmax(y{at}, axis=-1)\n    x = tf.relu(z * 0.5)");
    }
    text.push_str("    return x\n");
    text
}

fn counts() -> impl Iterator<Item = usize> {
    let largest = std::env::var("READ_LARGEST").ok().and_then(|n| n.parse().ok()).unwrap_or(usize::MAX);
    [10_000, 1_000_000].into_iter().filter(move |count| *count <= largest)
}

fn read(criterion: &mut Criterion) {
    let mut registry = tf_value::DialectBuilder::default();
    tf_dim::register(&mut registry);
    tf_hir::register(&mut registry);
    let registry = registry.freeze().expect("the dialects register once").0;
    let mut group = criterion.benchmark_group("read");
    for count in counts() {
        let text = program(count);
        group.throughput(Throughput::Elements(count as u64)).sample_size(10);
        group.bench_function(BenchmarkId::from_parameter(count), |bencher| {
            bencher.iter_custom(|rounds| {
                let mut spent = Duration::ZERO;
                for _ in 0..rounds {
                    let arena = Arena::new();
                    let cx = Context::new(&arena, registry.clone());
                    let file = cx.sources().add("bench.py", &text);
                    let start = cpu_time();
                    black_box(parse_file(&cx, file, &DslOptions::default()).expect("the program is right"));
                    spent += cpu_time() - start;
                }
                spent
            });
        });
    }
    group.finish();
}

fn print(criterion: &mut Criterion) {
    let mut registry = tf_value::DialectBuilder::default();
    tf_dim::register(&mut registry);
    tf_hir::register(&mut registry);
    let registry = registry.freeze().expect("the dialects register once").0;
    let mut group = criterion.benchmark_group("print");
    for count in counts() {
        let arena = Arena::new();
        let cx = Context::new(&arena, registry.clone());
        let file = cx.sources().add("bench.py", program(count));
        let module = parse_file(&cx, file, &DslOptions::default()).expect("the program is right");
        group.throughput(Throughput::Elements(count as u64)).sample_size(10);
        group.bench_function(BenchmarkId::from_parameter(count), |bencher| {
            bencher.iter_custom(|rounds| {
                let start = cpu_time();
                for _ in 0..rounds {
                    black_box(print_module(&cx, module, &PrintOptions::default()).expect("it is printed"));
                }
                cpu_time() - start
            });
        });
    }
    group.finish();
}

criterion_group!(benches, read, print);
criterion_main!(benches);
