//! Lowering rules, one file a family of ops.

mod activation;
mod ctas;
mod decompose;
mod elementwise;
mod matmul;
mod norm;
mod reduce;
mod reshard;
mod slice;

use tf_hir::{
    Binary, Cast, Clamp, Gelu, LayerNorm, MatMul, Reduce, Relu, Reshard, RmsNorm, Sigmoid, Silu, Slice, Softmax,
    Softplus, Tanh, Unary,
};

use crate::table::LowerRules;

pub(crate) use reshard::store;

pub(crate) fn register(rules: &mut LowerRules) {
    rules.add::<Binary>(elementwise::binary);
    rules.add::<Unary>(elementwise::unary);
    rules.add::<Cast>(elementwise::cast);
    rules.add::<Reduce>(reduce::lower);
    rules.add::<MatMul>(matmul::lower);
    rules.add::<Slice>(slice::lower);
    rules.add::<Reshard>(reshard::lower);
    rules.add::<Relu>(activation::relu);
    rules.add::<Sigmoid>(activation::sigmoid);
    rules.add::<Tanh>(activation::tanh);
    rules.add::<Silu>(activation::silu);
    rules.add::<Gelu>(activation::gelu);
    rules.add::<Softplus>(activation::softplus);
    rules.add::<Clamp>(activation::clamp);
    rules.add::<Softmax>(norm::softmax);
    rules.add::<RmsNorm>(norm::rms_norm);
    rules.add::<LayerNorm>(norm::layer_norm);
}
