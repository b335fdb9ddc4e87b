//! Texts read recently with what they mean: lines repeat the same few types and attributes.

/// The last texts of one kind that have been read. A text must tell where it ends, so that none is the start of another.
pub struct Recent<'t, T> {
    entries: [Option<(&'t str, T)>; SIZE],
    next: usize,
}

const SIZE: usize = 8;
/// Longer texts are rare and read anew.
const LONGEST: usize = 256;

impl<T: Copy> Default for Recent<'_, T> {
    fn default() -> Self {
        Self { entries: [None; SIZE], next: 0 }
    }
}

impl<'t, T: Copy> Recent<'t, T> {
    /// The entry that `rest` starts with and `accept` admits.
    pub fn find(&self, rest: &str, accept: impl Fn(T) -> bool) -> Option<(&'t str, T)> {
        let starts = |(text, value): &(&str, T)| rest.as_bytes().starts_with(text.as_bytes()) && accept(*value);
        self.entries.iter().flatten().find(|entry| starts(entry)).copied()
    }

    /// Remembers a text in the place of the oldest one.
    pub fn put(&mut self, text: &'t str, value: T) {
        // Columns count characters of one line.
        if text.len() <= LONGEST && text.bytes().all(|b| b.is_ascii() && b != b'\n') {
            self.entries[self.next] = Some((text, value));
            self.next = (self.next + 1) % SIZE;
        }
    }
}
