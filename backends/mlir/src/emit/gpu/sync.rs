//! `T.sync`: barriers of the CTA, of a warp, of lanes, of warps.
use crate::emit::{
    build::{body, operation},
    gpu::{KernelCx, index::Index},
    table::EmitEffect,
};
use melior::ir::{Block, BlockLike, attribute::DenseI32ArrayAttribute};
use tf_core::{Diagnostic, Result, op::OpCall};
use tf_tir::{
    mesh::positions::Positions,
    sync::barrier::Sync,
    sync::participants::{Barrier, WARP},
};

impl EmitEffect for Sync {
    const WRITES: &'static [usize] = &[];

    fn emit<'a, 'c>(call: OpCall<'c, Self>, cx: &mut KernelCx<'a, 'c>) -> Result<()> {
        let threads = match Barrier::of(call.mesh()).map_err(Diagnostic::from)? {
            Barrier::Grid => {
                return Err(Diagnostic::error("`T.sync` of all CTAs is not built yet")
                    .with_help("end the kernel there and launch another"));
            }
            Barrier::Named { base, count } => {
                let id = cx.barriers.draw().map_err(Diagnostic::from)?;
                return cx.guarded(base..base + count, |cx| cx.named_barrier(id, count));
            }
            barrier @ Barrier::MaskedWarp { base, count } => {
                let mask = barrier.mask().unwrap_or_default();
                return cx.guarded(base..base + count, |cx| cx.warp_barrier(mask));
            }
            Barrier::Warp => WARP,
            Barrier::Block => {
                let positions = Positions::of(call.mesh()).map_err(Diagnostic::from)?;
                positions.axes.iter().filter(|axis| axis.in_cta).map(|axis| axis.extent).product()
            }
        };
        let block = cx.prologue.geometry().total(true);
        if threads != block {
            let message = format!("`T.sync` of all {threads} threads of a mesh, but the CTA has {block}");
            return Err(Diagnostic::error(message).with_help("launch as many threads as the mesh has"));
        }
        if threads == WARP { cx.whole_warp_barrier() } else { cx.barrier() }
    }
}

impl<'a> KernelCx<'a, '_> {
    /// Threads outside of the range pass by.
    fn guarded(&mut self, threads: std::ops::Range<i64>, f: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let outer = self.builder;
        let id = Index::of(self.prologue.thread()?, 1);
        let moved = outer.add_index(id, Index::constant(-threads.start))?;
        let (moved, count) =
            (outer.materialize(moved)?, outer.integer(outer.index_type(), threads.end - threads.start)?);
        // Unsigned: a thread before the range is beyond every end.
        let inside = outer.scalars().compare_int("ult", moved, count)?;
        let otherwise = Block::new(&[]);
        otherwise.append_operation(operation(outer.location, outer.context(), "scf.yield", &[], &[], &[], vec![])?);
        let operation = outer.region_op("scf.if", &[inside], &[], &[], vec![Block::new(&[]), otherwise])?;
        self.builder.block = body(operation)?;
        let result = f(self).and_then(|()| self.builder.op("scf.yield", &[], &[], &[]).map(drop));
        self.builder = outer;
        result
    }

    fn named_barrier(&mut self, id: u8, threads: i64) -> Result<()> {
        let builder = self.builder;
        let operands = [i64::from(id), threads].map(|value| builder.integer(builder.int_type(32), value));
        let [id, threads] = operands;
        // Id, number of threads, no predicate of a reduction.
        let segments = DenseI32ArrayAttribute::new(builder.context(), &[1, 1, 0]).into();
        builder.op("nvvm.barrier", &[id?, threads?], &[], &[("operandSegmentSizes", segments)])?;
        Ok(())
    }

    fn warp_barrier(&mut self, mask: u32) -> Result<()> {
        let mask = self.builder.integer(self.builder.int_type(32), i64::from(mask.cast_signed()))?;
        self.builder.op("nvvm.bar.warp.sync", &[mask], &[], &[])?;
        Ok(())
    }

    /// All threads of the CTA are one warp.
    fn whole_warp_barrier(&mut self) -> Result<()> {
        self.warp_barrier(u32::MAX)?;
        self.touched.clear();
        Ok(())
    }
}
