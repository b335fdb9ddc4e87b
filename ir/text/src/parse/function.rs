//! Modules and functions.

use std::collections::hash_map::Entry;

use tf_core::node::{AnyFunction, FunctionData, ModuleData, PrimFunctionData, Target};
use tf_core::{Diagnostic, Expr, ExprKind, Meta, Module, Span, TargetKind};
use tf_types::Symbol;

use super::Parser;
use super::body::FrameKind;
use super::cursor::Parsed;
use super::lexer::Kind;
use super::link::{Reference, Use};

impl<'c> Parser<'_, '_, 'c> {
    pub fn parse(mut self) -> Result<Module<'c>, Vec<Diagnostic>> {
        self.alias_definitions();
        let header = self.module_header();
        while self.token.kind != Kind::End && !self.at(b'}') {
            if !self.at_word("hir.func") && !self.at_word("tir.func") {
                if header.is_ok() {
                    self.expected("`hir.func`, `tir.func` or `}`");
                }
                self.advance();
                self.skip_to_function();
                continue;
            }
            self.function();
        }
        if header.is_ok() && self.expect(b'}').is_ok() && self.token.kind != Kind::End {
            self.expected("the end of the file");
        }
        self.check_references();
        match header {
            Ok(header) if self.errors.is_empty() => {
                let functions = self.linked()?;
                let data = ModuleData { functions: self.cx.alloc_slice(&functions), ..header };
                Ok(self.cx.module(data))
            }
            _ => Err(self.errors),
        }
    }

    /// Leaves out what stands before the next function or the end of the module.
    fn skip_to_function(&mut self) {
        while self.token.kind != Kind::End && !self.at_function() && !(self.at(b'}') && self.braces <= 1) {
            self.advance();
        }
        self.braces = 1;
    }

    /// `module @name target("…") topology(…) entry(@f) {`, without functions.
    fn module_header(&mut self) -> Parsed<ModuleData<'c>> {
        self.expect_word("module")?;
        let (token, name) = self.symbol("the name of the module")?;
        let mut data = ModuleData { name, functions: &[], entry: None, target: None, topologies: None, span: None };
        loop {
            if self.at_word("target") {
                data.target = Some(self.target()?);
            } else if self.accept_word("topology") {
                let topologies = self.topologies([b'(', b')'])?;
                data.topologies = Some(self.cx.topologies(&topologies));
            } else if self.accept_word("entry") {
                self.expect(b'(')?;
                let (token, name) = self.symbol("the name of a function")?;
                self.expect(b')')?;
                self.references.push(Reference { token, name, how: Use::Entry });
                data.entry = Some(name);
            } else {
                break;
            }
        }
        data.span = self.location(self.span(token))?;
        self.expect(b'{')?;
        Ok(data)
    }

    /// `target("cpu")`, `target("nvidia.h200_sxm")`.
    fn target(&mut self) -> Parsed<Target<'c>> {
        self.expect_word("target")?;
        self.expect(b'(')?;
        let device = self.string()?;
        self.expect(b')')?;
        Ok(match device.as_str() {
            "cpu" => Target { kind: TargetKind::Cpu, device: self.cx.symbol("") },
            _ => Target { kind: TargetKind::Cuda, device },
        })
    }

    fn function(&mut self) {
        self.names.clear();
        self.defined.clear();
        self.frames.clear();
        self.items.clear();
        self.braces = 1;
        let is_hir = self.at_word("hir.func");
        self.advance();
        let mut name = None;
        let function = if is_hir { self.hir_function(&mut name) } else { self.tir_function(&mut name) };
        let at = self.functions.len();
        if let Some(name) = name {
            self.by_name.insert(name, function.is_ok().then_some(at));
        }
        match function {
            Ok(function) => self.functions.push(function),
            Err(_) => {
                while self.calls.last().is_some_and(|(caller, _)| *caller == at) {
                    self.calls.pop();
                }
                self.skip_to_function();
            }
        }
    }

    /// `@name`, which must be new.
    fn function_name(&mut self, name: &mut Option<Symbol<'c>>) -> Parsed<(Symbol<'c>, Span)> {
        let (token, symbol) = self.symbol("the name of a function")?;
        match self.by_name.entry(symbol) {
            Entry::Occupied(_) => {
                return Err(self.error_at(token, format!("function `@{symbol}` is defined twice")));
            }
            Entry::Vacant(free) => drop(free.insert(None)),
        }
        *name = Some(symbol);
        Ok((symbol, self.span(token)))
    }

    /// `(%x: type, %w: const type)`, in scope from here on.
    fn params(&mut self) -> Parsed<&'c [Expr<'c>]> {
        let params = self.list([b'(', b')'], |p| {
            let token = p.expect_kind(Kind::Value, "a parameter `%name: type`")?;
            let name = match p.author_name(token)? {
                Some(name) => name,
                None => p.cx.symbol(&p.text_of(token)[1..]),
            };
            p.expect(b':')?;
            let is_const = p.accept_word("const");
            let ty = p.ty()?;
            let span = p.location(p.span(token))?;
            let var = p.cx.expr(ExprKind::Var { name, is_const }, ty, Meta::at(span));
            p.define(token, Some(var))?;
            Ok(var)
        })?;
        Ok(self.cx.alloc_slice(&params))
    }

    fn hir_function(&mut self, name: &mut Option<Symbol<'c>>) -> Parsed<AnyFunction<'c>> {
        let (name, span) = self.function_name(name)?;
        let params = self.params()?;
        self.arrow()?;
        let return_type = self.ty()?;
        let span = self.location(span)?;
        let errors = self.errors.len();
        let frame = self.body(FrameKind::Hir(None))?;
        let FrameKind::Hir(Some(body)) = frame.kind else {
            if self.errors.len() > errors {
                return Err(super::cursor::Failed);
            }
            let token = self.previous;
            return Err(self.error_at(token, format!("`hir.return` is missing in `@{name}`")));
        };
        Ok(AnyFunction::Hir(self.cx.function(FunctionData { name, params, body, return_type, span })))
    }

    fn tir_function(&mut self, name: &mut Option<Symbol<'c>>) -> Parsed<AnyFunction<'c>> {
        let (name, span) = self.function_name(name)?;
        let params = self.params()?;
        let target = self.target()?;
        self.expect_word("outputs")?;
        self.expect(b'(')?;
        let token = self.token;
        let output_count = self.integer("the number of outputs")?;
        self.expect(b')')?;
        if output_count > params.len() {
            let message = format!("{output_count} outputs, but {} parameters", params.len());
            return Err(self.error_at(token, message));
        }
        let span = self.location(span)?;
        self.body(FrameKind::Tir)?;
        let body = self.block(0);
        let data = PrimFunctionData { name, params, body, output_count, target, span };
        Ok(AnyFunction::Tir(self.cx.prim_function(data)))
    }
}
