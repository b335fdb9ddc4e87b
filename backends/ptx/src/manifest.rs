//! The launch manifest of a module: what its host function passes to which kernel.
use crate::Ptx;
use tf_artifact::{Argument, Artifact, ArtifactError, Entry, FORMAT, Kernel, Manifest, Parameter, Role};
use tf_core::{AnyFunction, Diagnostic, Expr, ExprKind, Module, PrimFunction, Result, op::OpCall};
use tf_tir::launch::{Launch, launches, static_geometry};

const PRODUCER: &str = concat!("tilefoundry ", env!("CARGO_PKG_VERSION"));

/// The artifact of a compiled module.
///
/// # Errors
/// A module without a host function that launches kernels; a manifest that does not hold together.
pub(crate) fn artifact(module: Module<'_>, ptx: &Ptx, arch: &str) -> Result<Artifact> {
    let host = host_function(module)?;
    let first_output = host.params.len().saturating_sub(host.output_count);
    let parameters = host.params.iter().enumerate().map(|(at, &p)| parameter(p, at >= first_output));
    let entry = Entry {
        name: host.name.to_string(),
        parameters: parameters.collect::<Result<_>>()?,
        outputs: host.output_count,
    };
    let kernels = launches(host).into_iter().map(|(call, span)| kernel(&call).map_err(|error| error.at(span)));
    let kernels = kernels.collect::<Result<_>>().map_err(|error| error.at(host.span))?;
    let manifest = Manifest { format: FORMAT, target: arch.to_owned(), producer: PRODUCER.to_owned(), entry, kernels };
    Artifact::new(ptx.ptx.clone(), manifest).map_err(|error| refused(error).at(host.span))
}

pub(crate) fn refused(error: ArtifactError) -> Diagnostic {
    Diagnostic::error(error.to_string())
}

/// The entry, or the only function that launches anything.
fn host_function<'c>(module: Module<'c>) -> Result<PrimFunction<'c>> {
    let tir = |function: AnyFunction<'c>| match function {
        AnyFunction::Tir(function) if !launches(function).is_empty() => Some(function),
        _ => None,
    };
    if let Some(entry) = module.entry_function().and_then(tir) {
        return Ok(entry);
    }
    let hosts: Vec<_> = module.functions.iter().copied().filter_map(tir).collect();
    match hosts[..] {
        [host] => Ok(host),
        _ => Err(Diagnostic::error(format!("module `{}` has no host function that launches its kernels", module.name))
            .at(module.span)
            .with_help("run lower-tir first, or name the host function as the entry")),
    }
}

fn parameter(parameter: Expr<'_>, is_output: bool) -> Result<Parameter> {
    let refuse = |what: &str| Diagnostic::error(format!("{} {what}", parameter.describe())).at(parameter.span());
    let ExprKind::Var { name, is_const } = parameter.kind else { return Err(refuse("is no parameter")) };
    let tensor = parameter.ty().as_tensor().ok_or_else(|| refuse("is no tensor"))?;
    let extents = tensor.static_shape().ok_or_else(|| refuse("has a symbolic extent"))?;
    let shape = extents.into_iter().map(usize::try_from).collect::<std::result::Result<_, _>>();
    let role = match (is_output, is_const) {
        (true, _) => Role::Output,
        (false, true) => Role::Const,
        (false, false) => Role::Input,
    };
    let shape = shape.map_err(|_| refuse("has a negative extent"))?;
    Ok(Parameter { name: name.to_string(), dtype: tensor.dtype, shape, role })
}

fn kernel(call: &OpCall<'_, Launch>) -> Result<Kernel> {
    let ExprKind::SymbolRef(symbol) = call.callee().kind else {
        return Err(Diagnostic::error("`T.launch` starts a function of the module"));
    };
    let (grid, block) = static_geometry(call)
        .ok_or_else(|| Diagnostic::error(format!("the grid and block of `@{symbol}` must be constants")))?;
    let argument = |argument: &Expr<'_>| match argument.var_name() {
        Some(name) => Ok(Argument::Parameter(name.to_string())),
        None => Err(Diagnostic::error(format!("`@{symbol}` must receive parameters, found {}", argument.describe()))),
    };
    let arguments = call.args().iter().map(argument).collect::<Result<_>>()?;
    Ok(Kernel { symbol: symbol.to_string(), grid, block, dynamic_shared_bytes: 0, arguments })
}
