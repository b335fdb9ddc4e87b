//! Folding: what ops make of known operands, by their evaluation rules, and known values as expressions.

use rustc_hash::FxHashMap;
use tf_core::op::OpView;
use tf_core::{Context, Expr, ExprKind, Literal, Meta};
use tf_dataflow::{Fact, Fold, known_dim, same_bits};
use tf_hir::{Arange, Rank, ShapeOf, TupleGetItem, Zeros};
use tf_types::{DType, Storage, TensorLayout, TensorType, Type};
use tf_value::{EvalCx, EvalRegistry, Tensor, Value, literal};

/// How many elements a value may have to be followed.
const LARGEST: i64 = 256;

/// Folds with the rules by which the reference evaluator computes, so that numbers are the same bit for bit. What fails to
/// evaluate is not folded: the failure belongs to the run.
#[derive(Clone, Copy)]
pub struct Folder<'a, 'c> {
    cx: &'a Context<'c>,
    rules: &'a EvalRegistry,
}

impl<'a, 'c> Folder<'a, 'c> {
    /// A folder with these evaluation rules.
    #[must_use]
    pub fn new(cx: &'a Context<'c>, rules: &'a EvalRegistry) -> Self {
        Self { cx, rules }
    }

    /// What follows from the type of an operand alone: its rank, and its shape where that is static.
    fn of_type(&self, view: OpView<'c>) -> Option<Tensor> {
        let shape = view.args.first()?.ty().as_tensor()?.shape;
        if view.op.is::<Rank>() {
            return Some(Tensor::scalar(shape.len() as i64));
        }
        if !view.op.is::<ShapeOf>() {
            return None;
        }
        let extents: Option<Vec<_>> = shape.iter().map(|&extent| known_dim(self.cx, extent)).collect();
        Tensor::from_vec(&[shape.len()], extents?).ok()
    }

    /// Whether all parts of a type are small tensors of static shape.
    fn is_small(ty: Type<'c>) -> bool {
        ty.leaves().iter().all(|leaf| {
            let count = leaf.static_shape().and_then(|shape| shape.iter().try_fold(1i64, |all, &n| all.checked_mul(n)));
            count.is_some_and(|count| count <= LARGEST)
        })
    }

    /// The value of a call whose operands are literals, as an expression, if it has that form.
    #[must_use]
    pub fn constant(&self, call: Expr<'c>) -> Option<Expr<'c>> {
        let view = call.op_call()?;
        let fact = |arg: &Expr<'c>| match (arg.kind, arg.ty().as_tensor()) {
            (ExprKind::Constant(value), Some(ty)) => {
                literal(value, ty.dtype).map_or(Fact::Varying, |t| Fact::from(Value::from(t)))
            }
            _ => Fact::Varying,
        };
        // Most calls have an operand that is none, and end here.
        let by_type = view.op.is::<Rank>() || view.op.is::<ShapeOf>();
        if !by_type && (view.args.is_empty() || view.args.iter().any(|arg| arg.literal().is_none())) {
            return None;
        }
        let operands: Vec<_> = view.args.iter().map(fact).collect();
        self.materialized(self.fold(view, call.ty(), &operands).tensor()?, call.ty(), call.source_metadata())
    }

    /// A known tensor as an expression of type `ty`: a literal, zeros or a range. None if it has no such form.
    #[must_use]
    pub fn materialized(&self, tensor: &Tensor, ty: Type<'c>, meta: Meta<'c>) -> Option<Expr<'c>> {
        let declared = ty.as_tensor().filter(|ty| ty.dtype == tensor.dtype() && ty.shard().is_none())?;
        if tensor.rank() == 0 && is_literal_type(declared) {
            return self.literal(tensor, ty, meta);
        }
        let cx = self.cx;
        let made = if tensor.to_le_bytes().iter().all(|&byte| byte == 0) && tensor.dtype() != DType::F8E8M0 {
            cx.call(Zeros::new(cx, ty), &[], meta)
        } else {
            let (start, step) = progression(tensor)?;
            cx.call(Arange::new(cx, ty, Some(cx.dim(start)), step), &[], meta)
        };
        made.ok().filter(|made| made.ty() == ty)
    }

    fn literal(&self, tensor: &Tensor, ty: Type<'c>, meta: Meta<'c>) -> Option<Expr<'c>> {
        let value = match tensor.dtype() {
            DType::Bool => Literal::Bool(tensor.to_vec::<bool>()?[0]),
            dtype if dtype.is_integer() => Literal::Int(tensor.to_index().ok()?),
            _ => Literal::Float(*tensor.to_f64_vec().first()?),
        };
        // The payload of a nan may not survive.
        let same = literal(value, tensor.dtype()).is_ok_and(|again| same_bits(&again, tensor));
        same.then(|| self.cx.expr(ExprKind::Constant(value), ty, meta))
    }
}

/// Literals live in no memory.
fn is_literal_type(ty: &TensorType<'_>) -> bool {
    ty.rank() == 0
        && ty.storage == Storage::Umat
        && match ty.layout {
            None => true,
            Some(TensorLayout::Plain(layout)) => layout.shape().is_empty(),
            Some(_) => false,
        }
}

/// First value and step of a rising integer vector.
fn progression(tensor: &Tensor) -> Option<(i64, i64)> {
    if tensor.rank() != 1 || !tensor.dtype().is_integer() {
        return None;
    }
    let values = tensor.to_i64_vec().ok()?;
    let (&first, step) = (values.first()?, values.get(1).map_or(Some(1), |second| second.checked_sub(values[0])));
    let step = step.filter(|&step| step > 0)?;
    let rises = values.windows(2).all(|pair| pair[0].checked_add(step) == Some(pair[1]));
    rises.then_some((first, step))
}

impl<'c> Fold<'c> for Folder<'_, 'c> {
    fn fold(&self, view: OpView<'c>, ty: Type<'c>, operands: &[Fact]) -> Fact {
        if let Some(tensor) = self.of_type(view) {
            return Fact::from(Value::from(tensor));
        }
        if let Some(call) = tf_core::op::OpCall::<TupleGetItem>::new(view) {
            return usize::try_from(call.index()).map_or(Fact::Varying, |index| operands[0].field(index));
        }
        if operands.iter().any(varies) || !Self::is_small(ty) {
            return Fact::Varying;
        }
        let Some(mut values) = operands.iter().map(Fact::value).collect::<Option<Vec<_>>>() else {
            return Fact::Unknown;
        };
        let Some(rule) = self.rules.get(view.op.id) else { return Fact::Varying };
        let cx = EvalCx { dims: &FxHashMap::default(), result_type: ty };
        match rule(view, &mut values, &cx) {
            Ok(value) if fits(&value, ty) => Fact::from(value),
            _ => Fact::Varying,
        }
    }
}

fn varies(fact: &Fact) -> bool {
    match fact {
        Fact::Varying => true,
        Fact::Fields(fields) => fields.iter().any(varies),
        Fact::Unknown | Fact::Constant(_) => false,
    }
}

/// Whether a value has the form that inference gives it: rules do not depend on inference, and may promote.
fn fits(value: &Value, ty: Type<'_>) -> bool {
    let (mut stack, mut leaves) = (vec![value], ty.leaves().into_iter());
    while let Some(value) = stack.pop() {
        match value {
            Value::Tuple(fields) => stack.extend(fields.iter().rev()),
            Value::Tensor(tensor) => {
                let Some(leaf) = leaves.next() else { return false };
                let shape: Vec<_> = tensor.shape().iter().map(|&n| n as i64).collect();
                if leaf.dtype != tensor.dtype() || leaf.static_shape() != Some(shape) {
                    return false;
                }
            }
        }
    }
    leaves.next().is_none()
}
