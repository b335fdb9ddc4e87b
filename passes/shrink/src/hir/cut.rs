//! Values that become parameters.

use std::ops::Range;

use tf_core::node::FunctionData;
use tf_core::visit::{Cloning, Same, collect_exprs};
use tf_core::walk::{for_each_new, operands, schedule};
use tf_core::{Context, Expr, ExprKind, Meta, NodeSet, Result};
use tf_types::{Type, TypeKind, vars::DimVars};

use super::{FunctionReduction, Site, computed};

/// Values are taken out: what still uses them gets parameters in their place, and what only they used becomes a result, so that nothing
/// that is kept goes unseen. Taking out the last values keeps the beginning of a program, taking out the first ones its end.
pub struct Cut;

impl FunctionReduction for Cut {
    fn name(&self) -> &'static str {
        "cut"
    }

    fn places(&self, site: Site<'_>) -> usize {
        site.function.body.filter(|_| site.is_free).map_or(0, |body| computed(body).len())
    }

    fn apply<'c>(&self, cx: &Context<'c>, site: Site<'c>, places: Range<usize>) -> Result<Option<FunctionData<'c>>> {
        let Some(body) = site.function.body else { return Ok(None) };
        let values = computed(body);
        let cut: NodeSet<Expr<'c>> = values[places].iter().copied().collect();
        let mut roots: Vec<_> = results(body).into_iter().filter(|result| !cut.contains(result)).collect();
        let mut alive = NodeSet::default();
        let reach = |alive: &mut NodeSet<Expr<'c>>, root: Expr<'c>| {
            // What is cut is not looked into.
            let mut stack = vec![root];
            while let Some(value) = stack.pop() {
                if !cut.contains(&value) && alive.insert(value) {
                    operands(value, |operand| stack.push(operand));
                }
            }
        };
        roots.iter().for_each(|&root| reach(&mut alive, root));
        let outside_loops: NodeSet<Expr<'c>> = schedule(body).root.into_iter().collect();
        for &value in values.iter().rev() {
            let is_tensor = value.ty().as_tensor().is_some();
            if is_tensor && !cut.contains(&value) && !alive.contains(&value) && outside_loops.contains(&value) {
                roots.push(value);
                reach(&mut alive, value);
            }
        }
        if roots.is_empty() {
            // A parameter is the result.
            roots.extend(results(body).first());
        }
        let mut fresh = Fresh::new(cx, site);
        let mut clone = Cloning::new(cx);
        for &value in values.iter().filter(|value| cut.contains(value)) {
            let Some(stand_in) = fresh.value(value.ty()) else { return Ok(None) };
            clone.replace(value, stand_in);
        }
        let new: Vec<_> = roots.iter().map(|&root| clone.visit(&mut Same, root)).collect::<Result<_>>()?;
        Ok(Some(with_results(cx, site, &new, &fresh.made)))
    }
}

/// The results of a body.
pub(crate) fn results(body: Expr<'_>) -> Vec<Expr<'_>> {
    match body.kind {
        ExprKind::Tuple(fields) => fields.to_vec(),
        _ => vec![body],
    }
}

/// The function with these results; of `more` parameters those that are used are added, and of its own those that are not used any more go,
/// but for those that state a dim.
pub(crate) fn with_results<'c>(
    cx: &Context<'c>,
    site: Site<'c>,
    results: &[Expr<'c>],
    more: &[Expr<'c>],
) -> FunctionData<'c> {
    let body = match results {
        [one] => *one,
        many => {
            let types: Vec<_> = many.iter().map(|result| result.ty()).collect();
            cx.expr(ExprKind::Tuple(cx.alloc_slice(many)), cx.tuple(&types), Meta::default())
        }
    };
    let used: NodeSet<Expr<'c>> = collect_exprs(body).into_iter().collect();
    let was_used: NodeSet<Expr<'c>> = site.function.body.map(collect_exprs).unwrap_or_default().into_iter().collect();
    let states_a_dim = |param: Expr<'c>| {
        let mut vars = DimVars::default();
        vars.add_type(param.ty());
        !vars.as_slice().is_empty()
    };
    let stays = |param: &&Expr<'c>| used.contains(param) || !was_used.contains(param) || states_a_dim(**param);
    let own = site.function.data().params.iter().filter(stays);
    let params: Vec<_> = own.chain(more.iter().filter(|param| used.contains(param))).copied().collect();
    FunctionData { params: cx.alloc_slice(&params), body: Some(body), return_type: body.ty(), ..*site.function }
}

/// New parameters.
pub(crate) struct Fresh<'a, 'c> {
    cx: &'a Context<'c>,
    taken: NodeSetOfNames<'c>,
    next: usize,
    /// Those that were made.
    pub made: Vec<Expr<'c>>,
}

type NodeSetOfNames<'c> = rustc_hash::FxHashSet<tf_types::Symbol<'c>>;

impl<'a, 'c> Fresh<'a, 'c> {
    pub fn new(cx: &'a Context<'c>, site: Site<'c>) -> Self {
        let mut taken = NodeSetOfNames::default();
        let mut roots: Vec<_> = site.function.params.to_vec();
        roots.extend(site.function.body);
        for_each_new(&mut NodeSet::default(), &roots, |value| taken.extend(value.var_name()));
        Self { cx, taken, next: 0, made: Vec::new() }
    }

    /// A parameter of that type, a tuple of them for a tuple; `None` for what no parameter can be.
    pub fn value(&mut self, ty: Type<'c>) -> Option<Expr<'c>> {
        match *ty.data() {
            TypeKind::Tensor(_) => {
                let name = loop {
                    let name = self.cx.symbol(&format!("v{}", self.next));
                    self.next += 1;
                    if self.taken.insert(name) {
                        break name;
                    }
                };
                let param = self.cx.var(name, self.cx.signature_type(ty), Meta::default());
                self.made.push(param);
                Some(param)
            }
            TypeKind::Tuple(fields) => {
                let fields: Vec<_> = fields.iter().map(|&field| self.value(field)).collect::<Option<_>>()?;
                let types: Vec<_> = fields.iter().map(|field| field.ty()).collect();
                let kind = ExprKind::Tuple(self.cx.alloc_slice(&fields));
                Some(self.cx.expr(kind, self.cx.tuple(&types), Meta::default()))
            }
            TypeKind::Unit | TypeKind::Callable { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Cut;
    use crate::hir::on;
    use crate::testing::{check, reduced};

    const CHAIN: &str = r#"module @m {
  hir.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = tf.unary %x {kind = "exp"} : (tensor<4xf32>) -> tensor<4xf32>
    %1 = tf.unary %0 {kind = "abs"} : (tensor<4xf32>) -> tensor<4xf32>
    %2 = tf.binary %1, %0 {kind = "add"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    hir.return %2
  }
}"#;

    #[test]
    fn the_last_values_go_and_what_they_used_becomes_the_result() {
        let after = r#"module @m {
  hir.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = tf.unary %x {kind = "exp"} : (tensor<4xf32>) -> tensor<4xf32>
    %1 = tf.unary %0 {kind = "abs"} : (tensor<4xf32>) -> tensor<4xf32>
    hir.return %1
  }
}"#;
        check(&*on(Cut), CHAIN, 2..3, 3, after);
    }

    #[test]
    fn the_first_values_go_and_become_parameters() {
        let after = r#"module @m {
  hir.func @f(%v0: tensor<4xf32>, %v1: tensor<4xf32>) -> tensor<4xf32> {
    %0 = tf.binary %v1, %v0 {kind = "add"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    hir.return %0
  }
}"#;
        check(&*on(Cut), CHAIN, 0..2, 3, after);
    }

    #[test]
    fn where_all_go_a_parameter_is_the_result() {
        let after = "module @m { hir.func @f(%v2: tensor<4xf32>) -> tensor<4xf32> { hir.return %v2 } }";
        check(&*on(Cut), CHAIN, 0..3, 3, after);
    }

    #[test]
    fn a_tuple_becomes_a_tuple_of_parameters() {
        let before = r#"module @m {
  hir.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %0 = tf.split %x {axis = 1, num_splits = 1} : (tensor<4x8xf32>) -> tuple<tensor<4x8xf32>>
    %1 = tf.tuple_get_item %0 {index = 0} : (tuple<tensor<4x8xf32>>) -> tensor<4x8xf32>
    %2 = tf.unary %1 {kind = "exp"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    hir.return %2
  }
}"#;
        let (count, after) = reduced(&*on(Cut), before, 0..1);
        let after = after.expect("it is cut");
        assert_eq!(count, 3);
        assert!(after.contains("@f(%v0: tensor<4x8xf32>)") && after.contains("tuple %v0"), "{after}");
    }

    #[test]
    fn a_function_that_is_called_keeps_its_parameters() {
        let before = r#"module @m {
  hir.func @g(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = tf.unary %x {kind = "exp"} : (tensor<4xf32>) -> tensor<4xf32>
    hir.return %0
  }
  hir.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = call @g(%x) : (tensor<4xf32>) -> tensor<4xf32>
    hir.return %0
  }
}"#;
        // The one place is the call.
        let (count, after) = reduced(&*on(Cut), before, 0..1);
        assert_eq!(count, 1);
        assert!(!after.expect("it is cut").contains("call"));
    }
}
