//! `reshard`.

use tf_core::op::attr::Placement;
use tf_core::op::{AccessRule, OpCall, RuleError, TypeRule};
use tf_core::{Context, op};
use tf_types::access::AccessRelation;
use tf_types::{Storage, Type};
use tf_value::{DialectBuilder, EvalCx, EvalRule, Value, ValueError};

use crate::rules::operand;

/// `out = x`, placed anew: on a mesh, in a storage, or both. Where `x` holds partial terms and the result does not, this is
/// their reduction; where only the result is Partial, position 0 keeps the value and the others the reduction's identity.
///
/// ```python
/// def f(x: Tensor[(4, 64), "f32"]):
///     with Mesh(("thread",), (2, 32), ("w", "l")) as m:
///         return tf.reshard(x, layout=(4 @ m.w, 64 @ m.l), storage="rmem")
/// ```
#[op(dialect = "tf", category = "shard")]
pub struct Reshard {
    /// The value.
    #[input(Tensor)]
    x: (),
    /// The placement; without strides they follow from the storages; none keeps the operand's layout.
    #[default(None)]
    layout: Option<Placement>,
    /// The residency; none keeps the operand's.
    #[default(None)]
    storage: Option<Storage>,
}

impl TypeRule for Reshard {
    fn infer<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Result<Type<'c>, RuleError> {
        let x = operand::tensor(&call, 0)?;
        let refused = |error| RuleError::from(error).operand(0, format!("{x}")).attr("layout").attr("storage");
        cx.reshard_type(x, call.layout(), call.storage()).map_err(refused)
    }
}

impl AccessRule for Reshard {
    fn access<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Vec<AccessRelation<'c>> {
        vec![AccessRelation::elementwise(operand::shape(call.x()), 1)]
    }
}

impl EvalRule for Reshard {
    /// The identity: evaluation holds logical values.
    fn eval<'c>(_: OpCall<'c, Self>, operands: &mut [Value], _: &EvalCx<'_, 'c>) -> Result<Value, ValueError> {
        operand::value::<Self>(operands, 0).cloned().map(Value::from)
    }
}

pub(super) fn register(r: &mut DialectBuilder) {
    r.op::<Reshard>().types().access().evaluates().done();
}

#[cfg(test)]
mod tests {
    use tf_core::{Context, Diagnostic, Expr, Meta};
    use tf_types::{Arena, DType, ShardLayout, Storage, Type};

    use super::Reshard;
    use crate::test_util::{attrs, context, dims, mesh, placed, placement, plain};

    fn infer<'c>(
        cx: &Context<'c>,
        x: Expr<'c>,
        layout: Option<ShardLayout<'c>>,
        storage: Option<Storage>,
    ) -> Result<Type<'c>, Diagnostic> {
        cx.call(Reshard::new(cx, layout, storage), &[x], Meta::default()).map(Expr::ty)
    }

    #[test]
    fn placing_and_completing() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let m = mesh(cx, "w=6 t=32");
        let unmaterialised =
            |shape, states| Some(cx.shard_layout(cx.layout(&dims(cx, shape), None), &attrs(cx, states), m));
        let x = plain(cx, "x", "12 64", DType::F32);
        let split = unmaterialised("6 2 32 2", "S0 S2");
        let loaded = infer(cx, x, split, Some(Storage::Rmem)).unwrap();
        assert_eq!(placement(loaded), "(6, 2, 32, 2):(0, 2, 0, 1) S0 S2");
        assert_eq!(placement(infer(cx, x, split, None).unwrap()), "(6, 2, 32, 2):(128, 64, 2, 1) S0 S2");
        assert_eq!(infer(cx, x, None, None).unwrap(), x.ty());
        let term = placed(cx, "t", "12 64", "Psum B", m);
        let completed = infer(cx, term, unmaterialised("12 64", "B B"), None).unwrap();
        assert_eq!(placement(completed), "(12, 64):(64, 1) B B");
    }

    #[test]
    fn refusals_name_the_operand() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let x = plain(cx, "x", "12 64", DType::F32);
        let error = infer(cx, x, None, Some(Storage::Smem)).unwrap_err();
        assert_eq!(error.message, "a reshard from gmem to smem needs a layout");
        assert_eq!(error.notes[0].1, r#"operand 0: Tensor[(12, 64), "f32"]"#);
        assert!(infer(cx, x, None, Some(Storage::Umat)).unwrap_err().message.contains("umat"));
    }
}
