//! `unary` (spec: hir §4, §6; shard §11; decisions 19, 22).

use tf_core::op::{AccessRule, AliasDecl, AttrDefault, OpCall, RuleError, TypeRule};
use tf_core::{Context, op};
use tf_types::Type;
use tf_types::access::AccessRelation;
use tf_types::kinds::UnaryKind;
use tf_value::{DialectBuilder, EvalCx, EvalRule, Value, ValueError};

use crate::rules::dtype::{self, Takes};
use crate::rules::{broadcast, layout, operand, partial};

/// `out[i] = kind(x[i])`, in the dtype and placement of `x`.
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
        let (kind, x) = (call.kind(), operand::tensor(&call, 0)?);
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
    fn access(call: OpCall<'_, Self>) -> AccessRelation {
        broadcast::elementwise_relation(operand::shape(call.x()).len())
    }
}

impl EvalRule for Unary {
    fn eval<'c>(call: OpCall<'c, Self>, operands: &[Value], _: &EvalCx<'_, 'c>) -> Result<Value, ValueError> {
        operand::value::<Self>(operands, 0)?.unary(call.kind()).map(Value::from)
    }
}

macro_rules! aliases {
    ($($name:literal => $kind:ident,)*) => {
        &[$(AliasDecl { name: $name, fixed: &[("kind", AttrDefault::Enum(UnaryKind::$kind as u8))] }),*]
    };
}

/// Surface names with a fixed kind (spec: hir §4).
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
