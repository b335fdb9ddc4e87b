//! The elements that a relation names, point by point.

use std::collections::{BTreeMap, BTreeSet};

use tf_types::access::{AccessRelation, AffineMap, AxisAccess, Extent, Read};

/// Operand, field, row-major number of the element.
pub type Element = (usize, usize, usize);

/// What the relations are applied to: shapes and values of operands by field, shapes of the result's fields.
pub struct Applied<'a> {
    pub shape: &'a dyn Fn(usize, usize) -> Vec<usize>,
    pub value: &'a dyn Fn(Element) -> i64,
    pub results: &'a [Vec<usize>],
}

pub fn row_major(index: &[i64], shape: &[usize]) -> Option<usize> {
    let mut number = 0;
    for (&at, &extent) in index.iter().zip(shape) {
        number = number * extent + usize::try_from(at).ok().filter(|at| *at < extent)?;
    }
    Some(number)
}

impl Applied<'_> {
    fn map(&self, relation: &AccessRelation<'_>, map: &AffineMap<'_>, point: &[i64]) -> i64 {
        let number = |dim: Option<tf_types::Dim<'_>>, default| dim.map_or(default, |dim| dim.as_const().unwrap());
        let mut sum = number(map.offset, 0);
        for term in &map.terms {
            sum += point[term.dim].div_euclid(number(term.block, 1)) * number(term.factor, 1);
        }
        if let Some(operand) = map.value {
            let read = relation.reads.iter().find(|read| read.operand == operand).expect("a value is read");
            sum += (self.value)(self.element(relation, read, point).expect("an index is read inside its axes"));
        }
        let quotient = sum.div_euclid(number(map.divisor, 1));
        map.modulus.map_or(quotient, |by| quotient.rem_euclid(by.as_const().unwrap()))
    }

    fn index(&self, relation: &AccessRelation<'_>, axes: &[AxisAccess<'_>], point: &[i64]) -> Vec<i64> {
        let position = |axis: &AxisAccess<'_>| match axis {
            AxisAccess::Proj(dim) => point[*dim],
            AxisAccess::Const => 0,
            AxisAccess::Map(map) => self.map(relation, map, point),
        };
        axes.iter().map(position).collect()
    }

    fn element(&self, relation: &AccessRelation<'_>, read: &Read<'_>, point: &[i64]) -> Option<Element> {
        if read.only_at.is_some_and(|(dim, value)| point[dim] != value) {
            return None;
        }
        let shape = (self.shape)(read.operand, read.field);
        assert_eq!(shape.len(), read.axes.len(), "axes of operand {}", read.operand);
        let number = row_major(&self.index(relation, &read.axes, point), &shape)?;
        Some((read.operand, read.field, number))
    }

    /// For each element of the result, by field and number: the elements it is made from.
    pub fn sources(&self, relations: &[AccessRelation<'_>]) -> BTreeMap<(usize, usize), BTreeSet<Element>> {
        let mut all: BTreeMap<_, BTreeSet<Element>> = BTreeMap::new();
        for relation in relations {
            let extent = |extent: &Extent<'_>| match extent {
                Extent::Dim(dim) => dim.as_const().unwrap(),
                Extent::Value(operand) => (self.value)((*operand, 0, 0)),
            };
            let domain: Vec<i64> = relation.domain.iter().map(extent).collect();
            let mut written: BTreeMap<_, BTreeSet<Element>> = BTreeMap::new();
            for number in 0..domain.iter().product::<i64>() {
                let (mut rest, mut point) = (number, vec![0; domain.len()]);
                for dim in (0..domain.len()).rev() {
                    point[dim] = rest % domain[dim];
                    rest /= domain[dim];
                }
                let result = self.index(relation, &relation.result, &point);
                let at = row_major(&result, &self.results[relation.field]).expect("the result has what is written");
                let sources = written.entry((relation.field, at)).or_default();
                sources.extend(relation.reads.iter().filter_map(|read| self.element(relation, read, &point)));
            }
            for (at, sources) in written {
                let entry = all.entry(at).or_default();
                if relation.replaces {
                    entry.clear();
                }
                entry.extend(sources);
            }
        }
        all
    }
}

/// Operands that say where others are read or how many there are; what they change is not what they are read for.
pub fn addresses(relations: &[AccessRelation<'_>]) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    for relation in relations {
        let axes = relation.reads.iter().flat_map(|read| &read.axes).chain(&relation.result);
        found.extend(axes.filter_map(|axis| match axis {
            AxisAccess::Map(map) => map.value,
            _ => None,
        }));
        found.extend(relation.domain.iter().filter_map(|extent| match extent {
            Extent::Value(operand) => Some(*operand),
            Extent::Dim(_) => None,
        }));
    }
    found
}
