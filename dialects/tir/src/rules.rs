//! What the rules of several ops check.

use tf_core::Expr;
use tf_core::op::RuleError;
use tf_types::kinds::{BinaryKind, UnaryKind};
use tf_types::layout::static_product;
use tf_types::{DType, Dim, Storage, TensorLayout, TensorType};

const CAST: &str = "`T.unary(src, dst, kind=\"cast\")` writes in another dtype";

/// The operand's tensor type.
pub fn tensor<'c>(index: usize, name: &str, operand: Expr<'c>) -> Result<&'c TensorType<'c>, RuleError> {
    operand.ty().as_tensor().ok_or_else(|| {
        RuleError::new(format!("`{name}` must be a tensor, found {}", operand.ty()))
            .operand(index, operand.ty().to_string())
    })
}

/// Refuses two operands of unequal dtype.
pub fn same_dtype(op: &str, a: (usize, Expr<'_>), b: (usize, Expr<'_>)) -> Result<(), RuleError> {
    let (ta, tb) = (tensor(a.0, "operand", a.1)?, tensor(b.0, "operand", b.1)?);
    if ta.dtype == tb.dtype {
        return Ok(());
    }
    let message = format!("`{op}` takes operands of one dtype, found {} and {}", ta.dtype, tb.dtype);
    Err(RuleError::new(message)
        .operand(a.0, a.1.ty().to_string())
        .operand(b.0, b.1.ty().to_string())
        .with_help(format!("nothing is promoted: {CAST}")))
}

/// Refuses two operands of unequal shape.
pub fn same_shape(op: &str, a: (usize, Expr<'_>), b: (usize, Expr<'_>)) -> Result<(), RuleError> {
    let (ta, tb) = (tensor(a.0, "operand", a.1)?, tensor(b.0, "operand", b.1)?);
    if ta.shape == tb.shape {
        return Ok(());
    }
    let message = format!("`{op}` takes operands of one shape, found {} and {}", a.1.ty(), b.1.ty());
    Err(RuleError::new(message)
        .operand(a.0, a.1.ty().to_string())
        .operand(b.0, b.1.ty().to_string())
        .with_help("take a `T.tensor_view` of one of them"))
}

/// Refuses an operand whose shape does not broadcast to that of `target` (right-aligned, 1 expands).
pub fn broadcasts_to(op: &str, a: (usize, Expr<'_>), target: (usize, Expr<'_>)) -> Result<(), RuleError> {
    let (ta, tb) = (tensor(a.0, "operand", a.1)?, tensor(target.0, "operand", target.1)?);
    let aligned = ta.rank() <= tb.rank()
        && ta.shape.iter().rev().zip(tb.shape.iter().rev()).all(|(x, y)| x == y || x.as_const() == Some(1));
    if aligned {
        return Ok(());
    }
    let message = format!("`{op}`: {} does not broadcast to {}", a.1.ty(), target.1.ty());
    Err(RuleError::new(message)
        .operand(a.0, a.1.ty().to_string())
        .operand(target.0, target.1.ty().to_string())
        .with_help("extents broadcast from the last axis backwards; each is that of the result, or 1"))
}

/// Refuses two operands whose numbers of elements are known and unequal.
pub fn same_count(op: &str, a: (usize, Expr<'_>), b: (usize, Expr<'_>)) -> Result<(), RuleError> {
    let (ta, tb) = (tensor(a.0, "operand", a.1)?, tensor(b.0, "operand", b.1)?);
    let Some((from, to)) = unequal_counts(ta.shape, tb.shape) else { return Ok(()) };
    let message = format!("`{op}` copies {from} elements to {to}");
    Err(RuleError::new(message)
        .operand(a.0, a.1.ty().to_string())
        .operand(b.0, b.1.ty().to_string())
        .with_help("both have one number of elements: take a `T.tensor_view` of the larger one"))
}

fn unequal_counts(a: &[Dim<'_>], b: &[Dim<'_>]) -> Option<(i64, i64)> {
    static_product(a).zip(static_product(b)).filter(|(a, b)| a != b)
}

/// Refuses an operand that holds truth values.
pub fn numbers(op: &str, a: (usize, Expr<'_>)) -> Result<(), RuleError> {
    takes(op, ("numbers", CAST), a, |dtype| dtype != DType::Bool)
}

/// Refuses an operand that holds no floats.
pub fn floats(op: &str, a: (usize, Expr<'_>)) -> Result<(), RuleError> {
    takes(op, ("floats", CAST), a, DType::is_float)
}

/// Truth values, and how to make some.
const BOOLS: (&str, &str) = ("bools", "a comparison writes bools: `T.binary(lhs, rhs, dst, kind=\"ne\")`");

/// Refuses an operand of a dtype that does not fit; `what` fits, and how to mend another.
fn takes(
    op: &str,
    (what, help): (&str, &str),
    a: (usize, Expr<'_>),
    fits: impl Fn(DType) -> bool,
) -> Result<(), RuleError> {
    let found = tensor(a.0, "operand", a.1)?.dtype;
    if fits(found) {
        return Ok(());
    }
    let message = format!("`{op}` takes {what}, found {found}");
    Err(RuleError::new(message).operand(a.0, a.1.ty().to_string()).with_help(help))
}

/// Refuses a tensor that has no address.
pub fn in_memory(op: &str, a: (usize, Expr<'_>)) -> Result<(), RuleError> {
    let storage = tensor(a.0, "operand", a.1)?.storage;
    if !matches!(storage, Storage::Rmem | Storage::Umat) {
        return Ok(());
    }
    let message = format!("`{op}` takes a tensor in memory, found one in {storage}");
    Err(RuleError::new(message).operand(a.0, a.1.ty().to_string()).with_help("copy it to smem or gmem"))
}

/// Refuses a layout of another number of elements than the shape it is for.
pub fn layout_fits(op: &str, shape: &[Dim<'_>], layout: TensorLayout<'_>) -> Result<(), RuleError> {
    let factors = match layout {
        TensorLayout::Plain(layout) => layout.shape(),
        TensorLayout::Shard(shard) => shard.layout.shape(),
        TensorLayout::Composed(_) => return Ok(()),
    };
    let Some((wanted, found)) = unequal_counts(shape, factors) else { return Ok(()) };
    Err(RuleError::new(format!("`{op}` of {wanted} elements has the layout {layout} of {found}"))
        .with_help("the extents of a layout multiply to those of the shape"))
}

/// Refuses an operand of a dtype that the kind does not take.
pub fn binary_takes(op: &str, kind: BinaryKind, a: (usize, Expr<'_>)) -> Result<(), RuleError> {
    let op = &format!("{op}` of kind `{kind}");
    match kind {
        BinaryKind::FloorDiv | BinaryKind::Mod => takes(op, ("integers", CAST), a, DType::is_integer),
        BinaryKind::And | BinaryKind::Or => takes(op, BOOLS, a, |dtype| dtype == DType::Bool),
        BinaryKind::Add | BinaryKind::Sub | BinaryKind::Mul | BinaryKind::Div => numbers(op, a),
        // False comes before true.
        _ => Ok(()),
    }
}

/// Refuses an operand of a dtype that the kind does not take.
pub fn unary_takes(op: &str, kind: UnaryKind, a: (usize, Expr<'_>)) -> Result<(), RuleError> {
    let op = &format!("{op}` of kind `{kind}");
    match kind {
        UnaryKind::Cast => Ok(()),
        UnaryKind::Not => takes(op, BOOLS, a, |dtype| dtype == DType::Bool),
        UnaryKind::Exp | UnaryKind::Exp2 | UnaryKind::Log | UnaryKind::Log2 | UnaryKind::Rsqrt => floats(op, a),
        _ => numbers(op, a),
    }
}
