//! Calls of functions of the same module (spec: hir §2).

use ruff_python_ast as ast;
use tf_core::{Callee, ExprKind, Function, Span};
use tf_types::Symbol;

use crate::parser::Parser;
use crate::refusal::{Refusal, Res};
use crate::value::Value;

impl<'c> Parser<'_, 'c> {
    pub(crate) fn function_call(
        &mut self,
        function: Function<'c>,
        call: &ast::ExprCall,
        span: Span,
        bind: Option<Symbol<'c>>,
    ) -> Res<Value<'c>> {
        let name = function.name;
        if self.body.is_none() {
            return Err(Refusal::unread(span, format!("`{name}` is called outside a function")));
        }
        if let Some(keyword) = call.arguments.keywords.first() {
            let word = keyword.arg.as_ref().map_or("**", |word| word.as_str());
            let message = format!("arguments of a function are positional, but `{name}` gets `{word}` by keyword");
            return Err(Refusal::wrong(self.span(keyword), message));
        }
        let given = &call.arguments.args;
        let params = function.data().params;
        if given.len() != params.len() {
            let message = format!("`{name}` takes {} arguments, found {}", params.len(), given.len());
            return Err(Refusal::wrong(span, message));
        }
        let mut values = Vec::with_capacity(given.len());
        for arg in given {
            let value = self.eval(arg, None)?;
            values.push((value, self.span(arg)));
        }
        let args = self.nodes(&values)?;
        for ((arg, (_, at)), param) in args.iter().zip(&values).zip(params) {
            let (have, want) = (arg.ty(), param.ty());
            if have == want {
                continue;
            }
            let param_name = param.var_name().map_or("", |n| n.as_str());
            let same_value = match (have.as_tensor(), want.as_tensor()) {
                (Some(have), Some(want)) => have.shape == want.shape && have.dtype == want.dtype,
                _ => false,
            };
            if same_value && want.as_tensor().is_some_and(|t| t.layout.is_none()) {
                let what = format!("an argument {have} of the parameter `{param_name}` of `{name}`, which is {want},");
                return Err(Refusal::unbuilt(*at, what).help("pass a value of the parameter's layout and storage"));
            }
            let message = format!("the parameter `{param_name}` of `{name}` is {want}, found {have}");
            return Err(Refusal::wrong(span, message).also(*at, "this argument"));
        }
        let kind = ExprKind::Call { callee: Callee::Function(function), args: self.cx.alloc_slice(&args) };
        Ok(Value::Expr(self.cx.expr(kind, function.return_type, self.meta(span, bind))))
    }
}
