//! Which expressions belong to which loop: the one rule that text, evaluation and lowering share.

use crate::node::{Expr, ExprKind};
use crate::{NodeMap, NodeSet};

/// The expressions of a function body by the region that computes them, operands first.
///
/// An expression belongs to the innermost loop whose induction variable or carries it depends on; anything else is
/// invariant and belongs to the function. Variables and symbols belong to no region.
#[derive(Debug, Default)]
pub struct Schedule<'c> {
    /// Outside all loops.
    pub root: Vec<Expr<'c>>,
    /// Inside a loop, by the loop's node.
    pub regions: NodeMap<Expr<'c>, Vec<Expr<'c>>>,
}

impl<'c> Schedule<'c> {
    /// The expressions inside a loop.
    #[must_use]
    pub fn region(&self, grid: Expr<'c>) -> &[Expr<'c>] {
        self.regions.get(&grid).map_or(&[], Vec::as_slice)
    }
}

/// Region 0 is the function; a loop gets its number when its binders come into view, so an inner one has the larger.
type RegionId = usize;

enum Step<'c> {
    Enter(Expr<'c>),
    Bind(Expr<'c>),
    Finish(Expr<'c>),
}

#[derive(Default)]
struct Scheduler<'c> {
    /// Without those of region 0.
    home: NodeMap<Expr<'c>, RegionId>,
    /// Per region: the loop, its expressions, and the innermost enclosing region that they depend on.
    grids: Vec<(Option<Expr<'c>>, Vec<Expr<'c>>, RegionId)>,
}

impl<'c> Scheduler<'c> {
    fn bind(&mut self, grid: Expr<'c>) {
        let ExprKind::Grid(region) = grid.kind else { return };
        let id = self.grids.len();
        self.grids.push((Some(grid), Vec::new(), 0));
        self.home.insert(region.induction, id);
        self.home.extend(region.carries.iter().map(|&carry| (carry, id)));
    }

    fn finish(&mut self, expr: Expr<'c>, own: Option<RegionId>) {
        if self.grids.len() == 1 {
            // No loop is open or done: everything belongs to the function.
            self.place(expr, 0);
            return;
        }
        let mut depends = [0; 2];
        let mut note = |region: RegionId| {
            if region > depends[0] {
                depends = [region, depends[0]];
            } else if region != depends[0] {
                depends[1] = depends[1].max(region);
            }
        };
        super::operands(expr, |operand| {
            let region = self.home.get(&operand).copied().unwrap_or(0);
            if Some(region) != own {
                note(region);
            }
        });
        if let Some(own) = own {
            note(self.grids[own].2);
        }
        let [home, outer] = depends;
        self.grids[home].2 = self.grids[home].2.max(outer);
        self.place(expr, home);
    }

    fn place(&mut self, expr: Expr<'c>, home: RegionId) {
        if matches!(expr.kind, ExprKind::Var { .. } | ExprKind::SymbolRef(_)) {
            return;
        }
        if home > 0 {
            self.home.insert(expr, home);
        }
        self.grids[home].1.push(expr);
    }
}

/// Assigns every expression that `root` reaches to its region.
#[must_use]
pub fn schedule<'c>(root: Expr<'c>) -> Schedule<'c> {
    let mut scheduler = Scheduler::default();
    scheduler.grids.push((None, Vec::new(), 0));
    let mut own: NodeMap<Expr<'c>, RegionId> = NodeMap::default();
    let mut seen = NodeSet::default();
    let mut stack = vec![Step::Enter(root)];
    while let Some(step) = stack.pop() {
        match step {
            Step::Enter(expr) => {
                if !seen.insert(expr) {
                    continue;
                }
                stack.push(Step::Finish(expr));
                let first = stack.len();
                if let ExprKind::Grid(region) = expr.kind {
                    stack.extend(region.inits.iter().map(|&init| Step::Enter(init)));
                    stack.push(Step::Bind(expr));
                    stack.extend(region.yields.iter().chain(&region.body).map(|&value| Step::Enter(value)));
                } else {
                    super::operands(expr, |operand| stack.push(Step::Enter(operand)));
                }
                stack[first..].reverse();
            }
            Step::Bind(grid) => {
                own.insert(grid, scheduler.grids.len());
                scheduler.bind(grid);
            }
            Step::Finish(expr) => scheduler.finish(expr, own.get(&expr).copied()),
        }
    }
    let mut result = Schedule::default();
    for (grid, exprs, _) in scheduler.grids {
        match grid {
            None => result.root = exprs,
            Some(grid) => drop(result.regions.insert(grid, exprs)),
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tf_types::DType;

    use super::schedule;
    use crate::node::{ExprKind, GridRegion, Literal, Meta};
    use crate::op::OpRegistryBuilder;
    use crate::{Arena, Context, Expr};

    fn tuple<'c>(cx: &Context<'c>, parts: &[Expr<'c>]) -> Expr<'c> {
        let types: Vec<_> = parts.iter().map(|p| p.ty()).collect();
        cx.expr(ExprKind::Tuple(cx.alloc_slice(parts)), cx.tuple(&types), Meta::default())
    }

    fn grid<'c>(cx: &Context<'c>, induction: Expr<'c>, body: Expr<'c>) -> Expr<'c> {
        let (start, stop, step) = (cx.dim(0), cx.dim(4), cx.dim(1));
        let region =
            GridRegion { induction, carries: &[], inits: &[], yields: &[], body: Some(body), start, stop, step };
        cx.grid(region, body.ty(), Meta::default())
    }

    #[test]
    fn invariants_leave_the_loop_and_inner_loops_keep_their_own() {
        let arena = Arena::new();
        let registry = OpRegistryBuilder::default().freeze().expect("empty registry");
        let cx = Context::new(&arena, Arc::new(registry));
        let var = |name: &str| cx.var(cx.symbol(name), cx.scalar(DType::I64), Meta::default());
        let (i, j) = (var("i"), var("j"));
        let constant = cx.constant(Literal::Int(3), DType::I64, Meta::default());
        let only_outer = tuple(&cx, &[i, constant]);
        let both = tuple(&cx, &[only_outer, j]);
        let inner = grid(&cx, j, both);
        let outer = grid(&cx, i, tuple(&cx, &[inner, i]));
        let plan = schedule(outer);
        assert_eq!(plan.root, [constant, outer]);
        assert_eq!(plan.region(inner), [both]);
        assert_eq!(plan.region(outer)[..2], [only_outer, inner]);
        assert_eq!(plan.region(outer).len(), 3);
    }
}
