//! CPU functions: a TIR function of target cpu as a `func.func` over memrefs, every effect a loop nest.
mod arith;
mod buffer;
mod index;
mod memory;
mod nest;
mod nn;
mod table;
mod tensor;
mod walk;

use super::{
    build::{V, argument, location},
    scalar::{Scalars, first_block, single_block},
};
use crate::{Session, math::Target};
use buffer::{Buffer, dense_type, element_count, is_dense, strided};
use melior::ir::{
    Attribute, BlockLike, BlockRef, Identifier, Location, Type,
    attribute::{IntegerAttribute, StringAttribute, TypeAttribute},
    operation::OperationBuilder,
    r#type::{FunctionType, IntegerType},
};
use rustc_hash::FxHashMap;
use tf_core::{Diagnostic, Expr, PrimFunction, Result, SourceMap, TargetKind};
use tf_types::DType;

/// Bytes of local buffers that may lie on the stack, all together; what exceeds them is allocated.
const STACK_BYTES: i64 = 64 * 1024;

/// What a variable stands for.
#[derive(Clone, Debug)]
enum Binding<'a> {
    /// Memory.
    Buffer(Buffer<'a>),
    /// An i64.
    Index(V<'a>),
}

/// A function under construction.
struct Emitter<'a, 'c> {
    sources: SourceMap,
    /// Appends to the current block.
    s: Scalars<'a, 'a>,
    /// Appends local buffers to the start of the function: a loop reuses them.
    entry: Scalars<'a, 'a>,
    /// Number of operations that were put there.
    hoisted: usize,
    env: FxHashMap<Expr<'c>, Binding<'a>>,
    /// What is freed at the end.
    allocations: Vec<V<'a>>,
    stack_bytes: i64,
}

/// Appends `function` to the block of a module as a `func.func` of its name. Parameters become static memrefs in C order, inputs
/// first; a bool element is one byte. When it fails the module is half built: drop it.
///
/// # Errors
/// A function of another target, a placed tensor, storage other than host, a symbolic extent, ops and dtypes without a
/// CPU form; each at its source position.
pub fn emit_function<'a, 'c>(
    session: &'a Session,
    block: BlockRef<'a, 'a>,
    sources: &SourceMap,
    function: PrimFunction<'c>,
) -> Result<()> {
    if function.target.kind != TargetKind::Cpu {
        let message = format!("`@{}` is a function of target {}, not of the CPU", function.name, function.target);
        return Err(Diagnostic::error(message).at(function.span).with_help("lower with target=cpu"));
    }
    let place = location(session, sources, function.span);
    let outer = Scalars { session, block, location: place, target: Target::Cpu };
    let mut shapes = Vec::with_capacity(function.params.len());
    for param in function.params {
        shapes.push(parameter(*param).map_err(|error| error.at(param.span()).at(function.span))?);
    }
    let types =
        shapes.iter().map(|(dtype, shape)| dense_type(&outer, *dtype, shape)).collect::<Result<Vec<Type<'a>>>>()?;
    let context = session.context();
    let name = StringAttribute::new(context, function.name.as_str());
    let signature = TypeAttribute::new(FunctionType::new(context, &types, &[]).into());
    let attributes = [("sym_name", name.into()), ("function_type", signature.into())];
    let operation = outer.append("func.func", &[], &[], &attributes, vec![single_block(&types, place)])?;
    let block = first_block(operation)?;
    let s = outer.at(block);
    let mut emitter = Emitter {
        sources: sources.clone(),
        s,
        entry: s,
        hoisted: 0,
        env: FxHashMap::default(),
        allocations: Vec::new(),
        stack_bytes: 0,
    };
    for (index, (param, (dtype, shape))) in function.params.iter().zip(&shapes).enumerate() {
        let buffer = Buffer::dense(argument(block, index)?, *dtype, shape)
            .map_err(|error| error.at(param.span()).at(function.span))?;
        emitter.env.insert(*param, Binding::Buffer(buffer));
    }
    emitter.walk(function.body)?;
    emitter.s = s;
    for memref in std::mem::take(&mut emitter.allocations) {
        s.append("memref.dealloc", &[memref], &[], &[], Vec::new())?;
    }
    s.append("func.return", &[], &[], &[], Vec::new())?;
    Ok(())
}

/// Dtype and extents of a parameter.
///
/// # Errors
/// No tensor, or none that is dense in host memory.
fn parameter(param: Expr<'_>) -> Result<(DType, Vec<i64>)> {
    let what = param.describe();
    let tensor = param.ty().as_tensor().ok_or_else(|| Diagnostic::error(format!("{what} is no tensor")))?;
    let (shape, strides) = strided(tensor, &what)?;
    if !is_dense(&shape, &strides) {
        return Err(Diagnostic::error(format!("{what} has strides {strides:?}, and a parameter is in C order")));
    }
    Ok((tensor.dtype, shape))
}

impl<'a, 'c> Emitter<'a, 'c> {
    /// The memory that an operand stands for.
    fn buffer(&self, expr: Expr<'c>) -> Result<&Buffer<'a>> {
        match self.env.get(&expr) {
            Some(Binding::Buffer(buffer)) => Ok(buffer),
            _ => Err(Diagnostic::error(format!("{} is no buffer of a CPU function", expr.describe())).at(expr.span())),
        }
    }

    /// A local buffer, on the stack while there is room.
    fn allocate(&mut self, dtype: DType, shape: &[i64]) -> Result<Buffer<'a>> {
        let bytes = element_count(shape)?.saturating_mul(i64::from(dtype.bits().div_ceil(8)));
        let on_stack = self.stack_bytes.saturating_add(bytes) <= STACK_BYTES;
        let name = if on_stack { "memref.alloca" } else { "memref.alloc" };
        let context = self.s.session.context();
        let alignment = IntegerAttribute::new(IntegerType::new(context, 64).into(), 64);
        let segments = melior::ir::attribute::DenseI32ArrayAttribute::new(context, &[0, 0]);
        let attributes: [(Identifier<'a>, Attribute<'a>); 2] = [
            (Identifier::new(context, "alignment"), alignment.into()),
            (Identifier::new(context, "operandSegmentSizes"), segments.into()),
        ];
        let place: Location<'a> = self.s.location;
        let operation = OperationBuilder::new(name, place)
            .add_results(&[dense_type(&self.s, dtype, shape)?])
            .add_attributes(&attributes)
            .build()
            .map_err(super::build::melior_error)?;
        let operation = self.entry.block.insert_operation(self.hoisted, operation);
        self.hoisted += 1;
        let memref: V<'a> = operation.result(0).map_err(super::build::melior_error)?.into();
        if on_stack {
            self.stack_bytes += bytes;
        } else {
            self.allocations.push(memref);
        }
        Buffer::dense(memref, dtype, shape)
    }
}
