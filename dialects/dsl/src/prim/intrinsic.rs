//! `@intrinsic`: statements of TIR that a file declares.

use ruff_python_ast as ast;
use tf_core::node::TirCallee;
use tf_core::{Expr, Span, StmtKind, node};
use tf_types::Symbol;

use crate::factory::{Code, Factory};
use crate::names::Builtin;
use crate::parser::{Binding, Frame, Parser};
use crate::refusal::{Refusal, Res};
use crate::value::Value;

/// A declared statement: its operands, and a body that checks them.
#[derive(Clone)]
pub(crate) struct Intrinsic<'a, 'c> {
    def: &'a ast::StmtFunctionDef,
    params: Vec<Symbol<'c>>,
    /// What statements hold of it, made where the first one is read.
    node: Option<&'c node::Intrinsic<'c>>,
}

impl<'a, 'c> Parser<'a, 'c> {
    /// `def name(a: Expr, ...) -> None`, whose body is run on the operands of each use.
    pub(crate) fn intrinsic(&mut self, def: &'a ast::StmtFunctionDef) -> Res<usize> {
        let (name, span) = (def.name.as_str(), self.span(&def.name));
        let parameters = &def.parameters;
        if let Some(special) = parameters.vararg.as_ref().or(parameters.kwarg.as_ref()) {
            let message = format!("the parameter `{}` stands for any number of operands", special.name);
            return Err(Refusal::wrong(self.span(&**special), message).help("name every operand"));
        }
        let mut params = Vec::new();
        for param in parameters.iter_non_variadic_params() {
            let at = self.span(param);
            let annotation = param.parameter.annotation.as_deref();
            let is_expr = match annotation {
                Some(annotation) => matches!(self.eval(annotation, None)?, Value::Builtin(Builtin::Expr)),
                None => false,
            };
            if !is_expr || param.default.is_some() {
                let message = format!("the operand `{}` of an intrinsic is an `Expr`", param.parameter.name);
                return Err(Refusal::wrong(at, message).help(format!("write `{}: Expr`", param.parameter.name)));
            }
            params.push(self.cx.symbol(param.parameter.name.as_str()));
        }
        if !matches!(def.returns.as_deref(), Some(ast::Expr::NoneLiteral(_))) {
            return Err(Refusal::wrong(span, format!("the intrinsic `{name}` returns nothing")).help("write `-> None`"));
        }
        if let Some(&known) = self.intrinsic_places.get(name) {
            let first = self.span(&self.intrinsics[known].def.name);
            return Err(Refusal::wrong(span, format!("the intrinsic `{name}` is declared twice")).also(first, "before"));
        }
        if !self.cx.ops().schemas("T", name).is_empty() {
            return Err(Refusal::wrong(span, format!("`{name}` is an op of `@prim_func` bodies already")));
        }
        let at = self.intrinsics.len();
        self.intrinsics.push(Intrinsic { def, params, node: None });
        self.intrinsic_places.insert(name, at);
        Ok(at)
    }

    /// The intrinsic that `T.name` names.
    pub(crate) fn intrinsic_named(&self, name: &str) -> Option<usize> {
        self.intrinsic_places.get(name).copied().filter(|_| self.is_prim())
    }

    /// A statement whose operands the body of the declaration accepts.
    pub(crate) fn intrinsic_call(&mut self, at: usize, call: &ast::ExprCall, span: Span) -> Res<Value<'c>> {
        let Intrinsic { def, params, .. } = self.intrinsics[at].clone();
        let name = def.name.as_str();
        if !self.is_prim() {
            return Err(Refusal::wrong(span, format!("the intrinsic `{name}` is a statement of `@prim_func` bodies")));
        }
        let words: Vec<&str> = params.iter().map(|param| param.as_str()).collect();
        let given = self.arguments(call, name, &words)?;
        let mut values = Vec::with_capacity(given.len());
        for (arg, word) in given.into_iter().zip(&words) {
            let Some(arg) = arg else { return Err(Refusal::wrong(span, format!("`{name}` needs `{word}`"))) };
            values.push((self.eval(arg, None)?, self.span(arg)));
        }
        let args = self.nodes(&values)?;
        self.accepts(at, &args, span)?;
        let callee = TirCallee::Intrinsic(self.intrinsic_node(at, span)?);
        let stmt = self.cx.stmt(StmtKind::Evaluate { callee, args: self.cx.alloc_slice(&args) }, Some(span));
        if let Some(body) = &mut self.body {
            body.effects.push(stmt);
        }
        Ok(Value::None)
    }

    /// Runs the body of a declaration on the operands of a use.
    pub(super) fn accepts(&mut self, at: usize, args: &[Expr<'c>], span: Span) -> Res<()> {
        let Intrinsic { def, params, .. } = self.intrinsics[at].clone();
        let name = def.name.as_str();
        let names = params.iter().zip(args).map(|(&param, &arg)| (param, Binding::Value(Value::Expr(arg))));
        let names = Frame::from_iter(names);
        let (calls, steps) = (self.factory_calls, self.steps);
        let checked = self.run(&Factory::at_file_level(Code::Def(def)), names, span);
        // A file uses an intrinsic as often as it likes.
        (self.factory_calls, self.steps) = (calls, steps);
        let Err(refusal) = checked else { return Ok(()) };
        let Some(found) = refusal.diagnostic() else { return Err(Refusal::Reported) };
        let refusal = Refusal::wrong(span, format!("`{name}` does not take these operands: {}", found.message));
        Err(match found.span {
            Some(at) => refusal.also(at, "stated here"),
            None => refusal,
        })
    }

    pub(super) fn intrinsic_node(&mut self, at: usize, span: Span) -> Res<&'c node::Intrinsic<'c>> {
        let Intrinsic { def, params, node } = self.intrinsics[at].clone();
        if let Some(node) = node {
            return Ok(node);
        }
        let (name, source) = (self.cx.symbol(def.name.as_str()), self.closed_source(def, span)?);
        let params = self.cx.symbols(&params);
        let node = self.cx.alloc(node::Intrinsic { name, params, source: self.cx.symbol(&source) });
        self.intrinsics[at].node = Some(node);
        Ok(node)
    }
}
