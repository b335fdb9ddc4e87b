//! HIR loops.

use tf_core::node::GridRegion;
use tf_core::{Expr, ExprKind};
use tf_types::{DType, Symbol, Type, TypeKind};

use super::Parser;
use super::body::{FrameKind, GridFrame};
use super::cursor::Parsed;
use super::lexer::Token;
use super::value::{Binder, Operand};

impl<'c> Parser<'_, '_, 'c> {
    pub fn var(&self, binder: Binder<'c>, ty: Type<'c>) -> Expr<'c> {
        let kind = ExprKind::Var { name: binder.name, is_const: false };
        self.cx.expr(kind, ty, binder.meta)
    }

    /// `hir.grid %i = 0 to 64 step 4 iter(%acc = %0) : type {` after `%name =`.
    pub fn grid(&mut self, name: Token, author: Option<Symbol<'c>>) -> Parsed<()> {
        let first = self.advance();
        let induction = self.binder()?;
        self.expect(b'=')?;
        let start = self.dim()?;
        self.expect_word("to")?;
        let stop = self.dim()?;
        self.expect_word("step")?;
        let step = self.dim()?;
        let mut carries: Vec<(Binder<'c>, Operand<'c>)> = Vec::new();
        if self.accept_word("iter") {
            carries = self.list([b'(', b')'], |p| {
                let carry = p.binder()?;
                p.expect(b'=')?;
                Ok((carry, p.operand()?))
            })?;
        }
        let span = self.span_from(first);
        self.expect(b':')?;
        let ty = self.ty()?;
        let meta = self.meta(span, author)?;
        let types = self.carry_types(first, ty, carries.len())?;
        let mut binders = vec![(induction.token, self.var(induction, self.cx.scalar(DType::I64)))];
        let mut inits = Vec::with_capacity(carries.len());
        for ((carry, operand), &ty) in carries.into_iter().zip(types) {
            inits.push(self.initial(operand, ty)?);
            binders.push((carry.token, self.var(carry, ty)));
        }
        let vars: Vec<_> = binders[1..].iter().map(|&(_, var)| var).collect();
        let region = GridRegion {
            induction: binders[0].1,
            carries: self.cx.alloc_slice(&vars),
            inits: self.cx.alloc_slice(&inits),
            yields: &[],
            body: None,
            start,
            stop,
            step,
        };
        let grid = GridFrame { name, region, ty, meta, yields: None };
        self.open(FrameKind::Grid(Box::new(grid)), &binders)
    }

    /// The types of the carries of a loop whose result has type `ty`.
    fn carry_types(&mut self, token: Token, ty: Type<'c>, count: usize) -> Parsed<&'c [Type<'c>]> {
        match (count, *ty.data()) {
            (0, _) => Ok(&[]),
            (1, _) => Ok(self.cx.types(&[ty])),
            (_, TypeKind::Tuple(fields)) if fields.len() == count => Ok(fields),
            _ => Err(self.error_at(token, format!("a loop with {count} carries has a tuple type of {count} fields"))),
        }
    }

    /// `hir.yield %a, %b`.
    pub fn yield_text(&mut self) -> Parsed<()> {
        let token = self.advance();
        self.operand_list(b"}")?;
        let Some(FrameKind::Grid(grid)) = self.frames.last().map(|frame| &frame.kind) else {
            return Err(self.error_at(token, "`hir.yield` ends the body of `hir.grid`"));
        };
        if grid.yields.is_some() {
            return Err(self.error_at(token, "the loop has yielded already"));
        }
        let types: Vec<_> = match grid.region.carries {
            [] => vec![grid.ty],
            carries => carries.iter().map(|carry| carry.ty()).collect(),
        };
        if self.operands.len() != types.len() {
            let (wanted, found) = (types.len(), self.operands.len());
            return Err(self.error_at(token, format!("the loop yields {wanted} values, found {found}")));
        }
        let operands = std::mem::take(&mut self.operands);
        let yields =
            operands.iter().zip(types).map(|(&operand, ty)| self.next_value(operand, ty)).collect::<Parsed<Vec<_>>>();
        self.operands = operands;
        let made = self.cx.alloc_slice(yields.as_deref().unwrap_or(&[]));
        if let Some(FrameKind::Grid(grid)) = self.frames.last_mut().map(|frame| &mut frame.kind) {
            grid.yields = Some(made);
        }
        yields.map(drop)
    }

    pub fn close_grid(&mut self, grid: GridFrame<'c>) -> Parsed<Expr<'c>> {
        let GridFrame { name, mut region, ty, meta, yields } = grid;
        let Some(yields) = yields else {
            let token = self.previous;
            return Err(self.error_at(token, format!("`hir.yield` is missing in the loop `{}`", self.text_of(name))));
        };
        match (region.carries, yields) {
            ([], &[body]) => region.body = Some(body),
            (carries, yields) if carries.len() == yields.len() => region.yields = yields,
            _ => return Err(super::cursor::Failed),
        }
        Ok(self.cx.grid(region, ty, meta))
    }
}
