//! Relations as text, for documentation: `out[i, j] <- lhs[i, k], rhs[k, j]  for i < 4, j < 6, k < 8, summed over k`.

use std::fmt::Write;

use super::{AccessRelation, AffineMap, AxisAccess, Extent, Read};

/// Names of domain dims.
const NAMES: [&str; 9] = ["i", "j", "k", "l", "m", "n", "o", "p", "q"];

fn dim(at: usize) -> String {
    NAMES.get(at).map_or_else(|| format!("i{at}"), |name| (*name).to_owned())
}

/// Names of a call's operands and results.
pub struct Names<'a> {
    /// Of operand `at`, field `field`.
    pub operand: &'a dyn Fn(usize, usize) -> String,
    /// Of a field of the result.
    pub result: &'a dyn Fn(usize) -> String,
}

impl AccessRelation<'_> {
    /// The relation on one line.
    #[must_use]
    pub fn describe(&self, names: &Names<'_>) -> String {
        let operand = |read: &Read<'_>| element(self, names, &(names.operand)(read.operand, read.field), &read.axes);
        let mut reads = Vec::new();
        for read in &self.reads {
            let text = operand(read);
            match read.only_at {
                Some((at, value)) => reads.push(format!("{text} where {} = {value}", dim(at))),
                None => reads.push(text),
            }
        }
        let mut out = element(self, names, &(names.result)(self.field), &self.result);
        let reads = if reads.is_empty() { "nothing".to_owned() } else { reads.join(", ") };
        let _ = write!(out, " <- {reads}{}", if self.replaces { " instead" } else { "" });
        let extent = |extent: &Extent<'_>| match extent {
            Extent::Dim(extent) => extent.to_string(),
            Extent::Value(at) => (names.operand)(*at, 0),
        };
        let domain: Vec<_> =
            self.domain.iter().enumerate().map(|(at, e)| format!("{} < {}", dim(at), extent(e))).collect();
        if !domain.is_empty() {
            let _ = write!(out, "  for {}", domain.join(", "));
        }
        for (what, dims) in [("summed over", &self.partial), ("reduced over", &self.complete)] {
            if !dims.is_empty() {
                let dims: Vec<_> = dims.iter().map(|&at| dim(at)).collect();
                let _ = write!(out, ", {what} {}", dims.join(", "));
            }
        }
        out
    }
}

fn element(relation: &AccessRelation<'_>, names: &Names<'_>, name: &str, axes: &[AxisAccess<'_>]) -> String {
    let axes: Vec<_> = axes
        .iter()
        .map(|axis| match axis {
            AxisAccess::Proj(at) => dim(*at),
            AxisAccess::Const => "0".to_owned(),
            AxisAccess::Map(map) => position(relation, names, map),
        })
        .collect();
    if axes.is_empty() { name.to_owned() } else { format!("{name}[{}]", axes.join(", ")) }
}

fn position(relation: &AccessRelation<'_>, names: &Names<'_>, map: &AffineMap<'_>) -> String {
    let mut sum: Vec<String> = Vec::new();
    for term in &map.terms {
        let base = match term.block {
            Some(block) => format!("{} // {block}", dim(term.dim)),
            None => dim(term.dim),
        };
        sum.push(match term.factor.filter(|factor| factor.as_const() != Some(1)) {
            Some(factor) if term.block.is_some() => format!("({base}) * {factor}"),
            Some(factor) => format!("{base} * {factor}"),
            None => base,
        });
    }
    if let Some(at) = map.value {
        let read = relation.reads.iter().find(|read| read.operand == at);
        sum.push(read.map_or_else(
            || (names.operand)(at, 0),
            |read| element(relation, names, &(names.operand)(at, 0), &read.axes),
        ));
    }
    sum.extend(map.offset.filter(|offset| offset.as_const() != Some(0)).map(|offset| offset.to_string()));
    let mut text = if sum.is_empty() { "0".to_owned() } else { sum.join(" + ").replace("+ -", "- ") };
    for (symbol, by) in [("//", map.divisor.filter(|by| by.as_const() != Some(1))), ("%", map.modulus)] {
        if let Some(by) = by {
            text = if text.contains(' ') { format!("({text}) {symbol} {by}") } else { format!("{text} {symbol} {by}") };
        }
    }
    text
}
