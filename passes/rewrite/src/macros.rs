//! Patterns that are trees, as declarations.

/// Declares patterns that are trees of ops.
///
/// ```
/// use tf_hir::{Binary, Unary};
/// use tf_rewrite::rewrite;
/// use tf_types::kinds::{BinaryKind, UnaryKind};
///
/// rewrite! {
///     /// `-(-x)` is `x`.
///     pub DoubleNegation = "double-negation":
///     Unary { kind: UnaryKind::Neg }(Unary { kind: UnaryKind::Neg }(x)) => |_rw| x;
///
///     /// `-x + y` is `y - x`, but for the bits of a nan.
///     @fast_math
///     pub AddNegated = "add-negated":
///     Binary { kind: BinaryKind::Add }(Unary { kind: UnaryKind::Neg }(x), y)
///         => |rw| rw.call(Binary::new(rw.cx, BinaryKind::Sub), &[y, x]);
/// }
/// ```
///
/// An op stands with the attributes that count, each a Rust pattern (`{ kind: k }` binds, `{}` takes all), and with its operands:
///
/// | Operand | Fits |
/// |---|---|
/// | `x` | anything, as `x` |
/// | `_` | anything |
/// | `= x` | what `x` is already |
/// | `0`, `-0.0`, `true` | that literal |
/// | `const c` | any literal, as `c` |
/// | `Op { … }(…)` | a call of the op |
/// | `x @ Op { … }(…)` | the same, as `x` |
/// | `.. rest` | all further operands, as a slice |
///
/// An `if` may follow. The result is an `Expr`, or an `Option` of one.
#[macro_export]
macro_rules! rewrite {
    ($(
        $(#[doc = $doc:literal])+
        $(@$flag:ident)?
        pub $name:ident = $text:literal :
        $op:ident $attributes:tt $operands:tt $(if $guard:expr)? => |$rewriter:pat_param| $result:expr;
    )+) => {$(
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug)]
        pub struct $name;

        impl $crate::RewritePattern for $name {
            fn name(&self) -> &'static str {
                $text
            }
            fn doc(&self) -> &'static str {
                concat!($($doc),+).trim_ascii()
            }
            fn root(&self) -> $crate::Root {
                $crate::Root::Op(<$op as $crate::tf_core::op::Op>::DECL.name)
            }
            $(fn $flag(&self) -> bool {
                true
            })?
            #[allow(irrefutable_let_patterns, unused_parens, unused_variables)]
            fn rewrite<'c>(
                &self,
                root: $crate::tf_core::Expr<'c>,
                rewriter: &$crate::Rewriter<'_, 'c>,
            ) -> Option<$crate::tf_core::Expr<'c>> {
                $crate::match_operand!(root; $op $attributes $operands);
                $(if !$guard {
                    return None;
                })?
                let $rewriter = rewriter;
                $result.into()
            }
        }
    )+};
}

/// Binds what an operand of [`rewrite!`] names, or returns `None` from the function around.
#[doc(hidden)]
#[macro_export]
macro_rules! match_operand {
    ($value:expr; _) => {};
    ($value:expr; = $same:ident) => {
        if $value != $same {
            return None;
        }
    };
    ($value:expr; const $name:ident) => {
        let $name = $value;
        $name.literal()?;
    };
    ($value:expr; $number:literal) => {
        if !$crate::Number::is($number, $value.literal()?) {
            return None;
        }
    };
    ($value:expr; $name:ident) => {
        let $name = $value;
    };
    ($value:expr; $name:ident @ $($pattern:tt)+) => {
        let $name = $value;
        $crate::match_operand!($name; $($pattern)+);
    };
    ($value:expr; $op:ident { $($attribute:ident : $pattern:pat),* $(,)? } ( $($operands:tt)* )) => {
        let call = $value.as_op::<$op>()?;
        $(let ($pattern) = call.$attribute() else { return None };)*
        let operands = call.operands();
        $crate::match_operands!(operands [] $($operands)*);
    };
}

/// Takes the operands of [`rewrite!`] one by one.
#[doc(hidden)]
#[macro_export]
macro_rules! match_operands {
    ($rest:ident [] .. $name:ident) => {
        let $name = $rest;
    };
    ($rest:ident [$($pattern:tt)+] , $($more:tt)*) => {
        let (&operand, $rest) = $rest.split_first()?;
        $crate::match_operand!(operand; $($pattern)+);
        $crate::match_operands!($rest [] $($more)*);
    };
    ($rest:ident [$($pattern:tt)*] $next:tt $($more:tt)*) => {
        $crate::match_operands!($rest [$($pattern)* $next] $($more)*);
    };
    ($rest:ident []) => {
        if !$rest.is_empty() {
            return None;
        }
    };
    ($rest:ident [$($pattern:tt)+]) => {
        let (&operand, $rest) = $rest.split_first()?;
        $crate::match_operand!(operand; $($pattern)+);
        $crate::match_operands!($rest []);
    };
}
