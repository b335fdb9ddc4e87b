//! Rewriting of expressions; what does not change stays the same pointer.

use super::{for_each_expr_kind, grow};
use crate::node::{Expr, ExprKind, GridRegion};
use crate::walk::{operands, rebuild_expr};
use crate::{Context, NodeMap, Result};

macro_rules! define {
    ($($kind:ident $visit:ident $clone:ident $what:literal,)*) => {
        /// Rewrites expressions, operands first; a shared node is rewritten once, and all its consumers get the same result.
        ///
        /// A method gets the node as it was; what became of its operands is [`Cloning::get`]. Unless it makes a node of its own
        /// it ends in [`Cloning::rebuild`], which gives the same pointer back where no operand changed.
        ///
        /// ```
        /// use tf_core::visit::{Cloning, ExprCloner, clone_expr};
        /// use tf_core::{Context, Expr, ExprKind, Literal, Meta, Result};
        ///
        /// /// Doubles every integer literal.
        /// struct Double;
        /// impl<'c> ExprCloner<'c> for Double {
        ///     fn clone_constant(&mut self, constant: Expr<'c>, clone: &mut Cloning<'_, 'c>) -> Result<Expr<'c>> {
        ///         let Some(Literal::Int(value)) = constant.literal() else { return Ok(constant) };
        ///         Ok(clone.cx.expr(ExprKind::Constant(Literal::Int(2 * value)), constant.ty(), constant.meta))
        ///     }
        /// }
        /// fn doubled<'c>(cx: &Context<'c>, root: Expr<'c>) -> Result<Expr<'c>> {
        ///     clone_expr(cx, root, &mut Double)
        /// }
        /// ```
        pub trait ExprCloner<'c>: Sized {
            /// Whether the operands are rewritten before the node itself. Its method visits them otherwise, or leaves them alone.
            fn descends(&mut self, expr: Expr<'c>, clone: &mut Cloning<'_, 'c>) -> bool {
                let _ = (expr, clone);
                true
            }
            /// Called between a loop's initial values and its body: the place to replace its variables.
            /// By default carries follow the types of their rewritten initial values.
            ///
            /// # Errors
            /// Whatever the rewriter refuses.
            fn bind(&mut self, region: &GridRegion<'c>, clone: &mut Cloning<'_, 'c>) -> Result<()> {
                clone.retype_carries(region);
                Ok(())
            }
            /// A node whose kind has no method of its own.
            ///
            /// # Errors
            /// Whatever the rewriter refuses.
            fn default_clone(&mut self, expr: Expr<'c>, clone: &mut Cloning<'_, 'c>) -> Result<Expr<'c>> {
                clone.rebuild(expr)
            }
            $(
                #[doc = concat!("Rewrites ", $what, ".")]
                ///
                /// # Errors
                /// Whatever the rewriter refuses.
                fn $clone(&mut self, expr: Expr<'c>, clone: &mut Cloning<'_, 'c>) -> Result<Expr<'c>> {
                    self.default_clone(expr, clone)
                }
            )*
            /// Calls the method of the node's kind.
            ///
            /// # Errors
            /// Whatever the rewriter refuses.
            fn dispatch_clone(&mut self, expr: Expr<'c>, clone: &mut Cloning<'_, 'c>) -> Result<Expr<'c>> {
                match expr.kind {
                    $(ExprKind::$kind { .. } => self.$clone(expr, clone),)*
                }
            }
        }
    };
}
for_each_expr_kind!(define);

/// Rewrites nothing by itself: only what [`Cloning::replace`] has put in the place of other nodes, and what is made of them.
pub struct Same;
impl ExprCloner<'_> for Same {}

/// A rewrite: where new nodes are made, and what became of the nodes so far.
pub struct Cloning<'a, 'c> {
    /// Where new nodes are made.
    pub cx: &'a Context<'c>,
    memo: NodeMap<Expr<'c>, Expr<'c>>,
}

enum Step<'c> {
    Enter(Expr<'c>),
    Bind(&'c GridRegion<'c>),
    Finish(Expr<'c>),
}

impl<'a, 'c> Cloning<'a, 'c> {
    /// A rewrite that has seen nothing.
    #[must_use]
    pub fn new(cx: &'a Context<'c>) -> Self {
        Self { cx, memo: NodeMap::default() }
    }

    /// Puts `new` in the place of `old`, such as a parameter; no method is called for `old`.
    pub fn replace(&mut self, old: Expr<'c>, new: Expr<'c>) {
        self.memo.insert(old, new);
    }

    /// What became of a node; itself if it has not been rewritten.
    #[must_use]
    pub fn get(&self, expr: Expr<'c>) -> Expr<'c> {
        self.memo.get(&expr).copied().unwrap_or(expr)
    }

    /// The node over its rewritten operands: the same pointer if none changed, else a new one whose type is inferred.
    ///
    /// # Errors
    /// The new operands do not fit the op; a loop's yield has another type than its carry.
    pub fn rebuild(&self, expr: Expr<'c>) -> Result<Expr<'c>> {
        rebuild_expr(self.cx, expr, |operand| self.get(operand))
    }

    /// New carries where the types of the initial values changed.
    pub fn retype_carries(&mut self, region: &GridRegion<'c>) {
        for (&carry, &init) in region.carries.iter().zip(region.inits) {
            let ty = self.get(init).ty();
            // A carry that took its yield's layout keeps it while its initial value stays the same.
            if ty != init.ty() && ty != carry.ty() {
                let new = self.cx.expr(carry.kind, ty, carry.meta);
                self.memo.insert(carry, new);
            }
        }
    }

    /// The rewritten node; it is rewritten now if it was not yet.
    ///
    /// # Errors
    /// What the rewriter or type inference refuses.
    pub fn visit<R: ExprCloner<'c>>(&mut self, cloner: &mut R, expr: Expr<'c>) -> Result<Expr<'c>> {
        match self.memo.get(&expr) {
            Some(&new) => Ok(new),
            None => grow(|| self.drive(cloner, expr)),
        }
    }

    fn drive<R: ExprCloner<'c>>(&mut self, cloner: &mut R, root: Expr<'c>) -> Result<Expr<'c>> {
        let mut stack = vec![Step::Enter(root)];
        while let Some(step) = stack.pop() {
            let expr = match step {
                Step::Enter(expr) | Step::Finish(expr) if self.memo.contains_key(&expr) => continue,
                Step::Bind(region) => {
                    cloner.bind(region, self)?;
                    continue;
                }
                Step::Finish(expr) => expr,
                Step::Enter(expr) if cloner.descends(expr, self) => {
                    stack.push(Step::Finish(expr));
                    let first = stack.len();
                    if let ExprKind::Grid(region) = expr.kind {
                        stack.extend(region.inits.iter().map(|&init| Step::Enter(init)));
                        stack.push(Step::Bind(region));
                        stack.extend(region.yields.iter().chain(&region.body).map(|&value| Step::Enter(value)));
                    } else {
                        operands(expr, |operand| stack.push(Step::Enter(operand)));
                    }
                    if stack.len() > first {
                        stack[first..].reverse();
                        continue;
                    }
                    stack.pop();
                    expr
                }
                Step::Enter(expr) => expr,
            };
            let new = cloner.dispatch_clone(expr, self)?;
            self.memo.insert(expr, new);
        }
        Ok(self.get(root))
    }
}

/// Rewrites everything that `root` reaches.
///
/// # Errors
/// What the rewriter or type inference refuses.
pub fn clone_expr<'c, R: ExprCloner<'c>>(cx: &Context<'c>, root: Expr<'c>, cloner: &mut R) -> Result<Expr<'c>> {
    Cloning::new(cx).visit(cloner, root)
}
