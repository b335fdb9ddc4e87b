//! Expressions: operators, calls, tuples, items.

use tf_core::op::{ParamDecl, ParamKind};
use tf_core::{Expr, Literal, Meta};
use tf_types::{DType, Dim, Type};
use tf_value::{Tensor, Value};

use crate::attribute::attribute;
use crate::run::{Res, Run, Stop};
use crate::tokens::Token;

/// What an expression is.
#[derive(Clone)]
pub enum Val<'c> {
    Int(i64),
    Float(f64),
    Bool(bool),
    Text(String),
    Dim(Dim<'c>),
    Type(Type<'c>),
    Tuple(Vec<Val<'c>>),
    Node(Expr<'c>, Value),
}

/// Binary operators by precedence, loosest first, with the ops they are.
const LEVELS: &[&[(&str, &str)]] = &[
    &[("or", "logical_or")],
    &[("and", "logical_and")],
    &[("==", "cmp_eq"), ("!=", "cmp_ne"), ("<", "cmp_lt"), ("<=", "cmp_le"), (">", "cmp_gt"), (">=", "cmp_ge")],
    &[("+", "add"), ("-", "sub")],
    &[("*", "mul"), ("/", "div"), ("//", "floor_div"), ("%", "mod"), ("@", "matmul")],
];

pub struct Parser<'p, 'r, 'c> {
    run: &'p Run<'r, 'c>,
    tokens: &'p [Token],
    at: usize,
}

impl<'p, 'r, 'c> Parser<'p, 'r, 'c> {
    pub fn new(run: &'p Run<'r, 'c>, tokens: &'p [Token]) -> Self {
        Self { run, tokens, at: 0 }
    }

    fn peek(&self) -> Option<&'p Token> {
        self.tokens.get(self.at)
    }

    fn accept(&mut self, word: &str) -> bool {
        let found = match self.peek() {
            Some(Token::Sign(sign)) => *sign == word,
            Some(Token::Name(name)) => name == word,
            _ => false,
        };
        self.at += usize::from(found);
        found
    }

    fn unread<T>(&self) -> Res<T> {
        Err(Stop::Skip(format!("{:?} is not read", &self.tokens[self.at.min(self.tokens.len())..])))
    }

    /// The only expression.
    pub fn whole(mut self) -> Res<Val<'c>> {
        let value = self.level(0)?;
        if self.peek().is_some() { self.unread() } else { Ok(value) }
    }

    fn level(&mut self, level: usize) -> Res<Val<'c>> {
        let Some(operators) = LEVELS.get(level) else { return self.prefix() };
        let mut lhs = self.level(level + 1)?;
        'next: loop {
            for (sign, op) in *operators {
                if self.accept(sign) {
                    let rhs = self.level(level + 1)?;
                    lhs = self.combine(op, lhs, rhs)?;
                    continue 'next;
                }
            }
            return Ok(lhs);
        }
    }

    fn combine(&self, op: &str, lhs: Val<'c>, rhs: Val<'c>) -> Res<Val<'c>> {
        if let (Val::Dim(lhs), Val::Int(rhs), "add") = (&lhs, &rhs, op) {
            return Ok(Val::Dim(self.run.cx.dim_add(*lhs, self.run.cx.dim(*rhs))));
        }
        let operands = self.nodes(vec![lhs, rhs])?;
        self.run.call(op, &operands, &[])
    }

    fn prefix(&mut self) -> Res<Val<'c>> {
        if self.accept("-") {
            return Ok(match self.prefix()? {
                Val::Int(value) => Val::Int(-value),
                Val::Float(value) => Val::Float(-value),
                Val::Node(node, value) => self.run.call("neg", &[(node, value)], &[])?,
                _ => return self.unread(),
            });
        }
        if self.accept("not") {
            let operand = self.prefix()?;
            let operands = self.nodes(vec![operand])?;
            return self.run.call("logical_not", &operands, &[]);
        }
        let mut value = self.atom()?;
        while self.accept("[") {
            let index = self.level(0)?;
            value = match (value, index) {
                (Val::Node(node, tuple @ Value::Tuple(_)), Val::Int(at)) if self.accept("]") => {
                    self.run.item(node, &tuple, at)?
                }
                _ => return self.unread(),
            };
        }
        Ok(value)
    }

    fn atom(&mut self) -> Res<Val<'c>> {
        let Some(token) = self.peek() else { return self.unread() };
        match token {
            Token::Number(text) => {
                self.at += 1;
                match text.parse() {
                    Ok(value) => Ok(Val::Int(value)),
                    Err(_) => text.parse().map(Val::Float).or_else(|_| self.unread()),
                }
            }
            Token::Text(text) => {
                self.at += 1;
                Ok(Val::Text(text.clone()))
            }
            Token::Sign("(") => {
                self.at += 1;
                let (items, commas) = self.items(")")?;
                match <[Val<'c>; 1]>::try_from(items) {
                    Ok([one]) if commas == 0 => Ok(one),
                    Ok(one) => Ok(Val::Tuple(one.into())),
                    Err(items) => Ok(Val::Tuple(items)),
                }
            }
            Token::Name(name) => {
                self.at += 1;
                match name.as_str() {
                    "True" => return Ok(Val::Bool(true)),
                    "False" => return Ok(Val::Bool(false)),
                    "tf" if self.accept(".") => return self.op_call(),
                    "Tensor" if self.accept("[") => return self.tensor_type(),
                    _ => {}
                }
                if let Some(value) = self.run.names.get(name) {
                    return Ok(value.clone());
                }
                self.run.dims.get(name).map_or_else(|| self.unread(), |&dim| Ok(Val::Dim(dim)))
            }
            Token::Sign(_) => self.unread(),
        }
    }

    /// Items up to the closing sign, and how many commas stood among them.
    fn items(&mut self, close: &str) -> Res<(Vec<Val<'c>>, usize)> {
        let (mut items, mut commas) = (Vec::new(), 0);
        while !self.accept(close) {
            items.push(self.level(0)?);
            if self.accept(",") {
                commas += 1;
            } else if self.accept(close) {
                break;
            } else {
                return self.unread();
            }
        }
        Ok((items, commas))
    }

    /// `Tensor[(S, 2), "f32"]` after the bracket.
    fn tensor_type(&mut self) -> Res<Val<'c>> {
        let (items, _) = self.items("]")?;
        let [Val::Tuple(extents), Val::Text(dtype)] = &items[..] else { return self.unread() };
        let mut shape = Vec::new();
        for extent in extents {
            shape.push(match extent {
                Val::Int(value) => self.run.cx.dim(*value),
                Val::Dim(dim) => *dim,
                _ => return self.unread(),
            });
        }
        let dtype = DType::from_name(dtype).map_err(|e| Stop::Wrong(e.message))?;
        Ok(Val::Type(self.run.cx.tensor(&shape, dtype, None, tf_types::Storage::Gmem)))
    }

    /// `name(…)` after `tf.`.
    fn op_call(&mut self) -> Res<Val<'c>> {
        let Some(Token::Name(name)) = self.peek() else { return self.unread() };
        self.at += 1;
        let schemas = self.run.cx.ops().schemas("tf", name);
        let schema = schemas.first().ok_or_else(|| Stop::Skip(format!("`tf.{name}` is not registered")))?;
        if !self.accept("(") {
            return self.unread();
        }
        let is_free = |param: &&ParamDecl| schema.fixed.iter().all(|(fixed, _)| *fixed != param.name);
        let mut params = schema.decl.params.iter().filter(is_free).peekable();
        let (mut inputs, mut attrs) = (Vec::new(), Vec::new());
        while !self.accept(")") {
            let keyword = match self.tokens.get(self.at..self.at + 2) {
                Some([Token::Name(keyword), Token::Sign("=")]) => {
                    self.at += 2;
                    schema.decl.params.iter().find(|param| param.name == keyword)
                }
                _ => None,
            };
            let value = self.level(0)?;
            let (param, spreads) = match (keyword, params.peek()) {
                (Some(param), _) => (param, false),
                (None, Some(param)) => (*param, matches!(param.kind, ParamKind::Input { variadic: true, .. })),
                (None, None) => return self.unread(),
            };
            match (&param.kind, value) {
                (ParamKind::Input { variadic: true, .. }, Val::Tuple(items)) => {
                    inputs.extend(items);
                    params.next();
                }
                (ParamKind::Input { .. }, value) => {
                    inputs.push(value);
                    if !spreads && keyword.is_none() {
                        params.next();
                    }
                }
                (ParamKind::Attribute { kind, .. }, value) => {
                    let attr = attribute(self.run.cx, *kind, &value);
                    attrs.push((param.name, attr.ok_or_else(|| Stop::Wrong(format!("`{}` is not read", param.name)))?));
                    if keyword.is_none() {
                        params.next();
                    }
                }
            }
            self.accept(",");
        }
        let operands = self.nodes(inputs)?;
        self.run.call(name, &operands, &attrs)
    }

    /// Operands; a float takes the one float dtype beside it.
    fn nodes(&self, values: Vec<Val<'c>>) -> Res<Vec<(Expr<'c>, Value)>> {
        let mut floats: Vec<DType> = values
            .iter()
            .filter_map(|value| match value {
                Val::Node(node, _) => node.ty().as_tensor().map(|t| t.dtype).filter(|dtype| dtype.is_float()),
                _ => None,
            })
            .collect();
        floats.dedup();
        let float = if let [dtype] = floats[..] { dtype } else { DType::F32 };
        let constant =
            |literal, dtype, value: Tensor| (self.run.cx.constant(literal, dtype, Meta::default()), Value::from(value));
        let node = |value| match value {
            Val::Node(node, value) => Ok((node, value)),
            Val::Int(value) => Ok(constant(Literal::Int(value), DType::I64, Tensor::scalar(value))),
            Val::Bool(value) => Ok(constant(Literal::Bool(value), DType::Bool, Tensor::scalar(value))),
            Val::Float(value) => {
                let tensor = Tensor::scalar_from_f64(value, float).map_err(|e| Stop::Wrong(e.message))?;
                Ok(constant(Literal::Float(value), float, tensor))
            }
            _ => self.unread(),
        };
        values.into_iter().map(node).collect()
    }
}
