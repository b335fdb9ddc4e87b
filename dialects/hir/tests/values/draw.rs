//! Random operands.

use tf_core::Context;
use tf_core::op::OpInstance;
use tf_testing::Rng;
use tf_types::{DType, Dim, Storage, Type};

use crate::nd::{Nd, Num};
use crate::round::{round, specials};
use crate::want::Expected;

/// An operand of a call.
pub enum Operand<'c> {
    Tensor(Nd),
    Tuple(Vec<Nd>),
    /// A literal i64.
    Literal(i64),
    /// A tensor of that type, which has a placement.
    Placed(Nd, Type<'c>),
}

/// Who refuses a call.
#[derive(Clone, Copy, Debug)]
pub enum Refusal {
    /// The type rule: the op does not take the dtype.
    Type,
    /// The evaluation, in a message with this word.
    Run(&'static str),
}

/// A call and what it gives.
pub struct Case<'c> {
    pub op: OpInstance<'c>,
    pub operands: Vec<Operand<'c>>,
    pub want: Result<Vec<Expected>, Refusal>,
}

impl<'c> Case<'c> {
    /// A call of tensors with one result; `None`: the op does not take their dtype.
    pub fn one(op: OpInstance<'c>, operands: &[&Nd], want: Option<Expected>) -> Self {
        let operands = operands.iter().map(|&operand| Operand::Tensor(operand.clone())).collect();
        Self { op, operands, want: want.map(|want| vec![want]).ok_or(Refusal::Type) }
    }
}

/// Which extents a case has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Extents {
    Small,
    /// One of them is 0.
    Empty,
    /// Longer rows than are computed at once.
    Large,
    /// More elements than one task takes.
    Huge,
}

/// Makes cases.
pub struct Gen<'a, 'c> {
    pub cx: &'a Context<'c>,
    pub rng: Rng,
    pub dtype: DType,
    pub rank: usize,
    pub form: usize,
    pub extents: Extents,
    /// Whether elements are often infinite, NaN, greatest, least, ties.
    pub special: bool,
}

/// Float dtypes that have values.
pub const FLOATS: [DType; 5] = [DType::F32, DType::F16, DType::BF16, DType::Fp8E4M3, DType::F8E8M0];

impl<'c> Gen<'_, 'c> {
    pub fn floats(&self) -> bool {
        self.dtype.is_float()
    }

    pub fn numbers(&self) -> bool {
        self.dtype != DType::Bool
    }

    pub fn extent(&mut self) -> usize {
        1 + self.rng.below(if self.rank > 4 { 2 } else { 4 })
    }

    /// A shape of the case's rank.
    pub fn shape(&mut self) -> Vec<usize> {
        self.shape_of(self.rank)
    }

    pub fn shape_of(&mut self, rank: usize) -> Vec<usize> {
        let mut shape: Vec<_> = (0..rank).map(|_| self.extent()).collect();
        if rank > 0 {
            let at = self.rng.below(rank);
            match self.extents {
                Extents::Small => {}
                Extents::Empty => shape[at] = 0,
                Extents::Large => shape[at] = self.rng.pick(&[33, 130, 600]),
                Extents::Huge => shape[at] = 17_000 + self.rng.below(3000),
            }
        }
        shape
    }

    /// What broadcasts to the shape.
    pub fn thinned(&mut self, shape: &[usize]) -> Vec<usize> {
        let missing = if self.rng.once_in(3) { self.rng.below(shape.len() + 1) } else { 0 };
        shape[missing..].iter().map(|&extent| if self.rng.once_in(4) { 1 } else { extent }).collect()
    }

    /// Two shapes that broadcast to `shape`: one of them is it, or both lack what the other has.
    pub fn pair(&mut self, shape: &[usize]) -> [Vec<usize>; 2] {
        match self.rng.below(3) {
            0 => [self.thinned(shape), shape.to_vec()],
            1 => [shape.to_vec(), self.thinned(shape)],
            _ => {
                let (mut a, mut b) = (shape.to_vec(), shape.to_vec());
                for axis in 0..shape.len() {
                    let [thin, _] = if self.rng.once_in(2) { [&mut a, &mut b] } else { [&mut b, &mut a] };
                    thin[axis] = if self.rng.once_in(2) { 1 } else { thin[axis] };
                }
                [a, b]
            }
        }
    }

    pub fn dims(&self, shape: &[usize]) -> Vec<Dim<'c>> {
        shape.iter().map(|&extent| self.cx.dim(extent as i64)).collect()
    }

    pub fn ty(&self, shape: &[usize], dtype: DType) -> Type<'c> {
        self.cx.tensor(&self.dims(shape), dtype, None, Storage::Gmem)
    }

    /// An axis of a shape that has one.
    pub fn axis(&mut self, rank: usize) -> usize {
        self.rng.below(rank)
    }

    /// As an axis, or counted from the end.
    pub fn signed(&mut self, axis: usize, rank: usize) -> i64 {
        axis as i64 - if self.rng.once_in(2) { rank as i64 } else { 0 }
    }

    /// The numbers below `count` in random order.
    pub fn order(&mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<_> = (0..count).collect();
        for at in (1..count).rev() {
            order.swap(at, self.rng.below(at + 1));
        }
        order
    }

    fn some_float(&mut self, dtype: DType, exponents: usize) -> f64 {
        let half = exponents as i32 / 2;
        let power = 2f64.powi(self.rng.below(exponents) as i32 - half);
        if dtype == DType::F8E8M0 {
            return power;
        }
        let fraction = match self.rng.below(3) {
            0 => 1.0 + self.rng.below(8) as f64 / 8.0,
            _ => 1.0 + (self.rng.next_u64() >> 40) as f64 / (1u64 << 24) as f64,
        };
        round(if self.rng.once_in(2) { power * fraction } else { -power * fraction }, dtype)
    }

    fn some_int(&mut self, dtype: DType) -> i64 {
        let any = self.rng.next_u64() as i64 >> self.rng.below(64);
        let ends = [i64::from(i32::MIN), i64::from(i32::MAX), i64::MIN, i64::MAX];
        // The last one is another f32 by way of f64.
        let rounded = [(1 << 53) + 1, 16_777_217, (1 << 60) + (1 << 36) + 1];
        let special = [&[0, 1, -1, 2][..], &ends, &rounded].concat();
        let value = match self.rng.below(3) {
            0 => self.rng.below(19) as i64 - 9,
            1 if self.special => self.rng.pick(&special),
            _ => any,
        };
        if dtype == DType::I32 { i64::from(value as i32) } else { value }
    }

    /// Any value of the dtype.
    pub fn any(&mut self, dtype: DType) -> Num {
        match dtype {
            DType::Bool => Num::Int(self.rng.below(2) as i64),
            DType::I32 | DType::I64 => Num::Int(self.some_int(dtype)),
            _ if self.special && self.rng.once_in(2) => Num::Float(self.rng.pick(&specials(dtype))),
            _ => Num::Float(self.some_float(dtype, 12)),
        }
    }

    /// A number of which many may be added in f32; now and then infinite or NaN.
    pub fn calm(&mut self, dtype: DType) -> Num {
        match dtype {
            DType::Bool | DType::I32 | DType::I64 => self.any(dtype),
            _ if self.special && self.rng.once_in(8) => {
                let odd = self.rng.pick(&[0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN]);
                Num::Float(if dtype == DType::F8E8M0 { round(odd.abs(), dtype) } else { round(odd, dtype) })
            }
            _ => Num::Float(self.some_float(dtype, 6)),
        }
    }

    /// One of few values, so that there are ties.
    pub fn few(&mut self, dtype: DType) -> Num {
        match dtype {
            DType::Bool => self.any(dtype),
            DType::I32 | DType::I64 if self.special && self.rng.once_in(4) => {
                let ends = if dtype == DType::I32 { [i32::MIN.into(), i32::MAX.into()] } else { [i64::MIN, i64::MAX] };
                Num::Int(self.rng.pick(&ends))
            }
            DType::I32 | DType::I64 => Num::Int(self.rng.below(4) as i64 - 1),
            DType::F8E8M0 => Num::Float(self.rng.pick(&[1.0, 2.0, 4.0, if self.special { f64::NAN } else { 0.5 }])),
            _ if self.special && self.rng.once_in(3) => {
                let odd = self.rng.pick(&[0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN]);
                Num::Float(round(odd, dtype))
            }
            _ => Num::Float(self.rng.below(4) as f64 - 1.0),
        }
    }

    pub fn fill(&mut self, shape: &[usize], dtype: DType, cell: fn(&mut Self, DType) -> Num) -> Nd {
        Nd::new(dtype, shape, |_| cell(self, dtype))
    }

    /// Any values of the case's dtype.
    pub fn nd(&mut self, shape: &[usize]) -> Nd {
        self.fill(shape, self.dtype, Self::any)
    }

    /// Numbers of the case's dtype of which many may be added.
    pub fn calm_nd(&mut self, shape: &[usize]) -> Nd {
        self.fill(shape, self.dtype, Self::calm)
    }

    /// An index vector of one of the integer dtypes.
    pub fn index(&mut self, values: &[usize]) -> Nd {
        let dtype = self.rng.pick(&[DType::I32, DType::I64]);
        Nd { dtype, shape: vec![values.len()], cells: values.iter().map(|&value| Num::Int(value as i64)).collect() }
    }

    /// A position as a literal, or as a value that only the run knows.
    pub fn position(&mut self, at: usize) -> Operand<'c> {
        if self.rng.once_in(2) {
            return Operand::Literal(at as i64);
        }
        let index = self.index(&[at]);
        Operand::Tensor(Nd { shape: Vec::new(), ..index })
    }
}
