//! `specialize`: values for dim variables.

use rustc_hash::FxHashMap;
use tf_core::diag::did_you_mean;
use tf_core::node::{FunctionData, Origin};
use tf_core::special::{specialize_function, with_callees};
use tf_core::tree::{Replacements, replaced};
use tf_core::visit::redirect_calls;
use tf_core::{AnyFunction, Diagnostic, Function, Module, Result};
use tf_framework::{Counter, OptionError, Pass, PassCx};
use tf_types::Symbol;

/// Gives dim variables values, in all HIR functions of the module and of those below it: `specialize{dims=S:8,N:3}`.
///
/// The values are put into types, attributes and loop bounds. Of a dispatch prototype the variant that is for the value stays, as an
/// ordinary function. Run it before `lower-tir`: statements are not specialised.
#[derive(Clone, Pass)]
#[pass(name = "specialize")]
pub struct Specialize {
    /// Names of dims with their values, `NAME:VALUE`.
    #[option]
    dims: Vec<String>,
    #[statistic("functions specialised")]
    specialized: Counter,
}

fn parse(text: &str) -> Option<(&str, i64)> {
    let (name, value) = text.split_once(':')?;
    Some((name, value.parse().ok()?)).filter(|(name, _)| !name.is_empty())
}

impl Specialize {
    /// The values of those dims that a function reaches.
    fn values<'c>(&self, cx: &PassCx<'_, 'c>, function: Function<'c>) -> Vec<(Symbol<'c>, i64)> {
        let reached = function.residual_dims();
        let given = self.dims.iter().filter_map(|text| parse(text)).map(|(name, value)| (cx.symbol(name), value));
        given.filter(|(name, _)| reached.contains(name)).collect()
    }

    /// A dim that nothing in the module has is a mistake.
    fn check_known<'c>(&self, module: Module<'c>, functions: &[Function<'c>]) -> Result<()> {
        let mut known: Vec<_> =
            functions.iter().flat_map(|function| function.residual_dims()).map(Symbol::as_str).collect();
        known.sort_unstable();
        known.dedup();
        for (name, _) in self.dims.iter().filter_map(|text| parse(text)) {
            if !known.contains(&name) {
                let mut error =
                    Diagnostic::error(format!("module `{}` has no dim `{name}`", module.name)).at(module.span);
                let all =
                    || if known.is_empty() { "it has none".to_owned() } else { format!("it has {}", known.join(", ")) };
                let near = did_you_mean(name, known.iter().copied());
                error.help = Some(near.map_or_else(all, |near| format!("did you mean `{near}`?")));
                return Err(error);
            }
        }
        Ok(())
    }
}

impl Pass for Specialize {
    fn check(&self) -> Result<(), OptionError> {
        let found = match self.dims.iter().find(|text| parse(text).is_none()) {
            Some(text) => format!("`{text}`"),
            None if self.dims.is_empty() => "nothing".to_owned(),
            None => return Ok(()),
        };
        let message = format!("expected NAME:VALUE such as S:8, found {found}");
        Err(OptionError { option: "dims", message, help: None, missing: false })
    }

    fn run<'c>(&self, module: Module<'c>, cx: &mut PassCx<'_, 'c>) -> Result<Module<'c>> {
        let members = module.tree().into_iter().flat_map(|module| module.all_functions());
        let members: Vec<_> = members
            .filter_map(|function| match function {
                AnyFunction::Hir(function) => Some(function),
                AnyFunction::Tir(_) => None,
            })
            .collect();
        self.check_known(module, &members)?;
        let context = cx.context();
        let mut new: FxHashMap<Function<'c>, Function<'c>> = FxHashMap::default();
        let mut old: FxHashMap<Function<'c>, Function<'c>> = FxHashMap::default();
        let mut replacements = Replacements::default();
        for function in with_callees(&members) {
            let values = self.values(cx, function);
            if values.is_empty() {
                continue;
            }
            // The variants of callees are chosen already.
            let chosen = redirect_calls(context, function, &|callee| {
                new.get(&callee).copied().filter(|_| callee.is_prototype())
            })?;
            let special = specialize_function(context, context.function(chosen), &values)?;
            // Calls go to the members again, whose specialised forms take their place together.
            let home = |callee: Function<'c>| {
                old.get(&callee).copied().or_else(|| callee.origin_of().filter(|_| callee.bound_dims_of().is_some()))
            };
            let data = redirect_calls(context, special, &home)?;
            let dims = special.bound_dims_of();
            let origin = Some(Origin { name: function.name, function: None, dims });
            let special = context.function(FunctionData { origin, variants: &[], ..data });
            self.specialized.add(1);
            new.insert(function, special);
            old.insert(special, function);
            replacements.insert(AnyFunction::Hir(function), AnyFunction::Hir(special));
        }
        replaced(context, module, &replacements, &Function::callees)
    }
}
