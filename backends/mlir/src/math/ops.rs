//! The few operations that math expansions are built of.
use crate::BackendError;
use melior::{
    Context,
    ir::{
        Attribute, BlockLike, Identifier, Location, Type, Value, ValueLike,
        attribute::{DenseI32ArrayAttribute, FloatAttribute, IntegerAttribute, StringAttribute},
        operation::OperationBuilder,
        r#type::IntegerType,
    },
};

/// Appends operations to one block.
pub(super) struct Ops<'m, 'c, B> {
    context: &'c Context,
    block: &'m B,
    location: Location<'c>,
}

type Built<'c, 'a> = Result<Value<'c, 'a>, BackendError>;

impl<'m, 'c: 'a, 'a, B: BlockLike<'c, 'a>> Ops<'m, 'c, B> {
    pub(super) fn new(context: &'c Context, block: &'m B, location: Location<'c>) -> Self {
        Self { context, block, location }
    }

    fn append(
        &self,
        name: &str,
        operands: &[Value<'c, 'a>],
        result: Type<'c>,
        attributes: &[(&str, Attribute<'c>)],
    ) -> Built<'c, 'a> {
        let attributes: Vec<_> =
            attributes.iter().map(|(name, value)| (Identifier::new(self.context, name), *value)).collect();
        let operation = OperationBuilder::new(name, self.location)
            .add_operands(operands)
            .add_results(&[result])
            .add_attributes(&attributes)
            .build()
            .map_err(|error| BackendError::new(format!("cannot build `{name}`: {error}")))?;
        let result = self.block.append_operation(operation).result(0);
        Ok(result.map_err(|error| BackendError::new(error.to_string()))?.into())
    }

    /// An operation without attributes.
    pub(super) fn op(&self, name: &str, operands: &[Value<'c, 'a>], result: Type<'c>) -> Built<'c, 'a> {
        self.append(name, operands, result, &[])
    }

    /// A call of an LLVM intrinsic whose result has the type of the first operand.
    pub(super) fn intrinsic(&self, name: &str, operands: &[Value<'c, 'a>]) -> Built<'c, 'a> {
        let segments = DenseI32ArrayAttribute::new(self.context, &[operands.len() as i32, 0]);
        let bundles = DenseI32ArrayAttribute::new(self.context, &[]);
        self.append(
            "llvm.call_intrinsic",
            operands,
            operands[0].r#type(),
            &[
                ("intrin", StringAttribute::new(self.context, name).into()),
                ("op_bundle_sizes", bundles.into()),
                ("operandSegmentSizes", segments.into()),
            ],
        )
    }

    /// A floating-point constant.
    pub(super) fn constant(&self, value: f64, r#type: Type<'c>) -> Built<'c, 'a> {
        let value = FloatAttribute::new(self.context, r#type, value);
        self.append("arith.constant", &[], r#type, &[("value", value.into())])
    }

    /// An i32 constant.
    pub(super) fn int(&self, value: i32) -> Built<'c, 'a> {
        let value = IntegerAttribute::new(self.i32(), i64::from(value));
        self.append("arith.constant", &[], self.i32(), &[("value", value.into())])
    }

    pub(super) fn i32(&self) -> Type<'c> {
        IntegerType::new(self.context, 32).into()
    }

    /// An operation of two operands whose result has their type.
    pub(super) fn binary(&self, name: &str, x: Value<'c, 'a>, y: Value<'c, 'a>) -> Built<'c, 'a> {
        self.op(name, &[x, y], x.r#type())
    }

    pub(super) fn add(&self, x: Value<'c, 'a>, y: Value<'c, 'a>) -> Built<'c, 'a> {
        self.binary("arith.addf", x, y)
    }

    pub(super) fn sub(&self, x: Value<'c, 'a>, y: Value<'c, 'a>) -> Built<'c, 'a> {
        self.binary("arith.subf", x, y)
    }

    pub(super) fn mul(&self, x: Value<'c, 'a>, y: Value<'c, 'a>) -> Built<'c, 'a> {
        self.binary("arith.mulf", x, y)
    }

    pub(super) fn div(&self, x: Value<'c, 'a>, y: Value<'c, 'a>) -> Built<'c, 'a> {
        self.binary("arith.divf", x, y)
    }

    /// `x * y + z`, one rounding, f32.
    pub(super) fn fma(&self, x: Value<'c, 'a>, y: Value<'c, 'a>, z: Value<'c, 'a>) -> Built<'c, 'a> {
        self.intrinsic("llvm.fma.f32", &[x, y, z])
    }

    /// The polynomial with the given coefficients, highest power first, at the f32 value `x`.
    pub(super) fn polynomial(&self, x: Value<'c, 'a>, coefficients: &[f64]) -> Built<'c, 'a> {
        let mut sum = self.constant(coefficients[0], x.r#type())?;
        for &coefficient in &coefficients[1..] {
            sum = self.fma(sum, x, self.constant(coefficient, x.r#type())?)?;
        }
        Ok(sum)
    }

    /// A floating-point comparison; `predicate` as MLIR writes it.
    pub(super) fn compare(&self, predicate: &str, x: Value<'c, 'a>, y: Value<'c, 'a>) -> Built<'c, 'a> {
        const PREDICATES: [&str; 16] = [
            "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno",
            "true",
        ];
        let code = PREDICATES
            .iter()
            .position(|&name| name == predicate)
            .ok_or_else(|| BackendError::new(format!("no comparison `{predicate}`")))?;
        let i64: Type = IntegerType::new(self.context, 64).into();
        let code = IntegerAttribute::new(i64, code as i64);
        let i1 = IntegerType::new(self.context, 1).into();
        self.append("arith.cmpf", &[x, y], i1, &[("predicate", code.into())])
    }

    pub(super) fn select(&self, condition: Value<'c, 'a>, yes: Value<'c, 'a>, no: Value<'c, 'a>) -> Built<'c, 'a> {
        self.op("arith.select", &[condition, yes, no], yes.r#type())
    }
}
