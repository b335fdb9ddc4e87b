//! Tensors as lists of numbers, with every index computed by hand.

use tf_types::DType;
use tf_value::Tensor;

/// One element: of a float dtype, or of an integer or bool.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Num {
    Float(f64),
    Int(i64),
}

/// A tensor, row-major.
#[derive(Clone, Debug)]
pub struct Nd {
    pub dtype: DType,
    pub shape: Vec<usize>,
    pub cells: Vec<Num>,
}

/// Calls `f` with every index of a shape, in row-major order.
pub fn each(shape: &[usize], mut f: impl FnMut(&[usize])) {
    let mut index = vec![0; shape.len()];
    for _ in 0..shape.iter().product() {
        f(&index);
        for axis in (0..shape.len()).rev() {
            index[axis] += 1;
            if index[axis] < shape[axis] {
                break;
            }
            index[axis] = 0;
        }
    }
}

/// The number of an index in row-major order.
pub fn number(index: &[usize], shape: &[usize]) -> usize {
    index.iter().zip(shape).fold(0, |number, (&at, &extent)| {
        assert!(at < extent, "{index:?} leaves {shape:?}");
        number * extent + at
    })
}

/// The index with another number on one axis.
pub fn moved(index: &[usize], axis: usize, to: usize) -> Vec<usize> {
    let mut index = index.to_vec();
    index[axis] = to;
    index
}

/// What an operand of that shape has where the result has `index`: axes are aligned on the right, extent 1 repeats.
pub fn seen(index: &[usize], shape: &[usize]) -> Vec<usize> {
    let missing = index.len() - shape.len();
    shape.iter().zip(&index[missing..]).map(|(&extent, &at)| if extent == 1 { 0 } else { at }).collect()
}

impl Nd {
    pub fn new(dtype: DType, shape: &[usize], mut cell: impl FnMut(&[usize]) -> Num) -> Self {
        let mut cells = Vec::new();
        each(shape, |index| cells.push(cell(index)));
        Self { dtype, shape: shape.to_vec(), cells }
    }

    pub fn at(&self, index: &[usize]) -> Num {
        self.cells[number(index, &self.shape)]
    }

    pub fn float(&self, index: &[usize]) -> f64 {
        match self.at(index) {
            Num::Float(value) => value,
            Num::Int(_) => panic!("{} holds no floats", self.dtype),
        }
    }

    pub fn int(&self, index: &[usize]) -> i64 {
        match self.at(index) {
            Num::Int(value) => value,
            Num::Float(_) => panic!("{} holds no integers", self.dtype),
        }
    }

    /// What a tensor holds.
    pub fn of(tensor: &Tensor) -> Self {
        let cells = match tensor.dtype().is_float() {
            true => tensor.to_f64_vec().into_iter().map(Num::Float).collect(),
            false => tensor.to_i64_vec().unwrap().into_iter().map(Num::Int).collect(),
        };
        Self { dtype: tensor.dtype(), shape: tensor.shape().to_vec(), cells }
    }

    /// The tensor whose elements lie in row-major order. All are values of the dtype, so that no cast rounds.
    pub fn tensor(&self) -> Tensor {
        let floats = |cell: &Num| if let Num::Float(value) = cell { *value as f32 } else { unreachable!() };
        let ints = |cell: &Num| if let Num::Int(value) = cell { *value } else { unreachable!() };
        let whole = match self.dtype.is_float() {
            true => Tensor::from_vec(&self.shape, self.cells.iter().map(floats).collect()),
            false => Tensor::from_vec(&self.shape, self.cells.iter().map(ints).collect()),
        };
        whole.unwrap().cast(self.dtype).unwrap()
    }

    /// The same tensor as a window on a larger one whose axes lie in another order: `order` says how, `strides` and `first`
    /// which of its elements they are. All others hold the first element, or nothing like it.
    pub fn view(&self, order: &[usize], first: &[usize], strides: &[usize]) -> Tensor {
        let rank = self.shape.len();
        let wide: Vec<usize> =
            (0..rank).map(|axis| first[axis] + self.shape[axis] * strides[axis] + first[axis]).collect();
        let base: Vec<usize> = order.iter().map(|&axis| wide[axis]).collect();
        let junk = if self.dtype.is_float() { Num::Float(1.0) } else { Num::Int(1) };
        let mut cells = vec![junk; base.iter().product()];
        each(&self.shape, |index| {
            let place: Vec<usize> = order.iter().map(|&axis| first[axis] + index[axis] * strides[axis]).collect();
            cells[number(&place, &base)] = self.at(index);
        });
        let mut back = vec![0; rank];
        order.iter().enumerate().for_each(|(at, &axis)| back[axis] = at);
        let starts: Vec<i64> = first.iter().map(|&at| at as i64).collect();
        let whole = Self { dtype: self.dtype, shape: base, cells }.tensor().permute(&back).unwrap();
        whole.slice(&starts, &self.shape, strides).unwrap()
    }
}
