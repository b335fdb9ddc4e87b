//! `binary` (spec: hir §4, §6; shard §10, §11; decisions 13, 18, 19, 22).

use tf_core::op::{AccessRule, AliasDecl, AttrDefault, Op, OpCall, RuleError, TypeRule};
use tf_core::{Context, op};
use tf_types::access::AccessRelation;
use tf_types::kinds::BinaryKind;
use tf_types::propagate::Propagation;
use tf_types::{DType, Dim, TensorLayout, Type};
use tf_value::{DialectBuilder, EvalCx, EvalRule, Value, ValueError};

use crate::rules::dtype::{self, Takes};
use crate::rules::{broadcast, layout, operand, partial, place, storage};

/// `out[i] = kind(lhs[i], rhs[i])`; both operands have one dtype and broadcast, comparisons give bool.
#[op(dialect = "tf", category = "math")]
pub struct Binary {
    /// Left operand.
    #[input(Tensor)]
    lhs: (),
    /// Right operand, of the same dtype.
    #[input(Tensor)]
    rhs: (),
    /// What is computed.
    kind: BinaryKind,
}

const fn takes(kind: BinaryKind) -> Takes {
    match kind {
        BinaryKind::Add | BinaryKind::Sub | BinaryKind::Mul | BinaryKind::Div => Takes::Numbers,
        BinaryKind::FloorDiv | BinaryKind::Mod => Takes::Integers,
        BinaryKind::And | BinaryKind::Or => Takes::Bool,
        _ => Takes::Any,
    }
}

fn relation(lhs: &[Dim<'_>], rhs: &[Dim<'_>]) -> AccessRelation {
    let rank = lhs.len().max(rhs.len());
    AccessRelation {
        domain_rank: rank,
        operands: vec![broadcast::access(lhs, &[rhs], rank), broadcast::access(rhs, &[lhs], rank)],
        result: broadcast::identity(rank),
    }
}

impl TypeRule for Binary {
    fn infer<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Result<Type<'c>, RuleError> {
        let (op, kind) = (Self::DECL.name, call.kind());
        let what = format!("`{kind}`");
        let operands = [operand::tensor(&call, 0)?, operand::tensor(&call, 1)?];
        let [lhs, rhs] = operands;
        dtype::equal(op, lhs, rhs)?;
        dtype::check(&what, takes(kind), 0, lhs)?;
        let shape = broadcast::elementwise(op, lhs, rhs)?;
        partial::check(&what, partial::binary(kind), &operands)?;
        let storage = storage::anchor(op, &operands)?;
        let relation = relation(lhs.shape, rhs.shape);
        let layout = match place::propagate(op, cx, &operands, &relation, &shape, &Propagation::default())? {
            Some(shard) => Some(TensorLayout::Shard(shard)),
            None => layout::or_c_order(cx, layout::merge(op, cx, &operands, &shape)?, &shape, storage),
        };
        let dtype = if kind.is_comparison() { DType::Bool } else { lhs.dtype };
        Ok(cx.tensor(&shape, dtype, layout, storage))
    }
}

impl AccessRule for Binary {
    fn access(call: OpCall<'_, Self>) -> AccessRelation {
        relation(operand::shape(call.lhs()), operand::shape(call.rhs()))
    }
}

impl EvalRule for Binary {
    fn eval<'c>(call: OpCall<'c, Self>, operands: &[Value], _: &EvalCx<'_, 'c>) -> Result<Value, ValueError> {
        let (lhs, rhs) = (operand::value::<Self>(operands, 0)?, operand::value::<Self>(operands, 1)?);
        lhs.binary(rhs, call.kind()).map(Value::from)
    }
}

macro_rules! aliases {
    ($($name:literal => $kind:ident,)*) => {
        &[$(AliasDecl { name: $name, fixed: &[("kind", AttrDefault::Enum(BinaryKind::$kind as u8))] }),*]
    };
}

/// Surface names with a fixed kind (spec: hir §4).
pub const ALIASES: &[AliasDecl] = aliases! {
    "add" => Add,
    "sub" => Sub,
    "mul" => Mul,
    "div" => Div,
    "floor_div" => FloorDiv,
    "mod" => Mod,
    "min" => Min,
    "minimum" => Min,
    "max" => Max,
    "maximum" => Max,
    "cmp_eq" => Eq,
    "cmp_ne" => Ne,
    "cmp_lt" => Lt,
    "cmp_le" => Le,
    "cmp_gt" => Gt,
    "cmp_ge" => Ge,
    "logical_and" => And,
    "logical_or" => Or,
};

pub(super) fn register(r: &mut DialectBuilder) {
    r.op::<Binary>().types().access().evaluates().aliases(ALIASES).done();
}
