//! Declarations whose parts do not fit together are refused before any program is read.

use tf_core::op::attr::Ints;
use tf_core::op::{AliasDecl, AttrDefault, OpCall, OpRegistryBuilder, RuleError, TypeRule};
use tf_core::{Context, Result, op};
use tf_types::Type;
use tf_types::kinds::ReduceKind as Reductions;

/// Operands after those whose number is open, and the keyword of every call.
#[op(dialect = "t", category = "test")]
pub struct Operands {
    /// May be left out.
    #[input(Any, optional)]
    first: (),
    /// May not.
    #[input(Any)]
    second: (),
    /// Takes all.
    #[input(Any, variadic)]
    third: (),
    /// Gets none.
    #[input(Any, optional)]
    fourth: (),
    /// Of every call.
    loc: i64,
}

/// Defaults of other kinds.
#[op(dialect = "t", category = "test", name = "bad-defaults")]
pub struct Defaults {
    /// Takes a float.
    #[default(1)]
    scale: f64,
    /// May not be absent.
    #[default(None)]
    axes: Ints,
    /// Is no reduction.
    #[default(true)]
    kind: Reductions,
    /// A float.
    #[default(-1.5)]
    bias: f64,
    /// Absent or an integer.
    #[default(-1)]
    at: Option<i64>,
}

/// Another enum of the name of one of the language.
#[derive(Clone, Copy)]
pub enum ReduceKind {
    /// The only one.
    None,
}

impl ReduceKind {
    const ALL: &'static [Self] = &[Self::None];

    const fn name(self) -> &'static str {
        "none"
    }
}

tf_core::attr_enum!(ReduceKind);

/// Uses it.
#[op(dialect = "u", category = "test")]
pub struct Kinds {
    /// Which.
    kind: ReduceKind,
}

macro_rules! untyped {
    ($($name:ident),*) => {$(
        impl TypeRule for $name {
            fn infer<'c>(_: OpCall<'c, Self>, cx: &Context<'c>) -> Result<Type<'c>, RuleError> {
                Ok(cx.unit())
            }
        }
    )*};
}

untyped!(Operands, Defaults, Kinds);

#[test]
fn parts_that_do_not_fit_together_are_all_named() {
    const ALIASES: &[AliasDecl] = &[
        AliasDecl { name: "summed", fixed: &[("kind", AttrDefault::Enum(99)), ("knd", AttrDefault::Int(1))] },
        AliasDecl { name: "shifted", fixed: &[("bias", AttrDefault::Float(1.0)), ("at", AttrDefault::None)] },
    ];
    let mut builder = OpRegistryBuilder::default();
    let operands = builder.declare::<Operands>();
    builder.types::<Operands>(operands);
    let defaults = builder.declare::<Defaults>();
    builder.types::<Defaults>(defaults);
    builder.alias(defaults, ALIASES);
    let kinds = builder.declare::<Kinds>();
    builder.types::<Kinds>(kinds);
    let errors: Vec<_> = builder.freeze().err().unwrap().into_iter().map(|error| error.0).collect();
    assert_eq!(
        errors,
        [
            "`t.operands` has the operand `second` after `first`, which may be left out",
            "`t.operands` has the operand `fourth` after `third`, which takes any number of them",
            "`t.operands` has a parameter `loc`, the keyword by which every call says where it is",
            "`t.bad-defaults`: `bad-defaults` is no name of ASCII letters, digits and underscores",
            "`t.bad-defaults` has 1 as the default of `scale`, a float (such as `1.0`)",
            "`t.bad-defaults` has None as the default of `axes`, a list of integers",
            "`t.bad-defaults` has true as the default of `kind`, of the enum `ReduceKind` of 4 variants",
            "the alias `summed` of `t.bad-defaults` fixes `kind` to variant 99 of an enum, of the enum `ReduceKind` of 4 variants",
            "the alias `summed` fixes `knd`, an attribute that `t.bad-defaults` has not",
            "the enum `ReduceKind` of `u.kinds` has other variants than that of `t.bad-defaults`",
        ]
    );
}
