//! Loop nests.
use crate::emit::{
    build::{V, argument},
    scalar::{Scalars, first_block, single_block},
};
use melior::ir::Type;
use tf_core::Result;

/// A loop `from, from + step, …` below `to`; the builder inside it and the induction variable.
pub(super) fn open<'a>(s: &Scalars<'a, 'a>, from: V<'a>, to: V<'a>, step: V<'a>) -> Result<(Scalars<'a, 'a>, V<'a>)> {
    let body = single_block(&[Type::index(s.session.context())], s.location);
    let operation = s.append("scf.for", &[from, to, step], &[], &[], vec![body])?;
    let block = first_block(operation)?;
    Ok((s.at(block), argument(block, 0)?))
}

/// Ends the body of a loop.
pub(super) fn close(inside: &Scalars<'_, '_>) -> Result<()> {
    inside.append("scf.yield", &[], &[], &[], Vec::new())?;
    Ok(())
}

/// Runs `body` for every index of `shape`, the last axis fastest.
pub(super) fn each<'a>(
    s: &Scalars<'a, 'a>,
    shape: &[i64],
    body: impl FnOnce(&Scalars<'a, 'a>, &[V<'a>]) -> Result<()>,
) -> Result<()> {
    let (mut inside, mut loops, mut indices) = (*s, Vec::new(), Vec::new());
    for &extent in shape {
        if extent == 1 {
            indices.push(inside.index(0)?);
            continue;
        }
        let (from, to, step) = (inside.index(0)?, inside.index(extent)?, inside.index(1)?);
        let (deeper, index) = open(&inside, from, to, step)?;
        inside = deeper;
        loops.push(inside);
        indices.push(index);
    }
    body(&inside, &indices)?;
    loops.iter().rev().try_for_each(close)
}
