//! Random numbers and the values of operands.

use tf_types::DType;
use tf_value::Tensor;

/// A splitmix generator: one seed, one case.
pub struct Draw(pub u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From 0 to below `bound`, which is positive.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of these.
    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// The numbers below `count` in random order.
    pub fn order(&mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<_> = (0..count).collect();
        for at in (1..count).rev() {
            order.swap(at, self.below(at + 1));
        }
        order
    }
}

/// What the elements of an operand may be.
#[derive(Clone, Debug)]
pub enum Fill {
    /// Multiples of 1/4 between -2 and 2, without 0; of integers 1 to 9, of bool both.
    Any,
    /// Different integers below the number.
    Distinct(usize),
    /// An integer between both, ends included.
    Between(i64, i64),
    /// This literal.
    Literal(i64),
}

/// One tensor among the operands.
#[derive(Clone, Debug)]
pub struct Leaf {
    pub shape: Vec<usize>,
    pub dtype: DType,
    pub fill: Fill,
}

impl Leaf {
    pub fn count(&self) -> usize {
        self.shape.iter().product()
    }

    pub fn elements(&self, draw: &mut Draw) -> Vec<f64> {
        match self.fill {
            Fill::Distinct(bound) => draw.order(bound).into_iter().take(self.count()).map(|i| i as f64).collect(),
            _ => (0..self.count()).map(|_| self.element(draw)).collect(),
        }
    }

    pub fn element(&self, draw: &mut Draw) -> f64 {
        match self.fill {
            Fill::Distinct(bound) => draw.below(bound) as f64,
            Fill::Between(least, most) => least as f64 + draw.below((most - least + 1) as usize) as f64,
            Fill::Literal(value) => value as f64,
            Fill::Any if self.dtype == DType::Bool => draw.below(2) as f64,
            Fill::Any if self.dtype.is_integer() => 1.0 + draw.below(9) as f64,
            Fill::Any => {
                let quarters = draw.below(8) as f64 + 1.0;
                quarters / if draw.one_in(2) { 4.0 } else { -4.0 }
            }
        }
    }

    pub fn tensor(&self, elements: &[f64]) -> Tensor {
        let elements: Vec<f32> = elements.iter().map(|&element| element as f32).collect();
        Tensor::from_f32(&self.shape, &elements).unwrap().cast(self.dtype).unwrap()
    }
}
