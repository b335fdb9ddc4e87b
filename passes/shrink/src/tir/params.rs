//! Fewer parameters of TIR functions.

use std::ops::Range;

use tf_core::hidden::hidden_scalar;
use tf_core::node::PrimFunctionData;
use tf_core::walk::{for_each_new, stmt_exprs, walk_stmts};
use tf_core::{Context, Expr, NodeSet, PrimFunction, Result};

use super::PrimReduction;

/// Parameters that nothing uses are left out, of functions that nothing calls.
pub struct Params;

fn unused<'c>(function: PrimFunction<'c>) -> Vec<Expr<'c>> {
    let mut used = NodeSet::default();
    walk_stmts(function.body, |stmt| {
        let mut roots = Vec::new();
        stmt_exprs(stmt, |expr| roots.push(expr));
        for_each_new(&mut used, &roots, |_| ());
    });
    let params = function.data().params;
    // What a hidden extent is of stays with it.
    let extents: NodeSet<Expr<'c>> =
        params.iter().filter_map(|&param| hidden_scalar(params, param).map(|(of, _)| of)).collect();
    params.iter().copied().filter(|param| !used.contains(param) && !extents.contains(param)).collect()
}

impl PrimReduction for Params {
    fn name(&self) -> &'static str {
        "unused buffers"
    }

    fn places(&self, function: PrimFunction<'_>, is_free: bool) -> usize {
        if is_free { unused(function).len() } else { 0 }
    }

    fn apply<'c>(
        &self,
        cx: &Context<'c>,
        function: PrimFunction<'c>,
        _: bool,
        places: Range<usize>,
    ) -> Result<PrimFunction<'c>> {
        let gone: NodeSet<Expr<'c>> = unused(function)[places].iter().copied().collect();
        let (_, outputs) = function.inputs_and_outputs();
        let outputs = outputs.iter().filter(|output| !gone.contains(*output)).count();
        let params: Vec<_> = function.data().params.iter().copied().filter(|param| !gone.contains(param)).collect();
        let params = cx.alloc_slice(&params);
        Ok(cx.prim_function(PrimFunctionData { params, output_count: outputs, ..*function }))
    }
}
