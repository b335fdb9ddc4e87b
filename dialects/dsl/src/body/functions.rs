//! Calls of functions of the same module.

use ruff_python_ast as ast;
use tf_core::{AnyFunction, Callee, Expr, ExprKind, Function, Module, Span};
use tf_infer::{Mismatch, Refused};
use tf_types::Symbol;

use crate::parser::Parser;
use crate::refusal::{Refusal, Res};
use crate::value::Value;

impl<'c> Parser<'_, 'c> {
    /// A call of the entry of a child module; its constants come with the child.
    pub(crate) fn child_call(
        &mut self,
        module: Module<'c>,
        call: &ast::ExprCall,
        span: Span,
        bind: Option<Symbol<'c>>,
    ) -> Res<Value<'c>> {
        let written = self.text(&*call.func);
        if self.body.is_none() {
            return Err(Refusal::unread(span, format!("the module `{written}` is called outside a function")));
        }
        if !self.domain.attached.contains(&module) {
            let refusal = Refusal::wrong(span, format!("`{written}` is no child of the module that calls it"));
            return Err(refusal
                .help(format!("attach it in the `@module` class of the caller: `name = {written}`, and call `name`")));
        }
        match module.entry_function() {
            Some(AnyFunction::Hir(entry)) => {
                self.domain.calls_children = true;
                self.function_call(entry, true, call, span, bind)
            }
            Some(AnyFunction::Tir(entry)) => {
                let message = format!("the entry `{}` of the child `{written}` is a `@prim_func`", entry.name);
                Err(Refusal::wrong(span, message).help("a `@func` calls entries that are a `@func`"))
            }
            None => {
                let refusal = Refusal::wrong(span, format!("the child `{written}` has no entry to call"));
                Err(refusal.help("name one: `@module(entry=\"...\")`"))
            }
        }
    }

    pub(crate) fn function_call(
        &mut self,
        function: Function<'c>,
        omits_constants: bool,
        call: &ast::ExprCall,
        span: Span,
        bind: Option<Symbol<'c>>,
    ) -> Res<Value<'c>> {
        let (function, name) = (self.latest(function), function.name);
        if self.body.is_none() {
            return Err(Refusal::unread(span, format!("`{name}` is called outside a function")));
        }
        if let Some(keyword) = call.arguments.keywords.first() {
            let word = keyword.arg.as_ref().map_or("**", |word| word.as_str());
            let message = format!("arguments of a function are positional, but `{name}` gets `{word}` by keyword");
            return Err(Refusal::wrong(self.span(keyword), message));
        }
        let given = &call.arguments.args;
        let mut values = Vec::with_capacity(given.len());
        for arg in given {
            let value = self.eval(arg, None)?;
            values.push((value, self.span(arg)));
        }
        let args = self.nodes(&values)?;
        let types: Vec<_> = args.iter().map(|arg| arg.ty()).collect();
        let callee = match self.session.elaborate(self.cx, function, &types, omits_constants) {
            Ok(callee) => callee,
            Err(Refused::Arguments(mismatch)) => {
                let refusal = Refusal::wrong(span, mismatch.message(function));
                return Err(match mismatch {
                    Mismatch::Argument { at, .. } => refusal.also(values[at].1, "this argument"),
                    Mismatch::Count { found, .. } => match arity_help(function, omits_constants, found) {
                        Some(help) => refusal.help(help),
                        None => refusal,
                    },
                });
            }
            Err(Refused::Inside(error)) => {
                return Err(Refusal::from(*error).also(span, format!("in this call of `{name}`")));
            }
            Err(Refused::Again) => return Err(Refusal::Reported),
        };
        let kind = ExprKind::Call { callee: Callee::Function(callee), args: self.cx.alloc_slice(&args) };
        Ok(Value::Expr(self.cx.expr(kind, callee.return_type, self.meta(span, bind))))
    }
}

/// What a call with another number of arguments has too few or too many of.
fn arity_help(function: Function<'_>, omits_constants: bool, found: usize) -> Option<String> {
    let list = |params: &[Expr<'_>]| params.iter().map(|param| param.describe()).collect::<Vec<_>>().join(", ");
    let (constants, given): (Vec<_>, Vec<_>) =
        function.params.iter().copied().partition(|param| omits_constants && param.is_const_param());
    match given.get(found..) {
        Some([]) => None,
        Some(missing) => Some(format!("there is nothing for {}", list(missing))),
        None if constants.is_empty() => None,
        None => Some(format!("the weights of a child come with it: {}", list(&constants))),
    }
}
