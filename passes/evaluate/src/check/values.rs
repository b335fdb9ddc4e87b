//! The values of a placed function as its positions make them.

use rustc_hash::FxHashSet;
use tf_core::walk::post_order;
use tf_core::{Callee, ExprKind, Function, Result};
use tf_types::Type;
use tf_value::Tensor;

use super::compare::{self, Allowed, Difference};

/// On how many sets of inputs the positions of a placed function evaluate for themselves: placement is the same on all.
pub const AT_POSITIONS: usize = 2;

/// Logical values, and what positions make up; none of these where nothing is placed, or the set is not evaluated so.
type Values<'v> = (&'v Result<Vec<Tensor>>, Option<&'v Result<Vec<Tensor>>>);

/// What differs between what positions made before a pass and after it, in words. A function that is placed on one side only has its logical
/// values on the other.
pub fn difference(before: Values<'_>, after: Values<'_>, allowed: Allowed) -> Option<Difference> {
    if before.1.is_none() && after.1.is_none() {
        return None;
    }
    let [before, after] = [before, after].map(|(whole, positions)| positions.unwrap_or(whole));
    let found = match (before, after) {
        (Ok(before), Ok(after)) => compare::difference(before, after, allowed)?,
        (Ok(_), Err(error)) => {
            let what = format!("its evaluation fails, as it did not before: {}", error.message);
            Difference { at: error.span, ..Difference::new(what) }
        }
        (Err(_), _) => return None,
    };
    Some(Difference { what: format!("position by position, {}", found.what), ..found })
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
