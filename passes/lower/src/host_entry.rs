//! The host function that launches a module's kernel.

use tf_core::node::{ModuleData, PrimFunctionData, TirCallee};
use tf_core::{
    AnyFunction, Context, Diagnostic, ExprKind, Literal, Meta, Module, PrimFunction, Result, StmtKind, Target,
    TargetKind,
};
use tf_framework::{Pass, PassCx};
use tf_tir::launch::{Launch, mesh_geometry};
use tf_types::{DType, Symbol};

/// Adds a CPU function that launches the entry kernel, and makes it the entry. The grid is as large as the meshes of
/// CTAs in the kernel, the block as large as those of threads. A module whose entry runs on the CPU stays as it is.
#[derive(Clone, Default, Pass)]
#[pass(name = "host-entry")]
pub struct HostEntry {}

impl Pass for HostEntry {
    fn run<'c>(&self, module: Module<'c>, cx: &mut PassCx<'_, 'c>) -> Result<Module<'c>> {
        let Some(kernel) = kernel(module)? else { return Ok(module) };
        let name = free_name(module, cx);
        let host = host_function(cx, kernel, name)?;
        let mut functions = module.data().functions.to_vec();
        functions.push(AnyFunction::Tir(host));
        let functions = cx.alloc_slice(&functions);
        Ok(cx.module(ModuleData { functions, entry: Some(name), ..*module.data() }))
    }
}

/// The function to launch; `None` if the module needs no host entry.
fn kernel<'c>(module: Module<'c>) -> Result<Option<PrimFunction<'c>>> {
    match module.entry_function() {
        Some(AnyFunction::Tir(entry)) if entry.target.kind == TargetKind::Cpu => Ok(None),
        Some(AnyFunction::Tir(entry)) => Ok(Some(entry)),
        Some(AnyFunction::Hir(entry)) => {
            let message = format!("`@{}` is still HIR", entry.name);
            Err(Diagnostic::error(message).at(entry.span).with_help("run `hir-to-tir` first"))
        }
        None => Err(Diagnostic::error(format!("module `{}` has no entry to launch", module.name))
            .at(module.span)
            .with_help("name one with `@module(entry=…)`")),
    }
}

fn free_name<'c>(module: Module<'c>, cx: &Context<'c>) -> Symbol<'c> {
    let candidates = ["main".to_owned(), "_tilefoundry_main".to_owned()];
    let numbered = (1..).map(|i| format!("_tilefoundry_main_{i}"));
    let mut names = candidates.into_iter().chain(numbered);
    let free = names.find(|name| module.lookup(name).is_none()).unwrap_or_default();
    cx.symbol(&free)
}

fn host_function<'c>(cx: &Context<'c>, kernel: PrimFunction<'c>, name: Symbol<'c>) -> Result<PrimFunction<'c>> {
    let (grid, block) = mesh_geometry(kernel)?;
    let params: Vec<_> = kernel.visible_params().iter().map(|p| cx.expr(p.kind, p.ty(), p.meta)).collect();
    let types: Vec<_> = kernel.data().params.iter().map(|p| p.ty()).collect();
    let symbol = cx.expr(ExprKind::SymbolRef(kernel.name), cx.callable(&types, cx.unit()), Meta::at(kernel.span));
    let extent = |value: i64| cx.constant(Literal::Int(value), DType::I64, Meta::default());
    let mut args = vec![symbol, extent(grid), extent(1), extent(1), extent(block), extent(1), extent(1)];
    args.extend(&params);
    let launch = cx.stmt(
        StmtKind::Evaluate { callee: TirCallee::Op(Launch::new(cx, None, 0, None, None)), args: cx.alloc_slice(&args) },
        kernel.span,
    );
    let body = [launch, cx.stmt(StmtKind::Return, None)];
    Ok(cx.prim_function(PrimFunctionData {
        name,
        params: cx.alloc_slice(&params),
        body: cx.stmt(StmtKind::Sequential(cx.alloc_slice(&body)), None),
        output_count: kernel.output_count,
        target: Target { kind: TargetKind::Cpu, device: cx.symbol("") },
        doc: None,
        span: kernel.span,
    }))
}
