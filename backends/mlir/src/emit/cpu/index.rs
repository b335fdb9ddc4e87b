//! Integer scalars: constants, induction variables, the `dim` dialect, elements of rank-0 buffers.
use super::{Binding, Emitter, buffer::Coordinate};
use crate::emit::{build::V, scalar::Scalars};
use melior::ir::{Type, ValueLike};
use rustc_hash::FxHashMap;
use tf_core::{Diagnostic, Expr, ExprKind, Literal, Result, op::OpName, walk::post_order};
use tf_dim::ScalarKind;
use tf_types::{DType, kinds::BinaryKind};

/// Whether this is arithmetic of the `dim` dialect.
pub(super) fn is_dim(expr: Expr<'_>) -> bool {
    expr.op_call().is_some_and(|call| kind(call.op.decl.name).is_some())
}

/// The element operation of i64 that an op of the dialect is, if its result is an integer.
fn kind(name: OpName) -> Option<BinaryKind> {
    match tf_dim::kind(name)? {
        ScalarKind::Binary(BinaryKind::And | BinaryKind::Or) => None,
        ScalarKind::Binary(kind) => (!kind.is_comparison()).then_some(kind),
        ScalarKind::Unary(_) => None,
    }
}

impl<'a, 'c> Emitter<'a, 'c> {
    /// A rank-0 integer as a number or an index at run time.
    pub(super) fn coordinate(&self, expr: Expr<'c>) -> Result<Coordinate<'a>> {
        match expr.literal() {
            Some(Literal::Int(value)) => Ok(Coordinate::Known(value)),
            _ => Ok(Coordinate::Computed(self.index(expr)?)),
        }
    }

    /// A rank-0 integer as an index.
    pub(super) fn index(&self, expr: Expr<'c>) -> Result<V<'a>> {
        let value = self.wide(expr)?;
        to_index(&self.s, value)
    }

    /// A rank-0 integer as i64. Shared terms are computed once here; a later block need not see them.
    pub(super) fn wide(&self, expr: Expr<'c>) -> Result<V<'a>> {
        let mut known: FxHashMap<Expr<'c>, V<'a>> = FxHashMap::default();
        for term in post_order(&[expr]) {
            let value = self.term(term, &known)?;
            known.insert(term, value);
        }
        known.get(&expr).copied().ok_or_else(|| Diagnostic::error("an empty expression").at(expr.span()))
    }

    fn term(&self, term: Expr<'c>, known: &FxHashMap<Expr<'c>, V<'a>>) -> Result<V<'a>> {
        let s = &self.s;
        if let Some(call) = term.op_call()
            && let (Some(kind), [a, b]) = (kind(call.op.decl.name), call.args)
            && let (Some(&a), Some(&b)) = (known.get(a), known.get(b))
        {
            return s.binary(kind, DType::I64, a, b).map_err(|error| Diagnostic::from(error).at(term.span()));
        }
        match (term.kind, self.env.get(&term)) {
            (ExprKind::Constant(Literal::Int(value)), _) => Ok(s.constant(DType::I64, Literal::Int(value))?),
            (_, Some(&Binding::Index(value))) => Ok(value),
            (_, Some(Binding::Buffer(buffer))) if buffer.shape.is_empty() && buffer.dtype.is_integer() => {
                let value = buffer.load(s, &[])?;
                Ok(s.cast(buffer.dtype, DType::I64, value)?)
            }
            _ => Err(Diagnostic::error(format!("{} is no integer that a CPU function can compute", term.describe()))
                .at(term.span())),
        }
    }
}

/// An integer as an index.
pub(super) fn to_index<'a>(s: &Scalars<'a, 'a>, value: V<'a>) -> Result<V<'a>> {
    let index = Type::index(s.session.context());
    if value.r#type() == index { Ok(value) } else { Ok(s.op("arith.index_cast", &[value], index)?) }
}
