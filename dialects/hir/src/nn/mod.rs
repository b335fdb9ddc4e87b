//! Contractions, activations, normalisations.

mod conv2d;
mod gelu;
mod layer_norm;
mod matmul;
mod relu;
mod rms_norm;
mod rope;
mod sigmoid;
mod silu;
mod softmax;
mod tanh;

pub use conv2d::Conv2d;
pub use gelu::{Approximation, Gelu};
pub use layer_norm::LayerNorm;
pub use matmul::MatMul;
pub use relu::Relu;
pub use rms_norm::RmsNorm;
pub use rope::Rope;
pub use sigmoid::Sigmoid;
pub use silu::Silu;
pub use softmax::Softmax;
pub use tanh::Tanh;
use tf_value::DialectBuilder;

pub(crate) fn register(r: &mut DialectBuilder) {
    conv2d::register(r);
    gelu::register(r);
    layer_norm::register(r);
    matmul::register(r);
    relu::register(r);
    rms_norm::register(r);
    rope::register(r);
    sigmoid::register(r);
    silu::register(r);
    softmax::register(r);
    tanh::register(r);
}
