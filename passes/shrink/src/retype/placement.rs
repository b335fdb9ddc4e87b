//! Types without placement.

use std::ops::Range;

use tf_core::{AnyFunction, Context, Module, Result};
use tf_types::{DType, Storage, Type};

use super::{Map, Rule, mapped};
use crate::ModuleReduction;
use crate::reduction::functions;

/// Layouts, placements and storages go, in all functions.
pub(super) struct Unplaced;

impl ModuleReduction for Unplaced {
    fn name(&self) -> &'static str {
        "placement"
    }

    fn places<'c>(&self, _: &Context<'c>, module: Module<'c>) -> usize {
        let is_placed = |ty: Type<'_>| {
            ty.leaves().iter().any(|tensor| {
                tensor.storage != Storage::Umat && (tensor.layout.is_some() || tensor.storage != Storage::Gmem)
            })
        };
        let placed = functions(module).into_iter().any(|function| match function {
            AnyFunction::Hir(function) => {
                let values = function.bodies().flat_map(tf_core::visit::collect_exprs);
                function.params.iter().copied().chain(values).any(|value| {
                    is_placed(value.ty())
                        && value.ty().as_tensor().is_none_or(|tensor| tensor.dtype != DType::I64 || tensor.rank() > 0)
                })
            }
            AnyFunction::Tir(_) => false,
        });
        usize::from(placed)
    }

    fn apply<'c>(&self, cx: &Context<'c>, module: Module<'c>, _: Range<usize>) -> Result<Module<'c>> {
        mapped(cx, module, Map(Rule::Unplaced))
    }
}

/// A function of a placed value.
#[cfg(test)]
pub(super) const PLACED: &str = r#"#mesh0 = mesh<[thread = 4], (4):(1), [w]>
#layout0 = shard<(4, 2):(2, 1), [S(0)], #mesh0>
module @m topology(thread = 4) { hir.func @f(%x: tensor<8xf32>) -> tensor<8xf32, #layout0> {
  %0 = tf.reshard %x {layout = #layout0} : (tensor<8xf32>) -> tensor<8xf32, #layout0>
  %1 = tf.unary %0 {kind = "exp"} : (tensor<8xf32, #layout0>) -> tensor<8xf32, #layout0>
  hir.return %1 } }"#;

#[cfg(test)]
mod tests {
    use super::{PLACED, Unplaced};
    use crate::OnModule;
    use crate::testing::{check, reduced};

    #[test]
    fn placement_goes() {
        let after = r#"module @m topology(thread = 4) { hir.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = tf.unary %x {kind = "exp"} : (tensor<8xf32>) -> tensor<8xf32>
  hir.return %0 } }"#;
        check(&OnModule(Unplaced), PLACED, 0..1, 1, after);
        assert_eq!(reduced(&OnModule(Unplaced), after, 0..0).0, 0);
    }
}
