//! Time per op of the evaluator on tensors of one element: what it costs besides arithmetic. `cargo bench -p tf-evaluate`.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use tf_core::node::{FunctionData, ModuleData};
use tf_core::{AnyFunction, Arena, Context, Meta};
use tf_evaluate::{Engine, Reference, Request, bind_dims};
use tf_hir::Binary;
use tf_types::kinds::BinaryKind;
use tf_types::{DType, Storage};
use tf_value::{DialectBuilder, Tensor};

fn chains(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("chain");
    group.sample_size(10);
    for length in [1_000usize, 100_000, 1_000_000] {
        let arena = Arena::new();
        let mut builder = DialectBuilder::default();
        tf_hir::register(&mut builder);
        let Ok((ops, rules)) = builder.freeze() else { return };
        let cx = &Context::new(&arena, ops);
        let x = cx.var(cx.symbol("x"), cx.tensor(&[cx.dim(1)], DType::F32, None, Storage::Gmem), Meta::default());
        let mut body = x;
        for _ in 0..length {
            let Ok(sum) = cx.call(Binary::new(cx, BinaryKind::Add), &[body, x], Meta::default()) else { return };
            body = sum;
        }
        let function = cx.function(FunctionData::new(cx.symbol("f"), cx.alloc_slice(&[x]), body, body.ty()));
        let entry = AnyFunction::Hir(function);
        let module = cx.module(ModuleData { functions: cx.alloc_slice(&[entry]), ..ModuleData::new(cx.symbol("m")) });
        let engine = Reference::new(Arc::clone(&rules));
        let inputs = [Tensor::scalar(1.0f32).reshape(&[1]).unwrap_or_else(|_| Tensor::scalar(1.0f32))];
        let Ok(dims) = bind_dims(function.params, &inputs, None) else { return };
        group.throughput(Throughput::Elements(length as u64));
        group.bench_with_input(BenchmarkId::from_parameter(length), &length, |bencher, _| {
            bencher.iter(|| {
                let request = Request { cx, module, entry, inputs: &inputs, outputs: &[], dims: &dims, argument: None };
                black_box(engine.run(&request))
            });
        });
    }
    group.finish();
}

criterion_group!(benches, chains);
criterion_main!(benches);
