//! Methods: what the author wrote, and the statements made of it.

use std::fmt::Write;

use tf_core::node::Method;
use tf_core::node::method::{MethodExpr, MethodItems, MethodStmt, MethodStmtKind};

use super::Printer;
use crate::syntax::write_quoted;

impl<'c> Printer<'_, 'c> {
    /// `method @forward(x, n = 1) source("…") {`, one statement a line, `}`.
    pub fn method(&mut self, method: Method<'c>) {
        self.line();
        self.out.push_str("method ");
        self.symbol(method.name);
        self.out.push('(');
        for (at, param) in method.params.iter().enumerate() {
            self.out.push_str(if at > 0 { ", " } else { "" });
            self.word(param.name);
            if let Some(default) = param.default {
                self.out.push_str(" = ");
                self.method_expr(default);
            }
        }
        self.out.push_str(") source(");
        write_quoted(&mut self.out, method.source);
        self.out.push(')');
        self.location(method.span);
        self.method_block(method.body);
    }

    /// Blocks and expressions nest as deep as they were written.
    fn method_block(&mut self, body: &[MethodStmt<'c>]) {
        self.out.push_str(" {");
        self.indent += 1;
        for stmt in body {
            self.line();
            self.method_stmt(stmt);
        }
        self.close();
    }

    fn method_stmt(&mut self, stmt: &MethodStmt<'c>) {
        match stmt.kind {
            MethodStmtKind::Assign(name, value) => {
                self.out.push_str("set ");
                self.word(name);
                self.out.push_str(" = ");
                self.method_expr(value);
            }
            MethodStmtKind::Unpack(names, value) => {
                self.out.push_str("unpack (");
                for (at, &name) in names.iter().enumerate() {
                    self.out.push_str(if at > 0 { ", " } else { "" });
                    self.word(name);
                }
                self.out.push_str(") = ");
                self.method_expr(value);
            }
            MethodStmtKind::Drop(value) => {
                self.out.push_str("drop ");
                self.method_expr(value);
            }
            MethodStmtKind::For { name, items, body } => {
                self.out.push_str("for ");
                self.word(name);
                self.out.push_str(" in ");
                match items {
                    MethodItems::Of(value) => self.method_expr(value),
                    MethodItems::Range(start, stop, step) => {
                        let _ = write!(self.out, "range {start} to {stop} step {step}");
                    }
                }
                self.location(stmt.span.0);
                self.method_block(body);
                return;
            }
            MethodStmtKind::Return(None) => self.out.push_str("return"),
            MethodStmtKind::Return(Some(value)) => {
                self.out.push_str("return ");
                self.method_expr(value);
            }
            MethodStmtKind::Unsupported(what) => self.unsupported(what.as_str()),
        }
        self.location(stmt.span.0);
    }

    fn unsupported(&mut self, what: &str) {
        self.out.push_str("unsupported ");
        write_quoted(&mut self.out, what);
    }

    fn method_exprs(&mut self, exprs: &[MethodExpr<'c>]) {
        for (at, &expr) in exprs.iter().enumerate() {
            self.out.push_str(if at > 0 { ", " } else { "" });
            self.method_expr(expr);
        }
    }

    fn method_expr(&mut self, expr: MethodExpr<'c>) {
        match expr {
            MethodExpr::Name(name) => {
                self.out.push('$');
                self.word(name);
            }
            MethodExpr::None => self.out.push_str("none"),
            MethodExpr::Literal(literal) => self.literal(literal),
            MethodExpr::Str(text) => write_quoted(&mut self.out, text.as_str()),
            MethodExpr::Attribute(base, name) => {
                self.method_expr(*base);
                // `none.f` would be one word.
                let is_word = matches!(base, MethodExpr::None | MethodExpr::Literal(_));
                self.out.push_str(if is_word { " ." } else { "." });
                self.word(name);
            }
            MethodExpr::Item(base, index) => {
                self.method_expr(*base);
                self.out.push('[');
                self.method_expr(*index);
                self.out.push(']');
            }
            MethodExpr::Tuple(items) => {
                self.out.push('(');
                self.method_exprs(items);
                self.out.push(')');
            }
            MethodExpr::Call { callee, args, keywords } => {
                self.method_expr(*callee);
                self.out.push('(');
                self.method_exprs(args);
                for (at, &(name, value)) in keywords.iter().enumerate() {
                    self.out.push_str(if at > 0 || !args.is_empty() { ", " } else { "" });
                    self.symbol(name);
                    self.out.push_str(" = ");
                    self.method_expr(value);
                }
                self.out.push(')');
            }
            MethodExpr::Unsupported(what) => self.unsupported(what.as_str()),
        }
    }
}
