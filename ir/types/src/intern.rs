//! Hash-consing of immutable values.

use std::fmt;
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::{Mutex, PoisonError};

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

const SHARDS: usize = 16;

/// A set of unique `&'c T`. Sharded by hash, so that parallel passes rarely wait for each other.
pub struct Interner<'c, T: ?Sized> {
    shards: [Mutex<HashTable<&'c T>>; SHARDS],
}

impl<T: ?Sized> Default for Interner<'_, T> {
    fn default() -> Self {
        Self { shards: std::array::from_fn(|_| Mutex::new(HashTable::new())) }
    }
}

impl<'c, T: ?Sized + Hash + Eq> Interner<'c, T> {
    /// The unique reference equal to `value`; `store` copies it into the arena on a miss.
    pub fn intern(&self, value: &T, store: impl FnOnce() -> &'c T) -> &'c T {
        let hash = FxBuildHasher.hash_one(value);
        // The table uses the low and the top bits of the hash, the shard the ones between.
        let shard = &self.shards[(hash >> 32) as usize % SHARDS];
        // A lock of the standard library waits in the kernel, so a plugin's copy of this code can share it.
        let mut table = shard.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = table.find(hash, |have| **have == *value) {
            return found;
        }
        let stored = store();
        table.insert_unique(hash, stored, |have| FxBuildHasher.hash_one(*have));
        stored
    }
}

/// An interned string: a name of a value, function, mesh axis, dim or attribute.
#[derive(Clone, Copy)]
pub struct Symbol<'c>(pub(crate) &'c str);

impl<'c> Symbol<'c> {
    /// The text.
    #[must_use]
    pub fn as_str(self) -> &'c str {
        self.0
    }
}

impl PartialEq for Symbol<'_> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}
impl Eq for Symbol<'_> {}
impl Hash for Symbol<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.as_ptr().hash(state);
    }
}
impl fmt::Debug for Symbol<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.0, f)
    }
}
impl fmt::Display for Symbol<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// Defines a `Copy` handle of one pointer into the arena; `==` and `Hash` are those of the pointer.
#[macro_export]
macro_rules! pointer_handle {
    ($(#[$doc:meta])* $name:ident => $data:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $name<'c>(pub(crate) &'c $data<'c>);

        impl<'c> $name<'c> {
            /// What it points to, for the whole life of the arena.
            #[must_use]
            pub fn data(self) -> &'c $data<'c> {
                self.0
            }
        }
        impl PartialEq for $name<'_> {
            fn eq(&self, other: &Self) -> bool {
                std::ptr::eq(self.0, other.0)
            }
        }
        impl Eq for $name<'_> {}
        impl std::hash::Hash for $name<'_> {
            fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
                std::ptr::from_ref(self.0).hash(state);
            }
        }
        impl<'c> std::ops::Deref for $name<'c> {
            type Target = $data<'c>;
            fn deref(&self) -> &Self::Target {
                self.0
            }
        }
    };
}

/// A [`pointer_handle!`] of interned data, which is shown as its data.
macro_rules! interned_handle {
    ($(#[$doc:meta])* $name:ident => $data:ident) => {
        $crate::pointer_handle! { $(#[$doc])* $name => $data }

        impl std::fmt::Debug for $name<'_> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Debug::fmt(self.0, f)
            }
        }
    };
}
pub(crate) use interned_handle;
