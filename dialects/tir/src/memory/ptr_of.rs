//! `T.ptr_of`

use tf_core::op::{OpCall, RuleError, TypeRule};
use tf_core::{Context, op};
use tf_types::Type;
use tf_value::rule::DialectBuilder;
use tf_value::tir::{Meaning, TirEvalRule, Window};

use crate::rules::in_memory;

/// Where `x` starts in memory; there is no type of pointers, so its type is that of `x`.
///
/// ```python
/// def f(x: Tensor[(4, 6), "f32"], out: Tensor[(4, 6), "f32"]):
///     start = T.ptr_of(x)
///     T.copy(start, out)
/// ```
#[op(dialect = "T", category = "memory")]
pub struct PtrOf {
    /// A buffer or a view.
    #[input(Tensor)]
    x: (),
}

impl TypeRule for PtrOf {
    fn infer<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Result<Type<'c>, RuleError> {
        in_memory("T.ptr_of", (0, call.x())).map(|()| call.x().ty())
    }
}

impl TirEvalRule for PtrOf {
    fn meaning<'c>(_: OpCall<'c, Self>) -> Result<Meaning, RuleError> {
        Ok(Meaning::View(Window::default()))
    }
}

pub(crate) fn register(r: &mut DialectBuilder) {
    r.op::<PtrOf>().types().means().done();
}

#[cfg(test)]
mod tests {
    use tf_core::{Arena, Meta};
    use tf_types::{DType, Storage};

    use super::PtrOf;
    use crate::test_util::{context, tensor};

    #[test]
    fn of_memory() {
        let arena = Arena::new();
        let cx = &context(&arena);
        let of = |storage| {
            let x = tensor(cx, &[4], DType::F32, storage);
            cx.call(PtrOf::new(cx), &[x], Meta::default()).map(|expr| expr.ty() == x.ty())
        };
        assert_eq!((of(Storage::Smem), of(Storage::Gmem)), (Ok(true), Ok(true)));
        assert_eq!(of(Storage::Rmem).unwrap_err().message, "`T.ptr_of` takes a tensor in memory, found one in rmem");
    }
}
