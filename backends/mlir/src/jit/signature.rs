//! What the functions of a module take, read before it is lowered.
use crate::{BackendError, Session};
use melior::ir::{
    Attribute, BlockLike, Module, RegionLike, ShapedTypeLike, Type, TypeLike,
    attribute::{StringAttribute, TypeAttribute},
    operation::{OperationLike, OperationMutLike},
    r#type::{DimSize, FunctionType, IntegerType, MemRefType},
};
use std::{collections::BTreeMap, fmt};

/// One parameter of a callable function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Parameter {
    /// Static shape, bytes per element.
    MemRef { shape: Vec<usize>, element: usize },
    /// Width in bits, 64 for index.
    Int { width: u32 },
    /// Width in bits.
    Float { width: u32 },
}

impl fmt::Display for Parameter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MemRef { shape, element } => write!(formatter, "a buffer of shape {shape:?} ({element} bytes each)"),
            Self::Int { width } => write!(formatter, "an integer of {width} bits"),
            Self::Float { width } => write!(formatter, "a float of {width} bits"),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Signature {
    pub(super) parameters: Vec<Parameter>,
}

/// Reads the signatures of the callable functions and asks for their C interface.
pub(super) fn collect(session: &Session, module: &mut Module<'_>) -> Result<BTreeMap<String, Signature>, BackendError> {
    let mut found = BTreeMap::new();
    let mut next = module.body().first_operation_mut();
    while let Some(mut operation) = next {
        let is_function = operation.name().as_string_ref().as_str() == Ok("func.func");
        let is_private = operation.has_attribute("sym_visibility");
        let has_body = operation.region(0).is_ok_and(|region| region.first_block().is_some());
        if is_function && has_body && !is_private {
            let bad = |reason: String| BackendError::new(format!("cannot read a function: {reason}"));
            let name = operation.attribute("sym_name").map_err(|error| bad(error.to_string()))?;
            let name = StringAttribute::try_from(name).map_err(|error| bad(error.to_string()))?;
            let name = name.value().to_owned();
            let function = operation.attribute("function_type").map_err(|error| bad(error.to_string()))?;
            let function = TypeAttribute::try_from(function).map_err(|error| bad(error.to_string()))?;
            let signature = signature(function.value())
                .map_err(|reason| BackendError::new(format!("function `{name}` cannot be called: {reason}")))?;
            operation.set_attribute("llvm.emit_c_interface", unit(session));
            found.insert(name, signature);
        }
        next = operation.next_in_block_mut();
    }
    Ok(found)
}

fn unit(session: &Session) -> Attribute<'_> {
    Attribute::unit(session.context())
}

fn signature(r#type: Type<'_>) -> Result<Signature, String> {
    let function = FunctionType::try_from(r#type).map_err(|error| error.to_string())?;
    if function.result_count() > 0 {
        return Err("it returns values; results must be memref parameters".into());
    }
    let parameters = (0..function.input_count())
        .map(|index| {
            let input = function.input(index).map_err(|error| error.to_string())?;
            parameter(input).ok_or_else(|| format!("parameter {index} has type {input}"))
        })
        .collect::<Result<_, _>>()?;
    Ok(Signature { parameters })
}

fn parameter(r#type: Type<'_>) -> Option<Parameter> {
    if let Some(width) = integer_width(r#type) {
        return (width <= 64).then_some(Parameter::Int { width });
    }
    if r#type.is_f32() || r#type.is_f64() {
        return Some(Parameter::Float { width: r#type.float_width() });
    }
    let memref = MemRefType::try_from(r#type).ok()?;
    let element = memref.element();
    let bits = match integer_width(element) {
        Some(width) => width,
        None if element.is_float() => element.float_width(),
        None => return None,
    };
    let shape = (0..memref.rank())
        .map(|axis| match memref.dim_size(axis) {
            Ok(DimSize::Static(size)) => usize::try_from(size).ok(),
            Ok(DimSize::Dynamic) | Err(_) => None,
        })
        .collect::<Option<Vec<usize>>>()?;
    let mut expected = vec![1i64; shape.len()];
    for axis in (1..shape.len()).rev() {
        expected[axis - 1] = expected[axis].checked_mul(i64::try_from(shape[axis]).ok()?)?;
    }
    let (strides, offset) = memref.strides_and_offset();
    // Without elements strides address nothing, and MLIR states others.
    let dense = strides == expected || shape.contains(&0);
    (offset == 0 && dense).then_some(Parameter::MemRef { shape, element: bits.div_ceil(8) as usize })
}

fn integer_width(r#type: Type<'_>) -> Option<u32> {
    if r#type.is_index() {
        return Some(64);
    }
    IntegerType::try_from(r#type).ok().map(|integer| integer.width())
}
