//! Expressions, shared by HIR and TIR.

use std::fmt;

use tf_types::{Dim, Symbol, Type};

use crate::node::{Function, Meta};
use crate::op::{Op, OpCall, OpInstance, OpView};

tf_types::pointer_handle! {
    /// A value. HIR is a pure DAG of these: sharing is identity.
    Expr => ExprData
}

/// The data of an [`Expr`].
#[derive(Clone, Copy)]
pub struct ExprData<'c> {
    /// What it is.
    pub kind: ExprKind<'c>,
    /// Its type, always present.
    pub ty: Type<'c>,
    /// Span and name.
    pub meta: Meta<'c>,
    /// Whether it is or uses a call of a HIR function. Most values do not, and so need no walk to find their callees.
    pub calls_functions: bool,
}

/// The kinds of expressions.
#[derive(Clone, Copy)]
pub enum ExprKind<'c> {
    /// A parameter, a loop's induction variable or carry, or a TIR binding.
    Var {
        /// Its name.
        name: Symbol<'c>,
        /// A parameter that is filled from outside (`ConstTensor`).
        is_const: bool,
    },
    /// A literal of rank 0.
    Constant(Literal),
    /// An aggregate; its type is a tuple.
    Tuple(&'c [Expr<'c>]),
    /// A call of an op or a HIR function.
    Call {
        /// What is called.
        callee: Callee<'c>,
        /// Operands.
        args: &'c [Expr<'c>],
    },
    /// A loop with carries.
    Grid(&'c GridRegion<'c>),
    /// What is launched, by name ([`crate::Module::launched`]): a function of the same module, or the entry of a child of
    /// it; typed as the function of TIR that it is or becomes.
    SymbolRef(Symbol<'c>),
    /// An extent of a tensor parameter at run time: rank-0 i32 in rmem.
    ShapeOf {
        /// The parameter, a `Var`.
        param: Expr<'c>,
        /// One of its axes.
        axis: u32,
    },
}

impl ExprKind<'_> {
    /// Whether a node of this kind is or uses a call of a HIR function.
    pub(crate) fn calls_functions(&self) -> bool {
        let any = |exprs: &[Expr<'_>]| exprs.iter().any(|expr| expr.calls_functions);
        match self {
            Self::Call { callee: Callee::Function(_), .. } => true,
            Self::Call { args, .. } => any(args),
            Self::Tuple(fields) => any(fields),
            Self::Grid(region) => {
                any(region.inits) || any(region.yields) || region.body.is_some_and(|body| body.calls_functions)
            }
            Self::Var { .. } | Self::Constant(_) | Self::SymbolRef(_) | Self::ShapeOf { .. } => false,
        }
    }
}

/// What a call calls.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Callee<'c> {
    /// An op.
    Op(OpInstance<'c>),
    /// A HIR function.
    Function(Function<'c>),
}

/// A literal.
#[derive(Clone, Copy, Debug)]
pub enum Literal {
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A float; the node's type says in which precision.
    Float(f64),
}

impl PartialEq for Literal {
    /// Bitwise for floats, so that nan equals itself and `-0.0` differs from `0.0`.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Int(a), Self::Int(b)) => a == b,
            (Self::Float(a), Self::Float(b)) => a.to_bits() == b.to_bits(),
            _ => false,
        }
    }
}
impl Eq for Literal {}

/// A loop over `range(start, stop, step)`.
///
/// The phis start at `inits`; every iteration computes `yields`, then all phis change together. The value is the final
/// phi, a tuple of several, or with no carry the `body` of the last iteration.
#[derive(Clone, Copy)]
pub struct GridRegion<'c> {
    /// The induction variable: i64, rank 0, umat.
    pub induction: Expr<'c>,
    /// The phis, one `Var` a carry.
    pub carries: &'c [Expr<'c>],
    /// Initial values.
    pub inits: &'c [Expr<'c>],
    /// Values of the next iteration.
    pub yields: &'c [Expr<'c>],
    /// The value of an iteration when there are no carries.
    pub body: Option<Expr<'c>>,
    /// First index.
    pub start: Dim<'c>,
    /// Exclusive end.
    pub stop: Dim<'c>,
    /// Increment.
    pub step: Dim<'c>,
}

impl<'c> GridRegion<'c> {
    /// The variables that it binds: the carries and the induction variable.
    pub fn binders(&self) -> impl Iterator<Item = Expr<'c>> + use<'c> {
        self.carries.iter().copied().chain([self.induction])
    }
}

impl<'c> Expr<'c> {
    /// Its type.
    #[must_use]
    pub fn ty(self) -> Type<'c> {
        self.0.ty
    }

    /// Its source position.
    #[must_use]
    pub fn span(self) -> Option<crate::Span> {
        self.0.meta.span
    }

    /// The call of an op, if it is one.
    #[must_use]
    pub fn op_call(self) -> Option<OpView<'c>> {
        match self.0.kind {
            ExprKind::Call { callee: Callee::Op(op), args } => Some(OpView { op, args }),
            _ => None,
        }
    }

    /// The call of the op `O`, if it is one.
    #[must_use]
    pub fn as_op<O: Op>(self) -> Option<OpCall<'c, O>> {
        self.op_call().and_then(OpCall::new)
    }

    /// The name of a variable.
    #[must_use]
    pub fn var_name(self) -> Option<Symbol<'c>> {
        match self.0.kind {
            ExprKind::Var { name, .. } => Some(name),
            _ => None,
        }
    }

    /// Whether it is a parameter that is filled from outside.
    #[must_use]
    pub fn is_const_param(self) -> bool {
        matches!(self.0.kind, ExprKind::Var { is_const: true, .. })
    }

    /// The literal of a constant.
    #[must_use]
    pub fn literal(self) -> Option<Literal> {
        match self.0.kind {
            ExprKind::Constant(literal) => Some(literal),
            _ => None,
        }
    }

    /// What users may call it: the bound name, the variable's name, or the op's.
    #[must_use]
    pub fn describe(self) -> String {
        if let Some(name) = self.0.meta.name.or(self.var_name()) {
            return format!("`{name}`");
        }
        match (self.op_call(), self.0.kind) {
            (Some(call), _) => format!("a result of `{}`", call.op.decl.name),
            (_, ExprKind::Constant(literal)) => format!("{literal}"),
            (_, ExprKind::Grid(_)) => "the loop".to_owned(),
            (_, ExprKind::ShapeOf { param, axis }) => format!("extent {axis} of {}", param.describe()),
            _ => "the value".to_owned(),
        }
    }
}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(v) => write!(f, "{v}"),
            Self::Int(v) => write!(f, "{v}"),
            Self::Float(v) => write!(f, "{v:?}"),
        }
    }
}

impl fmt::Debug for Expr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} : {}", self.describe(), self.ty())
    }
}
