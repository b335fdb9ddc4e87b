//! Reductions, products and convolutions: floats are added in f32 and rounded once.

use tf_hir::cuda::Orientation;
use tf_hir::{Conv2d, MatMul, MmaSm80, Reduce, WgmmaSm90};
use tf_types::DType;
use tf_types::kinds::ReduceKind;

use crate::draw::{Case, Gen, Operand};
use crate::nd::{Nd, Num, each, number, seen};
use crate::want::{Expected, HALF, Want};

/// A sum of products of numbers of one dtype.
pub enum Sum {
    Int(i64),
    /// The sum, the sum of magnitudes, how many were added.
    Float(f64, f64, usize),
}

impl Sum {
    pub fn zero(dtype: DType) -> Self {
        if dtype.is_float() { Self::Float(0.0, 0.0, 0) } else { Self::Int(0) }
    }

    pub fn add(&mut self, a: Num, b: Num) {
        match (self, a, b) {
            (Self::Int(sum), Num::Int(a), Num::Int(b)) => *sum = sum.wrapping_add(a.wrapping_mul(b)),
            (Self::Float(sum, all, count), Num::Float(a), Num::Float(b)) => {
                *sum += a * b;
                *all += (a * b).abs();
                *count += 1;
            }
            _ => unreachable!(),
        }
    }

    pub fn want(self, dtype: DType) -> Want {
        match self {
            Self::Int(sum) => Want::Int(if dtype == DType::I32 { (sum as i32).into() } else { sum }),
            Self::Float(sum, all, count) => Want::Near(sum, all * HALF * (count + 1) as f64),
        }
    }
}

fn one(dtype: DType) -> Num {
    if dtype.is_float() { Num::Float(1.0) } else { Num::Int(1) }
}

fn zero(dtype: DType) -> Num {
    if dtype.is_float() { Num::Float(0.0) } else { Num::Int(0) }
}

/// Least value of a dtype.
fn least(dtype: DType) -> Want {
    match dtype {
        DType::Bool => Want::Int(0),
        DType::I32 => Want::Int(i32::MIN.into()),
        DType::I64 => Want::Int(i64::MIN),
        DType::Fp8E4M3 => Want::Float(-448.0),
        DType::F8E8M0 => Want::Float(0.0),
        _ => Want::Float(f64::NEG_INFINITY),
    }
}

fn greater(a: Num, b: Num) -> Num {
    match (a, b) {
        (Num::Int(a), Num::Int(b)) => Num::Int(a.max(b)),
        (Num::Float(a), Num::Float(b)) => Num::Float(if a.is_nan() || a > b { a } else { b }),
        _ => unreachable!(),
    }
}

fn magnitude(x: Num, dtype: DType) -> Num {
    match x {
        Num::Float(x) => Num::Float(x.abs()),
        Num::Int(x) if dtype == DType::I32 => Num::Int((x as i32).wrapping_abs().into()),
        Num::Int(x) => Num::Int(x.wrapping_abs()),
    }
}

fn reduced(kind: ReduceKind, cells: &[Num], dtype: DType) -> Want {
    // The sign of a zero is not said where several meet.
    let unsigned = |num| if let Num::Float(value) = num { Want::Near(value, 0.0) } else { num.into() };
    match kind {
        ReduceKind::Sum | ReduceKind::Mean => {
            let mut sum = Sum::zero(dtype);
            cells.iter().for_each(|&cell| sum.add(cell, one(dtype)));
            match (kind, sum) {
                (ReduceKind::Mean, Sum::Float(sum, all, count)) => {
                    let mean = sum / count as f64;
                    let error = all / count as f64 * HALF * (count + 1) as f64;
                    Want::Near(mean, if count == 1 { 0.0 } else { error })
                }
                (_, sum) => sum.want(dtype),
            }
        }
        ReduceKind::Max => cells.iter().copied().reduce(greater).map_or(least(dtype), unsigned),
        ReduceKind::AbsMax => {
            let greatest = cells.iter().map(|&cell| magnitude(cell, dtype)).reduce(greater);
            greatest.map_or(if dtype.is_float() { Want::Float(0.0) } else { Want::Int(0) }, Want::from)
        }
    }
}

pub fn reduce<'c>(g: &mut Gen<'_, 'c>) -> Option<Case<'c>> {
    let (kind, shape, keepdim) = (ReduceKind::ALL[g.form], g.shape(), g.rng.once_in(2));
    let x = match kind {
        ReduceKind::Sum | ReduceKind::Mean => g.calm_nd(&shape),
        _ => g.nd(&shape),
    };
    let mut axes = g.order(shape.len());
    axes.truncate(g.rng.below(shape.len() + 1));
    let takes = match kind {
        ReduceKind::Mean => g.floats(),
        ReduceKind::Sum | ReduceKind::AbsMax => g.numbers(),
        ReduceKind::Max => true,
    };
    let gone = |axis: usize| axes.contains(&axis);
    let thin: Vec<_> = (0..shape.len()).map(|axis| if gone(axis) { 1 } else { shape[axis] }).collect();
    let kept: Vec<_> = (0..shape.len()).filter(|&axis| keepdim || !gone(axis)).map(|axis| thin[axis]).collect();
    let want = takes.then(|| {
        let mut groups = vec![Vec::new(); thin.iter().product()];
        each(&shape, |index| groups[number(&seen(index, &thin), &thin)].push(x.at(index)));
        Expected::new(x.dtype, &kept, |index| reduced(kind, &groups[number(index, &kept)], x.dtype))
    });
    let axes: Vec<_> = axes.iter().map(|&axis| g.signed(axis, shape.len())).collect();
    Some(Case::one(Reduce::new(g.cx, g.cx.alloc_slice(&axes), keepdim, kind), &[&x], want))
}

/// `a @ b` of matrices with broadcast batches; `result` is the dtype it is rounded to.
fn product(a: &Nd, b: &Nd, batch: &[usize], result: DType) -> Expected {
    let (m, k, n) = (a.shape[a.shape.len() - 2], a.shape[a.shape.len() - 1], b.shape[b.shape.len() - 1]);
    let shape = [batch, &[m, n]].concat();
    let matrix = |x: &Nd, at: &[usize], [row, column]: [usize; 2]| {
        let own = &x.shape[..x.shape.len() - 2];
        x.at(&[&seen(at, own)[..], &[row, column]].concat())
    };
    Expected::new(result, &shape, |index| {
        let (at, &[row, column]) = index.split_last_chunk::<2>().unwrap();
        let mut sum = Sum::zero(a.dtype);
        (0..k).for_each(|i| sum.add(matrix(a, at, [row, i]), matrix(b, at, [i, column])));
        sum.want(a.dtype)
    })
}

pub fn matmul<'c>(g: &mut Gen<'_, 'c>) -> Option<Case<'c>> {
    let shape = g.shape();
    let (batch, &[m, n]) = shape.split_last_chunk::<2>()?;
    let k = g.rng.below(6);
    let [left, right] = g.pair(batch);
    let (a, b) = (g.calm_nd(&[&left[..], &[m, k]].concat()), g.calm_nd(&[&right[..], &[k, n]].concat()));
    let want = g.numbers().then(|| product(&a, &b, batch, g.dtype));
    Some(Case::one(MatMul::new(g.cx), &[&a, &b], want))
}

/// The dtypes of factors and result that matrix instructions have.
pub const INSTRUCTIONS: [[DType; 2]; 5] = [
    [DType::F16, DType::F16],
    [DType::BF16, DType::BF16],
    [DType::F16, DType::F32],
    [DType::BF16, DType::F32],
    [DType::F32, DType::F32],
];

fn tile<'c>(g: &mut Gen<'_, 'c>, [m, n, k]: [usize; 3]) -> Option<(Vec<Operand<'c>>, DType, Expected)> {
    let [dtype, result] = INSTRUCTIONS[g.form];
    if g.dtype != dtype || g.rank != 2 {
        return None;
    }
    let (a, b) = (g.calm_nd(&[m, k]), g.calm_nd(&[k, n]));
    let want = product(&a, &b, &[], result);
    Some((vec![Operand::Tensor(a), Operand::Tensor(b)], result, want))
}

pub fn mma<'c>(g: &mut Gen<'_, 'c>) -> Option<Case<'c>> {
    let (operands, acc, want) = tile(g, [16, 8, 16])?;
    let op = MmaSm80::new(g.cx, g.dtype, g.dtype, acc, Orientation::T, Orientation::N);
    Some(Case { op, operands, want: Ok(vec![want]) })
}

pub fn wgmma<'c>(g: &mut Gen<'_, 'c>) -> Option<Case<'c>> {
    let (operands, acc, want) = tile(g, [64, 128, 16])?;
    let op = WgmmaSm90::new(g.cx, g.dtype, g.dtype, acc, Orientation::T, Orientation::N);
    Some(Case { op, operands, want: Ok(vec![want]) })
}

pub fn conv2d<'c>(g: &mut Gen<'_, 'c>) -> Option<Case<'c>> {
    if g.rank != 4 {
        return None;
    }
    let groups = g.rng.pick(&[1, 1, 2, 3]);
    let (per_group, out_per_group) = (1 + g.rng.below(2), 1 + g.rng.below(2));
    let pair =
        |g: &mut Gen<'_, 'c>, least: usize, count: usize| [least + g.rng.below(count), least + g.rng.below(count)];
    let (stride, padding, dilation, kernel) = (pair(g, 1, 3), pair(g, 0, 3), pair(g, 1, 2), pair(g, 1, 3));
    let batch = g.shape_of(1)[0].min(8);
    let image = [0, 1].map(|axis| (g.extent() + 1).max((kernel[axis] - 1) * dilation[axis] + 1));
    let x = g.calm_nd(&[batch, groups * per_group, image[0], image[1]]);
    let weight = g.calm_nd(&[groups * out_per_group, per_group, kernel[0], kernel[1]]);
    let bias = g.calm_nd(&[groups * out_per_group]);
    let windows =
        |axis: usize| (image[axis] + 2 * padding[axis] - dilation[axis] * (kernel[axis] - 1) - 1) / stride[axis] + 1;
    let want = g.numbers().then(|| {
        Expected::new(x.dtype, &[batch, groups * out_per_group, windows(0), windows(1)], |index| {
            let mut sum = Sum::zero(x.dtype);
            sum.add(bias.at(&index[1..2]), one(x.dtype));
            each(&weight.shape[1..], |tap| {
                let source = |axis: usize| {
                    let padded = index[2 + axis] * stride[axis] + tap[1 + axis] * dilation[axis];
                    padded.checked_sub(padding[axis]).filter(|&at| at < image[axis])
                };
                let channel = index[1] / out_per_group * per_group + tap[0];
                let factor = weight.at(&[&index[1..2], tap].concat());
                // The padding is zeros, which infinite weights make NaN.
                let element = match (source(0), source(1)) {
                    (Some(row), Some(column)) => x.at(&[index[0], channel, row, column]),
                    _ => zero(x.dtype),
                };
                sum.add(element, factor);
            });
            sum.want(x.dtype)
        })
    });
    let ints = |pair: [usize; 2]| g.cx.alloc_slice(&pair.map(|n| n as i64));
    let op = Conv2d::new(g.cx, ints(stride), ints(padding), ints(dilation), groups as i64);
    Some(Case::one(op, &[&x, &weight, &bias], want))
}
