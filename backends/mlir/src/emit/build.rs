//! Appending operations to a block.
//!
//! Everything lives as long as the borrow of the module under construction, so one lifetime is enough.
use crate::{BackendError, Session, Target, emit::scalar::Scalars};
use melior::{
    Context,
    ir::{
        Attribute, Block, BlockLike, BlockRef, Identifier, Location, OperationRef, Region, RegionLike, Type, Value,
        ValueLike,
        attribute::{IntegerAttribute, StringAttribute},
        operation::{OperationBuilder, OperationLike},
        r#type::IntegerType,
    },
};
use tf_core::{Result, SourceMap, Span};

/// A value of the module under construction.
pub(crate) type V<'a> = Value<'a, 'a>;

/// Appends operations to the end of a block.
#[derive(Clone, Copy)]
pub(crate) struct Builder<'a> {
    pub(crate) session: &'a Session,
    pub(crate) block: BlockRef<'a, 'a>,
    pub(crate) location: Location<'a>,
}

impl<'a> Builder<'a> {
    pub(crate) fn context(&self) -> &'a Context {
        self.session.context()
    }

    /// Element arithmetic for the device at the same place.
    pub(crate) fn scalars(&self) -> Scalars<'a, 'a> {
        Scalars { session: self.session, block: self.block, location: self.location, target: Target::Gpu }
    }

    /// Appends an operation with regions that have one block each.
    pub(crate) fn region_op(
        &self,
        name: &str,
        operands: &[V<'a>],
        results: &[Type<'a>],
        attributes: &[(&str, Attribute<'a>)],
        blocks: Vec<Block<'a>>,
    ) -> Result<OperationRef<'a, 'a>> {
        let operation = operation(self.location, self.context(), name, operands, results, attributes, blocks)?;
        Ok(self.block.append_operation(operation))
    }

    /// Appends an operation without results or with any number of them.
    pub(crate) fn op(
        &self,
        name: &str,
        operands: &[V<'a>],
        results: &[Type<'a>],
        attributes: &[(&str, Attribute<'a>)],
    ) -> Result<OperationRef<'a, 'a>> {
        self.region_op(name, operands, results, attributes, vec![])
    }

    /// Appends an operation and gives its first result.
    pub(crate) fn value(
        &self,
        name: &str,
        operands: &[V<'a>],
        result: Type<'a>,
        attributes: &[(&str, Attribute<'a>)],
    ) -> Result<V<'a>> {
        first_result(self.op(name, operands, &[result], attributes)?)
    }

    /// Appends an operation of two operands whose result has their type.
    pub(crate) fn binary(&self, name: &str, x: V<'a>, y: V<'a>) -> Result<V<'a>> {
        self.value(name, &[x, y], x.r#type(), &[])
    }

    pub(crate) fn index_type(&self) -> Type<'a> {
        Type::index(self.context())
    }

    pub(crate) fn int_type(&self, bits: u32) -> Type<'a> {
        IntegerType::new(self.context(), bits).into()
    }

    /// An integer or index constant.
    pub(crate) fn integer(&self, r#type: Type<'a>, value: i64) -> Result<V<'a>> {
        self.value("arith.constant", &[], r#type, &[("value", IntegerAttribute::new(r#type, value).into())])
    }

    /// The attribute `value : i64`.
    pub(crate) fn i64_attr(&self, value: i64) -> Attribute<'a> {
        IntegerAttribute::new(self.int_type(64), value).into()
    }

    pub(crate) fn string(&self, text: &str) -> Attribute<'a> {
        StringAttribute::new(self.context(), text).into()
    }
}

/// An operation that belongs to no block yet.
pub(crate) fn operation<'a>(
    location: Location<'a>,
    context: &'a Context,
    name: &str,
    operands: &[V<'a>],
    results: &[Type<'a>],
    attributes: &[(&str, Attribute<'a>)],
    blocks: Vec<Block<'a>>,
) -> Result<melior::ir::Operation<'a>> {
    let attributes: Vec<_> = attributes.iter().map(|(name, value)| (Identifier::new(context, name), *value)).collect();
    let regions = blocks
        .into_iter()
        .map(|block| {
            let region = Region::new();
            region.append_block(block);
            region
        })
        .collect();
    let operation = OperationBuilder::new(name, location)
        .add_operands(operands)
        .add_results(results)
        .add_attributes(&attributes)
        .add_regions_vec(regions)
        .build();
    operation.map_err(|error| BackendError::new(format!("cannot build `{name}`: {error}")).into())
}

pub(crate) fn first_result<'a>(operation: OperationRef<'a, 'a>) -> Result<V<'a>> {
    Ok(OperationLike::result(&operation, 0).map_err(melior_error)?.into())
}

/// The only block of an operation's first region.
pub(crate) fn body<'a>(operation: OperationRef<'a, 'a>) -> Result<BlockRef<'a, 'a>> {
    let region = operation.region(0).map_err(melior_error)?;
    region.first_block().ok_or_else(|| BackendError::new("an operation has no body").into())
}

/// An argument of a block.
pub(crate) fn argument<'a>(block: BlockRef<'a, 'a>, index: usize) -> Result<V<'a>> {
    Ok(block.argument(index).map_err(melior_error)?.into())
}

pub(crate) fn melior_error(error: melior::Error) -> tf_core::Diagnostic {
    BackendError::new(error.to_string()).into()
}

/// A source position as MLIR's.
pub(crate) fn location<'a>(session: &'a Session, sources: &SourceMap, span: Option<Span>) -> Location<'a> {
    match span {
        None => Location::unknown(session.context()),
        Some(span) => {
            let file = sources.file(span.file);
            Location::new(session.context(), &file.name, span.line.get() as usize, span.column as usize)
        }
    }
}
