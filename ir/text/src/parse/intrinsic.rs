//! Declarations of statements, between the aliases and the module.

use std::collections::hash_map::Entry;

use tf_core::node::Intrinsic;
use tf_types::Symbol;

use super::Parser;
use super::cursor::{Failed, Parsed};
use super::lexer::{Kind, Token};

impl<'c> Parser<'_, '_, 'c> {
    /// `intrinsic @name(a, b) source("…")`, as many as there are.
    pub fn intrinsic_declarations(&mut self) {
        while self.at_word("intrinsic") {
            if self.intrinsic_declaration().is_err() {
                while self.token.kind != Kind::End && !self.token.first {
                    self.advance();
                }
            }
        }
    }

    fn intrinsic_declaration(&mut self) -> Parsed<()> {
        self.advance();
        let (token, name) = self.symbol("the name of the intrinsic")?;
        let rest = self.intrinsic_rest(name);
        // Uses of a wrong declaration are not reported again.
        match self.intrinsics.entry(name) {
            Entry::Vacant(free) => drop(free.insert(rest.ok())),
            Entry::Occupied(_) => drop(self.error_at(token, format!("intrinsic `@{name}` is declared twice"))),
        }
        rest.map(|_| ())
    }

    fn intrinsic_rest(&mut self, name: Symbol<'c>) -> Parsed<&'c Intrinsic<'c>> {
        let params = self.list([b'(', b')'], |p| p.word_or_string("the name of an operand"))?;
        self.expect_word("source")?;
        self.expect(b'(')?;
        let source = self.string()?;
        self.expect(b')')?;
        Ok(self.cx.alloc(Intrinsic { name, params: self.cx.symbols(&params), source }))
    }

    /// The declaration of an intrinsic that is used with that many operands.
    pub fn declared_intrinsic(&mut self, token: Token, name: Symbol<'c>, count: usize) -> Parsed<&'c Intrinsic<'c>> {
        match self.intrinsics.get(&name) {
            Some(Some(intrinsic)) if intrinsic.params.len() == count => Ok(intrinsic),
            Some(Some(intrinsic)) => {
                let wanted = intrinsic.params.len();
                Err(self.error_at(token, format!("`@{name}` takes {wanted} operands, found {count}")))
            }
            Some(None) => Err(Failed),
            None => {
                let known: Vec<_> = self.intrinsics.keys().map(|known| known.as_str()).collect();
                Err(self.unknown(token, format!("unknown intrinsic `@{name}`"), name.as_str(), known))
            }
        }
    }
}
