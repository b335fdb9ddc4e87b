//! Random placements of random programs: what positions hold makes up the values of plain evaluation.

use tf_core::{AnyFunction, Arena, Expr, ExprKind};
use tf_evaluate::Positions;
use tf_testing::random_placed;
use tf_types::ShardAttr;
use tf_value::Tolerance;

use super::{both, inputs};
use crate::common::context;

/// What the programs had in them, so that the test tells when it loses its subject.
#[derive(Debug, Default)]
struct Met {
    values: usize,
    split: usize,
    partial: usize,
    ops: std::collections::BTreeMap<String, usize>,
}

impl Met {
    fn value(&mut self, value: Expr<'_>) {
        self.values += 1;
        let name = match value.kind {
            ExprKind::Grid(_) => "loop".to_owned(),
            _ => value.op_call().map_or_else(|| "call".to_owned(), |call| call.op.decl.name.name.to_owned()),
        };
        let attrs = value.ty().leaves().into_iter().filter_map(|leaf| leaf.shard()).flat_map(|shard| shard.attrs);
        let attrs: Vec<_> = attrs.collect();
        let split = attrs.iter().any(|attr| matches!(attr, ShardAttr::Split(_)));
        self.split += usize::from(split);
        self.partial += usize::from(attrs.iter().any(|attr| matches!(attr, ShardAttr::Partial(_))));
        *self.ops.entry(name).or_default() += usize::from(split);
    }
}

/// Positions reduce in another order, and terms are rounded one by one.
const TOLERANCE: Tolerance = Tolerance::new(1e-4, 1e-4);

#[test]
fn positions_make_up_the_values_of_plain_evaluation() {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(400);
    let mut met = Met::default();
    let mut failures = Vec::new();
    for seed in 0..cases {
        let arena = Arena::new();
        let (cx, rules) = &context(&arena);
        let module = random_placed(cx, seed);
        let Some(AnyFunction::Hir(function)) = module.entry_function() else { panic!("seed {seed}") };
        let inputs = inputs(function, seed);
        let (plain, positions) = both(cx, rules, module, &inputs, Positions::Assembled);
        let Ok(plain) = plain else { continue };
        let ExprKind::Tuple(values) = function.body.unwrap().kind else { panic!("seed {seed}") };
        values.iter().for_each(|value| met.value(*value));
        match positions {
            Err(error) => failures.push(format!("seed {seed}: {}", error.message)),
            Ok(found) => {
                let leaves = values.iter().flat_map(|value| value.ty().leaves().into_iter().map(move |_| value));
                for ((got, want), value) in found.outputs.iter().zip(&plain).zip(leaves) {
                    let result = TOLERANCE.compare(got, want);
                    if !result.pass() && want.to_f64_vec().iter().all(|number| number.abs() < 1e30) {
                        let operands = value.op_call().map_or(&[][..], |call| call.args);
                        let operands: Vec<_> = operands.iter().map(|arg| arg.ty().to_string()).collect();
                        let op = value.op_call().map(|call| format!("{:?}", call.op));
                        failures.push(format!("seed {seed}: {op:?} of {operands:?}: {}: {result}", value.ty()));
                        break;
                    }
                }
            }
        }
    }
    assert!(failures.is_empty(), "{} of {cases} fail:\n{}", failures.len(), failures.join("\n"));
    assert!(met.split > met.values / 5 && met.partial > met.values / 25 && met.ops.len() > 22, "{met:?}");
}
