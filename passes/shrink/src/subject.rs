//! From text to a module and back.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use tf_core::guard::guard;
use tf_core::op::OpRegistry;
use tf_core::tree::{Replacements, in_context, replaced};
use tf_core::{AnyFunction, Arena, Context, Expr, Function, Module};
use tf_framework::Verifier;
use tf_text::{PrintOptions, parse_module, print_module};
use tf_transforms::Rules;
use tf_value::Tensor;

use crate::Inputs;
use crate::reduction::functions;

/// Calls `f` with the module of a text; `None` where it does not parse, or a rule of an op panics.
pub fn parsed<R>(
    text: &str,
    ops: &Arc<OpRegistry>,
    f: impl for<'c> FnOnce(&Context<'c>, Module<'c>) -> Option<R>,
) -> Option<R> {
    guard(|| {
        let arena = Arena::new();
        let cx = Context::new(&arena, Arc::clone(ops));
        let file = cx.sources().add("<case>", text);
        f(&cx, parse_module(&cx, file).ok()?)
    })
    .ok()?
}

/// The module as text, without locations.
#[must_use]
pub fn text(module: Module<'_>) -> String {
    print_module(module, &PrintOptions::default())
}

/// The module with types inferred again; `None` where a rule refuses it.
#[must_use]
pub fn well_formed<'c>(cx: &Context<'c>, module: Module<'c>) -> Option<Module<'c>> {
    if !Rules.module(module, cx).is_empty() {
        return None;
    }
    let mut retyped = Replacements::default();
    for owner in in_context(module, cx) {
        for function in owner.all_functions() {
            let typed = Rules.function(function, owner, cx).ok()?;
            if typed != function {
                retyped.insert(function, typed);
            }
        }
    }
    if retyped.is_empty() {
        return Some(module);
    }
    replaced(cx, module, &retyped, &Function::callees).ok()
}

/// How large a module is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Functions of both IRs, variants and converters too.
    pub functions: usize,
    /// Calls and loops of HIR, statements of TIR.
    pub ops: usize,
}

/// How large the module of a text is; nothing where it does not parse.
#[must_use]
pub fn size(text: &str, ops: &Arc<OpRegistry>) -> Size {
    let of = |module: Module<'_>| {
        let mut size = Size::default();
        for function in functions(module) {
            match function {
                AnyFunction::Hir(function) => {
                    for body in function.bodies() {
                        size.functions += 1;
                        size.ops += crate::hir::computed(body).len();
                    }
                }
                AnyFunction::Tir(function) => {
                    size.functions += 1;
                    size.ops += crate::tir::statements(function.body).len();
                }
            }
        }
        size
    };
    parsed(text, ops, |_, module| Some(of(module))).unwrap_or_default()
}

/// Tensors that fit the parameters of a module: the first elements of those that are larger, in its dtypes; those of another rank are left out.
#[must_use]
pub fn fitting(inputs: &Inputs, module: Module<'_>) -> Inputs {
    let Inputs::Tensors(tensors) = inputs else { return inputs.clone() };
    let mut params: FxHashMap<&str, Expr<'_>> = FxHashMap::default();
    for function in functions(module) {
        for &param in function.params() {
            if let Some(name) = param.var_name() {
                params.entry(name.as_str()).or_insert(param);
            }
        }
    }
    let fit = |name: &str, tensor: &Tensor| -> Option<Tensor> {
        let ty = params.get(name)?.ty().as_tensor()?;
        if ty.rank() != tensor.rank() {
            return None;
        }
        let tensor = &if ty.dtype == tensor.dtype() { tensor.clone() } else { tensor.cast(ty.dtype).ok()? };
        let wanted = ty.shape.iter().zip(tensor.shape()).map(|(dim, &have)| match dim.as_const() {
            Some(wanted) => usize::try_from(wanted).ok().filter(|wanted| *wanted <= have),
            None => Some(have),
        });
        let wanted: Vec<usize> = wanted.collect::<Option<_>>()?;
        if wanted == tensor.shape() {
            return Some(tensor.clone());
        }
        tensor.slice(&vec![0; wanted.len()], &wanted, &vec![1; wanted.len()]).ok()
    };
    let fitted: BTreeMap<String, Tensor> =
        tensors.iter().filter_map(|(name, tensor)| Some((name.clone(), fit(name, tensor)?))).collect();
    Inputs::Tensors(Arc::new(fitted))
}
