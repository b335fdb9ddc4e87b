//! The head of a kernel: parameters, shared buffers, attributes.
use crate::emit::{
    Builder, V,
    build::{argument, body},
    gpu::{Buffer, Geometry, index::Index, memory::Place},
    table::EmissionTable,
    types,
};
use melior::ir::{
    Attribute, Block, BlockRef, Identifier, Type,
    attribute::{ArrayAttribute, DenseI32ArrayAttribute, DictionaryAttribute, IntegerAttribute, TypeAttribute},
    r#type::FunctionType,
};
use rustc_hash::{FxHashMap, FxHashSet};
use tf_core::{Diagnostic, Expr, PrimFunction, Result, StmtKind, node::TirCallee, op::OpView, walk::walk_stmts};
use tf_tir::{
    held::Held,
    memory::{alloc_tensor::AllocTensor, tensor_view::TensorView},
};
use tf_types::{Storage, TensorType};

/// Bytes of shared memory that a kernel can allocate statically.
const STATIC_SHARED: i64 = 48 * 1024;

/// What the head of a kernel binds.
pub(crate) struct Head<'a, 'c> {
    pub(crate) entry: BlockRef<'a, 'a>,
    pub(crate) parameters: FxHashMap<Expr<'c>, Buffer<'a, 'c>>,
    pub(crate) shared: FxHashMap<Expr<'c>, (usize, V<'a>)>,
}

/// Appends a `gpu.func` with an empty body.
///
/// # Errors
/// A parameter that is no static tensor in global memory; more shared memory than a kernel has.
pub(crate) fn emit<'a, 'c>(
    builder: &Builder<'a>,
    table: &EmissionTable,
    function: PrimFunction<'c>,
    geometry: Geometry,
) -> Result<Head<'a, 'c>> {
    let context = builder.context();
    let written = written_parameters(table, function);
    let (mut inputs, mut argument_attributes, mut buffers) = (vec![], vec![], vec![]);
    for &parameter in function.params {
        let tensor = parameter_type(parameter)?;
        let count = types::element_count(tensor).map_err(|error| error.at(parameter.span()))?;
        inputs.push(types::buffer(builder.session, builder.block, tensor.dtype, count, None)?);
        let held = Held::of(tensor).map_err(|error| Diagnostic::from(error).at(parameter.span()))?;
        buffers.push((parameter, tensor.dtype, held));
        argument_attributes.push(pointer_attributes(builder, !written.contains(&parameter)));
    }
    let shared = shared_buffers(function)?;
    let space = Attribute::parse(context, "#gpu.address_space<workgroup>")
        .ok_or_else(|| Diagnostic::error("MLIR has no workgroup address space"))?;
    let mut arguments = inputs.clone();
    for &(_, dtype, len) in &shared {
        arguments.push(types::buffer(builder.session, builder.block, dtype, len, Some(space))?);
    }
    let sizes = |extents: [u32; 3]| DenseI32ArrayAttribute::new(context, &extents.map(|e| e as i32)).into();
    let mut attributes: Vec<(&str, Attribute<'a>)> = vec![
        ("sym_name", builder.string(function.name.as_str())),
        ("function_type", TypeAttribute::new(FunctionType::new(context, &inputs, &[]).into()).into()),
        ("arg_attrs", ArrayAttribute::new(context, &argument_attributes).into()),
        ("gpu.kernel", Attribute::unit(context)),
        ("known_block_size", sizes(geometry.block)),
        ("known_grid_size", sizes(geometry.grid)),
        ("workgroup_attributions", builder.i64_attr(shared.len() as i64)),
    ];
    if !shared.is_empty() {
        let each = vec![dictionary(builder, &[alignment(builder)]); shared.len()];
        attributes.push(("workgroup_attrib_attrs", ArrayAttribute::new(context, &each).into()));
    }
    let arguments: Vec<(Type<'a>, _)> = arguments.into_iter().map(|t| (t, builder.location)).collect();
    let operation = builder.region_op("gpu.func", &[], &[], &attributes, vec![Block::new(&arguments)])?;
    let entry = body(operation)?;
    let mut parameters = FxHashMap::default();
    let count = buffers.len();
    for (number, (parameter, dtype, held)) in buffers.into_iter().enumerate() {
        let memref = argument(entry, number)?;
        let place = Place::Memory { memref, start: Index::constant(0), shared: None };
        parameters.insert(parameter, Buffer { dtype, held, place });
    }
    let mut bound = FxHashMap::default();
    for (number, (var, ..)) in shared.into_iter().enumerate() {
        bound.insert(var, (number, argument(entry, count + number)?));
    }
    Ok(Head { entry, parameters, shared: bound })
}

fn parameter_type<'c>(parameter: Expr<'c>) -> Result<&'c TensorType<'c>> {
    let tensor = parameter.ty().as_tensor().filter(|t| t.storage == Storage::Gmem);
    tensor.ok_or_else(|| {
        let message =
            format!("{} of a device function must be in gmem, found {}", parameter.describe(), parameter.ty());
        Diagnostic::error(message).at(parameter.span())
    })
}

/// Parameters that some statement writes, directly or through a view.
fn written_parameters<'c>(table: &EmissionTable, function: PrimFunction<'c>) -> FxHashSet<Expr<'c>> {
    let mut written: FxHashSet<_> = function.inputs_and_outputs().1.into_iter().collect();
    let mut views: FxHashMap<Expr<'c>, Expr<'c>> = FxHashMap::default();
    walk_stmts(function.body, |stmt| match stmt.kind {
        StmtKind::Let { var, value, .. } => {
            let memory = value.as_op::<TensorView>().map_or(value, |view| view.memory());
            views.insert(var, views.get(&memory).copied().unwrap_or(memory));
        }
        StmtKind::Evaluate { callee: TirCallee::Op(op), args } => {
            let roots = table.writes(OpView { op, args }).map(|w| views.get(&w).copied().unwrap_or(w));
            written.extend(roots);
        }
        _ => {}
    });
    written
}

/// Every shared allocation with its dtype and element count.
fn shared_buffers<'c>(function: PrimFunction<'c>) -> Result<Vec<(Expr<'c>, tf_types::DType, i64)>> {
    let (mut found, mut bytes, mut refused) = (vec![], 0, None);
    walk_stmts(function.body, |stmt| {
        let StmtKind::Let { var, value, .. } = stmt.kind else { return };
        let Some(tensor) = value.as_op::<AllocTensor>().and_then(|alloc| alloc.tensor_type().as_tensor()) else {
            return;
        };
        if tensor.storage != Storage::Smem {
            return;
        }
        match Held::of(tensor) {
            Ok(held) => {
                let last = |f: &tf_tir::held::Factor| (f.extent - 1) * f.stride;
                let len = held.axes.iter().flatten().map(last).sum::<i64>() + 1;
                bytes += (len * types::bytes(tensor.dtype) + 15) / 16 * 16;
                found.push((var, tensor.dtype, len));
            }
            Err(error) => refused = refused.take().or(Some(Diagnostic::from(error).at(stmt.span))),
        }
        if bytes > STATIC_SHARED && refused.is_none() {
            let message =
                format!("`{}` needs {bytes} bytes of shared memory, a CTA has {STATIC_SHARED}", function.name);
            refused = Some(Diagnostic::error(message).at(stmt.span).with_help("use smaller tiles"));
        }
    });
    refused.map_or(Ok(found), Err)
}

fn alignment<'a>(builder: &Builder<'a>) -> (&'static str, Attribute<'a>) {
    ("llvm.align", IntegerAttribute::new(builder.int_type(64), 16).into())
}

/// Tensors of an entry do not overlap and are aligned.
fn pointer_attributes<'a>(builder: &Builder<'a>, only_read: bool) -> Attribute<'a> {
    let unit = Attribute::unit(builder.context());
    let mut entries = vec![alignment(builder), ("llvm.noalias", unit)];
    if only_read {
        entries.push(("llvm.readonly", unit));
    }
    dictionary(builder, &entries)
}

fn dictionary<'a>(builder: &Builder<'a>, entries: &[(&str, Attribute<'a>)]) -> Attribute<'a> {
    let context = builder.context();
    let named: Vec<_> = entries.iter().map(|(name, value)| (Identifier::new(context, name), *value)).collect();
    DictionaryAttribute::new(context, &named).into()
}
