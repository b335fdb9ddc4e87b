//! Headers of functions.

use tf_core::Expr;
use tf_core::node::{Function, PrimFunction};

use super::Printer;

impl<'c> Printer<'_, 'c> {
    fn params(&mut self, params: &[Expr<'c>]) {
        self.out.push('(');
        for (at, &param) in params.iter().enumerate() {
            if at > 0 {
                self.out.push_str(", ");
            }
            self.value(param);
            self.out.push_str(": ");
            if matches!(param.kind, tf_core::ExprKind::Var { is_const: true, .. }) {
                self.out.push_str("const ");
            }
            self.ty(param.ty());
            self.location(param.span());
        }
        self.out.push(')');
    }

    pub fn hir_function(&mut self, function: Function<'c>) {
        self.line();
        self.out.push_str("hir.func ");
        self.symbol(function.name);
        self.params(function.params);
        self.out.push_str(" -> ");
        self.ty(function.return_type);
        self.location(function.span);
        self.out.push_str(" {");
        self.indent += 1;
        self.expressions(function.body);
        self.line();
        self.out.push_str("hir.return ");
        self.operand(function.body);
        if !self.is_named(function.body) {
            self.out.push_str(" : ");
            self.ty(function.body.ty());
        }
        self.close();
    }

    pub fn tir_function(&mut self, function: PrimFunction<'c>) {
        self.line();
        self.out.push_str("tir.func ");
        self.symbol(function.name);
        self.params(function.params);
        self.target(function.target);
        let outputs = format!(" outputs({})", function.output_count);
        self.out.push_str(&outputs);
        self.location(function.span);
        self.out.push_str(" {");
        self.indent += 1;
        self.statements(function.body);
        self.close();
    }

    /// The end of a region.
    pub fn close(&mut self) {
        self.indent -= 1;
        self.line();
        self.out.push('}');
    }
}
