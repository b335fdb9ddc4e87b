//! Whether places of messages are in their files.

use tf_core::{Context, Span};

/// Whether a span is in its file, from its start to its end. The end of a line is a place of one column behind its last character.
#[must_use]
pub fn is_inside(cx: &Context<'_>, span: Span) -> bool {
    let file = cx.sources().file(span.file);
    let text = file.text.as_deref().unwrap_or_default();
    let is_place = |(line, column): (u32, u32), behind: u32| {
        let line = line.checked_sub(1).and_then(|line| text.split('\n').nth(line as usize));
        line.is_some_and(|line| (1..=line.chars().count() as u32 + behind).contains(&column))
    };
    let (start, end) = ((span.line.get(), span.column), (span.end_line, span.end_column));
    is_place(start, 1) && is_place(end, 2) && start <= end
}
