//! Dims. Operators bind as in [`crate::syntax::precedence`] and group to the left.

use tf_types::{Dim, DimOp};

use super::Parser;
use super::alias::Alias;
use super::cursor::Parsed;
use super::lexer::Kind;
use crate::syntax::precedence;

enum Open {
    Infix(DimOp, u8),
    Paren,
    /// `min(` or `max(`, and whether its comma has been read.
    Function(DimOp, bool),
}

#[derive(Default)]
struct Stacks<'c> {
    dims: Vec<Dim<'c>>,
    open: Vec<Open>,
}

impl<'c> Stacks<'c> {
    fn pair(&mut self) -> (Dim<'c>, Dim<'c>) {
        let (b, a) = (self.dims.pop(), self.dims.pop());
        a.zip(b).unwrap_or_else(|| unreachable!("every operator has read two operands"))
    }

    fn last(&mut self) -> Dim<'c> {
        self.dims.pop().unwrap_or_else(|| unreachable!("an expression has an operand"))
    }
}

impl<'c> Parser<'_, '_, 'c> {
    fn infix(&self) -> Option<DimOp> {
        match self.token.kind {
            Kind::Punct(b'+') => Some(DimOp::Add),
            Kind::Punct(b'-') => Some(DimOp::Sub),
            Kind::Punct(b'*') => Some(DimOp::Mul),
            Kind::Word => match self.text_of(self.token) {
                "floordiv" => Some(DimOp::FloorDiv),
                "mod" => Some(DimOp::Mod),
                _ => None,
            },
            _ => None,
        }
    }

    fn dim_atom(&mut self) -> Parsed<Dim<'c>> {
        match self.token.kind {
            Kind::Int | Kind::Punct(b'-') => Ok(self.cx().dim(self.integer("a dim")?)),
            Kind::Hash => {
                let token = self.advance();
                match self.alias(token)? {
                    Alias::Dim(dim) => Ok(dim),
                    other => Err(self.wrong_alias(token, other, "a dim")),
                }
            }
            _ => Err(self.expected("a dim: an integer, a `#name`, `(`, `min(` or `max(`")),
        }
    }

    /// Applies what is open down to operators that bind less tightly than `least`.
    fn reduce(&self, stacks: &mut Stacks<'c>, least: u8) {
        while let Some(&Open::Infix(op, binds)) = stacks.open.last()
            && binds >= least
        {
            stacks.open.pop();
            let (a, b) = stacks.pair();
            stacks.dims.push(self.cx().dim_op(op, a, b));
        }
    }

    /// A dim, as it stands: nothing is folded. Not recursive.
    pub fn dim(&mut self) -> Parsed<Dim<'c>> {
        let mut stacks = Stacks::default();
        'operand: loop {
            if self.accept(b'(') {
                stacks.open.push(Open::Paren);
                continue;
            }
            let function = [("min", DimOp::Min), ("max", DimOp::Max)].into_iter().find(|(word, _)| self.at_word(word));
            if let Some((_, op)) = function {
                self.advance();
                self.expect(b'(')?;
                stacks.open.push(Open::Function(op, false));
                continue;
            }
            let atom = self.dim_atom()?;
            stacks.dims.push(atom);
            loop {
                if let Some((op, binds)) = self.infix().and_then(|op| Some((op, precedence(op)?))) {
                    self.advance();
                    self.reduce(&mut stacks, binds);
                    stacks.open.push(Open::Infix(op, binds));
                    continue 'operand;
                }
                self.reduce(&mut stacks, 0);
                match stacks.open.last_mut() {
                    None => return Ok(stacks.last()),
                    Some(Open::Function(_, comma @ false)) => {
                        self.expect(b',')?;
                        *comma = true;
                        continue 'operand;
                    }
                    Some(_) => {
                        self.expect(b')')?;
                        if let Some(Open::Function(op, _)) = stacks.open.pop() {
                            let (a, b) = stacks.pair();
                            stacks.dims.push(self.cx().dim_op(op, a, b));
                        }
                    }
                }
            }
        }
    }
}
