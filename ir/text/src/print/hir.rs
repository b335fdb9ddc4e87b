//! Values one a line, loops as regions.

use tf_core::node::GridRegion;
use tf_core::walk::schedule;
use tf_core::{Expr, ExprKind};

use super::Printer;

impl<'c> Printer<'_, 'c> {
    /// Everything that `root` needs and has no name yet, operands first, each value in the loop it depends on.
    pub fn expressions(&mut self, root: Expr<'c>) {
        let plan = schedule(root);
        self.expect_values(plan.root.len());
        let mut regions = vec![(None, plan.root.iter())];
        while let Some((grid, rest)) = regions.last_mut() {
            let grid = *grid;
            let Some(&expr) = rest.next() else {
                if let Some(region) = grid {
                    self.yields(region);
                    self.close();
                }
                regions.pop();
                continue;
            };
            if self.is_named(expr) {
                continue;
            }
            if let ExprKind::Grid(region) = expr.kind {
                self.grid(expr, region);
                regions.push((Some(region), plan.region(expr).iter()));
            } else {
                self.expression(expr);
            }
        }
    }

    /// One value on one line.
    pub fn expression(&mut self, expr: Expr<'c>) {
        self.line();
        self.value(expr);
        self.out.push_str(" = ");
        self.right_side(expr);
        self.meta(expr);
    }

    fn grid(&mut self, expr: Expr<'c>, region: &GridRegion<'c>) {
        self.line();
        self.value(expr);
        self.out.push_str(" = hir.grid ");
        self.binder(region.induction);
        for (word, dim) in [(" = ", region.start), (" to ", region.stop), (" step ", region.step)] {
            self.out.push_str(word);
            self.types.write_dim(&mut self.out, dim);
        }
        if !region.carries.is_empty() {
            self.out.push_str(" iter(");
            for (at, (&carry, &init)) in region.carries.iter().zip(region.inits).enumerate() {
                if at > 0 {
                    self.out.push_str(", ");
                }
                self.binder(carry);
                self.out.push_str(" = ");
                self.operand(init);
            }
            self.out.push(')');
        }
        self.out.push_str(" : ");
        self.ty(expr.ty());
        self.meta(expr);
        self.out.push_str(" {");
        self.indent += 1;
    }

    fn yields(&mut self, region: &GridRegion<'c>) {
        self.line();
        self.out.push_str("hir.yield ");
        match region.body {
            Some(body) if region.carries.is_empty() => self.operand(body),
            _ => self.operands(region.yields),
        }
    }
}
