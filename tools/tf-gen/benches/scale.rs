//! Work per op on chains, trees and shared graphs of 1 k, 100 k and 1 M ops, in time of the processor.
//!
//! `cargo bench -p tf-gen`; `-- parse` measures one kind of work, `SCALE_LARGEST=100000` leaves the million out.

use std::hint::black_box;
use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use tf_core::hash::structural_hash;
use tf_core::op::OpRegistry;
use tf_core::visit::{Cloning, ExprCloner, clone_expr, collect_exprs};
use tf_core::{AnyFunction, Arena, Context, Expr, Function, Meta, Module};
use tf_framework::Verifier;
use tf_gen::Shape;
use tf_text::{PrintOptions, parse_module, print_module};
use tf_transforms::Rules;

/// What this thread has computed, without what others on the machine took from it.
fn cpu_time() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    now.try_into().expect("the time of a thread is not negative")
}

type Registry = std::sync::Arc<OpRegistry>;

fn body(module: Module<'_>) -> Function<'_> {
    match module.functions {
        [AnyFunction::Hir(function)] => *function,
        _ => unreachable!("the generated module has one HIR function"),
    }
}

fn value(module: Module<'_>) -> Expr<'_> {
    body(module).body.expect("the generated function has a body")
}

/// Puts a new variable in the place of `%x`, so that everything that needs it is made anew.
struct OtherX;
impl<'c> ExprCloner<'c> for OtherX {
    fn clone_var(&mut self, var: Expr<'c>, clone: &mut Cloning<'_, 'c>) -> tf_core::Result<Expr<'c>> {
        let is_x = var.var_name().is_some_and(|name| name.as_str() == "x");
        Ok(if is_x { clone.cx.expr(var.kind, var.ty(), Meta::default()) } else { var })
    }
}

struct Case {
    shape: Shape,
    count: usize,
    registry: Registry,
}

impl Case {
    /// Measures `work` on a generated module, each time in a fresh arena whose making does not count.
    fn measure<T>(
        &self,
        group: &mut BenchmarkGroup<'_, WallTime>,
        work: impl for<'c> Fn(&Context<'c>, Module<'c>) -> T,
    ) {
        group.throughput(Throughput::Elements(self.count as u64));
        group.bench_function(BenchmarkId::new(self.shape.name(), self.count), |bencher| {
            bencher.iter_custom(|rounds| {
                let mut total = Duration::ZERO;
                for _ in 0..rounds {
                    let arena = Arena::new();
                    let cx = Context::new(&arena, self.registry.clone());
                    let module = tf_gen::module(&cx, self.shape, self.count);
                    let start = cpu_time();
                    black_box(work(&cx, module));
                    total += cpu_time() - start;
                }
                total
            });
        });
    }
}

fn scale(c: &mut Criterion) {
    let registry = tf_gen::registry().expect("the dialect registers");
    let largest = std::env::var("SCALE_LARGEST").ok().and_then(|n| n.parse().ok()).unwrap_or(1_000_000);
    let sizes = [1_000, 100_000, 1_000_000].into_iter().filter(|&n| n <= largest);
    let cases: Vec<Case> = Shape::ALL
        .into_iter()
        .flat_map(|shape| sizes.clone().map(move |count| (shape, count)))
        .map(|(shape, count)| Case { shape, count, registry: registry.clone() })
        .collect();
    let mut each = |name: &str, f: &dyn Fn(&mut BenchmarkGroup<'_, WallTime>, &Case)| {
        let mut group = c.benchmark_group(name);
        group.sample_size(10).warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_secs(1));
        cases.iter().for_each(|case| f(&mut group, case));
        group.finish();
    };
    each("build", &|group, case| {
        group.throughput(Throughput::Elements(case.count as u64));
        group.bench_function(BenchmarkId::new(case.shape.name(), case.count), |bencher| {
            bencher.iter_custom(|rounds| {
                let mut total = Duration::ZERO;
                for _ in 0..rounds {
                    let arena = Arena::new();
                    let cx = Context::new(&arena, case.registry.clone());
                    let start = cpu_time();
                    black_box(tf_gen::module(&cx, case.shape, case.count).functions.len());
                    total += cpu_time() - start;
                }
                total
            });
        });
    });
    each("parse", &|group, case| {
        let arena = Arena::new();
        let cx = Context::new(&arena, case.registry.clone());
        let text = print_module(tf_gen::module(&cx, case.shape, case.count), &PrintOptions::default());
        group.throughput(Throughput::Elements(case.count as u64));
        group.bench_function(BenchmarkId::new(case.shape.name(), case.count), |bencher| {
            bencher.iter_custom(|rounds| {
                let mut total = Duration::ZERO;
                for _ in 0..rounds {
                    let arena = Arena::new();
                    let cx = Context::new(&arena, case.registry.clone());
                    let file = cx.sources().add("scale.tfir", text.as_str());
                    let start = cpu_time();
                    let module = parse_module(&cx, file).expect("the text parses");
                    total += cpu_time() - start;
                    black_box(module.functions.len());
                }
                total
            });
        });
    });
    each("print", &|group, case| case.measure(group, |_, module| print_module(module, &PrintOptions::default())));
    each("type_verify", &|group, case| {
        case.measure(group, |cx, module| {
            let function = AnyFunction::Hir(body(module));
            assert!(Rules.function(function, module, cx) == Ok(function));
        });
    });
    each("collect", &|group, case| case.measure(group, |_, module| collect_exprs(value(module)).len()));
    each("clone_one_change", &|group, case| {
        case.measure(group, |cx, module| {
            let new = clone_expr(cx, value(module), &mut OtherX).expect("a variable of the same type");
            assert!(new != value(module));
        });
    });
    each("hash", &|group, case| case.measure(group, |_, module| structural_hash(module)));
}

criterion_group!(benches, scale);
criterion_main!(benches);
