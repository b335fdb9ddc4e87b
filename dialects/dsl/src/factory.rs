//! Plain functions of a file: they make modules and constants when they are called at file level.

use ruff_python_ast as ast;
use tf_core::{AnyFunction, Span};

use crate::body::is_docstring;
use crate::family::Family;
use crate::function::Role;
use crate::module::Decorator;
use crate::names::Builtin;
use crate::parser::{Binding, Domain, Frame, Parser};
use crate::refusal::{Refusal, Res};
use crate::value::Value;

/// Calls inside calls.
const OPEN_CALLS: usize = 64;
/// Calls of one file.
const CALLS: usize = 10_000;

/// A plain function of the file.
#[derive(Clone, Copy)]
pub(crate) struct Factory<'a> {
    pub(crate) def: &'a ast::StmtFunctionDef,
    home: Option<Home>,
}

/// Where a function inside another is defined.
#[derive(Clone, Copy)]
struct Home {
    /// The number of the call that defines it.
    call: usize,
    /// How many scopes it sees.
    scopes: usize,
}

impl<'a> Factory<'a> {
    pub(crate) fn at_file_level(def: &'a ast::StmtFunctionDef) -> Self {
        Self { def, home: None }
    }
}

impl<'a, 'c> Parser<'a, 'c> {
    /// The value that a plain function returns for these arguments.
    pub(crate) fn factory_call(&mut self, at: usize, call: &ast::ExprCall, span: Span) -> Res<Value<'c>> {
        let factory = self.factories[at];
        let def = factory.def;
        let name = def.name.as_str();
        if self.body.is_some() {
            let message = format!("`{name}` cannot be used: it is a plain Python function, and bodies call none");
            return Err(Refusal::unread(span, message).also(self.span(&def.name), "defined here"));
        }
        if !def.decorator_list.is_empty() || def.is_async {
            return Err(Refusal::unread(span, format!("`{name}` is a decorated Python function, which is not called")));
        }
        let parameters = &def.parameters;
        if parameters.vararg.is_some() || parameters.kwarg.is_some() {
            return Err(Refusal::unread(span, format!("`{name}` takes any number of arguments, which is not read")));
        }
        let all = parameters.posonlyargs.iter().chain(&parameters.args).chain(&parameters.kwonlyargs);
        let params: Vec<_> = all.collect();
        let names: Vec<&str> = params.iter().map(|param| param.parameter.name.as_str()).collect();
        let given = self.arguments(call, name, &names)?;
        let mut frame = Frame::default();
        for ((param, given), name) in params.iter().zip(given).zip(&names) {
            let value = match (given, &param.default) {
                (Some(given), _) => self.eval(given, None)?,
                (None, Some(default)) => self.eval(default, None)?,
                (None, None) => return Err(Refusal::wrong(span, format!("`{}` needs `{name}`", def.name))),
            };
            frame.insert(self.cx.symbol(name), Binding::Value(value));
        }
        self.run(factory, frame, span)
    }

    /// Runs the body of a plain function over its own names, those of the functions around it, and those of the file.
    pub(crate) fn run(&mut self, factory: Factory<'a>, frame: Frame<'c>, span: Span) -> Res<Value<'c>> {
        let Factory { def, home } = factory;
        let (calls, scopes) = match home {
            None => (0, 0),
            Some(home) => match self.open_calls.iter().position(|open| *open == home.call) {
                Some(at) => (at + 1, home.scopes),
                None => {
                    let message = format!("`{}` is called after the function around it has returned", def.name);
                    let refusal = Refusal::unread(span, message).also(self.span(&def.name), "defined here");
                    return Err(refusal.help("pass what it needs as arguments, and define it at file level"));
                }
            },
        };
        self.factory_calls.1 += 1;
        if self.factory_calls.0 >= OPEN_CALLS || self.factory_calls.1 > CALLS {
            let limit = if self.factory_calls.0 >= OPEN_CALLS { OPEN_CALLS } else { CALLS };
            return Err(Refusal::wrong(span, format!("more than {limit} calls of plain functions")));
        }
        self.factory_calls.0 += 1;
        let hidden = (self.open_calls.split_off(calls), self.scopes.split_off(scopes));
        self.open_calls.push(self.factory_calls.1);
        self.scopes.push(frame);
        let outer = std::mem::take(&mut self.domain);
        let before = self.refused;
        let result = self.run_suite(&def.body);
        self.open_calls.truncate(calls);
        self.open_calls.extend(hidden.0);
        self.scopes.truncate(scopes);
        self.scopes.extend(hidden.1);
        let domain = std::mem::replace(&mut self.domain, outer);
        self.seal(domain);
        self.factory_calls.0 -= 1;
        let result = result?;
        if self.refused > before {
            return Err(Refusal::Reported);
        }
        Ok(result.unwrap_or(Value::None))
    }

    fn run_suite(&mut self, stmts: &'a [ast::Stmt]) -> Res<Option<Value<'c>>> {
        for (at, stmt) in stmts.iter().enumerate() {
            let span = self.span(stmt);
            match stmt {
                ast::Stmt::Pass(_) => {}
                first if at == 0 && is_docstring(first) => {}
                ast::Stmt::Return(stmt) => {
                    return match &stmt.value {
                        Some(value) => self.eval(value, None).map(Some),
                        None => Ok(Some(Value::None)),
                    };
                }
                ast::Stmt::If(branch) => {
                    let taken = self.branch(branch)?;
                    if let Some(value) = self.nested(span, |p| p.run_suite(taken))? {
                        return Ok(Some(value));
                    }
                }
                ast::Stmt::For(stmt) => {
                    if let Some(value) = self.nested(span, |p| p.run_for(stmt))? {
                        return Ok(Some(value));
                    }
                }
                ast::Stmt::Assert(assert) => match self.eval(&assert.test, None)? {
                    Value::Bool(true) => {}
                    Value::Bool(false) => {
                        let message = format!("the assertion `{}` fails", self.text(&*assert.test));
                        return Err(Refusal::wrong(span, message));
                    }
                    other => return Err(Refusal::unread(span, format!("an assertion of {}", other.describe()))),
                },
                ast::Stmt::Raise(raise) => return Err(self.raised(raise, span)),
                ast::Stmt::ClassDef(class) => match self.file_class(class)? {
                    Some(module) => {
                        self.bind(self.cx.symbol(class.name.as_str()), Binding::Value(Value::Module(module)));
                    }
                    None => self.plain_class(class),
                },
                ast::Stmt::FunctionDef(def) => self.local_function(def)?,
                other => self.constant_statement(other),
            }
        }
        Ok(None)
    }

    /// `raise VerifyError("text")`: the text, else the statement.
    fn raised(&mut self, raise: &ast::StmtRaise, span: Span) -> Refusal {
        let text = match raise.exc.as_deref() {
            Some(ast::Expr::Call(call)) => call.arguments.args.first().and_then(|text| self.eval(text, None).ok()),
            _ => None,
        };
        match text {
            Some(Value::Str(text)) => Refusal::wrong(span, text.as_str()),
            _ => Refusal::wrong(span, format!("`{}`", self.text(raise))),
        }
    }

    fn run_for(&mut self, stmt: &'a ast::StmtFor) -> Res<Option<Value<'c>>> {
        let items = self.sequence(&stmt.iter)?;
        self.count_elements(items.len(), self.span(stmt))?;
        for item in items {
            self.bind_target(&stmt.target, &item)?;
            if let Some(value) = self.run_suite(&stmt.body)? {
                return Ok(Some(value));
            }
        }
        Ok(None)
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
                        self.domain.functions.push(Family::new(function));
                        Binding::Value(Value::Function(function))
                    }
                }
                Decorator::Known(Builtin::PrimFunc, call) => {
                    let declared = self.declared(call, "prim_func", &["target", "outputs"])?;
                    Binding::Value(Value::Prim(self.prim_function(def, declared.target, declared.outputs)?))
                }
                _ => {
                    let message =
                        format!("`@{}` decorates no function inside another", self.text(&decorator.expression));
                    return Err(Refusal::unread(self.span(decorator), message));
                }
            },
            _ => {
                let home = self.open_calls.last().map(|&call| Home { call, scopes: self.scopes.len() });
                self.factories.push(Factory { def, home });
                Binding::Value(Value::Factory(self.factories.len() - 1))
            }
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
}
