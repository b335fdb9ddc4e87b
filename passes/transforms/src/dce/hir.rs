//! Carries that nobody needs.

use tf_core::node::GridRegion;
use tf_core::visit::{Cloning, ExprCloner, clone_expr};
use tf_core::walk::operands;
use tf_core::{Context, Expr, ExprKind, NodeMap, NodeSet, Result};
use tf_framework::Counter;
use tf_hir::TupleGetItem;

use crate::loops::{field, without_carries};

/// What the result of a body depends on.
#[derive(Default)]
struct Needed<'c> {
    values: NodeSet<Expr<'c>>,
    /// The loop of a carry and its place, once the loop has been seen.
    carries: NodeMap<Expr<'c>, (Expr<'c>, usize)>,
    /// Loops and the fields of theirs that are needed.
    fields: NodeSet<Expr<'c>>,
    needed: std::collections::HashSet<(Expr<'c>, usize)>,
    stack: Vec<Expr<'c>>,
}

impl<'c> Needed<'c> {
    /// From the result backwards, through loops field by field.
    fn of(body: Expr<'c>) -> Self {
        let mut needed = Self::default();
        needed.stack.push(body);
        while let Some(expr) = needed.stack.pop() {
            if let Some((grid, index)) = field_of_loop(expr) {
                needed.values.insert(expr);
                needed.field(grid, index);
            } else if needed.values.insert(expr) {
                needed.visit(expr);
            }
        }
        needed
    }

    fn visit(&mut self, expr: Expr<'c>) {
        match expr.kind {
            ExprKind::Grid(region) => {
                self.enter(expr, region);
                (0..region.carries.len()).for_each(|at| self.field(expr, at));
                self.stack.extend(region.body);
            }
            ExprKind::Var { .. } => {
                if let Some(&(grid, at)) = self.carries.get(&expr) {
                    self.field(grid, at);
                }
            }
            _ => operands(expr, |operand| self.stack.push(operand)),
        }
    }

    fn enter(&mut self, grid: Expr<'c>, region: &GridRegion<'c>) {
        if self.fields.insert(grid) {
            self.carries.extend(region.carries.iter().enumerate().map(|(at, &carry)| (carry, (grid, at))));
        }
    }

    fn field(&mut self, grid: Expr<'c>, at: usize) {
        let ExprKind::Grid(region) = grid.kind else { return };
        self.enter(grid, region);
        if let (true, Some(&init)) = (self.needed.insert((grid, at)), region.inits.get(at)) {
            self.stack.extend([init, region.yields[at]]);
        }
    }
}

/// The loop and the field that an expression takes of it.
fn field_of_loop(expr: Expr<'_>) -> Option<(Expr<'_>, usize)> {
    let get = expr.as_op::<TupleGetItem>()?;
    let ExprKind::Grid(region) = get.value().kind else { return None };
    let index = usize::try_from(get.index()).ok()?;
    (region.carries.len() > 1 && index < region.carries.len()).then_some((get.value(), index))
}

struct Remove<'a, 'c> {
    needed: Needed<'c>,
    removed: &'a Counter,
}

impl<'c> ExprCloner<'c> for Remove<'_, 'c> {
    fn descends(&mut self, expr: Expr<'c>, _: &mut Cloning<'_, 'c>) -> bool {
        // Values of dead carries are not rewritten, and not used.
        self.needed.values.contains(&expr) || self.needed.fields.contains(&expr)
    }

    /// Types stay.
    fn bind(&mut self, _: &GridRegion<'c>, _: &mut Cloning<'_, 'c>) -> Result<()> {
        Ok(())
    }

    fn clone_grid(&mut self, expr: Expr<'c>, clone: &mut Cloning<'_, 'c>) -> Result<Expr<'c>> {
        let ExprKind::Grid(region) = expr.kind else { return Ok(expr) };
        let live = |&at: &usize| self.needed.needed.contains(&(expr, at));
        let kept: Vec<_> = (0..region.carries.len()).filter(live).collect();
        if kept.len() == region.carries.len() || kept.is_empty() {
            return clone.rebuild(expr);
        }
        self.removed.add((region.carries.len() - kept.len()) as u64);
        let list =
            |exprs: &[Expr<'c>]| clone.cx.alloc_slice(&exprs.iter().map(|&expr| clone.get(expr)).collect::<Vec<_>>());
        let new = GridRegion { inits: list(region.inits), yields: list(region.yields), ..*region };
        let instead: Vec<_> =
            (0..region.carries.len()).map(|at| (!kept.contains(&at)).then_some(new.inits[at])).collect();
        without_carries(clone.cx, expr, &new, &kept, &instead)
    }

    fn clone_call(&mut self, call: Expr<'c>, clone: &mut Cloning<'_, 'c>) -> Result<Expr<'c>> {
        match field_of_loop(call) {
            Some((grid, index)) if clone.get(grid) != grid => field(clone.cx, clone.get(grid), index),
            _ => clone.rebuild(call),
        }
    }
}

/// The body without carries that its value does not depend on.
pub(super) fn live<'c>(cx: &Context<'c>, body: Expr<'c>, removed: &Counter) -> Result<Expr<'c>> {
    let needed = Needed::of(body);
    clone_expr(cx, body, &mut Remove { needed, removed })
}
