//! A whole module.
use crate::{
    Session,
    emit::{
        Builder,
        build::{body, location},
        gpu::emit_kernel,
        host::{self, KERNELS},
        table::EmissionTable,
    },
};
use melior::ir::{Attribute, Block, BlockRef, operation::OperationMutLike};
use tf_core::{AnyFunction, Diagnostic, PrimFunction, Result, SourceMap, TargetKind};

/// Emits a TIR module as one MLIR module that `mlir-opt` accepts: device functions in `gpu.module @kernels`, host
/// functions that launch them, CPU functions as `func.func`. Locations are those of the statements.
///
/// # Errors
/// A HIR function, a kernel that nothing launches, and whatever has no compiled form, at its statement.
pub fn emit_module<'s>(
    session: &'s Session,
    module: tf_core::Module<'_>,
    sources: &SourceMap,
) -> Result<melior::ir::Module<'s>> {
    let mut result = melior::ir::Module::new(location(session, sources, module.span));
    let (mut kernels, mut hosts) = (vec![], vec![]);
    for &function in module.functions {
        match function {
            AnyFunction::Hir(function) => {
                let message = format!("function `{}` is HIR, code is emitted from TIR", function.name);
                return Err(Diagnostic::error(message).at(function.span).with_help("run lower-tir first"));
            }
            AnyFunction::Tir(function) => {
                check_name(function)?;
                let group = if function.target.kind == TargetKind::Cuda { &mut kernels } else { &mut hosts };
                group.push(function);
            }
        }
    }
    if !kernels.is_empty() {
        let mut operation = result.as_operation_mut();
        operation.set_attribute("gpu.container_module", Attribute::unit(session.context()));
    }
    let table = EmissionTable::builtin();
    fill(session, result.body(), &table, module, (&kernels, &hosts), sources)?;
    session.verify(&result)?;
    Ok(result)
}

/// Refuses a name that is no symbol of PTX (a letter, then letters, digits, `_` and `$`), or of an object file.
fn check_name(function: PrimFunction<'_>) -> Result<()> {
    let name = function.name.as_str();
    let (what, fits) = if function.target.kind == TargetKind::Cuda {
        let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        ("a kernel", starts && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '$')))
    } else {
        (
            "a host function",
            !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '.')),
        )
    };
    if fits {
        return Ok(());
    }
    Err(Diagnostic::error(format!("{name:?} cannot name {what} in generated code"))
        .at(function.span)
        .with_help("name it with ASCII letters, digits and `_`"))
}

fn fill<'a, 'c>(
    session: &'a Session,
    block: BlockRef<'a, 'a>,
    table: &'a EmissionTable,
    module: tf_core::Module<'c>,
    (kernels, hosts): (&[PrimFunction<'c>], &[PrimFunction<'c>]),
    sources: &SourceMap,
) -> Result<()> {
    let geometries = host::geometries(module)?;
    if !kernels.is_empty() {
        let builder = Builder { session, block, location: location(session, sources, module.span) };
        let name = [("sym_name", builder.string(KERNELS))];
        let holder = body(builder.region_op("gpu.module", &[], &[], &name, vec![Block::new(&[])])?)?;
        for &kernel in kernels {
            let geometry = *geometries.get(kernel.name.as_str()).ok_or_else(|| {
                let message = format!("nothing launches `{}`, so its grid and block are unknown", kernel.name);
                Diagnostic::error(message).at(kernel.span).with_help("add a host function with `T.launch`")
            })?;
            emit_kernel(session, holder, table, kernel, geometry, sources)?;
        }
    }
    for &function in hosts {
        if tf_tir::launch::launches(function).is_empty() {
            super::cpu::emit_function(session, block, sources, function)?;
        } else {
            host::emit(session, block, function, sources)?;
        }
    }
    Ok(())
}
