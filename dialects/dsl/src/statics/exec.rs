//! Statements of plain functions, and of the file beside its definitions.

use ruff_python_ast as ast;
use tf_core::{AnyFunction, Span};

use super::Args;
use crate::body::{is_docstring, keyword};
use crate::function::Role;
use crate::module::Decorator;
use crate::names::Builtin;
use crate::parser::{Binding, Domain, Parser};
use crate::refusal::{Refusal, Res};
use crate::value::Value;

/// Statements that are run and elements that are made for one file.
const STEPS: usize = 1 << 20;
/// Loops of one file that may take all of them.
const ENDLESS: usize = 4;

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

    fn run_statement(&mut self, stmt: &'a ast::Stmt, span: Span) -> Res<Outcome<'c>> {
        match stmt {
            ast::Stmt::Pass(_) => {}
            ast::Stmt::Break(_) => return Ok(Outcome::Break),
            ast::Stmt::Continue(_) => return Ok(Outcome::Continue),
            ast::Stmt::Return(stmt) => {
                return Ok(Outcome::Return(match &stmt.value {
                    Some(value) => self.eval(value, None)?,
                    None => Value::None,
                }));
            }
            ast::Stmt::If(branch) => {
                let taken = self.branch(branch)?;
                return self.run_suite(taken);
            }
            ast::Stmt::For(stmt) if !stmt.is_async => return self.run_for(stmt),
            ast::Stmt::While(stmt) => return self.run_while(stmt),
            ast::Stmt::Assert(assert) => self.asserted(assert, span)?,
            ast::Stmt::Raise(raise) => return Err(self.raised(raise, span)),
            ast::Stmt::Import(import) => self.import(import),
            ast::Stmt::ImportFrom(import) => self.import_from(import),
            ast::Stmt::ClassDef(class) => match self.file_class(class)? {
                Some(module) => self.bind(self.cx.symbol(class.name.as_str()), Binding::Value(Value::Module(module))),
                None => self.plain_class(class),
            },
            ast::Stmt::FunctionDef(def) => self.local_function(def)?,
            ast::Stmt::Expr(expr) => self.expression_statement(&expr.value)?,
            ast::Stmt::Assign(_) | ast::Stmt::AnnAssign(_) | ast::Stmt::AugAssign(_) | ast::Stmt::TypeAlias(_) => {
                self.constant_statement(stmt);
            }
            ast::Stmt::Delete(delete) => delete.targets.iter().try_for_each(|target| self.delete(target))?,
            ast::Stmt::Global(_) | ast::Stmt::Nonlocal(_) => {
                let message = format!("{} is not executed: a plain function changes no name outside it", keyword(stmt));
                return Err(
                    Refusal::wrong(span, message).help("return the value, and bind it where the function is called")
                );
            }
            other => {
                let message = format!("{} is not executed", keyword(other));
                return Err(Refusal::unread(span, message));
            }
        }
        Ok(Outcome::Next)
    }

    fn run_for(&mut self, stmt: &'a ast::StmtFor) -> Res<Outcome<'c>> {
        let items = self.sequence(&stmt.iter)?;
        self.count_elements(items.len(), self.span(stmt))?;
        for item in items {
            self.bind_target(&stmt.target, &item)?;
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
        let before = self.steps;
        let result = match stmt {
            ast::Stmt::For(stmt) if !stmt.is_async => self.run_for(stmt),
            ast::Stmt::While(stmt) => self.run_while(stmt),
            other => return self.skip(other),
        };
        let binding = match result {
            Ok(_) => return,
            Err(Refusal::Unread(diagnostic)) => {
                // A loop that does not end is not read; those behind it are, as long as they are few.
                if self.steps > STEPS && self.endless < ENDLESS {
                    (self.steps, self.endless) = (before, self.endless + 1);
                }
                Binding::Unread { why: diagnostic.message, at: self.span(stmt) }
            }
            Err(refusal) => {
                self.report(refusal);
                Binding::Poison
            }
        };
        self.bind_names(stmt, &binding);
    }

    /// `assert`; one whose condition is no constant is refused.
    pub(crate) fn asserted(&mut self, assert: &ast::StmtAssert, span: Span) -> Res<()> {
        if self.truth(&assert.test)? {
            return Ok(());
        }
        let message = format!("the assertion `{}` fails", self.text(&*assert.test));
        let text = assert.msg.as_ref().and_then(|text| self.eval(text, None).ok());
        Err(match text {
            Some(Value::Str(text)) => Refusal::wrong(span, format!("{message}: {text}")),
            _ => Refusal::wrong(span, message),
        })
    }

    /// `raise VerifyError("text")`: the text, else the statement.
    pub(crate) fn raised(&mut self, raise: &ast::StmtRaise, span: Span) -> Refusal {
        let text = match raise.exc.as_deref() {
            Some(ast::Expr::Call(call)) => call.arguments.args.first().and_then(|text| self.eval(text, None).ok()),
            _ => None,
        };
        match text {
            Some(Value::Str(text)) => Refusal::wrong(span, text.as_str()),
            _ => Refusal::wrong(span, format!("`{}`", self.text(raise))),
        }
    }

    /// An expression for its effect. What it may change where it is not read is stale.
    pub(crate) fn expression_statement(&mut self, expr: &ast::Expr) -> Res<()> {
        let span = self.span(expr);
        let refusal = match expr {
            ast::Expr::Call(call) => match self.change_call(call, span) {
                Ok(Some(_)) => return Ok(()),
                Ok(None) => {
                    let is_run = matches!(self.eval(&call.func, None), Ok(Value::Factory(_) | Value::Bound(_)));
                    match self.eval(expr, None) {
                        Ok(_) => return Ok(()),
                        Err(refusal) if is_run => refusal,
                        // Calls of other things are not read as statements.
                        Err(refusal) => refusal.where_used(),
                    }
                }
                Err(refusal) => refusal,
            },
            _ => match self.eval(expr, None) {
                Ok(_) => return Ok(()),
                Err(refusal) => refusal.where_used(),
            },
        };
        match refusal {
            Refusal::Unread(diagnostic) => {
                let at = diagnostic.span.unwrap_or(span);
                self.lose_calls(expr, &Binding::Unread { why: diagnostic.message, at });
                Ok(())
            }
            other => Err(other),
        }
    }

    /// A function inside a plain function.
    fn local_function(&mut self, def: &'a ast::StmtFunctionDef) -> Res<()> {
        if self.part(def)? {
            return Ok(());
        }
        let name = self.cx.symbol(def.name.as_str());
        let binding = match &def.decorator_list[..] {
            [decorator] => match self.decorator(decorator)? {
                Decorator::Known(Builtin::Func, call) => {
                    let declared = self.declared(call, "func", &["target", "topologies"])?;
                    let domain = Domain { topologies: declared.topologies.clone(), ..Domain::default() };
                    let outer = std::mem::replace(&mut self.domain, domain);
                    let function = self.function(def, Role::Member);
                    self.domain = outer;
                    let function = function?;
                    if declared.is_context() {
                        let module = self.implicit_module(AnyFunction::Hir(function), &declared)?;
                        Binding::Value(Value::Module(module))
                    } else {
                        self.domain.add(function);
                        Binding::Value(Value::Function(function))
                    }
                }
                Decorator::Known(Builtin::PrimFunc, call) => {
                    let declared = self.declared(call, "prim_func", &["target", "outputs"])?;
                    Binding::Value(Value::Prim(self.prim_function(def, declared.target, declared.outputs)?))
                }
                Decorator::Known(Builtin::Python(_), _) => Binding::Value(Value::Factory(self.define(def))),
                _ => {
                    let message =
                        format!("`@{}` decorates no function inside another", self.text(&decorator.expression));
                    return Err(Refusal::unread(self.span(decorator), message));
                }
            },
            _ => Binding::Value(Value::Factory(self.define(def))),
        };
        self.bind(name, binding);
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
        match value.truth() {
            Some(truth) => Ok(truth),
            None => {
                let message = format!("`{}` is {}, which is neither true nor false", self.text(test), value.describe());
                Err(Refusal::unread(self.span(test), message))
            }
        }
    }

    /// A call of what is callable with values alone.
    pub(crate) fn call_value(&mut self, callee: &Value<'c>, mut args: Args<'c>, span: Span) -> Res<Value<'c>> {
        match callee {
            Value::Factory(at) => self.factory_call(*at, args, span),
            Value::Record(at) => self.instance(*at, args, span),
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
            Value::Math(name) => {
                let values = args.values(name.as_str())?;
                self.math_call(name.as_str(), &values, span)
            }
            Value::Builtin(Builtin::Python(python)) => self.python_call(*python, args, span),
            Value::Builtin(builtin) if builtin.is_of_values() => self.static_call(*builtin, args, span, None),
            other => Err(Refusal::unread(span, format!("{} is not called with values here", other.describe()))),
        }
    }
}
