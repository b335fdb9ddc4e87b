//! Casts and fills.

use tf_hir::{Cast, FullLike};
use tf_rewrite::rewrite;
use tf_types::DType;

use super::{catalogue, dtype};

/// Whether every value of `from` is one of `to`.
fn is_lossless(from: DType, to: DType) -> bool {
    use DType::{BF16, Bool, F16, F32, Fp8E4M3, I32, I64};
    from == to
        || matches!(
            (from, to),
            (Bool, I32 | I64 | F32 | F16 | BF16) | (I32, I64) | (F16 | BF16, F32) | (Fp8E4M3, F16 | BF16 | F32)
        )
}

rewrite! {
    /// A cast to the dtype that the value has is the value.
    pub CastToSame = "cast-to-same":
    Cast { dtype: to }(x) if dtype(x) == Some(to) => |_| x;

    /// A cast that loses nothing is left out before another one.
    pub CastOfLossless = "cast-of-lossless":
    Cast { dtype: to }(Cast { dtype: between }(x)) if dtype(x).is_some_and(|from| is_lossless(from, between))
        => |rw| rw.call(Cast::new(rw.cx, to), &[x]);

    /// A fill takes nothing but the type of what was filled before.
    pub FillOfFill = "fill-of-fill":
    FullLike { value: value }(FullLike {}(x)) => |rw| rw.call(FullLike::new(rw.cx, value), &[x]);
}

catalogue!(CastToSame, CastOfLossless, FillOfFill);
