//! Types inferred recently: programs apply few ops to few types, again and again.

use std::cell::Cell;

use tf_types::Type;

use crate::node::ExprKind;
use crate::op::{OpInstance, OpView};

const MOST_OPERANDS: usize = 3;
const SLOTS: usize = 256;

/// An op with its operands' types; unused places are `None`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Key<'c> {
    op: OpInstance<'c>,
    types: [Option<Type<'c>>; MOST_OPERANDS],
}

type Slot<'c> = Cell<Option<(Key<'c>, Type<'c>)>>;

/// One result a slot; a newer one takes the place of an older.
pub struct RecentTypes<'c> {
    slots: Box<[Slot<'c>; SLOTS]>,
}

impl Default for RecentTypes<'_> {
    fn default() -> Self {
        Self { slots: Box::new([const { Cell::new(None) }; SLOTS]) }
    }
}

impl<'c> RecentTypes<'c> {
    /// The key of a call; none where the type may depend on a literal, or of more operands.
    pub fn key(view: OpView<'c>) -> Option<Key<'c>> {
        let mut types = [None; MOST_OPERANDS];
        if view.args.len() > MOST_OPERANDS {
            return None;
        }
        for (slot, arg) in types.iter_mut().zip(view.args) {
            if let ExprKind::Constant(_) = arg.kind {
                return None;
            }
            *slot = Some(arg.ty());
        }
        Some(Key { op: view.op, types })
    }

    fn slot(&self, key: Key<'c>) -> &Slot<'c> {
        let mut hash = std::ptr::from_ref(key.op.0) as usize as u64;
        for ty in key.types.into_iter().flatten() {
            hash = (hash.rotate_left(23) ^ std::ptr::from_ref(ty.data()) as usize as u64)
                .wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
        &self.slots[(hash >> 56) as usize % SLOTS]
    }

    /// The type of that call, if it was inferred recently.
    pub fn get(&self, key: Key<'c>) -> Option<Type<'c>> {
        self.slot(key).get().filter(|(other, _)| *other == key).map(|(_, ty)| ty)
    }

    /// Remembers the type of a call.
    pub fn put(&self, key: Key<'c>, ty: Type<'c>) {
        self.slot(key).set(Some((key, ty)));
    }
}
