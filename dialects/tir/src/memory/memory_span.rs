//! `T.memory_span`

use tf_core::op::{OpCall, RuleError, TypeRule};
use tf_core::{Context, op};
use tf_types::Type;
use tf_value::rule::DialectBuilder;
use tf_value::tir::{Meaning, TirEvalRule, Window};

use crate::rules::in_memory;

/// The memory of `x`, as an operand of instructions that take a span of bytes; its type is that of `x`.
///
/// ```python
/// def f(x: Tensor[(4, 6), "f32"], out: Tensor[(4, 6), "f32"]):
///     span = T.memory_span(x)
///     T.copy(span, out)
/// ```
#[op(dialect = "T", category = "memory")]
pub struct MemorySpan {
    /// A buffer or a view.
    #[input(Tensor)]
    x: (),
}

impl TypeRule for MemorySpan {
    fn infer<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Result<Type<'c>, RuleError> {
        in_memory("T.memory_span", (0, call.x())).map(|()| call.x().ty())
    }
}

impl TirEvalRule for MemorySpan {
    fn meaning<'c>(_: OpCall<'c, Self>) -> Result<Meaning, RuleError> {
        Ok(Meaning::View(Window::default()))
    }
}

pub(crate) fn register(r: &mut DialectBuilder) {
    r.op::<MemorySpan>().types().means().done();
}

#[cfg(test)]
mod tests {
    use tf_core::{Arena, Meta};
    use tf_types::{DType, Storage};

    use super::MemorySpan;
    use crate::test_util::{context, tensor};

    #[test]
    fn of_memory() {
        let arena = Arena::new();
        let cx = &context(&arena);
        let of = |storage| {
            let x = tensor(cx, &[4], DType::F32, storage);
            cx.call(MemorySpan::new(cx), &[x], Meta::default()).map(|expr| expr.ty() == x.ty())
        };
        assert_eq!((of(Storage::Smem), of(Storage::Gmem)), (Ok(true), Ok(true)));
        assert_eq!(
            of(Storage::Rmem).unwrap_err().message,
            "`T.memory_span` takes a tensor in memory, found one in rmem"
        );
    }
}
