//! Names of values, operands, literals.

use tf_core::{Diagnostic, Expr, ExprKind, Literal, Meta, Span};
use tf_types::{DType, Fit, Symbol, Type, TypeKind};

use super::Parser;
use super::cursor::{Failed, Parsed};
use super::lexer::{Kind, Token};
use super::link::{Reference, Use};
use crate::syntax::CANONICAL_NAN;

/// How many names are tried for "did you mean".
const MOST_CANDIDATES: usize = 1000;

/// An operand before its type has been read.
#[derive(Clone, Copy)]
pub struct Operand<'c> {
    token: Token,
    kind: OperandKind<'c>,
}

/// A variable before its type is known.
#[derive(Clone, Copy)]
pub struct Binder<'c> {
    pub token: Token,
    pub name: Symbol<'c>,
    pub meta: Meta<'c>,
}

#[derive(Clone, Copy)]
enum OperandKind<'c> {
    Value(Expr<'c>),
    Literal(Literal, Option<Span>),
    Symbol(Symbol<'c>, Option<Span>),
}

impl<'c> Parser<'_, '_, 'c> {
    /// The author's name in `%name`, `%"odd name".2`; none in `%3`.
    pub fn author_name(&mut self, token: Token) -> Parsed<Option<Symbol<'c>>> {
        let raw = &self.text_of(token)[1..];
        if raw.starts_with('"') {
            let end = raw.rfind('"').unwrap_or(0) + 1;
            return self.unquoted(token, &raw[..end]).map(Some);
        }
        if raw.as_bytes()[0].is_ascii_digit() {
            return Ok(None);
        }
        let base = raw.split('.').next().unwrap_or(raw);
        Ok(Some(self.cx.symbol(base)))
    }

    /// Brings a value into scope.
    pub fn define(&mut self, token: Token, value: Option<Expr<'c>>) -> Parsed<()> {
        let key = &self.text[token.start + 1..token.end];
        if let Some(old) = self.names.get(key) {
            let span = self.span(token);
            let mut diagnostic = Diagnostic::error(format!("`%{key}` is defined twice")).at(span);
            if let Some(first) = old.and_then(|old| old.span()).filter(|first| first.file == span.file) {
                diagnostic = diagnostic.also(first, "first defined here");
            }
            return Err(self.report(diagnostic));
        }
        self.names.insert(key, value);
        self.defined.push(key);
        Ok(())
    }

    /// Marks a name whose definition is wrong, so that its uses are not reported.
    pub fn poison(&mut self, token: Token) {
        let key = &self.text[token.start + 1..token.end];
        if self.names.get(key).is_none() {
            self.names.insert(key, None);
            self.defined.push(key);
        }
    }

    /// Ends the scope of what was defined since.
    pub fn undefine(&mut self, since: usize) {
        for key in self.defined.drain(since..) {
            self.names.remove(key);
        }
    }

    fn lookup(&mut self, token: Token) -> Parsed<Expr<'c>> {
        let key = &self.text[token.start + 1..token.end];
        match self.names.get(key) {
            Some(Some(value)) => Ok(value),
            Some(None) => Err(Failed),
            None => {
                let known: Vec<_> = self.defined.iter().rev().take(MOST_CANDIDATES).copied().collect();
                Err(self.unknown(token, format!("unknown value `%{key}`"), key, known))
            }
        }
    }

    /// A new variable for a `%name` with its location.
    pub fn binder(&mut self) -> Parsed<Binder<'c>> {
        let token = self.expect_kind(Kind::Value, "a value name")?;
        let name = match self.author_name(token)? {
            Some(name) => name,
            None => self.cx.symbol(&self.text_of(token)[1..]),
        };
        let meta = self.meta(self.span(token), None)?;
        Ok(Binder { token, name, meta })
    }

    /// A value, a literal or a function's symbol.
    pub fn operand(&mut self) -> Parsed<Operand<'c>> {
        let token = self.token;
        let kind = match token.kind {
            Kind::Value => {
                self.advance();
                OperandKind::Value(self.lookup(token)?)
            }
            Kind::Symbol => {
                let (_, name) = self.symbol("a function")?;
                OperandKind::Symbol(name, self.location(self.span(token))?)
            }
            _ => {
                let literal = self.literal("an operand")?;
                OperandKind::Literal(literal, self.location(self.span_from(token))?)
            }
        };
        Ok(Operand { token, kind })
    }

    /// Operands up to one of `ends`, into [`Parser::operands`].
    pub fn operand_list(&mut self, ends: &[u8]) -> Parsed<()> {
        self.operands.clear();
        if ends.iter().any(|&end| self.at(end)) {
            return Ok(());
        }
        loop {
            let operand = self.operand()?;
            self.operands.push(operand);
            if !self.accept(b',') {
                return Ok(());
            }
        }
    }

    /// The type of an operand that is a value.
    pub fn value_type(&self, operand: Operand<'c>) -> Option<Type<'c>> {
        match operand.kind {
            OperandKind::Value(value) => Some(value.ty()),
            _ => None,
        }
    }

    /// The operand as a node of that type.
    pub fn resolve(&mut self, operand: Operand<'c>, ty: Type<'c>) -> Parsed<Expr<'c>> {
        let Operand { token, kind } = operand;
        match kind {
            OperandKind::Value(value) => {
                if value.ty() != ty {
                    let what = format!("`{}` has type", self.text_of(token));
                    self.same_type(token, &what, value.ty(), ty)?;
                }
                Ok(value)
            }
            OperandKind::Literal(literal, span) => self.constant(token, literal, ty, Meta::at(span)),
            OperandKind::Symbol(name, span) => {
                if !matches!(ty.data(), TypeKind::Callable { .. }) {
                    return Err(self.error_at(token, "a function's symbol has a function type `(…) -> …`"));
                }
                let key = (self.path, name);
                self.references.push(Reference { token, key, how: Use::Symbol(ty) });
                Ok(self.cx.expr(ExprKind::SymbolRef(name), ty, Meta::at(span)))
            }
        }
    }

    /// The initial value of a carry; the carry may have taken a layout since.
    pub fn initial(&mut self, operand: Operand<'c>, carry: Type<'c>) -> Parsed<Expr<'c>> {
        match operand.kind {
            OperandKind::Value(value) if value.ty().fit(carry) != Fit::Differs => Ok(value),
            _ => self.resolve(operand, carry),
        }
    }

    /// The next value of a carry, which type inference may give the layout of this one.
    pub fn next_value(&mut self, operand: Operand<'c>, carry: Type<'c>) -> Parsed<Expr<'c>> {
        match operand.kind {
            OperandKind::Value(value) if carry.fit(value.ty()) != Fit::Differs => Ok(value),
            _ => self.resolve(operand, carry),
        }
    }

    /// All operands of the line as nodes of these types.
    pub fn resolve_all(&mut self, token: Token, types: &[Type<'c>]) -> Parsed<&'c [Expr<'c>]> {
        let operands = std::mem::take(&mut self.operands);
        if operands.len() != types.len() {
            let message = format!("{} operands, but {} types", operands.len(), types.len());
            return Err(self.error_at(token, message));
        }
        let mut values = std::mem::take(&mut self.values);
        values.clear();
        for (&operand, &ty) in operands.iter().zip(types) {
            values.push(self.resolve(operand, ty)?);
        }
        self.operands = operands;
        let made = self.cx.alloc_slice(&values);
        self.values = values;
        Ok(made)
    }

    pub fn constant(&mut self, token: Token, literal: Literal, ty: Type<'c>, meta: Meta<'c>) -> Parsed<Expr<'c>> {
        let dtype = ty.as_tensor().filter(|t| t.shape.is_empty()).map(|t| t.dtype);
        let fits = dtype.is_some_and(|dtype| match literal {
            Literal::Bool(_) => dtype == DType::Bool,
            Literal::Int(_) => dtype.is_integer(),
            Literal::Float(_) => dtype.is_float(),
        });
        if !fits {
            let what = match literal {
                Literal::Bool(_) => "a truth value",
                Literal::Int(_) => "an integer",
                Literal::Float(_) => "a float",
            };
            let ty = crate::print::print_type(ty);
            let diagnostic = Diagnostic::error(format!("{what} cannot have type {ty}")).at(self.span(token));
            let help = "literals are scalars: `1` of i32 or i64, `1.0` of a float dtype, `true` of bool";
            return Err(self.report(diagnostic.with_help(help)));
        }
        Ok(self.cx.expr(ExprKind::Constant(literal), ty, meta))
    }

    /// `true`, `-3`, `1.5`, `-inf`, `nan`, `0x7ff8000000000001`.
    pub fn literal(&mut self, what: &str) -> Parsed<Literal> {
        let first = self.token;
        let negative = self.accept(b'-');
        let sign = if negative { -1.0 } else { 1.0 };
        let token = self.token;
        let text = self.text_of(token);
        let literal = match (token.kind, text) {
            (Kind::Int, _) => {
                let value: Option<i128> = text.parse().ok();
                value.map(|v| if negative { -v } else { v }).and_then(|v| i64::try_from(v).ok()).map(Literal::Int)
            }
            (Kind::Float, _) => text.parse().ok().filter(|v: &f64| v.is_finite()).map(|v| Literal::Float(sign * v)),
            (Kind::Word, "inf") => Some(Literal::Float(sign * f64::INFINITY)),
            (Kind::Word, "nan") if !negative => Some(Literal::Float(f64::from_bits(CANONICAL_NAN))),
            (Kind::Bits, _) if !negative => {
                let bits = u64::from_str_radix(&text[2..], 16);
                bits.ok().map(|bits| Literal::Float(f64::from_bits(bits)))
            }
            (Kind::Word, "true") if !negative => Some(Literal::Bool(true)),
            (Kind::Word, "false") if !negative => Some(Literal::Bool(false)),
            _ => return Err(self.expected(if negative { "a number" } else { what })),
        };
        self.advance();
        literal.ok_or_else(|| {
            let span = self.span_from(first);
            self.report(Diagnostic::error("the number is out of range").at(span))
        })
    }
}
