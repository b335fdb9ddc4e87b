//! Attributes of ops: what an expression states where a parameter accepts that kind of value.

use ruff_python_ast as ast;
use tf_core::Span;
use tf_core::op::{Attr, AttrKind};
use tf_types::TensorLayout;

use crate::parser::Parser;
use crate::prim::Platform;
use crate::refusal::{Refusal, Res, named_dtype, named_storage};
use crate::value::Value;

impl<'c> Parser<'_, 'c> {
    /// The attribute that an expression states, by what the parameter accepts.
    pub(crate) fn attr(
        &mut self,
        kind: AttrKind,
        optional: bool,
        expr: &ast::Expr,
        what: &str,
        call: Span,
    ) -> Res<Attr<'c>> {
        let span = self.span(expr);
        if let (AttrKind::Shard | AttrKind::Layout, ast::Expr::Tuple(tuple)) = (kind, expr) {
            let shard = self.placement(tuple, None, call)?;
            return Ok(match kind {
                AttrKind::Shard => Attr::Shard(shard),
                _ => Attr::Layout(TensorLayout::Shard(shard)),
            });
        }
        if let (AttrKind::Shard, ast::Expr::BinOp(binary)) = (kind, expr)
            && binary.op == ast::Operator::MatMult
        {
            return Err(Refusal::wrong(span, "layout sugar is a tuple").help("write `(extent @ m.a,)`"));
        }
        if kind == AttrKind::Mesh && !(optional && expr.is_none_literal_expr()) {
            return self.mesh_value(expr, what).map(Attr::Mesh);
        }
        let value = self.eval(expr, None)?;
        let wrong = |expected: &str| {
            Err(Refusal::wrong(span, format!("{what} must be {expected}, found {}", value.describe())))
        };
        Ok(match (kind, &value) {
            (_, Value::None) if optional => Attr::None,
            (AttrKind::Bool, Value::Bool(value)) => Attr::Bool(*value),
            (AttrKind::Bool, _) => return wrong("True or False"),
            (AttrKind::Int, Value::Int(value)) => Attr::Int(*value),
            (AttrKind::Int, _) => return wrong("an integer"),
            (AttrKind::Float, Value::Float(value)) => Attr::Float(value.to_bits()),
            (AttrKind::Float, Value::Int(value)) => Attr::Float((*value as f64).to_bits()),
            (AttrKind::Float, _) => return wrong("a number"),
            (AttrKind::Str, Value::Str(value)) => Attr::Str(*value),
            (AttrKind::Str, Value::Platform(Platform::Atom(atom))) => Attr::Str(self.cx.symbol(&atom.op.name())),
            (AttrKind::Str, _) => return wrong("a string"),
            (AttrKind::Enum(decl), value) => self.kind_attr(decl, value, what, span)?,
            (AttrKind::DType, Value::Str(name)) => Attr::DType(named_dtype(name.as_str(), span)?),
            (AttrKind::DType, Value::DType(dtype)) => Attr::DType(*dtype),
            (AttrKind::DType, _) => return wrong("the name of a dtype"),
            (AttrKind::Storage, Value::Str(name)) => Attr::Storage(named_storage(name.as_str(), span)?),
            (AttrKind::Storage, Value::Storage(storage)) => Attr::Storage(*storage),
            (AttrKind::Storage, _) => return wrong("the name of a storage"),
            (AttrKind::Ints, _) => {
                let int = |item: &Value<'c>| match item {
                    Value::Int(value) => Some(*value),
                    _ => None,
                };
                match value.as_sequence().and_then(|items| items.iter().map(int).collect::<Option<Vec<_>>>()) {
                    Some(ints) => Attr::Ints(self.cx.alloc_slice(&ints)),
                    None => {
                        let refusal = wrong("a tuple of integers");
                        return match value {
                            Value::Int(one) => refusal.map_err(|r| r.help(format!("one of them is `({one},)`"))),
                            _ => refusal,
                        };
                    }
                }
            }
            (AttrKind::Dim, _) => Attr::Dim(self.cx.simplify(self.to_dim(&value, what, span)?)),
            (AttrKind::Dims, _) => Attr::Dims(self.cx.normal_dims(&self.to_dims(&value, what, span)?)),
            (AttrKind::Layout, value) => match value.as_layout() {
                Some(layout) => Attr::Layout(layout),
                None => return wrong("a layout"),
            },
            (AttrKind::Shard, Value::Shard(shard)) => Attr::Shard(*shard),
            (AttrKind::Shard, _) => return wrong("layout sugar or a ShardLayout"),
            (AttrKind::Mesh, _) => return wrong("a mesh"),
            (AttrKind::Type, Value::Annotation(annotation)) => Attr::Type(annotation.ty),
            (AttrKind::Type, _) => return wrong("a type such as `Tensor[(4,), \"f32\"]`"),
        })
    }
}
