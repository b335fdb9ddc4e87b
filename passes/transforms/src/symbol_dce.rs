//! `symbol-dce`: functions that nothing reaches.

use rustc_hash::{FxHashMap, FxHashSet};
use tf_core::node::{Child, ModuleData, TirCallee};
use tf_core::special::with_callees;
use tf_core::walk::{post_order, stmt_exprs, walk_stmts};
use tf_core::{AnyFunction, ExprKind, Function, Module, PrimFunction, Result, StmtKind};
use tf_framework::{Counter, Pass, PassCx, RemarkKind};
use tf_types::Symbol;

/// Removes the functions of the module that its entry does not reach, and instances of the tree that nothing calls.
///
/// A module without an entry keeps its functions, as do modules with methods, which name what they call when they run, and child
/// modules, whose functions are called from outside. A function is reached by calls, launches and dispatches.
#[derive(Clone, Pass)]
#[pass(name = "symbol-dce")]
pub struct SymbolDce {
    #[statistic("functions removed")]
    removed: Counter,
}

/// The names of functions that statements call, start or choose.
fn names<'c>(function: PrimFunction<'c>) -> Vec<Symbol<'c>> {
    let mut found = Vec::new();
    let mut roots = Vec::new();
    walk_stmts(function.body, |stmt| {
        match stmt.kind {
            StmtKind::Evaluate { callee: TirCallee::Symbol(name), .. } => found.push(name),
            StmtKind::Dispatch { callee, .. } => found.push(callee),
            _ => {}
        }
        stmt_exprs(stmt, |expr| roots.push(expr));
    });
    found.extend(post_order(&roots).into_iter().filter_map(|expr| match expr.kind {
        ExprKind::SymbolRef(name) => Some(name),
        _ => None,
    }));
    found
}

/// The members that the entry reaches; all of them where that is not known.
fn reached<'c>(module: Module<'c>) -> FxHashSet<AnyFunction<'c>> {
    let Some(entry) = module.entry.filter(|_| module.methods.is_empty()) else {
        return module.functions.iter().copied().collect();
    };
    let by_name: FxHashMap<_, _> = module.functions.iter().map(|function| (function.name(), *function)).collect();
    let mut seen = FxHashSet::default();
    let mut stack: Vec<_> = by_name.get(&entry).copied().into_iter().collect();
    while let Some(function) = stack.pop() {
        if !seen.insert(function) {
            continue;
        }
        match function {
            AnyFunction::Hir(function) => stack.extend(function.callees().into_iter().map(AnyFunction::Hir)),
            AnyFunction::Tir(function) => stack.extend(names(function).iter().filter_map(|name| by_name.get(name))),
        }
    }
    seen
}

impl SymbolDce {
    fn pruned<'c>(
        &self,
        cx: &PassCx<'_, 'c>,
        module: Module<'c>,
        members: &[AnyFunction<'c>],
        called: &FxHashSet<Function<'c>>,
    ) -> Module<'c> {
        let children: Vec<_> = module
            .children
            .iter()
            .map(|child| match *child {
                Child::One(child) => Child::One(self.pruned(cx, child, child.data().functions, called)),
                Child::Group(name, modules) => {
                    let modules = modules.iter().map(|&child| self.pruned(cx, child, child.data().functions, called));
                    let modules: Vec<_> = modules.collect();
                    Child::Group(name, cx.alloc_slice(&modules))
                }
            })
            .collect();
        let instances: Vec<_> = module.instances.iter().copied().filter(|instance| called.contains(instance)).collect();
        let gone = module.functions.len() - members.len() + module.instances.len() - instances.len();
        self.removed.add(gone as u64);
        if gone == 0 && children == module.children {
            return module;
        }
        let (instances, children) = (cx.alloc_slice(&instances), cx.alloc_slice(&children));
        cx.module(ModuleData { functions: cx.alloc_slice(members), instances, children, ..*module })
    }
}

impl Pass for SymbolDce {
    fn run<'c>(&self, module: Module<'c>, cx: &mut PassCx<'_, 'c>) -> Result<Module<'c>> {
        let kept = reached(module);
        let members: Vec<_> = module.functions.iter().copied().filter(|function| kept.contains(function)).collect();
        for function in module.functions.iter().filter(|function| !kept.contains(function)) {
            cx.remark(RemarkKind::Applied, function.span(), || format!("nothing reaches `{}`", function.name()));
        }
        let below = module.tree().into_iter().skip(1).flat_map(|child| child.data().functions.iter().copied());
        let roots = members.iter().copied().chain(below).filter_map(|function| match function {
            AnyFunction::Hir(function) => Some(function),
            AnyFunction::Tir(_) => None,
        });
        let called = with_callees(&roots.collect::<Vec<_>>()).into_iter().collect();
        Ok(self.pruned(cx, module, &members, &called))
    }
}
