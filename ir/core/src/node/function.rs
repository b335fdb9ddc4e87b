//! Functions of both IRs.

use std::fmt;

use tf_types::{Storage, Symbol, Type, TypeKind};

use crate::node::{DimVarRangePat, Expr, Stmt, Target};
use crate::{Context, Diagnostic, Result, Span};

tf_types::pointer_handle! {
    /// A HIR function: one expression over parameters, or a dispatch prototype over variants.
    Function => FunctionData
}

/// The data of a [`Function`].
///
/// | Shape | `specializations` | `variants` | `body` |
/// |---|---|---|---|
/// | ordinary | none | none | some |
/// | dispatch prototype | none | some | none |
/// | variant | one | none | some |
#[derive(Clone, Copy)]
pub struct FunctionData<'c> {
    /// Its name in the module.
    pub name: Symbol<'c>,
    /// `Var`s in order.
    pub params: &'c [Expr<'c>],
    /// Its value; none for a dispatch prototype.
    pub body: Option<Expr<'c>>,
    /// Declared type of the value.
    pub return_type: Type<'c>,
    /// The range that a variant is for.
    pub specializations: &'c [DimVarRangePat<'c>],
    /// The implementations of a dispatch prototype.
    pub variants: &'c [Function<'c>],
    /// How weights are made ready offline.
    pub converters: &'c [Converter<'c>],
    /// What the author calls a variant or a converter; no part of its meaning.
    pub label: Option<Symbol<'c>>,
    /// Its docstring; no part of its meaning.
    pub doc: Option<Symbol<'c>>,
    /// What it was made from; no part of its meaning.
    pub origin: Option<Origin<'c>>,
    /// Where its name stands.
    pub span: Option<Span>,
}

impl fmt::Debug for Function<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "@{}", self.name)
    }
}

impl fmt::Debug for PrimFunction<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "@{}", self.name)
    }
}

impl<'c> FunctionData<'c> {
    /// An ordinary function.
    #[must_use]
    pub fn new(name: Symbol<'c>, params: &'c [Expr<'c>], body: Expr<'c>, return_type: Type<'c>) -> Self {
        Self { body: Some(body), ..Self::prototype(name, params, return_type, &[]) }
    }

    /// A dispatch prototype.
    #[must_use]
    pub fn prototype(
        name: Symbol<'c>,
        params: &'c [Expr<'c>],
        return_type: Type<'c>,
        variants: &'c [Function<'c>],
    ) -> Self {
        Self {
            name,
            params,
            body: None,
            return_type,
            specializations: &[],
            variants,
            converters: &[],
            label: None,
            doc: None,
            origin: None,
            span: None,
        }
    }
}

/// The conversion of one weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Converter<'c> {
    /// A constant parameter of the function that has the converter.
    pub weight: Symbol<'c>,
    /// What gives its value.
    pub function: Function<'c>,
}

/// Where a function comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin<'c> {
    /// The name of the function that it was made from.
    pub name: Symbol<'c>,
    /// That function; unknown where only the text of this one was read.
    pub function: Option<Function<'c>>,
    /// The values of dim variables, sorted by name; none for an elaborated callee.
    pub dims: Option<&'c [(Symbol<'c>, i64)]>,
}

impl<'c> Function<'c> {
    /// Its value.
    ///
    /// # Errors
    /// A dispatch prototype has none.
    pub fn value(self) -> Result<Expr<'c>> {
        self.body.ok_or_else(|| {
            let message = format!("`{}` is a dispatch prototype: it has variants, and no body", self.name);
            Diagnostic::error(message).at(self.span)
        })
    }

    /// The parameters of the TIR function that it becomes: its own, then one buffer in gmem for each result; none where a
    /// result is no tensor (spec: lowering §2).
    #[must_use]
    pub fn lowered_params(self, cx: &Context<'c>) -> Option<Vec<Type<'c>>> {
        let results = match self.return_type.data() {
            TypeKind::Tuple(fields) => fields,
            _ => std::slice::from_ref(&self.return_type),
        };
        let own = self.params.iter().map(|param| Some(param.ty()));
        let buffers = results.iter().map(|result| {
            let tensor = result.as_tensor()?;
            Some(cx.tensor(tensor.shape, tensor.dtype, None, Storage::Gmem))
        });
        own.chain(buffers).collect()
    }

    /// Itself, its variants and its converters: all that have a body.
    pub fn with_parts(self) -> impl Iterator<Item = Function<'c>> {
        let data = self.data();
        let converters = data.converters.iter().map(|converter| converter.function);
        std::iter::once(self).chain(data.variants.iter().copied()).chain(converters)
    }

    /// The bodies of itself, its variants and its converters.
    pub fn bodies(self) -> impl Iterator<Item = Expr<'c>> {
        self.with_parts().filter_map(|function| function.body)
    }
}

tf_types::pointer_handle! {
    /// A TIR function: statements over buffers. Outputs are the last parameters that callers see.
    PrimFunction => PrimFunctionData
}

/// The data of a [`PrimFunction`].
#[derive(Clone, Copy)]
pub struct PrimFunctionData<'c> {
    /// Its name in the module.
    pub name: Symbol<'c>,
    /// `Var`s: inputs, then outputs, then hidden extents ([`crate::hidden`]).
    pub params: &'c [Expr<'c>],
    /// What it does.
    pub body: Stmt<'c>,
    /// How many of the last parameters are outputs, not counting hidden extents.
    pub output_count: usize,
    /// What runs it.
    pub target: Target<'c>,
    /// Its docstring; no part of its meaning.
    pub doc: Option<Symbol<'c>>,
    /// Where its name stands.
    pub span: Option<Span>,
}

/// A member of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AnyFunction<'c> {
    /// Of HIR.
    Hir(Function<'c>),
    /// Of TIR.
    Tir(PrimFunction<'c>),
}

impl<'c> From<Function<'c>> for AnyFunction<'c> {
    fn from(function: Function<'c>) -> Self {
        Self::Hir(function)
    }
}

impl<'c> From<PrimFunction<'c>> for AnyFunction<'c> {
    fn from(function: PrimFunction<'c>) -> Self {
        Self::Tir(function)
    }
}

impl<'c> AnyFunction<'c> {
    /// Its name.
    #[must_use]
    pub fn name(self) -> Symbol<'c> {
        match self {
            Self::Hir(f) => f.name,
            Self::Tir(f) => f.name,
        }
    }

    /// Its parameters.
    #[must_use]
    pub fn params(self) -> &'c [Expr<'c>] {
        match self {
            Self::Hir(f) => f.data().params,
            Self::Tir(f) => f.data().params,
        }
    }

    /// Where its name stands.
    #[must_use]
    pub fn span(self) -> Option<Span> {
        match self {
            Self::Hir(f) => f.span,
            Self::Tir(f) => f.span,
        }
    }
}
