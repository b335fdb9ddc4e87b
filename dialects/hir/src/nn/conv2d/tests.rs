use tf_core::{Context, Expr, Meta};
use tf_types::{Arena, DType, Type};

use super::Conv2d;
use crate::test_util::{context, mesh, placed, placement, plain};

struct Attributes<'a>(&'a [i64], &'a [i64], &'a [i64], i64);

const UNIT: Attributes<'static> = Attributes(&[1, 1], &[0, 0], &[1, 1], 1);

fn infer<'c>(cx: &Context<'c>, operands: [Expr<'c>; 3], with: &Attributes<'_>) -> Result<Type<'c>, String> {
    let ints = |values: &[i64]| cx.alloc_slice(values);
    let op = Conv2d::new(cx, ints(with.0), ints(with.1), ints(with.2), with.3);
    cx.call(op, &operands, Meta::default()).map(Expr::ty).map_err(|e| e.message)
}

#[test]
fn shapes() {
    let arena = Arena::new();
    let (cx, _) = &context(&arena);
    let of = |input, weight, bias, with| {
        let operands =
            [("x", input), ("w", weight), ("b", bias)].map(|(name, shape)| plain(cx, name, shape, DType::BF16));
        infer(cx, operands, &with).map(|ty| ty.to_string())
    };
    assert_eq!(of("2 3 6 7", "4 3 3 3", "4", UNIT).unwrap(), r#"Tensor[(2, 4, 4, 5), "bf16"]"#);
    let uneven = Attributes(&[2, 3], &[1, 0], &[1, 1], 1);
    assert_eq!(of("1 2 9 8", "3 2 3 2", "3", uneven).unwrap(), r#"Tensor[(1, 3, 5, 3), "bf16"]"#);
    let dilated = Attributes(&[1, 1], &[2, 3], &[2, 3], 2);
    assert_eq!(of("S 4 9 9", "6 2 3 3", "6", dilated).unwrap(), r#"Tensor[(S, 6, 9, 9), "bf16"]"#);
    let tall = Attributes(&[2, 1], &[0, 0], &[1, 1], 1);
    assert_eq!(of("1 1 S 3", "1 1 2 3", "1", tall).unwrap(), r#"Tensor[(1, 1, S // 2, 1), "bf16"]"#);
}

#[test]
fn refusals() {
    let arena = Arena::new();
    let (cx, _) = &context(&arena);
    let of = |input, weight, bias, with: Attributes<'_>| {
        let operands =
            [("x", input), ("w", weight), ("b", bias)].map(|(name, shape)| plain(cx, name, shape, DType::F32));
        infer(cx, operands, &with).unwrap_err()
    };
    let x = "1 3 8 8";
    assert_eq!(of(x, "2 4 3 3", "2", UNIT), "`tf.conv2d` of 3 input channels has a weight for 4");
    assert_eq!(of("3 8 8", "2 3 3 3", "2", UNIT), "`tf.conv2d` takes `input` of rank 4, (N, C, H, W), found rank 3");
    assert_eq!(of(x, "2 3 3 3", "1 2", UNIT), "`tf.conv2d` takes `bias` of rank 1, (O,), found rank 2");
    assert_eq!(of(x, "2 3 3 3", "3", UNIT), "`tf.conv2d` has 2 result channels, but a bias of 3");
    assert_eq!(of(x, "2 3 K 3", "2", UNIT), "`tf.conv2d` takes a kernel of positive integer extents, found K");
    let groups = |n| Attributes(&[1, 1], &[0, 0], &[1, 1], n);
    assert_eq!(of(x, "2 3 3 3", "2", groups(2)), "`tf.conv2d` cannot cut 3 input channels into 2 groups");
    assert_eq!(of(x, "2 1 3 3", "2", groups(3)), "`tf.conv2d` cannot cut 2 result channels into 3 groups");
    assert_eq!(of(x, "2 3 3 3", "2", groups(0)), "`tf.conv2d` takes 1 group or more, found 0");
    assert_eq!(
        of("1 4 8 8", "2 4 3 3", "2", groups(2)),
        "`tf.conv2d` of 4 input channels in 2 groups has a weight for 4"
    );
    assert_eq!(
        of(x, "2 3 3 3", "2", Attributes(&[0, 1], &[0, 0], &[1, 1], 1)),
        "`tf.conv2d` takes two numbers of 1 or more as `stride` (height, width), found [0, 1]"
    );
    assert_eq!(
        of(x, "2 3 3 3", "2", Attributes(&[1, 1], &[-1, 0], &[1, 1], 1)),
        "`tf.conv2d` takes two numbers of 0 or more as `padding` (height, width), found [-1, 0]"
    );
    assert_eq!(
        of(x, "2 3 3 3", "2", Attributes(&[1, 1], &[0, 0], &[1], 1)),
        "`tf.conv2d` takes two numbers of 1 or more as `dilation` (height, width), found [1]"
    );
    assert_eq!(
        of(x, "2 3 3 3", "2", Attributes(&[1, 1], &[0, 0], &[1, 4], 1)),
        "`tf.conv2d` has no window: its 9 elements with padding 0 do not fit an image of (8, 8) along axis 3"
    );
    let mixed = |weight, bias| {
        let of = |name, shape, dtype| plain(cx, name, shape, dtype);
        let operands = [of("x", x, DType::F32), of("w", "2 3 3 3", weight), of("b", "2", bias)];
        infer(cx, operands, &UNIT).unwrap_err()
    };
    assert_eq!(mixed(DType::F16, DType::F32), "`tf.conv2d` takes operands of one dtype, found f32 and f16");
    assert_eq!(mixed(DType::F32, DType::BF16), "`tf.conv2d` takes operands of one dtype, found f32 and bf16");
    let bools = [("x", x), ("w", "2 3 3 3"), ("b", "2")].map(|(name, shape)| plain(cx, name, shape, DType::Bool));
    assert_eq!(infer(cx, bools, &UNIT).unwrap_err(), "`tf.conv2d` takes floats or integers, found bool");
}

#[test]
fn placements() {
    let arena = Arena::new();
    let (cx, _) = &context(&arena);
    let m = mesh(cx, "w=4 t=2");
    let of = |input, weight, bias| {
        let of = |name, shape, states| placed(cx, name, shape, states, m);
        let operands = [of("x", "4 8 6 6", input), of("w", "16 8 3 3", weight), of("b", "16", bias)];
        infer(cx, operands, &UNIT).map(placement)
    };
    assert_eq!(of("S0 B", "B S0", "B S0").unwrap(), "(4, 2, 8, 4, 4):(256, 128, 16, 4, 1) S0 S1");
    assert_eq!(of("B B", "B B", "B B").unwrap(), "(4, 16, 4, 4):(256, 16, 4, 1) B B");
    // Contracted channels leave partial sums; the bias must be one too.
    assert_eq!(of("S1 B", "S1 B", "Psum B").unwrap(), "(4, 16, 4, 4):(256, 16, 4, 1) Psum B");
    assert_eq!(of("B Psum", "B B", "B Psum").unwrap(), "(4, 16, 4, 4):(256, 16, 4, 1) B Psum");
    let bias = of("S1 B", "S1 B", "B B").unwrap_err();
    assert_eq!(bias, "`tf.conv2d` leaves partial sums on `w`, where every position would add the whole bias");
    let bias = of("B B", "B B", "B Psum").unwrap_err();
    assert_eq!(bias, "`tf.conv2d` adds a bias of terms, P(\"sum\") on `t`, to a complete sum");
    let channels = of("S1 B", "B B", "B B").unwrap_err();
    assert_eq!(channels, "`tf.conv2d` sums over input channels that `w` splits in the input and nothing in the weight");
    assert!(of("B B", "S1 B", "Psum B").is_err());
    assert!(of("Psum B", "Psum B", "Psum B").unwrap_err().starts_with("`tf.conv2d` keeps P(\"sum\") of one operand"));
    let extreme = of("B B", "B B", "Pmax B").unwrap_err();
    assert_eq!(extreme, "`tf.conv2d` cannot take unreduced terms, but `w` holds P(\"max\")");
    // A window crosses the parts of a split image.
    assert!(of("B S2", "B B", "B B").unwrap_err().starts_with("`tf.conv2d` cannot place its result"));
}

#[test]
fn split_groups() {
    let arena = Arena::new();
    let (cx, _) = &context(&arena);
    let m = mesh(cx, "w=4 t=2");
    let of = |groups, input, (weight, states), bias| {
        let of = |name, shape, states| placed(cx, name, shape, states, m);
        let operands = [of("x", "2 8 6 6", input), of("w", weight, states), of("b", "16", bias)];
        infer(cx, operands, &Attributes(&[1, 1], &[0, 0], &[1, 1], groups)).map(placement)
    };
    let depthwise = of(8, "S1 B", ("16 1 3 3", "S0 B"), "S0 B").unwrap();
    assert_eq!(depthwise, "(2, 4, 4, 4, 4):(256, 64, 16, 4, 1) S1 B");
    assert!(of(2, "B B", ("16 4 3 3", "S0 B"), "S0 B").is_ok());
    let side = of(8, "S1 B", ("16 1 3 3", "B B"), "B B").unwrap_err();
    assert_eq!(side, "`tf.conv2d` in 8 groups has them split over `w` in the input and nothing in the weight");
    let cut = of(2, "S1 B", ("16 4 3 3", "S0 B"), "S0 B").unwrap_err();
    assert_eq!(cut, "`tf.conv2d` has 2 groups of channels that `w` cuts apart");
    let inner = of(2, "B B", ("16 4 3 3", "S1 B"), "Psum B").unwrap_err();
    assert_eq!(inner, "`tf.conv2d` in 2 groups has channels of one group split over `w`");
}
