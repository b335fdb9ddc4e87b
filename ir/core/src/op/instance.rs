//! Op instances: an op id plus attribute values, interned.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::ops::Deref;

use crate::op::{Attr, Op, OpDecl, OpId};
use crate::{Context, Expr};

/// The data of an [`OpInstance`].
#[derive(Clone, Copy, Debug)]
pub struct OpInstanceData<'c> {
    /// The op.
    pub id: OpId,
    /// Its declaration.
    pub decl: &'static OpDecl,
    /// Values in the order of [`OpDecl::attributes`].
    pub attrs: &'c [Attr<'c>],
}

impl PartialEq for OpInstanceData<'_> {
    fn eq(&self, other: &Self) -> bool {
        // Attribute lists are interned.
        self.id == other.id && std::ptr::eq(self.attrs, other.attrs)
    }
}
impl Eq for OpInstanceData<'_> {}
impl Hash for OpInstanceData<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id.hash(state);
        self.attrs.as_ptr().hash(state);
    }
}

/// An op with its attribute values. Interned: equal means same pointer.
#[derive(Clone, Copy)]
pub struct OpInstance<'c>(pub(crate) &'c OpInstanceData<'c>);

impl PartialEq for OpInstance<'_> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}
impl Eq for OpInstance<'_> {}
impl Hash for OpInstance<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::ptr::from_ref(self.0).hash(state);
    }
}
impl<'c> Deref for OpInstance<'c> {
    type Target = OpInstanceData<'c>;
    fn deref(&self) -> &Self::Target {
        self.0
    }
}
impl fmt::Debug for OpInstance<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.decl.name, self.attrs)
    }
}

impl<'c> OpInstance<'c> {
    /// Whether this is an instance of `O`.
    #[must_use]
    pub fn is<O: Op>(self) -> bool {
        self.decl.name.key == O::DECL.name.key
    }

    /// The attribute values, for the whole life of the arena.
    #[must_use]
    pub fn attrs(self) -> &'c [Attr<'c>] {
        self.0.attrs
    }

    /// The value of a named attribute.
    #[must_use]
    pub fn attr(self, name: &str) -> Option<Attr<'c>> {
        self.decl.attributes().position(|p| p.name == name).map(|i| self.0.attrs[i])
    }
}

/// An op instance with its operands, before or after the call node exists.
#[derive(Clone, Copy, Debug)]
pub struct OpView<'c> {
    /// The op.
    pub op: OpInstance<'c>,
    /// Its operands.
    pub args: &'c [Expr<'c>],
}

/// A call of the op `O`; derefs to the accessors that `#[op]` generates.
pub struct OpCall<'c, O: Op> {
    raw: OpView<'c>,
    view: O::View<'c>,
    op: PhantomData<O>,
}

impl<O: Op> Clone for OpCall<'_, O> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<O: Op> Copy for OpCall<'_, O> {}

impl<'c, O: Op> OpCall<'c, O> {
    /// The view as a call of `O`, if it is one.
    #[must_use]
    pub fn new(raw: OpView<'c>) -> Option<Self> {
        raw.op.is::<O>().then(|| Self { raw, view: raw.into(), op: PhantomData })
    }

    /// The operands.
    #[must_use]
    pub fn operands(&self) -> &'c [Expr<'c>] {
        self.raw.args
    }

    /// The op instance.
    #[must_use]
    pub fn view(&self) -> OpView<'c> {
        self.raw
    }

    /// The op with its attributes.
    #[must_use]
    pub fn instance(&self) -> OpInstance<'c> {
        self.raw.op
    }
}

impl<'c, O: Op> Deref for OpCall<'c, O> {
    type Target = O::View<'c>;
    fn deref(&self) -> &O::View<'c> {
        &self.view
    }
}

impl<'c> Context<'c> {
    /// The instance of `O` with these attribute values; the constructors of `#[op]` call it.
    ///
    /// # Panics
    /// If `O` is not registered in this context: a driver must register the dialects it uses.
    pub fn op<O: Op>(&self, attrs: &[Attr<'c>]) -> OpInstance<'c> {
        let id = self.ops().id_of(O::DECL.name);
        self.op_instance(id.unwrap_or_else(|| panic!("`{}` is not registered", O::DECL.name)), attrs)
    }
}
