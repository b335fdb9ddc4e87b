//! `inline`: bodies in place of calls.

use rustc_hash::FxHashMap;
use tf_core::node::FunctionData;
use tf_core::special::with_callees;
use tf_core::visit::{BindingSubstitutionCloner, Cloning, ExprCloner, clone_expr, collect_exprs};
use tf_core::{AnyFunction, Callee, Context, Expr, ExprKind, Function, Module, Result};
use tf_framework::{Counter, FunctionCx, FunctionPass, OptionError, Pass, RemarkKind};

/// Puts the bodies of called functions in the place of their calls, callees first; each call has a copy of its own.
///
/// Left alone are calls of dispatch prototypes, calls that leave out constants (those of a child module), callees of another module
/// with such a call in what they do, and callees that are larger than `most` with what was inlined into them. `symbol-dce` removes
/// what is not called any more.
#[derive(Clone, Pass)]
#[pass(name = "inline")]
pub struct Inline {
    /// The most values that an inlined body has.
    #[option]
    #[default("10000")]
    most: i64,
    #[statistic("calls inlined")]
    inlined: Counter,
}

/// Bodies with everything inlined, of those that may be.
type Bodies<'c> = FxHashMap<Function<'c>, Expr<'c>>;

struct Insert<'a, 'c> {
    pass: &'a Inline,
    cx: &'a FunctionCx<'a, 'c>,
    bodies: &'a Bodies<'c>,
    /// Whether this is the function that changes: calls are counted there.
    counts: bool,
}

impl<'c> ExprCloner<'c> for Insert<'_, 'c> {
    fn clone_call(&mut self, call: Expr<'c>, clone: &mut Cloning<'_, 'c>) -> Result<Expr<'c>> {
        let rebuilt = clone.rebuild(call)?;
        let ExprKind::Call { callee: Callee::Function(callee), args } = rebuilt.kind else { return Ok(rebuilt) };
        let Some(&body) = self.bodies.get(&callee) else { return Ok(rebuilt) };
        let params = callee.data().params;
        let fits = params.len() == args.len()
            && params.iter().zip(args).all(|(param, arg)| param.ty() == arg.ty())
            && body.ty() == rebuilt.ty();
        if !fits {
            self.cx.remark(RemarkKind::Missed, call.span(), || match leaves_out_constants(rebuilt) {
                true => format!("the constants of `{}` are its module's", callee.name),
                false => format!("`{}` is called with other types", callee.name),
            });
            return Ok(rebuilt);
        }
        if self.counts {
            self.pass.inlined.add(1);
            self.cx.remark(RemarkKind::Applied, call.span(), || format!("`{}` is inlined", callee.name));
        }
        let environment = params.iter().copied().zip(args.iter().copied());
        BindingSubstitutionCloner::new(clone.cx, environment).copy(body)
    }
}

/// Whether it is a call of a child module's function, which has the constants itself.
fn leaves_out_constants(expr: Expr<'_>) -> bool {
    matches!(expr.kind, ExprKind::Call { callee: Callee::Function(callee), args } if args.len() < callee.data().params.len())
}

fn is_member<'c>(module: Module<'c>, function: Function<'c>) -> bool {
    module.all_functions().any(|member| member == AnyFunction::Hir(function))
}

impl Inline {
    fn inlined<'c>(
        &self,
        cx: &FunctionCx<'_, 'c>,
        bodies: &Bodies<'c>,
        body: Expr<'c>,
        counts: bool,
    ) -> Result<Expr<'c>> {
        let context: &Context<'c> = cx.context();
        clone_expr(context, body, &mut Insert { pass: self, cx, bodies, counts })
    }
}

impl FunctionPass for Inline {
    fn check(&self) -> std::result::Result<(), OptionError> {
        if self.most >= 0 {
            return Ok(());
        }
        let message = format!("expected a number of values from 0, found {}", self.most);
        Err(OptionError { option: "most", message, help: None, missing: false })
    }

    fn run<'c>(&self, function: Function<'c>, cx: &FunctionCx<'_, 'c>) -> Result<Function<'c>> {
        let Some(old) = function.body else { return Ok(function) };
        let mut bodies = Bodies::default();
        for callee in with_callees(&[function]) {
            let Some(body) = callee.body.filter(|_| callee != function && callee.variants.is_empty()) else { continue };
            let whole = self.inlined(cx, &bodies, body, false)?;
            let values = collect_exprs(whole);
            if values.len() as i64 > self.most {
                continue;
            }
            // Which constants a call leaves out is known in the module of the call.
            if values.iter().any(|&value| leaves_out_constants(value)) && !is_member(cx.module, callee) {
                cx.remark(RemarkKind::Missed, callee.span, || {
                    format!("`{}` is of another module and calls a child of its own", callee.name)
                });
                continue;
            }
            bodies.insert(callee, whole);
        }
        if bodies.is_empty() {
            return Ok(function);
        }
        let body = self.inlined(cx, &bodies, old, true)?;
        Ok(if body == old { function } else { cx.function(FunctionData { body: Some(body), ..*function }) })
    }
}
