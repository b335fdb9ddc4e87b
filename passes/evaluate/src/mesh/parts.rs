//! What positions hold: a tensor for each position that may hold another one.

use std::rc::Rc;

use tf_value::{Tensor, ValueError};

use crate::mesh::digit::{Digit, Index, common, each};
use crate::mesh::placement::Cut;

/// A value at all positions. Clones share it.
#[derive(Clone)]
pub enum Held {
    Tensor(Rc<Parts>),
    Tuple(Vec<Held>),
}

/// A tensor at all positions. Those that differ in no digit hold the same.
pub struct Parts {
    /// The logical shape.
    pub shape: Vec<usize>,
    /// What tells positions apart that may hold different tensors.
    pub digits: Vec<Digit>,
    /// Row-major over the digits.
    pub tensors: Vec<Tensor>,
    /// Those of the digits along which positions differ because the program says so: a window begins at a mesh coordinate.
    pub meant: Vec<Digit>,
}

impl Held {
    /// The tensors, left to right.
    pub fn leaves(&self) -> Vec<&Rc<Parts>> {
        let (mut found, mut stack) = (Vec::new(), vec![self]);
        while let Some(held) = stack.pop() {
            match held {
                Self::Tensor(parts) => found.push(parts),
                Self::Tuple(fields) => stack.extend(fields.iter().rev()),
            }
        }
        found
    }
}

impl From<Parts> for Held {
    fn from(parts: Parts) -> Self {
        Self::Tensor(Rc::new(parts))
    }
}

impl Parts {
    /// The same tensor everywhere.
    pub fn same(tensor: Tensor) -> Self {
        Self { shape: tensor.shape().to_vec(), digits: Vec::new(), tensors: vec![tensor], meant: Vec::new() }
    }

    /// A tensor for each position that these digits tell apart.
    pub fn of<E>(
        shape: &[usize],
        digits: Vec<Digit>,
        mut part: impl FnMut(&[usize]) -> Result<Tensor, E>,
    ) -> Result<Self, E> {
        let mut tensors = Vec::new();
        each(&digits, |at| {
            tensors.push(part(at)?);
            Ok(())
        })?;
        Ok(Self { shape: shape.to_vec(), digits, tensors, meant: Vec::new() })
    }

    /// The same value, listed over finer digits, or those of a slice.
    pub fn over(&self, digits: &[Digit]) -> Self {
        let index = Index::new(digits, &self.digits);
        let part = |at: &[usize]| Ok::<_, std::convert::Infallible>(self.tensors[index.at(at)].clone());
        let Ok(parts) = Self::of(&self.shape, digits.to_vec(), part);
        parts.meant(&self.meant)
    }

    /// Meant to differ along what these digits tell apart.
    pub fn meant(self, along: &[Digit]) -> Self {
        let meant =
            self.digits.iter().copied().filter(|digit| along.iter().any(|known| digit.lies_in(known))).collect();
        Self { meant, ..self }
    }
}

/// Cuts own parts out of what is whole along some axes.
pub struct Take {
    /// The shape with cut axes as their factors.
    factored: Vec<usize>,
    local: Vec<usize>,
    sizes: Vec<usize>,
    /// The factors that a digit chooses from.
    picks: Vec<(usize, Index)>,
    cuts: bool,
}

impl Take {
    /// Of tensors of `shape`, along the axes whose cut is not empty, at positions that `known` tells.
    pub fn new(shape: &[usize], cuts: &[Cut], known: &[Digit]) -> Self {
        let (factored, digits) = factors(shape, cuts);
        let picks = digits.iter().map(|&(at, digit)| (at, Index::new(known, &[digit]))).collect();
        let mut sizes = factored.clone();
        digits.iter().for_each(|&(at, _)| sizes[at] = 1);
        let local = shape.iter().zip(cuts).map(|(&extent, cut)| super::placement::local_extent(extent, cut)).collect();
        Self { factored, local, sizes, picks, cuts: !digits.is_empty() }
    }

    /// The part of a position.
    pub fn part(&self, whole: &Tensor, at: &[usize]) -> Result<Tensor, ValueError> {
        if !self.cuts {
            return Ok(whole.clone());
        }
        let mut starts = vec![0; self.factored.len()];
        for (factor, index) in &self.picks {
            starts[*factor] = index.at(at) as i64;
        }
        whole.reshape(&self.factored)?.slice(&starts, &self.sizes, &vec![1; starts.len()])?.reshape(&self.local)
    }
}

/// The factors of all axes, and which of them are dealt out along which digit.
fn factors(shape: &[usize], cuts: &[Cut]) -> (Vec<usize>, Vec<(usize, Digit)>) {
    let (mut factored, mut digits) = (Vec::with_capacity(shape.len()), Vec::new());
    for (&extent, cut) in shape.iter().zip(cuts) {
        if cut.is_empty() {
            factored.push(extent);
        }
        for factor in cut {
            digits.extend(factor.digit.map(|digit| (factored.len(), digit)));
            factored.push(factor.extent);
        }
    }
    (factored, digits)
}

/// Puts the parts of all positions together along the axes whose cut is not empty.
pub fn gather(parts: &Parts, cuts: &[Cut]) -> Result<Parts, String> {
    let shape: Vec<usize> = parts.tensors[0].shape().to_vec();
    let mut whole = shape.clone();
    for (extent, cut) in whole.iter_mut().zip(cuts).filter(|(_, cut)| !cut.is_empty()) {
        *extent = cut.iter().map(|factor| factor.extent).product();
    }
    let (factored, owners) = factors(&whole, cuts);
    let cut: Vec<Digit> = owners.iter().map(|&(_, digit)| digit).collect();
    let known = common([&parts.digits[..], &cut])?;
    let (gone, kept): (Vec<Digit>, Vec<Digit>) =
        known.iter().copied().partition(|digit| cut.iter().any(|owner| digit.lies_in(owner)));
    // The coordinates of a position are those of what stays, then those that are put together.
    let order = [&kept[..], &gone].concat();
    let (source, picks): (Index, Vec<_>) = (
        Index::new(&order, &parts.digits),
        owners.iter().map(|&(at, digit)| (at, Index::new(&order, &[digit]))).collect(),
    );
    let mut piece = factored.clone();
    owners.iter().for_each(|&(at, _)| piece[at] = 1);
    let dtype = parts.tensors[0].dtype();
    let result = Parts::of(&parts.shape, kept, |outer| {
        let mut all = Tensor::zeros(&factored, dtype)?;
        each(&gone, |inner| {
            let at = [outer, inner].concat();
            let mut starts = vec![0; factored.len()];
            picks.iter().for_each(|(factor, index)| starts[*factor] = index.at(&at) as i64);
            let own = parts.tensors[source.at(&at)].reshape(&piece)?;
            all = std::mem::replace(&mut all, Tensor::scalar(false)).insert(&own, &starts)?;
            Ok::<_, ValueError>(())
        })?;
        all.reshape(&whole)
    });
    Ok(result.map_err(|error: ValueError| error.message)?.meant(&parts.meant))
}

#[cfg(test)]
mod tests {
    use tf_value::Tensor;

    use super::{Parts, Take, gather};
    use crate::mesh::digit::Digit;
    use crate::mesh::placement::Factor;

    #[test]
    fn positions_differ_on_purpose_along_the_digits_that_say_so() {
        let digit = |stride, radix| Digit { level: 0, stride, radix, start: 0, count: radix };
        let (w, l) = (digit(4, 2), digit(1, 4));
        let same = |_: &[usize]| Ok::<_, ()>(Tensor::scalar(1.0f32).reshape(&[1]).unwrap());
        let parts = Parts::of(&[1], vec![w, l], same).unwrap().meant(&[w]);
        assert_eq!(parts.meant, [w]);
        let finer = [digit(4, 2), digit(2, 2), digit(1, 2)];
        assert_eq!(parts.over(&finer).meant, [w]);
        let line = Parts::of(&[1], vec![w, l], same).unwrap().meant(&[digit(1, 8)]);
        assert_eq!(line.meant, [w, l]);
        let cut = [vec![Factor { extent: 2, digit: Some(w) }]];
        assert!(gather(&parts, &cut).unwrap().meant.is_empty());
    }

    #[test]
    fn what_is_dealt_out_comes_together_again() {
        let digit = |stride, radix| Digit { level: 0, stride, radix, start: 0, count: radix };
        let (w, l) = (digit(4, 2), digit(1, 4));
        let of = |extent, digit| Factor { extent, digit };
        // Rows by turns over `w`, two columns in a run over `l`.
        let cuts = [vec![of(3, None), of(2, Some(w)), of(2, None)], vec![of(4, Some(l)), of(2, None)]];
        let whole = Tensor::from_vec(&[12, 8], (0..96).collect::<Vec<i32>>()).unwrap();
        let take = Take::new(&[12, 8], &cuts, &[w, l]);
        let parts = Parts::of(&[12, 8], vec![w, l], |at| take.part(&whole, at)).unwrap();
        assert_eq!(parts.tensors.len(), 8);
        let last = parts.tensors[7].to_vec::<i32>().unwrap();
        assert_eq!(last, [22, 23, 30, 31, 54, 55, 62, 63, 86, 87, 94, 95]);
        let again = gather(&parts, &cuts).unwrap();
        assert_eq!((again.digits.len(), again.tensors[0].to_vec::<i32>()), (0, whole.to_vec::<i32>()));
        let rows = gather(&parts, &[cuts[0].clone(), Vec::new()]).unwrap();
        assert_eq!((rows.digits, rows.tensors[1].shape()), (vec![l], &[12, 2][..]));
    }
}
