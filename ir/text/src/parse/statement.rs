//! Lines of bodies, and blocks of TIR statements.

use tf_core::node::TirCallee;
use tf_core::op::OpForm;
use tf_core::{Diagnostic, Expr, Span, Stmt, StmtKind};
use tf_types::{Mesh, Symbol};

use super::Parser;
use super::body::{FrameKind, Item};
use super::cursor::Parsed;
use super::lexer::{Kind, Token};
use super::link::{Reference, Use};
use super::op::OpText;
use super::value::Binder;

impl<'c> Parser<'_, '_, 'c> {
    /// One line: a definition, a statement, or what opens a region.
    pub fn statement(&mut self) -> Parsed<()> {
        let token = self.token;
        if token.kind == Kind::Value {
            return self.definition();
        }
        let in_grid = matches!(self.frames.last().map(|frame| &frame.kind), Some(FrameKind::Grid(_)));
        let word = if token.kind == Kind::Word { self.text_of(token) } else { "" };
        match word {
            "hir.yield" => self.yield_text(),
            "hir.return" => self.return_value(),
            "hir.variant" => self.variant(),
            "hir.converter" => self.converter(),
            _ if !self.in_tir() => Err(self.expected("`%name = …`, `hir.yield` or `hir.return`")),
            _ if in_grid => Err(self.expected("`%name = …` or `hir.yield`")),
            "let" => self.let_text(),
            "tir.for" => self.for_text(),
            "tir.mesh" => self.mesh_text(),
            "tir.while" | "tir.if" => self.condition_text(),
            "tir.dispatch" => self.dispatch_text(),
            "tir.case" => self.case_text(),
            "tir.abort" => self.abort_text(),
            "tir.return" => {
                self.advance();
                let span = self.location(self.span(token))?;
                self.push(StmtKind::Return, span);
                Ok(())
            }
            "tir.call" => self.call_statement(true),
            "tir.intrinsic" => self.call_statement(false),
            op if op.contains('.') => self.evaluate(),
            _ => Err(self.expected("a statement: `let`, an effect op, `%name = …` or `tir.…`")),
        }
    }

    pub fn push(&mut self, kind: StmtKind<'c>, span: Option<Span>) {
        let stmt = self.cx.stmt(kind, span);
        self.items.push(Item::Stmt(stmt));
    }

    fn definition(&mut self) -> Parsed<()> {
        let name = self.advance();
        let value = self.defined_value(name);
        match value {
            Ok(None) => Ok(()),
            Ok(Some(value)) => self.define(name, Some(value)),
            Err(failed) => {
                self.poison(name);
                Err(failed)
            }
        }
    }

    /// The value of a line, or none where the line opens a loop.
    fn defined_value(&mut self, name: Token) -> Parsed<Option<Expr<'c>>> {
        let author = self.author_name(name)?;
        self.expect(b'=')?;
        if self.at_word("hir.grid") {
            return self.grid(name, author).map(|()| None);
        }
        self.right_side(author).map(Some)
    }

    fn return_value(&mut self) -> Parsed<()> {
        let token = self.advance();
        let operand = self.operand()?;
        let ty = if self.accept(b':') { Some(self.ty()?) } else { self.value_type(operand) };
        let Some(ty) = ty else { return Err(self.expected("`:` and the type")) };
        let value = self.resolve(operand, ty)?;
        match self.frames.last_mut().map(|frame| &mut frame.kind) {
            Some(FrameKind::Hir(result @ None)) => {
                *result = Some(value);
                Ok(())
            }
            Some(FrameKind::Hir(Some(_))) => Err(self.error_at(token, "the function has returned already")),
            _ => Err(self.error_at(token, "`hir.return` ends the body of a `hir.func`")),
        }
    }

    /// `let %v = op … : (…) -> type`, `let %v = %value : type`.
    fn let_text(&mut self) -> Parsed<()> {
        let first = self.advance();
        let name = self.token;
        let result = self.let_value();
        let (binder, value) = match result {
            Ok(parts) => parts,
            Err(failed) => {
                if name.kind == Kind::Value {
                    self.poison(name);
                }
                return Err(failed);
            }
        };
        let span = self.location(self.span_from(first))?;
        let var = self.var(binder, value.ty());
        self.items.push(Item::Let(var, value, span));
        self.define(name, Some(var))
    }

    fn let_value(&mut self) -> Parsed<(Binder<'c>, Expr<'c>)> {
        let binder = self.binder()?;
        self.expect(b'=')?;
        if let Kind::Value | Kind::Symbol = self.token.kind {
            let operand = self.operand()?;
            self.expect(b':')?;
            let ty = self.ty()?;
            return Ok((binder, self.resolve(operand, ty)?));
        }
        Ok((binder, self.right_side(None)?))
    }

    fn evaluate(&mut self) -> Parsed<()> {
        let OpText { token, op, args, span } = self.op_text()?;
        if op.decl.form == OpForm::Value {
            let diagnostic = Diagnostic::error(format!("`{}` has a value", op.decl.name)).at(self.span(token));
            return Err(self.report(diagnostic.with_help("bind it: `let %name = …`")));
        }
        let (least, most) = op.decl.arity();
        if args.len() < least || most.is_some_and(|most| args.len() > most) {
            let message = format!("`{}` takes {least} operands, found {}", op.decl.name, args.len());
            return Err(self.error_at(token, message));
        }
        let span = self.location(span)?;
        self.push(StmtKind::Evaluate { callee: TirCallee::Op(op), args }, span);
        Ok(())
    }

    /// `tir.call @f(%a, %b) : (type, type)` of a function, `tir.intrinsic @g(…) : (…)` of what an author declares.
    fn call_statement(&mut self, is_function: bool) -> Parsed<()> {
        let first = self.advance();
        let (token, name) =
            self.symbol(if is_function { "the name of a function" } else { "the name of an intrinsic" })?;
        self.expect(b'(')?;
        self.operand_list(b")")?;
        self.expect(b')')?;
        let span = self.span_from(first);
        self.expect(b':')?;
        let types = self.type_list()?;
        let args = self.resolve_all(first, &types)?;
        let span = self.location(span)?;
        let callee = if is_function {
            self.references.push(Reference {
                token,
                key: (self.path, name),
                how: Use::Statement { count: args.len() },
            });
            TirCallee::Symbol(name)
        } else {
            TirCallee::Intrinsic(self.declared_intrinsic(token, name, args.len())?)
        };
        self.push(StmtKind::Evaluate { callee, args }, span);
        Ok(())
    }

    /// `tir.for %i = 0 to %n step 4 : i64 {`, or four types in parentheses.
    fn for_text(&mut self) -> Parsed<()> {
        let first = self.advance();
        let binder = self.binder()?;
        self.expect(b'=')?;
        let start = self.operand()?;
        self.expect_word("to")?;
        let stop = self.operand()?;
        self.expect_word("step")?;
        let step = self.operand()?;
        let span = self.span_from(first);
        self.expect(b':')?;
        let types = if self.at(b'(') { self.type_list()? } else { vec![self.ty()?; 4] };
        let &[ty, start_type, stop_type, step_type] = &types[..] else {
            return Err(self.error_at(first, "expected one type, or those of the variable, start, stop and step"));
        };
        let span = self.location(span)?;
        let bounds = [self.resolve(start, start_type)?, self.resolve(stop, stop_type)?, self.resolve(step, step_type)?];
        let induction = self.var(binder, ty);
        self.open(FrameKind::For { induction, bounds, span }, &[(binder.token, induction)])
    }

    pub fn close_for(&mut self, induction: Expr<'c>, bounds: [Expr<'c>; 3], body: Stmt<'c>, span: Option<Span>) {
        let [start, stop, step] = bounds;
        self.push(StmtKind::For { induction, start, stop, step, body }, span);
    }

    /// `tir.mesh name = #mesh0 {`.
    fn mesh_text(&mut self) -> Parsed<()> {
        let first = self.advance();
        let binding = self.word_or_string("the name of the mesh")?;
        self.expect(b'=')?;
        let mesh = self.mesh()?;
        let span = self.location(self.span_from(first))?;
        self.open(FrameKind::Mesh { mesh, binding, span }, &[])
    }

    pub fn close_mesh(&mut self, mesh: Mesh<'c>, binding: Symbol<'c>, body: Stmt<'c>, span: Option<Span>) {
        self.push(StmtKind::MeshScope { mesh, binding, body }, span);
    }

    /// The statements read since `from`: what follows a `let` nests in it.
    pub fn block(&mut self, from: usize) -> Stmt<'c> {
        let mut later: Vec<Stmt<'c>> = Vec::new();
        for item in self.items.drain(from..).rev() {
            match item {
                Item::Stmt(stmt) => later.push(stmt),
                Item::Let(var, value, span) => {
                    let body = sequence(self.cx, &mut later);
                    later.clear();
                    later.push(self.cx.stmt(StmtKind::Let { var, value, body }, span));
                }
            }
        }
        sequence(self.cx, &mut later)
    }
}

/// One statement as it is, several or none as a sequence; they come last first.
fn sequence<'c>(cx: &tf_core::Context<'c>, stmts: &mut [Stmt<'c>]) -> Stmt<'c> {
    if let [one] = stmts {
        return *one;
    }
    stmts.reverse();
    cx.stmt(StmtKind::Sequential(cx.alloc_slice(stmts)), None)
}
