//! Who takes part in a barrier, and which barrier that is.

use tf_core::Context;
use tf_types::layout::static_product;
use tf_types::{Mesh, MeshKey, MeshLayout, Topology, TypeError};

/// Threads of a warp.
pub const WARP: i64 = 32;
/// Named barriers of a CTA besides that of all its threads.
pub const NAMED_BARRIERS: u8 = 15;
/// Positions that are looked at one by one; no CTA has more threads.
const MOST: i64 = 1 << 16;

/// A barrier, by the positions that arrive at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Barrier {
    /// All CTAs of the grid; right only if all of them are resident at once.
    Grid,
    /// The one warp of the CTA.
    Warp,
    /// All threads of the CTA.
    Block,
    /// Threads `base..base + count`, all of one warp.
    MaskedWarp {
        /// The first thread.
        base: i64,
        /// Number of threads.
        count: i64,
    },
    /// Warps: threads `base..base + count`, both multiples of 32.
    Named {
        /// The first thread.
        base: i64,
        /// Number of threads.
        count: i64,
    },
}

impl Barrier {
    /// The barrier of the positions of a mesh. A mesh over CTAs and threads stands for the threads of each CTA, and must have all CTAs.
    ///
    /// # Errors
    /// A slice over CTAs; symbolic or other levels; positions that overlap, that are no interval, or that cut a warp.
    pub fn of(mesh: Mesh<'_>) -> Result<Self, TypeError> {
        let [outer @ .., inner] = mesh.topologies else {
            return Err(TypeError::new("a barrier is over the positions of a level, and the mesh has none"));
        };
        if inner.name.as_str() == "cta" {
            return if mesh.is_sliced() { Err(part_of_a_grid(mesh)) } else { Ok(Self::Grid) };
        }
        if inner.name.as_str() != "thread" {
            let message = format!("a barrier is over the levels `cta` and `thread`, found `{}`", inner.name);
            return Err(TypeError::new(message));
        }
        let threads = threads(mesh, outer, inner)?;
        let (base, count) = (threads.base, threads.count);
        let inside_a_warp = base / WARP == (base + count - 1) / WARP;
        Ok(match (base, count) {
            (0, WARP) if threads.domain == WARP => Self::Warp,
            (0, count) if count == threads.domain => Self::Block,
            _ if inside_a_warp => Self::MaskedWarp { base, count },
            _ if base % WARP == 0 && count % WARP == 0 => Self::Named { base, count },
            _ => {
                let message = format!(
                    "the barrier cuts warps: threads {base} to {} are neither inside one warp nor whole warps",
                    base + count - 1
                );
                return Err(TypeError::new(message).with_help(format!("a warp is {WARP} consecutive threads")));
            }
        })
    }

    /// The lanes of the warp that take part, for a barrier within a warp.
    #[must_use]
    pub fn mask(self) -> Option<u32> {
        match self {
            Self::Warp => Some(u32::MAX),
            Self::MaskedWarp { base, count } => {
                let lanes = u32::MAX.checked_shr((WARP - count) as u32).unwrap_or(0);
                Some(lanes << (base % WARP))
            }
            _ => None,
        }
    }

    /// The threads that may arrive; none where all of the CTA do.
    #[must_use]
    pub fn guard(self) -> Option<std::ops::Range<i64>> {
        match self {
            Self::MaskedWarp { base, count } | Self::Named { base, count } => Some(base..base + count),
            _ => None,
        }
    }
}

/// Where the positions of a mesh start.
fn offset(mesh: Mesh<'_>) -> Option<i64> {
    match mesh.layout {
        MeshLayout::Plain(_) => Some(0),
        MeshLayout::Sliced(slice) => slice.offset.as_const(),
    }
}

struct Threads {
    base: i64,
    count: i64,
    /// Threads of the CTA.
    domain: i64,
}

fn part_of_a_grid(mesh: Mesh<'_>) -> TypeError {
    TypeError::new(format!("{mesh} has a part of the CTAs, and a barrier of CTAs is one of all"))
        .with_help("synchronise the whole mesh")
}

/// The interval of threads within a CTA.
fn threads<'c>(mesh: Mesh<'c>, outer: &[Topology<'c>], inner: &Topology<'c>) -> Result<Threads, TypeError> {
    let symbolic = || TypeError::new(format!("a barrier needs the positions of {mesh}, and they are symbolic"));
    let domain = inner.size.and_then(|size| size.as_const()).ok_or_else(symbolic)?;
    let offset = offset(mesh).ok_or_else(symbolic)?;
    let strides: Vec<Option<i64>> = match mesh.strides() {
        Some(strides) => strides.iter().map(|stride| stride.as_const()).collect(),
        None => {
            let extents = tf_types::layout::static_dims(mesh.extents()).ok_or_else(symbolic)?;
            let strides = tf_types::inverse::prefix_product(&extents).ok_or_else(symbolic)?;
            strides.into_iter().map(Some).collect()
        }
    };
    let mut positions = vec![0i64];
    let mut ctas = Some(1i64);
    for (&extent, stride) in mesh.extents().iter().zip(strides) {
        // Axes over the outer levels move by whole CTAs; their strides may be symbolic.
        let is_outer = !outer.is_empty() && stride.is_none_or(|stride| stride >= domain);
        if is_outer {
            ctas = ctas.zip(extent.as_const()).and_then(|(a, b)| a.checked_mul(b));
            continue;
        }
        let (extent, stride) = extent.as_const().zip(stride).ok_or_else(symbolic)?;
        if extent.checked_mul(positions.len() as i64).is_none_or(|len| len > MOST) {
            return Err(TypeError::new(format!("{mesh} has more than {MOST} threads")));
        }
        positions = positions
            .iter()
            .flat_map(|at| (0..extent).map(move |i| at.saturating_add(i.saturating_mul(stride))))
            .collect();
    }
    let sizes: Vec<_> = outer.iter().filter_map(|level| level.size).collect();
    let is_whole = ctas.is_some() && ctas == static_product(&sizes) && offset < domain;
    if mesh.is_sliced() && !outer.is_empty() && !is_whole {
        return Err(part_of_a_grid(mesh));
    }
    positions.sort_unstable();
    let count = positions.len() as i64;
    let first = positions.first().copied().unwrap_or(0);
    let base = first.saturating_add(offset);
    if positions.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(TypeError::new(format!("positions of {mesh} overlap, so that threads would arrive twice")));
    }
    let last = positions.last().copied().unwrap_or(0);
    if count == 0 || last - first + 1 != count {
        let last = last.saturating_add(offset);
        let message = format!("the barrier cuts warps: its {count} threads are no interval, from {base} to {last}");
        return Err(TypeError::new(message).with_help("synchronise consecutive threads of one warp, or whole warps"));
    }
    if base.saturating_add(count) > domain {
        let message =
            format!("the barrier reaches thread {}, but the CTA has {domain}", base.saturating_add(count) - 1);
        return Err(TypeError::new(message));
    }
    Ok(Threads { base, count, domain })
}

/// Whether a mesh may be synchronised where these meshes are open, outermost first: one of them, several as one, or a slice of one.
///
/// # Errors
/// No mesh is open; none of them has the mesh's levels, names and strides; the mesh is no slice of the one that has.
pub fn in_scope<'c>(cx: &Context<'c>, mesh: Mesh<'c>, open: &[Mesh<'c>]) -> Result<(), TypeError> {
    if open.is_empty() {
        return Err(TypeError::new(format!("{mesh} is synchronised where no mesh is open"))
            .with_help("open it by `with Mesh(…) as m:` around the barrier"));
    }
    let composed =
        |from: usize| (from + 2..=open.len()).any(|to| cx.composed(&open[from..to]).is_ok_and(|all| all == mesh));
    if open.contains(&mesh) || (0..open.len()).any(composed) {
        return Ok(());
    }
    let alike = |parent: &&Mesh<'c>| {
        (parent.topologies, parent.names, parent.strides()) == (mesh.topologies, mesh.names, mesh.strides())
    };
    let Some(parent) = open.iter().rev().find(alike) else {
        let known: Vec<_> = open.iter().map(|mesh| mesh.to_string()).collect();
        return Err(TypeError::new(format!("{mesh} is not open here: open is {}", known.join(", ")))
            .with_help("synchronise an open mesh or a slice of one"));
    };
    if is_slice(cx, mesh, *parent) {
        return Ok(());
    }
    Err(TypeError::new(format!("{mesh} is no slice of the open {parent}"))
        .with_help("slice the open mesh as `m[start:stop, …]`"))
}

/// Whether taking `mesh`'s extents from some start of each axis of `parent` gives `mesh`.
fn is_slice<'c>(cx: &Context<'c>, mesh: Mesh<'c>, parent: Mesh<'c>) -> bool {
    let constants = |dims: &[tf_types::Dim<'c>]| tf_types::layout::static_dims(dims);
    let (Some(extents), Some(strides)) = (constants(mesh.extents()), mesh.strides().and_then(constants)) else {
        return false;
    };
    let Some(mut rest) = offset(mesh) else { return false };
    let mut order: Vec<_> = (0..extents.len()).collect();
    order.sort_by_key(|&axis| std::cmp::Reverse(strides[axis]));
    let mut keys = vec![MeshKey::Slice(None, None, None); extents.len()];
    for axis in order {
        let start = if strides[axis] > 0 { rest / strides[axis] } else { 0 };
        rest -= start * strides[axis];
        let Some(stop) = start.checked_add(extents[axis]) else { return false };
        keys[axis] = MeshKey::Slice(Some(start), Some(stop), None);
    }
    rest == 0 && cx.slice_mesh(parent, &keys).is_ok_and(|slice| slice == mesh)
}

/// Draws the ids of a kernel's named barriers, one for each site, in order.
#[derive(Clone, Copy, Debug, Default)]
pub struct NamedBarriers {
    drawn: u8,
}

impl NamedBarriers {
    /// The next id, from 1 on; 0 is that of all threads.
    ///
    /// # Errors
    /// All are drawn.
    pub fn draw(&mut self) -> Result<u8, TypeError> {
        if self.drawn == NAMED_BARRIERS {
            let message = format!("a kernel has {NAMED_BARRIERS} named barriers, and this is one more");
            return Err(TypeError::new(message).with_help("synchronise whole warps less often, or the whole CTA"));
        }
        self.drawn += 1;
        Ok(self.drawn)
    }
}

#[cfg(test)]
mod tests {
    use tf_core::{Arena, Context};
    use tf_types::mesh::MeshLayout;
    use tf_types::{Mesh, MeshKey};

    use super::{Barrier, NAMED_BARRIERS, NamedBarriers, in_scope};
    use crate::test_util::{context, threads, topology};

    const ALL: MeshKey = MeshKey::Slice(None, None, None);

    const fn to(start: i64, stop: i64) -> MeshKey {
        MeshKey::Slice(Some(start), Some(stop), None)
    }

    fn of<'c>(cx: &Context<'c>, mesh: Mesh<'c>, keys: &[MeshKey]) -> Result<Barrier, String> {
        let mesh = if keys.is_empty() { mesh } else { cx.slice_mesh(mesh, keys).unwrap() };
        Barrier::of(mesh).map_err(|error| error.message)
    }

    #[test]
    fn examples() {
        let arena = Arena::new();
        let cx = &context(&arena);
        let m = threads(cx, &[6, 32]);
        let row = |keys: &[MeshKey]| of(cx, m, keys);
        assert_eq!(row(&[]), Ok(Barrier::Block));
        let first = row(&[MeshKey::Index(0), ALL]).unwrap();
        assert_eq!((first, first.mask()), (Barrier::MaskedWarp { base: 0, count: 32 }, Some(0xFFFF_FFFF)));
        let inside = row(&[MeshKey::Index(1), to(8, 16)]).unwrap();
        assert_eq!((inside, inside.mask()), (Barrier::MaskedWarp { base: 40, count: 8 }, Some(0x0000_FF00)));
        assert_eq!(inside.guard(), Some(40..48));
        let mut ids = NamedBarriers::default();
        let warps = row(&[to(1, 3), ALL]).unwrap();
        assert_eq!((warps, ids.draw()), (Barrier::Named { base: 32, count: 64 }, Ok(1)));
        let warps = row(&[to(3, 6), ALL]).unwrap();
        assert_eq!((warps, ids.draw()), (Barrier::Named { base: 96, count: 96 }, Ok(2)));
        assert_eq!((warps.guard(), warps.mask()), (Some(96..192), None));
        assert!(row(&[to(0, 2), to(0, 16)]).unwrap_err().contains("its 32 threads are no interval, from 0 to 47"));
        let warp = of(cx, threads(cx, &[32]), &[]).unwrap();
        assert_eq!((warp, warp.mask(), warp.guard()), (Barrier::Warp, Some(u32::MAX), None));
        assert_eq!(of(cx, threads(cx, &[16]), &[]), Ok(Barrier::Block));
    }

    #[test]
    fn refused_positions() {
        let arena = Arena::new();
        let cx = &context(&arena);
        let across = of(cx, threads(cx, &[96]), &[to(16, 48)]).unwrap_err();
        assert_eq!(across, "the barrier cuts warps: threads 16 to 47 are neither inside one warp nor whole warps");
        let mesh = |levels: &[(&str, i64)], extents: &[i64], strides: &[i64]| {
            let levels: Vec<_> = levels.iter().map(|&(name, size)| topology(cx, name, size)).collect();
            let layout = cx.layout(cx.const_dims(extents), Some(cx.const_dims(strides)));
            cx.mesh(&levels, MeshLayout::Plain(layout), &[])
        };
        let twice = mesh(&[("thread", 64)], &[2, 32], &[0, 1]);
        assert!(of(cx, twice, &[]).unwrap_err().contains("overlap"));
        let beyond = mesh(&[("thread", 32)], &[2, 32], &[32, 1]);
        assert_eq!(of(cx, beyond, &[]).unwrap_err(), "the barrier reaches thread 63, but the CTA has 32");
        let ctas = mesh(&[("cta", 8)], &[8], &[1]);
        assert_eq!(of(cx, ctas, &[]), Ok(Barrier::Grid));
        assert!(of(cx, ctas, &[to(0, 4)]).unwrap_err().ends_with("a barrier of CTAs is one of all"));
        let both = mesh(&[("cta", 4), ("thread", 64)], &[4, 2, 32], &[64, 32, 1]);
        assert_eq!(of(cx, both, &[]), Ok(Barrier::Block));
        assert_eq!(of(cx, both, &[ALL, MeshKey::Index(1)]), Ok(Barrier::MaskedWarp { base: 32, count: 32 }));
        assert!(of(cx, both, &[MeshKey::Index(1)]).unwrap_err().ends_with("a barrier of CTAs is one of all"));
        let cores = mesh(&[("core", 8)], &[8], &[1]);
        assert_eq!(of(cx, cores, &[]).unwrap_err(), "a barrier is over the levels `cta` and `thread`, found `core`");
    }

    fn message<'c>(cx: &Context<'c>, mesh: Mesh<'c>, open: &[Mesh<'c>]) -> String {
        in_scope(cx, mesh, open).unwrap_err().message
    }

    #[test]
    fn scopes() {
        let arena = Arena::new();
        let cx = &context(&arena);
        let m = threads(cx, &[6, 32]);
        let part = cx.slice_mesh(m, &[to(1, 3), to(8, 16)]).unwrap();
        assert_eq!(in_scope(cx, m, &[m]), Ok(()));
        assert_eq!(in_scope(cx, part, &[threads(cx, &[192]), m]), Ok(()));
        assert!(message(cx, part, &[]).ends_with("is synchronised where no mesh is open"));
        assert!(message(cx, part, &[threads(cx, &[192])]).contains("is not open here: open is Mesh(thread 192"));
        // Its strides are those of the mesh, but it starts in the middle of a row and leaves it.
        let outer = cx.layout(cx.const_dims(&[1, 32]), m.strides());
        let scope = cx.composed_layout(None, cx.dim(8), Some(tf_types::OuterLayout::Plain(outer)));
        let bent = cx.mesh(m.topologies, MeshLayout::Sliced(scope), m.names);
        assert!(message(cx, bent, &[m]).contains("is no slice of the open"));
        let (ctas, block) = (
            cx.mesh(&[topology(cx, "cta", 4)], MeshLayout::Plain(cx.c_order_layout(cx.const_dims(&[4]))), &[]),
            threads(cx, &[64]),
        );
        let all = cx.composed(&[ctas, block]).unwrap();
        assert_eq!(in_scope(cx, all, &[ctas, block]), Ok(()));
    }

    #[test]
    fn sixteen_named_barriers_are_too_many() {
        let mut ids = NamedBarriers::default();
        assert!((1..=NAMED_BARRIERS).all(|id| ids.draw() == Ok(id)));
        assert_eq!(ids.draw().unwrap_err().message, "a kernel has 15 named barriers, and this is one more");
    }
}
