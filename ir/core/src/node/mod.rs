//! The nodes of both IRs: closed enums, immutable, in the arena.

pub mod constraint;
mod expr;
mod function;
pub mod meta;
pub mod method;
mod module;
mod pattern;
mod stmt;

pub use constraint::Constraint;
pub use expr::{Callee, Expr, ExprData, ExprKind, GridRegion, Literal};
pub use function::{AnyFunction, Converter, Function, FunctionData, Origin, PrimFunction, PrimFunctionData};
pub use meta::Meta;
pub use method::Method;
pub use module::{Child, MetaValue, Module, ModuleData, Target, TargetKind};
pub use pattern::{DimVarRangePat, Pattern};
pub use stmt::{DispatchCase, Stmt, StmtData, StmtKind, TirCallee};

/// Defines a `Copy` node handle of one pointer; `==` and `Hash` mean identity.
macro_rules! node_handle {
    ($(#[$doc:meta])* $name:ident => $data:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $name<'c>(pub(crate) &'c $data<'c>);

        impl<'c> $name<'c> {
            /// The node's data, for the whole life of the arena.
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
pub(crate) use node_handle;
