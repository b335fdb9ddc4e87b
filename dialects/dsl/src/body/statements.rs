//! Statements of a body.

use ruff_python_ast as ast;
use ruff_text_size::Ranged;
use tf_core::{Expr, ExprKind, Span};
use tf_types::{DType, TypeKind};

use crate::names::Builtin;
use crate::parser::{Binding, Parser};
use crate::refusal::{Refusal, Res};
use crate::value::Value;

/// Values that one name of a `return` stands for.
const RESULTS: usize = 1 << 16;

/// How a suite ends.
#[derive(Clone, Copy)]
pub(crate) enum Flow<'c> {
    /// The statements after it follow; the value of a loop that ends the suite.
    Next(Option<Expr<'c>>),
    /// With the value of the function; `None` where that is refused.
    Return(Option<Expr<'c>>),
}

/// The Python keyword of a statement that is not read.
pub(crate) fn keyword(stmt: &ast::Stmt) -> &'static str {
    match stmt {
        ast::Stmt::While(_) => "`while`",
        ast::Stmt::If(_) => "`if`",
        ast::Stmt::Try(_) => "`try`",
        ast::Stmt::Raise(_) => "`raise`",
        ast::Stmt::Assert(_) => "`assert`",
        ast::Stmt::Delete(_) => "`del`",
        ast::Stmt::Match(_) => "`match`",
        ast::Stmt::Global(_) => "`global`",
        ast::Stmt::Nonlocal(_) => "`nonlocal`",
        ast::Stmt::Import(_) | ast::Stmt::ImportFrom(_) => "`import`",
        ast::Stmt::Break(_) => "`break`",
        ast::Stmt::Continue(_) => "`continue`",
        ast::Stmt::ClassDef(_) => "`class`",
        ast::Stmt::TypeAlias(_) => "`type`",
        ast::Stmt::FunctionDef(_) => "a function",
        ast::Stmt::AnnAssign(_) => "an annotated assignment",
        ast::Stmt::For(_) => "`for`",
        ast::Stmt::With(_) => "`with`",
        _ => "this statement",
    }
}

/// The text of a docstring, where it comes first.
pub(crate) fn docstring(stmt: &ast::Stmt) -> Option<&str> {
    match stmt {
        ast::Stmt::Expr(expr) => match &*expr.value {
            ast::Expr::StringLiteral(literal) => Some(literal.value.to_str()),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a statement is a docstring, where it comes first.
pub(crate) fn is_docstring(stmt: &ast::Stmt) -> bool {
    docstring(stmt).is_some()
}

impl<'c> Parser<'_, 'c> {
    /// Reads statements one by one; a refused one is reported and poisons what it binds.
    pub(crate) fn suite(&mut self, stmts: &[ast::Stmt]) -> Flow<'c> {
        let mut last = None;
        for (at, stmt) in stmts.iter().enumerate() {
            let span = self.span(stmt);
            match self.nested(span, |p| p.statement(stmt)) {
                Ok(Flow::Next(value)) => last = value,
                Ok(returned) => {
                    // `raise` is how authors tell other tools that nothing is reached here.
                    if let Some(next) = stmts[at + 1..].iter().find(|stmt| !stmt.is_raise_stmt()) {
                        self.report(Refusal::wrong(self.span(next), "the statement stands after `return`"));
                    }
                    return returned;
                }
                Err(refusal) => {
                    self.report(refusal);
                    self.poison(stmt);
                    last = None;
                    if matches!(stmt, ast::Stmt::Return(_)) {
                        return Flow::Return(None);
                    }
                }
            }
        }
        Flow::Next(last)
    }

    fn statement(&mut self, stmt: &ast::Stmt) -> Res<Flow<'c>> {
        match stmt {
            ast::Stmt::Return(stmt) => self.return_statement(stmt).map(|value| Flow::Return(Some(value))),
            ast::Stmt::With(with) => self.with_statement(with),
            ast::Stmt::For(stmt) => self.loop_statement(stmt).map(|grid| Flow::Next(Some(grid))),
            _ => self.assignment_or_refusal(stmt).map(|_| Flow::Next(None)),
        }
    }

    /// The statements that functions and loops have in common; the value that is assigned.
    pub(crate) fn assignment_or_refusal(&mut self, stmt: &ast::Stmt) -> Res<Option<Expr<'c>>> {
        let span = self.span(stmt);
        match stmt {
            ast::Stmt::Assign(assign) => self.assign(assign, span),
            ast::Stmt::AugAssign(aug) => {
                let op = aug.op.as_str();
                let target = self.text(&*aug.target);
                Err(Refusal::wrong(span, format!("the augmented assignment `{op}=` is not part of the language"))
                    .help(format!("write `{target} = {target} {op} {}`", self.text(&*aug.value))))
            }
            ast::Stmt::AnnAssign(assign) => self.annotated(assign, span),
            ast::Stmt::Expr(expr) => {
                let refusal = match &*expr.value {
                    ast::Expr::Yield(_) | ast::Expr::YieldFrom(_) => {
                        Refusal::unread(span, "`yield` is not part of the language")
                    }
                    // Most likely Python's own `print`: then there is no value to name.
                    ast::Expr::Call(call) if matches!(&*call.func, ast::Expr::Name(name) if name.id == "print") => {
                        let message = "`print` is not part of the language: bodies are read, not executed";
                        Refusal::wrong(span, message).help("`tf-opt --pipeline=evaluate` gives the values of results")
                    }
                    ast::Expr::Call(call) if let Some(what) = self.effect_of_prims(&call.func) => {
                        let callee = self.text(&*call.func);
                        Refusal::wrong(span, format!("`{callee}` is {what} and unknown in a `@func`"))
                            .help("values of a `@func` are returned, not written")
                    }
                    ast::Expr::EllipsisLiteral(_) => Refusal::wrong(span, "`...` is not part of the language")
                        .help("the body of a function that variants implement is `pass`"),
                    _ => {
                        Refusal::wrong(span, "an expression statement has no effect").help("assign its value to a name")
                    }
                };
                Err(refusal)
            }
            ast::Stmt::Pass(_) => Err(Refusal::wrong(span, "`pass` stands alone in a body")),
            ast::Stmt::FunctionDef(def) => {
                let message = format!("the function `{}` is defined inside a body", def.name);
                Err(Refusal::wrong(span, message).help("move it out"))
            }
            other => {
                let refusal = Refusal::unread(span, format!("{} is not part of a `@func` body", keyword(other)));
                Err(match other {
                    ast::Stmt::If(_) => refusal.help("elementwise: `tf.where(condition, a, b)`"),
                    ast::Stmt::While(_) => refusal.help("a loop is `for i in range(...)` or `for r in tile(...)`"),
                    _ => refusal,
                })
            }
        }
    }

    /// What a callee is that only bodies of `@prim_func` have.
    fn effect_of_prims(&mut self, callee: &ast::Expr) -> Option<&'static str> {
        const OP: &str = "an op of `@prim_func` bodies";
        let (is_name, bound) = match callee {
            ast::Expr::Attribute(op) if self.is_builtin(&self.text(&*op.value), Builtin::Tir) => return Some(OP),
            ast::Expr::Name(name) => (true, self.binding(self.cx.symbol(name.id.as_str())).is_some()),
            _ => (false, false),
        };
        let name = self.text(callee);
        match self.eval(callee, None) {
            Ok(Value::Builtin(Builtin::Launch)) => Some("a statement of `@prim_func` bodies"),
            Ok(Value::Intrinsic(_)) => Some("an intrinsic of `@prim_func` bodies"),
            Ok(Value::Op("T", _)) => Some(OP),
            _ if is_name && !bound && !self.cx.ops().schemas("T", &name).is_empty() => {
                self.cx.ops().schemas("tf", &name).is_empty().then_some(OP)
            }
            _ => None,
        }
    }

    fn assign(&mut self, assign: &ast::StmtAssign, span: Span) -> Res<Option<Expr<'c>>> {
        let [target] = &assign.targets[..] else {
            return Err(Refusal::wrong(span, "an assignment has one target"));
        };
        match target {
            ast::Expr::Name(name) => {
                let name = self.cx.symbol(name.id.as_str());
                let value = self.eval(&assign.value, Some(name))?;
                let value = self.lifted(value, self.span(&*assign.value))?;
                let expr = value.as_expr();
                self.bind(name, Binding::Value(value));
                Ok(expr)
            }
            ast::Expr::Tuple(ast::ExprTuple { elts, .. }) | ast::Expr::List(ast::ExprList { elts, .. }) => {
                self.unpack(elts, assign, span)
            }
            other => {
                let message = format!("the target of an assignment is a name, not `{}`", self.text(other));
                Err(Refusal::wrong(self.span(other), message))
            }
        }
    }

    /// `a, b = value`: compile-time sequences give their items, tuple values are projected.
    fn unpack(&mut self, targets: &[ast::Expr], assign: &ast::StmtAssign, span: Span) -> Res<Option<Expr<'c>>> {
        let mut names = Vec::with_capacity(targets.len());
        for target in targets {
            match target {
                ast::Expr::Name(name) => names.push(self.cx.symbol(name.id.as_str())),
                other => return Err(Refusal::wrong(self.span(other), "an unpacking target is a name")),
            }
        }
        if let ast::Expr::Tuple(values) = &*assign.value
            && values.elts.len() == names.len()
        {
            // Written item by item: each value takes the name of its target.
            let values = values.elts.iter().zip(&names).map(|(value, name)| self.eval(value, Some(*name)));
            let values = values.collect::<Res<Vec<_>>>()?;
            for (name, value) in names.iter().zip(values) {
                self.bind(*name, Binding::Value(value));
            }
            return Ok(None);
        }
        let value_span = self.span(&*assign.value);
        let value = self.eval(&assign.value, None)?;
        let count = match (&value, value.as_sequence()) {
            (_, Some(items)) => items.len(),
            (Value::Expr(expr), _) => match expr.ty().data() {
                TypeKind::Tuple(fields) => fields.len(),
                _ => {
                    let message = format!("only a tuple value is unpacked, found {}", expr.ty());
                    return Err(Refusal::wrong(value_span, message));
                }
            },
            (other, _) => {
                let message = format!("only a tuple value is unpacked, found {}", other.describe());
                return Err(Refusal::wrong(value_span, message));
            }
        };
        if count != names.len() {
            let message = format!("{} names for a tuple of {count}", names.len());
            return Err(Refusal::wrong(span, message));
        }
        for (at, name) in names.iter().enumerate() {
            let item = match (value.as_sequence(), &value) {
                (Some(items), _) => items[at].clone(),
                (None, Value::Expr(expr)) => {
                    Value::Expr(self.project(*expr, at, self.span(&targets[at]), Some(*name))?)
                }
                _ => return Err(Refusal::Reported),
            };
            self.bind(*name, Binding::Value(item));
        }
        Ok(value.as_expr())
    }

    fn return_statement(&mut self, stmt: &ast::StmtReturn) -> Res<Expr<'c>> {
        let Some(value) = &stmt.value else {
            return Err(Refusal::wrong(self.span(stmt), "`return` needs a value"));
        };
        self.result(value)
    }

    fn result(&mut self, expr: &ast::Expr) -> Res<Expr<'c>> {
        let span = self.span(expr);
        if let ast::Expr::Tuple(tuple) = expr {
            let items = tuple.elts.iter().map(|item| self.nested(span, |p| p.result(item))).collect::<Res<Vec<_>>>()?;
            return Ok(self.tuple_node(&items, span));
        }
        let value = self.eval(expr, None)?;
        if value.weight(RESULTS) == RESULTS {
            return Err(Refusal::wrong(span, format!("the function returns more than {RESULTS} values")));
        }
        self.result_node(&value, span)
    }

    fn result_node(&mut self, value: &Value<'c>, span: Span) -> Res<Expr<'c>> {
        match value.as_sequence() {
            None => self.node(value, DType::F32, span),
            Some(items) => {
                let items = items.iter().map(|item| self.result_node(item, span)).collect::<Res<Vec<_>>>()?;
                Ok(self.tuple_node(&items, span))
            }
        }
    }

    fn tuple_node(&self, items: &[Expr<'c>], span: Span) -> Expr<'c> {
        let types: Vec<_> = items.iter().map(|item| item.ty()).collect();
        let kind = ExprKind::Tuple(self.cx.alloc_slice(items));
        self.cx.expr(kind, self.cx.tuple(&types), self.meta(span, None))
    }

    /// Names that a refused statement would bind follow from its refusal.
    fn poison(&mut self, stmt: &ast::Stmt) {
        let mut names = Vec::new();
        match stmt {
            ast::Stmt::Assign(assign) => assign.targets.iter().for_each(|t| target_names(t, &mut names)),
            ast::Stmt::AugAssign(assign) => target_names(&assign.target, &mut names),
            ast::Stmt::AnnAssign(assign) => target_names(&assign.target, &mut names),
            ast::Stmt::FunctionDef(def) => names.push(def.name.as_str()),
            ast::Stmt::For(stmt) => super::loops::assigned(&stmt.body, &mut |name, _| names.push(name)),
            ast::Stmt::With(_) | ast::Stmt::If(_) | ast::Stmt::While(_) | ast::Stmt::Try(_) => {
                bound_names(stmt, &mut names);
            }
            _ => {}
        }
        for name in names {
            self.bind(self.cx.symbol(name), Binding::Poison);
        }
    }

    /// Where a body without `return` ends.
    pub(crate) fn end_of(&self, stmts: &[ast::Stmt], otherwise: &impl Ranged) -> Span {
        stmts.last().map_or_else(|| self.span(otherwise), |last| self.span(last))
    }
}

/// Names in a target, in the order of the text.
pub(crate) fn target_names<'x>(target: &'x ast::Expr, names: &mut Vec<&'x str>) {
    let mut left = vec![target];
    while let Some(target) = left.pop() {
        match target {
            ast::Expr::Name(name) => names.push(name.id.as_str()),
            ast::Expr::Starred(starred) => left.push(&starred.value),
            ast::Expr::Tuple(ast::ExprTuple { elts, .. }) | ast::Expr::List(ast::ExprList { elts, .. }) => {
                left.extend(elts.iter().rev());
            }
            _ => {}
        }
    }
}

/// Names bound anywhere in a compound statement; nesting is bounded by the limits on indentation.
pub(crate) fn bound_names<'x>(stmt: &'x ast::Stmt, names: &mut Vec<&'x str>) {
    let mut all = |stmts: &'x [ast::Stmt]| stmts.iter().for_each(|s| bound_names(s, names));
    match stmt {
        ast::Stmt::Assign(assign) => assign.targets.iter().for_each(|t| target_names(t, names)),
        ast::Stmt::With(with) => all(&with.body),
        ast::Stmt::For(stmt) => {
            all(&stmt.body);
            target_names(&stmt.target, names);
        }
        ast::Stmt::AugAssign(assign) => target_names(&assign.target, names),
        ast::Stmt::AnnAssign(assign) => target_names(&assign.target, names),
        ast::Stmt::While(stmt) => all(&stmt.body),
        ast::Stmt::If(stmt) => {
            all(&stmt.body);
            stmt.elif_else_clauses.iter().for_each(|clause| all(&clause.body));
        }
        ast::Stmt::Try(stmt) => {
            all(&stmt.body);
            all(&stmt.orelse);
            all(&stmt.finalbody);
            for ast::ExceptHandler::ExceptHandler(handler) in &stmt.handlers {
                all(&handler.body);
            }
        }
        ast::Stmt::FunctionDef(def) => names.push(def.name.as_str()),
        ast::Stmt::ClassDef(class) => names.push(class.name.as_str()),
        _ => {}
    }
}
