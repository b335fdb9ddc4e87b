//! Dicts of constants: in order, found by key.

use rustc_hash::FxHashMap;
use tf_types::{DType, Dim, Storage, Symbol};

use crate::value::{SEQUENCE_DEPTH, Value};

/// A dict of constants.
#[derive(Default)]
pub(crate) struct Dict<'c> {
    items: Vec<(Value<'c>, Value<'c>)>,
    places: FxHashMap<Key<'c>, usize>,
    /// How deep it nests.
    pub(crate) depth: u32,
}

/// Values in a key.
const LARGEST_KEY: usize = 256;

/// A key as Python compares them: `1`, `1.0` and `True` are one.
#[derive(PartialEq, Eq, Hash)]
enum Key<'c> {
    None,
    Int(i64),
    Float(u64),
    Str(Symbol<'c>),
    Dim(Dim<'c>),
    DType(DType),
    Storage(Storage),
    Tuple(Vec<Key<'c>>),
}

impl<'c> Key<'c> {
    fn new(value: &Value<'c>) -> Option<Self> {
        if value.weight(LARGEST_KEY + 1) > LARGEST_KEY {
            return None;
        }
        Self::of(value)
    }

    fn of(value: &Value<'c>) -> Option<Self> {
        Some(match value {
            Value::None => Self::None,
            Value::Bool(value) => Self::Int(i64::from(*value)),
            Value::Int(value) => Self::Int(*value),
            Value::Float(value) if (*value as i64) as f64 == *value => Self::Int(*value as i64),
            Value::Float(value) => Self::Float(value.to_bits()),
            Value::Str(text) => Self::Str(*text),
            Value::Dim(dim) => Self::Dim(*dim),
            Value::DType(dtype) => Self::DType(*dtype),
            Value::Storage(storage) => Self::Storage(*storage),
            Value::Tuple(items) => Self::Tuple(items.items.iter().map(Self::of).collect::<Option<_>>()?),
            _ => return None,
        })
    }
}

impl<'c> Dict<'c> {
    /// Sets an item.
    ///
    /// # Errors
    /// For a key that is no constant with a hash, and a value that nests too deep.
    pub(crate) fn put(&mut self, key: Value<'c>, value: Value<'c>) -> Result<(), String> {
        let Some(hashed) = Key::new(&key) else { return Err(format!("{} is no key of a dict", key.describe())) };
        let depth = value.depth() + 1;
        if depth > SEQUENCE_DEPTH {
            return Err(format!("values are nested more than {SEQUENCE_DEPTH} deep"));
        }
        self.depth = self.depth.max(depth);
        let at = *self.places.entry(hashed).or_insert(self.items.len());
        match self.items.get_mut(at) {
            Some(item) => item.1 = value,
            None => self.items.push((key, value)),
        }
        Ok(())
    }

    pub(crate) fn get(&self, key: &Value<'c>) -> Option<&Value<'c>> {
        let at = *self.places.get(&Key::new(key)?)?;
        Some(&self.items[at].1)
    }

    pub(crate) fn get_mut(&mut self, key: &Value<'c>) -> Option<&mut Value<'c>> {
        let at = *self.places.get(&Key::new(key)?)?;
        Some(&mut self.items[at].1)
    }

    /// Takes an item out; those behind it move up.
    pub(crate) fn remove(&mut self, key: &Value<'c>) -> Option<Value<'c>> {
        let at = self.places.remove(&Key::new(key)?)?;
        self.places.values_mut().filter(|place| **place > at).for_each(|place| *place -= 1);
        Some(self.items.remove(at).1)
    }

    /// Keeps the depth of an item that was changed.
    pub(crate) fn deepen(&mut self, depth: u32) {
        self.depth = self.depth.max(depth);
    }

    /// Keys and values in the order of the keys' first mention.
    pub(crate) fn items(&self) -> &[(Value<'c>, Value<'c>)] {
        &self.items
    }
}
