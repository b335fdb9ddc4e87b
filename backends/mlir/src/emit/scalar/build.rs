//! The operations that element arithmetic is built of.
use super::{Built, Scalars};
use crate::{BackendError, math::MathBuilder, math::MathFn, math::Target};
use melior::ir::{
    Attribute, Block, BlockLike, Identifier, Location, OperationRef, Region, RegionLike, Type, Value, ValueLike,
    attribute::{DenseI32ArrayAttribute, FloatAttribute, IntegerAttribute, StringAttribute},
    operation::{OperationBuilder, OperationLike},
    r#type::IntegerType,
};

impl<'a, 'm> Scalars<'a, 'm> {
    /// The same builder at another block.
    #[must_use]
    pub fn at(self, block: melior::ir::BlockRef<'m, 'a>) -> Self {
        Self { block, ..self }
    }

    /// Appends an operation of any form.
    ///
    /// # Errors
    /// MLIR's, with the operation's name.
    pub fn append(
        &self,
        name: &str,
        operands: &[Value<'m, 'a>],
        results: &[Type<'m>],
        attributes: &[(&str, Attribute<'m>)],
        regions: Vec<Region<'m>>,
    ) -> Result<OperationRef<'m, 'a>, BackendError> {
        let context = self.session.context();
        let attributes: Vec<_> =
            attributes.iter().map(|(name, value)| (Identifier::new(context, name), *value)).collect();
        let operation = OperationBuilder::new(name, self.location)
            .add_operands(operands)
            .add_results(results)
            .add_attributes(&attributes)
            .add_regions_vec(regions)
            .build()
            .map_err(|error| BackendError::new(format!("cannot build `{name}`: {error}")))?;
        Ok(self.block.append_operation(operation))
    }

    /// An operation with one result and attributes.
    ///
    /// # Errors
    /// MLIR's, with the operation's name.
    pub fn op_with(
        &self,
        name: &str,
        operands: &[Value<'m, 'a>],
        result: Type<'m>,
        attributes: &[(&str, Attribute<'m>)],
    ) -> Built<'m, 'a> {
        let operation = self.append(name, operands, &[result], attributes, Vec::new())?;
        Ok(operation.result(0).map_err(|error| BackendError::new(error.to_string()))?.into())
    }

    /// An operation with one result.
    ///
    /// # Errors
    /// MLIR's, with the operation's name.
    pub fn op(&self, name: &str, operands: &[Value<'m, 'a>], result: Type<'m>) -> Built<'m, 'a> {
        self.op_with(name, operands, result, &[])
    }

    /// An operation of two operands whose result has their type.
    pub(crate) fn same(&self, name: &str, a: Value<'m, 'a>, b: Value<'m, 'a>) -> Built<'m, 'a> {
        self.op(name, &[a, b], a.r#type())
    }

    /// A call of an LLVM intrinsic.
    ///
    /// # Errors
    /// MLIR's.
    pub fn intrinsic(&self, name: &str, operands: &[Value<'m, 'a>], results: &[Type<'m>]) -> Result<(), BackendError> {
        self.call_intrinsic(name, operands, results).map(drop)
    }

    /// A call of an LLVM intrinsic with one result.
    ///
    /// # Errors
    /// MLIR's.
    pub fn intrinsic_value(&self, name: &str, operands: &[Value<'m, 'a>], result: Type<'m>) -> Built<'m, 'a> {
        let operation = self.call_intrinsic(name, operands, &[result])?;
        Ok(operation.result(0).map_err(|error| BackendError::new(error.to_string()))?.into())
    }

    fn call_intrinsic(
        &self,
        name: &str,
        operands: &[Value<'m, 'a>],
        results: &[Type<'m>],
    ) -> Result<OperationRef<'m, 'a>, BackendError> {
        let context = self.session.context();
        let segments = DenseI32ArrayAttribute::new(context, &[operands.len() as i32, 0]);
        let attributes = [
            ("intrin", StringAttribute::new(context, name).into()),
            ("op_bundle_sizes", DenseI32ArrayAttribute::new(context, &[]).into()),
            ("operandSegmentSizes", segments.into()),
        ];
        self.append("llvm.call_intrinsic", operands, results, &attributes, Vec::new())
    }

    /// An integer or index constant.
    ///
    /// # Errors
    /// MLIR's.
    pub fn integer(&self, value: i64, r#type: Type<'m>) -> Built<'m, 'a> {
        self.op_with("arith.constant", &[], r#type, &[("value", IntegerAttribute::new(r#type, value).into())])
    }

    /// An index constant.
    ///
    /// # Errors
    /// MLIR's.
    pub fn index(&self, value: i64) -> Built<'m, 'a> {
        self.integer(value, Type::index(self.session.context()))
    }

    /// A float constant.
    ///
    /// # Errors
    /// MLIR's.
    pub fn float(&self, value: f64, r#type: Type<'m>) -> Built<'m, 'a> {
        let value = FloatAttribute::new(self.session.context(), r#type, value);
        self.op_with("arith.constant", &[], r#type, &[("value", value.into())])
    }

    /// A constant of the type of `like`.
    pub(super) fn integer_like(&self, value: i64, like: Value<'m, 'a>) -> Built<'m, 'a> {
        self.integer(value, like.r#type())
    }

    fn truth(&self) -> Type<'m> {
        IntegerType::new(self.session.context(), 1).into()
    }

    fn compare(&self, name: &str, code: usize, a: Value<'m, 'a>, b: Value<'m, 'a>) -> Built<'m, 'a> {
        let i64: Type = IntegerType::new(self.session.context(), 64).into();
        let code = IntegerAttribute::new(i64, code as i64);
        self.op_with(name, &[a, b], self.truth(), &[("predicate", code.into())])
    }

    /// `arith.cmpi`; the predicate as MLIR writes it.
    ///
    /// # Errors
    /// An unknown predicate.
    pub fn compare_int(&self, predicate: &str, a: Value<'m, 'a>, b: Value<'m, 'a>) -> Built<'m, 'a> {
        const PREDICATES: [&str; 10] = ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"];
        self.compare("arith.cmpi", position(&PREDICATES, predicate)?, a, b)
    }

    /// `arith.cmpf`; the predicate as MLIR writes it.
    ///
    /// # Errors
    /// An unknown predicate.
    pub fn compare_float(&self, predicate: &str, a: Value<'m, 'a>, b: Value<'m, 'a>) -> Built<'m, 'a> {
        const PREDICATES: [&str; 16] = [
            "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno",
            "true",
        ];
        self.compare("arith.cmpf", position(&PREDICATES, predicate)?, a, b)
    }

    /// `condition ? yes : no`
    ///
    /// # Errors
    /// MLIR's.
    pub fn select(&self, condition: Value<'m, 'a>, yes: Value<'m, 'a>, no: Value<'m, 'a>) -> Built<'m, 'a> {
        self.op("arith.select", &[condition, yes, no], yes.r#type())
    }

    /// A function of an f32.
    pub(super) fn math(&self, function: MathFn, x: Value<'m, 'a>) -> Built<'m, 'a> {
        let context = self.session.context();
        MathBuilder::new(context, &self.block, self.location, self.target).unary(function, x)
    }

    /// Ends the program unless `condition` holds.
    pub(crate) fn require(&self, condition: Value<'m, 'a>, message: &str) -> Result<(), BackendError> {
        let context = self.session.context();
        if self.target == Target::Cpu {
            let message = StringAttribute::new(context, message);
            return self.append("cf.assert", &[condition], &[], &[("msg", message.into())], Vec::new()).map(drop);
        }
        let wrong = self.same("arith.xori", condition, self.integer_like(1, condition)?)?;
        let then = single_block(&[], self.location);
        let operation = self.append("scf.if", &[wrong], &[], &[], vec![then, Region::new()])?;
        let inside = self.at(first_block(operation)?);
        inside.intrinsic("llvm.trap", &[], &[])?;
        inside.append("scf.yield", &[], &[], &[], Vec::new())?;
        Ok(())
    }
}

/// A region of one empty block with arguments of these types.
pub(crate) fn single_block<'m>(arguments: &[Type<'m>], location: Location<'m>) -> Region<'m> {
    let arguments: Vec<_> = arguments.iter().map(|r#type| (*r#type, location)).collect();
    let region = Region::new();
    region.append_block(Block::new(&arguments));
    region
}

/// The block of an operation's first region.
pub(crate) fn first_block<'m, 'a>(
    operation: OperationRef<'m, 'a>,
) -> Result<melior::ir::BlockRef<'m, 'a>, BackendError> {
    let region = operation.region(0).map_err(|error| BackendError::new(error.to_string()))?;
    region.first_block().ok_or_else(|| BackendError::new("an operation has no block"))
}

fn position(names: &[&str], name: &str) -> Result<usize, BackendError> {
    names.iter().position(|&n| n == name).ok_or_else(|| BackendError::new(format!("no comparison `{name}`")))
}
