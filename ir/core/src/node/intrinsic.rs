//! Statements that authors declare.

use std::fmt;

use tf_types::Symbol;

/// A statement that a file declares, `@intrinsic`: it may read and write all of its operands.
///
/// Two are equal when they say the same: a declaration has no identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Intrinsic<'c> {
    /// Its name, the only one in its file.
    pub name: Symbol<'c>,
    /// The names of its operands.
    pub params: &'c [Symbol<'c>],
    /// The declaration as a Python function, whose body checks the operands of each use. It uses nothing of its file:
    /// compile-time values stand in place of their names.
    pub source: Symbol<'c>,
}

impl fmt::Display for Intrinsic<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.name.fmt(f)
    }
}
