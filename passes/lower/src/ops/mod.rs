//! Lowering rules, one file a family of ops.

mod ctas;
mod elementwise;
mod matmul;
mod reduce;
mod reshard;
mod slice;

use tf_hir::{Binary, Cast, MatMul, Reduce, Reshard, Slice, Unary};

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
}
