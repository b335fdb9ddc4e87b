//! Laws of layouts, scopes and factored placements.

use proptest::prelude::{Strategy, prop, proptest};
use proptest::{prop_assert, prop_assert_eq};
use tf_types::{Arena, Layout, MeshLayout, OuterLayout, ShardAttr, Topology, TypeContext};

fn layout<'c>(cx: &TypeContext<'c>, axes: &[(i64, i64)]) -> Layout<'c> {
    let (shape, strides): (Vec<_>, Vec<_>) = axes.iter().copied().unzip();
    cx.layout(cx.const_dims(&shape), Some(cx.const_dims(&strides)))
}

#[test]
fn application_and_strides() {
    let arena = Arena::new();
    let cx = &TypeContext::new(&arena);
    let l = layout(cx, &[(2, 32), (32, 1)]);
    assert_eq!((0..4).map(|c| l.apply(c).unwrap()).collect::<Vec<_>>(), [0, 32, 1, 33]);
    assert_eq!(l.cosize(), Some(64));
    let column_major = cx.layout(cx.const_dims(&[2, 3]), None);
    assert_eq!((0..6).map(|c| column_major.apply(c).unwrap()).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
    assert_eq!(cx.c_order_strides(cx.const_dims(&[4, 3, 2])), cx.const_dims(&[6, 2, 1]));
    let empty = cx.layout(&[], Some(&[]));
    assert_eq!((empty.apply(0), empty.size(), empty.cosize()), (Some(0), Some(1), Some(1)));
    assert_eq!(layout(cx, &[(0, 1)]).cosize(), Some(0));
    assert_eq!(cx.coalesce(layout(cx, &[(4, 1), (1, 9), (8, 4)])).unwrap(), layout(cx, &[(32, 1)]));
}

#[test]
fn projectability_and_inverses() {
    let arena = Arena::new();
    let cx = &TypeContext::new(&arena);
    for (axes, want) in [
        ([(4, 8), (8, 1)], true),
        ([(4, 1), (8, 4)], true),
        ([(2, 4), (2, 1)], true),
        ([(5, 3), (3, 8)], false),
        ([(4, 1), (4, 1)], false),
        ([(4, 0), (8, 1)], false),
    ] {
        assert_eq!(layout(cx, &axes).is_inverse_projectable(), want, "{axes:?}");
    }
    let l = layout(cx, &[(6, 32), (32, 1)]);
    assert_eq!(cx.left_inverse(l).unwrap(), layout(cx, &[(32, 6), (6, 1)]));
    let scope = cx.composed_layout(None, cx.dim(32), Some(OuterLayout::Plain(l)));
    let inverse = cx.left_inverse_of_scope(scope).unwrap();
    assert_eq!(
        (inverse.inner, inverse.offset.as_const(), inverse.outer),
        (Some(layout(cx, &[(32, 6), (6, 1)])), Some(-32), None)
    );
    let overlap = layout(cx, &[(4, 1), (4, 1)]);
    let message = "cannot be projected: positions do not determine coordinates by division";
    assert_eq!(cx.left_inverse(overlap).unwrap_err().message, format!("(4, 4):(1, 1) {message}"));
    let scope = cx.composed_layout(None, cx.dim(8), Some(OuterLayout::Plain(overlap)));
    assert_eq!(scope.project(8).unwrap_err().message, format!("(4, 4):(1, 1) + 8 {message}"));
    assert_eq!(scope.contains(8).unwrap_err().message, scope.project(8).unwrap_err().message);
    let swizzled = cx.composed_layout(Some(layout(cx, &[(4, 4), (4, 1)])), cx.dim(0), Some(OuterLayout::Plain(l)));
    assert_eq!(swizzled.image(0).unwrap_err().message, format!("(4, 4):(4, 1) . (6, 32):(32, 1) + 0 {message}"));
    assert_eq!(cx.left_inverse_of_scope(swizzled).unwrap_err(), swizzled.image(0).unwrap_err());
    let identity = cx.composed_layout(Some(layout(cx, &[(4, 1), (4, 4)])), cx.dim(0), Some(OuterLayout::Plain(l)));
    assert_eq!(identity.image(1).unwrap(), 32);
}

fn any_axes() -> impl Strategy<Value = Vec<(i64, i64)>> {
    prop::collection::vec((1i64..6, 0i64..20), 0..5)
}

/// Axes whose strides are products of the axes before and of gaps, in shuffled order.
fn projectable_axes() -> impl Strategy<Value = Vec<(i64, i64)>> {
    let dense = prop::collection::vec((1i64..6, 1i64..4), 0..5).prop_map(|axes| {
        let mut stride = 1;
        axes.into_iter()
            .map(|(extent, gap)| {
                stride *= gap;
                let axis = (extent, stride);
                stride *= extent;
                axis
            })
            .collect::<Vec<_>>()
    });
    dense.prop_shuffle()
}

proptest! {
    #[test]
    fn coalesce_preserves_the_function(axes in any_axes()) {
        let arena = Arena::new();
        let cx = &TypeContext::new(&arena);
        let l = layout(cx, &axes);
        let short = cx.coalesce(l).unwrap();
        prop_assert!(short.rank() <= l.rank());
        prop_assert_eq!(short.size(), l.size());
        for c in 0..l.size().unwrap() {
            prop_assert_eq!(short.apply(c), l.apply(c));
        }
    }

    #[test]
    fn right_inverse_law(axes in any_axes()) {
        let arena = Arena::new();
        let cx = &TypeContext::new(&arena);
        let l = layout(cx, &axes);
        let inverse = cx.right_inverse(l).unwrap();
        for i in 0..inverse.size().unwrap() {
            prop_assert_eq!(l.apply(inverse.apply(i).unwrap()), Some(i));
        }
    }

    #[test]
    fn left_inverse_law(axes in projectable_axes()) {
        let arena = Arena::new();
        let cx = &TypeContext::new(&arena);
        let l = layout(cx, &axes);
        prop_assert!(l.is_inverse_projectable());
        let inverse = cx.left_inverse(l).unwrap();
        for c in 0..l.size().unwrap() {
            prop_assert_eq!(inverse.apply(l.apply(c).unwrap()), Some(c));
        }
    }

    #[test]
    fn projection_undoes_the_image(axes in projectable_axes(), offset in 0i64..100) {
        let arena = Arena::new();
        let cx = &TypeContext::new(&arena);
        let l = layout(cx, &axes);
        let scope = cx.composed_layout(None, cx.dim(offset), Some(OuterLayout::Plain(l)));
        let mut images = Vec::new();
        for c in 0..l.size().unwrap() {
            let position = scope.image(c).unwrap();
            images.push(position);
            let coordinates = scope.project(position).unwrap().unwrap();
            let mut rest = c;
            for (&own, &(extent, _)) in coordinates.iter().zip(&axes) {
                prop_assert_eq!(own, rest % extent);
                rest /= extent;
            }
        }
        for position in 0..offset + l.cosize().unwrap() + 3 {
            prop_assert_eq!(scope.contains(position).unwrap(), images.contains(&position));
        }
    }

    #[test]
    fn local_shape_times_split_extents_is_the_size(
        quotients in prop::collection::vec(1i64..5, 1..4),
        splits in prop::collection::vec((1i64..5, 0usize..4), 1..4),
    ) {
        let arena = Arena::new();
        let cx = &TypeContext::new(&arena);
        let mut shape = quotients;
        let attrs: Vec<_> = splits.iter().map(|&(extent, axis)| match shape.get_mut(axis) {
            Some(held) => {
                *held *= extent;
                ShardAttr::Split(axis as u32)
            }
            None => ShardAttr::Broadcast,
        }).collect();
        let extents: Vec<_> = splits.iter().map(|s| s.0).collect();
        let topology = Topology { name: cx.symbol("thread"), size: Some(cx.dim(extents.iter().product())) };
        let mesh = cx.mesh(&[topology], MeshLayout::Plain(cx.c_order_layout(cx.const_dims(&extents))), &[]);
        let logical = cx.const_dims(&shape);
        let shard = cx.canonical_shard_layout(logical, mesh, &attrs).unwrap();
        prop_assert_eq!(shard.layout.size(), Some(shape.iter().product()));
        let local: i64 = cx.local_shape(shard, true).unwrap().iter().map(|d| d.as_const().unwrap()).product();
        let divided: i64 = attrs.iter().zip(&extents).filter(|(a, _)| **a != ShardAttr::Broadcast).map(|(_, &e)| e).product();
        prop_assert_eq!(local * divided, shape.iter().product::<i64>());
    }
}
