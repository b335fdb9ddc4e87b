//! Statements of a `@prim_func` body.

use ruff_python_ast as ast;
use ruff_text_size::Ranged;
use tf_core::node::Stmt;
use tf_core::{Expr, ExprKind, Meta, Span, StmtKind};
use tf_types::{DType, Symbol};

use crate::body::{is_integer_scalar, keyword};
use crate::names::Builtin;
use crate::parser::{Binding, BodyFrame, Frame, Parser};
use crate::refusal::{Refusal, Res};
use crate::value::Value;

/// A binding whose body is the rest of its block.
struct Open<'c> {
    before: Vec<Stmt<'c>>,
    var: Expr<'c>,
    value: Expr<'c>,
    span: Span,
}

/// Nodes of an integer that is computed again where a launch needs it.
const UNFOLDED: usize = 64;

impl<'c> Parser<'_, 'c> {
    fn sequence_of(&self, stmts: &[Stmt<'c>]) -> Stmt<'c> {
        self.cx.stmt(StmtKind::Sequential(self.cx.alloc_slice(stmts)), None)
    }

    /// Statements in order; what follows a binding is its body. Refused ones are reported.
    pub(crate) fn prim_block(&mut self, stmts: &[ast::Stmt]) -> Stmt<'c> {
        let mut open: Vec<Open<'c>> = Vec::new();
        let mut block: Vec<Stmt<'c>> = Vec::new();
        for stmt in stmts {
            let span = self.span(stmt);
            let result = self.nested(span, |p| match stmt {
                ast::Stmt::Assign(assign) => p.prim_assign(assign, span),
                other => p.prim_statement(other, span).map(|stmt| {
                    block.extend(stmt);
                    None
                }),
            });
            match result {
                Ok(None) => {}
                Ok(Some((var, value))) => {
                    open.push(Open { before: std::mem::take(&mut block), var, value, span });
                }
                Err(refusal) => {
                    self.report(refusal);
                    let mut names = Vec::new();
                    crate::body::bound_names(stmt, &mut names);
                    for name in names {
                        self.bind(self.cx.symbol(name), Binding::Poison);
                    }
                }
            }
        }
        let mut body = self.sequence_of(&block);
        while let Some(Open { mut before, var, value, span }) = open.pop() {
            before.push(self.cx.stmt(StmtKind::Let { var, value, body }, Some(span)));
            body = self.sequence_of(&before);
        }
        body
    }

    /// `name = value`: a binding of a value op's result; compile-time values and other names of a variable bind no node.
    fn prim_assign(&mut self, assign: &ast::StmtAssign, span: Span) -> Res<Option<(Expr<'c>, Expr<'c>)>> {
        let [ast::Expr::Name(target)] = &assign.targets[..] else {
            return Err(Refusal::wrong(span, "an assignment of a `@prim_func` has one name as target"));
        };
        self.escape(target)?;
        let name = self.cx.symbol(target.id.as_str());
        let value = match &*assign.value {
            ast::Expr::Call(call) if self.is_tensor_call(call) => self.allocation(call, Some(name))?,
            other => self.eval(other, Some(name))?,
        };
        if !self.take_effects().is_empty() {
            let message = format!("`{}` is an effect and has no value", self.text(&*assign.value));
            return Err(Refusal::wrong(self.span(&*assign.value), message).help("write it as a statement"));
        }
        match value {
            Value::Expr(expr) if !matches!(expr.kind, ExprKind::Var { .. }) => {
                let var = self.cx.var(name, expr.ty(), Meta::at(self.span(target)));
                self.bind(name, Binding::Value(Value::Expr(var)));
                if is_integer_scalar(expr)
                    && let Some(body) = &mut self.body
                {
                    body.lets.insert(var, expr);
                }
                Ok(Some((var, expr)))
            }
            other => {
                self.bind(name, Binding::Value(other));
                Ok(None)
            }
        }
    }

    /// The same integer computed again, without the bindings that it reads: a launch states its extents itself. None of one that takes
    /// long to compute.
    pub(super) fn unfolded(&self, expr: Expr<'c>) -> Option<Expr<'c>> {
        let lets = &self.body.as_ref()?.lets;
        let (mut done, mut stack) = (Vec::new(), vec![(expr, false)]);
        let mut left = UNFOLDED;
        while let Some((node, is_open)) = stack.pop() {
            left = if is_open { left } else { left.checked_sub(1)? };
            match node.kind {
                ExprKind::Var { .. } if let Some(&value) = lets.get(&node) => stack.push((value, false)),
                ExprKind::Call { args, .. } if !is_open => {
                    stack.push((node, true));
                    stack.extend(args.iter().rev().map(|&arg| (arg, false)));
                }
                ExprKind::Call { callee, args } => {
                    let args = self.cx.alloc_slice(&done.split_off(done.len() - args.len()));
                    done.push(self.cx.expr(ExprKind::Call { callee, args }, node.ty(), node.meta));
                }
                _ => done.push(node),
            }
        }
        done.pop()
    }

    /// Refuses a binding of a block whose name also stands for something outside, where it is read afterwards.
    fn escape(&self, target: &ast::ExprName) -> Res<()> {
        let name = self.cx.symbol(target.id.as_str());
        let escapes = self.body.as_ref().is_some_and(|body| body.escaping.contains(&target.start()));
        if !escapes || self.binding(name).is_none() {
            return Ok(());
        }
        let message = format!("`{name}` is read outside this block, but names are bound for their block only");
        let help = "values of a `@prim_func` do not change: keep it in a buffer in rmem, with `T.fill` and `T.copy`";
        Err(Refusal::wrong(self.span(target), message).help(help))
    }

    fn is_tensor_call(&self, call: &ast::ExprCall) -> bool {
        matches!(&*call.func, ast::Expr::Name(name) if self.is_builtin(name.id.as_str(), Builtin::Tensor))
    }

    fn prim_statement(&mut self, stmt: &ast::Stmt, span: Span) -> Res<Vec<Stmt<'c>>> {
        let cx = self.cx;
        let made = |kind| Ok(vec![cx.stmt(kind, Some(span))]);
        match stmt {
            ast::Stmt::Pass(_) => Ok(Vec::new()),
            ast::Stmt::Expr(expr) => {
                let ast::Expr::Call(call) = &*expr.value else {
                    return Err(Refusal::wrong(span, "an expression statement has no effect"));
                };
                self.call(call, span, None)?;
                let effects = self.take_effects();
                if effects.is_empty() {
                    let message = format!("the value of `{}` is not used", self.text(&*call.func));
                    return Err(Refusal::wrong(span, message).help("bind it to a name"));
                }
                Ok(effects)
            }
            ast::Stmt::For(stmt) => self.prim_for(stmt, span),
            ast::Stmt::While(stmt) => {
                if let Some(other) = stmt.orelse.first() {
                    return Err(Refusal::unread(self.span(other), "`else` of a loop is not part of the language"));
                }
                let cond = self.condition(&stmt.test)?;
                let body = self.inner_block(&stmt.body, Frame::default());
                made(StmtKind::While { cond, body })
            }
            ast::Stmt::If(stmt) => self.prim_if(stmt, span),
            ast::Stmt::With(with) => self.prim_with(with, span),
            ast::Stmt::Return(stmt) => match &stmt.value {
                None => made(StmtKind::Return),
                Some(_) => {
                    let message = "`return` of a `@prim_func` has no value: outputs are its last parameters";
                    Err(Refusal::wrong(span, message))
                }
            },
            ast::Stmt::AugAssign(_) => Err(Refusal::wrong(span, "an augmented assignment is not part of the language")),
            other => Err(Refusal::unread(span, format!("{} is not part of a `@prim_func` body", keyword(other)))),
        }
    }

    /// A block with names of its own: what it binds is gone after it.
    fn inner_block(&mut self, stmts: &[ast::Stmt], names: Frame<'c>) -> Stmt<'c> {
        if let Some(body) = &mut self.body {
            body.frames.push(BodyFrame { names, is_mesh: false });
        }
        let block = self.prim_block(stmts);
        if let Some(body) = &mut self.body {
            body.frames.pop();
        }
        block
    }

    fn condition(&mut self, test: &ast::Expr) -> Res<Expr<'c>> {
        let span = self.span(test);
        let value = self.eval(test, None)?;
        let cond = self.node(&value, DType::F32, span)?;
        match cond.ty().as_tensor() {
            Some(tensor) if tensor.rank() == 0 && tensor.dtype == DType::Bool => Ok(cond),
            _ => Err(Refusal::wrong(span, format!("a condition is a bool of rank 0, found {}", cond.ty()))),
        }
    }

    fn prim_if(&mut self, stmt: &ast::StmtIf, span: Span) -> Res<Vec<Stmt<'c>>> {
        let cond = self.condition(&stmt.test)?;
        let then_body = self.inner_block(&stmt.body, Frame::default());
        let mut branches = Vec::new();
        let mut else_body = self.sequence_of(&[]);
        for clause in &stmt.elif_else_clauses {
            match &clause.test {
                Some(test) => {
                    let cond = self.condition(test)?;
                    branches.push((cond, self.inner_block(&clause.body, Frame::default()), self.span(clause)));
                }
                None => else_body = self.inner_block(&clause.body, Frame::default()),
            }
        }
        while let Some((cond, then_body, at)) = branches.pop() {
            let inner = self.cx.stmt(StmtKind::If { cond, then_body, else_body }, Some(at));
            else_body = self.sequence_of(&[inner]);
        }
        Ok(vec![self.cx.stmt(StmtKind::If { cond, then_body, else_body }, Some(span))])
    }

    fn prim_for(&mut self, stmt: &ast::StmtFor, span: Span) -> Res<Vec<Stmt<'c>>> {
        let iter = self.span(&*stmt.iter);
        if stmt.is_async {
            return Err(Refusal::unread(span, "async is not part of the language"));
        }
        if let Some(other) = stmt.orelse.first() {
            return Err(Refusal::unread(self.span(other), "`else` of a loop is not part of the language"));
        }
        let ast::Expr::Name(target) = &*stmt.target else {
            return Err(Refusal::wrong(self.span(&*stmt.target), "the variable of a loop is one name"));
        };
        self.escape(target)?;
        let call = match &*stmt.iter {
            ast::Expr::Call(call) if self.is_builtin(&self.text(&*call.func), Builtin::Range) => call,
            other => {
                let message = format!("a loop of a `@prim_func` runs over `range(...)`, not `{}`", self.text(other));
                return Err(Refusal::wrong(iter, message));
            }
        };
        if let Some(keyword) = call.arguments.keywords.first() {
            return Err(Refusal::wrong(self.span(keyword), "arguments of `range` are positional"));
        }
        let args = &call.arguments.args;
        if args.is_empty() || args.len() > 3 {
            return Err(Refusal::wrong(iter, format!("`range` takes 1 to 3 arguments, found {}", args.len())));
        }
        let mut bounds = Vec::new();
        for arg in args {
            let (at, value) = (self.span(arg), self.eval(arg, None)?);
            let bound = self.node(&value, DType::F32, at)?;
            if !bound.ty().as_tensor().is_some_and(|t| t.rank() == 0 && t.dtype.is_integer()) {
                return Err(Refusal::wrong(
                    at,
                    format!("a bound of a loop is an integer of rank 0, found {}", bound.ty()),
                ));
            }
            bounds.push(bound);
        }
        let (start, stop, step) = match bounds[..] {
            [stop] => (self.int_node(0, iter), stop, self.int_node(1, iter)),
            [start, stop] => (start, stop, self.int_node(1, iter)),
            [start, stop, step, ..] => (start, stop, step),
            [] => return Err(Refusal::Reported),
        };
        let name = self.cx.symbol(target.id.as_str());
        let induction = self.cx.var(name, self.cx.scalar(DType::I64), Meta::at(self.span(target)));
        let names = Frame::from_iter([(name, Binding::Value(Value::Expr(induction)))]);
        let body = self.inner_block(&stmt.body, names);
        Ok(vec![self.cx.stmt(StmtKind::For { induction, start, stop, step, body }, Some(span))])
    }

    fn prim_with(&mut self, with: &ast::StmtWith, span: Span) -> Res<Vec<Stmt<'c>>> {
        if with.is_async {
            return Err(Refusal::unread(span, "async is not part of the language"));
        }
        let mut aliases = Vec::new();
        let mut meshes = Vec::new();
        for item in &with.items {
            match self.open_mesh(item, span) {
                Ok(alias) => {
                    aliases.push(alias);
                    meshes.extend(self.body.as_ref().and_then(|body| body.meshes.last().copied()));
                }
                Err(refusal) => {
                    self.close_meshes(&aliases);
                    return Err(refusal);
                }
            }
        }
        let mut body = self.prim_block(&with.body);
        self.close_meshes(&aliases);
        while let (Some(mesh), Some(alias)) = (meshes.pop(), aliases.pop()) {
            let binding: Symbol<'c> = alias.unwrap_or_else(|| self.cx.symbol("_"));
            let scope = self.cx.stmt(StmtKind::MeshScope { mesh, binding, body }, Some(span));
            if meshes.is_empty() {
                return Ok(vec![scope]);
            }
            body = self.sequence_of(&[scope]);
        }
        Err(Refusal::Reported)
    }

    /// The effects of the expression that was read last.
    pub(crate) fn take_effects(&mut self) -> Vec<Stmt<'c>> {
        self.body.as_mut().map(|body| std::mem::take(&mut body.effects)).unwrap_or_default()
    }
}
