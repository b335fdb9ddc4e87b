//! `quant`.

use tf_core::op::{AccessRule, OpCall, RuleError, TypeRule};
use tf_core::{Context, op};
use tf_types::access::{AccessRelation, AffineMap, AxisAccess, identity};
use tf_types::{DType, Dim, ShardLayout, TensorLayout, TensorType, Type};
use tf_value::{DialectBuilder, EvalCx, EvalRule, Value, ValueError};

use crate::rules::dtype::{self, Takes};
use crate::rules::{operand, partial};

const WHAT: &str = "`tf.quant`";

/// Which elements share a scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuantScheme {
    /// Every `group` neighbours of the last axis.
    PerTokenGroup,
}

impl QuantScheme {
    /// All schemes.
    pub const ALL: &'static [Self] = &[Self::PerTokenGroup];

    /// The name in source.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::PerTokenGroup => "per_token_group",
        }
    }
}

tf_core::attr_enum!(QuantScheme);

/// Values and f32 scales as a tuple. Per group of the last axis, with `a = max |x|`: `scale = a / 448`, or 1 where `a` is 0, and
/// `q = clamp(x / scale, -448, 448)` in fp8e4m3.
///
/// ```python
/// def f(x: Tensor[(4, 256), "bf16"]):
///     return tf.quant(x, group=128)
/// ```
#[op(dialect = "tf", category = "tensor")]
pub struct Quant {
    /// The operand: floats.
    #[input(Tensor)]
    x: (),
    /// Which elements share a scale.
    #[default(QuantScheme::PerTokenGroup)]
    scheme: QuantScheme,
    /// How many elements share a scale; divides the last axis.
    #[default(128)]
    group: i64,
    /// The dtype of the values; none is `fp8e4m3`, the only one there is.
    #[default(None)]
    target_dtype: Option<DType>,
}

/// Placements of values and scales.
fn placed<'c>(
    cx: &Context<'c>,
    x: &TensorType<'c>,
    shard: ShardLayout<'c>,
    group: i64,
    scales: &[Dim<'c>],
) -> Result<[ShardLayout<'c>; 2], RuleError> {
    let attrs = shard.logical_attrs(x.shape);
    let values = cx.canonical_shard_layout(x.shape, shard.mesh, &attrs)?;
    if !cx.same_positions((values, x.shape), (shard, x.shape)) {
        return Err(RuleError::new(format!("{WHAT} takes axes split in blocks, as {values}, found {shard}"))
            .operand(0, format!("{x}"))
            .with_help("reshard the operand to a placement whose splits are outermost"));
    }
    match cx.canonical_shard_layout(scales, shard.mesh, &attrs) {
        Ok(scales) => Ok([values, scales]),
        Err(why) => Err(RuleError::new(format!("{WHAT} with group {group} cannot place its scales: {}", why.message))
            .operand(0, format!("{x}"))
            .with_help("a position must hold whole groups: reshard the operand, or take smaller groups")),
    }
}

impl TypeRule for Quant {
    fn infer<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Result<Type<'c>, RuleError> {
        let (x, group) = (operand::tensor(&call, 0)?, call.group());
        dtype::check(WHAT, Takes::Floats, 0, x)?;
        if let Some(dtype) = call.target_dtype().filter(|dtype| *dtype != DType::Fp8E4M3) {
            return Err(RuleError::new(format!("{WHAT} makes fp8e4m3, found {dtype} as `target_dtype`"))
                .attr("target_dtype")
                .with_help("`tf.cast` makes other dtypes, without scales"));
        }
        let Some((&last, leading)) = x.shape.split_last() else {
            return Err(RuleError::new(format!("{WHAT} takes an operand of rank 1 or more, found rank 0"))
                .operand(0, format!("{x}"))
                .with_help("the last axis is cut into groups"));
        };
        if group <= 0 {
            return Err(RuleError::new(format!("{WHAT} takes a positive group, found {group}"))
                .attr("group")
                .with_help("it is how many elements share a scale, and divides the last extent"));
        }
        let remainder = cx.dim_mod(last, cx.dim(group));
        if cx.dim_range(remainder).is_some_and(|(lo, _)| lo > 0) {
            return Err(RuleError::new(format!(
                "{WHAT} cannot cut the last axis of extent {last} into groups of {group}"
            ))
            .operand(0, format!("{x}"))
            .attr("group")
            .with_help("the group must divide the last extent"));
        }
        partial::check(WHAT, partial::NONE, &[x])?;
        let mut scales = leading.to_vec();
        scales.push(cx.dim_floor_div(last, cx.dim(group)));
        let layouts = match (x.shard(), x.layout) {
            (Some(shard), _) if shard.is_sharded() => {
                placed(cx, x, shard, group, &scales)?.map(|shard| Some(TensorLayout::Shard(shard)))
            }
            (None, Some(_)) => [x.shape, &scales].map(|shape| Some(TensorLayout::Plain(cx.c_order_layout(shape)))),
            _ => [None, None],
        };
        let values = cx.tensor(x.shape, DType::Fp8E4M3, layouts[0], x.storage);
        Ok(cx.tuple(&[values, cx.tensor(&scales, DType::F32, layouts[1], x.storage)]))
    }
}

impl AccessRule for Quant {
    /// Domain: the leading axes, the groups, then the elements of a group: of the value and of the maximum, or of the latter only.
    fn access<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Vec<AccessRelation<'c>> {
        let Some((&last, leading)) = operand::shape(call.x()).split_last() else { return Vec::new() };
        let (groups, size) = (leading.len(), cx.dim(call.group()));
        let mut scales = leading.to_vec();
        scales.push(cx.dim_floor_div(last, size));
        let element = |within| {
            let mut axes = identity(groups);
            axes.push(AxisAccess::Map(AffineMap::default().term(groups, size).term(within, None)));
            axes
        };
        let values = AccessRelation::over(&scales).dim(size).dim(size).reads(0, element(groups + 2));
        let maxima = AccessRelation::to(&scales).dim(size).reads(0, element(groups + 1));
        vec![values.writes(element(groups + 1)), maxima.to_field(1)]
    }
}

impl EvalRule for Quant {
    fn eval<'c>(call: OpCall<'c, Self>, operands: &mut [Value], _: &EvalCx<'_, 'c>) -> Result<Value, ValueError> {
        let QuantScheme::PerTokenGroup = call.scheme();
        let group = usize::try_from(call.group()).unwrap_or_default();
        let (values, scales) = operand::value::<Self>(operands, 0)?.quantize(group)?;
        Ok(Value::Tuple(vec![values.into(), scales.into()]))
    }
}

pub(super) fn register(r: &mut DialectBuilder) {
    r.op::<Quant>().types().access().evaluates().done();
}

#[cfg(test)]
mod tests {
    use tf_core::{Context, Expr, Meta};
    use tf_types::{Arena, DType, Storage, TensorLayout, Type, TypeKind};

    use super::{Quant, QuantScheme};
    use crate::test_util::{context, dims, factored, mesh, placed, placement, plain, var};

    fn infer<'c>(cx: &Context<'c>, x: Expr<'c>, group: i64, dtype: Option<DType>) -> Result<Type<'c>, String> {
        let op = Quant::new(cx, QuantScheme::PerTokenGroup, group, dtype);
        cx.call(op, &[x], Meta::default()).map(|e| e.ty()).map_err(|e| e.message)
    }

    #[test]
    fn types() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let of = |shape, dtype, group| infer(cx, plain(cx, "x", shape, dtype), group, None).map(|ty| ty.to_string());
        assert_eq!(of("2 256", DType::F32, 128).unwrap(), r#"(Tensor[(2, 256), "fp8e4m3"], Tensor[(2, 2), "f32"])"#);
        assert_eq!(of("S", DType::BF16, 4).unwrap(), r#"(Tensor[(S,), "fp8e4m3"], Tensor[(S // 4,), "f32"])"#);
        let layout = Some(TensorLayout::Plain(cx.layout(&dims(cx, "4 6"), Some(&dims(cx, "1 4")))));
        let strided = var(cx, "x", cx.tensor(&dims(cx, "4 6"), DType::F32, layout, Storage::Gmem));
        let text = infer(cx, strided, 2, Some(DType::Fp8E4M3)).unwrap().to_string();
        assert_eq!(text, r#"(Tensor[(4, 6), "fp8e4m3", (4, 6):(6, 1)], Tensor[(4, 3), "f32", (4, 3):(3, 1)])"#);
        assert_eq!(
            of("4 6", DType::F32, 4).unwrap_err(),
            "`tf.quant` cannot cut the last axis of extent 6 into groups of 4"
        );
        assert_eq!(of("4 6", DType::F32, 0).unwrap_err(), "`tf.quant` takes a positive group, found 0");
        assert_eq!(of("4 6", DType::I32, 2).unwrap_err(), "`tf.quant` takes floats, found i32");
        assert_eq!(of("", DType::F32, 1).unwrap_err(), "`tf.quant` takes an operand of rank 1 or more, found rank 0");
        let error = infer(cx, strided, 2, Some(DType::F16)).unwrap_err();
        assert_eq!(error, "`tf.quant` makes fp8e4m3, found f16 as `target_dtype`");
    }

    #[test]
    fn placements() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let m = mesh(cx, "w=4");
        let pair = |x, group| match *infer(cx, x, group, None)?.data() {
            TypeKind::Tuple(&[values, scales]) => Ok((placement(values), placement(scales))),
            _ => Err("no pair".to_owned()),
        };
        let x = |states| placed(cx, "x", "16 64", states, m);
        let rows = pair(x("S0"), 16).unwrap();
        assert_eq!(rows, ("(4, 4, 64):(256, 64, 1) S0".into(), "(4, 4, 4):(16, 4, 1) S0".into()));
        let columns = pair(x("S1"), 8).unwrap();
        assert_eq!(columns, ("(16, 4, 16):(64, 16, 1) S1".into(), "(16, 4, 2):(8, 2, 1) S1".into()));
        assert!(pair(x("S1"), 32).unwrap_err().starts_with("`tf.quant` with group 32 cannot place its scales"));
        assert!(pair(x("Psum"), 8).unwrap_err().contains("unreduced terms"));
        let whole = infer(cx, x("B"), 16, None).unwrap().to_string();
        assert_eq!(whole, r#"(Tensor[(16, 64), "fp8e4m3", "rmem"], Tensor[(16, 4), "f32", "rmem"])"#);
        let inner = Some(TensorLayout::Shard(factored(cx, "16 8 4 2", "S2", m)));
        let inner = var(cx, "x", cx.tensor(&dims(cx, "16 64"), DType::F32, inner, Storage::Rmem));
        assert!(pair(inner, 2).unwrap_err().starts_with("`tf.quant` takes axes split in blocks"));
    }
}
