//! Smaller extents.

use std::ops::Range;

use tf_core::{AnyFunction, Context, Module, Result};
use tf_types::{Dim, DimKind};

use super::{Map, Rule, mapped};
use crate::reduction::functions;
use crate::{ModuleReduction, OnModule, Reduction};

/// What becomes of an extent.
#[derive(Clone, Copy)]
enum Extent {
    /// This, if that is less.
    Least(i64),
    /// A half.
    Half,
}
/// Extents of parameters become less everywhere at once: integers, and variables, which become integers.
struct Extents {
    to: Extent,
    /// Whether integers stay.
    only_variables: bool,
}

impl Extents {
    fn of(&self, dim: Dim<'_>) -> Option<i64> {
        let is_integer = dim.as_const().is_some();
        self.to.of(dim).filter(|_| !(self.only_variables && is_integer))
    }
}

/// What the extents of HIR parameters are, each once.
fn extents<'c>(module: Module<'c>) -> Vec<Dim<'c>> {
    let mut found: Vec<Dim<'c>> = Vec::new();
    for function in functions(module) {
        let AnyFunction::Hir(function) = function else { continue };
        for tensor in function.params.iter().filter_map(|param| param.ty().as_tensor()) {
            found.extend(tensor.shape.iter().filter(|dim| !dim.is_op()));
        }
    }
    let mut seen = rustc_hash::FxHashSet::default();
    found.retain(|dim| seen.insert(*dim));
    found
}

impl Extent {
    fn of(self, dim: Dim<'_>) -> Option<i64> {
        let (old, least) = match *dim.data() {
            DimKind::Const(old) => (Some(old), 1),
            // A variable without a value gets the least of its range that is wanted.
            DimKind::Var(var) => (None, var.lo.max(1)),
            DimKind::Op(..) => return None,
        };
        match (self, old, *dim.data()) {
            (Self::Half, Some(old), _) if old > 1 => Some(old / 2),
            (Self::Least(wanted), Some(old), _) if old > wanted => Some(wanted),
            (Self::Least(wanted), None, DimKind::Var(var)) => Some(wanted.max(least)).filter(|value| *value < var.hi),
            _ => None,
        }
    }
}

impl ModuleReduction for Extents {
    fn name(&self) -> &'static str {
        "extents"
    }

    fn places<'c>(&self, _: &Context<'c>, module: Module<'c>) -> usize {
        extents(module).into_iter().filter(|dim| self.of(*dim).is_some()).count()
    }

    fn apply<'c>(&self, cx: &Context<'c>, module: Module<'c>, places: Range<usize>) -> Result<Module<'c>> {
        let all: Vec<_> = extents(module).into_iter().filter_map(|dim| Some((dim, self.of(dim)?))).collect();
        mapped(cx, module, Map(Rule::Extents(all[places].to_vec())))
    }
}
const EXTENTS: [Extent; 4] = [Extent::Least(1), Extent::Least(2), Extent::Least(4), Extent::Half];

/// Those of shapes.
pub(super) fn extents_to(only_variables: bool) -> impl Iterator<Item = Box<dyn Reduction>> {
    EXTENTS.into_iter().map(move |to| Box::new(OnModule(Extents { to, only_variables })) as Box<dyn Reduction>)
}

/// Those that give dim variables values.
pub(crate) fn variables() -> Vec<Box<dyn Reduction>> {
    extents_to(true).collect()
}

#[cfg(test)]
mod tests {
    use super::{Extent, Extents};
    use crate::retype::placement::PLACED;
    use crate::testing::{check, reduced};
    use crate::{OnModule, Reduction};

    fn extents(to: Extent, only_variables: bool) -> Box<dyn Reduction> {
        Box::new(OnModule(Extents { to, only_variables }))
    }

    fn product(m: &str, k: &str, n: &str, head: &str) -> String {
        format!(
            r#"{head}
module @m {{ hir.func @f(%x: tensor<{m}x{k}xf32>, %y: tensor<{k}x{n}xf32>) -> tensor<{m}x{n}xf32> {{
  %0 = tf.matmul %x, %y : (tensor<{m}x{k}xf32>, tensor<{k}x{n}xf32>) -> tensor<{m}x{n}xf32>
  hir.return %0 }} }}"#
        )
    }

    #[test]
    fn extents_shrink_everywhere_at_once() {
        let before = product("4", "6", "8", "");
        check(&*extents(Extent::Half, false), &before, 1..2, 3, &product("4", "3", "8", ""));
        check(&*extents(Extent::Least(1), false), &before, 0..3, 3, &product("1", "1", "1", ""));
        assert_eq!(reduced(&*extents(Extent::Least(1), true), &before, 0..0).0, 0);
    }

    #[test]
    fn variables_get_values_of_their_range() {
        let head = "#S = dim<\"S\", 3, 9>";
        let before = product("[#S]", "6", "8", head);
        check(&*extents(Extent::Least(1), true), &before, 0..1, 1, &product("3", "6", "8", ""));
        check(&*extents(Extent::Least(4), true), &before, 0..1, 1, &product("4", "6", "8", ""));
        assert_eq!(reduced(&*extents(Extent::Least(40), true), &before, 0..0).0, 0);
    }

    #[test]
    fn what_is_not_well_formed_any_more_is_not_tried() {
        let before = r#"module @m { hir.func @f(%x: tensor<4x6xf32>) -> tensor<4x3xf32> {
  %0 = tf.split %x {axis = 1, num_splits = 2} : (tensor<4x6xf32>) -> tuple<tensor<4x3xf32>, tensor<4x3xf32>>
  %1 = tf.tuple_get_item %0 {index = 0} : (tuple<tensor<4x3xf32>, tensor<4x3xf32>>) -> tensor<4x3xf32>
  hir.return %1 } }"#;
        assert_eq!(reduced(&*extents(Extent::Least(1), false), before, 1..2), (2, None));
    }

    #[test]
    fn calls_follow() {
        let text = |n: i64| {
            format!(
                r#"module @m {{
  hir.func @g(%x: tensor<{n}xf32>) -> tensor<{n}xf32> {{
    %0 = tf.unary %x {{kind = "exp"}} : (tensor<{n}xf32>) -> tensor<{n}xf32>
    hir.return %0 }}
  hir.func @f(%x: tensor<{n}xf32>) -> tensor<{n}xf32> {{
    %0 = call @g(%x) : (tensor<{n}xf32>) -> tensor<{n}xf32>
    hir.return %0 }} }}"#
            )
        };
        check(&*extents(Extent::Half, false), &text(8), 0..1, 1, &text(4));
    }

    #[test]
    fn placements_follow_extents() {
        let (count, after) = reduced(&*extents(Extent::Half, false), PLACED, 0..1);
        assert_eq!(count, 1);
        let after = after.expect("it is reduced");
        assert!(after.contains("tensor<4xf32, #layout0>") && after.contains("S(0)"), "{after}");
    }
}
