//! Orchestration methods of modules, such as `forward`: name, parameters, source and statements.

use std::fmt;

use tf_types::Symbol;

use crate::Span;
use crate::node::Literal;

tf_types::pointer_handle! {
    /// A method of a module.
    Method => MethodData
}

/// The data of a [`Method`].
#[derive(Clone, Copy)]
pub struct MethodData<'c> {
    /// Its name in the module.
    pub name: Symbol<'c>,
    /// Its parameters without the module itself.
    pub params: &'c [MethodParam<'c>],
    /// What the author wrote, as a whole; compile-time values stand in place of their names.
    pub source: &'c str,
    /// What it does.
    pub body: &'c [MethodStmt<'c>],
    /// Where its name stands.
    pub span: Option<Span>,
}

/// A parameter of a method.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct MethodParam<'c> {
    /// Its name.
    pub name: Symbol<'c>,
    /// Its value where the caller gives none.
    pub default: Option<MethodExpr<'c>>,
}

/// A statement of a method.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct MethodStmt<'c> {
    /// What it does.
    pub kind: MethodStmtKind<'c>,
    /// Where it stands; no part of equality.
    pub span: MethodSpan,
}

/// A position that takes no part in equality.
#[derive(Clone, Copy, Debug, Default)]
pub struct MethodSpan(pub Option<Span>);

impl PartialEq for MethodSpan {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
impl Eq for MethodSpan {}

/// The kinds of statements of a method.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum MethodStmtKind<'c> {
    /// `a = value`
    Assign(Symbol<'c>, MethodExpr<'c>),
    /// `a, b = value`
    Unpack(&'c [Symbol<'c>], MethodExpr<'c>),
    /// A value that is computed and dropped.
    Drop(MethodExpr<'c>),
    /// `for name in items: body`; the items are a group of children or a range.
    For {
        /// The loop variable.
        name: Symbol<'c>,
        /// What it runs over.
        items: MethodItems<'c>,
        /// What is repeated.
        body: &'c [MethodStmt<'c>],
    },
    /// `return value`
    Return(Option<MethodExpr<'c>>),
    /// A construct that no engine runs, by name.
    Unsupported(Symbol<'c>),
}

/// What a loop of a method runs over.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum MethodItems<'c> {
    /// A group of children, or another value with items.
    Of(MethodExpr<'c>),
    /// `range(start, stop, step)` of compile-time integers.
    Range(i64, i64, i64),
}

/// An expression of a method.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum MethodExpr<'c> {
    /// A parameter, a local name, or `self`.
    Name(Symbol<'c>),
    /// `none`
    None,
    /// A number or a truth value.
    Literal(Literal),
    /// A string.
    Str(Symbol<'c>),
    /// `base.name`
    Attribute(&'c MethodExpr<'c>, Symbol<'c>),
    /// `base[index]`
    Item(&'c MethodExpr<'c>, &'c MethodExpr<'c>),
    /// `(a, b)`
    Tuple(&'c [MethodExpr<'c>]),
    /// `callee(args, name = value)`
    Call {
        /// A function, a child, a group's item or a method.
        callee: &'c MethodExpr<'c>,
        /// Arguments by position.
        args: &'c [MethodExpr<'c>],
        /// Arguments by name.
        keywords: &'c [(Symbol<'c>, MethodExpr<'c>)],
    },
    /// A construct that no engine runs, by name.
    Unsupported(Symbol<'c>),
}

impl fmt::Debug for Method<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "method @{}", self.name)
    }
}

impl Method<'_> {
    /// Whether two methods are the same but for positions.
    #[must_use]
    pub fn same(self, other: Self) -> bool {
        self.name == other.name && self.params == other.params && self.source == other.source && self.body == other.body
    }
}
