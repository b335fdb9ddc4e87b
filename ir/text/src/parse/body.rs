//! Bodies: open regions are a stack, so that their nesting is not bounded.

use tf_core::node::{DimVarRangePat, GridRegion};
use tf_core::{Diagnostic, Expr, Meta, Span, Stmt, StmtKind};
use tf_types::{Mesh, Symbol, Type};

use super::Parser;
use super::cursor::{Failed, Parsed};
use super::lexer::{Kind, Token};

/// An open region.
pub struct Frame<'c> {
    pub kind: FrameKind<'c>,
    /// Where it was opened.
    opened: Token,
    /// How many names were in scope outside.
    defined: usize,
    /// How many braces are open inside.
    braces: i32,
    /// Where its statements start in [`Parser::items`].
    pub items: usize,
}

pub enum FrameKind<'c> {
    /// The body of a HIR function, with the value it returns.
    Hir(Option<Expr<'c>>),
    /// The body of a TIR function.
    Tir,
    Grid(Box<GridFrame<'c>>),
    For {
        induction: Expr<'c>,
        bounds: [Expr<'c>; 3],
        span: Option<Span>,
    },
    While {
        cond: Expr<'c>,
        span: Option<Span>,
    },
    If {
        cond: Expr<'c>,
        span: Option<Span>,
    },
    Else {
        cond: Expr<'c>,
        span: Option<Span>,
        then_body: Stmt<'c>,
    },
    Dispatch {
        callee: Symbol<'c>,
        subject: Expr<'c>,
        span: Option<Span>,
        cases: Vec<DimVarRangePat<'c>>,
    },
    Mesh {
        mesh: Mesh<'c>,
        binding: Symbol<'c>,
        span: Option<Span>,
    },
}

pub struct GridFrame<'c> {
    pub name: Token,
    /// Without yields and body.
    pub region: GridRegion<'c>,
    pub ty: Type<'c>,
    pub meta: Meta<'c>,
    pub yields: Option<&'c [Expr<'c>]>,
}

/// A statement of a block, flat.
#[derive(Clone, Copy)]
pub enum Item<'c> {
    /// Binds in the rest of the block.
    Let(Expr<'c>, Expr<'c>, Option<Span>),
    Stmt(Stmt<'c>),
}

impl<'c> Parser<'_, '_, 'c> {
    pub fn in_tir(&self) -> bool {
        self.frames.first().is_some_and(|frame| matches!(frame.kind, FrameKind::Tir))
    }

    /// Opens a region; `binders` come into its scope.
    pub fn open(&mut self, kind: FrameKind<'c>, binders: &[(Token, Expr<'c>)]) -> Parsed<()> {
        let opened = self.expect(b'{')?;
        let (defined, braces, items) = (self.defined.len(), self.braces, self.items.len());
        self.frames.push(Frame { kind, opened, defined, braces, items });
        for &(token, var) in binders {
            // A second variable of that name is reported, and the region read all the same.
            let _: Parsed<()> = self.define(token, Some(var));
        }
        Ok(())
    }

    /// At the start of a member of a module.
    pub fn at_member(&self) -> bool {
        let word = if self.token.kind == Kind::Word { self.text_of(self.token) } else { "" };
        self.token.first && matches!(word, "hir.func" | "hir.instance" | "tir.func" | "module" | "group" | "method")
    }

    /// Reads a function's body and gives its frame, closed. The parameters are in scope.
    pub fn body(&mut self, kind: FrameKind<'c>) -> Parsed<Frame<'c>> {
        self.open(kind, &[])?;
        loop {
            match self.token.kind {
                _ if self.token.kind == Kind::End || self.at_member() => return Err(self.unclosed()),
                Kind::Punct(b'}') => {
                    self.advance();
                    let Some(frame) = self.frames.pop() else { return Err(Failed) };
                    self.undefine(frame.defined);
                    if self.frames.is_empty() {
                        return Ok(frame);
                    }
                    let _: Parsed<()> = self.close(frame);
                }
                _ => {
                    let start = self.token;
                    if self.statement().is_err() {
                        self.recover(start);
                    }
                }
            }
        }
    }

    fn unclosed(&mut self) -> Failed {
        let opened = self.frames.last().map(|frame| frame.opened);
        let mut diagnostic = Diagnostic::error("expected `}`").at(self.span(self.token));
        if let Some(opened) = opened {
            diagnostic = diagnostic.also(self.span(opened), "to close this");
        }
        self.frames.clear();
        self.report(diagnostic)
    }

    /// Goes on at the next line of the region. A region that a wrong line opens is left out.
    fn recover(&mut self, start: Token) {
        let home = self.frames.last().map_or(0, |frame| frame.braces);
        if self.token.start == start.start && self.token.kind != Kind::End {
            self.advance();
        }
        while self.token.kind != Kind::End {
            if self.token.first && self.token.line > start.line {
                if self.previous.is(b'{') && self.braces > home {
                    self.skip_region(home);
                }
                break;
            }
            if self.at(b'}') && self.braces <= home {
                break;
            }
            self.advance();
        }
        self.braces = home;
    }

    fn skip_region(&mut self, home: i32) {
        while self.token.kind != Kind::End && !self.at_member() {
            self.advance();
            if self.previous.is(b'}') && self.braces <= home {
                break;
            }
        }
    }

    fn close(&mut self, frame: Frame<'c>) -> Parsed<()> {
        match frame.kind {
            FrameKind::Grid(grid) => {
                let name = grid.name;
                let value = self.close_grid(*grid);
                if value.is_err() {
                    self.poison(name);
                }
                self.define(name, Some(value?))
            }
            FrameKind::For { induction, bounds, span } => {
                let body = self.block(frame.items);
                self.close_for(induction, bounds, body, span);
                Ok(())
            }
            FrameKind::Mesh { mesh, binding, span } => {
                let body = self.block(frame.items);
                self.close_mesh(mesh, binding, body, span);
                Ok(())
            }
            FrameKind::While { cond, span } => {
                self.close_while(cond, span, frame.items);
                Ok(())
            }
            FrameKind::If { cond, span } => self.close_then(cond, span, frame.items),
            FrameKind::Else { cond, span, then_body } => {
                let else_body = self.block(frame.items);
                self.push(StmtKind::If { cond, then_body, else_body }, span);
                Ok(())
            }
            FrameKind::Dispatch { .. } => self.close_dispatch(frame.kind, frame.items),
            FrameKind::Hir(_) | FrameKind::Tir => Ok(()),
        }
    }
}
