//! Ops: declarations, instances, the registry and the rules that hang on it.

pub mod attr;
mod check;
pub mod decl;
pub mod instance;
pub(crate) mod recent;
pub mod registry;
pub mod rules;

pub use attr::{Attr, AttrEnum, AttrKind, AttrType, EnumDecl};
pub use decl::{AliasDecl, AttrDefault, InputPattern, Op, OpDecl, OpForm, OpName, ParamDecl, ParamKind};
pub use instance::{OpCall, OpInstance, OpView};
pub use registry::{AnalysisRegistry, OpId, OpRegistry, OpRegistryBuilder, RegistryError, Schema};
pub use rules::{AccessRule, CallSpans, RuleError, TypeRule, VerifyRule};
