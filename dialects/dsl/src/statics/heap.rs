//! Objects with identity: lists, dicts, sets, instances, iterators.
//!
//! All that hold one hold the same, so that a change through one name is seen through every other. What code that is not
//! run may have changed is marked on the object itself.

use std::cell::{OnceCell, Ref as Borrowed, RefCell, RefMut};
use std::rc::Rc;

use tf_core::Span;

use super::{Dict, Instance, Iter, Set};
use crate::parser::Parser;
use crate::refusal::{Refusal, Res};
use crate::value::{Sequence, Value};

/// Why something is not known any more, and since where.
#[derive(Clone)]
pub(crate) struct Unknown {
    pub(super) why: Rc<str>,
    pub(super) at: Span,
}

/// A state that all holders share.
pub(crate) struct Object<T> {
    state: RefCell<T>,
    unknown: OnceCell<Unknown>,
}

pub(crate) type Ref<T> = Rc<Object<T>>;

impl<T> Object<T> {
    fn new(state: T) -> Ref<T> {
        Rc::new(Self { state: RefCell::new(state), unknown: OnceCell::new() })
    }

    /// The state, for a moment: nothing is evaluated meanwhile.
    pub(crate) fn get(&self) -> Borrowed<'_, T> {
        self.state.borrow()
    }

    /// [`Self::get`] to change it.
    pub(crate) fn change(&self) -> RefMut<'_, T> {
        self.state.borrow_mut()
    }

    pub(crate) fn unknown(&self) -> Option<&Unknown> {
        self.unknown.get()
    }

    /// Whether it was known until now.
    pub(super) fn forget(&self, unknown: &Unknown) -> bool {
        self.unknown.set(unknown.clone()).is_ok()
    }
}

/// The objects of one file. They live as long as it is read: then each is emptied, so that neither cycles nor depth
/// matter.
#[derive(Default)]
pub(crate) struct Heap<'c> {
    objects: RefCell<Vec<Value<'c>>>,
}

impl<'c> Heap<'c> {
    fn keep(&self, value: Value<'c>) -> Value<'c> {
        self.objects.borrow_mut().push(value.clone());
        value
    }

    pub(crate) fn list(&self, items: Vec<Value<'c>>) -> Value<'c> {
        self.keep(Value::List(Object::new(Rc::new(Sequence { items, depth: 0 }))))
    }

    pub(crate) fn dict(&self, items: Dict<'c>) -> Value<'c> {
        self.keep(Value::Dict(Object::new(items)))
    }

    pub(crate) fn set(&self, items: Dict<'c>, is_frozen: bool) -> Value<'c> {
        self.keep(Value::Set(Object::new(Set { items, is_frozen })))
    }

    pub(crate) fn instance(&self, instance: Instance<'c>) -> Value<'c> {
        self.keep(Value::Object(Object::new(instance)))
    }

    pub(super) fn iter(&self, iter: Iter<'c>) -> Ref<Iter<'c>> {
        let object = Object::new(iter);
        self.keep(Value::Iter(Rc::clone(&object)));
        object
    }
}

impl Drop for Heap<'_> {
    fn drop(&mut self) {
        for object in &*self.objects.borrow() {
            match object {
                Value::List(list) => *list.change() = Rc::new(Sequence { items: Vec::new(), depth: 0 }),
                Value::Dict(dict) => *dict.change() = Dict::default(),
                Value::Set(set) => set.change().items = Dict::default(),
                Value::Object(object) => object.change().attributes = Vec::new(),
                Value::Iter(iter) => *iter.change() = Iter::Done,
                _ => {}
            }
        }
    }
}

impl<'c> Value<'c> {
    /// Why its state is not known any more.
    fn unknown(&self) -> Option<&Unknown> {
        match self {
            Self::List(list) => list.unknown(),
            Self::Dict(dict) | Self::View(_, dict) => dict.unknown(),
            Self::Set(set) => set.unknown(),
            Self::Object(object) => object.unknown(),
            Self::Iter(iter) => iter.unknown(),
            _ => None,
        }
    }
}

impl<'c> Parser<'_, 'c> {
    /// Refuses a value that is not read, and an object whose state is not known any more.
    pub(crate) fn known(&self, value: &Value<'c>, span: Span) -> Res<()> {
        self.read(value, span)?;
        if !self.has_unknown {
            return Ok(());
        }
        let has_state = matches!(
            value,
            Value::List(_) | Value::Dict(_) | Value::View(..) | Value::Set(_) | Value::Object(_) | Value::Iter(_)
        );
        let class = match value {
            Value::Record(at) => Some(*at),
            Value::Object(object) => object.get().class(),
            Value::Bound(bound) => {
                let mut args = bound.args.iter().filter(|value| !matches!(value, Value::Unread(_)));
                return args.try_for_each(|value| self.known(value, span));
            }
            Value::Method(method) if method.0.depth() == 0 => return self.known(&method.0, span),
            _ => None,
        };
        let of_class = || self.classes(class).find_map(|at| self.records[at].unknown.as_ref());
        let unknown = value.unknown().or_else(of_class).or(self.all_unknown.as_ref().filter(|_| has_state));
        match unknown {
            None => Ok(()),
            Some(Unknown { why, at }) => Err(Refusal::unread(span, &**why).also(*at, "changed here")),
        }
    }
}
