//! The rules of single nodes that no op's type rule has.

use tf_core::node::GridRegion;
use tf_core::op::OpView;
use tf_core::{Callee, Context, Diagnostic, Expr, ExprKind, Function, Literal, Result};
use tf_types::{DType, Fit, Type};

use crate::agree::declared;

/// Compares the type of a node other than a loop or a call of a function with what its operands give.
pub fn node<'c>(expr: Expr<'c>, cx: &Context<'c>) -> Result<()> {
    let inferred = match expr.kind {
        ExprKind::Constant(literal) => return self::literal(expr, literal),
        ExprKind::Tuple(elements) => {
            let types: Vec<_> = elements.iter().map(|e| e.ty()).collect();
            cx.tuple(&types)
        }
        ExprKind::Call { callee: Callee::Op(op), args } => {
            cx.infer(OpView { op, args }, expr.span()).map_err(|error| error.at(expr.span()))?
        }
        _ => return Ok(()),
    };
    written(expr, inferred)
}

/// The type that stands there is the one it has.
pub fn written<'c>(expr: Expr<'c>, ty: Type<'c>) -> Result<()> {
    if ty == expr.ty() {
        return Ok(());
    }
    let message = format!("{} is written with type {}, but has type {ty}", expr.describe(), expr.ty());
    Err(Diagnostic::error(message).at(expr.span()))
}

fn literal(expr: Expr<'_>, literal: Literal) -> Result<()> {
    let fits = expr.ty().as_tensor().is_some_and(|t| {
        t.rank() == 0
            && match literal {
                Literal::Bool(_) => t.dtype == DType::Bool,
                Literal::Int(_) => t.dtype.is_integer(),
                Literal::Float(_) => t.dtype.is_float(),
            }
    });
    if fits {
        return Ok(());
    }
    Err(Diagnostic::error(format!("the literal {literal} cannot have type {}", expr.ty())).at(expr.span()))
}

/// A call of a function has the type that the function declares, or that of its value.
pub fn result<'c>(call: Expr<'c>, callee: Function<'c>) -> Result<()> {
    let (ty, returns) = (call.ty(), callee.return_type);
    if ty == returns || callee.body.is_some_and(|body| body.ty() == ty) {
        return Ok(());
    }
    let what = declared(returns, ty).err().unwrap_or("layout");
    let message =
        format!("the call is written with type {ty}, but `{}` returns {returns}: the {what} differs", callee.name);
    Err(Diagnostic::error(message).at(call.span()))
}

/// The value of a function is what it declares.
pub fn returned<'c>(function: Function<'c>, value: Expr<'c>) -> Result<()> {
    let (name, returns, found) = (function.name, function.return_type, value.ty());
    let Err(what) = declared(returns, found) else { return Ok(()) };
    let message = format!("`{name}` is declared to return {returns}, but its body is {found}: the {what} differs");
    Err(Diagnostic::error(message).at(value.span().or(function.span)))
}

/// The form of a loop.
pub fn form<'c>(grid: Expr<'c>, region: &GridRegion<'c>) -> Result<()> {
    let (carries, inits, yields) = (region.carries.len(), region.inits.len(), region.yields.len());
    let message = if carries != inits || carries != yields {
        format!("a loop with {carries} carries has {inits} initial values and {yields} yields")
    } else if (carries == 0) != region.body.is_some() {
        "a loop has either carries or a body value".to_owned()
    } else if region.induction.ty().as_tensor().is_none_or(|t| t.rank() != 0 || t.dtype != DType::I64) {
        format!("the induction variable is {}, not a rank-0 i64", region.induction.ty())
    } else {
        return Ok(());
    };
    Err(Diagnostic::error(message).at(grid.span()))
}

/// Every phi agrees with its yield and its initial value.
pub fn carries<'c>(grid: Expr<'c>, region: &GridRegion<'c>, report: &mut impl FnMut(Diagnostic)) {
    for ((carry, value), init) in region.carries.iter().zip(region.yields).zip(region.inits) {
        let mut refuse = |what: &str, other: Expr<'c>| {
            let message = format!("the loop carries {} as {}, but {what} {}", carry.describe(), carry.ty(), other.ty());
            report(Diagnostic::error(message).at(other.span().or(grid.span())));
        };
        if !carry.ty().carries(value.ty()) {
            refuse("yields", *value);
        } else if init.ty().fit(carry.ty()) == Fit::Differs {
            // A carry that took its yield's layout differs from its initial value in that.
            refuse("starts with", *init);
        }
    }
}
