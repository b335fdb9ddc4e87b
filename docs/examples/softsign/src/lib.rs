//! A plugin with one op: `demo.softsign`, which is `x / (1 + |x|)`, and a rewrite pattern of it.

mod pattern;

use tf_core::op::rules::typed;
use tf_core::op::{AccessRule, OpCall, OpView, RuleError, TypeRule};
use tf_core::{Context, Expr, Literal, Meta, Result, op};
use tf_hir::rules::{layout, operand};
use tf_lower::Lowerer;
use tf_plugin::Registrar;
use tf_tir::arith::{binary::Binary, unary::Unary};
use tf_tir::memory::fill::Fill;
use tf_types::access::AccessRelation;
use tf_types::kinds::{BinaryKind, UnaryKind};
use tf_types::{DType, Type};
use tf_value::{EvalCx, EvalRule, Tensor, Value, ValueError};

/// `out[i] = x[i] / (scale + |x[i]|)`
#[op(dialect = "demo", category = "math")]
pub struct Softsign {
    /// The operand.
    #[input(Tensor)]
    x: (),
    /// What is added to the absolute value.
    #[default(1.0)]
    scale: f64,
}

impl TypeRule for Softsign {
    fn infer<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Result<Type<'c>, RuleError> {
        let x = operand::tensor(&call, 0)?;
        if x.dtype != DType::F32 {
            let found = RuleError::new(format!("`demo.softsign` takes f32, found {}", x.dtype));
            return Err(found.with_help("cast it first"));
        }
        Ok(cx.tensor(x.shape, x.dtype, layout::same(cx, x), x.storage))
    }
}

impl AccessRule for Softsign {
    fn access<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Vec<AccessRelation<'c>> {
        vec![AccessRelation::elementwise(operand::shape(call.x()), 1)]
    }
}

impl EvalRule for Softsign {
    fn eval<'c>(call: OpCall<'c, Self>, operands: &mut [Value], _: &EvalCx<'_, 'c>) -> Result<Value, ValueError> {
        let x = operand::value::<Self>(operands, 0)?;
        let scale = Tensor::scalar_from_f64(call.scale(), DType::F32)?;
        // A clone shares elements; an operation writes in place where nobody else holds them.
        let sum = x.clone().unary(UnaryKind::Abs)?.binary(scale, BinaryKind::Add)?;
        x.clone().binary(sum, BinaryKind::Div).map(Value::from)
    }
}

/// Statements of TIR: `s = scale; v = |x|; v = v + s; v = x / v`.
fn lower<'c>(lowerer: &mut Lowerer<'_, 'c>, expr: Expr<'c>, view: OpView<'c>) -> Result<Expr<'c>> {
    let call = typed::<Softsign>(view);
    let x = lowerer.buffer(call.x())?;
    let (sum, out) = (lowerer.alloc_result(expr.ty(), "sum")?, lowerer.alloc_result(expr.ty(), "softsign")?);
    let cx = lowerer.cx;
    let scale = cx.constant(Literal::Float(call.scale()), DType::F32, Meta::default());
    lowerer.emit(Fill::new(cx), &[sum, scale]);
    lowerer.emit(Unary::new(cx, UnaryKind::Abs), &[x, out]);
    lowerer.emit(Binary::new(cx, BinaryKind::Add), &[sum, out, sum]);
    lowerer.emit(Binary::new(cx, BinaryKind::Div), &[x, sum, out]);
    Ok(out)
}

tf_plugin::tilefoundry_plugin!(register);

fn register(r: &mut Registrar<'_>) {
    r.dialects.op::<Softsign>().types().access().evaluates().done();
    r.lowering.add::<Softsign>(lower);
    r.patterns.add(pattern::SoftsignOfNegation);
    let doc = "Lowers for the CPU, with `demo.softsign` among the ops.";
    r.passes.pipeline("demo-cpu", doc, &[], |_| Ok("typeinfer,lower-tir{target=cpu}".to_owned()));
}
