//! A tensor in the organisation of its layout, for ops that compute there.

use rustc_hash::FxHashMap;
use tf_types::{Dim, Symbol, TensorLayout, TensorType};

use crate::{Tensor, ValueError, extent, show_shape};

/// The extents of a layout: those of the placement for a sharded tensor; the logical ones where there is none.
fn layout_shape<'c>(ty: &TensorType<'c>) -> &'c [Dim<'c>] {
    match ty.layout {
        Some(TensorLayout::Plain(layout)) => layout.shape(),
        Some(TensorLayout::Composed(layout)) => layout.shape(),
        Some(TensorLayout::Shard(shard)) => shard.layout.shape(),
        None => ty.shape,
    }
}

fn sizes<'c>(dims: &[Dim<'c>], known: &FxHashMap<Symbol<'c>, i64>) -> Result<Vec<usize>, ValueError> {
    let size = |&dim| {
        let size = extent(dim, known)?;
        usize::try_from(size).map_err(|_| ValueError::new(format!("an extent is at least 0, found {dim} = {size}")))
    };
    dims.iter().map(size).collect()
}

fn viewed(tensor: &Tensor, from: &[usize], to: &[usize]) -> Result<Tensor, ValueError> {
    if tensor.shape() != from {
        let (wanted, found) = (show_shape(from), show_shape(tensor.shape()));
        return Err(ValueError::new(format!("a value of shape {wanted} was expected, found {found}")));
    }
    tensor.reshape(to)
}

/// A value of type `ty` in the shape of its layout: row-major order stays. `dims` are the sizes of dim variables in this run.
///
/// # Errors
/// A value of another shape than `ty` has; a dim without a size; a layout of another number of elements.
pub fn as_layout_view<'c>(
    value: &Tensor,
    ty: &TensorType<'c>,
    dims: &FxHashMap<Symbol<'c>, i64>,
) -> Result<Tensor, ValueError> {
    viewed(value, &sizes(ty.shape, dims)?, &sizes(layout_shape(ty), dims)?)
}

/// The inverse of [`as_layout_view`]: the logical value of type `ty` of what is in the shape of its layout.
///
/// # Errors
/// As [`as_layout_view`].
pub fn from_layout_view<'c>(
    data: &Tensor,
    ty: &TensorType<'c>,
    dims: &FxHashMap<Symbol<'c>, i64>,
) -> Result<Tensor, ValueError> {
    viewed(data, &sizes(layout_shape(ty), dims)?, &sizes(ty.shape, dims)?)
}

#[cfg(test)]
mod tests {
    use rustc_hash::FxHashMap;
    use tf_types::{Arena, DType, DimVar, Storage, TensorLayout, TypeContext};

    use super::{as_layout_view, from_layout_view};
    use crate::Tensor;

    #[test]
    fn there_and_back() {
        let arena = Arena::new();
        let cx = &TypeContext::new(&arena);
        let n = cx.dim_var(DimVar { name: cx.symbol("n"), lo: 1, hi: 99 });
        let dims = FxHashMap::from_iter([(cx.symbol("n"), 3)]);
        let layout = |shape: &[_]| Some(TensorLayout::Plain(cx.layout(shape, None)));
        let ty = |layout| cx.tensor(&[n, cx.dim(4)], DType::I32, layout, Storage::Gmem);
        let x = Tensor::from_vec(&[3, 4], (0..12).collect::<Vec<i32>>()).unwrap();
        for (shape, want) in [(vec![n, cx.dim(2), cx.dim(2)], vec![3, 2, 2]), (vec![n, cx.dim(4)], vec![3, 4])] {
            let ty = ty(layout(&shape));
            let ty = ty.as_tensor().unwrap();
            let view = as_layout_view(&x, ty, &dims).unwrap();
            assert_eq!((view.shape(), view.to_le_bytes()), (&want[..], x.to_le_bytes()));
            let back = from_layout_view(&view, ty, &dims).unwrap();
            assert_eq!((back.shape(), back.to_le_bytes()), (x.shape(), x.to_le_bytes()));
        }
        let plain = ty(None);
        assert_eq!(as_layout_view(&x, plain.as_tensor().unwrap(), &dims).unwrap().shape(), [3, 4]);
        let wrong = x.reshape(&[4, 3]).unwrap();
        let error = as_layout_view(&wrong, plain.as_tensor().unwrap(), &dims).unwrap_err();
        assert_eq!(error.message, "a value of shape (3, 4) was expected, found (4, 3)");
        let none = FxHashMap::default();
        let error = as_layout_view(&x, plain.as_tensor().unwrap(), &none).unwrap_err();
        assert_eq!(error.message, "the size of dim `n` is not known in this run");
    }
}
