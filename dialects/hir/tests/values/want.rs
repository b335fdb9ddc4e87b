//! What a result must be.

use tf_types::DType;
use tf_value::Tensor;

use crate::nd::{Nd, Num, each};
use crate::round::round;

/// One element of a result.
#[derive(Clone, Copy, Debug)]
pub enum Want {
    Int(i64),
    /// This value, rounded to the dtype once; the sign of zero counts.
    Float(f64),
    /// Not farther than that from a value before it is rounded to the dtype.
    Near(f64, f64),
}

/// Half a unit in the last place of f32, relative.
pub const HALF: f64 = 1.0 / (1 << 24) as f64;

impl Want {
    /// A value that is computed with so many roundings of f32, relative to it.
    pub fn rounded(value: f64, roundings: f64) -> Self {
        // Below the normal numbers a rounding is absolute.
        Self::Near(value, value.abs() * roundings * HALF + roundings * 2f64.powi(-149))
    }
}

impl From<Num> for Want {
    fn from(num: Num) -> Self {
        match num {
            Num::Int(value) => Self::Int(value),
            Num::Float(value) => Self::Float(value),
        }
    }
}

/// A tensor that a result must be.
#[derive(Clone, Debug)]
pub struct Expected {
    pub dtype: DType,
    pub shape: Vec<usize>,
    cells: Vec<Want>,
}

/// Whether some element of a result in f8e8m0 is negative, which is refused.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Negative {
    No,
    Maybe,
    Yes,
}

impl Expected {
    pub fn new<W: Into<Want>>(dtype: DType, shape: &[usize], mut cell: impl FnMut(&[usize]) -> W) -> Self {
        let mut cells = Vec::new();
        each(shape, |index| cells.push(cell(index).into()));
        Self { dtype, shape: shape.to_vec(), cells }
    }

    pub fn same(x: &Nd) -> Self {
        Self::new(x.dtype, &x.shape, |index| x.at(index))
    }

    pub fn negative(&self) -> Negative {
        if self.dtype != DType::F8E8M0 {
            return Negative::No;
        }
        let of = |want: &Want| {
            let (value, error) = match *want {
                Want::Near(value, error) => (value, error),
                Want::Float(value) => (value, 0.0),
                Want::Int(_) => panic!("f8e8m0 holds no integers"),
            };
            match ((value - error) as f32, (value + error) as f32) {
                (_, most) if most < 0.0 => Negative::Yes,
                (least, _) if least < 0.0 => Negative::Maybe,
                _ => Negative::No,
            }
        };
        let found: Vec<_> = self.cells.iter().map(of).collect();
        [Negative::Yes, Negative::Maybe].into_iter().find(|kind| found.contains(kind)).unwrap_or(Negative::No)
    }

    /// What is wrong with a result.
    pub fn complaint(&self, got: &Tensor) -> Option<String> {
        if (got.dtype(), got.shape()) != (self.dtype, &self.shape[..]) {
            return Some(format!("{} {:?}, not {} {:?}", got.dtype(), got.shape(), self.dtype, self.shape));
        }
        let cells = Nd::of(got).cells;
        let wrong = cells.iter().zip(&self.cells).enumerate().find(|(_, (got, want))| !fits(**got, **want, self.dtype));
        wrong.map(|(at, (got, want))| format!("element {at} of {:?} is {got:?}, not {want:?}", self.shape))
    }
}

fn fits(got: Num, want: Want, dtype: DType) -> bool {
    let (got, value, error) = match (got, want) {
        (Num::Int(got), Want::Int(want)) => return got == want,
        (Num::Float(got), Want::Float(want)) => {
            let want = round(want, dtype);
            return (got.is_nan() && want.is_nan())
                || (got == want && got.is_sign_negative() == want.is_sign_negative());
        }
        (Num::Float(got), Want::Near(value, error)) => (got, value, error),
        _ => return false,
    };
    if value.is_nan() {
        return got.is_nan();
    }
    let floor = if dtype == DType::F8E8M0 { 0.0 } else { f64::NEG_INFINITY };
    let of = |bound: f64| round(bound.max(floor), dtype);
    let (least, most) =
        if value.is_infinite() { (of(value), of(value)) } else { (of(value - error), of(value + error)) };
    // Where there are no infinities a bound may be NaN, and then leaves that side open.
    let inside = (least.is_nan() || got >= least) && (most.is_nan() || got <= most);
    if got.is_nan() { least.is_nan() || most.is_nan() } else { inside && !(least.is_nan() && most.is_nan()) }
}
