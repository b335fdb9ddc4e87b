//! The pass that turns HIR functions into TIR functions.

use tf_core::{AnyFunction, Context, Diagnostic, Module, Result, Target, TargetKind};
use tf_framework::{OptionValue, Pass, PassCx, map_in_parallel};

use crate::function::lower_function;
use crate::table::LowerTable;

/// The device of a module that declares none.
const DEFAULT_DEVICE: &str = "nvidia.h200_sxm";

/// Where a lowered function runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, OptionValue)]
pub enum LowerTarget {
    /// As placed, on the module's CUDA target.
    #[default]
    Cuda,
    /// On the host: placement is dropped.
    Cpu,
}

/// Turns every HIR function into a TIR function: `f(params) -> R` becomes `f(params…, outs…)`.
///
/// On `cuda` every position of the meshes computes what it holds; on `cpu` values are logical host buffers.
#[derive(Clone, Pass)]
#[pass(name = "hir-to-tir", rounds)]
pub struct HirToTir {
    /// What the functions will run on.
    #[option]
    pub target: LowerTarget,
    /// Lowering rules.
    pub table: LowerTable,
}

impl Pass for HirToTir {
    fn run<'c>(&self, module: Module<'c>, cx: &mut PassCx<'_, 'c>) -> Result<Module<'c>> {
        let target = match self.target {
            LowerTarget::Cpu => Target { kind: TargetKind::Cpu, device: cx.symbol("") },
            LowerTarget::Cuda => match module.target {
                Some(target) if target.kind == TargetKind::Cuda => target,
                Some(target) => {
                    let message = format!("the module's target is `{target}`, which runs no kernels");
                    return Err(Diagnostic::error(message).at(module.target_span()).with_help("use `target=cpu`"));
                }
                None => Target { kind: TargetKind::Cuda, device: cx.symbol(DEFAULT_DEVICE) },
            },
        };
        let lower = |cx: &Context<'c>, function: &AnyFunction<'c>| match *function {
            AnyFunction::Hir(function) => lower_function(cx, function, target, &self.table).map(AnyFunction::Tir),
            lowered @ AnyFunction::Tir(_) => Ok(lowered),
        };
        let lowered = map_in_parallel(cx.context(), module.data().functions, lower);
        let mut functions = Vec::with_capacity(lowered.len());
        let mut failed = None;
        for result in lowered {
            match (result, &failed) {
                (Ok(function), _) => functions.push(function),
                (Err(error), None) => failed = Some(error),
                (Err(error), Some(_)) => cx.emit(error),
            }
        }
        if let Some(error) = failed {
            return Err(error);
        }
        if functions == module.data().functions {
            return Ok(module);
        }
        let functions = cx.alloc_slice(&functions);
        Ok(cx.module(tf_core::node::ModuleData { functions, target: Some(target), ..*module.data() }))
    }
}
