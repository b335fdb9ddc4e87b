//! Modules: the execution domain of their functions (spec: core-ir §1).

use std::fmt;

use tf_types::{Symbol, Topology};

use crate::Span;
use crate::node::{AnyFunction, node_handle};

node_handle! {
    /// A compilation unit: parser output, pass input and output.
    Module => ModuleData
}

/// The data of a [`Module`].
#[derive(Clone, Copy)]
pub struct ModuleData<'c> {
    /// Its name.
    pub name: Symbol<'c>,
    /// Members in definition order; names are unique.
    pub functions: &'c [AnyFunction<'c>],
    /// The default step: the name of one of `functions`.
    pub entry: Option<Symbol<'c>>,
    /// The hardware it runs on.
    pub target: Option<Target<'c>>,
    /// Its ordered levels; `None`: not declared.
    pub topologies: Option<&'c [Topology<'c>]>,
    /// Where its name stands.
    pub span: Option<Span>,
}

/// The hardware that runs a module or a TIR function; `tf-target` knows its facts.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Target<'c> {
    /// Which code generator.
    pub kind: TargetKind,
    /// Device id, such as `nvidia.h200_sxm`; empty for the CPU.
    pub device: Symbol<'c>,
}

/// Families of targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TargetKind {
    /// NVIDIA GPUs.
    Cuda,
    /// The host.
    Cpu,
}

impl fmt::Display for Target<'_> {
    /// The form of textual IR: the device id, or `cpu`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            TargetKind::Cuda => write!(f, "{}", self.device),
            TargetKind::Cpu => f.write_str("cpu"),
        }
    }
}

impl<'c> Module<'c> {
    /// The function of that name.
    #[must_use]
    pub fn lookup(self, name: &str) -> Option<AnyFunction<'c>> {
        self.0.functions.iter().copied().find(|f| f.name().as_str() == name)
    }

    /// The function that `entry` names.
    #[must_use]
    pub fn entry_function(self) -> Option<AnyFunction<'c>> {
        self.lookup(self.0.entry?.as_str())
    }
}
