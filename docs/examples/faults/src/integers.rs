//! Laws of integers that machine integers do not have.

use tf_core::Literal;
use tf_hir::{Binary, Where};
use tf_types::DType;
use tf_types::kinds::{BinaryKind, UnaryKind};

use crate::fault::{dtype, faults, integer, operands_of};

faults! {
    /// A quotient is rounded down in place of toward zero.
    FloorForTrunc = "fault-floor-for-trunc": |at| {
        let (a, b) = operands_of(at.expr, BinaryKind::Div)?;
        dtype(a)?.is_integer().then(|| at.binary(BinaryKind::FloorDiv, a, b)).flatten()
    };

    /// A remainder takes the sign of the dividend.
    ModSign = "fault-mod-sign": |at| {
        let (a, b) = operands_of(at.expr, BinaryKind::Mod)?;
        let whole = at.binary(BinaryKind::Mul, at.binary(BinaryKind::Div, a, b)?, b)?;
        at.binary(BinaryKind::Sub, a, whole)
    };

    /// `(x * c + y) / c` becomes `x + y / c`, which holds for quotients that are rounded down (apache/tvm#2173).
    DividedSum = "fault-divided-sum": |at| {
        let (sum, c) = operands_of(at.expr, BinaryKind::Div)?;
        let (product, y) = operands_of(sum, BinaryKind::Add)?;
        let (x, factor) = operands_of(product, BinaryKind::Mul)?;
        (integer(c)? == integer(factor)?).then_some(())?;
        at.binary(BinaryKind::Add, x, at.binary(BinaryKind::Div, y, c)?)
    };

    /// `x * c // c` becomes `x`: products that wrap tell (the law behind llvm/llvm-project#107508).
    TimesAndDivided = "fault-times-and-divided": |at| {
        let (product, c) = operands_of(at.expr, BinaryKind::FloorDiv)?;
        let (x, factor) = operands_of(product, BinaryKind::Mul)?;
        (integer(c)? == integer(factor)?).then_some(x)
    };

    /// `x // c` becomes `-((-x + c - 1) / c)` where `x` is negative: the least integer has no negative (llvm/llvm-project#89382).
    FloorByNegation = "fault-floor-by-negation": |at| {
        let (x, c) = operands_of(at.expr, BinaryKind::FloorDiv)?;
        let value = integer(c).filter(|&c| c > 1)?;
        let zero = at.literal(Literal::Int(0), dtype(x)?);
        let less = at.literal(Literal::Int(value - 1), dtype(x)?);
        let up = at.binary(BinaryKind::Add, at.unary(UnaryKind::Neg, x)?, less)?;
        let below = at.unary(UnaryKind::Neg, at.binary(BinaryKind::Div, up, c)?)?;
        let above = at.binary(BinaryKind::Div, x, c)?;
        at.call(Where::new(at.cx), &[at.binary(BinaryKind::Lt, x, zero)?, below, above])
    };

    /// `x - (x + y)` becomes `y`, without the minus (diku-dk/futhark#1194).
    LostSign = "fault-lost-sign": |at| {
        let (x, sum) = operands_of(at.expr, BinaryKind::Sub)?;
        let (again, y) = operands_of(sum, BinaryKind::Add)?;
        (again == x && dtype(x)?.is_integer()).then_some(y)
    };

    /// Arithmetic on literals is folded with saturation in place of wrapping.
    FoldedSaturating = "fault-folded-saturating": |at| {
        let call = at.expr.as_op::<Binary>()?;
        let (a, b) = (integer(call.lhs())?, integer(call.rhs())?);
        let exact = match call.kind() {
            BinaryKind::Add => i128::from(a) + i128::from(b),
            BinaryKind::Mul => i128::from(a) * i128::from(b),
            _ => return None,
        };
        let (least, most) = match dtype(call.lhs())? {
            DType::I32 => (i64::from(i32::MIN), i64::from(i32::MAX)),
            _ => (i64::MIN, i64::MAX),
        };
        let value = exact.clamp(least.into(), most.into());
        Some(at.literal(Literal::Int(i64::try_from(value).ok()?), dtype(call.lhs())?))
    };
}

pub fn register(r: &mut tf_plugin::Registrar<'_>) {
    register_rewrites(r);
}
