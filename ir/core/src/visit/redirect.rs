//! Calls that follow functions which were replaced.

use crate::node::{Callee, Expr, ExprKind, Function, FunctionData};
use crate::visit::{Cloning, ExprCloner, clone_expr};
use crate::{Context, Result};

struct Redirect<'a, 'c>(&'a dyn Fn(Function<'c>) -> Option<Function<'c>>);

impl<'c> ExprCloner<'c> for Redirect<'_, 'c> {
    fn clone_call(&mut self, call: Expr<'c>, clone: &mut Cloning<'_, 'c>) -> Result<Expr<'c>> {
        let rebuilt = clone.rebuild(call)?;
        let ExprKind::Call { callee: Callee::Function(old), args } = rebuilt.kind else { return Ok(rebuilt) };
        let Some(new) = (self.0)(old) else { return Ok(rebuilt) };
        Ok(clone.cx.expr(ExprKind::Call { callee: Callee::Function(new), args }, rebuilt.ty(), rebuilt.meta))
    }
}

impl<'c> Redirect<'_, 'c> {
    fn body(&mut self, cx: &Context<'c>, function: Function<'c>) -> Result<FunctionData<'c>> {
        let body = function.body.map(|body| clone_expr(cx, body, self)).transpose()?;
        Ok(FunctionData { body, ..*function })
    }
}

/// The data of a function whose calls, those in its variants and converters too, go to what `target` names for
/// their callees; `None` from `target` leaves a call alone. Ask [`Function::callees`] whether there is anything to do.
///
/// # Errors
/// What type inference refuses.
pub fn redirect_calls<'c>(
    cx: &Context<'c>,
    function: Function<'c>,
    target: &dyn Fn(Function<'c>) -> Option<Function<'c>>,
) -> Result<FunctionData<'c>> {
    let mut redirect = Redirect(target);
    let mut data = redirect.body(cx, function)?;
    let mut variants = function.variants.to_vec();
    for variant in &mut variants {
        *variant = cx.function(redirect.body(cx, *variant)?);
    }
    let mut converters = function.converters.to_vec();
    for converter in &mut converters {
        converter.function = cx.function(redirect.body(cx, converter.function)?);
    }
    (data.variants, data.converters) = (cx.alloc_slice(&variants), cx.alloc_slice(&converters));
    Ok(data)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tf_types::{Arena, DType};

    use super::redirect_calls;
    use crate::node::{Callee, DimVarRangePat, ExprKind, FunctionData, Meta};
    use crate::op::OpRegistryBuilder;
    use crate::{Context, Function};

    #[test]
    fn calls_in_variants_follow_too() {
        let arena = Arena::new();
        let cx = &Context::new(&arena, Arc::new(OpRegistryBuilder::default().freeze().expect("empty registry")));
        let ty = cx.scalar(DType::F32);
        let params = cx.alloc_slice(&[cx.var(cx.symbol("x"), ty, Meta::default())]);
        let function = |name: &str, body| FunctionData::new(cx.symbol(name), params, body, ty);
        let (old, new) = (cx.function(function("g", params[0])), cx.function(function("g", params[0])));
        let call = cx.expr(ExprKind::Call { callee: Callee::Function(old), args: params }, ty, Meta::default());
        let range = DimVarRangePat::new(cx.symbol("S"), 1, 5).expect("a range");
        let variant = FunctionData { specializations: cx.alloc_slice(&[range]), ..function("f", call) };
        let base = FunctionData { variants: cx.alloc_slice(&[cx.function(variant)]), ..function("f", params[0]) };
        let base = cx.function(FunctionData { body: None, ..base });
        assert_eq!(base.callees(), [old]);
        let redirected: Function<'_> =
            cx.function(redirect_calls(cx, base, &|callee| (callee == old).then_some(new)).expect("well typed"));
        assert_eq!(redirected.callees(), [new]);
        assert_eq!(redirected.variants[0].specializations, [range]);
    }
}
