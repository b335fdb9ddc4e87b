//! The values of a placed function as its positions make them.

use rustc_hash::FxHashSet;
use tf_core::walk::post_order;
use tf_core::{Callee, ExprKind, Function, Result};
use tf_types::Type;
use tf_value::Tensor;

use super::compare::{self, Allowed, Difference};
use crate::PositionResults;

/// On how many sets of inputs the positions of a placed function evaluate for themselves: placement is the same on all.
pub const AT_POSITIONS: usize = 2;

/// Logical values, and what positions make up; none of these where nothing is placed, or the set is not evaluated so.
type Values<'v> = (&'v Result<Vec<Tensor>>, Option<&'v Result<PositionResults>>);

/// What differs between what positions made before a pass and after it, in words. A function that is placed on one side only has its logical
/// values on the other.
pub fn difference(before: Values<'_>, after: Values<'_>, allowed: Allowed) -> Option<Difference> {
    if before.1.is_none() && after.1.is_none() {
        return None;
    }
    let tensors = |(whole, positions): Values<'_>| match positions {
        Some(Ok(results)) => Ok(results.outputs.clone()),
        Some(Err(error)) => Err(error.clone()),
        None => whole.clone(),
    };
    let found = match (tensors(before), tensors(after)) {
        (Ok(before), Ok(after)) => compare::difference(&before, &after, allowed)?,
        (Ok(_), Err(error)) => {
            let what = format!("its evaluation fails, as it did not before: {}", error.message);
            Difference { at: error.span, ..Difference::new(what) }
        }
        (Err(_), _) => return None,
    };
    let sides = [after.1, before.1].into_iter().flatten().flatten();
    let leading = found.result.and_then(|at| sides.filter(|side| side.spread.get(at) == Some(&true)).find_map(named));
    let what = format!("position by position, {}{}", found.what, leading.unwrap_or_default());
    Some(Difference { what, ..found })
}

/// Which axes of a result are positions.
fn named(results: &PositionResults) -> Option<String> {
    let names: Vec<_> = results.axes.iter().map(|(name, _)| format!("`{name}`")).collect();
    match names.len() {
        0 => None,
        1 => Some(format!("; the first axis of the result is the position along {}", names[0])),
        count => Some(format!("; the first {count} axes of the result are the position along {}", names.join(", "))),
    }
}

/// Whether values of a function, or of one that it calls, lie on a mesh.
pub fn is_placed(function: Function<'_>) -> bool {
    let on_mesh = |ty: Type<'_>| ty.leaves().iter().any(|leaf| leaf.shard().is_some());
    let (mut seen, mut stack) = (FxHashSet::default(), vec![function]);
    while let Some(function) = stack.pop() {
        if !seen.insert(function) {
            continue;
        }
        stack.extend(function.variants);
        if function.params.iter().any(|param| on_mesh(param.ty())) {
            return true;
        }
        let Some(body) = function.body else { continue };
        for expr in post_order(&[body]) {
            if on_mesh(expr.ty()) {
                return true;
            }
            if let ExprKind::Call { callee: Callee::Function(callee), .. } = expr.kind {
                stack.push(callee);
            }
        }
    }
    false
}
