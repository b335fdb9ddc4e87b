//! Differences of two texts.

use similar::{ChangeTag, TextDiff};

/// A unified diff with three lines of context; empty if the texts are equal.
pub(super) fn unified(before: &str, after: &str) -> String {
    TextDiff::from_lines(before, after).unified_diff().context_radius(3).missing_newline_hint(false).to_string()
}

/// Every line with its mark: `' '`, `'-'` or `'+'`.
pub(super) fn lines<'t>(before: &'t str, after: &'t str) -> Vec<(char, &'t str)> {
    let diff = TextDiff::from_lines(before, after);
    let marked = diff.iter_all_changes().map(|change| {
        let mark = match change.tag() {
            ChangeTag::Equal => ' ',
            ChangeTag::Delete => '-',
            ChangeTag::Insert => '+',
        };
        (mark, change.value().trim_end_matches('\n'))
    });
    marked.collect()
}

#[cfg(test)]
mod tests {
    use super::{lines, unified};

    #[test]
    fn changed_lines_are_marked() {
        assert_eq!(unified("a\nb\n", "a\nc\n"), "@@ -1,2 +1,2 @@\n a\n-b\n+c\n");
        assert_eq!(unified("a\n", "a\n"), "");
        assert_eq!(lines("a\nb\n", "a\nc\n"), [(' ', "a"), ('-', "b"), ('+', "c")]);
    }
}
