//! Ops with a rule of their own for positions, on placements that the random programs do not make.

use tf_core::Arena;
use tf_core::diag::Style;
use tf_dsl::{DslOptions, parse_file};
use tf_evaluate::Positions;
use tf_types::DType;
use tf_value::{Tensor, Tolerance};

use super::{both, inputs, positions};
use crate::common::context;

/// What differs between the assembled and the plain values of a function body on two meshes, (2, 4) threads `m` and two CTAs `g`.
fn difference(params: &str, body: &str) -> Option<String> {
    let body: String = body.lines().map(|line| format!("                {}\n", line.trim())).collect();
    let source = format!(
        r#"
from tilefoundry import func, module
from tilefoundry.dsl import Mesh, P, Tensor, Topology, tf
from tilefoundry.target import CudaTarget


@module(entry="f", target=CudaTarget("nvidia.h200_sxm"), topologies=(Topology("cta", 2), Topology("thread", 8)))
class M:
    @func
    def f({params}):
        with Mesh(("cta",), (2,), ("b",)) as g:
            with Mesh(("thread",), (2, 4), ("w", "l")) as m:
{body}"#
    );
    let arena = Arena::new();
    let (cx, rules) = &context(&arena);
    let file = cx.sources().add("t.py", source);
    let show = |error: &tf_core::Diagnostic| error.render(cx.sources(), Style::Plain);
    let module = match parse_file(cx, file, &DslOptions::default()) {
        Ok(module) => module,
        Err(errors) => return Some(errors.iter().map(show).collect()),
    };
    let Some(tf_core::AnyFunction::Hir(function)) = module.entry_function() else { return Some("no entry".to_owned()) };
    let inputs = inputs(function, 7);
    let (plain, positions) = both(cx, rules, module, &inputs, Positions::Assembled);
    let (plain, found) = match (plain, positions) {
        (Ok(plain), Ok(found)) => (plain, found.outputs),
        (Err(error), _) | (_, Err(error)) => return Some(show(&error)),
    };
    assert_eq!(plain.len(), found.len());
    let compared = plain.iter().zip(&found).map(|(want, got)| Tolerance::new(1e-5, 1e-5).compare(got, want));
    compared.filter(|result| !result.pass()).map(|result| result.to_string()).next()
}

#[track_caller]
fn holds(params: &str, body: &str) {
    assert_eq!(difference(params, body), None, "{body}");
}

const IMAGE: &str = r#"x: Tensor[(4, 8, 6, 6), "f32"], k: Tensor[(8, 8, 3, 3), "f32"], b: Tensor[(8,), "f32"]"#;

#[test]
fn convolutions_of_split_channels() {
    holds(
        IMAGE,
        r#"image = tf.reshard(x, layout=(4 @ m.w, 8, 6, 6), storage="rmem")
        kernel = tf.reshard(k, layout=(8 @ m.l, 8, 3, 3), storage="rmem")
        bias = tf.reshard(b, layout=(8 @ m.l,), storage="rmem")
        return tf.conv2d(image, kernel, bias, stride=(2, 1), padding=(1, 1), dilation=(1, 1), groups=1)"#,
    );
    // Summed channels leave terms, of which one position has the bias.
    holds(
        IMAGE,
        r#"image = tf.reshard(x, layout=(4, 8 @ m.l, 6, 6), storage="rmem")
        kernel = tf.reshard(k, layout=(8, 8 @ m.l, 3, 3), storage="rmem")
        bias = tf.reshard(b, layout=((8,), {m.l @ P("sum")}), storage="rmem")
        return tf.conv2d(image, kernel, bias, stride=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1)"#,
    );
}

#[test]
fn convolutions_in_groups() {
    let params = r#"x: Tensor[(1, 8, 6, 6), "f32"], k: Tensor[(8, 2, 3, 3), "f32"], b: Tensor[(8,), "f32"]"#;
    for (image, kernel) in [("8", "8 @ m.w"), ("8 @ m.w", "8 @ m.w"), ("8 @ m.l", "8 @ m.l"), ("8", "8 @ (m.w, m.l)")] {
        let bias = kernel;
        holds(
            params,
            &format!(
                r#"image = tf.reshard(x, layout=(1, {image}, 6, 6), storage="rmem")
                kernel = tf.reshard(k, layout=({kernel}, 2, 3, 3), storage="rmem")
                bias = tf.reshard(b, layout=({bias},), storage="rmem")
                return tf.conv2d(image, kernel, bias, stride=(1, 1), padding=(1, 1), dilation=(1, 1), groups=4)"#
            ),
        );
    }
}

#[test]
fn rotations_caches_and_norms() {
    holds(
        r#"q: Tensor[(1, 8, 4, 8), "f32"], k: Tensor[(1, 8, 2, 8), "f32"], c: Tensor[(16, 8), "f32"], s: Tensor[(16, 8), "f32"], p: Tensor[(8,), "i64"]"#,
        r#"left = tf.reshard(q, layout=(1, 8 @ m.l, 4 @ m.w, 8), storage="rmem")
        right = tf.reshard(k, layout=(1, 8, 2 @ m.w, 8), storage="rmem")
        return tf.rope(left, right, c, s, p)"#,
    );
    holds(
        r#"c: Tensor[(1, 8, 4, 8), "f32"], at: Tensor[(), "i32"], n: Tensor[(1, 3, 4, 8), "f32"]"#,
        r#"cache = tf.reshard(c, layout=(1, 8, 4 @ m.l, 8 @ m.w), storage="rmem")
        alike = tf.reshard(n, layout=(1, 3, 4 @ m.l, 8 @ m.w), storage="rmem")
        two = tf.full_like(at, value=2.0)
        return tf.cache_update(cache, at, two, n), tf.cache_update(cache, at, two, alike)"#,
    );
    holds(
        r#"x: Tensor[(8, 16), "f32"], gain: Tensor[(16,), "f32"]"#,
        r#"rows = tf.reshard(x, layout=(8 @ m.l, 16), storage="rmem")
        parts = tf.reshard(x, layout=(8 @ m.w, 16 @ m.l), storage="rmem")
        return tf.layer_norm(rows, gain, gain, axis=1, eps=1e-5), tf.rms_norm(parts, gain), tf.softmax(parts, axis=1)"#,
    );
    holds(
        r#"x: Tensor[(8, 64), "f32"]"#,
        r#"parts = tf.reshard(x, layout=(8 @ (g.b, m.w), 64 @ m.l), storage="rmem")
        return tf.quant(parts, group=16), tf.topk(tf.reshard(x, layout=(8 @ (g.b, m.w), 64), storage="rmem"), k=3)"#,
    );
}

#[test]
fn slices_of_meshes_and_rows_of_all() {
    // Half of the threads hold the value; the destination in gmem takes the parts of all of them.
    holds(
        r#"x: Tensor[(8, 16), "f32"], y: Tensor[(8, 4), "f32"]"#,
        r#"held = tf.reshard(y, layout=(8 @ m.w, 4 @ m.l), storage="rmem")
        into = tf.reshard(x, layout=(8 @ (m.l, m.w), 16), storage="rmem")
        rows = tf.reshard(y, layout=(8, 4), storage="rmem")
        return tf.insert_slice(x, held, (0, 3)), tf.insert_slice(into, rows, (0, 12))"#,
    );
    holds(
        r#"x: Tensor[(8, 16), "f32"]"#,
        r#"half = m[1:2, :]
        held = tf.reshard(x, layout=(8 @ half.l, 16), storage="rmem")
        return tf.reshard(held + held, layout=(8, 16 @ half.l)), tf.reduce(held, axes=(0,), kind="max")"#,
    );
}

/// Each thread holds the elements of its fragments, as the instruction set manual numbers them.
#[test]
fn tiles_of_matrix_instructions() {
    let source = r#"
from tilefoundry import func, module
from tilefoundry.dsl import Tensor, Topology, tf
from tilefoundry.ir.types.shard import Layout, Mesh, S, ShardLayout
from tilefoundry.target import CudaTarget

Q = Mesh((Topology("thread", 32),), Layout((4, 8), (1, 4)), names=("t", "g"))
A = ShardLayout(layout=Layout((2, 4, 2, 8, 2), (1, 2, 8, 16, 128)), attrs=(S(1), S(3)), mesh=Q)
B = ShardLayout(layout=Layout((8, 2, 4, 2), (1, 8, 16, 64)), attrs=(S(2), S(0)), mesh=Q)


@module(entry="f", target=CudaTarget("nvidia.h200_sxm"), topologies=(Topology("thread", 32),))
class M:
    @func
    def f(a: Tensor[(16, 16), "bf16"], b: Tensor[(16, 8), "bf16"]):
        left = tf.reshard(a, layout=A, storage="rmem")
        right = tf.reshard(b, layout=B, storage="rmem")
        return tf.mma_sm80_16x8x16(left, right, dtype_a="bf16", dtype_b="bf16", dtype_acc="f32"), left, right
"#;
    let ones = Tensor::full(&[16, 8], 0.5f32).unwrap().cast(DType::BF16).unwrap();
    let numbers = Tensor::arange(256, 0, 1, DType::I32).unwrap().reshape(&[16, 16]).unwrap().cast(DType::BF16).unwrap();
    let whole = positions(source, &[numbers.clone(), ones.clone()], Positions::Assembled).unwrap().outputs;
    assert_eq!(whole[1].to_f32_vec(), numbers.to_f32_vec());
    let product = whole[0].to_f32_vec();
    assert_eq!(product[8], (16..32).sum::<i32>() as f32 / 2.0);
    let found = positions(source, &[numbers, ones], Positions::All).unwrap().outputs;
    assert_eq!((found[0].shape(), found[1].shape()), (&[8, 4, 2, 2][..], &[8, 4, 2, 4][..]));
    let (held, left) = (found[0].to_f32_vec(), found[1].to_f32_vec());
    for thread in 0..32 {
        let (t, g) = (thread % 4, thread / 4);
        for (row, column) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let element = (g + 8 * row) * 8 + 2 * t + column;
            assert_eq!(held[thread * 4 + row * 2 + column], product[element], "thread {thread}");
        }
        let columns = [2 * t, 2 * t + 1, 2 * t + 8, 2 * t + 9];
        let first: Vec<f32> = columns.map(|column| (g * 16 + column) as f32).to_vec();
        assert_eq!(left[thread * 8..][..4], first, "thread {thread}");
    }
}
