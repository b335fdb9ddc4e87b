//! `binary`.

use tf_core::op::{AccessRule, AliasDecl, AttrDefault, OpCall, RuleError, TypeRule};
use tf_core::{Context, op};
use tf_types::access::AccessRelation;
use tf_types::kinds::BinaryKind;
use tf_types::{DType, TensorLayout, Type};
use tf_value::{DialectBuilder, EvalCx, EvalRule, Value, ValueError};

use crate::rules::dtype::{self, Takes};
use crate::rules::{broadcast, layout, operand, partial, place, storage};

/// `out[i] = kind(lhs[i], rhs[i])`; both operands have one dtype and broadcast, comparisons give bool.
///
/// ```python
/// def f(x: Tensor[(4, 6), "f32"], y: Tensor[(6,), "f32"]):
///     return tf.binary(x, y, kind="mul")
/// ```
#[op(dialect = "tf", category = "math")]
pub struct Binary {
    /// Left operand.
    #[input(Tensor)]
    lhs: (),
    /// Right operand, of the same dtype.
    #[input(Tensor)]
    rhs: (),
    /// What is computed.
    kind: BinaryKind,
}

const fn takes(kind: BinaryKind) -> Takes {
    match kind {
        BinaryKind::Add | BinaryKind::Sub | BinaryKind::Mul | BinaryKind::Div => Takes::Numbers,
        BinaryKind::FloorDiv | BinaryKind::Mod => Takes::Integers,
        BinaryKind::And | BinaryKind::Or => Takes::Bool,
        _ => Takes::Any,
    }
}

impl TypeRule for Binary {
    fn infer<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Result<Type<'c>, RuleError> {
        let kind = call.kind();
        let what = &format!("`{kind}`");
        let operands = [operand::tensor_of(&kind, &call, 0)?, operand::tensor_of(&kind, &call, 1)?];
        let [lhs, rhs] = operands;
        dtype::equal(what, lhs, rhs)?;
        dtype::check(what, takes(kind), 0, lhs)?;
        let shape = broadcast::elementwise(what, lhs, rhs)?;
        partial::check(what, partial::binary(kind), &operands)?;
        let storage = storage::anchor(what, &operands)?;
        let layout = match place::propagate(what, cx, &call, &shape)? {
            Some(shard) => Some(TensorLayout::Shard(shard)),
            None => layout::or_c_order(cx, layout::merge(what, cx, &operands, &shape)?, &shape, storage),
        };
        let dtype = if kind.is_comparison() { DType::Bool } else { lhs.dtype };
        Ok(cx.tensor(&shape, dtype, layout, storage))
    }
}

impl AccessRule for Binary {
    fn access<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Vec<AccessRelation<'c>> {
        let (lhs, rhs) = (operand::shape(call.lhs()), operand::shape(call.rhs()));
        let Ok(shape) = broadcast::broadcast(lhs, rhs) else { return Vec::new() };
        let read = |own, other| broadcast::access(own, &[other], shape.len());
        vec![AccessRelation::to(&shape).reads(0, read(lhs, rhs)).reads(1, read(rhs, lhs))]
    }
}

impl EvalRule for Binary {
    fn eval<'c>(call: OpCall<'c, Self>, operands: &mut [Value], _: &EvalCx<'_, 'c>) -> Result<Value, ValueError> {
        let (lhs, rhs) = (operand::take::<Self>(operands, 0)?, operand::take::<Self>(operands, 1)?);
        lhs.binary(rhs, call.kind()).map(Value::from)
    }
}

macro_rules! aliases {
    ($($name:literal => $kind:ident,)*) => {
        &[$(AliasDecl { name: $name, fixed: &[("kind", AttrDefault::Enum(BinaryKind::$kind as u8))] }),*]
    };
}

/// Surface names with a fixed kind.
pub const ALIASES: &[AliasDecl] = aliases! {
    "add" => Add,
    "sub" => Sub,
    "mul" => Mul,
    "div" => Div,
    "floor_div" => FloorDiv,
    "mod" => Mod,
    "min" => Min,
    "minimum" => Min,
    "max" => Max,
    "maximum" => Max,
    "cmp_eq" => Eq,
    "cmp_ne" => Ne,
    "cmp_lt" => Lt,
    "cmp_le" => Le,
    "cmp_gt" => Gt,
    "cmp_ge" => Ge,
    "logical_and" => And,
    "logical_or" => Or,
};

pub(super) fn register(r: &mut DialectBuilder) {
    r.op::<Binary>().types().access().evaluates().aliases(ALIASES).done();
}

#[cfg(test)]
mod tests {
    use tf_core::{Context, Diagnostic, Expr, Meta};
    use tf_types::kinds::BinaryKind::{self, Add, Div, Eq, Max, Mod, Mul, Or, Sub};
    use tf_types::{Arena, DType, Storage, TensorLayout, Type};

    use super::{ALIASES, Binary};
    use crate::test_util::{context, dims, factored, mesh, placed, placement, plain, var};

    fn infer<'c>(cx: &Context<'c>, kind: BinaryKind, lhs: Expr<'c>, rhs: Expr<'c>) -> Result<Type<'c>, Diagnostic> {
        cx.call(Binary::new(cx, kind), &[lhs, rhs], Meta::default()).map(Expr::ty)
    }

    #[test]
    fn shapes_broadcast_and_comparisons_give_bool() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let of = |kind, lhs: &str, rhs: &str| {
            let (a, b) = (plain(cx, "a", lhs, DType::F32), plain(cx, "b", rhs, DType::F32));
            infer(cx, kind, a, b).unwrap().to_string()
        };
        assert_eq!(of(Add, "2 3 4", "4"), r#"Tensor[(2, 3, 4), "f32"]"#);
        assert_eq!(of(Add, "5 1", "1 6"), r#"Tensor[(5, 6), "f32"]"#);
        assert_eq!(of(Mul, "", "S 1"), r#"Tensor[(S, 1), "f32"]"#);
        assert_eq!(of(Eq, "S 4", "S 1"), r#"Tensor[(S, 4), "bool"]"#);
        assert_eq!(of(Add, "0 3", "1 3"), r#"Tensor[(0, 3), "f32"]"#);
    }

    #[test]
    fn refused_shapes_and_dtypes() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let of = |kind, (lhs, a): (&str, DType), (rhs, b): (&str, DType)| {
            infer(cx, kind, plain(cx, "a", lhs, a), plain(cx, "b", rhs, b)).unwrap_err()
        };
        let error = of(Mul, ("4 6", DType::F32), ("4", DType::F32));
        assert_eq!(error.message, "`mul` cannot broadcast (4, 6) with (4,): 6 meets 4");
        let notes: Vec<_> = error.notes.iter().map(|(_, text)| text.as_str()).collect();
        let want =
            [r#"operand 0: Tensor[(4, 6), "f32"]: axis 1 is 6"#, r#"operand 1: Tensor[(4,), "f32"]: axis 0 is 4"#];
        assert_eq!(notes, want);
        assert!(error.help.is_some());
        let error = of(Add, ("S", DType::F32), ("T", DType::F32));
        assert_eq!(error.message, "`add` cannot broadcast (S,) with (T,): S meets T");
        let error = of(Add, ("4", DType::F32), ("4", DType::BF16));
        assert_eq!(error.message, "`add` takes operands of one dtype, found f32 and bf16");
        let refused = |kind, dtype| of(kind, ("4", dtype), ("4", dtype)).message;
        assert_eq!(refused(Add, DType::Bool), "`add` takes floats or integers, found bool");
        assert_eq!(refused(Div, DType::Bool), "`div` takes floats or integers, found bool");
        assert_eq!(refused(Mod, DType::F32), "`mod` takes integers (i32, i64), found f32");
        assert_eq!(refused(Or, DType::I32), "`or` takes bool, found i32");
        let of = |kind, dtype| infer(cx, kind, plain(cx, "a", "4", dtype), plain(cx, "b", "4", dtype)).is_ok();
        assert!(of(Div, DType::I32) && of(Max, DType::Bool) && of(Eq, DType::Bool) && of(Or, DType::Bool));
        let pair = cx.tuple(&[plain(cx, "a", "4", DType::F32).ty()]);
        let error = infer(cx, Add, plain(cx, "a", "4", DType::F32), var(cx, "t", pair)).unwrap_err();
        assert_eq!(error.message, r#"`add` takes a tensor as `rhs`, found (Tensor[(4,), "f32"],)"#);
    }

    #[test]
    fn storage_is_the_anchors() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let of = |a, b| {
            let operand = |name, storage| var(cx, name, cx.tensor(&dims(cx, "4"), DType::F32, None, storage));
            infer(cx, Add, operand("a", a), operand("b", b)).map(|t| t.to_string()).map_err(|e| e.message)
        };
        assert_eq!(of(Storage::Umat, Storage::Umat).unwrap(), r#"Tensor[(4,), "f32", "umat"]"#);
        assert_eq!(of(Storage::Umat, Storage::Smem).unwrap(), r#"Tensor[(4,), "f32", (4,):(1,), "smem"]"#);
        assert_eq!(
            of(Storage::Rmem, Storage::Smem).unwrap_err(),
            "`add` takes operands of one storage, found rmem and smem"
        );
    }

    #[test]
    fn placements_propagate() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let m = mesh(cx, "w=4 t=2");
        let of = |a, b| infer(cx, Add, a, b);
        let x = placed(cx, "x", "16 64", "S0 B", m);
        assert_eq!(of(x, x).unwrap(), x.ty());
        let row = placed(cx, "row", "64", "B S0", m);
        assert_eq!(placement(of(x, row).unwrap()), "(4, 4, 2, 32):(256, 64, 32, 1) S0 S2");
        let column = placed(cx, "column", "16 1", "S0 B", m);
        assert_eq!(placement(of(x, column).unwrap()), "(4, 4, 64):(256, 64, 1) S0 B");
        let literal = cx.constant(tf_core::Literal::Float(2.0), DType::F32, Meta::default());
        assert_eq!(of(x, literal).unwrap(), x.ty());
        let error = of(x, placed(cx, "y", "16 64", "S1 B", m)).unwrap_err().message;
        assert!(error.contains("`w`") && error.starts_with("`add` cannot place its result"), "{error}");
        let other = mesh(cx, "w=8");
        let error = of(x, placed(cx, "y", "16 64", "S0", other)).unwrap_err().message;
        assert!(error.contains("another mesh"), "{error}");
        let dynamic = factored(cx, "16 64", "D B", m);
        let dynamic = cx.tensor(&dims(cx, "16 64"), DType::F32, Some(TensorLayout::Shard(dynamic)), Storage::Rmem);
        let error = of(var(cx, "d", dynamic), x).unwrap_err().message;
        assert_eq!(error, "`add` needs the owner of every element, but on `w` ownership is Dynamic");
    }

    #[test]
    fn unsharded_layouts_merge() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let m = mesh(cx, "w=4");
        let whole = |shape| placed(cx, "x", shape, "B", m);
        assert_eq!(placement(infer(cx, Add, whole("16 64"), whole("16 1")).unwrap()), "(16, 64):(64, 1) B");
        let error = infer(cx, Add, whole("4 4"), placed(cx, "y", "4 4", "B", mesh(cx, "w=8"))).unwrap_err().message;
        assert!(error.starts_with("`add` takes operands of one mesh"), "{error}");
        let strided = |shape: &str, strides: &str| {
            let layout = cx.layout(&dims(cx, shape), Some(&dims(cx, strides)));
            let layout = Some(TensorLayout::Plain(layout));
            var(cx, "p", cx.tensor(&dims(cx, shape), DType::F32, layout, Storage::Gmem))
        };
        let of = |a, b| infer(cx, Add, a, b).unwrap().to_string();
        let column_major = strided("4 6", "1 4");
        assert_eq!(of(column_major, column_major), r#"Tensor[(4, 6), "f32", (4, 6):(1, 4)]"#);
        assert_eq!(of(column_major, plain(cx, "x", "6", DType::F32)), r#"Tensor[(4, 6), "f32", (4, 6):(1, 4)]"#);
        assert_eq!(of(column_major, strided("4 6", "6 1")), r#"Tensor[(4, 6), "f32"]"#);
        assert_eq!(of(strided("6", "1"), plain(cx, "x", "4 6", DType::F32)), r#"Tensor[(4, 6), "f32"]"#);
        let in_rmem = cx.tensor(
            &dims(cx, "4 4"),
            DType::F32,
            strided("4 4", "1 4").ty().as_tensor().unwrap().layout,
            Storage::Rmem,
        );
        let error = infer(cx, Add, var(cx, "p", in_rmem), whole("4 4")).unwrap_err().message;
        assert!(error.starts_with("`add` cannot join the plain layout (4, 4):(1, 4)"), "{error}");
    }

    #[test]
    fn partial_terms() {
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        let m = mesh(cx, "w=4 t=2");
        let x = |states| placed(cx, "x", "16 64", states, m);
        let states = |kind, lhs, rhs| {
            infer(cx, kind, x(lhs), x(rhs))
                .map(|t| placement(t).split(") ").nth(1).unwrap().to_owned())
                .map_err(|e| e.message)
        };
        assert_eq!(states(Add, "Psum B", "Psum B").unwrap(), "Psum B");
        assert_eq!(states(Add, "Pmax B", "B B").unwrap(), "Pmax B");
        assert_eq!(states(Mul, "B S0", "Psum S0").unwrap(), "Psum S0");
        assert!(infer(cx, Mul, x("Psum B"), plain(cx, "y", "16 64", DType::F32)).is_err(), "storages differ");
        let joint = states(Add, "Psum B", "B B").unwrap_err();
        assert_eq!(
            joint,
            "`add` keeps P(\"sum\") of one operand only if the other's placement is right: it must hold P(\"sum\") on `w` too"
        );
        assert!(states(Mul, "Psum B", "Psum B").unwrap_err().ends_with("it must be Broadcast on `w`"));
        assert!(states(Add, "Pmax B", "Pmax B").is_err());
        let error = infer(cx, Sub, x("Psum B"), x("Psum B")).unwrap_err();
        assert_eq!(error.message, "`sub` cannot take unreduced terms, but `w` holds P(\"sum\")");
        assert_eq!(error.help.unwrap(), "reshard the operand to Broadcast on `w` first: that completes the sum");
        let literal = cx.constant(tf_core::Literal::Float(2.0), DType::F32, Meta::default());
        assert!(infer(cx, Mul, x("Psum B"), literal).is_ok() && infer(cx, Add, x("Psum B"), literal).is_err());
    }

    #[test]
    fn aliases_name_their_kind() {
        assert_eq!(ALIASES.len() + crate::math::unary::ALIASES.len(), 29);
        let arena = Arena::new();
        let (cx, _) = &context(&arena);
        for alias in ALIASES {
            let [schema] = cx.ops().schemas("tf", alias.name) else { panic!("{}", alias.name) };
            let ("kind", value) = schema.fixed[0] else { panic!("{}", alias.name) };
            let tf_core::op::AttrDefault::Enum(kind) = value else { panic!("{}", alias.name) };
            let name = BinaryKind::ALL[usize::from(kind)].name();
            let bare = alias.name.trim_start_matches("cmp_").trim_start_matches("logical_").trim_end_matches("imum");
            assert_eq!(bare, name);
        }
    }
}
