//! Calls: of ops through their schemas, of functions, of constructors.

use std::borrow::Cow;
use std::rc::Rc;

use ruff_python_ast as ast;
use tf_core::op::{AttrKind, OpForm, ParamDecl, ParamKind, Schema};
use tf_core::{Expr, Span};
use tf_infer::arguments;
use tf_types::Symbol;

use crate::factory::Code;
use crate::names::Builtin;
use crate::parser::{Binding, Parser};
use crate::refusal::{Refusal, Res, foreign_keyword, listed, reduction};
use crate::statics::{Args, is_harmless};
use crate::value::Value;

/// Whether an expression is a name and attributes of it.
pub(crate) fn is_path(expr: &ast::Expr) -> bool {
    let mut at = expr;
    while let ast::Expr::Attribute(attribute) = at {
        at = &attribute.value;
    }
    at.is_name_expr()
}

/// The parts of a tensor type, in order.
const TYPE_WORDS: [&str; 4] = ["shape", "dtype", "layout", "storage"];

/// Whether a parameter is a type.
fn is_type(param: &ParamDecl) -> bool {
    matches!(param.kind, ParamKind::Attribute { kind: AttrKind::Type, .. })
}

/// Arguments sorted to the parameters of a schema, not evaluated yet.
struct Sorted<'x> {
    /// By parameter; several only for a variadic input.
    given: Vec<(&'static ParamDecl, Vec<&'x ast::Expr>)>,
    label: Option<&'x ast::Expr>,
}

impl<'a, 'c> Parser<'a, 'c> {
    pub(crate) fn call(&mut self, call: &ast::ExprCall, span: Span, bind: Option<Symbol<'c>>) -> Res<Value<'c>> {
        let callee = self.callee(&call.func).map_err(|refusal| self.called_of_library(&call.func, refusal))?;
        self.call_of(callee, call, span, bind)
    }

    /// A call whose callee is evaluated.
    pub(crate) fn call_of(
        &mut self,
        callee: Value<'c>,
        call: &ast::ExprCall,
        span: Span,
        bind: Option<Symbol<'c>>,
    ) -> Res<Value<'c>> {
        match callee {
            Value::Builtin(Builtin::CeilDiv) if self.is_prim() => self.scalar_ceildiv(call, span, bind),
            Value::Builtin(builtin) => self.construct(builtin, call, span, bind),
            Value::Op(dialect, name) if crate::names::is_plugin(dialect) => {
                self.op_call(dialect, name.as_str(), call, span, bind)
            }
            Value::Op(dialect, name) if self.body.is_some() && dialect != self.dialect() => {
                Err(self.foreign_op(name.as_str(), span))
            }
            Value::Op(_, name) => {
                let is_extremum = matches!(name.as_str(), "min" | "max") && call.func.is_name_expr();
                if is_extremum
                    && self.dialect() == "tf"
                    && self.body.is_some()
                    && let Some(value) = self.index_extremum(name.as_str(), call, span, bind)?
                {
                    return Ok(value);
                }
                self.op_call(self.dialect(), name.as_str(), call, span, bind)
            }
            Value::Function(function) if self.is_prim() => {
                let message = format!("`{}` is a `@func`, which a `@prim_func` does not call", function.name);
                Err(Refusal::wrong(span, message))
            }
            Value::Function(function) => self.function_call(function, false, call, span, bind),
            Value::Prim(function) => self.prim_call(function, call, span),
            Value::Module(module) => self.child_call(module, call, span, bind),
            callee @ (Value::Factory(_) | Value::Bound(_) | Value::Object(_)) if self.body.is_some() => {
                Err(self.called_in_body(&callee, call, span))
            }
            callee @ Value::Method(_) if self.body.is_some() && !self.reads(&callee) => {
                Err(self.called_in_body(&callee, call, span))
            }
            callee @ (Value::Factory(_)
            | Value::Bound(_)
            | Value::Method(_)
            | Value::Object(_)
            | Value::Record(_)
            | Value::Init(_)
            | Value::Math(_)) => {
                let args = self.call_args(call)?;
                self.call_value(&callee, args, span)
            }
            Value::Unread(unread) if self.body.is_some() => Err(self.unusable(&call.func, &unread)),
            Value::Unread(unread) => {
                let args = self.host_args(call, span)?;
                let at = self.origin(&unread, &call.func);
                if is_harmless(&call.func) {
                    return Ok(unread.another());
                }
                let shows = call.func.as_name_expr().is_some_and(|name| name.id.as_str() == "vars");
                let unread = if shows && !call.arguments.is_empty() { Rc::new(unread.showing()) } else { unread };
                // What a value is made of that has no name may be part of it.
                if !unread.is_library() && !is_path(&call.func) {
                    self.lose(&call.func, &Binding::Value(Value::Unread(Rc::clone(&unread))));
                }
                Ok(self.unread_call(&unread, args, at))
            }
            Value::Platform(platform) => self.platform_call(platform, call, span),
            Value::Intrinsic(at) => self.intrinsic_call(at, call, span),
            other => {
                let name = self.text(&*call.func);
                Err(Refusal::unread(span, format!("`{name}` is {} and cannot be called", other.describe())))
            }
        }
    }

    /// The arguments of code of the host. What is wrong in them is not an error of the file.
    fn host_args(&mut self, call: &ast::ExprCall, span: Span) -> Res<Args<'c>> {
        self.quiet += 1;
        let args = self.call_args(call);
        self.quiet -= 1;
        args.map_err(|refusal| match refusal {
            Refusal::Reported => Refusal::unread(span, "an argument of this call is refused"),
            other => other.where_used(),
        })
    }

    /// A refused callee of a library that is not read, with what is called instead.
    fn called_of_library(&self, callee: &ast::Expr, refusal: Refusal) -> Refusal {
        if self.body.is_none() || !matches!(refusal, Refusal::Unread(_)) || !self.is_library(callee) {
            return refusal;
        }
        let ast::Expr::Attribute(ast::ExprAttribute { value, attr, .. }) = callee else { return refusal };
        let (dialect, name) = (self.dialect(), attr.as_str());
        if !self.cx.ops().schemas(dialect, name).is_empty() {
            return refusal.help(format!("the op is `{dialect}.{name}(...)`"));
        }
        if !value.is_name_expr() {
            return refusal;
        }
        let library = self.text(&**value);
        let import = format!("ops of a plugin come from `from tilefoundry.dsl import {library}`");
        refusal.help(match crate::names::plugin_dialects(self.cx.ops()).any(|known| known == library) {
            true => import,
            false => format!("{import}, with `--load-pass-plugin=LIB`"),
        })
    }

    /// Why a body calls no plain function.
    fn called_in_body(&self, callee: &Value<'c>, call: &ast::ExprCall, span: Span) -> Refusal {
        let name = self.text(&*call.func);
        let message = format!("`{name}` cannot be used: it is a plain Python function, and bodies call none");
        let refusal = Refusal::unread(span, message).help("call it outside the function, and bind its value to a name");
        match callee {
            Value::Factory(at) if let Code::Def(def) = self.factories[*at].code => {
                refusal.also(self.span(&def.name), "defined here")
            }
            _ => refusal,
        }
    }

    /// Names in scope come first, then the ops of the dialect.
    pub(crate) fn callee(&mut self, func: &ast::Expr) -> Res<Value<'c>> {
        let ast::Expr::Name(name) = func else { return self.any(func) };
        let (text, span) = (name.id.as_str(), self.span(name));
        let symbol = self.cx.symbol(text);
        // In a body the ops of a star import hide Python's functions.
        let is_op = !self.schemas_of(self.dialect(), text).is_empty();
        let hides = is_op && text != "launch" && (self.body.is_some() || text == "where");
        let is_file_word = self.body.is_none() && crate::names::file_word(text).is_some();
        let is_word = (crate::names::word(text).is_some() || is_file_word) && !hides;
        if self.binding(symbol).is_some() || (is_word && text != "where") {
            return self.lookup(text, span);
        }
        if let Some(&at) = self.domain.below.get(&symbol)
            && !self.calls_itself(text)
        {
            return Err(called_above(text, at, span));
        }
        if self.body.is_none() || is_op {
            return if is_op { Ok(Value::Op(self.dialect(), symbol)) } else { self.lookup(text, span) };
        }
        if crate::names::exported(text).is_some() {
            return self.lookup(text, span);
        }
        if self.calls_itself(text) {
            return Err(self.recursive(text, span));
        }
        Err(match self.bound_below(text, span) {
            Some(at) => called_above(text, at, span),
            None => self.unknown_op(text, span),
        })
    }

    fn op_call(
        &mut self,
        dialect: &'static str,
        name: &str,
        call: &ast::ExprCall,
        span: Span,
        bind: Option<Symbol<'c>>,
    ) -> Res<Value<'c>> {
        let schemas = self.schemas_of(dialect, name);
        let callee = self.span(&*call.func);
        let is_own = dialect == self.dialect();
        let Some((&last, earlier)) = schemas.split_last() else {
            return match self.intrinsic_named(name).filter(|_| is_own) {
                Some(at) => self.intrinsic_call(at, call, span),
                None if is_own => Err(self.unknown_op(name, callee)),
                None => {
                    let refusal = Refusal::wrong(callee, format!("the dialect `{dialect}` has no op `{name}`"));
                    Err(refusal.near(name, self.cx.ops().names(dialect)))
                }
            };
        };
        if last.decl.form == OpForm::Effect && self.body.is_some() && !self.is_prim() {
            return Err(self.foreign_op(name, callee));
        }
        if self.body.is_none() {
            return Err(Refusal::unread(span, format!("the op `{name}` is called outside a function")));
        }
        for &schema in earlier {
            if let Ok(sorted) = self.sort(schema, call, span) {
                let inputs = self.inputs(&sorted)?;
                if patterns_match(schema, &inputs) {
                    return self.finish(schema, &sorted, &inputs, span, bind);
                }
            }
        }
        let sorted = self.sort(last, call, span)?;
        let inputs = self.inputs(&sorted)?;
        self.finish(last, &sorted, &inputs, span, bind)
    }

    /// The schemas of a name; `name_` of a `@prim_func` selects the effect form.
    fn schemas_of(&self, dialect: &str, name: &str) -> Cow<'a, [Schema]> {
        let schemas = self.cx.ops().schemas(dialect, name);
        match name.strip_suffix('_') {
            Some(bare) if schemas.is_empty() && self.is_prim() && dialect == "T" => {
                let effects = self.cx.ops().schemas("T", bare).iter();
                Cow::Owned(effects.filter(|schema| schema.decl.form == OpForm::Effect).copied().collect())
            }
            _ => Cow::Borrowed(schemas),
        }
    }

    fn sort<'x>(&self, schema: Schema, call: &'x ast::ExprCall, span: Span) -> Res<Sorted<'x>> {
        let is_fixed = |p: &ParamDecl| schema.fixed.iter().any(|(name, _)| *name == p.name);
        let params = schema.decl.params.iter().filter(|p| !is_fixed(p));
        let mut sorted = Sorted { given: params.map(|p| (p, Vec::new())).collect(), label: None };
        let name = schema.name;
        let mut next = 0;
        for arg in &call.arguments.args {
            if matches!(arg, ast::Expr::Starred(_)) {
                let refusal = Refusal::wrong(self.span(arg), format!("`{name}` cannot take an unpacked `*` argument"));
                return Err(match sorted.given.get(next) {
                    Some((ParamDecl { kind: ParamKind::Input { variadic: true, .. }, .. }, _)) => {
                        refusal.help(format!("pass the sequence itself: `{name}(parts, ...)`"))
                    }
                    _ => refusal,
                });
            }
            let Some((param, slot)) = sorted.given.get_mut(next) else {
                let count = call.arguments.args.len();
                let message = format!("`{name}` takes {}, found {count}", arguments(sorted.given.len()));
                return Err(Refusal::wrong(span, message).also(self.span(arg), "this one is too many"));
            };
            slot.push(arg);
            let spreads = matches!(param.kind, ParamKind::Input { variadic: true, .. });
            if !spreads || matches!(arg, ast::Expr::Tuple(_) | ast::Expr::List(_)) {
                next += 1;
            }
        }
        for keyword in &call.arguments.keywords {
            let at = self.span(keyword);
            let Some(word) = &keyword.arg else {
                return Err(Refusal::wrong(at, format!("`{name}` cannot take `**` arguments")));
            };
            if word.as_str() == "loc" {
                sorted.label = Some(&keyword.value);
                continue;
            }
            let Some((_, slot)) = sorted.given.iter_mut().find(|(p, _)| p.name == word.as_str()) else {
                let known: Vec<_> = sorted.given.iter().map(|(p, _)| p.name).collect();
                let message = format!("`{name}` has no parameter `{word}`; it has {}", known.join(", "));
                let refusal = Refusal::wrong(at, message);
                return Err(
                    match reduction(name).filter(|_| matches!(word.as_str(), "dim" | "axis" | "axes" | "keepdim")) {
                        Some(help) => refusal.help(help),
                        None if TYPE_WORDS.contains(&word.as_str()) && sorted.given.iter().any(|(p, _)| is_type(p)) => {
                            refusal.help(format!("write `{name}({})`", self.type_of_words(call)))
                        }
                        None => match foreign_keyword(word.as_str(), &known) {
                            Some(own) => refusal.help(format!("did you mean `{own}`?")),
                            None => refusal.near(word.as_str(), known),
                        },
                    },
                );
            };
            if !slot.is_empty() {
                return Err(Refusal::wrong(at, format!("`{name}` gets `{word}` twice")));
            }
            slot.push(&keyword.value);
        }
        let needed = |param: &ParamDecl| match param.kind {
            ParamKind::Input { variadic, optional, .. } => !variadic && !optional,
            ParamKind::Attribute { default, optional, .. } => default.is_none() && !optional,
        };
        let missing = sorted.given.iter().filter(|(param, slot)| slot.is_empty() && needed(param));
        let missing: Vec<_> = missing.map(|&(param, _)| param).collect();
        if missing.is_empty() {
            return Ok(sorted);
        }
        let refusal = lacks(name, &missing, span);
        Err(match reduction(name).filter(|_| missing.iter().any(|param| param.name == "rhs") && !self.is_prim()) {
            Some(help) => refusal.help(help),
            None => refusal,
        })
    }

    /// The type that a call states by keywords, as one expression.
    fn type_of_words(&self, call: &ast::ExprCall) -> String {
        let given = TYPE_WORDS.map(|word| call.arguments.find_keyword(word).map(|keyword| self.text(&keyword.value)));
        let last = given.iter().rposition(Option::is_some).unwrap_or_default().max(1);
        let parts = TYPE_WORDS.iter().zip(given).take(last + 1).map(|(word, text)| match (text, *word) {
            (Some(text), _) => text,
            (None, "layout") => "None".to_owned(),
            (None, word) => word.to_owned(),
        });
        format!("Tensor[{}]", parts.collect::<Vec<_>>().join(", "))
    }

    fn inputs(&mut self, sorted: &Sorted<'_>) -> Res<Vec<Expr<'c>>> {
        let mut values = Vec::new();
        for (param, exprs) in &sorted.given {
            let ParamKind::Input { variadic, .. } = param.kind else { continue };
            for expr in exprs {
                self.input(expr, variadic, &mut values)?;
            }
        }
        self.nodes(&values)
    }

    /// One argument of an input; a tuple or list in a variadic place stands for its elements.
    fn input(&mut self, expr: &ast::Expr, variadic: bool, values: &mut Vec<(Value<'c>, Span)>) -> Res<()> {
        let span = self.span(expr);
        match expr {
            ast::Expr::Tuple(ast::ExprTuple { elts, .. }) | ast::Expr::List(ast::ExprList { elts, .. }) if variadic => {
                for element in elts {
                    let value = self.eval(element, None)?;
                    values.push((value, self.span(element)));
                }
            }
            _ => {
                let value = self.eval(expr, None)?;
                match value.as_sequence() {
                    Some(items) if variadic => values.extend(items.iter().map(|item| (item.clone(), span))),
                    _ => values.push((value, span)),
                }
            }
        }
        Ok(())
    }

    fn finish(
        &mut self,
        schema: Schema,
        sorted: &Sorted<'_>,
        inputs: &[Expr<'c>],
        span: Span,
        bind: Option<Symbol<'c>>,
    ) -> Res<Value<'c>> {
        let (mut attrs, mut spans) = (Vec::new(), Vec::new());
        for (param, exprs) in &sorted.given {
            if let (ParamKind::Attribute { kind, optional, .. }, [expr]) = (&param.kind, &exprs[..]) {
                let what = format!("`{}` of `{}`", param.name, schema.name);
                let attr = self.attr(*kind, *optional, expr, &what, span)?;
                attrs.push((param.name, attr));
                spans.push((param.name, self.span(expr)));
            }
        }
        let bind = match sorted.label {
            None => bind,
            Some(label) => match self.eval(label, None)? {
                Value::Str(name) => Some(name),
                other => {
                    let message = format!("`loc` is a string, found {}", other.describe());
                    return Err(Refusal::wrong(self.span(label), message));
                }
            },
        };
        if schema.decl.form == OpForm::Effect {
            let op = self.op_of(schema, &attrs, span)?;
            return self.effect(op, inputs, &spans, span);
        }
        let op = self.op_of(schema, &attrs, span)?;
        Ok(Value::Expr(self.cx.call_written(op, inputs, &spans, self.meta(span, bind))?))
    }

    /// Whether the name of a called op is hidden by another binding.
    pub(crate) fn is_builtin(&self, name: &str, builtin: Builtin) -> bool {
        match self.binding(self.cx.symbol(name)).as_deref() {
            Some(Binding::Value(Value::Builtin(bound))) => *bound == builtin,
            Some(_) => false,
            None => matches!(crate::names::word(name), Some(Value::Builtin(word)) if word == builtin),
        }
    }
}

/// That a call lacks parameters, with what they are.
fn lacks(name: &str, missing: &[&ParamDecl], span: Span) -> Refusal {
    let names: Vec<_> = missing.iter().map(|param| format!("`{}`", param.name)).collect();
    let described = missing.iter().filter(|param| !param.doc.is_empty());
    let docs: Vec<_> = described.map(|p| format!("`{}`: {}", p.name, p.doc.trim_end_matches('.'))).collect();
    let refusal = Refusal::wrong(span, format!("`{name}` needs {}", listed(&names)));
    if docs.is_empty() { refusal } else { refusal.help(docs.join("; ")) }
}

/// Why a function is not called that is defined at `at`, below its use.
fn called_above(name: &str, at: Span, span: Span) -> Refusal {
    let refusal = Refusal::wrong(span, format!("`{name}` is defined below: calls go to functions above"));
    refusal.also(at, "defined here").help(format!("move `{name}` up, before the function that calls it"))
}

/// Whether tensors and scalars stand where an overload wants them.
pub(crate) fn patterns_match(schema: Schema, inputs: &[Expr<'_>]) -> bool {
    let patterns = schema.decl.inputs().filter_map(|param| match param.kind {
        ParamKind::Input { pattern, variadic: false, .. } => Some(pattern),
        _ => None,
    });
    patterns.zip(inputs).all(|(pattern, input)| pattern.matches(input.ty()))
}
