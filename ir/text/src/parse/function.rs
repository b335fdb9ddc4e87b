//! Functions.

use std::collections::hash_map::Entry;

use tf_core::node::{AnyFunction, Converter, Function, FunctionData, Origin, PrimFunctionData};
use tf_core::{Expr, ExprKind, Span};
use tf_types::{Symbol, Type};

use super::Parser;
use super::body::FrameKind;
use super::cursor::{Failed, Parsed};
use super::lexer::{Kind, Token};
use super::link::Key;

/// A function whose body is read, with the parts of it that have been read.
pub struct Parts<'c> {
    name: Symbol<'c>,
    variants: Vec<Function<'c>>,
    converters: Vec<Converter<'c>>,
}

impl<'c> Parser<'_, '_, 'c> {
    /// A member or an instance; gives its index.
    pub fn function(&mut self) -> Parsed<usize> {
        self.names.clear();
        self.defined.clear();
        self.frames.clear();
        self.items.clear();
        self.parts = None;
        let is_tir = self.at_word("tir.func");
        self.in_instance = self.at_word("hir.instance");
        self.advance();
        let mut key = None;
        let function = match is_tir {
            true => self.tir_function(&mut key),
            false => self.hir_function(&mut key).map(AnyFunction::Hir),
        };
        let at = self.functions.len();
        if let Some(key) = key {
            self.by_name.insert(key, function.is_ok().then_some(at));
        }
        match function {
            Ok(function) => {
                self.functions.push(function);
                Ok(at)
            }
            Err(failed) => {
                while self.calls.last().is_some_and(|(caller, _)| *caller == at) {
                    self.calls.pop();
                }
                while self.origins.last().is_some_and(|(function, _)| *function == at) {
                    self.origins.pop();
                }
                Err(failed)
            }
        }
    }

    /// `@name`, which must be new in its module.
    fn function_name(&mut self, key: &mut Option<Key<'c>>) -> Parsed<(Symbol<'c>, Span)> {
        let (token, symbol) = self.symbol("the name of a function")?;
        match self.by_name.entry((self.path, symbol)) {
            Entry::Occupied(_) => {
                return Err(self.error_at(token, format!("function `@{symbol}` is defined twice")));
            }
            Entry::Vacant(free) => drop(free.insert(None)),
        }
        *key = Some((self.path, symbol));
        Ok((symbol, self.span(token)))
    }

    /// `(%x: type, %w: const type)`, in scope from here on.
    /// `of` gives the type of a parameter from the written one.
    fn params(&mut self, of: impl Fn(&Self, Type<'c>) -> Type<'c>) -> Parsed<&'c [Expr<'c>]> {
        let params = self.list([b'(', b')'], |p| {
            let token = p.expect_kind(Kind::Value, "a parameter `%name: type`")?;
            let name = match p.author_name(token)? {
                Some(name) => name,
                None => p.cx.symbol(&p.text_of(token)[1..]),
            };
            p.expect(b':')?;
            let is_const = p.accept_word("const");
            let ty = p.ty()?;
            let ty = of(p, ty);
            let meta = p.meta(p.span(token), None)?;
            let var = p.cx.expr(ExprKind::Var { name, is_const }, ty, meta);
            p.define(token, Some(var))?;
            Ok(var)
        })?;
        Ok(self.cx.alloc_slice(&params))
    }

    fn hir_function(&mut self, key: &mut Option<Key<'c>>) -> Parsed<Function<'c>> {
        let (name, span) = self.function_name(key)?;
        self.parts = Some(Parts { name, variants: Vec::new(), converters: Vec::new() });
        let data = self.hir_rest(name, span)?;
        if let Some(key) = self.origin.take() {
            self.origins.push((self.functions.len(), key));
        }
        let (mut variants, mut converters) = (Vec::new(), Vec::new());
        if let Some(parts) = self.parts.take() {
            (variants, converters) = (parts.variants, parts.converters);
        }
        Ok(self.cx.function(FunctionData {
            variants: self.cx.alloc_slice(&variants),
            converters: self.cx.alloc_slice(&converters),
            ..data
        }))
    }

    /// A function from its parameters on.
    fn hir_rest(&mut self, name: Symbol<'c>, span: Span) -> Parsed<FunctionData<'c>> {
        let params = self.params(Self::signature_type)?;
        self.arrow()?;
        let return_type = self.ty()?;
        let mut data = FunctionData::prototype(name, params, return_type, &[]);
        if self.accept_word("origin") {
            data.origin = Some(self.origin()?);
        }
        data.doc = self.doc()?;
        data.span = self.location(span)?;
        let errors = self.errors.len();
        let frame = self.body(FrameKind::Hir(None))?;
        if let FrameKind::Hir(body) = frame.kind {
            data.body = body;
        }
        if data.body.is_none_or(|body| body.ty() != return_type) {
            data.return_type = self.signature_type(return_type);
        }
        let has_variants = self.parts.as_ref().is_some_and(|parts| !parts.variants.is_empty());
        if data.body.is_none() && !has_variants {
            if self.errors.len() > errors {
                return Err(Failed);
            }
            let token = self.previous;
            return Err(self.error_at(token, format!("`hir.return` is missing in `@{name}`")));
        }
        Ok(data)
    }

    /// `doc("text")`, if it stands here.
    fn doc(&mut self) -> Parsed<Option<Symbol<'c>>> {
        if !self.accept_word("doc") {
            return Ok(None);
        }
        self.expect(b'(')?;
        let doc = self.string()?;
        self.expect(b')')?;
        Ok(Some(doc))
    }

    /// Authors may leave strides out; an instance takes the types of its arguments.
    fn signature_type(&self, written: Type<'c>) -> Type<'c> {
        if self.in_instance { written } else { self.cx.signature_type(written) }
    }

    /// `(@f)`, `(@f, [S = 8])`.
    fn origin(&mut self) -> Parsed<Origin<'c>> {
        self.expect(b'(')?;
        let (_, key) = self.function_path("the name of a function")?;
        let mut dims = None;
        if self.accept(b',') {
            let values = self.list([b'[', b']'], |p| {
                let name = p.word_or_string("the name of a dim variable")?;
                p.expect(b'=')?;
                Ok((name, p.integer("its value")?))
            })?;
            dims = Some(self.cx.alloc_slice(&values));
        }
        self.expect(b')')?;
        self.origin = Some(key);
        Ok(Origin { name: key.1, function: None, dims })
    }

    /// `hir.variant "label" [S = 1 to 5] (%x: type) -> type {` in the body of its prototype.
    pub fn variant(&mut self) -> Parsed<()> {
        let first = self.advance();
        let label = if self.token.kind == Kind::Str { Some(self.string()?) } else { None };
        let ranges = self.list([b'[', b']'], Self::range)?;
        let name = self.open_part(first)?;
        let part = self.part(|p| p.hir_rest(name, p.span(first)))?;
        let specializations = self.cx.alloc_slice(&ranges);
        let variant = self.cx.function(FunctionData { label, specializations, ..part });
        if let Some(parts) = &mut self.parts {
            parts.variants.push(variant);
        }
        Ok(())
    }

    /// `hir.converter weight @name(%w: type) -> type {` in the body of the function that takes the weight.
    pub fn converter(&mut self) -> Parsed<()> {
        let first = self.advance();
        let weight = self.word_or_string("the name of a weight")?;
        let (token, name) = self.symbol("a name")?;
        self.open_part(first)?;
        let part = self.part(|p| p.hir_rest(name, p.span(token)))?;
        let function = self.cx.function(part);
        if let Some(parts) = &mut self.parts {
            parts.converters.push(Converter { weight, function });
        }
        Ok(())
    }

    /// A part stands in the body of a function itself, and has no parts of its own. Gives that function's name.
    fn open_part(&mut self, token: Token) -> Parsed<Symbol<'c>> {
        match &self.parts {
            Some(parts) if self.frames.len() == 1 => Ok(parts.name),
            _ => Err(self.error_at(token, "variants and converters stand in the body of a `hir.func`, outside loops")),
        }
    }

    /// Reads a part: its names are its own.
    fn part(&mut self, read: impl FnOnce(&mut Self) -> Parsed<FunctionData<'c>>) -> Parsed<FunctionData<'c>> {
        let names = std::mem::take(&mut self.names);
        let defined = std::mem::take(&mut self.defined);
        let frames = std::mem::take(&mut self.frames);
        let items = std::mem::take(&mut self.items);
        let parts = self.parts.take();
        let origin = self.origin.take();
        let part = read(self);
        (self.names, self.defined, self.frames, self.items) = (names, defined, frames, items);
        (self.parts, self.origin) = (parts, origin);
        part
    }

    fn tir_function(&mut self, key: &mut Option<Key<'c>>) -> Parsed<AnyFunction<'c>> {
        let (name, span) = self.function_name(key)?;
        let params = self.params(|_, ty| ty)?;
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
        let doc = self.doc()?;
        let span = self.location(span)?;
        self.body(FrameKind::Tir)?;
        let body = self.block(0);
        let data = PrimFunctionData { name, params, body, output_count, target, doc, span };
        Ok(AnyFunction::Tir(self.cx.prim_function(data)))
    }
}
