//! What one position of a mesh holds of a tensor, and where in memory it lies.

use tf_target::mma::Fragment;
use tf_types::{Mesh, Storage, TensorLayout, TensorType, TypeError};

/// Addresses in bytes stay within 64 bits for every dtype.
const MOST_ELEMENTS: i64 = 1 << 56;

/// One factor of a logical axis: `extent` values that move the logical coordinate by `step` and the address by `stride`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Factor {
    /// Number of values.
    pub extent: i64,
    /// Logical coordinate per value.
    pub step: i64,
    /// Elements of memory per value.
    pub stride: i64,
    /// The mesh axis whose coordinate is the value; `None`: every position holds all values.
    pub mesh_axis: Option<usize>,
}

/// The addresses of all values of some factors, the last fastest.
#[must_use]
pub fn addresses(factors: impl IntoIterator<Item = Factor>) -> Vec<i64> {
    let mut addresses = vec![0i64];
    for factor in factors {
        let values = 0..factor.extent;
        addresses =
            addresses.iter().flat_map(|at| values.clone().map(move |value| at + value * factor.stride)).collect();
    }
    addresses
}

/// A tensor type as factors: the factors of each logical axis, outermost first.
///
/// A position's elements are enumerated with the factors that no mesh axis fixes, in order, the last fastest: the
/// *local index*.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held<'c> {
    /// Factors by logical axis.
    pub axes: Vec<Vec<Factor>>,
    /// The mesh of the factors' mesh axes.
    pub mesh: Option<Mesh<'c>>,
}

impl<'c> Held<'c> {
    /// The factors of a type. Without strides, those of a dense buffer: C-order over what one instance of the
    /// storage holds.
    ///
    /// # Errors
    /// A symbolic extent or stride; a Split whose extent is not its mesh axis's (an unfactored layout); Partial
    /// and Dynamic attributes; an inner layout.
    pub fn of(tensor: &TensorType<'c>) -> Result<Self, TypeError> {
        let shape = tensor.static_shape().ok_or_else(|| TypeError::new("a symbolic extent has no static position"))?;
        let elements = shape.iter().try_fold(1i64, |product, extent| product.checked_mul(*extent));
        if elements.is_none_or(|elements| elements > MOST_ELEMENTS) {
            let message = format!(
                "a tensor of shape {shape:?} is larger than the {MOST_ELEMENTS} elements that code can address"
            );
            return Err(TypeError::new(message).with_help("use a smaller tensor"));
        }
        match tensor.layout {
            None => Ok(Self::plain(&shape, &c_order(&shape))),
            Some(TensorLayout::Plain(layout)) => {
                let strides = match layout.strides() {
                    Some(_) => layout.static_strides().ok_or_else(|| TypeError::new("a symbolic stride"))?,
                    None => c_order(&shape),
                };
                Ok(Self::plain(&shape, &strides))
            }
            Some(_) => Self::placed(tensor, &shape),
        }
    }

    fn plain(shape: &[i64], strides: &[i64]) -> Self {
        let factor = |(&extent, &stride): (&i64, &i64)| vec![Factor { extent, step: 1, stride, mesh_axis: None }];
        Self { axes: shape.iter().zip(strides).map(factor).collect(), mesh: None }
    }

    fn placed(tensor: &TensorType<'c>, shape: &[i64]) -> Result<Self, TypeError> {
        let shard =
            tensor.shard().ok_or_else(|| TypeError::new("a layout with an inner layout has no address rule"))?;
        let symbolic = || TypeError::new("a symbolic extent or stride of a placement");
        let extents = shard.layout.static_shape().ok_or_else(symbolic)?;
        let mesh_extents: Vec<_> = shard.mesh.extents().iter().map(|e| e.as_const()).collect();
        let mut owner = vec![None; extents.len()];
        for (mesh_axis, attr) in shard.attrs.iter().enumerate() {
            match *attr {
                tf_types::ShardAttr::Broadcast => {}
                tf_types::ShardAttr::Split(at) => {
                    let at = at as usize;
                    if owner[at].is_some() || mesh_extents[mesh_axis] != Some(extents[at]) {
                        let name = shard.mesh.axis_name(mesh_axis);
                        let message =
                            format!("layout axis {at} of extent {} is not one factor of `{name}`", extents[at]);
                        return Err(TypeError::new(message).with_help("factor it into the mesh extent and the rest"));
                    }
                    owner[at] = Some(mesh_axis);
                }
                tf_types::ShardAttr::Partial(reduction) => {
                    return Err(TypeError::new(format!("a Partial({reduction}) value holds terms, not elements")));
                }
                tf_types::ShardAttr::Dynamic => return Err(TypeError::new("ownership is decided at run time")),
            }
        }
        let strides = match shard.layout.strides() {
            Some(_) => shard.layout.static_strides().ok_or_else(symbolic)?,
            None => dense(&extents, |at| tensor.storage != Storage::Rmem || owner[at].is_none()),
        };
        if Fragment::is_placement(shape, shard) {
            return Ok(Self { axes: tile(shape, &extents, &strides, &owner), mesh: Some(shard.mesh) });
        }
        let map = tf_types::shard::layout_axis_to_tensor_axis(shard.layout.shape(), tensor.shape);
        let mut axes = vec![Vec::new(); shape.len()];
        for (at, axis) in map.iter().enumerate() {
            if let Some(axis) = *axis {
                axes[axis].push(Factor { extent: extents[at], step: 1, stride: strides[at], mesh_axis: owner[at] });
            }
        }
        for (axis, factors) in axes.iter_mut().enumerate() {
            let mut step = 1;
            for factor in factors.iter_mut().rev() {
                factor.step = step;
                step *= factor.extent;
            }
            if step != shape[axis] {
                let message = format!("the placement factors axis {axis} of extent {} into {step}", shape[axis]);
                return Err(TypeError::new(message));
            }
        }
        Ok(Self { axes, mesh: Some(shard.mesh) })
    }

    /// The factors that every position holds whole, by logical axis: what the local index enumerates.
    pub fn local(&self) -> impl Iterator<Item = (usize, Factor)> + '_ {
        self.factors().filter(|(_, f)| f.mesh_axis.is_none())
    }

    /// The factors that a mesh coordinate fixes, by logical axis.
    pub fn split(&self) -> impl Iterator<Item = (usize, Factor)> + '_ {
        self.factors().filter(|(_, f)| f.mesh_axis.is_some())
    }

    fn factors(&self) -> impl Iterator<Item = (usize, Factor)> + '_ {
        self.axes.iter().enumerate().flat_map(|(axis, factors)| factors.iter().map(move |&f| (axis, f)))
    }

    /// Number of elements that one position holds.
    #[must_use]
    pub fn local_len(&self) -> usize {
        self.local().fold(1, |len, (_, factor)| len.saturating_mul(factor.extent as usize))
    }

    /// Logical coordinates of a local index, less what the mesh coordinates add.
    #[must_use]
    pub fn local_coords(&self, index: usize) -> Vec<i64> {
        let mut coords = vec![0; self.axes.len()];
        self.decompose(index, |axis, factor, value| coords[axis] += value * factor.step);
        coords
    }

    /// Memory offset of a local index in elements, less what the mesh coordinates add.
    #[must_use]
    pub fn local_offset(&self, index: usize) -> i64 {
        let mut offset = 0;
        self.decompose(index, |_, factor, value| offset += value * factor.stride);
        offset
    }

    fn decompose(&self, index: usize, mut f: impl FnMut(usize, Factor, i64)) {
        let local: Vec<_> = self.local().collect();
        let mut rest = index as i64;
        for &(axis, factor) in local.iter().rev() {
            f(axis, factor, rest % factor.extent);
            rest /= factor.extent;
        }
    }

    /// The local index here of the element that lies, right-aligned and broadcast, at local index `index` of `of`.
    /// `None` unless both distribute the shared axes alike, so that a position finds the element in what it holds.
    #[must_use]
    pub fn local_index_for(&self, of: &Held<'c>, index: usize) -> Option<usize> {
        let shift = of.axes.len().checked_sub(self.axes.len())?;
        let coords = of.local_coords(index);
        let mut at = 0;
        for (axis, factors) in self.axes.iter().enumerate() {
            let theirs = &of.axes[axis + shift];
            let extent: i64 = factors.iter().map(|f| f.extent).product();
            if extent == 1 {
                continue;
            }
            if !alike(factors, theirs) {
                return None;
            }
            // Factors of a mesh coordinate contribute nothing to a local coordinate.
            for factor in factors.iter().filter(|f| f.mesh_axis.is_none()) {
                at = at * factor.extent + (coords[axis + shift] / factor.step) % factor.extent;
            }
        }
        Some(at as usize)
    }

    /// Whether positions hold the same elements in the same local order.
    #[must_use]
    pub fn same_distribution(&self, other: &Held<'c>) -> bool {
        let splits = |h: &Self| h.split().next().is_some();
        (self.mesh == other.mesh || !splits(self) && !splits(other))
            && self.axes.len() == other.axes.len()
            && self.axes.iter().zip(&other.axes).all(|(a, b)| alike(a, b))
    }

    /// The strides of `wanted`'s factors (in its order) that address the same memory as this type, if they exist.
    #[must_use]
    pub fn strides_for(&self, wanted: &Held<'c>) -> Option<Vec<i64>> {
        let mut strides = Vec::new();
        for (mine, theirs) in self.axes.iter().zip(&wanted.axes) {
            let offset = |coord: i64| mine.iter().map(|f| (coord / f.step) % f.extent * f.stride).sum::<i64>();
            let found: Vec<_> = theirs.iter().map(|f| if f.extent > 1 { offset(f.step) } else { 0 }).collect();
            let extent: i64 = theirs.iter().map(|f| f.extent).product();
            let linear = |coord: i64| {
                let parts = theirs.iter().zip(&found).map(|(f, stride)| (coord / f.step) % f.extent * stride);
                parts.sum::<i64>()
            };
            if (0..extent).any(|coord| linear(coord) != offset(coord)) {
                return None;
            }
            strides.extend(found);
        }
        Some(strides)
    }
}

/// The factors of a tile whose strides are offsets into it by rows.
fn tile(shape: &[i64], extents: &[i64], strides: &[i64], owner: &[Option<usize>]) -> Vec<Vec<Factor>> {
    let columns = shape.last().copied().unwrap_or(1).max(1);
    let mut axes = vec![Vec::new(); shape.len()];
    for (at, (&extent, &stride)) in extents.iter().zip(strides).enumerate() {
        let (axis, step) = if stride < columns { (1, stride) } else { (0, stride / columns) };
        axes[axis].push(Factor { extent, step, stride, mesh_axis: owner[at] });
    }
    axes.iter_mut().for_each(|factors| factors.sort_by_key(|factor| std::cmp::Reverse(factor.step)));
    axes
}

/// Equal factors, apart from strides and extents of 1.
fn alike(a: &[Factor], b: &[Factor]) -> bool {
    let key = |f: &&Factor| f.extent > 1;
    let part = |f: &Factor| (f.extent, f.step, f.mesh_axis);
    a.iter().filter(key).map(part).eq(b.iter().filter(key).map(part))
}

/// Strides of a dense buffer in elements, the last axis fastest.
#[must_use]
pub fn c_order(shape: &[i64]) -> Vec<i64> {
    dense(shape, |_| true)
}

/// C-order strides over the axes that take part, 0 elsewhere. Saturated: beside an extent of 0, the others may have any product.
fn dense(shape: &[i64], takes_part: impl Fn(usize) -> bool) -> Vec<i64> {
    let mut strides = vec![0; shape.len()];
    let mut next = 1i64;
    for at in (0..shape.len()).rev().filter(|&at| takes_part(at)) {
        strides[at] = next;
        next = next.saturating_mul(shape[at]);
    }
    strides
}

#[cfg(test)]
mod tests {
    use tf_target::mma::{MmaOpSpec, Operand};
    use tf_types::mesh::MeshLayout;
    use tf_types::{Arena, DType, Mesh, ShardAttr, Storage, TensorLayout, Topology, Type, TypeContext};

    use super::{Held, c_order};

    fn mesh<'c>(cx: &TypeContext<'c>) -> Mesh<'c> {
        let thread = Topology { name: cx.symbol("thread"), size: Some(cx.dim(128)) };
        let layout = cx.layout(cx.const_dims(&[4, 32]), Some(cx.const_dims(&[32, 1])));
        cx.mesh(&[thread], MeshLayout::Plain(layout), &[cx.symbol("w"), cx.symbol("l")])
    }

    fn placed<'c>(cx: &TypeContext<'c>, shape: &[i64], attrs: &[ShardAttr<'c>], storage: Storage) -> Type<'c> {
        let shape = cx.const_dims(shape);
        let shard = cx.canonical_shard_layout(shape, mesh(cx), attrs).expect("divides");
        cx.tensor(shape, DType::F32, Some(TensorLayout::Shard(shard)), storage)
    }

    #[test]
    fn dense_strides() {
        assert_eq!(c_order(&[2, 3, 4]), [12, 4, 1]);
        assert_eq!(c_order(&[4, 0, 3]), [0, 3, 1]);
        assert_eq!(c_order(&[0, 1 << 40, 1 << 40]), [i64::MAX, 1 << 40, 1]);
        assert!(c_order(&[]).is_empty());
    }

    fn held<'c>(ty: Type<'c>) -> Held<'c> {
        Held::of(ty.as_tensor().expect("a tensor")).expect("static")
    }

    #[test]
    fn rows_over_warps_columns_over_lanes() {
        let arena = Arena::new();
        let cx = TypeContext::new(&arena);
        let x = held(placed(&cx, &[16, 128], &[ShardAttr::Split(0), ShardAttr::Split(1)], Storage::Gmem));
        assert_eq!(x.local_len(), 16);
        assert_eq!(x.local_coords(5), [1, 1]);
        assert_eq!(x.local_offset(5), 129);
        let steps: Vec<_> = x.split().map(|(axis, f)| (axis, f.step, f.stride)).collect();
        assert_eq!(steps, [(0, 4, 512), (1, 4, 4)]);
    }

    #[test]
    fn broadcast_operand_is_found_in_what_the_position_holds() {
        let arena = Arena::new();
        let cx = TypeContext::new(&arena);
        let x = held(placed(&cx, &[16, 128], &[ShardAttr::Split(0), ShardAttr::Split(1)], Storage::Rmem));
        let row = held(placed(&cx, &[128], &[ShardAttr::Broadcast, ShardAttr::Split(0)], Storage::Rmem));
        let other = held(placed(&cx, &[128], &[ShardAttr::Split(0), ShardAttr::Broadcast], Storage::Rmem));
        assert_eq!(row.local_index_for(&x, 5), Some(1));
        assert_eq!(other.local_index_for(&x, 5), None);
    }

    #[test]
    fn strides_of_another_factoring_of_the_same_memory() {
        let arena = Arena::new();
        let cx = TypeContext::new(&arena);
        let wanted = held(placed(&cx, &[16, 128], &[ShardAttr::Split(0), ShardAttr::Split(1)], Storage::Rmem));
        let window = cx.layout(cx.const_dims(&[16, 128]), Some(cx.const_dims(&[512, 1])));
        let ty = cx.tensor(cx.const_dims(&[16, 128]), DType::F32, Some(TensorLayout::Plain(window)), Storage::Gmem);
        assert_eq!(held(ty).strides_for(&wanted), Some(vec![2048, 512, 4, 1]));
    }

    #[test]
    fn fragments_are_factored_by_their_offsets() {
        let arena = Arena::new();
        let cx = TypeContext::new(&arena);
        let spec = MmaOpSpec::SM80_16X8X16_BF16;
        let atom = spec.atom(&cx);
        for (role, placement) in [(Operand::A, atom.a), (Operand::B, atom.b), (Operand::C, atom.c)] {
            let fragment = spec.fragment(role);
            let [_, columns] = fragment.shape();
            let layout = Some(TensorLayout::Shard(placement));
            let x = held(cx.tensor(cx.const_dims(&fragment.shape()), DType::F32, layout, Storage::Rmem));
            assert_eq!(
                x.axes.iter().map(|f| f.iter().map(|f| f.extent).product()).collect::<Vec<i64>>(),
                fragment.shape()
            );
            let factors = x.axes.iter().enumerate().flat_map(|(axis, factors)| factors.iter().map(move |f| (axis, f)));
            let mut factors = factors.map(|(axis, f)| (f.stride, f.step * if axis == 0 { columns } else { 1 }));
            assert!(factors.all(|(stride, offset)| stride == offset), "{role:?}");
        }
    }

    #[test]
    fn an_unfactored_split_is_refused() {
        let arena = Arena::new();
        let cx = TypeContext::new(&arena);
        let layout = cx.layout(cx.const_dims(&[12, 64]), Some(cx.const_dims(&[64, 1])));
        let shard = cx.shard_layout(layout, &[ShardAttr::Split(0), ShardAttr::Broadcast], mesh(&cx));
        let ty = cx.tensor(cx.const_dims(&[12, 64]), DType::F32, Some(TensorLayout::Shard(shard)), Storage::Rmem);
        let error = Held::of(ty.as_tensor().expect("a tensor")).expect_err("12 is not 4");
        assert!(error.message.contains("layout axis 0 of extent 12"), "{error}");
    }
}
