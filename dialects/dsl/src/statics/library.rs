//! Functions of libraries that are imported and not read: what they may change.

use ruff_python_ast as ast;

use super::Unread;
use crate::parser::Parser;

/// Functions of libraries that change what they are given.
const IN_PLACE: &[&str] = &[
    "delattr",
    "delitem",
    "heapify",
    "heappop",
    "heappush",
    "heappushpop",
    "heapreplace",
    "iadd",
    "iand",
    "iconcat",
    "imul",
    "insort",
    "insort_left",
    "insort_right",
    "ior",
    "isub",
    "ixor",
    "pack_into",
    "readinto",
    "setattr",
    "setitem",
    "shuffle",
    "update_wrapper",
];

/// Whether a function of a library changes what it is given, by its name.
pub(super) fn changes_given(name: &str) -> bool {
    IN_PLACE.contains(&name)
}

impl Parser<'_, '_> {
    /// Whether a callee is a function of a library that is not read, and changes nothing by its name.
    pub(crate) fn is_library(&self, callee: &ast::Expr) -> bool {
        let (mut at, mut last) = (callee, None);
        loop {
            match at {
                ast::Expr::Attribute(attribute) => {
                    last = last.or(Some(attribute.attr.as_str()));
                    at = &attribute.value;
                }
                ast::Expr::Name(name) => {
                    let bound = self.binding(self.cx.symbol(name.id.as_str()));
                    let is_library = bound.is_some_and(|bound| bound.as_unread().is_some_and(Unread::is_library));
                    return is_library && last.is_none_or(|last| !changes_given(last));
                }
                _ => return false,
            }
        }
    }
}
