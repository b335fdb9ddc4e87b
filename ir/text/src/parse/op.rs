//! The right side of a line: constants, tuples, calls.

use tf_core::diag::did_you_mean;
use tf_core::node::{AnyFunction, Callee, FunctionData};
use tf_core::op::{OpInstance, OpView, Schema};
use tf_core::{Diagnostic, Expr, ExprKind, Literal, Meta, Span};
use tf_types::{DType, Symbol, Type, TypeKind};

use super::Parser;
use super::cursor::Parsed;
use super::lexer::{Kind, Token};
use super::link::{Key, Reference, Use};

/// An op with its operands and types, up to the arrow.
pub struct OpText<'c> {
    pub token: Token,
    pub op: OpInstance<'c>,
    pub args: &'c [Expr<'c>],
    /// From the op's name to its attributes.
    pub span: Span,
}

impl<'c> Parser<'_, '_, 'c> {
    fn schema(&mut self, token: Token) -> Parsed<Schema> {
        let key = &self.text[token.start..token.end];
        if let Some(schema) = self.ops.get(key) {
            return Ok(*schema);
        }
        let ops = self.cx.ops();
        let schemas = key.split_once('.').map_or(&[][..], |(dialect, name)| ops.schemas(dialect, name));
        let plain = schemas.iter().find(|schema| schema.fixed.is_empty()).or(schemas.first());
        match plain {
            Some(&schema) => {
                self.ops.insert(key, schema);
                Ok(schema)
            }
            None if key.split_once('.').is_some_and(|(dialect, _)| ops.names(dialect).is_empty()) => {
                let dialect = key.split_once('.').map_or(key, |(dialect, _)| dialect);
                let message = format!("unknown op `{key}`: there is no dialect `{dialect}`");
                let error = Diagnostic::error(message).at(self.span(token));
                let help = "`--load-pass-plugin=LIB` loads ops of a plugin";
                let near = did_you_mean(dialect, ops.dialects()).map(|near| format!("did you mean `{near}`?"));
                Err(self.report(error.with_help(near.unwrap_or_else(|| help.to_owned()))))
            }
            None => {
                let known: Vec<_> = ops.iter().map(|(_, decl)| decl.name.to_string()).collect();
                Err(self.unknown(token, format!("unknown op `{key}`"), key, known.iter().map(String::as_str)))
            }
        }
    }

    /// `tf.reduce %x {axes = [1]} : (type)`.
    pub fn op_text(&mut self) -> Parsed<OpText<'c>> {
        let (token, op, span) = self.op_head()?;
        self.expect(b':')?;
        self.operand_types()?;
        let types = std::mem::take(&mut self.types);
        let args = self.resolve_all(token, &types);
        self.types = types;
        Ok(OpText { token, op, args: args?, span })
    }

    /// `tf.reduce %x {axes = [1]} : (type) -> type`, with the type that is written.
    fn value_op_text(&mut self) -> Parsed<(OpText<'c>, Type<'c>)> {
        let (token, op, span) = self.op_head()?;
        let start = self.token.start;
        let known = if self.at(b':') { self.recent_signatures.find(&self.text[start..], |_| true) } else { None };
        if let Some((text, (types, written))) = known {
            self.skip(text.len(), b'>');
            let args = self.resolve_all(token, types)?;
            return Ok((OpText { token, op, args, span }, written));
        }
        self.expect(b':')?;
        self.operand_types()?;
        let types = self.cx.types(&self.types);
        let args = self.resolve_all(token, types)?;
        if !self.at(b'-') && self.token.kind != Kind::Arrow {
            return Err(self.expected("`->` and the type of the result"));
        }
        self.arrow()?;
        let written = self.ty()?;
        if self.previous.is(b'>') {
            self.recent_signatures.put(&self.text[start..self.previous.end], (types, written));
        }
        Ok((OpText { token, op, args, span }, written))
    }

    /// The op with its attributes; its operands are in [`Parser::operands`].
    fn op_head(&mut self) -> Parsed<(Token, OpInstance<'c>, Span)> {
        let token = self.advance();
        let schema = self.schema(token)?;
        self.operand_list(b"{:")?;
        let op = self.instance(token, &schema)?;
        Ok((token, op, self.span_from(token)))
    }

    /// What stands after `%name = `, with its location.
    pub fn right_side(&mut self, name: Option<Symbol<'c>>) -> Parsed<Expr<'c>> {
        let token = self.token;
        if token.kind != Kind::Word {
            return Err(self.expected("an op, `constant`, `tuple`, `call` or `shape_of`"));
        }
        match self.text_of(token) {
            "constant" => self.constant_text(name),
            "tuple" => self.tuple_text(name),
            "call" => self.call_text(name),
            "shape_of" => self.shape_text(name),
            op if op.contains('.') => {
                let (OpText { token, op, args, span }, written) = self.value_op_text()?;
                let meta = self.meta(span, name)?;
                let at = self.span(token);
                let inferred = match self.cx.infer(OpView { op, args }, Some(at)) {
                    Ok(ty) => ty,
                    Err(error) => return Err(self.report(error)),
                };
                if inferred != written {
                    self.same_type(token, &format!("`{}` gives", op.decl.name), inferred, written)?;
                }
                let kind = ExprKind::Call { callee: Callee::Op(op), args };
                Ok(self.cx.expr(kind, inferred, meta))
            }
            _ => Err(self.expected("an op, `constant`, `tuple`, `call` or `shape_of`")),
        }
    }

    fn constant_text(&mut self, name: Option<Symbol<'c>>) -> Parsed<Expr<'c>> {
        let first = self.advance();
        let token = self.token;
        let literal = self.literal("a literal")?;
        let span = self.span_from(first);
        self.expect(b':')?;
        let ty = self.ty()?;
        let meta = self.meta(span, name)?;
        self.constant(token, literal, ty, meta)
    }

    fn tuple_text(&mut self, name: Option<Symbol<'c>>) -> Parsed<Expr<'c>> {
        let first = self.advance();
        self.operand_list(b":")?;
        let span = self.span_from(first);
        self.expect(b':')?;
        let ty = self.ty()?;
        let TypeKind::Tuple(fields) = *ty.data() else {
            return Err(self.error_at(first, "a tuple has a type `tuple<…>`"));
        };
        let elements = self.resolve_all(first, fields)?;
        let meta = self.meta(span, name)?;
        Ok(self.cx.expr(ExprKind::Tuple(elements), ty, meta))
    }

    /// `shape_of %x[0] : type`.
    fn shape_text(&mut self, name: Option<Symbol<'c>>) -> Parsed<Expr<'c>> {
        let first = self.advance();
        let operand = self.operand()?;
        self.expect(b'[')?;
        let axis = self.integer("an axis")?;
        self.expect(b']')?;
        let span = self.span_from(first);
        self.expect(b':')?;
        let written = self.ty()?;
        let meta = self.meta(span, name)?;
        let Some(ty) = self.value_type(operand) else { return Err(self.error_at(first, "a literal has no extents")) };
        let param = self.resolve(operand, ty)?;
        match self.cx.shape_of(param, axis, meta) {
            Ok(extent) => {
                self.same_type(first, "an extent has type", extent.ty(), written)?;
                Ok(extent)
            }
            Err(error) => {
                let at = self.span(first);
                Err(self.report(Diagnostic { span: Some(at), ..error }))
            }
        }
    }

    /// `call @f(%x) : (type) -> type`.
    fn call_text(&mut self, name: Option<Symbol<'c>>) -> Parsed<Expr<'c>> {
        let first = self.advance();
        let (token, callee) = self.function_path("the name of a function")?;
        self.expect(b'(')?;
        self.operand_list(b")")?;
        self.expect(b')')?;
        let span = self.span_from(first);
        self.expect(b':')?;
        let types = self.type_list()?;
        let args = self.resolve_all(first, &types)?;
        self.arrow()?;
        let ty = self.ty()?;
        let meta = self.meta(span, name)?;
        let function = match self.by_name.get(&callee).copied().flatten().map(|at| self.functions[at]) {
            Some(AnyFunction::Hir(function)) => function,
            Some(AnyFunction::Tir(_)) => {
                let message = format!("`@{}` is no HIR function", callee.1);
                return Err(self.error_at(token, message));
            }
            None => self.placeholder(callee),
        };
        if self.in_tir() {
            let diagnostic = Diagnostic::error("a TIR function has no calls that give a value").at(self.span(first));
            return Err(self.report(diagnostic.with_help("write `tir.call` with the outputs as last operands")));
        }
        self.calls.push((self.functions.len(), callee));
        self.references.push(Reference {
            token,
            key: callee,
            how: Use::Call { count: args.len(), ty, from: self.path },
        });
        let kind = ExprKind::Call { callee: Callee::Function(function), args };
        Ok(self.cx.expr(kind, ty, meta))
    }

    fn placeholder(&mut self, key: Key<'c>) -> tf_core::Function<'c> {
        let cx = self.cx;
        *self.forward.entry(key).or_insert_with(|| {
            let body = cx.constant(Literal::Bool(false), DType::Bool, Meta::default());
            cx.function(FunctionData::new(key.1, &[], body, body.ty()))
        })
    }
}
