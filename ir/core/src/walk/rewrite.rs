//! Rewriting of expressions; what does not change stays the same pointer.

use rustc_hash::FxHashMap;

use crate::node::{Callee, Expr, ExprKind, GridRegion};
use crate::op::OpView;
use crate::{Context, Diagnostic, Result};

/// A rewriter of one kind of node: implement [`ExprRewriter::rewrite`] for it and leave the rest to
/// [`Rewritten::rebuild`].
pub trait ExprRewriter<'c> {
    /// Called once for every node, after its operands. A shared node is rewritten once.
    ///
    /// # Errors
    /// Whatever the rewriter refuses.
    fn rewrite(&mut self, expr: Expr<'c>, done: &Rewritten<'_, 'c>) -> Result<Expr<'c>>;
}

/// What has been rewritten so far.
pub struct Rewritten<'a, 'c> {
    /// Where new nodes are made.
    pub cx: &'a Context<'c>,
    memo: FxHashMap<Expr<'c>, Expr<'c>>,
}

impl<'c> Rewritten<'_, 'c> {
    /// What became of an operand, or of a variable that was replaced.
    #[must_use]
    pub fn get(&self, expr: Expr<'c>) -> Expr<'c> {
        self.memo.get(&expr).copied().unwrap_or(expr)
    }

    fn all(&self, exprs: &'c [Expr<'c>]) -> &'c [Expr<'c>] {
        if exprs.iter().all(|&e| self.get(e) == e) {
            return exprs;
        }
        let new: Vec<_> = exprs.iter().map(|&e| self.get(e)).collect();
        self.cx.alloc_slice(&new)
    }

    /// The node over its rewritten operands: the same pointer if none changed, else a new one whose type is inferred.
    ///
    /// # Errors
    /// The new operands do not fit the op; a loop's yield has another type than its carry.
    pub fn rebuild(&self, expr: Expr<'c>) -> Result<Expr<'c>> {
        let cx = self.cx;
        match expr.kind {
            ExprKind::Var { .. } | ExprKind::Constant(_) | ExprKind::SymbolRef(_) => Ok(expr),
            ExprKind::Tuple(elements) => {
                let new = self.all(elements);
                if std::ptr::eq(new, elements) {
                    return Ok(expr);
                }
                let types: Vec<_> = new.iter().map(|e| e.ty()).collect();
                Ok(cx.expr(ExprKind::Tuple(new), cx.tuple(&types), expr.meta))
            }
            ExprKind::Call { callee, args } => {
                let new = self.all(args);
                if std::ptr::eq(new, args) {
                    return Ok(expr);
                }
                let ty = match callee {
                    Callee::Op(op) => cx.infer(OpView { op, args: new }, expr.span())?,
                    Callee::Function(_) => expr.ty(),
                };
                Ok(cx.expr(ExprKind::Call { callee, args: new }, ty, expr.meta))
            }
            ExprKind::ShapeOf { param, axis } => match self.get(param) {
                same if same == param => Ok(expr),
                new => cx.shape_of(new, axis, expr.meta),
            },
            ExprKind::Grid(region) => self.rebuild_grid(expr, region),
        }
    }

    fn rebuild_grid(&self, expr: Expr<'c>, region: &GridRegion<'c>) -> Result<Expr<'c>> {
        let new = GridRegion {
            carries: self.all(region.carries),
            inits: self.all(region.inits),
            yields: self.all(region.yields),
            body: region.body.map(|body| self.get(body)),
            ..*region
        };
        let same = std::ptr::eq(new.carries, region.carries)
            && std::ptr::eq(new.inits, region.inits)
            && std::ptr::eq(new.yields, region.yields)
            && new.body == region.body;
        if same {
            return Ok(expr);
        }
        for (carry, value) in new.carries.iter().zip(new.yields) {
            if carry.ty() != value.ty() {
                let message = format!("the loop carries {} as {}", carry.describe(), carry.ty());
                let found = format!("but yields {}", value.ty());
                return Err(Diagnostic::error(format!("{message} {found}")).at(value.span().or(expr.span())));
            }
        }
        let cx = self.cx;
        let types: Vec<_> = new.carries.iter().map(|c| c.ty()).collect();
        let ty = match (&types[..], new.body) {
            ([], Some(body)) => body.ty(),
            ([one], _) => *one,
            (many, _) => cx.tuple(many),
        };
        Ok(cx.grid(new, ty, expr.meta))
    }

    /// New carries where the types of the initial values changed.
    fn bind(&mut self, region: &GridRegion<'c>) {
        for (&carry, &init) in region.carries.iter().zip(region.inits) {
            let ty = self.get(init).ty();
            // A carry that took its yield's layout keeps it while its initial value stays the same (decision 11).
            if ty != init.ty() && ty != carry.ty() {
                let new = self.cx.expr(carry.kind, ty, carry.meta);
                self.memo.insert(carry, new);
            }
        }
    }
}

enum Step<'c> {
    Enter(Expr<'c>),
    Bind(&'c GridRegion<'c>),
    Finish(Expr<'c>),
}

/// Rewrites everything that `root` reaches. `substitute` gives the initial replacements, such as parameters.
///
/// # Errors
/// What the rewriter or type inference refuses.
pub fn rewrite_expr<'c, R: ExprRewriter<'c>>(
    cx: &Context<'c>,
    root: Expr<'c>,
    substitute: impl IntoIterator<Item = (Expr<'c>, Expr<'c>)>,
    rewriter: &mut R,
) -> Result<Expr<'c>> {
    let mut done = Rewritten { cx, memo: substitute.into_iter().collect() };
    let mut stack = vec![Step::Enter(root)];
    while let Some(step) = stack.pop() {
        match step {
            Step::Enter(expr) => {
                if done.memo.contains_key(&expr) {
                    continue;
                }
                stack.push(Step::Finish(expr));
                let first = stack.len();
                if let ExprKind::Grid(region) = expr.kind {
                    stack.extend(region.inits.iter().map(|&init| Step::Enter(init)));
                    stack.push(Step::Bind(region));
                    stack.extend(region.yields.iter().chain(&region.body).map(|&value| Step::Enter(value)));
                } else {
                    super::operands(expr, |operand| stack.push(Step::Enter(operand)));
                }
                stack[first..].reverse();
            }
            Step::Bind(region) => done.bind(region),
            Step::Finish(expr) => {
                if !done.memo.contains_key(&expr) {
                    let new = rewriter.rewrite(expr, &done)?;
                    done.memo.insert(expr, new);
                }
            }
        }
    }
    Ok(done.get(root))
}
