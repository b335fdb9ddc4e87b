//! Dicts and sets of constants: in order, found by key.

use rustc_hash::FxHashMap;
use tf_core::Span;
use tf_types::{DType, Dim, Storage, Symbol};

use super::class::{Hash, Kind};
use crate::names::Builtin;
use crate::parser::Parser;
use crate::refusal::{Refusal, Res};
use crate::value::Value;

/// Keys and values, in the order of the keys' first mention.
#[derive(Default, Clone)]
pub(crate) struct Dict<'c> {
    items: Vec<(Value<'c>, Value<'c>)>,
    places: FxHashMap<Key<'c>, usize>,
    pub(super) flavour: Flavour<'c>,
}

/// What a dict does besides.
#[derive(Default, Clone)]
pub(crate) enum Flavour<'c> {
    #[default]
    Plain,
    /// `OrderedDict`: two are equal in the same order only.
    Ordered,
    /// `defaultdict`: what it calls for a key that is missing.
    Default(Value<'c>),
    /// `Counter`: a key that is missing stands for 0.
    Counter,
}

/// A set: the keys of a dict.
pub(crate) struct Set<'c> {
    pub(crate) items: Dict<'c>,
    pub(crate) is_frozen: bool,
}

/// Values in a key.
const LARGEST_KEY: usize = 256;

/// A key as Python compares them: `1`, `1.0` and `True` are one.
#[derive(PartialEq, Eq, Hash, Clone)]
pub(crate) enum Key<'c> {
    None,
    Int(i64),
    Float(u64),
    Str(Symbol<'c>),
    Dim(Dim<'c>),
    DType(DType),
    Kind(&'static str, u8),
    Storage(Storage),
    Tuple(Vec<Key<'c>>),
    /// Of a class, the values that its instances are compared by.
    Fields(usize, Vec<Key<'c>>),
    /// What is equal to nothing else.
    Object(usize),
    Factory(usize),
    Record(usize),
    Builtin(&'static str),
}

impl<'c> Dict<'c> {
    pub(super) fn empty(flavour: Flavour<'c>) -> Self {
        Self { flavour, ..Self::default() }
    }

    /// What a `defaultdict` calls.
    pub(super) fn factory(&self) -> Option<Value<'c>> {
        match &self.flavour {
            Flavour::Default(factory) => Some(factory.clone()),
            _ => None,
        }
    }

    pub(super) fn is_plain(&self) -> bool {
        matches!(self.flavour, Flavour::Plain)
    }

    pub(super) fn is_ordered(&self) -> bool {
        matches!(self.flavour, Flavour::Ordered)
    }

    pub(super) fn is_counter(&self) -> bool {
        matches!(self.flavour, Flavour::Counter)
    }

    /// Takes all items out.
    pub(super) fn clear(&mut self) {
        self.items.clear();
        self.places.clear();
    }

    pub(crate) fn put(&mut self, key: Key<'c>, name: Value<'c>, value: Value<'c>) {
        let at = *self.places.entry(key).or_insert(self.items.len());
        match self.items.get_mut(at) {
            Some(item) => item.1 = value,
            None => self.items.push((name, value)),
        }
    }

    pub(crate) fn get(&self, key: &Key<'c>) -> Option<&Value<'c>> {
        self.places.get(key).map(|&at| &self.items[at].1)
    }

    /// Takes an item out; those behind it move up.
    pub(crate) fn remove(&mut self, key: &Key<'c>) -> Option<(Value<'c>, Value<'c>)> {
        let at = self.places.remove(key)?;
        if at + 1 < self.items.len() {
            self.places.values_mut().filter(|place| **place > at).for_each(|place| *place -= 1);
        }
        Some(self.items.remove(at))
    }

    pub(crate) fn items(&self) -> &[(Value<'c>, Value<'c>)] {
        &self.items
    }

    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &Key<'c>> {
        self.places.keys()
    }

    /// Its items with the keys that they are found by.
    pub(super) fn entries(&self) -> Vec<(Key<'c>, Value<'c>, Value<'c>)> {
        let mut keys: Vec<_> = self.places.iter().map(|(key, &at)| (at, key)).collect();
        keys.sort_unstable_by_key(|(at, _)| *at);
        keys.into_iter()
            .zip(&self.items)
            .map(|((_, key), (name, value))| (key.clone(), name.clone(), value.clone()))
            .collect()
    }
}

impl<'c> Parser<'_, 'c> {
    /// What a value is found by; `what` it would be.
    pub(crate) fn key(&mut self, value: &Value<'c>, what: &str, span: Span) -> Res<Key<'c>> {
        let weight = value.weight(LARGEST_KEY + 1);
        let key = if weight > LARGEST_KEY { None } else { self.key_of(value, span)? };
        if self.body.is_none() {
            self.step(1 + weight / 2, span)?;
        }
        key.ok_or_else(|| Refusal::unread(span, format!("{} is no {what}", value.describe())))
    }

    fn key_of(&mut self, value: &Value<'c>, span: Span) -> Res<Option<Key<'c>>> {
        Ok(Some(match value {
            Value::None => Key::None,
            Value::Bool(value) => Key::Int(i64::from(*value)),
            Value::Int(value) => Key::Int(*value),
            // Not each nan is itself.
            Value::Float(value) if value.is_nan() => return Ok(None),
            Value::Float(value) => match super::numbers::exact(*value) {
                Some(whole) => Key::Int(whole),
                None => Key::Float(value.to_bits()),
            },
            Value::Str(text) => Key::Str(*text),
            Value::Dim(dim) => Key::Dim(*dim),
            Value::DType(dtype) => Key::DType(*dtype),
            Value::Kind(decl, at) => Key::Kind(decl.name, *at),
            Value::Storage(storage) => Key::Storage(*storage),
            Value::Tuple(items) => match self.keys_of(items, span)? {
                Some(keys) => Key::Tuple(keys),
                None => return Ok(None),
            },
            Value::Factory(at) => Key::Factory(*at),
            Value::Record(at) => Key::Record(*at),
            Value::Builtin(
                builtin @ (Builtin::Python(_) | Builtin::IntType | Builtin::StrType | Builtin::FloatType),
            ) => Key::Builtin(builtin.name()),
            Value::Object(object) => {
                self.known(value, span)?;
                if let Some(plain) = self.payload(value) {
                    return self.key_of(&plain, span);
                }
                if object.get().is_tuple {
                    let items = value.as_sequence();
                    let keys = self.keys_of(items.as_deref().map_or(&[][..], |items| items), span)?;
                    return Ok(keys.map(Key::Tuple));
                }
                let Some(class) = object.get().class() else { return Ok(None) };
                match self.hash_of(class) {
                    Hash::Identity => Key::Object(std::rc::Rc::as_ptr(object).addr()),
                    Hash::Fields(owner) => {
                        let mut keys = Vec::new();
                        for value in self.compared_fields(owner, value, span)? {
                            match self.key_of(&value, span)? {
                                Some(key) => keys.push(key),
                                None => return Ok(None),
                            }
                        }
                        Key::Fields(class, keys)
                    }
                    Hash::None => return Ok(None),
                }
            }
            other => {
                self.read(other, span)?;
                return Ok(None);
            }
        }))
    }

    fn keys_of(&mut self, values: &[Value<'c>], span: Span) -> Res<Option<Vec<Key<'c>>>> {
        let mut keys = Vec::with_capacity(values.len());
        for value in values {
            match self.key_of(value, span)? {
                Some(key) => keys.push(key),
                None => return Ok(None),
            }
        }
        Ok(Some(keys))
    }

    /// Sets an item of a dict that is made.
    pub(crate) fn put(&mut self, dict: &mut Dict<'c>, key: Value<'c>, value: Value<'c>, span: Span) -> Res<()> {
        let found = self.key(&key, "key of a dict", span)?;
        dict.put(found, key, value);
        Ok(())
    }

    /// A set of these values.
    pub(super) fn set_of(&mut self, items: Vec<Value<'c>>, is_frozen: bool, span: Span) -> Res<Value<'c>> {
        let items = self.distinct(items, span)?;
        Ok(self.heap.set(items, is_frozen))
    }

    /// The values without those that are there already.
    pub(super) fn distinct(&mut self, items: Vec<Value<'c>>, span: Span) -> Res<Dict<'c>> {
        let mut keys = Dict::default();
        for item in items {
            self.step(1, span)?;
            let key = self.key(&item, "element of a set", span)?;
            if keys.get(&key).is_none() {
                keys.put(key, item, Value::None);
            }
        }
        Ok(keys)
    }

    /// The int or string that a member of an enum is besides.
    pub(crate) fn payload(&self, value: &Value<'c>) -> Option<Value<'c>> {
        let Value::Object(object) = value else { return None };
        let object = object.get();
        let Kind::Enum { payload: Some(_) } = self.records[object.class()?].kind else { return None };
        object.attributes.iter().find(|(name, _)| name.as_str() == "value").map(|(_, value)| value.clone())
    }

    /// A value, of a member of an `IntEnum` or `StrEnum` the int or string that it is.
    pub(crate) fn plain(&self, value: Value<'c>) -> Value<'c> {
        self.payload(&value).unwrap_or(value)
    }
}
