//! Positions as numbers: what tells two positions apart is a digit of their number in some hardware level.

use std::cmp::Reverse;
use std::collections::BTreeSet;

/// The coordinate `number / stride % radix - start` of a position's number in a level; only positions with
/// `start <= number / stride % radix < start + count` have one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Digit {
    /// The level, outer ones first.
    pub level: usize,
    pub stride: usize,
    pub radix: usize,
    pub start: usize,
    pub count: usize,
}

impl Digit {
    const fn end(&self) -> usize {
        self.stride * self.radix
    }

    /// Whether this digit says a part of what the other one says.
    pub const fn lies_in(&self, other: &Self) -> bool {
        self.level == other.level && other.stride <= self.stride && self.end() <= other.end()
    }

    fn is_whole(&self) -> bool {
        self.start == 0 && self.count == self.radix
    }

    /// Two ranges of one digit as what both have.
    fn and(self, other: Self) -> Result<Self, String> {
        let start = self.start.max(other.start);
        let end = (self.start + self.count).min(other.start + other.count);
        if start < end {
            return Ok(Self { start, count: end - start, ..self });
        }
        Err("values of two slices of a mesh meet that have no position in common".to_owned())
    }
}

/// The fewest digits of which each of these is made, outermost first; of a digit that is limited to a slice in one place, only that
/// slice.
///
/// # Errors
/// Meshes that count the positions of a level in ways that do not nest; slices without a position in common.
pub fn common<'d>(lists: impl IntoIterator<Item = &'d [Digit]>) -> Result<Vec<Digit>, String> {
    let mut all: Vec<Digit> = Vec::new();
    for list in lists {
        for digit in list {
            if !all.contains(digit) {
                all.push(*digit);
            }
        }
    }
    let bounds: BTreeSet<(usize, usize)> =
        all.iter().flat_map(|digit| [(digit.level, digit.stride), (digit.level, digit.end())]).collect();
    let mut pieces: Vec<Digit> = Vec::with_capacity(all.len());
    for digit in all {
        let mut low = digit.stride;
        for &(_, high) in bounds.range((digit.level, digit.stride + 1)..=(digit.level, digit.end())) {
            if high % low != 0 || (high != digit.end() || low != digit.stride) && !digit.is_whole() {
                return Err("two meshes count the positions of one level in ways that do not nest".to_owned());
            }
            let radix = high / low;
            let piece = match digit.is_whole() {
                true => Digit { stride: low, radix, start: 0, count: radix, ..digit },
                false => digit,
            };
            let alike = |known: &&mut Digit| (known.level, known.stride) == (piece.level, piece.stride);
            match pieces.iter_mut().find(alike) {
                Some(known) => *known = known.and(piece)?,
                None => pieces.push(piece),
            }
            low = high;
        }
    }
    pieces.sort_unstable_by_key(|digit| (digit.level, Reverse(digit.stride)));
    Ok(pieces)
}

/// How many positions digits tell apart.
pub fn count(digits: &[Digit]) -> usize {
    digits.iter().map(|digit| digit.count).product()
}

/// The index of a position, whose coordinates along some digits are given, in a row-major list over digits made of them.
pub struct Index {
    /// Which coordinate, what is added to it, what it counts.
    terms: Vec<(usize, usize, usize)>,
    /// What the starts of the digits take off.
    less: usize,
}

impl Index {
    /// Digits that `known` does not tell count as 0.
    pub fn new(known: &[Digit], digits: &[Digit]) -> Self {
        let mut index = Self { terms: Vec::new(), less: 0 };
        let mut place = count(digits);
        for digit in digits {
            place /= digit.count;
            let pieces = known.iter().enumerate().filter(|(_, piece)| piece.lies_in(digit));
            let before = index.terms.len();
            index.terms.extend(pieces.map(|(at, piece)| (at, piece.start, piece.stride / digit.stride * place)));
            if index.terms.len() > before {
                index.less += digit.start * place;
            }
        }
        index
    }

    /// Of the position with these coordinates.
    pub fn at(&self, coordinates: &[usize]) -> usize {
        self.terms.iter().map(|&(at, start, place)| (coordinates[at] + start) * place).sum::<usize>() - self.less
    }
}

/// Goes through all coordinates, the last digit fastest.
///
/// # Errors
/// The first one of `visit`.
pub fn each<E>(digits: &[Digit], mut visit: impl FnMut(&[usize]) -> Result<(), E>) -> Result<(), E> {
    let mut coordinates = vec![0; digits.len()];
    loop {
        visit(&coordinates)?;
        let Some(at) = (0..digits.len()).rev().find(|&at| coordinates[at] + 1 < digits[at].count) else {
            return Ok(());
        };
        coordinates[at] += 1;
        coordinates[at + 1..].fill(0);
    }
}

#[cfg(test)]
mod tests {
    use super::{Digit, Index, common, each};

    fn digit(stride: usize, radix: usize) -> Digit {
        Digit { level: 0, stride, radix, start: 0, count: radix }
    }

    #[test]
    fn meshes_over_one_level_share_digits() {
        let (eight, pair) = (digit(1, 8), [digit(4, 2), digit(1, 4)]);
        assert_eq!(common([&pair[..], &[eight]]), Ok(pair.to_vec()));
        assert_eq!(common([&[digit(1, 4)][..], &[digit(4, 2)]]), Ok(pair.to_vec()));
        let two = digit(1, 2);
        assert_eq!(common([&pair[..], &[two]]), Ok(vec![digit(4, 2), digit(2, 2), two]));
        assert!(common([&[digit(1, 4)][..], &[digit(1, 6)]]).unwrap_err().contains("do not nest"));
        let other = Digit { level: 1, ..eight };
        assert_eq!(common([&[other][..], &[eight]]), Ok(vec![eight, other]));
    }

    #[test]
    fn slices_meet_in_what_they_share() {
        let whole = digit(1, 8);
        let part = |start, count| Digit { start, count, ..whole };
        assert_eq!(common([&[part(2, 4)][..], &[whole]]), Ok(vec![part(2, 4)]));
        assert_eq!(common([&[part(2, 4)][..], &[part(4, 4)]]), Ok(vec![part(4, 2)]));
        assert!(common([&[part(0, 2)][..], &[part(4, 2)]]).unwrap_err().contains("no position in common"));
        assert!(common([&[part(0, 2)][..], &[digit(2, 4)]]).unwrap_err().contains("do not nest"));
    }

    #[test]
    fn indices_follow_the_number_of_the_position() {
        let known = [digit(4, 2), digit(1, 4)];
        let (whole, outer) = (Index::new(&known, &[digit(1, 8)]), Index::new(&known, &[digit(4, 2)]));
        let part = Index::new(&[Digit { start: 2, count: 2, ..digit(1, 4) }], &[digit(1, 4)]);
        let mut seen = Vec::new();
        each(&known, |at| {
            seen.push((whole.at(at), outer.at(at)));
            Ok::<_, ()>(())
        })
        .unwrap();
        assert_eq!(seen, (0..8).map(|n| (n, n / 4)).collect::<Vec<_>>());
        assert_eq!([part.at(&[0]), part.at(&[1])], [2, 3]);
    }
}
