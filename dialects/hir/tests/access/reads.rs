//! Relations against the evaluation rules: an element of the result changes with exactly the elements it is said to be made from.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use tf_core::op::Attr;
use tf_core::{Arena, Context, Expr, Meta};
use tf_hir::Conv2d;
use tf_types::{DType, Storage};
use tf_value::{EvalCx, EvalRegistry, Tensor, Value};

use crate::cases::{Case, Cases, operands};
use crate::draw::{Draw, Fill, Leaf};
use crate::enumerate::{Applied, Element, addresses};
use crate::{context, names};

/// Values of all operands, by field.
type Values = Vec<Vec<Vec<f64>>>;

/// The tensors of a value, tuples flattened.
pub fn leaves(value: &Value, out: &mut Vec<Tensor>) {
    match value {
        Value::Tensor(tensor) => out.push(tensor.clone()),
        Value::Tuple(fields) => fields.iter().for_each(|field| leaves(field, out)),
    }
}

/// The result's tensors; `None` where the values are refused.
pub fn evaluate<'c>(call: Expr<'c>, case: &Case<'c>, rules: &EvalRegistry, values: &Values) -> Option<Vec<Tensor>> {
    let value = |(leaves, values): (&Vec<Leaf>, &Vec<Vec<f64>>)| {
        let mut fields = leaves.iter().zip(values).map(|(leaf, values)| Value::from(leaf.tensor(values)));
        if leaves.len() == 1 { fields.next().unwrap() } else { Value::Tuple(fields.collect()) }
    };
    let mut values: Vec<_> = case.operands.iter().zip(values).map(value).collect();
    let sizes = FxHashMap::from_iter([]);
    let cx = EvalCx { dims: &sizes, result_type: call.ty() };
    let result = rules.get(case.op.id).unwrap()(call.op_call().unwrap(), &mut values, &cx).ok()?;
    let mut out = Vec::new();
    leaves(&result, &mut out);
    Some(out)
}

pub fn draw_values(case: &Case<'_>, draw: &mut Draw) -> Values {
    case.operands.iter().map(|leaves| leaves.iter().map(|leaf| leaf.elements(draw)).collect()).collect()
}

/// What an element is changed to, one after the other: far up and far down, or elsewhere.
fn others(leaf: &Leaf, value: f64, draw: &mut Draw) -> Vec<f64> {
    match (leaf.dtype, &leaf.fill) {
        (DType::Bool, _) => vec![1.0 - value],
        (dtype, Fill::Any) if dtype.is_float() => vec![100.0, -100.0],
        (_, Fill::Any) => vec![1000.0, 1.0, leaf.element(draw)],
        _ => vec![leaf.element(draw)],
    }
}

/// Which elements differ, by field and number.
fn differing(before: &[Tensor], after: &[Tensor]) -> BTreeSet<(usize, usize)> {
    let mut found = BTreeSet::new();
    for (field, (before, after)) in before.iter().zip(after).enumerate() {
        let (before, after) = (before.to_f64_vec(), after.to_f64_vec());
        let differ = |at: &usize| before[*at].to_bits() != after[*at].to_bits();
        found.extend((0..before.len()).filter(differ).map(|at| (field, at)));
    }
    found
}

/// A weight of `conv2d` is read where it meets the zeros around the image, too, but the product does not show it.
fn meets_padding(case: &Case<'_>, operand: usize) -> bool {
    let padded = |attr| matches!(attr, Attr::Ints(padding) if padding.iter().any(|&p| p > 0));
    case.op.is::<Conv2d>() && operand == 1 && case.op.attr("padding").is_some_and(padded)
}

/// At most this many elements are changed, in this many drawings of all values.
const ELEMENTS: usize = 10;
const TRIALS: usize = 4;

fn check(cx: &Context<'_>, rules: &EvalRegistry, name: &str, seed: u64) -> Result<(), String> {
    let mut cases = Cases { cx, draw: Draw(seed), extents: &[1, 2, 3] };
    let case = cases.case(name);
    let mut draw = cases.draw;
    let args = operands(cx, &case, |_, _| (None, Storage::Gmem));
    let call = cx.call(case.op, &args, Meta::default()).map_err(|error| format!("{:?}: {}", case.op, error.message))?;
    let relations = cx.ops().access.get(case.op.id).unwrap()(call.op_call().unwrap(), cx);
    let addresses = addresses(&relations);
    let fail = |what: String| Err(format!("{:?} of {:?}: {what}", case.op, case.operands));

    let all: Vec<Element> = case
        .operands
        .iter()
        .enumerate()
        .flat_map(|(operand, leaves)| {
            let of = move |(field, leaf): (usize, &Leaf)| {
                (0..leaf.count()).map(move |at| (operand, field, at)).collect::<Vec<_>>()
            };
            leaves.iter().enumerate().flat_map(of)
        })
        .collect();
    let changed: Vec<Element> = draw.order(all.len()).into_iter().take(ELEMENTS).map(|at| all[at]).collect();
    let (mut named, mut seen) = (BTreeSet::new(), BTreeSet::new());
    let mut truth = draw_values(&case, &mut draw);
    for _ in 0..TRIALS {
        let mut values = draw_values(&case, &mut draw);
        // Truth values are kept and turned round by turns: what one hides, the other shows.
        for (operand, leaves) in case.operands.iter().enumerate().filter(|(_, leaves)| leaves[0].dtype == DType::Bool) {
            for field in 0..leaves.len() {
                truth[operand][field].iter_mut().for_each(|value| *value = 1.0 - *value);
                values[operand][field].clone_from(&truth[operand][field]);
            }
        }
        let Some(before) = evaluate(call, &case, rules, &values) else { return fail("refused".into()) };
        let results: Vec<_> = before.iter().map(|tensor| tensor.shape().to_vec()).collect();
        let applied = Applied {
            shape: &|operand, field| case.operands[operand][field].shape.clone(),
            value: &|(operand, field, at)| values[operand][field][at] as i64,
            results: &results,
        };
        let sources = applied.sources(&relations);
        for (field, shape) in results.iter().enumerate() {
            let count: usize = shape.iter().product();
            if (0..count).any(|at| !sources.contains_key(&(field, at))) {
                return fail(format!("elements of field {field} are not written"));
            }
        }
        for &(operand, field, at) in &changed {
            let source = (operand, field, at);
            let leaf = &case.operands[operand][field];
            let named_now: BTreeSet<_> =
                sources.iter().filter(|(_, from)| from.contains(&source)).map(|(&result, _)| result).collect();
            for value in others(leaf, values[operand][field][at], &mut draw) {
                let mut values = values.clone();
                values[operand][field][at] = value;
                let Some(after) = evaluate(call, &case, rules, &values) else { continue };
                for result in differing(&before, &after) {
                    if !named_now.contains(&result) && !addresses.contains(&operand) {
                        return fail(format!("{result:?} changes with {source:?}, which it does not name"));
                    }
                    seen.insert((source, result));
                }
            }
            if !addresses.contains(&operand) && !meets_padding(&case, operand) {
                named.extend(named_now.into_iter().map(|result| (source, result)));
            }
        }
    }
    match named.difference(&seen).next() {
        Some((source, result)) => fail(format!("{result:?} names {source:?}, and does not change with it")),
        None => Ok(()),
    }
}

#[test]
fn a_result_changes_with_what_it_is_made_from() {
    let arena = Arena::new();
    let (cx, rules) = &context(&arena);
    for name in names(cx) {
        // One tile of an instruction is large, and there is but one.
        let seeds = if name.contains("mma") { 1 } else { 24 };
        for seed in 0..seeds {
            check(cx, rules, name, seed).unwrap_or_else(|error| eprintln!("seed {seed}: {error}"));
        }
    }
}
