//! Attributes that have their defaults, and functions without what means nothing.

use std::ops::Range;

use tf_core::node::{FunctionData, GridRegion};
use tf_core::op::decl::ParamKind;
use tf_core::op::{Attr, OpInstance};
use tf_core::visit::{Cloning, ExprCloner, function_values};
use tf_core::{Callee, Context, Expr, ExprKind, Meta, NodeMap, Result};

use super::{FunctionReduction, Site, computed, on};
use crate::Reduction;
use crate::reduction::Share;

pub(super) fn reductions() -> Vec<Box<dyn Reduction>> {
    vec![on(Defaults), on(Remarks)]
}

/// Attributes of ops get their defaults.
struct Defaults;

/// The attributes of an op that have another value than their default, with that.
fn changed<'c>(op: OpInstance<'c>) -> Vec<(usize, Attr<'c>)> {
    let of = op.decl.attributes().zip(op.attrs()).enumerate();
    let changed = of.filter_map(|(at, (param, &attr))| {
        match param.kind {
            ParamKind::Attribute { default: Some(default), .. } => Some((at, default.to_attr())),
            ParamKind::Attribute { optional: true, .. } => Some((at, Attr::None)),
            _ => None,
        }
        .filter(|(_, default)| *default != attr)
    });
    changed.collect()
}

struct Set<'c>(NodeMap<Expr<'c>, OpInstance<'c>>);

impl<'c> ExprCloner<'c> for Set<'c> {
    fn clone_call(&mut self, call: Expr<'c>, clone: &mut Cloning<'_, 'c>) -> Result<Expr<'c>> {
        let Some(&op) = self.0.get(&call) else { return clone.rebuild(call) };
        let ExprKind::Call { callee: Callee::Op(_), args } = call.kind else { return clone.rebuild(call) };
        let args: Vec<_> = args.iter().map(|&arg| clone.get(arg)).collect();
        clone.cx.call(op, &args, call.meta)
    }
}

impl FunctionReduction for Defaults {
    fn name(&self) -> &'static str {
        "attributes"
    }

    fn places(&self, site: Site<'_>) -> usize {
        let calls = site.function.body.map(computed).unwrap_or_default();
        calls.into_iter().filter_map(Expr::op_call).map(|call| changed(call.op).len()).sum()
    }

    fn apply<'c>(&self, cx: &Context<'c>, site: Site<'c>, places: Range<usize>) -> Result<Option<FunctionData<'c>>> {
        let Some(body) = site.function.body else { return Ok(None) };
        let mut share = Share::new(places);
        let mut new = NodeMap::default();
        for value in computed(body) {
            let Some(call) = value.op_call() else { continue };
            let changed = changed(call.op);
            let own = share.next(changed.len());
            if !own.is_empty() {
                let mut attrs = call.op.attrs().to_vec();
                changed[own].iter().for_each(|&(at, default)| attrs[at] = default);
                new.insert(value, cx.op_instance(call.op.id, &attrs));
            }
        }
        let body = Cloning::new(cx).visit(&mut Set(new), body)?;
        let return_type = if site.is_free { body.ty() } else { site.function.return_type };
        Ok(Some(FunctionData { body: Some(body), return_type, ..*site.function }))
    }
}

/// Docstrings, labels, names of values, constraints and origins go.
struct Remarks;

fn silent<'c>(cx: &Context<'c>, var: Expr<'c>) -> Expr<'c> {
    cx.expr(var.kind, var.ty(), Meta::at(var.span()))
}

impl FunctionReduction for Remarks {
    fn name(&self) -> &'static str {
        "names and docstrings"
    }

    fn places(&self, site: Site<'_>) -> usize {
        let function = site.function;
        let says = |value: Expr<'_>| value.meta.name.is_some() || value.meta.constraint.is_some();
        let values = function_values(function);
        let said = function.doc.is_some() || (site.is_free && (function.label.is_some() || function.origin.is_some()));
        usize::from(said || values.into_iter().any(says))
    }

    fn apply<'c>(&self, cx: &Context<'c>, site: Site<'c>, _: Range<usize>) -> Result<Option<FunctionData<'c>>> {
        struct Silent;
        impl<'c> ExprCloner<'c> for Silent {
            fn bind(&mut self, region: &GridRegion<'c>, clone: &mut Cloning<'_, 'c>) -> Result<()> {
                for binder in region.binders() {
                    clone.replace(binder, silent(clone.cx, binder));
                }
                Ok(())
            }
            fn clone_var(&mut self, var: Expr<'c>, _: &mut Cloning<'_, 'c>) -> Result<Expr<'c>> {
                Ok(var)
            }
            fn default_clone(&mut self, expr: Expr<'c>, clone: &mut Cloning<'_, 'c>) -> Result<Expr<'c>> {
                let new = clone.rebuild(expr)?;
                Ok(clone.cx.expr(new.kind, new.ty(), Meta::at(new.span())))
            }
        }
        let mut data = FunctionData { doc: None, ..*site.function };
        if site.is_free {
            (data.label, data.origin) = (None, None);
        }
        let mut clone = Cloning::new(cx);
        let mut params = site.function.params.to_vec();
        for param in &mut params {
            let new = silent(cx, *param);
            clone.replace(std::mem::replace(param, new), new);
        }
        data.params = cx.alloc_slice(&params);
        data.body = site.function.body.map(|body| clone.visit(&mut Silent, body)).transpose()?;
        Ok(Some(data))
    }
}

#[cfg(test)]
mod tests {
    use super::{Defaults, Remarks};
    use crate::hir::on;
    use crate::testing::{check, reduced};

    #[test]
    fn attributes_get_their_defaults() {
        let before = r#"module @m { hir.func @f(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %0 = tf.reduce %x {axes = [1], keepdim = false, kind = "max"} : (tensor<4x8xf32>) -> tensor<4xf32>
  hir.return %0 } }"#;
        let (count, after) = reduced(&*on(Defaults), before, 0..2);
        assert_eq!(count, 2);
        let after = after.expect("it is reduced");
        assert!(
            !after.contains("keepdim") && !after.contains("max") && after.contains("-> tensor<4x1xf32>"),
            "{after}"
        );
    }

    #[test]
    fn names_go() {
        let before = r#"module @m { hir.func @f(%x: f32) -> f32 {
  %sum = tf.binary %x, %x {kind = "add"} : (f32, f32) -> f32
  hir.return %sum } }"#;
        check(&*on(Remarks), before, 0..1, 1, &before.replace("%sum", "%0"));
        assert_eq!(reduced(&*on(Remarks), &before.replace("%sum", "%0"), 0..0).0, 0);
    }
}
