//! Copies under other variables.

use super::{Cloning, ExprCloner};
use crate::node::{Expr, ExprKind, GridRegion};
use crate::{Context, Result};

/// Replaces variables by values, and gives every loop it copies variables of its own.
///
/// One instance makes one copy: what is shared in the original is shared in it. Independent copies need an instance each.
/// Values that mention no replaced variable and no loop stay the same pointers.
pub struct BindingSubstitutionCloner<'a, 'c> {
    clone: Cloning<'a, 'c>,
}

impl<'a, 'c> BindingSubstitutionCloner<'a, 'c> {
    /// With `(variable, value)` pairs, such as parameters and arguments.
    #[must_use]
    pub fn new(cx: &'a Context<'c>, environment: impl IntoIterator<Item = (Expr<'c>, Expr<'c>)>) -> Self {
        let mut clone = Cloning::new(cx);
        environment.into_iter().for_each(|(variable, value)| clone.replace(variable, value));
        Self { clone }
    }

    /// The copy of `root`.
    ///
    /// # Errors
    /// The values do not fit where the variables were used.
    pub fn copy(&mut self, root: Expr<'c>) -> Result<Expr<'c>> {
        self.clone.visit(&mut FreshBinders, root)
    }
}

struct FreshBinders;

impl<'c> ExprCloner<'c> for FreshBinders {
    fn bind(&mut self, region: &GridRegion<'c>, clone: &mut Cloning<'_, 'c>) -> Result<()> {
        clone.retype_carries(region);
        for binder in region.binders() {
            let old = clone.get(binder);
            if let ExprKind::Var { .. } = old.kind {
                let new = clone.cx.expr(old.kind, old.ty(), old.meta);
                clone.replace(binder, new);
            }
        }
        Ok(())
    }
}
