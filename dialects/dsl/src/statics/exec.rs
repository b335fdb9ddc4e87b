//! Statements of plain functions, and of the file beside its definitions.

use ruff_python_ast as ast;
use ruff_text_size::TextRange;
use tf_core::Span;

use super::Args;
use crate::body::{is_docstring, keyword};
use crate::file::Defined;
use crate::names::Builtin;
use crate::parser::{Binding, Kind, Parser};
use crate::refusal::{Refusal, Res};
use crate::value::Value;

/// Statements that are run and elements that are made for one file.
const STEPS: usize = 1 << 20;
/// Statements of one file that may take all of them.
const ENDLESS: usize = 4;
/// Expressions that count as one step.
const TICKS: u8 = 3;

/// Bytes of code of the language that count as one step.
const CODE_BYTES: usize = 4;

/// Steps of a call.
const CALL: usize = 4;

/// How a suite of a plain function ends.
pub(crate) enum Outcome<'c> {
    Next,
    Break,
    Continue,
    Return(Value<'c>),
}

impl<'c> Outcome<'c> {
    /// What a call gives.
    pub(crate) fn value(self) -> Value<'c> {
        match self {
            Self::Return(value) => value,
            _ => Value::None,
        }
    }
}

impl<'a, 'c> Parser<'a, 'c> {
    /// Bounds what the evaluation of a file takes, so that it ends.
    pub(crate) fn step(&mut self, count: usize, span: Span) -> Res<()> {
        self.steps = self.steps.saturating_add(count);
        if self.steps <= STEPS {
            return Ok(());
        }
        let message = format!("the constants of the file take more than {STEPS} steps");
        Err(Refusal::unread(span, message).help("what is stated outside functions is evaluated while the file is read"))
    }

    /// A statement that takes too much is not read; those behind it are, as long as such ones are few. Each leaves half of what the
    /// last one left.
    pub(crate) fn forgive(&mut self, before: usize) {
        if self.steps > STEPS && self.endless < ENDLESS {
            self.endless += 1;
            self.steps = before.max(STEPS - (STEPS >> self.endless));
        }
    }

    /// Counts the code of a function or module that is read each time a loop or plain function comes to it.
    pub(crate) fn step_code(&mut self, decorators: &[ast::Decorator], range: TextRange, span: Span) -> Res<()> {
        let bytes = if decorators.is_empty() { 0 } else { range.len().to_usize() };
        self.step(bytes / CODE_BYTES, span)
    }

    /// Counts an expression.
    pub(super) fn tick(&mut self, span: Span) -> Res<()> {
        self.ticks += 1;
        if self.ticks < TICKS {
            return Ok(());
        }
        self.ticks = 0;
        self.step(1, span)
    }

    pub(crate) fn run_suite(&mut self, stmts: &'a [ast::Stmt]) -> Res<Outcome<'c>> {
        for (at, stmt) in stmts.iter().enumerate() {
            if at == 0 && is_docstring(stmt) {
                continue;
            }
            let span = self.span(stmt);
            self.step(1, span)?;
            match self.nested(span, |p| p.run_statement(stmt, span))? {
                Outcome::Next => {}
                other => return Ok(other),
            }
        }
        Ok(Outcome::Next)
    }

    pub(super) fn run_statement(&mut self, stmt: &'a ast::Stmt, span: Span) -> Res<Outcome<'c>> {
        match stmt {
            ast::Stmt::Pass(_) => {}
            ast::Stmt::Break(_) => return Ok(Outcome::Break),
            ast::Stmt::Continue(_) => return Ok(Outcome::Continue),
            ast::Stmt::Return(stmt) => {
                return Ok(Outcome::Return(match &stmt.value {
                    Some(value) => self.stored(value)?,
                    None => Value::None,
                }));
            }
            ast::Stmt::If(branch) => {
                let taken = self.branch(branch)?;
                return self.run_suite(taken);
            }
            ast::Stmt::For(stmt) if !stmt.is_async => return self.run_for(stmt),
            ast::Stmt::While(stmt) => return self.run_while(stmt),
            ast::Stmt::With(with) => {
                self.meshes(with)?;
                return self.run_suite(&with.body);
            }
            ast::Stmt::Assert(assert) => self.asserted(assert, span)?,
            ast::Stmt::Raise(raise) => return Err(self.raised(raise, span)),
            ast::Stmt::Import(_) | ast::Stmt::ImportFrom(_) => self.import(stmt),
            ast::Stmt::ClassDef(class) => {
                self.step_code(&class.decorator_list, class.range, span)?;
                match self.file_class(class)? {
                    Some(module) => {
                        self.bind(self.cx.symbol(class.name.as_str()), Binding::Value(Value::Module(module)))
                    }
                    None => self.plain_class(class),
                }
            }
            ast::Stmt::FunctionDef(def) => self.local_function(def)?,
            ast::Stmt::Expr(expr) => match self.expression(&expr.value) {
                Err(refusal) if refusal.raised().is_some() => return Err(refusal),
                result => self.lost_expression(&expr.value, result)?,
            },
            ast::Stmt::Assign(_) | ast::Stmt::AnnAssign(_) | ast::Stmt::AugAssign(_) | ast::Stmt::TypeAlias(_) => {
                match self.assignment(stmt) {
                    Err(refusal) if refusal.raised().is_some() => return Err(refusal),
                    result => self.lost_assignment(stmt, result),
                }
            }
            ast::Stmt::Try(stmt) => return self.run_try(stmt),
            ast::Stmt::Match(stmt) => {
                let taken = self.matched(stmt)?;
                return self.run_suite(taken);
            }
            ast::Stmt::Delete(delete) => delete.targets.iter().try_for_each(|target| self.delete(target))?,
            // The names of the call know.
            ast::Stmt::Global(_) | ast::Stmt::Nonlocal(_) if matches!(self.scopes.last(), Some(scope) if matches!(scope.kind, Kind::Function(_))) =>
                {}
            other => {
                let message = format!("{} is not executed", keyword(other));
                return Err(Refusal::unread(span, message));
            }
        }
        Ok(Outcome::Next)
    }

    /// `with Mesh(...) as m`: the names of the meshes, which stay bound.
    pub(crate) fn meshes(&mut self, with: &ast::StmtWith) -> Res<()> {
        for item in &with.items {
            let span = self.span(&item.context_expr);
            match self.eval(&item.context_expr, None)? {
                mesh @ Value::Mesh(_) if !with.is_async => {
                    if let Some(target) = &item.optional_vars {
                        self.assign_target(target, mesh)?;
                    }
                }
                other => {
                    let message = format!("`with` of {} is not executed", other.describe());
                    return Err(Refusal::unread(span, message));
                }
            }
        }
        Ok(())
    }

    fn run_for(&mut self, stmt: &'a ast::StmtFor) -> Res<Outcome<'c>> {
        let items = self.looked(&stmt.iter)?;
        let span = self.span(&*stmt.iter);
        let iter = self.iter_of(&items, span)?;
        while let Some(item) = self.next_of(&iter, span)? {
            self.assign_target(&stmt.target, item)?;
            match self.run_suite(&stmt.body)? {
                Outcome::Next | Outcome::Continue => {}
                Outcome::Break => return Ok(Outcome::Next),
                returned @ Outcome::Return(_) => return Ok(returned),
            }
        }
        self.run_suite(&stmt.orelse)
    }

    fn run_while(&mut self, stmt: &'a ast::StmtWhile) -> Res<Outcome<'c>> {
        while self.truth(&stmt.test)? {
            self.step(1, self.span(stmt))?;
            match self.run_suite(&stmt.body)? {
                Outcome::Next | Outcome::Continue => {}
                Outcome::Break => return Ok(Outcome::Next),
                returned @ Outcome::Return(_) => return Ok(returned),
            }
        }
        self.run_suite(&stmt.orelse)
    }

    /// A loop of the file itself.
    pub(crate) fn file_loop(&mut self, stmt: &'a ast::Stmt) {
        let result = match stmt {
            ast::Stmt::For(stmt) if !stmt.is_async => self.run_for(stmt),
            ast::Stmt::While(stmt) => self.run_while(stmt),
            other => return self.skip(other),
        };
        let binding = match result {
            Ok(_) => return,
            Err(Refusal::Unread(diagnostic)) => Binding::unread(&diagnostic.message, self.span(stmt)),
            Err(refusal) => self.lost(refusal, self.span(stmt)),
        };
        self.bind_names(stmt, &binding);
    }

    /// `assert`; one whose condition is no constant is refused.
    pub(crate) fn asserted(&mut self, assert: &ast::StmtAssert, span: Span) -> Res<()> {
        if self.truth(&assert.test)? {
            return Ok(());
        }
        let message = format!("the assertion `{}` fails", self.text(&*assert.test));
        let text = assert.msg.as_ref().and_then(|text| self.any(text).ok());
        let message = match &text {
            Some(Value::Str(text)) => format!("{message}: {text}"),
            _ => message,
        };
        let class = self.exception_class("AssertionError");
        let error = self.instance(class, Args::of(text, span), span)?;
        Err(self.raise(error, span, &message))
    }

    /// An expression for its effect. What it may change where it is not read is not known any more.
    pub(crate) fn expression_statement(&mut self, expr: &ast::Expr) -> Res<()> {
        let result = self.expression(expr);
        self.lost_expression(expr, result)
    }

    fn expression(&mut self, expr: &ast::Expr) -> Res<()> {
        let span = self.span(expr);
        let result = match expr {
            ast::Expr::Call(call) => match self.callee(&call.func) {
                Ok(callee) => {
                    let is_run = matches!(
                        callee,
                        Value::Factory(_) | Value::Bound(_) | Value::Method(_) | Value::Record(_) | Value::Object(_)
                    );
                    let result = self.call_of(callee, call, span, None);
                    // Calls of other things are not read as statements.
                    if is_run { result } else { result.map_err(Refusal::where_used) }
                }
                Err(refusal) => Err(refusal.where_used()),
            },
            _ => self.any(expr).map_err(Refusal::where_used),
        };
        result.map(drop)
    }

    fn lost_expression(&mut self, expr: &ast::Expr, result: Res<()>) -> Res<()> {
        match result {
            Err(Refusal::Unread(reason)) => {
                let at = reason.span.unwrap_or_else(|| self.span(expr));
                self.doubts += 1;
                self.lose_calls(expr, &Binding::unread(&reason.message, at));
                Ok(())
            }
            other => other,
        }
    }

    /// A function inside a plain function.
    fn local_function(&mut self, def: &'a ast::StmtFunctionDef) -> Res<()> {
        self.step_code(&def.decorator_list, def.range, self.span(&def.name))?;
        let value = match self.file_function(def)? {
            Defined::Part => return Ok(()),
            Defined::Plain => {
                let binding = self.defined(def, None);
                self.bind(self.cx.symbol(def.name.as_str()), binding);
                return Ok(());
            }
            Defined::Function(at) => Value::Function(self.domain.functions[at].function),
            Defined::Module(module) => Value::Module(module),
            Defined::Prim(function) => Value::Prim(function),
            Defined::Intrinsic(at) => Value::Intrinsic(at),
        };
        self.bind(self.cx.symbol(def.name.as_str()), Binding::Value(value));
        Ok(())
    }

    /// The branch that an `if` on constants takes.
    pub(crate) fn branch<'x>(&mut self, branch: &'x ast::StmtIf) -> Res<&'x [ast::Stmt]> {
        if self.truth(&branch.test)? {
            return Ok(&branch.body);
        }
        for clause in &branch.elif_else_clauses {
            match &clause.test {
                Some(test) if !self.truth(test)? => {}
                _ => return Ok(&clause.body),
            }
        }
        Ok(&[])
    }

    /// Whether a constant is true, as Python has it.
    pub(crate) fn truth(&mut self, test: &ast::Expr) -> Res<bool> {
        let value = self.eval(test, None)?;
        let span = self.span(test);
        match self.truth_known(&value, span)? {
            Some(truth) => Ok(truth),
            None => {
                let message = format!("`{}` is {}, which is neither true nor false", self.text(test), value.describe());
                Err(Refusal::unread(span, message))
            }
        }
    }

    /// A call of what is callable with values alone.
    pub(crate) fn call_value(&mut self, callee: &Value<'c>, mut args: Args<'c>, span: Span) -> Res<Value<'c>> {
        self.step(CALL, span)?;
        if let Value::Unread(unread) = callee {
            return Ok(self.unread_call(unread, args, unread.at));
        }
        self.known(callee, span)?;
        match callee {
            Value::Factory(at) => self.factory_call(*at, args, span),
            Value::Record(at) => self.instance(*at, args, span),
            Value::Init(owner) => self.initialise(*owner, args, span),
            Value::Bound(bound) => {
                let first = bound.args.iter().map(|value| (value.clone(), span));
                args.positional.splice(0..0, first);
                for (name, value) in &bound.keywords {
                    if args.keywords.iter().all(|(known, ..)| known != name) {
                        args.keywords.push((*name, value.clone(), span));
                    }
                }
                self.nested(span, |p| p.call_value(&bound.callee, args, span))
            }
            Value::Method(parts) => self.method_call(&parts.0, parts.1.as_str(), args, span),
            Value::Object(object) => {
                let class = object.get().class();
                let method = class.map(|class| self.class_attribute(class, "__call__", span)).transpose()?.flatten();
                match method {
                    Some(Value::Factory(at)) => {
                        args.positional.insert(0, (callee.clone(), span));
                        self.factory_call(at, args, span)
                    }
                    _ => Err(Refusal::unread(span, format!("{} is not called", callee.describe()))),
                }
            }
            Value::Math(name) => {
                let values = args.values(name.as_str())?;
                self.math_call(name.as_str(), &values, span)
            }
            Value::Builtin(Builtin::Python(python)) => self.python_call(*python, args, span),
            Value::Builtin(Builtin::Range) => self.int_range(args, span),
            Value::Builtin(builtin) if builtin.is_of_values() => self.static_call(*builtin, args, span, None),
            other => Err(Refusal::unread(span, format!("{} is not called with values here", other.describe()))),
        }
    }

    /// `range(...)` of integers.
    fn int_range(&mut self, args: Args<'c>, span: Span) -> Res<Value<'c>> {
        let values = args.values("range")?;
        let mut bounds = Vec::with_capacity(values.len());
        for value in values {
            match self.plain(value) {
                Value::Int(value) => bounds.push(value),
                Value::Bool(value) => bounds.push(i64::from(value)),
                other => {
                    return Err(Refusal::unread(span, format!("`range` takes integers, found {}", other.describe())));
                }
            }
        }
        let range = match bounds[..] {
            [stop] => super::IntRange::new(0, stop, 1),
            [start, stop] => super::IntRange::new(start, stop, 1),
            [start, stop, step] => super::IntRange::new(start, stop, step),
            _ => None,
        };
        let range = range.ok_or_else(|| Refusal::unread(span, "`range` takes bounds and a step other than 0"))?;
        Ok(Value::IntRange(std::rc::Rc::new(range)))
    }
}
