//! `unary`.

use tf_core::op::{AccessRule, AliasDecl, AttrDefault, OpCall, RuleError, TypeRule};
use tf_core::{Context, op};
use tf_types::Type;
use tf_types::access::AccessRelation;
use tf_types::kinds::UnaryKind;
use tf_value::{DialectBuilder, EvalCx, EvalRule, Value, ValueError};

use crate::rules::dtype::{self, Takes};
use crate::rules::{layout, operand, partial};

/// `out[i] = kind(x[i])`, in the dtype and placement of `x`.
///
/// ```python
/// def f(x: Tensor[(4, 6), "f32"]):
///     return tf.unary(x, kind="exp")
/// ```
#[op(dialect = "tf", category = "math")]
pub struct Unary {
    /// The operand.
    #[input(Tensor)]
    x: (),
    /// What is computed.
    kind: UnaryKind,
}

const fn takes(kind: UnaryKind) -> Takes {
    match kind {
        UnaryKind::Not => Takes::Bool,
        UnaryKind::Rsqrt | UnaryKind::Exp | UnaryKind::Log | UnaryKind::Exp2 | UnaryKind::Log2 => Takes::Floats,
        UnaryKind::Neg
        | UnaryKind::Abs
        | UnaryKind::Square
        | UnaryKind::Relu
        | UnaryKind::Ceil
        | UnaryKind::Round
        | UnaryKind::Cast => Takes::Numbers,
    }
}

impl TypeRule for Unary {
    fn infer<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Result<Type<'c>, RuleError> {
        let kind = call.kind();
        let x = operand::tensor_of(&kind, &call, 0)?;
        if kind == UnaryKind::Cast {
            return Err(RuleError::new("`tf.unary` of kind `cast` does not say to which dtype")
                .with_help("use `tf.cast(x, dtype=…)`"));
        }
        let what = format!("`{kind}`");
        dtype::check(&what, takes(kind), 0, x)?;
        partial::check(&what, partial::unary(kind), &[x])?;
        Ok(cx.tensor(x.shape, x.dtype, layout::same(cx, x), x.storage))
    }
}

impl AccessRule for Unary {
    fn access<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Vec<AccessRelation<'c>> {
        vec![AccessRelation::elementwise(operand::shape(call.x()), 1)]
    }
}

impl EvalRule for Unary {
    fn eval<'c>(call: OpCall<'c, Self>, operands: &mut [Value], _: &EvalCx<'_, 'c>) -> Result<Value, ValueError> {
        operand::take::<Self>(operands, 0)?.unary(call.kind()).map(Value::from)
    }
}

macro_rules! aliases {
    ($($name:literal => $kind:ident,)*) => {
        &[$(AliasDecl { name: $name, fixed: &[("kind", AttrDefault::Enum(UnaryKind::$kind as u8))] }),*]
    };
}

/// Surface names with a fixed kind.
pub const ALIASES: &[AliasDecl] = aliases! {
    "neg" => Neg,
    "abs" => Abs,
    "rsqrt" => Rsqrt,
    "logical_not" => Not,
    "square" => Square,
    "exp" => Exp,
    "exp2" => Exp2,
    "log" => Log,
    "log2" => Log2,
    "ceil" => Ceil,
    "round" => Round,
};

pub(super) fn register(r: &mut DialectBuilder) {
    r.op::<Unary>().types().access().evaluates().aliases(ALIASES).done();
}

#[cfg(test)]
mod tests {
    use tf_core::Meta;
    use tf_types::kinds::UnaryKind::{
        self, Abs, Cast, Ceil, Exp, Exp2, Log, Log2, Neg, Not, Relu, Round, Rsqrt, Square,
    };
    use tf_types::{Arena, DType, OuterLayout, Storage, TensorLayout};

    use super::Unary;
    use crate::test_util::{context, dims, mesh, placed, plain, var};

    #[test]
    fn dtypes() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let of = |kind: UnaryKind, dtype| {
            let call = cx.call(Unary::new(cx, kind), &[plain(cx, "x", "4", dtype)], Meta::default());
            call.map(|e| e.ty().as_tensor().unwrap().dtype).map_err(|e| e.message)
        };
        for kind in [Neg, Abs, Square, Relu, Ceil, Round] {
            assert_eq!(of(kind, DType::I32), Ok(DType::I32));
            assert_eq!(of(kind, DType::Bool), Err(format!("`{kind}` takes floats or integers, found bool")));
        }
        for kind in [Exp, Exp2, Log, Log2, Rsqrt] {
            assert_eq!(of(kind, DType::BF16), Ok(DType::BF16));
            assert_eq!(of(kind, DType::I64), Err(format!("`{kind}` takes floats, found i64")));
        }
        assert_eq!(of(Not, DType::Bool), Ok(DType::Bool));
        assert_eq!(of(Not, DType::F32), Err("`not` takes bool, found f32".into()));
        assert_eq!(of(Cast, DType::F32), Err("`tf.unary` of kind `cast` does not say to which dtype".into()));
    }

    #[test]
    fn the_result_has_the_operands_type() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let of = |x| cx.call(Unary::new(cx, Neg), &[x], Meta::default()).unwrap().ty();
        let x = placed(cx, "x", "16 64", "S0 B", mesh(cx, "w=4 t=2"));
        assert_eq!(of(x), x.ty());
        let x = plain(cx, "x", "S 4", DType::F32);
        assert_eq!(of(x), x.ty());
        // A view's offset stays behind.
        let outer = OuterLayout::Plain(cx.layout(&dims(cx, "2 4"), Some(&dims(cx, "8 1"))));
        let view = TensorLayout::Composed(cx.composed_layout(None, cx.dim(3), Some(outer)));
        let of_view =
            |storage| of(var(cx, "v", cx.tensor(&dims(cx, "2 4"), DType::F32, Some(view), storage))).to_string();
        assert_eq!(of_view(Storage::Gmem), r#"Tensor[(2, 4), "f32"]"#);
        assert_eq!(of_view(Storage::Smem), r#"Tensor[(2, 4), "f32", (2, 4):(4, 1), "smem"]"#);
    }

    #[test]
    fn partial_terms() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let of = |kind, states| {
            let x = placed(cx, "x", "16 64", states, mesh(cx, "w=4"));
            cx.call(Unary::new(cx, kind), &[x], Meta::default()).map(|e| e.ty() == x.ty()).map_err(|e| e.message)
        };
        assert_eq!(of(Neg, "Psum"), Ok(true));
        assert!(of(Neg, "Pmax").is_err());
        for kind in [Exp, Log, Relu, Ceil, Round, Exp2, Log2] {
            assert_eq!((of(kind, "Pmax"), of(kind, "Pmin")), (Ok(true), Ok(true)));
            let refusal = format!("`{kind}` cannot take unreduced terms, but `w` holds P(\"sum\")");
            assert_eq!(of(kind, "Psum"), Err(refusal));
        }
        for kind in [Abs, Rsqrt, Square] {
            assert!(["Psum", "Pmax", "Pmin", "Pprod"].into_iter().all(|states| of(kind, states).is_err()));
        }
    }
}
