//! `match` on constants.

use ruff_python_ast as ast;

use crate::parser::{Binding, Parser};
use crate::refusal::{Refusal, Res};
use crate::value::Value;

impl<'c> Parser<'_, 'c> {
    /// The suite of the `case` that fits: of literals, dotted names, alternatives and names.
    pub(crate) fn matched<'x>(&mut self, stmt: &'x ast::StmtMatch) -> Res<&'x [ast::Stmt]> {
        let subject = self.looked(&stmt.subject)?;
        for case in &stmt.cases {
            if !self.fits(&subject, &case.pattern)? {
                continue;
            }
            match &case.guard {
                Some(guard) if !self.truth(guard)? => {}
                _ => return Ok(&case.body),
            }
        }
        Ok(&[])
    }

    fn fits(&mut self, subject: &Value<'c>, pattern: &ast::Pattern) -> Res<bool> {
        let span = self.span(pattern);
        match pattern {
            ast::Pattern::MatchValue(value) => {
                let value = self.looked(&value.value)?;
                self.decided(ast::CmpOp::Eq, subject, &value, span)
            }
            ast::Pattern::MatchSingleton(single) => {
                let value = match single.value {
                    ast::Singleton::None => Value::None,
                    ast::Singleton::True => Value::Bool(true),
                    ast::Singleton::False => Value::Bool(false),
                };
                self.decided(ast::CmpOp::Is, subject, &value, span)
            }
            ast::Pattern::MatchOr(any) => {
                for pattern in &any.patterns {
                    if self.nested(span, |p| p.fits(subject, pattern))? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            ast::Pattern::MatchAs(own) => {
                if let Some(pattern) = &own.pattern
                    && !self.nested(span, |p| p.fits(subject, pattern))?
                {
                    return Ok(false);
                }
                if let Some(name) = &own.name {
                    self.bind(self.cx.symbol(name.as_str()), Binding::Value(subject.clone()));
                }
                Ok(true)
            }
            _ => Err(Refusal::unread(span, format!("the pattern `{}` is not read", self.text(pattern)))),
        }
    }
}
