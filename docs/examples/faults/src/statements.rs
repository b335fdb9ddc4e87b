//! Statements that are lost, or stand in another order.

use tf_core::node::TirCallee;
use tf_core::visit::{StmtMutator, rewrite_prim_function};
use tf_core::{Context, PrimFunction, Result, Stmt, StmtKind};
use tf_framework::{FunctionCx, Pass, PrimFuncPass};

/// The name of the op of an effect.
fn effect(stmt: Stmt<'_>) -> Option<String> {
    match stmt.kind {
        StmtKind::Evaluate { callee: TirCallee::Op(op), .. } => Some(op.decl.name.to_string()),
        _ => None,
    }
}

struct Rewriter<F>(F);

impl<'c, F: FnMut(Stmt<'c>, &Context<'c>) -> Option<StmtKind<'c>>> StmtMutator<'c> for Rewriter<F> {
    fn generic_mutate(&mut self, stmt: Stmt<'c>, cx: &Context<'c>) -> Result<Stmt<'c>> {
        Ok((self.0)(stmt, cx).map_or(stmt, |kind| cx.stmt(kind, stmt.span)))
    }
}

macro_rules! faults {
    ($($(#[doc = $doc:literal])* $fault:ident = $name:tt: |$stmt:ident, $cx:ident| $body:expr;)*) => {
        $(
            $(#[doc = $doc])*
            #[derive(Clone, Pass)]
            #[pass(name = $name)]
            pub struct $fault;

            impl PrimFuncPass for $fault {
                fn run<'c>(&self, function: PrimFunction<'c>, cx: &FunctionCx<'_, 'c>) -> Result<PrimFunction<'c>> {
                    rewrite_prim_function(&mut Rewriter(|$stmt: Stmt<'c>, $cx: &Context<'c>| $body), function, cx.context())
                }
            }
        )*

        pub fn register(r: &mut tf_plugin::Registrar<'_>) {
            $(r.passes.prim_func_pass($fault::new());)*
        }
    };
}

faults! {
    /// Barriers go.
    MissingBarrier = "fault-missing-barrier": |stmt, _cx| {
        (effect(stmt)? == "T.sync").then_some(StmtKind::Sequential(&[]))
    };

    /// What writes over one of its own operands is taken for a dead store.
    LostStore = "fault-lost-store": |stmt, _cx| {
        let StmtKind::Evaluate { args: [operands @ .., output], .. } = stmt.kind else { return None };
        (effect(stmt).is_some() && operands.contains(output)).then_some(StmtKind::Sequential(&[]))
    };

    /// The first copy into a buffer goes, as if nothing read what it holds.
    LostCopy = "fault-lost-copy": |stmt, _cx| {
        (effect(stmt)? == "T.copy").then_some(StmtKind::Sequential(&[]))
    };

    /// The first two effects of a block change places.
    ReorderedStores = "fault-reordered-stores": |stmt, cx| {
        let StmtKind::Sequential(block) = stmt.kind else { return None };
        let at = block.windows(2).position(|pair| pair.iter().all(|&stmt| effect(stmt).is_some()))?;
        let mut block = block.to_vec();
        block.swap(at, at + 1);
        Some(StmtKind::Sequential(cx.alloc_slice(&block)))
    };

    /// The branches of an `if` are exchanged.
    ExchangedBranches = "fault-exchanged-branches": |stmt, _cx| match stmt.kind {
        StmtKind::If { cond, then_body, else_body } => Some(StmtKind::If { cond, then_body: else_body, else_body: then_body }),
        _ => None,
    };

    /// A loop of statements runs once only, as if its body did not depend on what it did before.
    LoopOnce = "fault-loop-once": |stmt, _cx| match stmt.kind {
        StmtKind::For { induction, start, stop: _, step, body } => Some(StmtKind::For { induction, start, stop: step, step, body }),
        _ => None,
    };
}
