//! Constants in the values of HIR.

use tf_core::node::GridRegion;
use tf_core::visit::{Cloning, ExprCloner, clone_expr};
use tf_core::walk::operands;
use tf_core::{Expr, ExprKind, NodeMap, NodeSet, Result};
use tf_dataflow::{Constants, Trips};
use tf_framework::{FunctionCx, RemarkKind};
use tf_hir::TupleGetItem;

use super::ConstProp;
use crate::fold::Folder;
use crate::loops::{field, results, without_carries};

/// What became of an expression.
enum Done<'c> {
    Is(Expr<'c>),
    NeverRuns,
    RunsOnce,
}

struct Propagate<'a, 'c> {
    folder: Folder<'a, 'c>,
    constants: &'a Constants<'c>,
    /// The induction variables of loops that have been entered; one of two loops stays.
    bound: NodeSet<Expr<'c>>,
    /// Carries that are always the same.
    known: NodeMap<Expr<'c>, Expr<'c>>,
    /// The induction variables of loops that run once and whose body has their start and initial values in place of variables.
    unwrapped: NodeSet<Expr<'c>>,
    /// Operands that stay what they are, since a call that sees their value has another type or none: a window that its axis does not
    /// have, in a loop that never runs.
    kept: NodeSet<Expr<'c>>,
    /// Whether `kept` grew in this round.
    again: bool,
    done: Vec<(Expr<'c>, Done<'c>)>,
}

impl<'c> Propagate<'_, 'c> {
    fn constant(&self, expr: Expr<'c>) -> Option<Expr<'c>> {
        if self.kept.contains(&expr) {
            return None;
        }
        let is_made = match expr.kind {
            ExprKind::Constant(_) => true,
            ExprKind::Call { args, .. } => args.is_empty(),
            _ => false,
        };
        if is_made {
            return None;
        }
        let tensor = self.constants.fact(expr).tensor()?;
        self.folder.materialized(tensor, expr.ty(), expr.source_metadata())
    }

    fn replaced(&mut self, expr: Expr<'c>, new: Expr<'c>) -> Expr<'c> {
        self.done.push((expr, Done::Is(new)));
        new
    }

    fn grid(&mut self, expr: Expr<'c>, region: &GridRegion<'c>, clone: &mut Cloning<'_, 'c>) -> Result<Expr<'c>> {
        let all = |exprs: &[Expr<'c>]| exprs.iter().map(|&expr| clone.get(expr)).collect::<Vec<_>>();
        let trips = Trips::of_region(clone.cx, region);
        let unwrapped = self.unwrapped.contains(&region.induction);
        let decided = match (trips, region.body) {
            (Trips::None, None) => Some(all(region.inits)),
            (Trips::One(_), None) if unwrapped => Some(all(region.yields)),
            (Trips::One(_), Some(body)) if unwrapped => Some(vec![clone.get(body)]),
            _ => None,
        };
        if let Some(values) = decided.filter(|values| fit(region, values)) {
            self.done.push((expr, if trips == Trips::None { Done::NeverRuns } else { Done::RunsOnce }));
            return Ok(results(clone.cx, expr, &values));
        }
        let kept: Vec<_> =
            (0..region.carries.len()).filter(|&at| !self.known.contains_key(&region.carries[at])).collect();
        if kept.len() == region.carries.len() && !unwrapped {
            return clone.rebuild(expr);
        }
        let list = |exprs: &[Expr<'c>]| clone.cx.alloc_slice(&all(exprs));
        let (inits, yields) = (list(region.inits), list(region.yields));
        let carries = if unwrapped { region.carries } else { list(region.carries) };
        let body = region.body.map(|body| clone.get(body));
        let new = GridRegion { carries, inits, yields, body, ..*region };
        if kept.len() == region.carries.len() {
            return Ok(clone.cx.grid(new, expr.ty(), expr.meta));
        }
        let fact = self.constants.fact(expr);
        let instead: Vec<_> = (0..carries.len())
            .map(|at| {
                let (carry, fact) = (region.carries[at], fact.field(at));
                let known = self.known.get(&carry).copied();
                known.or_else(|| self.folder.materialized(fact.tensor()?, carry.ty(), expr.source_metadata()))
            })
            .collect();
        without_carries(clone.cx, expr, &new, &kept, &instead)
    }
}

/// Whether the values have the types of the carries: a carry may differ from them in strides.
fn fit<'c>(region: &GridRegion<'c>, values: &[Expr<'c>]) -> bool {
    region.body.is_some() || region.carries.iter().zip(values).all(|(carry, value)| carry.ty() == value.ty())
}

impl<'c> ExprCloner<'c> for Propagate<'_, 'c> {
    fn descends(&mut self, expr: Expr<'c>, _: &mut Cloning<'_, 'c>) -> bool {
        self.constant(expr).is_none()
    }

    fn bind(&mut self, region: &GridRegion<'c>, clone: &mut Cloning<'_, 'c>) -> Result<()> {
        clone.retype_carries(region);
        if !self.bound.insert(region.induction) {
            return Ok(());
        }
        let pairs = || region.carries.iter().copied().zip(region.inits.iter().copied());
        let trips = Trips::of_region(clone.cx, region);
        if let Trips::Unknown | Trips::Several = trips {
            for &carry in region.carries {
                if let Some(constant) = self.constant(carry).filter(|constant| constant.ty() == clone.get(carry).ty()) {
                    clone.replace(carry, constant);
                    self.known.insert(carry, constant);
                }
            }
        }
        let once = matches!(trips, Trips::One(_));
        let Some(index) = self.constant(region.induction).filter(|_| once) else { return Ok(()) };
        if pairs().all(|(carry, init)| carry.ty() == clone.get(init).ty()) {
            for (carry, init) in pairs() {
                let init = clone.get(init);
                clone.replace(carry, init);
            }
            clone.replace(region.induction, index);
            self.unwrapped.insert(region.induction);
        }
        Ok(())
    }

    fn clone_grid(&mut self, expr: Expr<'c>, clone: &mut Cloning<'_, 'c>) -> Result<Expr<'c>> {
        let ExprKind::Grid(region) = expr.kind else { return Ok(expr) };
        match self.constant(expr) {
            Some(new) => Ok(self.replaced(expr, new)),
            None => self.grid(expr, region, clone),
        }
    }

    fn clone_call(&mut self, call: Expr<'c>, clone: &mut Cloning<'_, 'c>) -> Result<Expr<'c>> {
        if let Some(new) = self.constant(call) {
            return Ok(self.replaced(call, new));
        }
        if let Some(get) = call.as_op::<TupleGetItem>()
            && matches!(clone.get(get.value()).kind, ExprKind::Tuple(_))
            && !matches!(get.value().kind, ExprKind::Tuple(_))
        {
            return field(clone.cx, clone.get(get.value()), get.index() as usize);
        }
        match clone.rebuild(call) {
            Ok(new) if new.ty() == call.ty() => Ok(new),
            other => {
                let before = self.kept.len();
                operands(call, |operand| {
                    if clone.get(operand).literal().is_some() && operand.literal().is_none() {
                        self.kept.insert(operand);
                    }
                });
                self.again |= self.kept.len() > before;
                if self.again { Ok(call) } else { other }
            }
        }
    }
}

impl ConstProp {
    pub(super) fn value<'c>(
        &self,
        cx: &FunctionCx<'_, 'c>,
        body: Expr<'c>,
        folder: Folder<'_, 'c>,
        constants: &Constants<'c>,
    ) -> Result<Expr<'c>> {
        let mut kept = NodeSet::default();
        loop {
            let (bound, known, unwrapped) = Default::default();
            let (again, done) = (false, Vec::new());
            let mut propagate = Propagate { folder, constants, bound, known, unwrapped, kept, again, done };
            let new = clone_expr(cx.context(), body, &mut propagate);
            if !propagate.again {
                self.tell(cx, &propagate.done);
                return new;
            }
            kept = propagate.kept;
        }
    }

    fn tell<'c>(&self, cx: &FunctionCx<'_, 'c>, done: &[(Expr<'c>, Done<'c>)]) {
        for (expr, done) in done {
            let count = if let Done::Is(_) = done { &self.replaced } else { &self.decided };
            count.add(1);
            cx.remark(RemarkKind::Applied, expr.span(), || match done {
                Done::Is(new) => format!("{} is {}", expr.describe(), new.describe()),
                Done::NeverRuns => "the loop never runs".to_owned(),
                Done::RunsOnce => "the loop runs once".to_owned(),
            });
        }
    }
}
