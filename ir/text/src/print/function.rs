//! Functions.

use std::fmt::Write;

use tf_core::Expr;
use tf_core::node::{Function, PrimFunction};
use tf_types::Symbol;

use super::Printer;
use crate::syntax::write_quoted;

impl<'c> Printer<'_, 'c> {
    fn params(&mut self, params: &[Expr<'c>]) {
        self.out.push('(');
        for (at, &param) in params.iter().enumerate() {
            if at > 0 {
                self.out.push_str(", ");
            }
            self.value(param);
            self.out.push_str(": ");
            if param.is_const_param() {
                self.out.push_str("const ");
            }
            self.ty(param.ty());
            self.meta(param);
        }
        self.out.push(')');
    }

    fn start_function(&mut self) {
        self.numbers.clear();
        self.uses.clear();
        self.unnamed = 0;
        self.line();
    }

    /// `word` says whether it is a member or an instance.
    pub fn hir_function(&mut self, word: &str, function: Function<'c>) {
        self.start_function();
        self.out.push_str(word);
        self.out.push(' ');
        self.symbol(function.name);
        self.hir_head(function);
        self.hir_body(function);
        for &variant in function.variants {
            self.start_function();
            self.out.push_str("hir.variant ");
            if let Some(label) = variant.label {
                write_quoted(&mut self.out, label.as_str());
                self.out.push(' ');
            }
            self.out.push('[');
            for (at, &range) in variant.specializations.iter().enumerate() {
                if at > 0 {
                    self.out.push_str(", ");
                }
                self.range(range);
            }
            self.out.push_str("] ");
            self.part(variant);
        }
        for converter in function.converters {
            self.start_function();
            self.out.push_str("hir.converter ");
            self.word(converter.weight);
            self.out.push(' ');
            self.symbol(converter.function.name);
            self.part(converter.function);
        }
        self.close();
    }

    fn part(&mut self, function: Function<'c>) {
        self.hir_head(function);
        self.hir_body(function);
        self.close();
    }

    /// `(params) -> type origin(…) doc("…") loc(…) {`.
    fn hir_head(&mut self, function: Function<'c>) {
        self.params(function.params);
        self.out.push_str(" -> ");
        self.ty(function.return_type);
        if let Some(origin) = function.origin {
            self.out.push_str(" origin(");
            match origin.function {
                Some(function) if function.name == origin.name => self.function_path(function),
                _ => self.symbol(origin.name),
            }
            if let Some(dims) = origin.dims {
                self.out.push_str(", [");
                for (at, &(name, value)) in dims.iter().enumerate() {
                    self.out.push_str(if at > 0 { ", " } else { "" });
                    self.word(name);
                    let _ = write!(self.out, " = {value}");
                }
                self.out.push(']');
            }
            self.out.push(')');
        }
        self.doc(function.doc);
        self.location(function.span);
        self.out.push_str(" {");
        self.indent += 1;
    }

    fn doc(&mut self, doc: Option<Symbol<'_>>) {
        if let Some(doc) = doc {
            self.out.push_str(" doc(");
            write_quoted(&mut self.out, doc.as_str());
            self.out.push(')');
        }
    }

    fn hir_body(&mut self, function: Function<'c>) {
        let Some(body) = function.body else { return };
        self.expressions(body);
        self.line();
        self.out.push_str("hir.return ");
        self.operand(body);
        if !self.is_named(body) {
            self.out.push_str(" : ");
            self.ty(body.ty());
        }
    }

    pub fn tir_function(&mut self, function: PrimFunction<'c>) {
        self.start_function();
        self.out.push_str("tir.func ");
        self.symbol(function.name);
        self.params(function.params);
        self.target(function.target);
        let _ = write!(self.out, " outputs({})", function.output_count);
        self.doc(function.doc);
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
