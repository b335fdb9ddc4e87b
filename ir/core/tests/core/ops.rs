//! Ops, schemas and their registry.

use std::sync::Arc;

use tf_core::op::attr::Ints;
use tf_core::op::{
    AliasDecl, Attr, AttrDefault, OpCall, OpName, OpRegistry, OpRegistryBuilder, OpView, ParamKind, RuleError,
    TypeRule, VerifyRule,
};
use tf_core::{Arena, Context, Expr, Meta, Span, op};
use tf_types::kinds::BinaryKind;
use tf_types::{DType, Type};

use crate::common::var;

/// Keeps its operand.
#[op(dialect = "t", category = "test")]
pub struct Keep {
    /// The operand.
    #[input(Any)]
    x: (),
}

impl TypeRule for Keep {
    fn infer<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Result<Type<'c>, RuleError> {
        Ok(call.x().ty())
    }
}

/// Two tensors and a kind.
#[op(dialect = "t", category = "test")]
pub struct Pair {
    /// Left.
    #[input(Any)]
    lhs: (),
    /// Over these.
    axes: Ints,
    /// Right.
    #[input(Any)]
    rhs: (),
    /// How.
    #[default(BinaryKind::Add)]
    kind: BinaryKind,
}

impl TypeRule for Pair {
    fn infer<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Result<Type<'c>, RuleError> {
        match (call.lhs().ty(), call.rhs().ty()) {
            (lhs, rhs) if lhs == rhs => Ok(lhs),
            (lhs, rhs) => Err(RuleError::new("the operands differ")
                .operand(1, format!("{rhs}, not {lhs}"))
                .with_help("make them equal")),
        }
    }
}

/// Of the name of another op.
#[op(dialect = "t", category = "test", name = "keep")]
pub struct KeepTwo {
    /// One.
    #[input(Any)]
    x: (),
    /// Perhaps another.
    #[input(Any, optional)]
    y: (),
}

impl TypeRule for KeepTwo {
    fn infer<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Result<Type<'c>, RuleError> {
        Ok(call.x().ty())
    }
}

/// An effect on any number of operands.
#[op(dialect = "u", category = "test", effect)]
pub struct Touch {
    /// First.
    #[input(Any)]
    x: (),
    /// More.
    #[input(Any, variadic)]
    rest: (),
}

impl VerifyRule for Touch {
    fn verify<'c>(_: OpCall<'c, Self>, _: &Context<'c>) -> Result<(), RuleError> {
        panic!("a mistake of the rule")
    }
}

fn registry() -> Arc<OpRegistry> {
    let mut builder = OpRegistryBuilder::default();
    let keep = builder.declare::<Keep>();
    builder.types::<Keep>(keep);
    let pair = builder.declare::<Pair>();
    builder.types::<Pair>(pair);
    const ALIASES: &[AliasDecl] = &[
        AliasDecl { name: "mul", fixed: &[("kind", AttrDefault::Enum(2))] },
        AliasDecl { name: "keep", fixed: &[("kind", AttrDefault::Enum(0))] },
    ];
    builder.alias(pair, ALIASES);
    let touch = builder.declare::<Touch>();
    builder.verifies::<Touch>(touch);
    Arc::new(builder.freeze().expect("every op has its rule"))
}

fn with_ops(test: impl for<'c> FnOnce(&Context<'c>)) {
    let arena = Arena::new();
    test(&Context::new(&arena, registry()));
}

fn at<'c>(cx: &Context<'c>, expr: Expr<'c>, line: u32) -> Expr<'c> {
    expr.replace_metadata(cx, Span::new(cx.sources().named("k.py"), (line, 1), (line, 2)))
}

#[test]
fn an_op_without_attributes_is_one_instance_and_others_carry_their_values() {
    with_ops(|cx| {
        assert!(Keep::new(cx) == Keep::new(cx));
        let (one, two) = (Pair::new(cx, &[1], BinaryKind::Mul), Pair::new(cx, &[2], BinaryKind::Mul));
        assert!(one == Pair::new(cx, &[1], BinaryKind::Mul) && one != two && one.is::<Pair>() && !one.is::<Keep>());
        assert_eq!(one.attr("axes"), Some(Attr::Ints(&[1])));
        assert_eq!(one.attr("lhs"), None, "an input is no attribute");
        let x = var(cx, "x", cx.scalar(DType::F32));
        let call = cx.call(one, &[x, x], Meta::default()).unwrap();
        let pair = OpCall::<Pair>::new(call.op_call().unwrap()).unwrap();
        assert!(pair.lhs() == x && pair.axes() == [1] && pair.kind() == BinaryKind::Mul);
        assert!(OpCall::<Keep>::new(call.op_call().unwrap()).is_none());
    });
}

#[test]
fn parameters_keep_their_order_and_inputs_number_the_operands() {
    let ops = registry();
    let decl = |name| ops.decl(ops.id_of(name).unwrap());
    let pair = decl(OpName::new("t", "pair"));
    let names: Vec<_> = pair.params.iter().map(|param| param.name).collect();
    assert_eq!(names, ["lhs", "axes", "rhs", "kind"]);
    assert_eq!(pair.inputs().map(|param| param.name).collect::<Vec<_>>(), ["lhs", "rhs"]);
    let defaults = pair.attributes().map(|param| match param.kind {
        ParamKind::Attribute { default, .. } => default,
        ParamKind::Input { .. } => None,
    });
    assert_eq!(defaults.collect::<Vec<_>>(), [None, Some(AttrDefault::Enum(BinaryKind::Add as u8))]);
    assert_eq!((pair.arity(), decl(OpName::new("u", "touch")).arity()), ((2, Some(2)), (1, None)));
}

#[test]
fn aliases_win_and_names_belong_to_a_dialect() {
    let ops = registry();
    let found = |dialect, name| -> Vec<_> {
        ops.schemas(dialect, name).iter().map(|schema| (schema.decl.name.name, schema.fixed.len())).collect()
    };
    assert_eq!(found("t", "keep"), [("pair", 1), ("keep", 0)], "the alias stands before the op of that name");
    assert_eq!(found("t", "mul"), [("pair", 1)]);
    assert!(found("u", "keep").is_empty() && found("t", "touch").is_empty(), "another dialect's names are unknown");
    assert_eq!(ops.names("t"), ["keep", "mul", "pair"]);
    assert!(ops.id_of(OpName::new("t", "mul")).is_none(), "an alias is no op");
}

#[test]
fn mistakes_of_a_registration_are_all_reported() {
    let mut builder = OpRegistryBuilder::default();
    let keep = builder.declare::<Keep>();
    builder.types::<Keep>(keep);
    builder.types::<Keep>(keep);
    builder.declare::<KeepTwo>();
    builder.declare::<Touch>();
    let errors: Vec<_> = builder.freeze().err().unwrap().into_iter().map(|error| error.0).collect();
    assert_eq!(
        errors,
        [
            "`t.keep` has two type rules",
            "`t.keep` is registered twice (before as `t.keep`)",
            "`t.keep` has no type rule",
            "`u.touch` has no verification rule",
        ]
    );
}

#[test]
fn calls_are_refused_at_their_operands() {
    with_ops(|cx| {
        let [x, y] =
            [(DType::F32, 1), (DType::I32, 2)].map(|(dtype, line)| at(cx, var(cx, "x", cx.scalar(dtype)), line));
        let op = Pair::new(cx, &[], BinaryKind::Add);
        let span = Span::new(cx.sources().named("k.py"), (3, 1), (3, 9));
        let error = cx.call(op, &[x, y], Meta::at(span)).err().unwrap();
        assert_eq!((error.message.as_str(), error.span), ("the operands differ", Some(span)));
        assert_eq!(error.help.as_deref(), Some("make them equal"));
        let want = format!("{}, not {}", y.ty(), x.ty());
        assert_eq!(error.labels, [(y.span().unwrap(), want)]);
        let error = cx.call(op, &[x], Meta::at(span)).err().unwrap();
        assert_eq!((error.message.as_str(), error.span), ("`t.pair` takes 2 operands, found 1", Some(span)));
        let touch = Touch::new(cx);
        let error = cx.call(touch, &[x], Meta::default()).err().unwrap();
        assert_eq!(error.message, "`u.touch` is an effect and has no value");
        let verify = cx.ops().verify.get(touch.id).unwrap();
        let error = verify(OpView { op: touch, args: &[] }, cx).unwrap_err();
        assert!(error.message.starts_with("the verification rule of `u.touch` panicked: a mistake of the rule"));
    });
}
