//! A rewrite pattern, which `canonicalize` applies with those that are built in.

use tf_hir::Unary;
use tf_rewrite::rewrite;
use tf_types::kinds::UnaryKind;

use crate::Softsign;

rewrite! {
    /// `softsign(-x)` is `-softsign(x)`, but for the sign of a nan.
    @fast_math
    pub SoftsignOfNegation = "softsign-of-negation":
    Softsign { scale: scale }(Unary { kind: UnaryKind::Neg }(x))
        => |rw| rw.call(Unary::new(rw.cx, UnaryKind::Neg), &[rw.call(Softsign::new(rw.cx, scale), &[x])?]);
}
