//! Ops that compute every element alone.

use tf_hir::{Approximation, Binary, Cast, Clamp, FullLike, Gelu, Relu, Sigmoid, Silu, Softplus, Tanh, Unary, Where};
use tf_types::DType;
use tf_types::kinds::{BinaryKind, UnaryKind};

use crate::draw::{Case, Gen, Refusal};
use crate::nd::{Nd, Num, seen};
use crate::want::{Expected, HALF, Want};

fn integer(kind: BinaryKind, a: i64, b: i64, dtype: DType) -> i64 {
    let (wide_a, wide_b) = (i128::from(a), i128::from(b));
    let wide = match kind {
        BinaryKind::Add => wide_a + wide_b,
        BinaryKind::Sub => wide_a - wide_b,
        BinaryKind::Mul => wide_a * wide_b,
        BinaryKind::Div => wide_a / wide_b,
        BinaryKind::FloorDiv => (wide_a - (wide_a % wide_b + wide_b) % wide_b) / wide_b,
        BinaryKind::Mod => (wide_a % wide_b + wide_b) % wide_b,
        BinaryKind::Min | BinaryKind::And => wide_a.min(wide_b),
        BinaryKind::Max | BinaryKind::Or => wide_a.max(wide_b),
        BinaryKind::Eq => (a == b).into(),
        BinaryKind::Ne => (a != b).into(),
        BinaryKind::Lt => (a < b).into(),
        BinaryKind::Le => (a <= b).into(),
        BinaryKind::Gt => (a > b).into(),
        BinaryKind::Ge => (a >= b).into(),
    };
    if dtype == DType::I32 { i64::from(wide as i32) } else { wide as i64 }
}

fn float(kind: BinaryKind, a: f64, b: f64) -> Want {
    match kind {
        BinaryKind::Add => Want::Float(a + b),
        BinaryKind::Sub => Want::Float(a - b),
        BinaryKind::Mul => Want::Float(a * b),
        BinaryKind::Div => Want::Float(a / b),
        BinaryKind::Min | BinaryKind::Max if a.is_nan() || b.is_nan() => Want::Float(f64::NAN),
        // Of two zeros the first is left.
        BinaryKind::Min => Want::Float(if b < a { b } else { a }),
        BinaryKind::Max => Want::Float(if b > a { b } else { a }),
        BinaryKind::Eq => Want::Int((a == b).into()),
        BinaryKind::Ne => Want::Int((a != b).into()),
        BinaryKind::Lt => Want::Int((a < b).into()),
        BinaryKind::Le => Want::Int((a <= b).into()),
        BinaryKind::Gt => Want::Int((a > b).into()),
        BinaryKind::Ge => Want::Int((a >= b).into()),
        _ => panic!("`{kind}` takes no floats"),
    }
}

pub fn binary<'c>(g: &mut Gen<'_, 'c>) -> Option<Case<'c>> {
    let (kind, dtype) = (BinaryKind::ALL[g.form], g.dtype);
    let shape = g.shape();
    let [lhs, rhs] = g.pair(&shape);
    let (a, mut b) = (g.nd(&lhs), g.nd(&rhs));
    let divides = matches!(kind, BinaryKind::Div | BinaryKind::FloorDiv | BinaryKind::Mod);
    let integers = dtype.is_integer();
    if divides && integers && !g.rng.once_in(8) {
        b.cells.iter_mut().filter(|cell| **cell == Num::Int(0)).for_each(|cell| *cell = Num::Int(-3));
    }
    let takes = match kind {
        BinaryKind::Add | BinaryKind::Sub | BinaryKind::Mul | BinaryKind::Div => dtype != DType::Bool,
        BinaryKind::FloorDiv | BinaryKind::Mod => integers,
        BinaryKind::And | BinaryKind::Or => dtype == DType::Bool,
        _ => true,
    };
    let by_zero = divides && integers && b.cells.contains(&Num::Int(0)) && !shape.contains(&0);
    let result = if kind.is_comparison() { DType::Bool } else { dtype };
    let want = (takes && !by_zero).then(|| {
        Expected::new(result, &shape, |index| match (a.at(&seen(index, &lhs)), b.at(&seen(index, &rhs))) {
            (Num::Float(a), Num::Float(b)) => float(kind, a, b),
            (Num::Int(a), Num::Int(b)) => Want::Int(integer(kind, a, b, dtype)),
            _ => unreachable!(),
        })
    });
    let mut case = Case::one(Binary::new(g.cx, kind), &[&a, &b], want);
    if takes && by_zero {
        case.want = Err(Refusal::Run("zero"));
    }
    Some(case)
}

/// The kind of one float; `None` for kinds that take none.
fn of_float(kind: UnaryKind, x: f64) -> Option<Want> {
    Some(match kind {
        UnaryKind::Neg => Want::Float(-x),
        UnaryKind::Abs => Want::Float(x.abs()),
        UnaryKind::Square => Want::Float(x * x),
        UnaryKind::Relu => Want::Float(if x < 0.0 { 0.0 } else { x }),
        UnaryKind::Ceil => Want::Float(x.ceil()),
        UnaryKind::Round => Want::Float(x.round_ties_even()),
        UnaryKind::Rsqrt => Want::rounded(1.0 / x.sqrt(), 4.0),
        UnaryKind::Exp => Want::rounded(x.exp(), 4.0),
        UnaryKind::Exp2 => Want::rounded(x.exp2(), 4.0),
        UnaryKind::Log => Want::rounded(x.ln(), 4.0),
        UnaryKind::Log2 => Want::rounded(x.log2(), 4.0),
        UnaryKind::Not | UnaryKind::Cast => return None,
    })
}

/// The kind of one integer, which wraps; `None` for kinds that take none.
fn of_int(kind: UnaryKind, x: i64, dtype: DType) -> Option<i64> {
    let wide = i128::from(x);
    let wide = match kind {
        UnaryKind::Neg => -wide,
        UnaryKind::Abs => wide.abs(),
        UnaryKind::Square => wide * wide,
        UnaryKind::Relu => wide.max(0),
        UnaryKind::Ceil | UnaryKind::Round => wide,
        _ => return None,
    };
    Some(if dtype == DType::I32 { i64::from(wide as i32) } else { wide as i64 })
}

/// `kind` of every element, or `None` where the dtype is refused.
fn mapped(kind: UnaryKind, x: &Nd) -> Option<Expected> {
    let takes = match x.dtype {
        DType::Bool => kind == UnaryKind::Not,
        DType::I32 | DType::I64 => of_int(kind, 0, x.dtype).is_some(),
        _ => of_float(kind, 0.0).is_some(),
    };
    takes.then(|| {
        Expected::new(x.dtype, &x.shape, |index| match x.at(index) {
            Num::Float(value) => of_float(kind, value).unwrap(),
            Num::Int(value) if x.dtype == DType::Bool => Want::Int(1 - value),
            Num::Int(value) => Want::Int(of_int(kind, value, x.dtype).unwrap()),
        })
    })
}

pub fn unary<'c>(g: &mut Gen<'_, 'c>) -> Option<Case<'c>> {
    let (kind, shape) = (UnaryKind::ALL[g.form], g.shape());
    let x = g.nd(&shape);
    Some(Case::one(Unary::new(g.cx, kind), &[&x], mapped(kind, &x)))
}

pub fn relu<'c>(g: &mut Gen<'_, 'c>) -> Option<Case<'c>> {
    let shape = g.shape();
    let x = g.nd(&shape);
    Some(Case::one(Relu::new(g.cx), &[&x], mapped(UnaryKind::Relu, &x)))
}

/// A case of a function of floats.
fn function<'c>(g: &mut Gen<'_, 'c>, op: tf_core::op::OpInstance<'c>, of: impl Fn(f64) -> Want) -> Option<Case<'c>> {
    let shape = g.shape();
    let x = g.nd(&shape);
    let want = g.floats().then(|| Expected::new(x.dtype, &shape, |index| of(x.float(index))));
    Some(Case::one(op, &[&x], want))
}

pub fn softplus<'c>(g: &mut Gen<'_, 'c>) -> Option<Case<'c>> {
    let op = Softplus::new(g.cx);
    function(g, op, |x| if x > 20.0 { Want::Float(x) } else { Want::rounded(x.exp().ln_1p(), 8.0) })
}

pub fn sigmoid<'c>(g: &mut Gen<'_, 'c>) -> Option<Case<'c>> {
    let op = Sigmoid::new(g.cx);
    function(g, op, |x| Want::rounded(1.0 / (1.0 + (-x).exp()), 8.0))
}

pub fn tanh<'c>(g: &mut Gen<'_, 'c>) -> Option<Case<'c>> {
    let op = Tanh::new(g.cx);
    function(g, op, |x| Want::rounded(x.tanh(), 8.0))
}

pub fn silu<'c>(g: &mut Gen<'_, 'c>) -> Option<Case<'c>> {
    let op = Silu::new(g.cx);
    // Where f32 has no e^-x the result is a zero.
    let lost = |x: f64| if x < -88.0 { -x * 2f64.powi(-126) } else { 0.0 };
    function(g, op, |x| match Want::rounded(x / (1.0 + (-x).exp()), 8.0) {
        Want::Near(value, error) => Want::Near(value, error + lost(x)),
        other => other,
    })
}

pub fn gelu<'c>(g: &mut Gen<'_, 'c>) -> Option<Case<'c>> {
    let form = Approximation::ALL[g.form];
    let op = Gelu::new(g.cx, form);
    function(g, op, |x| match form {
        Approximation::Tanh => {
            let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x * x * x);
            // The sum with 1 loses what the tanh of large negative numbers has.
            Want::Near(0.5 * x * (1.0 + inner.tanh()), 8.0 * x.abs() * HALF)
        }
        Approximation::None => {
            let value = 0.5 * x * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2);
            Want::rounded(value, 8.0 + if x.is_finite() { 2.0 * x * x } else { 0.0 })
        }
    })
}

/// Bounds of `clamp`: the upper one wins.
pub const BOUNDS: [(f64, f64); 6] =
    [(-1.0, 1.5), (0.1, 0.3), (2.0, -2.5), (f64::NEG_INFINITY, 3.7), (-1e30, f64::INFINITY), (-5e9, 3e9)];

pub fn clamp<'c>(g: &mut Gen<'_, 'c>) -> Option<Case<'c>> {
    let ((least, most), shape) = (BOUNDS[g.form], g.shape());
    let x = g.nd(&shape);
    // A bound takes the dtype first; where that has no such number it bounds all the same.
    let bound = |bound: f64| match x.dtype {
        DType::Fp8E4M3 | DType::F8E8M0 => f64::from(bound as f32),
        dtype => crate::round::round(bound, dtype),
    };
    let cut = |bound: f64| if x.dtype == DType::I32 { i64::from(bound as i32) } else { bound as i64 };
    let want = g.numbers().then(|| {
        Expected::new(x.dtype, &shape, |index| match x.at(index) {
            Num::Float(value) if value.is_nan() => Want::Float(value),
            Num::Float(value) => {
                let raised = if value < bound(least) { bound(least) } else { value };
                Want::Float(if raised > bound(most) { bound(most) } else { raised })
            }
            Num::Int(value) => Want::Int(value.max(cut(least)).min(cut(most))),
        })
    });
    Some(Case::one(Clamp::new(g.cx, least, most), &[&x], want))
}

/// A value in another dtype.
fn converted(value: Num, dtype: DType) -> Want {
    let float = match value {
        Num::Int(value) if dtype.is_float() => return Want::Float(f64::from(value as f32)),
        Num::Int(value) if dtype == DType::Bool => return Want::Int((value != 0).into()),
        Num::Int(value) if dtype == DType::I32 => return Want::Int((value as i32).into()),
        Num::Int(value) => return Want::Int(value),
        Num::Float(value) => value,
    };
    match dtype {
        // Toward zero, the nearest there is, 0 for NaN.
        DType::I32 => Want::Int((float as i32).into()),
        DType::I64 => Want::Int(float as i64),
        DType::Bool => Want::Int((float != 0.0).into()),
        _ => Want::Float(float),
    }
}

pub fn cast<'c>(g: &mut Gen<'_, 'c>) -> Option<Case<'c>> {
    let (dtype, shape) = (DType::ALL[g.form], g.shape());
    let x = g.nd(&shape);
    let op = Cast::new(g.cx, dtype);
    if dtype == DType::F4E2M1 {
        return Some(Case { want: Err(Refusal::Run("f4e2m1")), ..Case::one(op, &[&x], None) });
    }
    Some(Case::one(op, &[&x], Some(Expected::new(dtype, &shape, |index| converted(x.at(index), dtype)))))
}

/// Values of `full_like`.
pub const FULL: [f64; 8] = [0.5, -2.5, 0.0, -0.0, 1e30, 300.7, f64::NAN, f64::NEG_INFINITY];

pub fn full_like<'c>(g: &mut Gen<'_, 'c>) -> Option<Case<'c>> {
    let (value, shape) = (FULL[g.form], g.shape());
    let x = g.nd(&shape);
    let negative = g.dtype == DType::F8E8M0 && value < 0.0;
    let want = (!negative).then(|| Expected::new(x.dtype, &shape, |_| converted(Num::Float(value), x.dtype)));
    Some(Case::one(FullLike::new(g.cx, value), &[&x], want))
}

pub fn choose<'c>(g: &mut Gen<'_, 'c>) -> Option<Case<'c>> {
    let shape = g.shape();
    let thin = g.thinned(&shape);
    let condition = g.fill(&thin, DType::Bool, Gen::any);
    let [yes, no] = g.pair(&shape).map(|shape| g.nd(&shape));
    let want = Expected::new(g.dtype, &shape, |index| {
        let branch = if condition.int(&seen(index, &thin)) != 0 { &yes } else { &no };
        branch.at(&seen(index, &branch.shape))
    });
    Some(Case::one(Where::new(g.cx), &[&condition, &yes, &no], Some(want)))
}
