//! Evaluation position by position: every position of the meshes computes from what it holds.
//!
//! A value is held once for all positions that cannot differ, so that memory follows what is different. Ops compute on the parts that
//! positions have, never on the logical value: a placement that is wrong gives another result, or a report.

mod digit;
mod fault;
mod ops;
mod parts;
mod placement;
mod results;
mod terms;
mod transfer;

use std::rc::Rc;

use tf_core::op::OpView;
use tf_core::{Context, Diagnostic, Expr, Result};
use tf_types::Type;
use tf_value::rule::EvalFn;
use tf_value::{Tensor, Value};

use crate::dims::DimSizes;
use crate::semantics::failed;
use crate::semantics::{Crossing, Semantics, Whole};
use fault::Fault;
use ops::{Call, Operand, held};
use parts::{Held, Parts};
use placement::{Levels, Placed};
pub use results::Positions;

/// Values at all positions.
pub struct PerPosition<'a, 'c> {
    cx: &'a Context<'c>,
    levels: Levels<'c>,
}

impl<'a, 'c> PerPosition<'a, 'c> {
    /// Over the levels that a module declares.
    pub fn new(cx: &'a Context<'c>, module: tf_core::Module<'c>) -> Self {
        let declared = module.topologies.unwrap_or_default();
        Self { cx, levels: Levels::new(declared.iter().map(|level| level.name)) }
    }

    /// The placements of the tensors of a type.
    fn placed(&mut self, ty: Type<'c>, dims: &DimSizes<'c>, at: Expr<'c>) -> Result<Vec<Placed<'c>>> {
        let placed = ty.leaves().into_iter().map(|leaf| self.levels.placed(leaf, dims));
        placed.collect::<Result<_, _>>().map_err(|message| failed(at, message, None))
    }
}

/// The value of a call that knows no positions: everybody computes the same.
fn everywhere<'c>(
    (expr, view): (Expr<'c>, OpView<'c>),
    rule: EvalFn,
    operands: &[Held],
    dims: &DimSizes<'c>,
) -> Option<Result<Held>> {
    if expr.ty().leaves().iter().any(|leaf| leaf.shard().is_some()) {
        return None;
    }
    fn whole(held: &Held) -> Option<Value> {
        match held {
            Held::Tensor(parts) if parts.digits.is_empty() => Some(parts.tensors[0].clone().into()),
            Held::Tensor(_) => None,
            Held::Tuple(fields) => fields.iter().map(whole).collect::<Option<_>>().map(Value::Tuple),
        }
    }
    fn same(value: Value) -> Held {
        match value {
            Value::Tensor(tensor) => Parts::same(tensor).into(),
            Value::Tuple(fields) => Held::Tuple(fields.into_iter().map(same).collect()),
        }
    }
    if view.args.iter().any(|arg| arg.ty().leaves().iter().any(|leaf| leaf.shard().is_some())) {
        return None;
    }
    let mut values = operands.iter().map(whole).collect::<Option<Vec<_>>>()?;
    Some(Whole.op((expr, view), rule, &mut values, dims).map(same))
}

impl<'c> Semantics<'c> for PerPosition<'_, 'c> {
    type Value = Held;

    fn tensor(&mut self, tensor: Tensor, expr: Expr<'c>, dims: &DimSizes<'c>) -> Result<Held> {
        let Some(ty) = expr.ty().as_tensor().filter(|ty| ty.shard().is_some()) else {
            return Ok(Parts::same(tensor).into());
        };
        let entering = self.levels.placed(ty, dims).map_err(Fault::from);
        let parts = entering.and_then(|placed| ops::entering(tensor, &placed));
        parts.map(Held::from).map_err(|fault| fault.at(expr, &[]))
    }

    fn tuple(&self, fields: Vec<Held>) -> Held {
        Held::Tuple(fields)
    }

    fn forget(value: &mut Held, field: usize) {
        if let Held::Tuple(fields) = value {
            fields[field] = Held::Tuple(Vec::new());
        }
    }

    fn shape(value: &Held) -> Option<&[usize]> {
        match value {
            Held::Tensor(parts) => Some(&parts.shape),
            Held::Tuple(_) => None,
        }
    }

    fn op(
        &mut self,
        (expr, view): (Expr<'c>, OpView<'c>),
        rule: EvalFn,
        operands: &mut [Held],
        dims: &DimSizes<'c>,
    ) -> Result<Held> {
        if let Some(call) = view.op.is::<tf_hir::tensor::TupleGetItem>().then_some(view) {
            return field(expr, call, operands);
        }
        if let Some(value) = everywhere((expr, view), rule, operands, dims) {
            return value;
        }
        let mut found = Vec::with_capacity(operands.len());
        for (arg, value) in view.args.iter().zip(operands.iter()) {
            let Held::Tensor(parts) = value else {
                return Err(failed(expr, "it takes a tuple, which has no parts".to_owned(), None));
            };
            let placed = self.placed(arg.ty(), dims, expr)?;
            let placed = placed.into_iter().next().ok_or_else(|| failed(expr, "no tensor".to_owned(), None))?;
            found.push(Operand { parts: Rc::clone(parts), placed });
        }
        let results = self.placed(expr.ty(), dims, expr)?;
        let call = Call { cx: self.cx, expr, view, rule, dims, operands: found, results, axes: &self.levels.seen };
        ops::evaluate(&call).map_err(|fault| fault.at(expr, view.args))
    }

    fn cross(&mut self, value: Held, Crossing { from, to, source, at }: Crossing<'_, 'c>) -> Result<Held> {
        let unplaced = |ty: Type<'c>| ty.leaves().iter().all(|leaf| leaf.shard().is_none());
        if from.0 == to.0 || unplaced(from.0) && unplaced(to.0) {
            return Ok(value);
        }
        let (old, new) = (self.placed(from.0, from.1, at)?, self.placed(to.0, to.1, at)?);
        let mut leaves = Vec::with_capacity(old.len());
        for ((parts, old), new) in value.leaves().into_iter().zip(&old).zip(&new) {
            leaves.push(transfer::transfer(parts, old, new, false).map_err(|fault| fault.at(at, &[source]))?);
        }
        Ok(held(to.0, &mut leaves.into_iter()))
    }
}

/// A field of a tuple.
fn field<'c>(expr: Expr<'c>, call: OpView<'c>, operands: &[Held]) -> Result<Held> {
    let index = tf_core::op::OpCall::<tf_hir::tensor::TupleGetItem>::new(call).map_or(0, |call| call.index());
    let fields = match operands {
        [Held::Tuple(fields)] => fields.as_slice(),
        _ => &[],
    };
    let found = usize::try_from(index).ok().and_then(|index| fields.get(index));
    found.cloned().ok_or_else(|| -> Diagnostic { failed(expr, format!("the tuple has no field {index}"), None) })
}
