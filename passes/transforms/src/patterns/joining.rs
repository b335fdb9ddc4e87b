//! Tuples, concatenation and splitting.

use tf_core::{Expr, ExprKind};
use tf_hir::{Concat, Split, TupleGetItem};
use tf_rewrite::{Patterns, RewritePattern, Rewriter, Root, rewrite};
use tf_value::normalize_axis;

use super::tensor;

rewrite! {
    /// A field of a tuple that is written out is its element.
    pub FieldOfTuple = "field-of-tuple":
    TupleGetItem { index: index }(tuple)
        => |_| match tuple.kind {
            ExprKind::Tuple(elements) => elements.get(usize::try_from(index).ok()?).copied(),
            _ => None,
        };

    /// The one part of a split is what was split.
    pub FieldOfOnePart = "field-of-one-part":
    TupleGetItem { index: 0 }(Split { num_splits: 1 }(x)) => |_| x;

    /// The concatenation of one value is the value.
    pub ConcatOfOne = "concat-of-one":
    Concat {}(x) => |_| x;

    /// Inputs that are concatenations along the same axis are taken apart.
    pub ConcatOfConcat = "concat-of-concat":
    Concat { axis: axis }(.. inputs)
        => |rw| {
            let rank = tensor(rw.root())?.rank();
            let along = normalize_axis(axis, rank).ok()?;
            let nested = |input: &Expr<'c>| {
                let inner = input.as_op::<Concat>()?;
                (normalize_axis(inner.axis(), rank).ok() == Some(along)).then(|| inner.inputs())
            };
            let flat: Vec<_> = inputs.iter().flat_map(|input| nested(input).unwrap_or(std::slice::from_ref(input))).copied().collect();
            inputs.iter().any(|input| nested(input).is_some()).then(|| rw.call(Concat::new(rw.cx, axis), &flat)).flatten()
        };

    /// All parts of a split in order, joined along the same axis, are what was split.
    pub ConcatOfSplit = "concat-of-split":
    Concat { axis: axis }(.. inputs)
        => |rw| {
            let first = inputs.first()?.as_op::<TupleGetItem>()?.value();
            let split = first.as_op::<Split>()?;
            let rank = tensor(rw.root())?.rank();
            let same_axis = normalize_axis(axis, rank).ok()? == normalize_axis(split.axis(), rank).ok()?;
            (same_axis && are_fields(inputs, first, split.num_splits())).then(|| split.x())
        };
}

/// Whether the values are all fields of `tuple` in order.
fn are_fields<'c>(values: &[Expr<'c>], tuple: Expr<'c>, count: i64) -> bool {
    i64::try_from(values.len()) == Ok(count)
        && values.iter().zip(0..).all(|(value, at)| {
            value.as_op::<TupleGetItem>().is_some_and(|field| field.value() == tuple && field.index() == at)
        })
}

/// A tuple of all fields of a tuple in order is that tuple.
#[derive(Clone, Copy, Debug)]
pub struct TupleOfFields;

impl RewritePattern for TupleOfFields {
    fn name(&self) -> &'static str {
        "tuple-of-fields"
    }
    fn doc(&self) -> &'static str {
        "A tuple of all fields of a tuple in order is that tuple."
    }
    fn root(&self) -> Root {
        Root::Tuple
    }
    fn rewrite<'c>(&self, root: Expr<'c>, _: &Rewriter<'_, 'c>) -> Option<Expr<'c>> {
        let ExprKind::Tuple(elements) = root.kind else { return None };
        let tuple = elements.first()?.as_op::<TupleGetItem>()?.value();
        // The types are equal, and with them the number of fields.
        are_fields(elements, tuple, i64::try_from(elements.len()).ok()?).then_some(tuple)
    }
}

pub(super) fn register(patterns: &mut Patterns) {
    patterns.add(FieldOfTuple);
    patterns.add(FieldOfOnePart);
    patterns.add(ConcatOfOne);
    patterns.add(ConcatOfConcat);
    patterns.add(ConcatOfSplit);
    patterns.add(TupleOfFields);
}
