//! Values in scope.

use rustc_hash::FxHashMap;
use tf_core::Expr;

/// A value, or `None`: its definition is wrong and has been reported.
pub type Named<'c> = Option<Expr<'c>>;

/// Values by what stands after `%`. Plain numbers, which most names are, index a list.
#[derive(Default)]
pub struct Names<'t, 'c> {
    numbered: Vec<Option<Named<'c>>>,
    other: FxHashMap<&'t str, Named<'c>>,
}

/// How far a number may be ahead of the list; others are names like any.
const FARTHEST: usize = 1 << 12;

fn number(key: &str) -> Option<usize> {
    let digits = key.as_bytes();
    if digits.len() > 9 || (digits[0] == b'0' && digits.len() > 1) {
        return None;
    }
    digits.iter().try_fold(0, |n, b| b.is_ascii_digit().then(|| n * 10 + usize::from(b - b'0')))
}

impl<'t, 'c> Names<'t, 'c> {
    pub fn get(&self, key: &str) -> Option<Named<'c>> {
        let listed = number(key).and_then(|at| self.numbered.get(at).copied().flatten());
        listed.or_else(|| self.other.get(key).copied())
    }

    pub fn insert(&mut self, key: &'t str, value: Named<'c>) {
        match number(key) {
            Some(at) if at < self.numbered.len() + FARTHEST => {
                if at >= self.numbered.len() {
                    self.numbered.resize(at + 1, None);
                }
                self.numbered[at] = Some(value);
            }
            _ => drop(self.other.insert(key, value)),
        }
    }

    pub fn remove(&mut self, key: &str) {
        if let Some(slot) = number(key).and_then(|at| self.numbered.get_mut(at)) {
            *slot = None;
        }
        if !self.other.is_empty() {
            self.other.remove(key);
        }
    }

    pub fn clear(&mut self) {
        self.numbered.clear();
        self.other.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::{FARTHEST, Names};

    #[test]
    fn numbers_far_ahead_are_names_like_any() {
        let mut names = Names::default();
        let far = FARTHEST.to_string();
        let keys = ["0", "1", "01", "x", "999999999", "99999999999999999999", &far];
        for key in keys {
            assert_eq!(names.get(key), None);
            names.insert(key, None);
            assert_eq!(names.get(key), Some(None), "{key}");
        }
        // The list has grown beyond the number by now.
        let next = (FARTHEST + 1).to_string();
        names.insert(&next, None);
        for key in keys {
            names.remove(key);
            assert_eq!(names.get(key), None, "{key}");
        }
        names.clear();
        assert_eq!(names.get(&next), None);
    }
}
