//! Whether a layout lists the elements of a shape.

use crate::layout::OuterLayout;
use crate::{Dim, DimTuple, TensorLayout, TypeContext, TypeError};

impl<'c> TypeContext<'c> {
    /// Checks that a layout lists each element of `shape` once: a strided one has the same extents and keeps elements apart, a placement
    /// has as many elements. A slice of either does as its outer part.
    ///
    /// # Errors
    /// It does not. Where that depends on symbols, strides pass.
    pub fn check_layout(&self, layout: TensorLayout<'c>, shape: &[Dim<'c>]) -> Result<(), TypeError> {
        let (extents, strided) = match layout {
            TensorLayout::Shard(shard) => return self.check_element_count(shard, shape),
            TensorLayout::Plain(plain) => (plain.shape(), Some(plain)),
            TensorLayout::Composed(view) => match (view.shard(), view.inner, view.outer) {
                (Some(shard), ..) => return self.check_element_count(shard, shape),
                (None, None, Some(OuterLayout::Plain(plain))) => (view.shape(), Some(plain)),
                _ => (view.shape(), None),
            },
        };
        if extents != shape {
            return Err(TypeError::new(format!("the layout {layout} does not have the shape {}", DimTuple(shape)))
                .with_help("a strided layout has one extent and one stride for each axis of the shape"));
        }
        if strided.is_some_and(|strided| strided.is_injective() == Some(false)) {
            return Err(TypeError::new(format!("the layout {layout} puts two elements in one place"))
                .with_help("the strides must keep all elements apart"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::layout::OuterLayout;
    use crate::test_util::{dims, mesh};
    use crate::{Arena, Layout, ShardAttr, TensorLayout, TypeContext};

    fn strided<'c>(cx: &TypeContext<'c>, shape: &str, strides: &str) -> Layout<'c> {
        cx.layout(dims(cx, shape), Some(dims(cx, strides)))
    }

    fn check<'c>(cx: &TypeContext<'c>, layout: TensorLayout<'c>, shape: &str) -> Result<(), String> {
        cx.check_layout(layout, dims(cx, shape)).map_err(|error| error.message)
    }

    fn view<'c>(cx: &TypeContext<'c>, outer: OuterLayout<'c>) -> TensorLayout<'c> {
        TensorLayout::Composed(cx.composed_layout(None, cx.dim(32), Some(outer)))
    }

    #[test]
    fn strided_layouts_have_the_shape() {
        let arena = Arena::new();
        let cx = &TypeContext::new(&arena);
        let plain = |shape, strides| check(cx, TensorLayout::Plain(strided(cx, shape, strides)), "4 8");
        assert_eq!(plain("4 8", "1 4"), Ok(()));
        assert_eq!(plain("8 4", "4 1"), Err("the layout (8, 4):(4, 1) does not have the shape (4, 8)".into()));
        assert_eq!(plain("4 8", "0 1"), Err("the layout (4, 8):(0, 1) puts two elements in one place".into()));
        let slice = |strides| check(cx, view(cx, OuterLayout::Plain(strided(cx, "4 8", strides))), "4 8");
        assert_eq!(slice("16 1"), Ok(()));
        assert_eq!(slice("0 1"), Err("the layout (4, 8):(0, 1) + 32 puts two elements in one place".into()));
    }

    #[test]
    fn placements_have_the_elements_in_factors() {
        let arena = Arena::new();
        let cx = &TypeContext::new(&arena);
        let mesh = mesh(cx, &[("thread", 4)], &[("w", 4)]);
        let shard = cx.shard_layout(strided(cx, "4 4 32", "512 128 1"), &[ShardAttr::Split(0)], mesh);
        for layout in [TensorLayout::Shard(shard), view(cx, OuterLayout::Shard(shard))] {
            assert_eq!(check(cx, layout, "16 32"), Ok(()));
            let fewer = "layout (4, 4, 32) has 512 elements, but the value (16, 64) has 1024";
            assert_eq!(check(cx, layout, "16 64"), Err(fewer.into()));
        }
    }
}
