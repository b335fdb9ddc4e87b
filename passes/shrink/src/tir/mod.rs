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
