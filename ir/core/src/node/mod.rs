//! The nodes of both IRs: closed enums, immutable, in the arena.

pub mod constraint;
mod expr;
mod function;
mod intrinsic;
pub mod meta;
pub mod method;
mod module;
mod pattern;
mod stmt;

pub use constraint::Constraint;
pub use expr::{Callee, Expr, ExprData, ExprKind, GridRegion, Literal};
pub use function::{AnyFunction, Converter, Function, FunctionData, Origin, PrimFunction, PrimFunctionData};
pub use intrinsic::Intrinsic;
pub use meta::Meta;
pub use method::Method;
pub use module::{Child, HeaderSpans, MetaValue, Module, ModuleData, Target, TargetKind};
pub use pattern::{DimVarRangePat, Pattern};
pub use stmt::{DispatchCase, Stmt, StmtData, StmtKind, TirCallee};
