//! Names of values, operands, and the right side of a line.

use tf_core::node::Callee;
use tf_core::{Expr, ExprKind};
use tf_types::Symbol;

use super::Printer;
use crate::syntax::{is_symbol, write_quoted, write_word};

/// Decimal digits, without the machinery of formatting: most of a text is numbers.
fn push_number(out: &mut String, mut number: u32) {
    let mut digits = [b'0'; 10];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend(digits[at..].iter().map(|&digit| char::from(digit)));
}

impl<'c> Printer<'_, 'c> {
    pub fn symbol(&mut self, name: Symbol<'c>) {
        self.out.push('@');
        if is_symbol(name.as_str()) {
            self.out.push_str(name.as_str());
        } else {
            write_quoted(&mut self.out, name.as_str());
        }
    }

    pub fn is_named(&self, expr: Expr<'c>) -> bool {
        self.numbers.contains_key(&expr)
    }

    /// The name of a value, `%base`, `%base.number` from the second one on, `%number` without a base; its first mention
    /// gives it one.
    pub fn value(&mut self, expr: Expr<'c>) {
        let base = expr.var_name().or(expr.meta.name);
        let number = *self.numbers.or_insert_with(expr, || {
            let count = match base {
                Some(base) => self.uses.entry(base).or_default(),
                None => &mut self.unnamed,
            };
            *count += 1;
            *count - 1
        });
        self.out.push('%');
        match base {
            None => {
                push_number(&mut self.out, number);
            }
            Some(base) => {
                write_word(&mut self.out, base.as_str());
                if number > 0 {
                    self.out.push('.');
                    push_number(&mut self.out, number);
                }
            }
        }
    }

    /// A bound variable with its metadata.
    pub fn binder(&mut self, var: Expr<'c>) {
        self.value(var);
        self.meta(var);
    }

    /// What an expression carries besides its meaning and its name.
    pub fn meta(&mut self, expr: Expr<'c>) {
        if let Some(constraint) = expr.meta.constraint {
            self.constraint(constraint);
        }
        self.location(expr.span());
    }

    /// A value, or a leaf without a line of its own.
    pub fn operand(&mut self, expr: Expr<'c>) {
        match expr.kind {
            ExprKind::SymbolRef(name) => self.symbol(name),
            ExprKind::Constant(literal) if !self.is_named(expr) => self.literal(literal),
            _ => return self.value(expr),
        }
        self.location(expr.span());
    }

    pub fn operands(&mut self, exprs: &[Expr<'c>]) {
        for (at, &expr) in exprs.iter().enumerate() {
            if at > 0 {
                self.out.push_str(", ");
            }
            self.operand(expr);
        }
    }

    /// ` : (type, type)`.
    pub fn operand_types(&mut self, exprs: &[Expr<'c>]) {
        self.out.push_str(" : (");
        for (at, expr) in exprs.iter().enumerate() {
            if at > 0 {
                self.out.push_str(", ");
            }
            self.ty(expr.ty());
        }
        self.out.push(')');
    }

    /// What stands after `%name = `, without regions and location. False if the value has no such form.
    pub fn right_side(&mut self, expr: Expr<'c>) -> bool {
        match expr.kind {
            ExprKind::Constant(literal) => {
                self.out.push_str("constant ");
                self.literal(literal);
            }
            ExprKind::Tuple(elements) => {
                self.out.push_str("tuple ");
                self.operands(elements);
                if elements.is_empty() {
                    self.out.pop();
                }
            }
            ExprKind::Call { callee, args } => {
                match callee {
                    Callee::Op(op) => {
                        self.out.push_str(op.decl.name.dialect);
                        self.out.push('.');
                        self.out.push_str(op.decl.name.name);
                        if !args.is_empty() {
                            self.out.push(' ');
                        }
                        self.operands(args);
                        self.attributes(op);
                    }
                    Callee::Function(function) => {
                        self.out.push_str("call ");
                        self.function_path(function);
                        self.out.push('(');
                        self.operands(args);
                        self.out.push(')');
                    }
                }
                self.operand_types(args);
                self.out.push_str(" -> ");
                self.ty(expr.ty());
                return true;
            }
            ExprKind::ShapeOf { param, axis } => {
                self.out.push_str("shape_of ");
                self.operand(param);
                self.out.push('[');
                push_number(&mut self.out, axis);
                self.out.push(']');
            }
            ExprKind::Var { .. } | ExprKind::SymbolRef(_) | ExprKind::Grid(_) => return false,
        }
        self.out.push_str(" : ");
        self.ty(expr.ty());
        true
    }
}
