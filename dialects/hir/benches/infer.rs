//! Type inference, op by op: of calls that the context remembers, and of calls whose rule runs.
//!
//! `cargo bench -p tf-hir`. `again` applies few ops to few types, as programs do; `anew` goes round more types than are remembered.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use tf_core::op::{OpInstance, OpView};
use tf_core::{Arena, Context, Expr, Meta};
use tf_hir::{Binary, MatMul, Reduce, Transpose, Unary};
use tf_types::kinds::{BinaryKind, ReduceKind, UnaryKind};
use tf_types::mesh::MeshLayout;
use tf_types::{DType, Mesh, ShardAttr, Storage, TensorLayout, Topology};
use tf_value::DialectBuilder;

/// More shapes than a context remembers types.
const SHAPES: i64 = 2048;

fn mesh<'c>(cx: &Context<'c>) -> Mesh<'c> {
    let shape = cx.const_dims(&[4, 8]);
    let thread = Topology { name: cx.symbol("thread"), size: Some(cx.dim(32)) };
    cx.mesh(&[thread], MeshLayout::Plain(cx.c_order_layout(shape)), &[cx.symbol("w"), cx.symbol("l")])
}

/// A square matrix, split over both mesh axes if it is placed.
fn matrix<'c>(cx: &Context<'c>, number: i64, placed: bool) -> Expr<'c> {
    let extent = 32 * (1 + number);
    let shape = cx.const_dims(&[extent, extent]);
    let ty = if placed {
        let splits = [ShardAttr::Split(0), ShardAttr::Split(1)];
        let shard = cx.canonical_shard_layout(shape, mesh(cx), &splits).expect("32 divides the extents");
        cx.tensor(shape, DType::F32, Some(TensorLayout::Shard(shard)), Storage::Rmem)
    } else {
        cx.tensor(shape, DType::F32, None, Storage::Gmem)
    };
    cx.var(cx.symbol("x"), ty, Meta::default())
}

type Family = for<'c> fn(&Context<'c>, Expr<'c>) -> (OpInstance<'c>, Vec<Expr<'c>>);

const FAMILIES: [(&str, Family); 5] = [
    ("unary", |cx, x| (Unary::new(cx, UnaryKind::Exp), vec![x])),
    ("binary", |cx, x| (Binary::new(cx, BinaryKind::Add), vec![x, x])),
    ("reduce", |cx, x| (Reduce::new(cx, &[1], true, ReduceKind::Sum), vec![x])),
    ("transpose", |cx, x| (Transpose::new(cx, &[1, 0]), vec![x])),
    ("matmul", |cx, x| (MatMul::new(cx), vec![x, x])),
];

fn infer(c: &mut Criterion) {
    let mut builder = DialectBuilder::default();
    tf_hir::register(&mut builder);
    let (ops, _) = builder.freeze().expect("the dialect is complete");
    let arena = Arena::new();
    let cx = &Context::new(&arena, ops);
    for (placed, title) in [(false, "plain"), (true, "sharded")] {
        for (shapes, memory) in [(4, "again"), (SHAPES, "anew")] {
            let mut group = c.benchmark_group(format!("{title}/{memory}"));
            for (name, family) in FAMILIES {
                // A product contracts an axis that both sides split alike: only unplaced ones are measured.
                if placed && name == "matmul" {
                    continue;
                }
                let call = |number| {
                    let (op, args) = family(cx, matrix(cx, number, placed));
                    OpView { op, args: cx.alloc_slice(&args) }
                };
                let calls: Vec<_> = (0..shapes).map(call).collect();
                group.throughput(Throughput::Elements(SHAPES as u64));
                group.bench_function(BenchmarkId::from_parameter(name), |bencher| {
                    bencher.iter(|| {
                        for at in 0..SHAPES {
                            let view = calls[(at % shapes) as usize];
                            black_box(cx.infer(view, None).expect("the call has a type"));
                        }
                    });
                });
            }
            group.finish();
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20).warm_up_time(std::time::Duration::from_millis(300))
        .measurement_time(std::time::Duration::from_secs(1));
    targets = infer
}
criterion_main!(benches);
