//! Names and what they are bound to.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use tf_core::Span;
use tf_types::Symbol;

use crate::statics::Unread;
use crate::value::Value;

/// What a name is bound to.
#[derive(Clone)]
pub(crate) enum Binding<'c> {
    Value(Value<'c>),
    /// Cannot be used any more, not yet, or at all; with what helps, if anything does.
    Gone(String, Option<String>),
    /// What is bound in the scope of a function around, or in the file: by `nonlocal` and `global`.
    Outer(Option<Scope<'c>>),
    /// Its definition is refused; uses follow from that.
    Poison,
}

impl<'c> Binding<'c> {
    /// Bound to something that is not read: an error where it is used.
    pub(crate) fn unread(why: impl AsRef<str>, at: Span) -> Self {
        Self::Value(Unread::value(why.as_ref(), at))
    }

    pub(crate) fn as_unread(&self) -> Option<&Unread<'c>> {
        match self {
            Self::Value(Value::Unread(unread)) => Some(unread),
            _ => None,
        }
    }

    /// The binding of another name for the same reason.
    pub(crate) fn another(&self) -> Self {
        self.as_unread().map_or_else(|| self.clone(), |unread| Self::Value(unread.another()))
    }

    /// That of a local name before its first assignment.
    pub(crate) fn unset(name: &str) -> Self {
        Self::Gone(format!("`{name}` has no value yet: it is assigned below"), None)
    }

    pub(crate) fn value(&self) -> Option<Value<'c>> {
        match self {
            Self::Value(value) => Some(value.clone()),
            _ => None,
        }
    }
}

pub(crate) type Frame<'c> = FxHashMap<Symbol<'c>, Binding<'c>>;

/// What the names of a scope belong to.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Kind<'c> {
    /// A class under `@module`, or the parameters of a method of one.
    #[default]
    Module,
    /// A call of a plain function: the class whose body defines it, and its first parameter.
    Function(Option<(usize, Symbol<'c>)>),
    Comprehension,
    /// A plain class, whose names the functions in it do not see.
    Class,
}

#[derive(Default)]
pub(crate) struct Names<'c> {
    frame: RefCell<Frame<'c>>,
    pub(crate) kind: Kind<'c>,
}

/// The names of a class, or of a call of a plain function; functions that are defined in it keep it.
pub(crate) type Scope<'c> = Rc<Names<'c>>;

impl<'c> Names<'c> {
    pub(crate) fn scope(frame: Frame<'c>, kind: Kind<'c>) -> Scope<'c> {
        Rc::new(Self { frame: RefCell::new(frame), kind })
    }

    pub(crate) fn borrow(&self) -> std::cell::Ref<'_, Frame<'c>> {
        self.frame.borrow()
    }

    pub(crate) fn borrow_mut(&self) -> std::cell::RefMut<'_, Frame<'c>> {
        self.frame.borrow_mut()
    }
}
