//! What most faults are: one expression in place of another, once, operands first.

use tf_core::node::FunctionData;
use tf_core::op::OpInstance;
use tf_core::visit::{Cloning, ExprCloner, clone_expr};
use tf_core::{Context, Expr, Function, Literal, Result};
use tf_framework::FunctionCx;
use tf_hir::{Binary, Cast, FullLike, Unary};
use tf_types::DType;
use tf_types::kinds::{BinaryKind, UnaryKind};

/// An expression over operands that have been rewritten, and what is made in its place.
pub struct Site<'a, 'c> {
    pub cx: &'a Context<'c>,
    pub expr: Expr<'c>,
}

impl<'c> Site<'_, 'c> {
    /// A call with the position of the expression; `None` if the op's rule refuses it.
    pub fn call(&self, op: OpInstance<'c>, args: &[Expr<'c>]) -> Option<Expr<'c>> {
        self.cx.call(op, args, self.expr.source_metadata()).ok()
    }

    pub fn unary(&self, kind: UnaryKind, x: Expr<'c>) -> Option<Expr<'c>> {
        self.call(Unary::new(self.cx, kind), &[x])
    }

    pub fn binary(&self, kind: BinaryKind, lhs: Expr<'c>, rhs: Expr<'c>) -> Option<Expr<'c>> {
        self.call(Binary::new(self.cx, kind), &[lhs, rhs])
    }

    pub fn cast(&self, dtype: DType, x: Expr<'c>) -> Option<Expr<'c>> {
        self.call(Cast::new(self.cx, dtype), &[x])
    }

    pub fn filled(&self, like: Expr<'c>, value: f64) -> Option<Expr<'c>> {
        self.call(FullLike::new(self.cx, value), &[like])
    }

    pub fn literal(&self, literal: Literal, dtype: DType) -> Expr<'c> {
        self.cx.constant(literal, dtype, self.expr.source_metadata())
    }
}

/// The dtype of a tensor.
pub fn dtype(expr: Expr<'_>) -> Option<DType> {
    expr.ty().as_tensor().map(|tensor| tensor.dtype)
}

/// The extent of an axis that is known.
pub fn extent(expr: Expr<'_>, axis: usize) -> Option<i64> {
    expr.ty().as_tensor()?.shape.get(axis)?.as_const()
}

/// The operands of a binary op of that kind.
pub fn operands_of<'c>(expr: Expr<'c>, kind: BinaryKind) -> Option<(Expr<'c>, Expr<'c>)> {
    let call = expr.as_op::<Binary>().filter(|call| call.kind() == kind)?;
    Some((call.lhs(), call.rhs()))
}

/// The operand of a unary op of that kind.
pub fn operand_of<'c>(expr: Expr<'c>, kind: UnaryKind) -> Option<Expr<'c>> {
    expr.as_op::<Unary>().filter(|call| call.kind() == kind).map(|call| call.x())
}

/// A float that is written out.
pub fn float(expr: Expr<'_>) -> Option<f64> {
    match expr.literal()? {
        Literal::Float(value) => Some(value),
        Literal::Int(_) | Literal::Bool(_) => None,
    }
}

/// An integer that is written out.
pub fn integer(expr: Expr<'_>) -> Option<i64> {
    match expr.literal()? {
        Literal::Int(value) => Some(value),
        Literal::Float(_) | Literal::Bool(_) => None,
    }
}

struct Rewriter<'w, 'c, F>(&'w Context<'c>, F);

impl<'c, F: FnMut(&Site<'_, 'c>) -> Option<Expr<'c>>> ExprCloner<'c> for Rewriter<'_, 'c, F> {
    fn default_clone(&mut self, expr: Expr<'c>, clone: &mut Cloning<'_, 'c>) -> Result<Expr<'c>> {
        let new = clone.rebuild(expr)?;
        let wrong = (self.1)(&Site { cx: self.0, expr: new });
        Ok(wrong.filter(|wrong| wrong.ty() == new.ty()).unwrap_or(new))
    }
}

/// The function with what is wrong in the place of each expression where there is something; a value of another type is not used.
pub fn rewritten<'c>(
    function: Function<'c>,
    cx: &FunctionCx<'_, 'c>,
    wrong: impl FnMut(&Site<'_, 'c>) -> Option<Expr<'c>>,
) -> Result<Function<'c>> {
    let Some(old) = function.body else { return Ok(function) };
    let new = clone_expr(cx, old, &mut Rewriter(cx.context(), wrong))?;
    Ok(if new == old { function } else { cx.function(FunctionData { body: Some(new), ..*function }) })
}

/// Declares the faults of a family, each `NAME = "pass-name": |site| what stands in the place of site.expr`, and registers them.
macro_rules! faults {
    ($($(#[doc = $doc:literal])* $fault:ident = $name:tt: |$at:ident| $body:expr;)*) => {
        $(
            $(#[doc = $doc])*
            #[derive(Clone, ::tf_framework::Pass)]
            #[pass(name = $name)]
            pub struct $fault;

            impl ::tf_framework::FunctionPass for $fault {
                fn run<'c>(
                    &self,
                    function: ::tf_core::Function<'c>,
                    cx: &::tf_framework::FunctionCx<'_, 'c>,
                ) -> ::tf_core::Result<::tf_core::Function<'c>> {
                    $crate::fault::rewritten(function, cx, |$at| $body)
                }
            }
        )*

        fn register_rewrites(r: &mut ::tf_plugin::Registrar<'_>) {
            $(r.passes.function_pass($fault::new());)*
        }
    };
}
pub(crate) use faults;
