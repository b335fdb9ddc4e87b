//! Which elements a position reads and writes in an op over several tensors.

use tf_types::{Storage, TensorType};

use crate::held::{Factor, Held};

/// A tensor that takes part.
#[derive(Clone, Copy)]
pub struct Part<'a, 'c> {
    /// Its factors.
    pub held: &'a Held<'c>,
    /// Whether positions hold it themselves, so that they cannot reach the elements of others.
    pub in_registers: bool,
}

impl<'a, 'c> Part<'a, 'c> {
    /// The part that a tensor of this type plays.
    #[must_use]
    pub fn new(tensor: &TensorType<'c>, held: &'a Held<'c>) -> Self {
        Self { held, in_registers: tensor.storage == Storage::Rmem }
    }

    fn is_split(&self) -> bool {
        self.held.split().next().is_some()
    }
}

/// By which distribution an elementwise op runs: that of the registers it touches, the destination's first; memory can be addressed by any.
#[must_use]
pub fn distribution<'c>(dst: Part<'_, 'c>, sources: &[Part<'_, 'c>]) -> Held<'c> {
    let shape = dst.held.extents();
    let alike: Vec<_> = sources.iter().copied().filter(|part| part.held.extents() == shape).collect();
    chosen(dst, &alike)
}

/// The same for a copy, whose operands have as many elements, but may have other shapes.
#[must_use]
pub fn distribution_of_copy<'c>(dst: Part<'_, 'c>, src: Part<'_, 'c>) -> Held<'c> {
    chosen(dst, &[src])
}

fn chosen<'c>(dst: Part<'_, 'c>, sources: &[Part<'_, 'c>]) -> Held<'c> {
    if dst.in_registers {
        return dst.held.clone();
    }
    let registers = sources.iter().find(|part| part.in_registers);
    let split = || sources.iter().find(|part| !dst.is_split() && part.is_split());
    registers.or_else(split).map_or_else(|| dst.held.clone(), |part| part.held.clone())
}

impl<'c> Held<'c> {
    /// Extents of the logical axes.
    #[must_use]
    pub fn extents(&self) -> Vec<i64> {
        self.axes.iter().map(|factors| factors.iter().map(|f| f.extent).product()).collect()
    }

    /// The factors of `wanted` with the strides that address the elements of this memory, right-aligned and broadcast.
    /// `None` if no strides do.
    #[must_use]
    pub fn placed_as(&self, wanted: &Held<'c>) -> Option<Vec<Vec<Factor>>> {
        let shift = wanted.axes.len().checked_sub(self.axes.len())?;
        let mut axes = Vec::with_capacity(wanted.axes.len());
        for (axis, theirs) in wanted.axes.iter().enumerate() {
            let mine = axis.checked_sub(shift).map_or(&[][..], |axis| &self.axes[axis]);
            let extent: i64 = mine.iter().map(|f| f.extent).product();
            let offset = |coord: i64| mine.iter().map(|f| (coord / f.step) % f.extent * f.stride).sum::<i64>();
            let stride = |f: &Factor| if extent > 1 && f.extent > 1 { offset(f.step) } else { 0 };
            let found: Vec<_> = theirs.iter().map(|f| Factor { stride: stride(f), ..*f }).collect();
            let linear = |coord: i64| found.iter().map(|f| (coord / f.step) % f.extent * f.stride).sum::<i64>();
            let whole: i64 = theirs.iter().map(|f| f.extent).product();
            if extent > 1 && (whole != extent || (0..extent).any(|coord| linear(coord) != offset(coord))) {
                return None;
            }
            axes.push(found);
        }
        Some(axes)
    }
}

#[cfg(test)]
mod tests {
    use tf_core::{Arena, Context, Expr, Meta};
    use tf_types::{DType, ShardAttr, Storage, TensorLayout};

    use super::{Part, distribution};
    use crate::held::Held;
    use crate::test_util::{context, tensor, threads};

    fn placed<'c>(cx: &Context<'c>, storage: Storage) -> Expr<'c> {
        let shape = cx.const_dims(&[4, 8]);
        let shard = cx.canonical_shard_layout(shape, threads(cx, &[4]), &[ShardAttr::Split(0)]).unwrap();
        let ty = cx.tensor(shape, DType::F32, Some(TensorLayout::Shard(shard)), storage);
        cx.var(cx.symbol("p"), ty, Meta::default())
    }

    #[test]
    fn registers_come_first() {
        let arena = Arena::new();
        let cx = &context(&arena);
        let of = |dst: Expr<'_>, src: Expr<'_>| {
            let parts = [dst, src].map(|e| e.ty().as_tensor().unwrap());
            let held = parts.map(|t| Held::of(t).unwrap());
            distribution(Part::new(parts[0], &held[0]), &[Part::new(parts[1], &held[1])]).local_len()
        };
        let plain = |storage| tensor(cx, &[4, 8], DType::F32, storage);
        assert_eq!(of(plain(Storage::Gmem), placed(cx, Storage::Rmem)), 8);
        assert_eq!(of(placed(cx, Storage::Rmem), plain(Storage::Gmem)), 8);
        assert_eq!(of(plain(Storage::Gmem), placed(cx, Storage::Smem)), 8);
        assert_eq!(of(plain(Storage::Gmem), plain(Storage::Smem)), 32);
        assert_eq!(of(plain(Storage::Rmem), placed(cx, Storage::Smem)), 32);
        assert_eq!(of(plain(Storage::Gmem), tensor(cx, &[8], DType::F32, Storage::Rmem)), 32);
    }

    #[test]
    fn strides_of_another_distribution_of_one_memory() {
        let arena = Arena::new();
        let cx = &context(&arena);
        fn held<'c>(e: Expr<'c>) -> Held<'c> {
            Held::of(e.ty().as_tensor().unwrap()).unwrap()
        }
        let wanted = held(placed(cx, Storage::Rmem));
        let strides = |memory: Held<'_>| {
            let axes = memory.placed_as(&wanted)?;
            Some(axes.into_iter().flatten().map(|f| f.stride).collect::<Vec<_>>())
        };
        assert_eq!(strides(held(tensor(cx, &[4, 8], DType::F32, Storage::Gmem))), Some(vec![8, 1]));
        assert_eq!(strides(held(tensor(cx, &[1, 8], DType::F32, Storage::Gmem))), Some(vec![0, 1]));
        assert_eq!(strides(held(tensor(cx, &[8], DType::F32, Storage::Gmem))), Some(vec![0, 1]));
        assert_eq!(strides(held(tensor(cx, &[8, 4], DType::F32, Storage::Gmem))), None);
    }
}
