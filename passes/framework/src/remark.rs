//! Remarks: what an optimisation did, or why it did not.

use std::fmt;

use tf_core::{Diagnostic, Span};

/// What a remark tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemarkKind {
    /// The pass changed something.
    Applied,
    /// The pass would have liked to, and says what stood in the way.
    Missed,
    /// A fact that the pass found.
    Analysis,
}

impl fmt::Display for RemarkKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Applied => "applied",
            Self::Missed => "missed",
            Self::Analysis => "analysis",
        })
    }
}

/// Which remarks are wanted; none by default, so that a pass need not even make their texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RemarkFilter {
    /// [`RemarkKind::Applied`].
    pub applied: bool,
    /// [`RemarkKind::Missed`].
    pub missed: bool,
    /// [`RemarkKind::Analysis`].
    pub analysis: bool,
}

impl RemarkFilter {
    /// Remarks of every kind.
    pub const ALL: Self = Self { applied: true, missed: true, analysis: true };

    /// Whether remarks of that kind are wanted.
    #[must_use]
    pub fn wants(self, kind: RemarkKind) -> bool {
        match kind {
            RemarkKind::Applied => self.applied,
            RemarkKind::Missed => self.missed,
            RemarkKind::Analysis => self.analysis,
        }
    }

    /// The diagnostic of a wanted remark.
    pub(crate) fn remark(
        self,
        kind: RemarkKind,
        span: Option<Span>,
        text: impl FnOnce() -> String,
    ) -> Option<Diagnostic> {
        self.wants(kind).then(|| Diagnostic::remark(format!("{kind}: {}", text())).at(span))
    }
}
