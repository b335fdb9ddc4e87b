//! Ops that lowering takes apart, on values spread over threads: their PTX assembles without spills.
use crate::{common::assemble, programs::ptx_of};

/// `f` in scopes of 64 threads as 2 warps `w` of 32 lanes `l`; `x` is held as the layout says.
fn program(dtype: &str, [rows, columns]: [usize; 2], layout: &str, call: &str) -> String {
    format!(
        r#"from tilefoundry import func, module
from tilefoundry.dsl import ConstTensor, Mesh, Tensor, Topology, tf
from tilefoundry.target import CudaTarget


@module(entry="f", target=CudaTarget("nvidia.h200_sxm"), topologies=(Topology("cta", 1), Topology("thread", 64)))
class M:
    @func
    def f(x: Tensor[({rows}, {columns}), "{dtype}"], w: Tensor[({columns},), "{dtype}"]) -> Tensor[({rows}, {columns}), "{dtype}"]:
        with Mesh(("thread",), (2, 32), ("w", "l")) as m:
            held = tf.reshard(x, layout={layout}, storage="rmem")
            y = {call}
            return tf.reshard(y, layout={layout}, storage="gmem")
"#
    )
}

fn assembles(shape: [usize; 2], layout: &str, call: &str) {
    for dtype in ["f32", "bf16"] {
        let source = program(dtype, shape, layout, call);
        for arch in ["sm_80", "sm_90"] {
            let ptx = ptx_of(&source, &format!("lower-tir,emit-ptx{{arch={arch}}}"));
            assemble(&ptx.unwrap_or_else(|message| panic!("{call} in {dtype}: {message}")), arch);
        }
    }
}

#[test]
fn activations() {
    for call in [
        "tf.relu(held)",
        "tf.sigmoid(held)",
        "tf.tanh(held)",
        "tf.silu(held)",
        "tf.gelu(held)",
        "tf.gelu(held, approximate=\"none\")",
        "tf.softplus(held)",
        "tf.clamp(held, -1.0, 2.0)",
    ] {
        assembles([8, 128], "(8 @ m.w, 128 @ m.l)", call);
    }
}

/// Along an axis that every thread holds, one spread over lanes, and one spread over warps and lanes.
#[test]
fn softmax() {
    for layout in ["(8 @ m.w, 128 @ m.l)", "(8, 128 @ (m.w, m.l))"] {
        assembles([8, 128], layout, "tf.softmax(held, axis=1)");
        assembles([8, 128], layout, "tf.softmax(held, axis=0)");
    }
}

#[test]
fn rms_norm() {
    for layout in ["(8 @ m.w, 128 @ m.l)", "(8, 128 @ (m.w, m.l))"] {
        assembles([8, 128], layout, "tf.rms_norm(held, w)");
    }
}

#[test]
fn layer_norm() {
    // A thread holds whole rows.
    assembles([64, 32], "(64 @ (m.w, m.l), 32)", "tf.layer_norm(held, w, w, axis=1, eps=1e-5)");
}
