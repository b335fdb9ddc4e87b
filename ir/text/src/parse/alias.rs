//! Aliases at the top of a file.

use std::collections::hash_map::Entry;

use tf_types::{Dim, Mesh, TensorLayout, Type};

use super::Parser;
use super::cursor::{Failed, Parsed};
use super::lexer::{Kind, Token};

/// What an alias stands for.
#[derive(Clone, Copy)]
pub enum Alias<'c> {
    Dim(Dim<'c>),
    Layout(TensorLayout<'c>),
    Mesh(Mesh<'c>),
    Type(Type<'c>),
}

impl Alias<'_> {
    fn describe(self) -> &'static str {
        match self {
            Self::Dim(_) => "a dim",
            Self::Layout(_) => "a layout",
            Self::Mesh(_) => "a mesh",
            Self::Type(_) => "a type",
        }
    }
}

impl<'c> Parser<'_, '_, 'c> {
    /// What `#name` or `!name` stands for.
    pub fn alias(&mut self, token: Token) -> Parsed<Alias<'c>> {
        let name = self.text_of(token);
        match self.aliases.get(name) {
            Some(Some(alias)) => Ok(*alias),
            Some(None) => Err(Failed),
            None => {
                let known: Vec<_> = self.aliases.keys().copied().collect();
                Err(self.unknown(token, format!("unknown alias `{name}`"), name, known))
            }
        }
    }

    pub fn wrong_alias(&mut self, token: Token, alias: Alias<'c>, what: &str) -> Failed {
        let message = format!("expected {what}, but `{}` is {}", self.text_of(token), alias.describe());
        self.error_at(token, message)
    }

    /// `#name = …` and `!name = …`, as many as there are.
    pub fn alias_definitions(&mut self) {
        while let Kind::Hash | Kind::Bang = self.token.kind {
            let name = self.advance();
            let value = self.alias_definition(name);
            if value.is_err() {
                while self.token.kind != Kind::End && !self.token.first {
                    self.advance();
                }
            }
            match self.aliases.entry(&self.text[name.start..name.end]) {
                Entry::Vacant(free) => drop(free.insert(value.ok())),
                Entry::Occupied(_) => {
                    let message = format!("`{}` is defined twice", self.text_of(name));
                    self.error_at(name, message);
                }
            }
        }
    }

    fn alias_definition(&mut self, name: Token) -> Parsed<Alias<'c>> {
        self.expect(b'=')?;
        if name.kind == Kind::Bang {
            return Ok(Alias::Type(self.ty()?));
        }
        if self.at_word("dim") {
            return Ok(Alias::Dim(self.dim_var()?));
        }
        if self.at_word("mesh") {
            return Ok(Alias::Mesh(self.mesh()?));
        }
        if self.token.kind == Kind::Word {
            return Ok(Alias::Layout(self.layout()?));
        }
        Err(self.expected("`dim<`, `layout<`, `composed<`, `shard<` or `mesh<`"))
    }

    /// `dim<"S", 1, 1025>`.
    fn dim_var(&mut self) -> Parsed<Dim<'c>> {
        let token = self.advance();
        self.expect(b'<')?;
        let name = self.string()?;
        self.expect(b',')?;
        let lo = self.integer("the least value")?;
        self.expect(b',')?;
        let hi = self.integer("the end of the range")?;
        self.expect(b'>')?;
        self.cx().new_dim_var(name.as_str(), lo, hi).map_err(|error| self.type_error(token, error))
    }
}
