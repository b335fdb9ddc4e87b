//! Fewer parameters.

use std::ops::Range;

use tf_core::node::FunctionData;
use tf_core::visit::{Cloning, Same, collect_exprs};
use tf_core::{Context, Expr, ExprKind, NodeSet, Result};

use super::{FunctionReduction, Site};

fn parameters<'c>(site: Site<'c>) -> &'c [Expr<'c>] {
    if site.is_free && site.function.body.is_some() { site.function.data().params } else { &[] }
}

/// Parameters that nothing uses are left out.
pub struct Unused;

fn unused<'c>(site: Site<'c>) -> Vec<Expr<'c>> {
    let used: NodeSet<Expr<'c>> = site.function.body.map(collect_exprs).unwrap_or_default().into_iter().collect();
    parameters(site).iter().copied().filter(|param| !used.contains(param)).collect()
}

impl FunctionReduction for Unused {
    fn name(&self) -> &'static str {
        "unused parameters"
    }

    fn places(&self, site: Site<'_>) -> usize {
        unused(site).len()
    }

    fn apply<'c>(&self, cx: &Context<'c>, site: Site<'c>, places: Range<usize>) -> Result<Option<FunctionData<'c>>> {
        let gone: NodeSet<Expr<'c>> = unused(site)[places].iter().copied().collect();
        let params: Vec<_> = parameters(site).iter().copied().filter(|param| !gone.contains(param)).collect();
        Ok(Some(FunctionData { params: cx.alloc_slice(&params), ..*site.function }))
    }
}

/// A parameter takes the place of a later one of its type; a weight becomes an ordinary parameter.
pub struct Merged;

fn is_twin<'c>(one: Expr<'c>, other: Expr<'c>) -> bool {
    one.ty() == other.ty()
}

/// Parameters that can go, with what stands in for them; `None`: an ordinary parameter of that name.
fn mergeable<'c>(site: Site<'c>) -> Vec<(Expr<'c>, Option<Expr<'c>>)> {
    let params = parameters(site);
    let twins = params.iter().enumerate().filter_map(|(at, &param)| {
        let twin = params[..at].iter().copied().find(|&earlier| is_twin(earlier, param));
        (twin.is_some() || param.is_const_param()).then_some((param, twin))
    });
    twins.collect()
}

impl FunctionReduction for Merged {
    fn name(&self) -> &'static str {
        "alike parameters"
    }

    fn places(&self, site: Site<'_>) -> usize {
        mergeable(site).len()
    }

    fn apply<'c>(&self, cx: &Context<'c>, site: Site<'c>, places: Range<usize>) -> Result<Option<FunctionData<'c>>> {
        let Some(body) = site.function.body else { return Ok(None) };
        let mut clone = Cloning::new(cx);
        let mut params = parameters(site).to_vec();
        for (param, twin) in &mergeable(site)[places] {
            let Some(at) = params.iter().position(|other| other == param) else { continue };
            let stand_in = match (*twin, param.kind) {
                (Some(twin), _) => {
                    params.remove(at);
                    clone.get(twin)
                }
                (None, ExprKind::Var { name, .. }) => {
                    let ordinary = cx.var(name, param.ty(), param.meta);
                    params[at] = ordinary;
                    ordinary
                }
                (None, _) => continue,
            };
            clone.replace(*param, stand_in);
        }
        let body = clone.visit(&mut Same, body)?;
        let params = cx.alloc_slice(&params);
        Ok(Some(FunctionData { params, body: Some(body), return_type: body.ty(), ..*site.function }))
    }
}

#[cfg(test)]
mod tests {
    use super::{Merged, Unused};
    use crate::hir::on;
    use crate::testing::{check, reduced};

    #[test]
    fn unused_parameters_go() {
        let before = "module @m { hir.func @f(%x: f32, %y: f32, %z: f32) -> f32 { hir.return %y } }";
        let after = "module @m { hir.func @f(%x: f32, %y: f32) -> f32 { hir.return %y } }";
        check(&*on(Unused), before, 1..2, 2, after);
    }

    #[test]
    fn alike_parameters_become_one_and_weights_ordinary() {
        let before = r#"module @m { hir.func @f(%x: f32, %y: f32, %w: const i64) -> tuple<f32, i64> {
  %0 = tf.binary %x, %y {kind = "add"} : (f32, f32) -> f32
  %1 = tuple %0, %w : tuple<f32, i64>
  hir.return %1 } }"#;
        let after = r#"module @m { hir.func @f(%x: f32, %w: i64) -> tuple<f32, i64> {
  %0 = tf.binary %x, %x {kind = "add"} : (f32, f32) -> f32
  %1 = tuple %0, %w : tuple<f32, i64>
  hir.return %1 } }"#;
        check(&*on(Merged), before, 0..2, 2, after);
        let prototype = "module @m { hir.func @f(%x: f32, %y: f32) -> f32 { hir.return %y }
  hir.func @g(%x: f32) -> f32 { %0 = call @f(%x, %x) : (f32, f32) -> f32  hir.return %0 } }";
        assert_eq!(reduced(&*on(Merged), prototype, 0..1).0, 0);
    }
}
