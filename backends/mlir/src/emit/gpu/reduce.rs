//! `T.reduce`: within a thread, across the lanes of a warp, across the warps of a CTA.
use crate::emit::{
    V,
    gpu::{Buffer, KernelCx, kernel::dtype, memory::Place},
    table::EmitEffect,
};
use tf_core::{Diagnostic, Expr, Result, op::OpCall};
use tf_tir::{
    held::Held,
    tensor::plan::ReducePlan,
    tensor::reduce::{Reduce, accumulator},
};
use tf_types::{DType, TensorType, kinds::ReduceKind};

impl EmitEffect for Reduce {
    const WRITES: &'static [usize] = &[1];

    fn emit<'a, 'c>(call: OpCall<'c, Self>, cx: &mut KernelCx<'a, 'c>) -> Result<()> {
        let (src, dst) = (cx.buffer(call.src())?, cx.buffer(call.dst())?);
        let plan = ReducePlan::new(tensor(call.src())?, tensor(call.dst())?, call.axes()).map_err(Diagnostic::from)?;
        let (kind, dtype) = (call.kind(), dtype(call.src())?);
        let wide = accumulator(dtype);
        let values = cx.read(&src, &src.held)?;
        let mut terms: Vec<Vec<V<'a>>> = vec![vec![]; plan.cells];
        for (value, &cell) in values.into_iter().zip(&plan.cell_of) {
            terms[cell].push(cx.lifted(kind, dtype, value)?);
        }
        let mut cells = terms.into_iter().map(|terms| cx.fold(kind, wide, terms)).collect::<Result<Vec<_>>>()?;
        for &distance in &plan.shuffles {
            for cell in &mut cells {
                let other = cx.shuffle_xor(wide, *cell, distance)?;
                *cell = cx.builder.scalars().combine(kind, wide, *cell, other)?;
            }
        }
        if !plan.exchanged.is_empty() {
            let workspace = call
                .workspace()
                .ok_or_else(|| Diagnostic::error("`T.reduce` across warps needs a workspace in smem"))?;
            let workspace = cx.buffer(workspace)?;
            cells = cx.exchange(&plan, &src.held, kind, &workspace, &cells)?;
        }
        let scalars = cx.builder.scalars();
        let finish = |cell: &V<'a>| scalars.finish(kind, dtype, *cell, plan.count);
        let results = cells.iter().map(finish).collect::<Result<Vec<_>, _>>()?;
        let held = dst.held.clone();
        cx.write(&dst, &held, &results)
    }
}

fn tensor<'c>(operand: Expr<'c>) -> Result<&'c TensorType<'c>> {
    let found = operand.ty().as_tensor();
    found.ok_or_else(|| Diagnostic::error(format!("{} is no tensor", operand.describe())).at(operand.span()))
}

impl<'a, 'c> KernelCx<'a, 'c> {
    /// An element as a term of the reduction.
    fn lifted(&self, kind: ReduceKind, dtype: DType, value: V<'a>) -> Result<V<'a>> {
        let scalars = self.builder.scalars();
        match kind {
            // Its first step is not the identity: the magnitude.
            ReduceKind::AbsMax => {
                Ok(scalars.combine(kind, dtype, scalars.identity(kind, accumulator(dtype))?, value)?)
            }
            ReduceKind::Mean | ReduceKind::Sum | ReduceKind::Max => {
                Ok(scalars.cast(dtype, accumulator(dtype), value)?)
            }
        }
    }

    /// Combines terms as a balanced tree, which is short and rounds little.
    fn fold(&self, kind: ReduceKind, wide: DType, mut terms: Vec<V<'a>>) -> Result<V<'a>> {
        let scalars = self.builder.scalars();
        while terms.len() > 1 {
            let half = terms.len().div_ceil(2);
            for at in 0..terms.len() - half {
                terms[at] = scalars.combine(kind, wide, terms[at], terms[at + half])?;
            }
            terms.truncate(half);
        }
        match terms.first() {
            Some(&term) => Ok(term),
            None => Ok(scalars.identity(kind, wide)?),
        }
    }

    /// Every position writes its cells to the slot of its coordinates, and combines the slots that differ from its
    /// own along the exchanged mesh axes only.
    ///
    /// The workspace is [kept coordinates][exchanged coordinates][cell], so that what a position reads is contiguous.
    fn exchange(
        &mut self,
        plan: &ReducePlan,
        src: &Held<'c>,
        kind: ReduceKind,
        workspace: &Buffer<'a, 'c>,
        cells: &[V<'a>],
    ) -> Result<Vec<V<'a>>> {
        let Place::Memory { shared: Some(number), .. } = workspace.place else {
            return Err(Diagnostic::error("the workspace of `T.reduce` must be in smem"));
        };
        if self.depth > 0 || self.touched.contains(&number) {
            // Somebody may still read what the last use left there.
            self.barrier()?;
        }
        let (mine, read) = plan.slots_of(src);
        let flat = Buffer { held: mine.clone(), ..workspace.clone() };
        self.write(&flat, &mine, cells)?;
        self.barrier()?;
        let all = Buffer { held: read.clone(), ..workspace.clone() };
        let values = self.read(&all, &read)?;
        let mut results = Vec::with_capacity(cells.len());
        for cell in 0..plan.cells {
            let terms = values.iter().skip(cell).step_by(plan.cells).copied().collect();
            results.push(self.fold(kind, workspace.dtype, terms)?);
        }
        Ok(results)
    }
}
