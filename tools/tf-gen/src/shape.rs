//! Graphs of ops as numbers.

use std::str::FromStr;

/// The form of a generated graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Each op uses the one before: the deepest graph.
    Chain,
    /// A balanced tree over the two parameters: no value is used twice.
    Tree,
    /// Each op uses the one before and one of the last 64: the number of paths is exponential.
    Dag,
}

impl Shape {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Chain, Self::Tree, Self::Dag];

    /// Its name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Chain => "chain",
            Self::Tree => "tree",
            Self::Dag => "dag",
        }
    }
}

impl FromStr for Shape {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = || Self::ALL.map(Self::name).join(", ");
        Self::ALL.into_iter().find(|s| s.name() == text).ok_or_else(|| format!("no shape `{text}`; known: {}", known()))
    }
}

/// An op with the numbers of its operands: 0 and 1 are the parameters, `i + 2` is the value of op `i`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Of one operand.
    Unary(usize),
    /// A sum.
    Add(usize, usize),
    /// A product.
    Mul(usize, usize),
}

/// `count` ops in order, the last of which needs all others.
pub fn ops(shape: Shape, count: usize) -> impl Iterator<Item = Op> {
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    // In a tree over `leaves` unary ops, op `leaves + i` joins the values `2 i` and `2 i + 1`.
    let leaves = count.div_ceil(2);
    (0..count).map(move |at| {
        let previous = if at == 0 { 0 } else { at + 1 };
        match shape {
            Shape::Chain if at % 3 == 2 => Op::Unary(previous),
            Shape::Chain if at % 3 == 1 => Op::Mul(previous, 1),
            Shape::Chain => Op::Add(previous, 1),
            Shape::Tree if at < leaves => Op::Unary(at % 2),
            Shape::Tree => {
                let first = 2 * (at - leaves) + 2;
                // With an even count the last op has one value left to take.
                Op::Add(first, (first + 1).min(at + 1))
            }
            Shape::Dag => {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let back = (random >> 33) as usize % 64;
                let other = (at + 1).saturating_sub(back);
                if random >> 63 == 0 { Op::Add(previous, other) } else { Op::Mul(previous, other) }
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::{Op, Shape, ops};

    #[test]
    fn every_op_is_needed_and_operands_come_first() {
        for shape in Shape::ALL {
            for count in [1, 2, 3, 4, 5, 8, 100, 1001] {
                let mut used = vec![false; count + 2];
                for (at, op) in ops(shape, count).enumerate() {
                    let operands = match op {
                        Op::Unary(x) => [x, x],
                        Op::Add(x, y) | Op::Mul(x, y) => [x, y],
                    };
                    for operand in operands {
                        assert!(operand < at + 2, "{shape:?} {count}: op {at} uses {operand}");
                        used[operand] = true;
                    }
                }
                assert!(used[2..=count].iter().all(|&u| u), "{shape:?} {count}");
            }
        }
    }
}
