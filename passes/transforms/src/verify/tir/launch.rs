//! Launches of device functions from the host.

use tf_core::op::OpCall;
use tf_core::{AnyFunction, ExprKind, Function, PrimFunction, Span, StmtKind, TargetKind};
use tf_target::Device;
use tf_tir::launch::{Launch, known_geometry};

use super::Check;
use crate::verify::target;

const AXES: [&str; 3] = ["x", "y", "z"];

impl<'c> Check<'_, 'c> {
    /// A host function starts a device function with what that one takes, within the limits of its device.
    pub(super) fn launch(&mut self, call: OpCall<'c, Launch>, span: Option<Span>) {
        if self.function.target.kind != TargetKind::Cpu {
            let message = format!("`{}` launches, but runs on {}", self.function.name, self.function.target);
            self.errors.add(span, message).help = Some("launch from a function of the host, `CpuTarget()`".to_owned());
        }
        let ExprKind::SymbolRef(name) = call.callee().kind else { return };
        let callee = match self.names.launched(name) {
            Some(AnyFunction::Tir(callee)) => callee,
            Some(AnyFunction::Hir(callee)) => return self.launch_of_hir(callee, &call, span),
            None => return,
        };
        if callee.target.kind != TargetKind::Cuda {
            let message = format!("`@{name}` is launched, but runs on {}", callee.target);
            self.errors.add(span, message).help = Some("launch a function of a `CudaTarget`".to_owned());
        }
        let (visible, found) = (callee.visible_params().len(), call.args().len());
        if visible != found {
            let message = format!("`@{name}` takes {visible} tensors, found {found}");
            self.errors.add(span, message);
        }
        let Ok(Some(device)) = target::of_target(Some(callee.target)) else { return };
        self.geometry(call, device, callee, span);
    }

    /// A function that is not lowered yet takes its parameters and a buffer for each result, and will run on the module's
    /// device.
    fn launch_of_hir(&mut self, callee: Function<'c>, call: &OpCall<'c, Launch>, span: Option<Span>) {
        let name = callee.name;
        match callee.lowered_params(self.cx) {
            Some(params) if params.len() == call.args().len() => {}
            Some(params) => {
                let message = format!("`@{name}` takes {} tensors, found {}", params.len(), call.args().len());
                self.errors.add(span, message);
            }
            None => {
                let message = format!("`@{name}` returns {}, and buffers are tensors", callee.return_type);
                self.errors.add(span, message);
            }
        }
        if let Some(target) = self.module.target.filter(|target| target.kind != TargetKind::Cuda) {
            let message = format!("`@{name}` is launched, but its module's target is {target}");
            self.errors.add(span, message).help = Some("declare a `CudaTarget`, or none".to_owned());
        }
    }

    /// Each number that is constant, whatever the others are: a grid that follows a shape is usual.
    fn geometry(&mut self, call: OpCall<'c, Launch>, device: &Device, callee: PrimFunction<'c>, span: Option<Span>) {
        let (grid, block) = known_geometry(&call);
        let mut is_axis_too_long = false;
        for (what, extents) in [("grid", grid), ("block", block)] {
            for (axis, extent) in AXES.into_iter().zip(extents) {
                let (Some(extent), Ok(limit)) = (extent, device.integer(&format!("{what}_{axis}"))) else { continue };
                if i64::from(extent) > limit {
                    let message = format!("{what} {axis} is {extent}, but `{}` allows at most {limit}", device.name);
                    self.errors.add(span, message);
                    is_axis_too_long |= what == "block";
                }
            }
        }
        if let Some(threads) = product(block) {
            if let Ok(limit) = device.integer("threads_per_cta")
                && threads > limit
            {
                // An axis that is too long alone has been named.
                if !is_axis_too_long {
                    let message = format!("a block of {threads} threads, but `{}` allows at most {limit}", device.name);
                    self.errors.add(span, message);
                }
            } else if let Some(level) = level_size(callee, "thread").filter(|&level| level != threads) {
                let message =
                    format!("a block of {threads} threads, but the meshes of `@{}` have {level}", callee.name);
                self.errors.add(span, message);
            }
        }
        if let Some(ctas) = product(grid)
            && let Some(level) = level_size(callee, "cta").filter(|&level| level != ctas)
        {
            let message = format!("a grid of {ctas} CTAs, but the meshes of `@{}` have {level}", callee.name);
            self.errors.add(span, message);
        }
        if let Ok(limit) = device.integer("shared_memory_per_cta")
            && call.dynamic_smem() > limit
        {
            let found = call.dynamic_smem();
            let message = format!("{found} bytes of dynamic_smem, but a CTA of `{}` has {limit}", device.name);
            self.errors.add(span, message);
        }
    }
}

/// How many positions three extents make, if all are known.
fn product(extents: [Option<u32>; 3]) -> Option<i64> {
    extents.into_iter().try_fold(1i64, |product, extent| Some(product.saturating_mul(i64::from(extent?))))
}

/// The size of a level that a function's meshes are over, if it is known.
fn level_size(function: PrimFunction<'_>, level: &str) -> Option<i64> {
    let mut size = None;
    tf_core::walk::walk_stmts(function.body, |stmt| {
        if let StmtKind::MeshScope { mesh, .. } = stmt.kind
            && let Some(topology) = mesh.topologies.iter().find(|topology| topology.name.as_str() == level)
        {
            size = size.or(topology.size.and_then(|size| size.as_const()));
        }
    });
    size
}
