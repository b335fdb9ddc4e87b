//! Arithmetic of single elements, as MLIR defines it.
use half::{bf16, f16};

/// A number in a register.
#[derive(Clone, Debug)]
pub enum Num {
    /// Of any float type; kept rounded to it.
    F(f32),
    /// Of any integer type; kept sign-extended.
    I(i64),
    /// A vector.
    V(Vec<Num>),
}

impl PartialEq for Num {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::F(a), Self::F(b)) => a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan(),
            (Self::I(a), Self::I(b)) => a == b,
            _ => false,
        }
    }
}

impl Num {
    pub fn int(&self) -> i64 {
        match self {
            Self::I(value) => *value,
            other => panic!("{other:?} is no integer"),
        }
    }

    pub fn float(&self) -> f32 {
        match self {
            Self::F(value) => *value,
            other => panic!("{other:?} is no float"),
        }
    }

    pub fn vector(&self) -> &[Num] {
        match self {
            Self::V(values) => values,
            other => panic!("{other:?} is no vector"),
        }
    }
}

/// Rounds to a narrow float type.
pub fn round(x: f32, is_bf16: bool, is_f16: bool) -> f32 {
    match (is_bf16, is_f16) {
        (true, _) => bf16::from_f32(x).to_f32(),
        (_, true) => f16::from_f32(x).to_f32(),
        _ => x,
    }
}

pub fn unary(name: &str, x: &Num, from: u32, to_float: bool, to: u32) -> Num {
    match (name, x) {
        ("arith.negf", Num::F(x)) => Num::F(-x),
        ("arith.extf" | "arith.truncf", Num::F(x)) => Num::F(*x),
        ("arith.sitofp", Num::I(x)) => Num::F(*x as f32),
        ("arith.uitofp", Num::I(x)) => Num::F(unsigned(*x, from) as f32),
        ("arith.fptosi", Num::F(x)) => Num::I(*x as i64),
        ("arith.extui", Num::I(x)) => Num::I(unsigned(*x, from) as i64),
        ("arith.extsi" | "arith.trunci" | "arith.index_cast", Num::I(x)) => Num::I(*x),
        ("arith.bitcast", Num::F(x)) => Num::I(match to {
            16 => i64::from(bf16::from_f32(*x).to_bits()),
            _ => i64::from(x.to_bits()),
        }),
        ("arith.bitcast", Num::I(x)) if to_float => Num::F(match to {
            16 => bf16::from_bits(*x as u16).to_f32(),
            _ => f32::from_bits(*x as u32),
        }),
        _ => panic!("no simulation of `{name}` of {x:?}"),
    }
}

fn unsigned(x: i64, bits: u32) -> u64 {
    if bits >= 64 { x as u64 } else { x as u64 & ((1 << bits) - 1) }
}

pub fn binary(name: &str, x: &Num, y: &Num, predicate: i64, bits: u32) -> Num {
    match (x, y) {
        (Num::F(x), Num::F(y)) => floats(name, *x, *y, predicate),
        (Num::I(x), Num::I(y)) => integers(name, *x, *y, predicate, bits),
        _ => panic!("no simulation of `{name}` of {x:?} and {y:?}"),
    }
}

fn floats(name: &str, x: f32, y: f32, predicate: i64) -> Num {
    let nan = x.is_nan() || y.is_nan();
    match name {
        "arith.addf" => Num::F(x + y),
        "arith.subf" => Num::F(x - y),
        "arith.mulf" => Num::F(x * y),
        "arith.divf" => Num::F(x / y),
        "arith.maximumf" => Num::F(if nan { f32::NAN } else { x.max(y) }),
        "arith.minimumf" => Num::F(if nan { f32::NAN } else { x.min(y) }),
        "arith.cmpf" => {
            // Bits: equal, greater, less; from 8 on also unordered (ueq, …), with 7 and 14 ord and uno.
            let ordered = [false, x == y, x > y, x >= y, x < y, x <= y, x != y, !nan];
            let unordered = [x == y, x > y, x >= y, x < y, x <= y, x != y, false, true];
            Num::I(i64::from(match predicate {
                0..8 => ordered[predicate as usize] && !nan,
                15 => true,
                other => nan || unordered[other as usize - 8],
            }))
        }
        _ => panic!("no simulation of `{name}`"),
    }
}

fn integers(name: &str, x: i64, y: i64, predicate: i64, bits: u32) -> Num {
    let (ux, uy) = (unsigned(x, bits), unsigned(y, bits));
    Num::I(match name {
        "arith.addi" => x.wrapping_add(y),
        "arith.subi" => x.wrapping_sub(y),
        "arith.muli" => x.wrapping_mul(y),
        "arith.divsi" => x / y,
        "arith.remsi" => x % y,
        "arith.divui" => (ux / uy) as i64,
        "arith.remui" => (ux % uy) as i64,
        "arith.andi" => x & y,
        "arith.ori" => x | y,
        "arith.xori" => x ^ y,
        "arith.shli" => x << y,
        "arith.shrsi" => x >> y,
        "arith.shrui" => (ux >> uy) as i64,
        "arith.maxsi" => x.max(y),
        "arith.minsi" => x.min(y),
        "arith.cmpi" => i64::from(
            [x == y, x != y, x < y, x <= y, x > y, x >= y, ux < uy, ux <= uy, ux > uy, ux >= uy][predicate as usize],
        ),
        _ => panic!("no simulation of `{name}`"),
    })
}

pub fn intrinsic(name: &str, arguments: &[Num]) -> Num {
    let at = |index: usize| arguments[index].float();
    Num::F(match name {
        "llvm.fma.f32" => at(0).mul_add(at(1), at(2)),
        "llvm.fabs.f32" => at(0).abs(),
        "llvm.sqrt.f32" => at(0).sqrt(),
        "llvm.ceil.f32" => at(0).ceil(),
        "llvm.floor.f32" => at(0).floor(),
        "llvm.roundeven.f32" => at(0).round_ties_even(),
        "llvm.maxnum.f32" => at(0).max(at(1)),
        "llvm.minnum.f32" => at(0).min(at(1)),
        "llvm.copysign.f32" => at(0).copysign(at(1)),
        "llvm.nvvm.ex2.approx.f32" => at(0).exp2(),
        "llvm.nvvm.rsqrt.approx.f" => 1.0 / at(0).sqrt(),
        _ => panic!("no simulation of intrinsic `{name}`"),
    })
}
