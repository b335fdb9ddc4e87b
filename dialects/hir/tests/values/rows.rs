//! Ops on whole rows: computed in f32, rounded once.

use tf_hir::{LayerNorm, Quant, QuantScheme, RmsNorm, Rope, Softmax};
use tf_types::DType;

use crate::draw::{Case, FLOATS, Gen};
use crate::nd::{Nd, Num, moved};
use crate::round::round;
use crate::want::{Expected, HALF, Want};

pub fn softmax<'c>(g: &mut Gen<'_, 'c>) -> Option<Case<'c>> {
    let shape = g.shape();
    let axis = if shape.is_empty() { return None } else { g.axis(shape.len()) };
    let mut x = g.nd(&shape);
    if g.floats() && g.special && g.dtype != DType::F8E8M0 && g.rng.once_in(4) {
        x.cells.fill(Num::Float(round(f64::NEG_INFINITY, g.dtype)));
    }
    let want = g.floats().then(|| {
        Expected::new(x.dtype, &shape, |index| {
            let row: Vec<f64> = (0..shape[axis]).map(|at| x.float(&moved(index, axis, at))).collect();
            if row.iter().any(|x| x.is_nan()) {
                return Want::Float(f64::NAN);
            }
            let most = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let total: f64 = row.iter().map(|x| (x - most).exp()).sum();
            let (value, distance) = ((x.float(index) - most).exp() / total, (x.float(index) - most).abs());
            let inside = if distance.is_finite() { distance } else { 0.0 };
            Want::rounded(value, inside + row.len() as f64 + 8.0)
        })
    });
    Some(Case::one(Softmax::new(g.cx, g.signed(axis, shape.len())), &[&x], want))
}

/// A scale or an offset of a norm.
fn affine(g: &mut Gen<'_, '_>, shape: &[usize], dtype: DType) -> Nd {
    g.fill(shape, dtype, Gen::calm)
}

pub fn rms_norm<'c>(g: &mut Gen<'_, 'c>) -> Option<Case<'c>> {
    let shape = g.shape();
    let &length = shape.last()?;
    // Squares that f16 does not hold.
    let large = g.rng.once_in(3) && g.dtype == DType::F16;
    let mut x = g.calm_nd(&shape);
    if large {
        x.cells.iter_mut().for_each(|cell| {
            if let Num::Float(value) = cell {
                *value *= 4096.0;
            }
        });
    }
    let (dtype, eps) = (g.rng.pick(&FLOATS), g.rng.pick(&[1e-6, 0.5]));
    let weight = affine(g, &[length], dtype);
    let want = g.floats().then(|| {
        Expected::new(x.dtype, &shape, |index| {
            let last = shape.len() - 1;
            let squares = (0..length).map(|at| x.float(&moved(index, last, at)).powi(2)).sum::<f64>();
            let scale = 1.0 / (squares / length as f64 + f64::from(eps as f32)).sqrt();
            Want::rounded(x.float(index) * scale * weight.float(&index[last..]), length as f64 + 10.0)
        })
    });
    Some(Case::one(RmsNorm::new(g.cx, eps), &[&x, &weight], want))
}

pub fn layer_norm<'c>(g: &mut Gen<'_, 'c>) -> Option<Case<'c>> {
    let shape = g.shape();
    let axis = if shape.is_empty() { return None } else { g.axis(shape.len()) };
    let x = g.calm_nd(&shape);
    let (eps, dtype) = (g.rng.pick(&[1e-5, 0.5]), g.rng.pick(&[g.dtype, DType::F32]));
    let dtype = if g.floats() { dtype } else { DType::F32 };
    let (weight, bias) = (affine(g, &shape[axis..], dtype), affine(g, &shape[axis..], dtype));
    let takes = matches!(g.dtype, DType::F32 | DType::F16 | DType::BF16);
    let want = takes.then(|| {
        let length: usize = shape[axis..].iter().product();
        Expected::new(x.dtype, &shape, |index| {
            let first = crate::nd::number(index, &shape) / length * length;
            let row = x.cells[first..first + length].iter().map(|cell| if let Num::Float(x) = cell { *x } else { 0.0 });
            let row: Vec<f64> = row.collect();
            let mean = row.iter().sum::<f64>() / length as f64;
            let variance = row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / length as f64;
            let spread = variance + f64::from(eps as f32);
            let (scale, weight, bias) = (1.0 / spread.sqrt(), weight.float(&index[axis..]), bias.float(&index[axis..]));
            let centred = x.float(index) - mean;
            let value = centred * scale * weight + bias;
            // What rounding of the mean does to differences from it, and to the variance.
            let most = row.iter().fold(0.0f64, |most, x| most.max(x.abs()));
            let shift = if length == 1 { 0.0 } else { most * (length + 4) as f64 * HALF };
            let of_variance = 2.0 * variance.sqrt() * shift + shift * shift + variance * (length + 4) as f64 * HALF;
            let relative = of_variance / (2.0 * spread) + 8.0 * HALF;
            let error =
                weight.abs() * scale * (shift + centred.abs() * relative) + 4.0 * HALF * (value.abs() + bias.abs());
            Want::Near(value, error)
        })
    });
    Some(Case::one(LayerNorm::new(g.cx, g.signed(axis, shape.len()), eps), &[&x, &weight, &bias], want))
}

pub fn rope<'c>(g: &mut Gen<'_, 'c>) -> Option<Case<'c>> {
    if g.rank < 3 {
        return None;
    }
    let mut shape = g.shape();
    let last = shape.len() - 1;
    shape[last] = 2 * g.extent();
    let (length, width, rows) = (shape[last - 2], shape[last], 1 + g.rng.below(4));
    let q = g.calm_nd(&shape);
    let heads = g.extent();
    let k = g.calm_nd(&moved(&shape, last - 1, heads));
    let dtypes = [g.rng.pick(&FLOATS), g.rng.pick(&FLOATS)];
    let [cos, sin] = dtypes.map(|dtype| g.fill(&[rows, width], dtype, Gen::calm));
    let chosen: Vec<usize> = (0..length).map(|_| g.rng.below(rows)).collect();
    let mut positions = g.index(&chosen);
    if g.rng.once_in(2) {
        positions.shape = vec![1, length];
    }
    let turned = |x: &Nd| {
        Expected::new(x.dtype, &x.shape, |index| {
            let (row, at) = (chosen[index[last - 2]], index[last]);
            let half = width / 2;
            let partner = x.float(&moved(index, last, (at + half) % width));
            let other = if at < half { -partner } else { partner };
            let (a, b) = (x.float(index) * cos.float(&[row, at]), other * sin.float(&[row, at]));
            Want::Near(a + b, 3.0 * HALF * (a.abs() + b.abs()))
        })
    };
    let want = g.floats().then(|| vec![turned(&q), turned(&k)]);
    let case = Case::one(Rope::new(g.cx), &[&q, &k, &cos, &sin, &positions], None);
    Some(Case { want: want.ok_or(crate::draw::Refusal::Type), ..case })
}

pub fn quant<'c>(g: &mut Gen<'_, 'c>) -> Option<Case<'c>> {
    let mut shape = g.shape();
    let (last, group) = (shape.len().checked_sub(1)?, 1 + g.rng.below(4));
    shape[last] *= group;
    let x = g.nd(&shape);
    let scales = moved(&shape, last, shape[last] / group);
    let scale = |index: &[usize]| {
        let cells = (0..group).map(|at| x.float(&moved(index, last, index[last] * group + at)).abs());
        let most = cells.reduce(|a, b| if a.is_nan() || a > b { a } else { b }).unwrap();
        if most == 0.0 { 1.0 } else { round(most / 448.0, DType::F32) }
    };
    let want = g.floats().then(|| {
        let values = Expected::new(DType::Fp8E4M3, &shape, |index| {
            let scaled = round(x.float(index) / scale(&moved(index, last, index[last] / group)), DType::F32);
            Want::Float(if scaled.is_nan() { scaled } else { scaled.clamp(-448.0, 448.0) })
        });
        vec![values, Expected::new(DType::F32, &scales, |index| Want::Float(scale(index)))]
    });
    let op = Quant::new(g.cx, QuantScheme::PerTokenGroup, group as i64, None);
    Some(Case { want: want.ok_or(crate::draw::Refusal::Type), ..Case::one(op, &[&x], None) })
}
