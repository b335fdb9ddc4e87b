//! Methods of module classes: kept as source and as statements, run by nobody here.

use ruff_python_ast as ast;
use ruff_text_size::Ranged;
use tf_core::node::Method;
use tf_core::node::method::{MethodData, MethodExpr, MethodItems, MethodParam, MethodSpan, MethodStmt, MethodStmtKind};
use tf_core::{Context, Literal, Span};
use tf_types::Symbol;

use crate::body::{docstring, keyword};
use crate::factory::Code;
use crate::names::Builtin;
use crate::parser::{Binding, Frame, Kind, Names, Parser};
use crate::print::python;
use crate::refusal::{Refusal, Res};
use crate::source::Edits;
use crate::statics::form;
use crate::value::Value;

/// The method that is read.
struct Reading<'c> {
    /// The name of its first parameter.
    owner: Symbol<'c>,
    /// Where its text has another name than the method, or names compile-time values, and what stands there instead.
    edits: Edits,
}

impl<'c> Parser<'_, 'c> {
    /// A plain function of the file that a class binds to `name`.
    pub(crate) fn method_of(&mut self, function: usize, name: Symbol<'c>, span: Span) -> Res<Method<'c>> {
        let factory = self.factories[function].clone();
        let Code::Def(def) = factory.code else {
            return Err(Refusal::wrong(span, format!("the method `{name}` is a lambda"))
                .help(format!("write it as a function: `def {name}(self, ...):`")));
        };
        if factory.is_cached() {
            return Err(Refusal::wrong(span, format!("the method `{name}` is a function with a cache"))
                .help("a method is a function without decorators"));
        }
        // It sees the names around its definition, not those of the class.
        let scopes = std::mem::replace(&mut self.scopes, factory.home.to_vec());
        let method = self.method(def, name);
        self.scopes = scopes;
        method
    }

    /// A function without decorator as the method `name`.
    pub(crate) fn method(&mut self, def: &ast::StmtFunctionDef, name: Symbol<'c>) -> Res<Method<'c>> {
        let span = self.span(&def.name);
        let parameters = &def.parameters;
        let mut all = parameters.posonlyargs.iter().chain(&parameters.args).chain(&parameters.kwonlyargs);
        let Some(owner) = all.next() else {
            let message = format!("the method `{name}` has no parameter for its module");
            return Err(Refusal::wrong(span, message).help("its first parameter is `self`"));
        };
        let owner = self.cx.symbol(owner.parameter.name.as_str());
        let read = &mut Reading { owner, edits: Vec::new() };
        let all: Vec<_> = all.collect();
        let names: Vec<_> = all.iter().map(|param| self.cx.symbol(param.parameter.name.as_str())).collect();
        // Names of the method are no compile-time values, whatever the file calls by them.
        let mut locals = Frame::default();
        let mut assigned: Vec<&str> = Vec::new();
        def.body.iter().for_each(|stmt| crate::body::bound_names(stmt, &mut assigned));
        for &name in names.iter().chain([&owner]) {
            locals.insert(name, Binding::Poison);
        }
        let spread: Vec<_> = parameters.vararg.iter().chain(&parameters.kwarg).collect();
        for name in assigned.into_iter().chain(spread.iter().map(|param| param.name.as_str())) {
            locals.insert(self.cx.symbol(name), Binding::Poison);
        }
        let params: Vec<_> = names
            .iter()
            .zip(&all)
            .map(|(&name, param)| {
                let default = param.default.as_ref().map(|default| self.method_expr(default, read));
                MethodParam { name, default }
            })
            .collect();
        self.scopes.push(Names::scope(locals, Kind::Module));
        let mut body = self.method_block(&def.body, read);
        self.scopes.pop();
        // What a run refuses first.
        let signature = match spread.first() {
            _ if def.is_async => Some((span, "async def")),
            Some(param) => Some((self.span(&***param), "a parameter for any number of arguments")),
            None => None,
        };
        if let Some((at, what)) = signature {
            let kind = MethodStmtKind::Unsupported(self.cx.symbol(what));
            let stmts: Vec<_> =
                [MethodStmt { kind, span: MethodSpan(Some(at)) }].into_iter().chain(body.to_vec()).collect();
            body = self.cx.alloc_slice(&stmts);
        }
        if def.name.as_str() != name.as_str() {
            read.edits.push((def.name.range(), name.to_string()));
        }
        Ok(self.cx.method(MethodData {
            name,
            params: self.cx.alloc_slice(&params),
            source: self.cx.symbol(&self.source.edited(def, &mut read.edits)).as_str(),
            body,
            span: Some(span),
        }))
    }

    fn method_block(&mut self, stmts: &[ast::Stmt], read: &mut Reading<'c>) -> &'c [MethodStmt<'c>] {
        let mut block = Vec::new();
        for (at, stmt) in stmts.iter().enumerate() {
            if (at == 0 && docstring(stmt).is_some()) || matches!(stmt, ast::Stmt::Pass(_)) {
                continue;
            }
            let kind = self.method_stmt(stmt, read);
            block.push(MethodStmt { kind, span: MethodSpan(Some(self.span(stmt))) });
        }
        self.cx.alloc_slice(&block)
    }

    fn method_stmt(&mut self, stmt: &ast::Stmt, read: &mut Reading<'c>) -> MethodStmtKind<'c> {
        let unsupported = |p: &Self, what: &str| MethodStmtKind::Unsupported(p.cx.symbol(what.trim_matches('`')));
        match stmt {
            ast::Stmt::Assign(assign) => match &assign.targets[..] {
                [ast::Expr::Name(name)] => {
                    let name = self.cx.symbol(name.id.as_str());
                    MethodStmtKind::Assign(name, self.method_expr(&assign.value, read))
                }
                [ast::Expr::Tuple(ast::ExprTuple { elts, .. }) | ast::Expr::List(ast::ExprList { elts, .. })] => {
                    let name = |target: &ast::Expr| match target {
                        ast::Expr::Name(name) => Some(self.cx.symbol(name.id.as_str())),
                        _ => None,
                    };
                    match elts.iter().map(name).collect::<Option<Vec<_>>>() {
                        Some(names) => {
                            let names = self.cx.alloc_slice(&names);
                            MethodStmtKind::Unpack(names, self.method_expr(&assign.value, read))
                        }
                        None => unsupported(self, "an assignment to what is no name"),
                    }
                }
                _ => unsupported(self, "an assignment to what is no name"),
            },
            ast::Stmt::Expr(expr) => MethodStmtKind::Drop(self.method_expr(&expr.value, read)),
            ast::Stmt::Return(stmt) => {
                MethodStmtKind::Return(stmt.value.as_ref().map(|value| self.method_expr(value, read)))
            }
            ast::Stmt::For(stmt) if stmt.orelse.is_empty() && !stmt.is_async => {
                let ast::Expr::Name(name) = &*stmt.target else {
                    return unsupported(self, "a loop over several names");
                };
                let name = self.cx.symbol(name.id.as_str());
                let items = self.method_items(&stmt.iter, read);
                MethodStmtKind::For { name, items, body: self.method_block(&stmt.body, read) }
            }
            ast::Stmt::AugAssign(_) => unsupported(self, "augmented assignment"),
            ast::Stmt::AnnAssign(_) => unsupported(self, "annotated assignment"),
            ast::Stmt::For(_) => unsupported(self, "for"),
            ast::Stmt::With(_) => unsupported(self, "with"),
            ast::Stmt::FunctionDef(_) => unsupported(self, "def"),
            other => unsupported(self, keyword(other)),
        }
    }

    fn method_items(&mut self, iter: &ast::Expr, read: &mut Reading<'c>) -> MethodItems<'c> {
        if let ast::Expr::Call(call) = iter
            && matches!(&*call.func, ast::Expr::Name(name) if self.is_builtin(name.id.as_str(), Builtin::Range))
            && call.arguments.keywords.is_empty()
        {
            let bounds: Option<Vec<i64>> = call.arguments.args.iter().map(|arg| self.static_int(arg, read)).collect();
            match bounds.as_deref() {
                Some(&[stop]) => return MethodItems::Range(0, stop, 1),
                Some(&[start, stop]) => return MethodItems::Range(start, stop, 1),
                Some(&[start, stop, step]) if step != 0 => return MethodItems::Range(start, stop, step),
                _ => {}
            }
        }
        MethodItems::Of(self.method_expr(iter, read))
    }

    fn static_int(&mut self, expr: &ast::Expr, read: &mut Reading<'c>) -> Option<i64> {
        match self.method_literal(expr, read) {
            Some(MethodExpr::Literal(Literal::Int(value))) => Some(value),
            _ => None,
        }
    }

    fn method_expr(&mut self, expr: &ast::Expr, read: &mut Reading<'c>) -> MethodExpr<'c> {
        let span = self.span(expr);
        let value = self.nested(span, |p| Ok(p.method_expr_at(expr, read)));
        value.unwrap_or_else(|_| MethodExpr::Unsupported(self.cx.symbol("code that is nested too deep")))
    }

    fn method_expr_at(&mut self, expr: &ast::Expr, read: &mut Reading<'c>) -> MethodExpr<'c> {
        let unsupported = |p: &Self, what: &str| MethodExpr::Unsupported(p.cx.symbol(what));
        match expr {
            ast::Expr::Name(name) => {
                let name = self.cx.symbol(name.id.as_str());
                // The module itself is `self`, whatever the author calls it.
                if name == read.owner {
                    return MethodExpr::Name(self.cx.symbol("self"));
                }
                self.method_literal(expr, read).unwrap_or(MethodExpr::Name(name))
            }
            ast::Expr::NoneLiteral(_) => MethodExpr::None,
            ast::Expr::Attribute(attribute) => {
                if let Some(literal) = self.method_literal(expr, read) {
                    return literal;
                }
                let base = self.method_expr(&attribute.value, read);
                MethodExpr::Attribute(self.kept(base), self.cx.symbol(attribute.attr.as_str()))
            }
            ast::Expr::Subscript(subscript) if !matches!(*subscript.slice, ast::Expr::Slice(_)) => {
                let base = self.method_expr(&subscript.value, read);
                let index = self.method_expr(&subscript.slice, read);
                MethodExpr::Item(self.kept(base), self.kept(index))
            }
            ast::Expr::Tuple(ast::ExprTuple { elts, .. }) | ast::Expr::List(ast::ExprList { elts, .. }) => {
                let items: Vec<_> = elts.iter().map(|item| self.method_expr(item, read)).collect();
                MethodExpr::Tuple(self.cx.alloc_slice(&items))
            }
            ast::Expr::Call(call) => {
                let callee = self.method_expr(&call.func, read);
                let mut args = Vec::new();
                for arg in &call.arguments.args {
                    if matches!(arg, ast::Expr::Starred(_)) {
                        return unsupported(self, "an unpacked `*` argument");
                    }
                    args.push(self.method_expr(arg, read));
                }
                let mut keywords = Vec::new();
                for keyword in &call.arguments.keywords {
                    let Some(name) = &keyword.arg else { return unsupported(self, "a `**` argument") };
                    keywords.push((self.cx.symbol(name.as_str()), self.method_expr(&keyword.value, read)));
                }
                let (args, keywords) = (self.cx.alloc_slice(&args), self.cx.alloc_slice(&keywords));
                MethodExpr::Call { callee: self.kept(callee), args, keywords }
            }
            other => self.method_literal(other, read).unwrap_or_else(|| match other {
                ast::Expr::BinOp(_) | ast::Expr::UnaryOp(_) | ast::Expr::BoolOp(_) | ast::Expr::Compare(_) => {
                    MethodExpr::Unsupported(self.cx.symbol("arithmetic"))
                }
                other => MethodExpr::Unsupported(self.cx.symbol(form(other))),
            }),
        }
    }

    fn kept(&self, expr: MethodExpr<'c>) -> &'c MethodExpr<'c> {
        self.cx.alloc(expr)
    }

    /// A compile-time number, truth value or string.
    fn method_literal(&mut self, expr: &ast::Expr, read: &mut Reading<'c>) -> Option<MethodExpr<'c>> {
        let (literal, text) = match self.eval(expr, None).ok()? {
            Value::Int(value) => (MethodExpr::Literal(Literal::Int(value)), Some(value.to_string())),
            Value::Float(value) => (MethodExpr::Literal(Literal::Float(value)), python::float(value)),
            Value::Bool(true) => (MethodExpr::Literal(Literal::Bool(true)), Some("True".to_owned())),
            Value::Bool(false) => (MethodExpr::Literal(Literal::Bool(false)), Some("False".to_owned())),
            Value::Str(text) => (MethodExpr::Str(text), Some(python::string(text.as_str()))),
            _ => return None,
        };
        if !is_literal(expr) {
            read.edits.extend(text.map(|text| (expr.range(), text)));
        }
        Some(literal)
    }
}

/// Whether the source of a method is read as the method.
pub(crate) fn says<'c>(cx: &Context<'c>, method: Method<'c>) -> bool {
    let mut class = format!("from tilefoundry import module\n\n\n@module()\nclass {}_:\n", method.name);
    for line in method.source.lines() {
        class.push_str("    ");
        class.push_str(line);
        class.push('\n');
    }
    let file = cx.sources().add("<method>", class.as_str());
    let read = crate::parse_file(cx, file, &crate::DslOptions::default());
    read.is_ok_and(|module| matches!(module.methods, [one] if one.same(method)))
}

/// Whether an expression is written as its value.
fn is_literal(expr: &ast::Expr) -> bool {
    match expr {
        ast::Expr::UnaryOp(unary) => unary.op == ast::UnaryOp::USub && is_literal(&unary.operand),
        other => other.is_literal_expr(),
    }
}
