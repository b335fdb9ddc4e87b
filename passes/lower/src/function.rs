//! One HIR function as one TIR function.

use rustc_hash::FxHashSet;
use tf_core::node::PrimFunctionData;
use tf_core::walk::schedule;
use tf_core::{Context, Diagnostic, Expr, ExprKind, Function, Meta, PrimFunction, Result, Stmt, StmtKind, Target};
use tf_tir::memory::copy::Copy;
use tf_types::{Mesh, Storage, Symbol, TensorType, Type};

use crate::lowerer::Lowerer;
use crate::table::LowerTable;

/// Lowers a function.
///
/// # Errors
/// An op without lowering, or a form of it that its rule refuses; a parameter or result in umat.
pub(crate) fn lower_function<'c>(
    cx: &Context<'c>,
    function: Function<'c>,
    target: Target<'c>,
    table: &LowerTable,
) -> Result<PrimFunction<'c>> {
    let body = function.value().map_err(|error| error.with_help("dispatch prototypes are not lowered yet"))?;
    let plan = schedule(body);
    let mut lowerer = Lowerer::new(cx, target, table, &plan);
    lowerer.span = function.span;
    let meshes = named_meshes(body);
    lowerer.threads = meshes.iter().map(|&(mesh, _)| mesh).find(|mesh| !of_ctas(mesh));
    let mut params = Vec::new();
    for &param in function.data().params {
        let lowered = parameter(&lowerer, param, param.ty())?;
        lowerer.set(param, lowered);
        params.push(lowered);
    }
    let results = match body.kind {
        ExprKind::Tuple(fields) => fields,
        _ => std::slice::from_ref(cx.alloc(body)),
    };
    let mut outputs = Vec::new();
    for (i, &result) in results.iter().enumerate() {
        let name = if results.len() == 1 { "out".to_owned() } else { format!("out{i}") };
        let ty = output_type(&lowerer, function, result)?;
        let ty = parameter_type(&lowerer, result, ty)?;
        let out = cx.var(unused_name(cx, &params, &name), ty, Meta::at(function.span));
        lowerer.sinks.entry(result).or_default().push(out);
        outputs.push((result, out));
    }
    lowerer.root()?;
    for &(result, out) in &outputs {
        finish(&mut lowerer, result, out)?;
    }
    params.extend(outputs.iter().map(|&(_, out)| out));
    let inner = lowerer.close();
    let scoped = if lowerer.on_cpu() { inner } else { scopes(cx, &meshes, inner) };
    let end = cx.stmt(StmtKind::Return, None);
    let body = cx.stmt(StmtKind::Sequential(cx.alloc_slice(&[scoped, end])), None);
    Ok(cx.prim_function(PrimFunctionData {
        name: function.name,
        params: cx.alloc_slice(&params),
        body,
        output_count: outputs.len(),
        target,
        doc: function.doc,
        span: function.span,
    }))
}

fn parameter<'c>(lowerer: &Lowerer<'_, 'c>, param: Expr<'c>, ty: Type<'c>) -> Result<Expr<'c>> {
    let ty = parameter_type(lowerer, param, ty)?;
    Ok(if ty == param.ty() { param } else { lowerer.cx.expr(param.kind, ty, param.meta) })
}

fn parameter_type<'c>(lowerer: &Lowerer<'_, 'c>, value: Expr<'c>, ty: Type<'c>) -> Result<Type<'c>> {
    let refuse = |message: String| Err(Diagnostic::error(message).at(value.span()).at(lowerer.span));
    match ty.as_tensor() {
        None => refuse(format!("{} is no tensor, but {ty}: nested tuples are not lowered", value.describe())),
        Some(tensor) if tensor.static_shape().is_none() => {
            refuse(format!("{} has a symbolic shape, {ty}: run-time extents are not lowered yet", value.describe()))
        }
        Some(tensor) if lowerer.on_cpu() => Ok(lowerer.host_type(tensor)),
        Some(tensor) if tensor.storage != Storage::Gmem => refuse(format!(
            "{} lies in {}; a kernel takes and returns tensors in gmem",
            value.describe(),
            tensor.storage
        )),
        Some(_) => Ok(ty),
    }
}

/// The output buffer of a result: shape and dtype of the value, the declared storage, no layout.
fn output_type<'c>(lowerer: &Lowerer<'_, 'c>, function: Function<'c>, result: Expr<'c>) -> Result<Type<'c>> {
    let Some(value) = result.ty().as_tensor() else {
        return Err(lowerer.refuse(format!("a result of type {} is not lowered", result.ty())));
    };
    let declared = function.return_type.as_tensor().map_or(Storage::Gmem, |t| t.storage);
    Ok(lowerer.cx.tensor(value.shape, value.dtype, None, declared))
}

fn unused_name<'c>(cx: &Context<'c>, params: &[Expr<'c>], name: &str) -> Symbol<'c> {
    let taken = |name: &str| params.iter().any(|p| p.var_name().is_some_and(|n| n.as_str() == name));
    let mut candidate = name.to_owned();
    for suffix in 1.. {
        if !taken(&candidate) {
            break;
        }
        candidate = format!("{name}_{suffix}");
    }
    cx.symbol(&candidate)
}

/// Writes a result to its output, unless a reshard at the end of the function has done so.
fn finish<'c>(lowerer: &mut Lowerer<'_, 'c>, result: Expr<'c>, out: Expr<'c>) -> Result<()> {
    lowerer.span = result.span().or(lowerer.span);
    let value = lowerer.buffer(result)?;
    if lowerer.sinks.get(&result).is_some_and(|outs| outs.contains(&value)) {
        return Ok(());
    }
    let placed = lowerer.tensor(value).shard();
    match placed {
        Some(shard) if !lowerer.on_cpu() => crate::ops::store(lowerer, value, shard, out),
        _ if lowerer.on_cpu() || is_registers(lowerer.tensor(value)) => {
            lowerer.emit(Copy::new(lowerer.cx), &[value, out]);
            Ok(())
        }
        _ => Err(lowerer
            .refuse("the result is not placed: no position would write it")
            .with_help("reshard it on a mesh, with storage=\"gmem\"")),
    }
}

fn is_registers(tensor: &TensorType<'_>) -> bool {
    tensor.storage == Storage::Rmem
}

/// Wraps the body in a scope for every mesh that its values are placed on.
fn scopes<'c>(cx: &Context<'c>, meshes: &[(Mesh<'c>, String)], inner: Stmt<'c>) -> Stmt<'c> {
    let mut scope = inner;
    for (mesh, name) in meshes.iter().rev() {
        let kind = StmtKind::MeshScope { mesh: *mesh, binding: cx.symbol(name), body: scope };
        scope = cx.stmt(kind, None);
    }
    scope
}

fn of_ctas(mesh: &Mesh<'_>) -> bool {
    mesh.topology_names().all(|name| name.as_str() == "cta")
}

/// The meshes of a function in order of first use, those of whole CTAs first, each with a name of its own.
fn named_meshes<'c>(body: Expr<'c>) -> Vec<(Mesh<'c>, String)> {
    let mut seen = FxHashSet::default();
    let mut meshes: Vec<Mesh<'c>> = tf_core::walk::post_order(&[body])
        .into_iter()
        .filter_map(|expr| expr.ty().as_tensor()?.shard().map(|shard| shard.mesh))
        .filter(|&mesh| seen.insert(mesh))
        .collect();
    meshes.sort_by_key(|mesh| !of_ctas(mesh));
    let mut taken = FxHashSet::default();
    let mut named = Vec::with_capacity(meshes.len());
    for mesh in meshes {
        let base = mesh.topology_names().map(|n| n.as_str()).collect::<Vec<_>>().join("_");
        let mut name = base.clone();
        for suffix in 2.. {
            if taken.insert(name.clone()) {
                break;
            }
            name = format!("{base}_{suffix}");
        }
        named.push((mesh, name));
    }
    named
}
