//! Which positions a barrier may have (spec: tir §6).

use tf_core::Span;
use tf_types::{Mesh, MeshLayout};

use crate::parser::Parser;
use crate::refusal::{Refusal, Res};

const WARP: i64 = 32;
/// Positions that are looked at one by one; no CTA has more threads.
const MOST: i64 = 1 << 16;

/// The positions of a mesh of threads, sorted; none where they are symbolic or too many.
fn positions(mesh: Mesh<'_>) -> Option<Vec<i64>> {
    let offset = match mesh.layout {
        MeshLayout::Plain(_) => 0,
        MeshLayout::Sliced(composed) => composed.offset.as_const()?,
    };
    let mut found = vec![offset];
    for (extent, stride) in mesh.extents().iter().zip(mesh.strides()?) {
        let (extent, stride) = (extent.as_const()?, stride.as_const()?);
        if i64::try_from(found.len()).ok()?.checked_mul(extent)? > MOST {
            return None;
        }
        let steps = (0..extent).map(|at| at.checked_mul(stride)).collect::<Option<Vec<_>>>()?;
        found = found
            .iter()
            .flat_map(|&base| steps.iter().map(move |step| base.checked_add(*step)))
            .collect::<Option<_>>()?;
    }
    found.sort_unstable();
    Some(found)
}

impl<'c> Parser<'_, 'c> {
    /// All threads, a run inside one warp, or a run of whole warps.
    pub(crate) fn check_barrier(&self, mesh: Mesh<'c>, span: Span) -> Res<()> {
        if mesh.topologies.iter().any(|level| level.name.as_str() != "thread") {
            return Ok(());
        }
        let domain = mesh.topologies.iter().map(|level| level.size?.as_const()).collect::<Option<Vec<_>>>();
        let (Some(positions), Some(domain)) = (positions(mesh), domain) else { return Ok(()) };
        let domain = domain.iter().product::<i64>();
        let (Some(&base), Some(&last)) = (positions.first(), positions.last()) else { return Ok(()) };
        let count = positions.len() as i64;
        let is_run = last - base + 1 == count && positions.windows(2).all(|pair| pair[0] < pair[1]);
        let is_all = base == 0 && count == domain;
        let in_one_warp = base.div_euclid(WARP) == last.div_euclid(WARP);
        let is_whole_warps = base % WARP == 0 && count % WARP == 0;
        if is_run && (is_all || in_one_warp || is_whole_warps) {
            return Ok(());
        }
        let message = "the barrier cuts warps: its threads are neither a run inside one warp nor a run of whole warps";
        Err(Refusal::wrong(span, message).help(format!("a warp is {WARP} consecutive threads")))
    }
}
