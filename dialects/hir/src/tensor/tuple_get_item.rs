//! `tuple_get_item`.

use tf_core::op::{AccessRule, OpCall, RuleError, TypeRule};
use tf_core::{Context, op};
use tf_types::access::AccessRelation;
use tf_types::{TensorType, Type, TypeKind};
use tf_value::{DialectBuilder, EvalCx, EvalRule, Value, ValueError};

const WHAT: &str = "`tf.tuple_get_item`";

/// Field `index` of a tuple; `t[index]` writes the same.
///
/// ```python
/// def f(x: Tensor[(4, 6), "f32"]):
///     best = tf.topk(x, k=2)
///     return tf.tuple_get_item(best, index=1)
/// ```
#[op(dialect = "tf", category = "tensor")]
pub struct TupleGetItem {
    /// The tuple.
    #[input(Any)]
    value: (),
    /// The field, counted from 0.
    index: i64,
}

impl TypeRule for TupleGetItem {
    fn infer<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Result<Type<'c>, RuleError> {
        let (ty, index) = (call.value().ty(), call.index());
        let TypeKind::Tuple(fields) = *ty.data() else {
            return Err(RuleError::new(format!("{WHAT} takes a tuple, found {ty}"))
                .operand(0, format!("{}: {ty}", call.value().describe()))
                .with_help("an element of a tensor is `x[0, :]`, an index for every axis"));
        };
        let field = usize::try_from(index).ok().and_then(|at| fields.get(at));
        field.copied().ok_or_else(|| {
            RuleError::new(format!("{WHAT} has no field {index}: the tuple has {}", fields.len()))
                .operand(0, format!("{ty}"))
                .attr("index")
                .with_help("fields are counted from 0")
        })
    }
}

impl AccessRule for TupleGetItem {
    /// One relation for each tensor of the field.
    fn access<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Vec<AccessRelation<'c>> {
        let TypeKind::Tuple(fields) = *call.value().ty().data() else { return Vec::new() };
        let Some((before, field)) =
            usize::try_from(call.index()).ok().and_then(|at| Some((fields.get(..at)?, fields.get(at)?)))
        else {
            return Vec::new();
        };
        let skipped: usize = before.iter().map(|ty| ty.leaves().len()).sum();
        let leaf = |(at, tensor): (usize, &&'c TensorType<'c>)| {
            AccessRelation::elementwise(tensor.shape, 1).of_field(skipped + at).to_field(at)
        };
        field.leaves().iter().enumerate().map(leaf).collect()
    }
}

impl EvalRule for TupleGetItem {
    fn eval<'c>(call: OpCall<'c, Self>, operands: &mut [Value], _: &EvalCx<'_, 'c>) -> Result<Value, ValueError> {
        let fields = operands.first().and_then(Value::as_tuple);
        let field = fields.zip(usize::try_from(call.index()).ok()).and_then(|(fields, at)| fields.get(at));
        field.cloned().ok_or_else(|| {
            let found = fields.map_or("no tuple".to_owned(), |fields| format!("a tuple of {}", fields.len()));
            ValueError::new(format!("{WHAT} takes field {} of {found}", call.index()))
        })
    }
}

pub(super) fn register(r: &mut DialectBuilder) {
    r.op::<TupleGetItem>().types().access().evaluates().done();
}

#[cfg(test)]
mod tests {
    use tf_core::Meta;
    use tf_types::{Arena, DType};

    use super::TupleGetItem;
    use crate::test_util::{context, plain, var};

    #[test]
    fn fields() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let (a, b) = (plain(cx, "a", "4", DType::F32), plain(cx, "b", "S", DType::I64));
        let pair = var(cx, "t", cx.tuple(&[a.ty(), b.ty()]));
        let of = |t, index| cx.call(TupleGetItem::new(cx, index), &[t], Meta::default()).map(|e| e.ty());
        assert_eq!((of(pair, 0).unwrap(), of(pair, 1).unwrap()), (a.ty(), b.ty()));
        assert_eq!(of(pair, 3).unwrap_err().message, "`tf.tuple_get_item` has no field 3: the tuple has 2");
        assert_eq!(of(pair, -1).unwrap_err().message, "`tf.tuple_get_item` has no field -1: the tuple has 2");
        let error = of(a, 0).unwrap_err();
        assert_eq!(error.message, r#"`tf.tuple_get_item` takes a tuple, found Tensor[(4,), "f32"]"#);
    }
}
