//! Reductions of TIR functions.

mod params;
mod remove;
mod unwrap;

use std::ops::Range;

use rustc_hash::FxHashSet;
use tf_core::node::TirCallee;
use tf_core::tree::{Replacements, replaced};
use tf_core::visit::collect_exprs;
use tf_core::walk::{stmt_exprs, walk_stmts};
use tf_core::{AnyFunction, Context, ExprKind, Function, Module, PrimFunction, Result, Stmt, StmtKind};
use tf_types::Symbol;

use crate::reduction::{Share, functions};
use crate::{ModuleReduction, OnModule, Reduction};

/// A reduction of one TIR function at a time.
pub(crate) trait PrimReduction: Send + Sync {
    /// What progress lines call it.
    fn name(&self) -> &'static str;

    /// How many places there are. `is_free`: nothing calls the function, so parameters may change.
    fn places(&self, function: PrimFunction<'_>, is_free: bool) -> usize;

    /// The function with these places reduced, itself where they cannot be.
    ///
    /// # Errors
    /// What type inference refuses.
    fn apply<'c>(
        &self,
        cx: &Context<'c>,
        function: PrimFunction<'c>,
        is_free: bool,
        places: Range<usize>,
    ) -> Result<PrimFunction<'c>>;
}

struct OnPrims<R>(R);

/// The TIR functions of a tree, each with whether nothing calls it.
fn prims<'c>(module: Module<'c>) -> Vec<(PrimFunction<'c>, bool)> {
    let mut called: FxHashSet<Symbol<'c>> = FxHashSet::default();
    let all: Vec<_> = functions(module)
        .into_iter()
        .filter_map(|function| match function {
            AnyFunction::Tir(function) => Some(function),
            AnyFunction::Hir(_) => None,
        })
        .collect();
    for function in &all {
        walk_stmts(function.body, |stmt| {
            match stmt.kind {
                StmtKind::Evaluate { callee: TirCallee::Symbol(name), .. } => drop(called.insert(name)),
                StmtKind::Dispatch { callee, .. } => drop(called.insert(callee)),
                _ => {}
            }
            stmt_exprs(stmt, |expr| {
                called.extend(collect_exprs(expr).into_iter().filter_map(|expr| match expr.kind {
                    ExprKind::SymbolRef(name) => Some(name),
                    _ => None,
                }));
            });
        });
    }
    all.into_iter().map(|function| (function, !called.contains(&function.name))).collect()
}

impl<R: PrimReduction> ModuleReduction for OnPrims<R> {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn places<'c>(&self, _: &Context<'c>, module: Module<'c>) -> usize {
        prims(module).into_iter().map(|(function, is_free)| self.0.places(function, is_free)).sum()
    }

    fn apply<'c>(&self, cx: &Context<'c>, module: Module<'c>, places: Range<usize>) -> Result<Module<'c>> {
        let mut share = Share::new(places);
        let mut replacements = Replacements::default();
        for (function, is_free) in prims(module) {
            let own = share.next(self.0.places(function, is_free));
            if !own.is_empty() {
                let new = self.0.apply(cx, function, is_free, own)?;
                replacements.insert(AnyFunction::Tir(function), AnyFunction::Tir(new));
            }
        }
        replaced(cx, module, &replacements, &Function::callees)
    }
}

/// The statements of a body but for sequences, in program order.
pub(crate) fn statements(body: Stmt<'_>) -> Vec<Stmt<'_>> {
    let mut found = Vec::new();
    walk_stmts(body, |stmt| {
        if !matches!(stmt.kind, StmtKind::Sequential(_)) {
            found.push(stmt);
        }
    });
    found
}

fn on<R: PrimReduction + 'static>(reduction: R) -> Box<dyn Reduction> {
    Box::new(OnModule(OnPrims(reduction)))
}

/// All of them, those that cut most first.
pub(crate) fn reductions() -> Vec<Box<dyn Reduction>> {
    let mut all = vec![on(remove::Remove)];
    all.extend(unwrap::Unwrap::all().map(on));
    all.push(on(params::Params));
    all
}

#[cfg(test)]
mod tests {
    use super::{on, params, remove, unwrap};
    use crate::testing::{check, reduced};

    fn program(body: &str) -> String {
        format!(
            r#"module @m {{ tir.func @f(%x: tensor<4xf32>, %out: tensor<4xf32>) target("cpu") outputs(1) {{
{body}
}} }}"#
        )
    }

    const COPIES: &str = r#"let %buf = T.alloc_tensor {tensor_type = tensor<4xf32, rmem>} : () -> tensor<4xf32, rmem>
  T.copy %x, %buf : (tensor<4xf32>, tensor<4xf32, rmem>)
  T.copy %buf, %out : (tensor<4xf32, rmem>, tensor<4xf32>)
  T.copy %x, %out : (tensor<4xf32>, tensor<4xf32>)"#;

    #[test]
    fn statements_go() {
        let (count, after) = reduced(&*on(remove::Remove), &program(COPIES), 2..4);
        assert_eq!(count, 4);
        assert_eq!(after.expect("it is reduced").matches("T.copy").count(), 1);
    }

    #[test]
    fn what_uses_a_buffer_goes_with_it() {
        let after = program("T.copy %x, %out : (tensor<4xf32>, tensor<4xf32>)");
        check(&*on(remove::Remove), &program(COPIES), 0..1, 4, &after);
    }

    #[test]
    fn loops_become_their_first_round() {
        let view = |index: &str| {
            format!(
                r#"let %view = T.tensor_view %x, {index} {{layout = layout<(4):(1)>}} : (tensor<4xf32>, i64) -> tensor<4xf32, layout<(4):(1)>>
    T.copy %view, %view : (tensor<4xf32, layout<(4):(1)>>, tensor<4xf32, layout<(4):(1)>>)"#
            )
        };
        let before = program(&format!("tir.for %i = 0 to 4 step 1 : i64 {{ {} }}", view("%i")));
        let (count, after) = reduced(&*on(unwrap::Unwrap::all().next().expect("one")), &before, 0..1);
        assert_eq!(count, 1);
        let after = after.expect("it is reduced");
        assert!(!after.contains("tir.for") && after.contains("%x, 0 {layout"), "{after}");
    }

    #[test]
    fn branches_take_the_place_of_an_if() {
        let copy = |of: &str| format!("T.copy {of}, %out : (tensor<4xf32>, tensor<4xf32>)");
        let before = program(&format!("tir.if true : bool {{ {} }} else {{ {} }}", copy("%x"), copy("%out")));
        let [first, second] = [0, 1].map(|at| on(unwrap::Unwrap::all().nth(at).expect("two")));
        check(&*first, &before, 0..1, 1, &program(&copy("%x")));
        check(&*second, &before, 0..1, 1, &program(&copy("%out")));
    }

    #[test]
    fn unused_parameters_go() {
        let (count, after) = reduced(&*on(params::Params), &program("tir.return"), 0..2);
        assert_eq!(count, 2);
        let after = after.expect("it is reduced");
        assert!(after.contains("@f() target(\"cpu\") outputs(0)"), "{after}");
    }
}
