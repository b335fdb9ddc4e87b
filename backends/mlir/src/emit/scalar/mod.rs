//! Arithmetic on single elements, for both targets, with the numbers of the reference evaluator.
//!
//! In registers a bool is `i1`, an fp8e4m3 its bits as `i8`; 16-bit floats are computed in f32 and rounded once.
mod bf16;
mod binary;
mod build;
mod cast;
mod fp8;
mod reduce;
mod unary;

pub(crate) use build::{first_block, single_block};

use crate::{BackendError, Session, math::Target};
use melior::ir::{BlockRef, Location, Type, Value, ValueLike, r#type::IntegerType};
use tf_core::Literal;
use tf_types::{
    DType,
    kinds::{BinaryKind, ReduceKind, UnaryKind},
};

/// A value, or why it has no compiled form.
pub type Built<'m, 'a> = Result<Value<'m, 'a>, BackendError>;

/// Appends element arithmetic to the end of one block.
#[derive(Clone, Copy)]
pub struct Scalars<'a, 'm> {
    /// Owns the MLIR context.
    pub session: &'m Session,
    /// Where operations are appended.
    pub block: BlockRef<'m, 'a>,
    /// Location of the operations.
    pub location: Location<'m>,
    /// What will run them.
    pub target: Target,
}

impl<'a, 'm> Scalars<'a, 'm> {
    /// The type of an element in registers.
    ///
    /// # Errors
    /// f8e8m0 and f4e2m1, which have no compiled form yet.
    pub fn mlir_type(&self, dtype: DType) -> Result<Type<'m>, BackendError> {
        let context = self.session.context();
        Ok(match dtype {
            DType::F32 => Type::float32(context),
            DType::F16 => Type::float16(context),
            DType::BF16 => Type::bfloat16(context),
            DType::Fp8E4M3 => IntegerType::new(context, 8).into(),
            DType::I32 => IntegerType::new(context, 32).into(),
            DType::I64 => IntegerType::new(context, 64).into(),
            DType::Bool => IntegerType::new(context, 1).into(),
            DType::F8E8M0 | DType::F4E2M1 => return Err(no_form(dtype)),
        })
    }

    /// The type of an element in memory: a bool takes one byte.
    ///
    /// # Errors
    /// As [`Scalars::mlir_type`].
    pub fn memory_type(&self, dtype: DType) -> Result<Type<'m>, BackendError> {
        match dtype {
            DType::Bool => Ok(IntegerType::new(self.session.context(), 8).into()),
            _ => self.mlir_type(dtype),
        }
    }

    /// What was loaded, as it is in registers.
    ///
    /// # Errors
    /// None that a well-typed operand can cause.
    pub fn from_memory(&self, dtype: DType, x: Value<'m, 'a>) -> Built<'m, 'a> {
        match dtype {
            DType::Bool => self.compare_int("ne", x, self.integer(0, x.r#type())?),
            _ => Ok(x),
        }
    }

    /// What is to be stored, as it is in memory.
    ///
    /// # Errors
    /// None that a well-typed operand can cause.
    pub fn to_memory(&self, dtype: DType, x: Value<'m, 'a>) -> Built<'m, 'a> {
        match dtype {
            DType::Bool => self.op("arith.extui", &[x], self.memory_type(dtype)?),
            _ => Ok(x),
        }
    }

    /// A literal of that dtype; an integer may stand for a float.
    ///
    /// # Errors
    /// A literal of another family.
    pub fn constant(&self, dtype: DType, literal: Literal) -> Built<'m, 'a> {
        let r#type = self.mlir_type(dtype)?;
        match (dtype, literal) {
            (DType::Bool, Literal::Bool(value)) => self.integer(i64::from(value), r#type),
            (DType::I32 | DType::I64, Literal::Int(value)) => self.integer(value, r#type),
            (DType::F32, Literal::Float(value)) => self.float(value, r#type),
            (_, Literal::Int(value)) if dtype.is_float() => self.constant(dtype, Literal::Float(value as f64)),
            // Rounded to f32 first, as the evaluator does.
            (_, Literal::Float(value)) if dtype.is_float() => {
                let wide = self.constant(DType::F32, Literal::Float(value))?;
                self.narrow(dtype, wide)
            }
            (_, literal) => Err(BackendError::new(format!("{literal} is no value of {dtype}"))),
        }
    }

    /// `kind(a, b)` of operands of one dtype; bool for comparisons. A zero divisor of integers ends the program.
    ///
    /// # Errors
    /// A dtype that the kind does not take.
    pub fn binary(&self, kind: BinaryKind, dtype: DType, a: Value<'m, 'a>, b: Value<'m, 'a>) -> Built<'m, 'a> {
        binary::emit(self, kind, dtype, a, b)
    }

    /// `kind(x)`, in the dtype of `x`.
    ///
    /// # Errors
    /// A dtype that the kind does not take; the kind `cast`, whose result dtype is stated to [`Scalars::cast`].
    pub fn unary(&self, kind: UnaryKind, dtype: DType, x: Value<'m, 'a>) -> Built<'m, 'a> {
        unary::emit(self, kind, dtype, x)
    }

    /// `min(max(x, lo), hi)`: NaN stays; bounds of integers are cut toward zero and saturate.
    ///
    /// # Errors
    /// A dtype without arithmetic.
    pub fn clamp(&self, dtype: DType, x: Value<'m, 'a>, lo: f64, hi: f64) -> Built<'m, 'a> {
        if dtype == DType::Fp8E4M3 {
            // Bounds that this dtype lacks still bound.
            let wide = self.cast(dtype, DType::F32, x)?;
            let wide = self.clamp(DType::F32, wide, lo, hi)?;
            return self.cast(DType::F32, dtype, wide);
        }
        let bound = |value: f64| match dtype {
            DType::I32 => self.constant(dtype, Literal::Int(i64::from(value as i32))),
            DType::I64 => self.constant(dtype, Literal::Int(value as i64)),
            _ => self.constant(dtype, Literal::Float(value)),
        };
        let least = self.binary(BinaryKind::Max, dtype, x, bound(lo)?)?;
        self.binary(BinaryKind::Min, dtype, least, bound(hi)?)
    }

    /// `x` of dtype `from` in dtype `to`.
    ///
    /// # Errors
    /// A dtype without a compiled form.
    pub fn cast(&self, from: DType, to: DType, x: Value<'m, 'a>) -> Built<'m, 'a> {
        cast::emit(self, from, to, x)
    }

    /// What a reduction starts from, in the accumulator's dtype (`tf_tir::tensor::reduce::accumulator`).
    ///
    /// # Errors
    /// A dtype that the kind does not take.
    pub fn identity(&self, kind: ReduceKind, dtype: DType) -> Built<'m, 'a> {
        reduce::identity(self, kind, dtype)
    }

    /// `acc`, in the accumulator's dtype, combined with the element `x` of dtype `dtype`. Two accumulators are combined
    /// by passing the accumulator's dtype.
    ///
    /// # Errors
    /// A dtype that the kind does not take.
    pub fn combine(&self, kind: ReduceKind, dtype: DType, acc: Value<'m, 'a>, x: Value<'m, 'a>) -> Built<'m, 'a> {
        reduce::combine(self, kind, dtype, acc, x)
    }

    /// The result, of dtype `dtype`, of a reduction that combined `count` elements.
    ///
    /// # Errors
    /// A dtype that the kind does not take.
    pub fn finish(&self, kind: ReduceKind, dtype: DType, acc: Value<'m, 'a>, count: i64) -> Built<'m, 'a> {
        reduce::finish(self, kind, dtype, acc, count)
    }

    /// A float as f32, which holds it exactly.
    ///
    /// # Errors
    /// A dtype that is no float.
    pub fn widen(&self, dtype: DType, x: Value<'m, 'a>) -> Built<'m, 'a> {
        match dtype {
            DType::F32 => Ok(x),
            DType::BF16 if self.target == Target::Cpu => bf16::widen(self, x),
            DType::F16 | DType::BF16 => self.op("arith.extf", &[x], self.mlir_type(DType::F32)?),
            DType::Fp8E4M3 => fp8::widen(self, x),
            _ => Err(no_form(dtype)),
        }
    }

    /// An f32 rounded to a float dtype, to the nearest, ties to even.
    ///
    /// # Errors
    /// A dtype that is no float.
    pub fn narrow(&self, dtype: DType, x: Value<'m, 'a>) -> Built<'m, 'a> {
        match dtype {
            DType::F32 => Ok(x),
            DType::BF16 if self.target == Target::Cpu => bf16::narrow(self, x),
            DType::F16 | DType::BF16 => self.op("arith.truncf", &[x], self.mlir_type(dtype)?),
            DType::Fp8E4M3 => fp8::narrow(self, x),
            _ => Err(no_form(dtype)),
        }
    }
}

fn no_form(dtype: DType) -> BackendError {
    BackendError::new(format!("{dtype} has no compiled form yet"))
}

fn refused(kind: impl std::fmt::Display, takes: &str, found: DType) -> BackendError {
    BackendError::new(format!("`{kind}` takes {takes}, found {found}"))
}
