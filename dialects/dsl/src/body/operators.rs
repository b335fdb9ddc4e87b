//! Operators: arithmetic of compile-time values, index arithmetic, and ops on tensors.

use ruff_python_ast as ast;
use ruff_python_ast::{BoolOp, CmpOp, Operator, UnaryOp};
use tf_core::op::{Attr, Schema};
use tf_core::{Expr, Span};
use tf_types::{DType, Dim, Symbol};

use super::emit::{is_index, is_integer_scalar};
use crate::names::Builtin;
use crate::parser::Parser;
use crate::refusal::{Refusal, Res};
use crate::statics::unread_operator;
use crate::value::Value;

/// The op of an operator; the `dim` dialect has those of index arithmetic under the same names.
fn op_name(op: Operator) -> Option<&'static str> {
    Some(match op {
        Operator::Add => "add",
        Operator::Sub => "sub",
        Operator::Mult => "mul",
        Operator::Div => "div",
        Operator::FloorDiv => "floor_div",
        Operator::Mod => "mod",
        Operator::MatMult => "matmul",
        _ => return None,
    })
}

fn compare_name(op: CmpOp) -> Option<&'static str> {
    Some(match op {
        CmpOp::Eq => "cmp_eq",
        CmpOp::NotEq => "cmp_ne",
        CmpOp::Lt => "cmp_lt",
        CmpOp::LtE => "cmp_le",
        CmpOp::Gt => "cmp_gt",
        CmpOp::GtE => "cmp_ge",
        _ => return None,
    })
}

impl<'c> Parser<'_, 'c> {
    /// `a op b op c …`: the left spine may be as long as the line, so it is walked, not recursed into.
    pub(crate) fn binary(&mut self, binary: &ast::ExprBinOp, bind: Option<Symbol<'c>>) -> Res<Value<'c>> {
        let mut spine = vec![binary];
        let mut leftmost = &*binary.left;
        while let ast::Expr::BinOp(inner) = leftmost {
            spine.push(inner);
            leftmost = &*inner.left;
        }
        let mut left = self.looked(leftmost)?;
        let mut left_span = self.span(leftmost);
        while let Some(part) = spine.pop() {
            let span = self.span(part);
            let right = self.looked(&part.right)?;
            let right_span = self.span(&*part.right);
            let bind = if spine.is_empty() { bind } else { None };
            left = self.operate(part, (left, left_span), (right, right_span), span, bind)?;
            left_span = span;
        }
        Ok(left)
    }

    fn operate(
        &mut self,
        binary: &ast::ExprBinOp,
        left: (Value<'c>, Span),
        right: (Value<'c>, Span),
        span: Span,
        bind: Option<Symbol<'c>>,
    ) -> Res<Value<'c>> {
        let op = binary.op;
        if let (Operator::MatMult, Value::MeshAxis(..) | Value::Mesh(_)) = (op, &right.0) {
            let written = self.text(binary);
            return Err(Refusal::wrong(span, format!("`{written}` places an axis, which only a layout does"))
                .help("write it in the layout of a type or an op, or name a `ShardLayout(...)`"));
        }
        let left = (self.lifted(left.0, left.1)?, left.1);
        let right = (self.lifted(right.0, right.1)?, right.1);
        if left.0.as_expr().is_none() && right.0.as_expr().is_none() {
            return self.static_binary(op, &left.0, &right.0, span);
        }
        let Some(name) = op_name(op) else { return Err(unread_operator(op, span)) };
        if let Some(value) = self.index_op(name, &left, &right, span, bind)? {
            return Ok(value);
        }
        self.tensor_op(name, op.as_str(), &[left, right], span, bind)
    }

    /// Arithmetic of a loop's variable with integers and other indices.
    fn index_op(
        &mut self,
        name: &str,
        left: &(Value<'c>, Span),
        right: &(Value<'c>, Span),
        span: Span,
        bind: Option<Symbol<'c>>,
    ) -> Res<Option<Value<'c>>> {
        let fits = |value: &Value<'c>| match value {
            Value::Int(_) | Value::Dim(_) => true,
            // All arithmetic of TIR is on scalars.
            other => other.as_expr().is_some_and(if self.is_prim() { is_integer_scalar } else { is_index }),
        };
        if !fits(&left.0) || !fits(&right.0) || self.cx.ops().schemas("dim", name).is_empty() {
            return Ok(None);
        }
        let nodes = self.nodes(&[left.clone(), right.clone()])?;
        let schema = self.schema("dim", name, "index arithmetic", span)?;
        self.emit(schema, &nodes, &[], span, bind).map(|expr| Some(Value::Expr(expr)))
    }

    /// `min(a, b)` and `max(a, b)` of a `@func`: of numbers and dims such a one, of an index and others index arithmetic. None for what is an op.
    pub(crate) fn index_extremum(
        &mut self,
        name: &str,
        call: &ast::ExprCall,
        span: Span,
        bind: Option<Symbol<'c>>,
    ) -> Res<Option<Value<'c>>> {
        let ([left, right], []) = (&call.arguments.args[..], &call.arguments.keywords[..]) else { return Ok(None) };
        if [left, right].iter().any(|arg| arg.is_starred_expr()) {
            return Ok(None);
        }
        let values = self.nested(span, |p| Ok([p.eval(left, None)?, p.eval(right, None)?]))?;
        if values.iter().all(|value| matches!(value, Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Dim(_)))
        {
            let builtin = if name == "min" { Builtin::Min } else { Builtin::Max };
            return self.extremum(builtin, &values, None, None, span, bind).map(Some);
        }
        let [left, right] = [(left, 0), (right, 1)].map(|(arg, at)| (values[at].clone(), self.span(arg)));
        let values = [(self.lifted(left.0, left.1)?, left.1), (self.lifted(right.0, right.1)?, right.1)];
        if values.iter().any(|(value, _)| value.as_expr().is_some_and(is_index))
            && let Some(value) = self.index_op(name, &values[0], &values[1], span, bind)?
        {
            return Ok(Some(value));
        }
        self.tensor_op(name, name, &values, span, bind).map(Some)
    }

    /// `min` and `max` in a `@prim_func` where an operand is a value at run time; in a `@func` they are ops.
    pub(crate) fn scalar_extremum(
        &mut self,
        name: &str,
        [left, right]: [(Value<'c>, Span); 2],
        span: Span,
        bind: Option<Symbol<'c>>,
    ) -> Res<Option<Value<'c>>> {
        let left = (self.lifted(left.0, left.1)?, left.1);
        let right = (self.lifted(right.0, right.1)?, right.1);
        if !self.is_prim() || left.0.as_expr().is_none() && right.0.as_expr().is_none() {
            return Ok(None);
        }
        match self.index_op(name, &left, &right, span, bind)? {
            None => self.tensor_op(name, name, &[left, right], span, bind).map(Some),
            value => Ok(value),
        }
    }

    /// `ceildiv(a, b)` in a `@prim_func`, where an operand may be a value at run time.
    pub(crate) fn scalar_ceildiv(
        &mut self,
        call: &ast::ExprCall,
        span: Span,
        bind: Option<Symbol<'c>>,
    ) -> Res<Value<'c>> {
        let given = self.arguments(call, "ceildiv", &["a", "b"])?;
        let [Some(a), Some(b)] = given[..] else { return self.construct(Builtin::CeilDiv, call, span, bind) };
        let (left, right) = (self.eval(a, None)?, self.eval(b, None)?);
        let (left, right) = (self.lifted(left, self.span(a))?, self.lifted(right, self.span(b))?);
        if left.as_expr().is_none() && right.as_expr().is_none() || matches!(right, Value::Int(0)) {
            return self.construct(Builtin::CeilDiv, call, span, bind);
        }
        let [left, right, one] = [(left, self.span(a)), (right, self.span(b)), (Value::Int(1), span)];
        let mut last = left;
        for (name, operand, bind) in [("add", &right, None), ("sub", &one, None), ("floor_div", &right, bind)] {
            let Some(value) = self.index_op(name, &last, operand, span, bind)? else {
                let (a, b) = (last.0.describe(), operand.0.describe());
                return Err(Refusal::wrong(span, format!("`ceildiv` takes integers, found {a} and {b}")));
            };
            last = (value, span);
        }
        Ok(last.0)
    }

    /// `index + offset` as a node: the index itself where the offset is 0.
    pub(crate) fn moved_index(&mut self, index: Expr<'c>, offset: Dim<'c>, span: Span) -> Res<Expr<'c>> {
        if !is_integer_scalar(index) {
            let message = format!("a start is an integer scalar, found {}", index.ty());
            return Err(Refusal::wrong(span, message));
        }
        if offset.as_const() == Some(0) {
            return Ok(index);
        }
        if offset.as_const().is_none() && !is_index(index) {
            // A symbolic extent is added to a tensor as everywhere: in its dtype.
            let extent = self.dim_node(offset, span)?;
            let is_wide = index.ty().as_tensor().is_some_and(|tensor| tensor.dtype == DType::I64);
            let cast = self.schema("tf", "cast", "a moved window", span)?;
            let wide = if is_wide {
                index
            } else {
                self.emit(cast, &[index], &[("dtype", Attr::DType(DType::I64))], span, None)?
            };
            let add = self.schema("tf", "add", "a moved window", span)?;
            return self.emit(add, &[wide, extent], &[], span, None);
        }
        let schema = self.schema("dim", "add", "a moved window", span)?;
        let offset = self.dim_node(offset, span)?;
        self.emit(schema, &[index, offset], &[], span, None)
    }

    /// A call of the op that a surface form stands for.
    pub(crate) fn tensor_op(
        &mut self,
        name: &str,
        written: &str,
        inputs: &[(Value<'c>, Span)],
        span: Span,
        bind: Option<Symbol<'c>>,
    ) -> Res<Value<'c>> {
        let schema = match self.is_prim() {
            true => self.scalar_schema(name, written, inputs, span)?,
            false => self.schema("tf", name, &format!("`{written}`"), span)?,
        };
        let nodes = self.nodes(inputs)?;
        let made = self.emit(schema, &nodes, &[], span, bind).map(Value::Expr);
        // An integer beside a float tensor was meant to be a float.
        let is_float = |value: &Value<'c>| {
            value.as_expr().and_then(|expr| expr.ty().as_tensor()).is_some_and(|tensor| tensor.dtype.is_float())
        };
        match (inputs, made) {
            ([(a, _), (b, _)], Err(refusal)) => Err(match (a, b) {
                (Value::Int(number), tensor) | (tensor, Value::Int(number)) if is_float(tensor) => {
                    refusal.help(format!("write `{number}.0`: a float literal takes the dtype of the tensor beside it"))
                }
                _ => refusal,
            }),
            (_, made) => made,
        }
    }

    /// The op of an operator between scalars of a `@prim_func`.
    fn scalar_schema(&self, name: &str, written: &str, inputs: &[(Value<'c>, Span)], span: Span) -> Res<Schema> {
        let is_scalar =
            |value: &Value<'c>| value.as_expr().is_none_or(|e| e.ty().as_tensor().is_some_and(|t| t.rank() == 0));
        if let Some((tensor, at)) = inputs.iter().find(|(value, _)| !is_scalar(value)) {
            let message = format!("`{written}` of a `@prim_func` is between scalars, found {}", tensor.describe());
            return Err(Refusal::wrong(*at, message).help("tensors have effects: `T.binary(a, b, dst, kind=...)`"));
        }
        let schemas = ["dim", "T"].map(|dialect| self.cx.ops().schemas(dialect, name).first().copied());
        match schemas {
            [Some(schema), _] | [None, Some(schema)] => Ok(schema),
            [None, None] => Err(Refusal::wrong(span, format!("scalars have no operator `{written}`"))),
        }
    }

    pub(crate) fn unary(&mut self, unary: &ast::ExprUnaryOp, span: Span, bind: Option<Symbol<'c>>) -> Res<Value<'c>> {
        if let (UnaryOp::USub, ast::Expr::NumberLiteral(number)) = (unary.op, &*unary.operand)
            && let ast::Number::Int(value) = &number.value
            && value.as_u64() == Some(i64::MIN.unsigned_abs())
        {
            // The one literal that is in range with its sign only.
            return Ok(Value::Int(i64::MIN));
        }
        let value = self.looked(&unary.operand)?;
        let operand_span = self.span(&*unary.operand);
        let value = self.lifted(value, operand_span)?;
        if value.as_expr().is_none() {
            return self.static_unary(unary.op, &value, span);
        }
        match unary.op {
            UnaryOp::USub => self.tensor_op("neg", "-", &[(value, operand_span)], span, bind),
            UnaryOp::Not => self.tensor_op("logical_not", "not", &[(value, operand_span)], span, bind),
            UnaryOp::UAdd => Ok(value),
            UnaryOp::Invert => {
                let refusal = Refusal::unread(span, "the operator `~` is not part of the language");
                Err(refusal.help("the logical negation is `not`"))
            }
        }
    }

    /// `a or b` of constants: the first operand that decides, as Python has it.
    fn static_logical(&mut self, logical: &ast::ExprBoolOp) -> Res<Value<'c>> {
        let Some((last, operands)) = logical.values.split_last() else { return Ok(Value::None) };
        for operand in operands {
            let value = self.eval(operand, None)?;
            let at = self.span(operand);
            let Some(truth) = self.truth_known(&value, at)? else {
                let message =
                    format!("`{}` is {}, which is neither true nor false", self.text(operand), value.describe());
                return Err(Refusal::unread(self.span(operand), message));
            };
            if truth == (logical.op == BoolOp::Or) {
                return Ok(value);
            }
        }
        self.any(last)
    }

    /// `a and b and c`, from the left.
    pub(crate) fn logical(
        &mut self,
        logical: &ast::ExprBoolOp,
        span: Span,
        bind: Option<Symbol<'c>>,
    ) -> Res<Value<'c>> {
        if self.body.is_none() {
            return self.static_logical(logical);
        }
        let name = match logical.op {
            BoolOp::And => "logical_and",
            BoolOp::Or => "logical_or",
        };
        let mut values = logical.values.iter();
        let Some(first) = values.next() else { return Err(Refusal::wrong(span, "an operator without operands")) };
        let mut left = (self.eval(first, None)?, self.span(first));
        let count = logical.values.len();
        for (at, operand) in values.enumerate() {
            let right = (self.eval(operand, None)?, self.span(operand));
            let whole = left.1.to(right.1);
            let value = match (&left.0, &right.0) {
                (Value::Bool(a), Value::Bool(b)) => {
                    Value::Bool(if name == "logical_and" { *a && *b } else { *a || *b })
                }
                _ => {
                    let bind = if at + 2 == count { bind } else { None };
                    self.tensor_op(name, logical.op.as_str(), &[left, right], whole, bind)?
                }
            };
            left = (value, whole);
        }
        Ok(left.0)
    }

    /// The first operand of comparisons; whether it is among others may be known where it is not read.
    fn compared(&mut self, compare: &ast::ExprCompare) -> Res<Value<'c>> {
        match compare.ops.first() {
            Some(CmpOp::In | CmpOp::NotIn) if self.body.is_none() => self.any(&compare.left),
            _ => self.looked(&compare.left),
        }
    }

    /// `a < b < c` of constants, as far as it is true.
    fn chained(&mut self, compare: &ast::ExprCompare, span: Span) -> Res<Value<'c>> {
        let mut left = self.compared(compare)?;
        for (op, right) in compare.ops.iter().zip(&*compare.comparators) {
            let right = self.looked(right)?;
            if !self.decided(*op, &left, &right, span)? {
                return Ok(Value::Bool(false));
            }
            left = right;
        }
        Ok(Value::Bool(true))
    }

    pub(crate) fn compare(
        &mut self,
        compare: &ast::ExprCompare,
        span: Span,
        bind: Option<Symbol<'c>>,
    ) -> Res<Value<'c>> {
        let ([op], [right]) = (&*compare.ops, &*compare.comparators) else {
            if self.body.is_none() {
                return self.chained(compare, span);
            }
            return Err(Refusal::wrong(span, "a chained comparison is not part of the language")
                .help("write `a < b and b < c`"));
        };
        let left = (self.compared(compare)?, self.span(&*compare.left));
        let right = (self.looked(right)?, self.span(right));
        let left = (self.lifted(left.0, left.1)?, left.1);
        let right = (self.lifted(right.0, right.1)?, right.1);
        if left.0.as_expr().is_none() && right.0.as_expr().is_none() {
            return self.decided(*op, &left.0, &right.0, span).map(Value::Bool);
        }
        let Some(name) = compare_name(*op) else {
            return Err(Refusal::unread(span, format!("the operator `{}` is not part of the language", op.as_str())));
        };
        self.tensor_op(name, op.as_str(), &[left, right], span, bind)
    }
}
