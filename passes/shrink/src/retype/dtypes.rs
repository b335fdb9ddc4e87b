//! Floats of one dtype.

use std::ops::Range;

use tf_core::visit::collect_exprs;
use tf_core::{AnyFunction, Context, Module, Result};
use tf_types::DType;

use super::{Map, Rule, mapped};
use crate::ModuleReduction;
use crate::reduction::functions;

/// Other floats become f32, in all functions: a place is a dtype.
pub(super) struct Floats;

/// The dtypes of HIR values that can go.
fn others(module: Module<'_>) -> Vec<DType> {
    let mut found = Vec::new();
    for function in functions(module) {
        let AnyFunction::Hir(function) = function else { continue };
        let values = function.bodies().flat_map(collect_exprs);
        for value in function.params.iter().copied().chain(values) {
            found.extend(value.ty().leaves().iter().map(|tensor| tensor.dtype));
        }
    }
    DType::ALL.into_iter().filter(|dtype| dtype.is_float() && *dtype != DType::F32 && found.contains(dtype)).collect()
}

impl ModuleReduction for Floats {
    fn name(&self) -> &'static str {
        "dtypes"
    }

    fn places<'c>(&self, _: &Context<'c>, module: Module<'c>) -> usize {
        others(module).len()
    }

    fn apply<'c>(&self, cx: &Context<'c>, module: Module<'c>, places: Range<usize>) -> Result<Module<'c>> {
        mapped(cx, module, Map(Rule::Floats(others(module)[places].to_vec())))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tf_types::DType;
    use tf_value::Tensor;

    use super::Floats;
    use crate::testing::{case, check, ops, reduced};
    use crate::{Case, Inputs, OnModule, Reduction};

    fn program(a: &str, b: &str) -> String {
        format!(
            r#"module @m {{ hir.func @f(%x: tensor<4x{a}>, %y: tensor<4x{b}>) -> tensor<4x{a}> {{
  %c = constant 2.0 : {a}
  %0 = tf.binary %x, %c {{kind = "mul"}} : (tensor<4x{a}>, {a}) -> tensor<4x{a}>
  %1 = tf.cast %y {{dtype = {a}}} : (tensor<4x{b}>) -> tensor<4x{a}>
  %2 = tf.binary %0, %1 {{kind = "add"}} : (tensor<4x{a}>, tensor<4x{a}>) -> tensor<4x{a}>
  hir.return %2 }} }}"#
        )
    }

    #[test]
    fn floats_become_f32() {
        check(&OnModule(Floats), &program("bf16", "i32"), 0..1, 1, &program("f32", "i32"));
        let (count, after) = reduced(&OnModule(Floats), &program("f16", "bf16"), 0..2);
        assert_eq!((count, after.as_deref()), (2, Some(&*case(&program("f32", "f32")).module)));
        assert_eq!(reduced(&OnModule(Floats), &program("f32", "i32"), 0..0).0, 0);
    }

    #[test]
    fn inputs_follow() {
        let tensor = Tensor::from_f32(&[4], &[1.0, 2.5, -3.0, 0.0]).expect("a tensor");
        let half = tensor.cast(DType::F16).expect("a cast");
        let inputs = Inputs::Tensors(Arc::new([("x".to_owned(), half)].into()));
        let reduced = OnModule(Floats).apply(&Case { inputs, ..case(&program("f16", "i32")) }, &ops(), 0..1);
        let Some(Case { inputs: Inputs::Tensors(after), .. }) = reduced else { panic!("no tensors") };
        assert_eq!((after["x"].dtype(), after["x"].to_f32_vec()), (DType::F32, tensor.to_f32_vec()));
    }
}
