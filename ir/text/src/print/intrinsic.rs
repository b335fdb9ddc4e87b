//! Declarations of statements.

use std::fmt::Write;

use tf_core::node::Intrinsic;

use super::Printer;
use crate::syntax::{is_symbol, write_quoted, write_word};

impl<'c> Printer<'_, 'c> {
    /// Takes down what a statement uses. Files declare few.
    pub fn declare(&mut self, intrinsic: &'c Intrinsic<'c>) {
        if !self.intrinsics.contains(&intrinsic) {
            self.intrinsics.push(intrinsic);
        }
    }

    /// `intrinsic @name(a, b) source("…")`, one a line.
    pub fn intrinsic_declarations(&self) -> String {
        let mut out = String::new();
        for intrinsic in &self.intrinsics {
            out.push_str("intrinsic @");
            match intrinsic.name.as_str() {
                name if is_symbol(name) => out.push_str(name),
                name => write_quoted(&mut out, name),
            }
            out.push('(');
            for (at, param) in intrinsic.params.iter().enumerate() {
                out.push_str(if at > 0 { ", " } else { "" });
                write_word(&mut out, param.as_str());
            }
            out.push_str(") source(");
            write_quoted(&mut out, intrinsic.source.as_str());
            let _ = writeln!(out, ")");
        }
        out
    }
}
