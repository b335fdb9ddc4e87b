//! TIR statements that choose: `tir.while`, `tir.if`, `tir.dispatch`, `tir.abort`.

use tf_core::node::{DimVarRangePat, DispatchCase};
use tf_core::{Expr, Span, StmtKind};

use super::Parser;
use super::body::{FrameKind, Item};
use super::cursor::Parsed;
use super::lexer::Kind;

impl<'c> Parser<'_, '_, 'c> {
    /// `%c : type`, what governs a region, with its location.
    fn governed(&mut self) -> Parsed<(Expr<'c>, Option<Span>)> {
        let first = self.token;
        let operand = self.operand()?;
        let span = self.span_from(first);
        self.expect(b':')?;
        let ty = self.ty()?;
        let span = self.location(span)?;
        Ok((self.resolve(operand, ty)?, span))
    }

    /// `tir.while %c : type {`, `tir.if %c : type {`.
    pub fn condition_text(&mut self) -> Parsed<()> {
        let word = self.advance();
        let repeats = self.text_of(word) == "tir.while";
        let (cond, span) = self.governed()?;
        let kind = match repeats {
            true => FrameKind::While { cond, span },
            false => FrameKind::If { cond, span },
        };
        self.open(kind, &[])
    }

    pub fn close_while(&mut self, cond: Expr<'c>, span: Option<Span>, items: usize) {
        let body = self.block(items);
        self.push(StmtKind::While { cond, body }, span);
    }

    /// The first branch has ended; `else {` opens the second.
    pub fn close_then(&mut self, cond: Expr<'c>, span: Option<Span>, items: usize) -> Parsed<()> {
        let then_body = self.block(items);
        if self.accept_word("else") {
            return self.open(FrameKind::Else { cond, span, then_body }, &[]);
        }
        let else_body = self.cx.stmt(StmtKind::Sequential(&[]), None);
        self.push(StmtKind::If { cond, then_body, else_body }, span);
        Ok(())
    }

    /// `tir.dispatch @f on %n : type {`.
    pub fn dispatch_text(&mut self) -> Parsed<()> {
        self.advance();
        let (_, callee) = self.symbol("the name of the function that the cases implement")?;
        self.expect_word("on")?;
        let (subject, span) = self.governed()?;
        self.open(FrameKind::Dispatch { callee, subject, span, cases: Vec::new() }, &[])
    }

    /// `S = 1 to 5`.
    pub fn range(&mut self) -> Parsed<DimVarRangePat<'c>> {
        let first = self.token;
        let dim = self.word_or_string("the name of a dim variable")?;
        self.expect(b'=')?;
        let lo = self.integer("the least value")?;
        self.expect_word("to")?;
        let hi = self.integer("the end of the range")?;
        let span = self.span_from(first);
        DimVarRangePat::new(dim, lo, hi).map_err(|error| self.report(error.at(span)))
    }

    /// `tir.case S = 1 to 5`, before the call of the case.
    pub fn case_text(&mut self) -> Parsed<()> {
        let token = self.advance();
        let range = self.range()?;
        let start = self.items.len();
        match self.frames.last_mut().map(|frame| (&mut frame.kind, frame.items)) {
            Some((FrameKind::Dispatch { cases, .. }, items)) if items + cases.len() == start => {
                cases.push(range);
                Ok(())
            }
            Some((FrameKind::Dispatch { .. }, _)) => {
                Err(self.error_at(token, "a case of a dispatch is followed by one call"))
            }
            _ => Err(self.error_at(token, "`tir.case` stands in the body of `tir.dispatch`")),
        }
    }

    pub fn close_dispatch(&mut self, kind: FrameKind<'c>, items: usize) -> Parsed<()> {
        let FrameKind::Dispatch { callee, subject, span, cases: ranges } = kind else { return Ok(()) };
        let stmts: Option<Vec<_>> = self
            .items
            .drain(items..)
            .map(|item| match item {
                Item::Stmt(stmt) => Some(stmt),
                Item::Let(..) => None,
            })
            .collect();
        let Some(stmts) = stmts.filter(|stmts| stmts.len() == ranges.len() + 1) else {
            let token = self.previous;
            return Err(
                self.error_at(token, "a dispatch has one call a case, and one more statement if no case matches")
            );
        };
        let cases: Vec<_> = ranges.iter().zip(&stmts).map(|(&pattern, &call)| DispatchCase { pattern, call }).collect();
        let fallback = stmts[ranges.len()];
        let kind = StmtKind::Dispatch { callee, subject, cases: self.cx.alloc_slice(&cases), fallback };
        self.push(kind, span);
        Ok(())
    }

    /// `tir.abort "message"`.
    pub fn abort_text(&mut self) -> Parsed<()> {
        let first = self.advance();
        let message = match self.token.kind {
            Kind::Str => self.string()?,
            _ => self.cx.symbol(""),
        };
        let span = self.location(self.span_from(first))?;
        self.push(StmtKind::Abort { message }, span);
        Ok(())
    }
}
