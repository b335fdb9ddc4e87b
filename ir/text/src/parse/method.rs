//! Methods.

use tf_core::node::Method;
use tf_core::node::method::{MethodData, MethodExpr, MethodItems, MethodParam, MethodSpan, MethodStmt, MethodStmtKind};
use tf_types::Symbol;

use super::Parser;
use super::cursor::Parsed;
use super::lexer::Kind;

impl<'c> Parser<'_, '_, 'c> {
    /// `method @forward(x, n = 1) source("…") {`, one statement a line, `}`.
    pub fn method(&mut self) -> Parsed<Method<'c>> {
        self.advance();
        let (token, name) = self.symbol("the name of the method")?;
        let params = self.list([b'(', b')'], |p| {
            let name = p.word_or_string("a parameter")?;
            let default = if p.accept(b'=') { Some(p.method_expr()?) } else { None };
            Ok(MethodParam { name, default })
        })?;
        self.expect_word("source")?;
        self.expect(b'(')?;
        let source = self.string()?;
        self.expect(b')')?;
        let span = self.location(self.span(token))?;
        let body = self.method_block()?;
        Ok(self.cx.method(MethodData {
            name,
            params: self.cx.alloc_slice(&params),
            source: source.as_str(),
            body,
            span,
        }))
    }

    fn method_block(&mut self) -> Parsed<&'c [MethodStmt<'c>]> {
        self.expect(b'{')?;
        let mut stmts = Vec::new();
        while !self.accept(b'}') {
            stmts.push(self.nested(Self::method_stmt)?);
        }
        Ok(self.cx.alloc_slice(&stmts))
    }

    fn method_stmt(&mut self) -> Parsed<MethodStmt<'c>> {
        let first = self.token;
        let word = if first.kind == Kind::Word { self.text_of(first) } else { "" };
        let known = matches!(word, "set" | "unpack" | "drop" | "for" | "return" | "unsupported");
        if !known {
            return Err(self.expected("`set`, `unpack`, `drop`, `for`, `return`, `unsupported` or `}`"));
        }
        self.advance();
        let kind = match word {
            "set" => {
                let name = self.word_or_string("a name")?;
                self.expect(b'=')?;
                MethodStmtKind::Assign(name, self.method_expr()?)
            }
            "unpack" => {
                let names = self.list([b'(', b')'], |p| p.word_or_string("a name"))?;
                self.expect(b'=')?;
                MethodStmtKind::Unpack(self.cx.symbols(&names), self.method_expr()?)
            }
            "drop" => MethodStmtKind::Drop(self.method_expr()?),
            "for" => {
                let name = self.word_or_string("a name")?;
                self.expect_word("in")?;
                let items = self.method_items()?;
                let span = self.location(self.span_from(first))?;
                let body = self.method_block()?;
                return Ok(MethodStmt { kind: MethodStmtKind::For { name, items, body }, span: MethodSpan(span) });
            }
            "return" if self.token.first || self.at(b'}') || self.at_word("loc") => MethodStmtKind::Return(None),
            "return" => MethodStmtKind::Return(Some(self.method_expr()?)),
            _ => MethodStmtKind::Unsupported(self.string()?),
        };
        let span = self.location(self.span_from(first))?;
        Ok(MethodStmt { kind, span: MethodSpan(span) })
    }

    fn method_items(&mut self) -> Parsed<MethodItems<'c>> {
        if !self.accept_word("range") {
            return Ok(MethodItems::Of(self.method_expr()?));
        }
        let start = self.integer("an integer")?;
        self.expect_word("to")?;
        let stop = self.integer("an integer")?;
        self.expect_word("step")?;
        Ok(MethodItems::Range(start, stop, self.integer("an integer")?))
    }

    fn method_expr(&mut self) -> Parsed<MethodExpr<'c>> {
        self.nested(|p| {
            let mut expr = p.method_atom()?;
            // What is built on it nests as deep as it is long.
            loop {
                expr = match p.token.kind {
                    Kind::Punct(b'.') => {
                        p.advance();
                        let names = p.dotted_names("the name of a member")?;
                        p.members(expr, &names)
                    }
                    Kind::Punct(b'[') => {
                        p.advance();
                        let index = p.method_expr()?;
                        p.expect(b']')?;
                        MethodExpr::Item(p.cx.alloc(expr), p.cx.alloc(index))
                    }
                    Kind::Punct(b'(') => p.method_call(expr)?,
                    _ => return Ok(expr),
                };
            }
        })
    }

    /// `a.b`, which is one token, or a name in quotes.
    fn dotted_names(&mut self, what: &str) -> Parsed<Vec<Symbol<'c>>> {
        match self.token.kind {
            Kind::Str => Ok(vec![self.string()?]),
            Kind::Word => {
                let token = self.advance();
                Ok(self.text_of(token).split('.').map(|name| self.cx.symbol(name)).collect())
            }
            _ => Err(self.expected(what)),
        }
    }

    fn members(&self, base: MethodExpr<'c>, names: &[Symbol<'c>]) -> MethodExpr<'c> {
        names.iter().fold(base, |base, &name| MethodExpr::Attribute(self.cx.alloc(base), name))
    }

    fn method_call(&mut self, callee: MethodExpr<'c>) -> Parsed<MethodExpr<'c>> {
        let mut args = Vec::new();
        let mut keywords = Vec::new();
        self.list([b'(', b')'], |p| {
            if p.token.kind == Kind::Symbol {
                let (_, name) = p.symbol("a name")?;
                p.expect(b'=')?;
                keywords.push((name, p.method_expr()?));
            } else if keywords.is_empty() {
                args.push(p.method_expr()?);
            } else {
                return Err(p.expected("an argument by name"));
            }
            Ok(())
        })?;
        let (callee, args, keywords) =
            (self.cx.alloc(callee), self.cx.alloc_slice(&args), self.cx.alloc_slice(&keywords));
        Ok(MethodExpr::Call { callee, args, keywords })
    }

    fn method_atom(&mut self) -> Parsed<MethodExpr<'c>> {
        match self.token.kind {
            Kind::Punct(b'$') => {
                self.advance();
                let names = self.dotted_names("a name")?;
                let (first, rest) = names.split_first().map_or((self.cx.symbol(""), &[][..]), |(f, r)| (*f, r));
                Ok(self.members(MethodExpr::Name(first), rest))
            }
            Kind::Punct(b'(') => {
                let items = self.list([b'(', b')'], Self::method_expr)?;
                Ok(MethodExpr::Tuple(self.cx.alloc_slice(&items)))
            }
            Kind::Str => Ok(MethodExpr::Str(self.string()?)),
            Kind::Word if self.at_word("none") => {
                self.advance();
                Ok(MethodExpr::None)
            }
            Kind::Word if self.at_word("unsupported") => {
                self.advance();
                Ok(MethodExpr::Unsupported(self.string()?))
            }
            _ => Ok(MethodExpr::Literal(self.literal("a value")?)),
        }
    }
}
