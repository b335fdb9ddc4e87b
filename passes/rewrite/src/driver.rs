//! The greedy driver.

use tf_core::node::GridRegion;
use tf_core::visit::{Cloning, ExprCloner};
use tf_core::walk::{operands, rebuild_expr};
use tf_core::{Diagnostic, Expr, ExprKind, Result};

use crate::pattern::Rewriter;
use crate::patterns::Patterns;

/// How long a chain of rewrites may be that comes of one expression. Terminating sets of patterns stay far below.
const LONGEST: usize = 200;

/// A pattern, none for a fold, and what it gives.
type Step<'c> = (Option<&'static str>, Expr<'c>);

/// A rewrite that was made.
#[derive(Clone, Copy)]
pub struct Applied<'c> {
    /// The pattern; none where a fold was made.
    pub pattern: Option<&'static str>,
    /// What stood there.
    pub old: Expr<'c>,
    /// What stands there now.
    pub new: Expr<'c>,
}

/// Rewrites expressions, operands first, until no pattern fits: run it with [`clone_expr`](tf_core::visit::clone_expr) or as the
/// cloner of a statement mutator. What a pattern gives is rewritten itself; nothing is looked at twice.
///
/// A value never changes its type. Where an op sees a literal in place of an operand and has another type then, or none, that operand
/// stays what it was.
pub struct Greedy<'a, 'c> {
    patterns: &'a Patterns,
    fast_math: bool,
    fold: &'a dyn Fn(Expr<'c>) -> Option<Expr<'c>>,
    /// The rewrites that lead to the expression at hand.
    chain: Vec<&'static str>,
    /// Everything that was done, in order.
    pub applied: Vec<Applied<'c>>,
}

impl<'a, 'c> Greedy<'a, 'c> {
    /// A driver of these patterns. `fold` gives the literal that a call of literals is, and is asked first.
    pub fn new(patterns: &'a Patterns, fast_math: bool, fold: &'a dyn Fn(Expr<'c>) -> Option<Expr<'c>>) -> Self {
        Self { patterns, fast_math, fold, chain: Vec::new(), applied: Vec::new() }
    }

    /// What may stand in the place of an expression, and what says so.
    ///
    /// # Errors
    /// A pattern panicked.
    fn step(&self, expr: Expr<'c>, clone: &Cloning<'_, 'c>) -> Result<Option<Step<'c>>> {
        let fits = |new: &Expr<'c>| new.ty() == expr.ty() && *new != expr;
        if let ExprKind::Call { .. } = expr.kind
            && let Some(new) = (self.fold)(expr).filter(fits)
        {
            return Ok(Some((None, new)));
        }
        let patterns = self.patterns.of(expr);
        if patterns.is_empty() {
            return Ok(None);
        }
        let rewriter = Rewriter::new(clone.cx, expr);
        let patterns = patterns.iter().map(|&at| self.patterns.get(at));
        for pattern in patterns.filter(|pattern| self.fast_math || !pattern.fast_math()) {
            let given = pattern
                .guarded(expr, &rewriter)
                .map_err(|panic| panic.into_diagnostic(&format!("pattern `{}`", pattern.name())).at(expr.span()))?;
            if let Some(new) = given.filter(fits) {
                return Ok(Some((Some(pattern.name()), new)));
            }
        }
        Ok(None)
    }

    /// The expression over its rewritten operands, with its type.
    fn rebuilt(&self, expr: Expr<'c>, clone: &Cloning<'_, 'c>) -> Expr<'c> {
        let keeps_type = |new: &Expr<'c>| new.ty() == expr.ty();
        if let Some(new) = clone.rebuild(expr).ok().filter(keeps_type) {
            return new;
        }
        let unless_literal = |operand: Expr<'c>| {
            let new = clone.get(operand);
            if new.literal().is_some() { operand } else { new }
        };
        rebuild_expr(clone.cx, expr, unless_literal).ok().filter(keeps_type).unwrap_or(expr)
    }

    fn endless(&self, expr: Expr<'c>) -> Diagnostic {
        let mut names: Vec<_> = self.chain[LONGEST / 2..].iter().map(|name| format!("`{name}`")).collect();
        names.sort_unstable();
        names.dedup();
        let (subject, verb) = if names.len() == 1 { ("pattern", "rewrites") } else { ("patterns", "rewrite") };
        let message = format!("{subject} {} {verb} the same expression without end", names.join(", "));
        let help = "what a pattern gives must be simpler by one measure that all patterns agree on";
        Diagnostic::error(message).at(expr.span()).with_help(help)
    }
}

impl<'c> ExprCloner<'c> for Greedy<'_, 'c> {
    /// No value changes its type, and so no carry does.
    fn bind(&mut self, _: &GridRegion<'c>, _: &mut Cloning<'_, 'c>) -> Result<()> {
        Ok(())
    }

    fn default_clone(&mut self, expr: Expr<'c>, clone: &mut Cloning<'_, 'c>) -> Result<Expr<'c>> {
        let mut has_operands = false;
        operands(expr, |_| has_operands = true);
        let rebuilt = if has_operands { self.rebuilt(expr, clone) } else { expr };
        let Some((pattern, new)) = self.step(rebuilt, clone)? else {
            if rebuilt != expr {
                clone.replace(rebuilt, rebuilt);
            }
            return Ok(rebuilt);
        };
        self.applied.push(Applied { pattern, old: rebuilt, new });
        self.chain.push(pattern.unwrap_or("fold"));
        if self.chain.len() > LONGEST {
            return Err(self.endless(expr));
        }
        let normal = clone.visit(self, new)?;
        self.chain.pop();
        clone.replace(rebuilt, normal);
        clone.replace(normal, normal);
        Ok(normal)
    }
}
