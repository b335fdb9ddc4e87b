//! Host functions of a CUDA module: the launches of its kernels.
use crate::emit::{
    Builder, V,
    build::{argument, body, location},
    gpu::Geometry,
    types,
};
use melior::{
    Context, StringRef,
    ir::{
        Attribute, AttributeLike, Block, BlockRef, Type,
        attribute::{DenseI32ArrayAttribute, FlatSymbolRefAttribute, TypeAttribute},
        r#type::FunctionType,
    },
};
use rustc_hash::FxHashMap;
use tf_core::{
    AnyFunction, Diagnostic, Expr, ExprKind, Module, PrimFunction, Result, SourceMap, Stmt, StmtKind,
    node::TirCallee,
    op::{OpCall, OpView},
};
use tf_tir::launch::{Launch, launches, static_geometry};

use crate::Session;

/// Name of the one `gpu.module`.
pub(crate) const KERNELS: &str = "kernels";

/// The launch that a statement is.
fn launch<'c>(stmt: Stmt<'c>) -> Option<OpCall<'c, Launch>> {
    match stmt.kind {
        StmtKind::Evaluate { callee: TirCallee::Op(op), args } => OpCall::new(OpView { op, args }),
        _ => None,
    }
}

/// The kernel that a launch starts.
///
/// # Errors
/// No symbol.
pub(crate) fn callee<'c>(call: &OpCall<'c, Launch>) -> Result<&'c str> {
    match call.callee().kind {
        ExprKind::SymbolRef(name) => Ok(name.as_str()),
        _ => Err(Diagnostic::error("`T.launch` starts a function of the module")),
    }
}

/// Grid and block of every kernel, by its name.
///
/// # Errors
/// A launch of another module; extents that are no constants; two launches of one kernel that differ.
pub(crate) fn geometries<'c>(module: Module<'c>) -> Result<FxHashMap<&'c str, Geometry>> {
    let mut found: FxHashMap<&str, Geometry> = FxHashMap::default();
    for &function in module.functions {
        let AnyFunction::Tir(function) = function else { continue };
        for (call, span) in launches(function) {
            let name = callee(&call).map_err(|error| error.at(span))?;
            if module.lookup(name).is_none() {
                let message =
                    format!("`@{name}` is no function of the module, and code of other modules is not generated");
                let help = format!("define what is launched in `{}`", module.name);
                return Err(Diagnostic::error(message).at(span).with_help(help));
            }
            let (grid, block) = static_geometry(&call).ok_or_else(|| {
                Diagnostic::error(format!("the grid and block of `@{name}` must be constants")).at(span)
            })?;
            let geometry = Geometry { grid, block };
            if found.insert(name, geometry).is_some_and(|before| before != geometry) {
                let message = format!("`@{name}` is launched twice with different grids or blocks");
                return Err(Diagnostic::error(message).at(span).with_help("launch copies of the function"));
            }
        }
    }
    Ok(found)
}

/// Appends a `func.func` that launches kernels.
///
/// # Errors
/// Statements other than launches of the function's own parameters.
pub(crate) fn emit<'a>(
    session: &'a Session,
    module: BlockRef<'a, 'a>,
    function: PrimFunction<'_>,
    sources: &SourceMap,
) -> Result<()> {
    let at = location(session, sources, function.span);
    let outer = Builder { session, block: module, location: at };
    let mut inputs = vec![];
    for &parameter in function.params {
        let tensor = parameter
            .ty()
            .as_tensor()
            .ok_or_else(|| Diagnostic::error(format!("{} is no tensor", parameter.describe())).at(parameter.span()))?;
        let count = types::element_count(tensor).map_err(|error| error.at(parameter.span()))?;
        inputs.push(types::buffer(session, module, tensor.dtype, count, None)?);
    }
    let r#type = FunctionType::new(session.context(), &inputs, &[]);
    let arguments: Vec<(Type<'a>, _)> = inputs.into_iter().map(|t| (t, at)).collect();
    let attributes = [
        ("sym_name", outer.string(function.name.as_str())),
        ("function_type", TypeAttribute::new(r#type.into()).into()),
    ];
    let operation = outer.region_op("func.func", &[], &[], &attributes, vec![Block::new(&arguments)])?;
    let entry = body(operation)?;
    let mut parameters = FxHashMap::default();
    for (number, &parameter) in function.params.iter().enumerate() {
        parameters.insert(parameter, argument(entry, number)?);
    }
    let mut steps = vec![function.body];
    while let Some(stmt) = steps.pop() {
        let builder = Builder { session, block: entry, location: location(session, sources, stmt.span) };
        match (stmt.kind, launch(stmt)) {
            (StmtKind::Sequential(body), _) => steps.extend(body.iter().rev()),
            (StmtKind::Return, _) => break,
            (_, Some(call)) => emit_launch(&builder, &call, &parameters).map_err(|error| error.at(stmt.span))?,
            _ => {
                let message = format!("host function `{}` of a CUDA module can only launch kernels", function.name);
                return Err(Diagnostic::error(message).at(stmt.span.or(function.span)));
            }
        }
    }
    Builder { block: entry, ..outer }.op("func.return", &[], &[], &[])?;
    Ok(())
}

fn emit_launch<'a, 'c>(
    builder: &Builder<'a>,
    call: &OpCall<'c, Launch>,
    parameters: &FxHashMap<Expr<'c>, V<'a>>,
) -> Result<()> {
    let name = callee(call)?;
    let (grid, block) =
        static_geometry(call).ok_or_else(|| Diagnostic::error("the launch extents must be constants"))?;
    let mut operands = vec![];
    for extent in grid.into_iter().chain(block) {
        operands.push(builder.index(i64::from(extent))?);
    }
    for &argument in call.args() {
        operands.push(*parameters.get(&argument).ok_or_else(|| {
            let message =
                format!("`@{name}` must receive parameters of the host function, found {}", argument.describe());
            Diagnostic::error(message).at(argument.span())
        })?);
    }
    // Operand groups: async, grid x y z, block x y z, cluster x y z, dynamic shared memory, arguments, async object.
    let segments = [0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, call.args().len() as i32, 0];
    let segments = DenseI32ArrayAttribute::new(builder.context(), &segments).into();
    let kernel = nested_symbol(builder.context(), KERNELS, name);
    builder.op("gpu.launch_func", &operands, &[], &[("kernel", kernel), ("operandSegmentSizes", segments)])?;
    Ok(())
}

/// `@outer::@inner`
fn nested_symbol<'a>(context: &'a Context, outer: &str, inner: &str) -> Attribute<'a> {
    let inner = FlatSymbolRefAttribute::new(context, inner).to_raw();
    // SAFETY: the context and the nested attribute outlive the call; the attribute made belongs to the context.
    unsafe {
        Attribute::from_raw(mlir_sys::mlirSymbolRefAttrGet(
            context.to_raw(),
            StringRef::new(outer).to_raw(),
            1,
            &raw const inner,
        ))
    }
}
