//! Texts that are nearly right: some of their tokens and lines are missing, doubled, swapped, wrong, or of another text.

use crate::Rng;

/// Edits of one text, at most.
const EDITS: usize = 4;
/// Tokens or lines that one edit takes, at most.
const RUN: usize = 6;
/// How often a token is doubled to nest something deeply.
const DEEP: usize = 300;
/// What stands for a number, or for any other token.
const ODD: [&str; 10] =
    ["0", "-1", "9223372036854775807", "9223372036854775808", "1e999", "0.5", "\u{e9}", "\0", "\u{202e}", "\u{feff}"];

/// Makes wrong texts out of right ones.
pub struct Mutator<'a> {
    texts: Vec<Vec<&'a str>>,
    pieces: &'a [&'a str],
}

impl<'a> Mutator<'a> {
    /// Of texts that are not empty, and `pieces`, which change the meaning of what is around them.
    #[must_use]
    pub fn new(texts: &'a [String], pieces: &'a [&'a str]) -> Self {
        let texts = texts.iter().map(|text| tokens(text)).filter(|tokens| !tokens.is_empty()).collect();
        Self { texts, pieces }
    }

    /// One of the texts, with some edits.
    pub fn text(&self, rng: &mut Rng) -> String {
        let mut text = self.any(rng).clone();
        // One edit leaves a text right more often than several.
        let edits = if rng.once_in(2) { 1 } else { 1 + rng.below(EDITS) };
        for _ in 0..edits {
            match rng.below(8) {
                0..3 => self.edit_lines(&mut text, rng),
                3 => self.splice(&mut text, rng),
                _ => self.edit(&mut text, rng),
            }
        }
        let mut bytes = text.concat().into_bytes();
        if rng.once_in(16) && !bytes.is_empty() {
            let at = rng.below(bytes.len());
            bytes[at] = rng.next_u64() as u8;
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn any(&self, rng: &mut Rng) -> &Vec<&'a str> {
        &self.texts[rng.below(self.texts.len())]
    }

    fn edit(&self, text: &mut Vec<&'a str>, rng: &mut Rng) {
        let Some(at) = place(text, rng) else { return };
        let end = (at + 1 + rng.below(RUN)).min(text.len());
        match rng.below(10) {
            0 | 1 => drop(text.drain(at..end)),
            2 => {
                let part = text[at..end].to_vec();
                insert(text, at, &part);
            }
            3 => {
                let to = rng.below(text.len());
                text.swap(at, to);
            }
            4 | 5 => text.insert(at, rng.pick(self.pieces)),
            6 => text[at] = rng.pick(&ODD),
            7 => {
                let other = self.any(rng);
                text[at] = rng.pick(other);
            }
            8 if rng.once_in(8) => {
                let many = vec![text[at]; DEEP];
                insert(text, at, &many);
            }
            8 => text[at] = &text[at][..text[at].char_indices().last().map_or(0, |(last, _)| last)],
            _ => text[at] = rng.pick(text),
        }
    }

    /// The same with lines, which are more often right afterwards.
    fn edit_lines(&self, text: &mut Vec<&'a str>, rng: &mut Rng) {
        let Some(at) = place(text, rng) else { return };
        let (start, end) = lines(text, at, 1 + rng.below(RUN));
        let part: Vec<_> = match rng.below(3) {
            0 => text.drain(start..end).collect(),
            1 => text[start..end].to_vec(),
            _ => {
                let other = self.any(rng);
                let (start, end) = lines(other, rng.below(other.len()), 1 + rng.below(RUN));
                other[start..end].to_vec()
            }
        };
        if rng.once_in(3) {
            return;
        }
        let Some(to) = place(text, rng) else { return };
        let (to, _) = lines(text, to, 1);
        insert(text, to, &part);
    }

    /// Goes on with another text from some token on.
    fn splice(&self, text: &mut Vec<&'a str>, rng: &mut Rng) {
        let Some(at) = place(text, rng) else { return };
        let other = self.any(rng);
        let from = rng.below(other.len());
        text.truncate(at);
        text.extend(&other[from..]);
    }
}

fn place(text: &[&str], rng: &mut Rng) -> Option<usize> {
    (!text.is_empty()).then(|| rng.below(text.len()))
}

fn insert<'a>(text: &mut Vec<&'a str>, at: usize, part: &[&'a str]) {
    text.splice(at..at, part.iter().copied());
}

/// The tokens of so many lines, from that of token `at` on.
fn lines(text: &[&str], at: usize, count: usize) -> (usize, usize) {
    let start = text[..at].iter().rposition(|token| *token == "\n").map_or(0, |end| end + 1);
    let ends = text.iter().enumerate().skip(at).filter(|(_, token)| **token == "\n").map(|(end, _)| end + 1);
    (start, ends.take(count).last().unwrap_or(text.len()))
}

/// Words with their numbers, runs of blanks, strings of one line, and single characters.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let run = |holds: fn(char) -> bool| rest.find(|c| !holds(c)).unwrap_or(rest.len());
        let length = match first {
            ' ' => run(|c| c == ' '),
            '"' | '\'' => {
                let line = rest[1..].find([first, '\n']).map(|end| end + 1);
                line.filter(|&end| rest[end..].starts_with(first)).map_or(1, |end| end + 1)
            }
            _ if is_word(first) => run(is_word),
            _ => first.len_utf8(),
        };
        let (token, after) = rest.split_at(length);
        tokens.push(token);
        rest = after;
    }
    tokens
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::{Mutator, tokens};
    use crate::Rng;

    #[test]
    fn tokens_are_the_text() {
        let text = "def f(x):\n    return x_1 + 'a b' - \"\u{e9}\n";
        assert_eq!(tokens(text).concat(), text);
        assert_eq!(tokens("x_1 = 'a b'"), ["x_1", " ", "=", " ", "'a b'"]);
    }

    #[test]
    fn texts_differ_by_seed_only() {
        let texts = ["a = 1\nb = 2\n".to_owned(), "f(x, y)\n".to_owned()];
        let mutator = Mutator::new(&texts, &["("]);
        let of = |seed| mutator.text(&mut Rng::new(seed));
        assert!((0..50).all(|seed| of(seed) == of(seed)));
        let all: std::collections::HashSet<_> = (0..200).map(of).collect();
        assert!(all.len() > 100, "{}", all.len());
    }
}
