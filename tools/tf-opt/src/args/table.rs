//! Every option once: help, hints, completions and the documentation derive from this table.

use crate::options::{OptionRow, Takes, row};

/// Groups in the order of `--help`.
pub const GROUPS: &[(&str, &[OptionRow])] = &[
    (
        "Input",
        &[
            row("input", Takes::Words(&["dsl", "tfir"]), "the language of the input, whatever its name"),
            row("module", Takes::Value("NAME"), "the module of a .py file; default: the only one, else the last"),
            row("split-input-file", Takes::Flag, "each part between lines `// -----` or `# -----` on its own"),
        ],
    ),
    (
        "Pipeline",
        &[
            row("pipeline", Takes::Value("TEXT"), "as a,b{opt=1 flag},func(c,d); without one: parse, verify, print"),
            row("pipeline-file", Takes::Path("FILE"), "the pipeline is the text of this file"),
            row("load-pass-plugin", Takes::Path("LIB"), "passes, ops and pipelines of a shared library; repeatable"),
            row("list-passes", Takes::Nothing, "all passes and named pipelines"),
            row("help-pass", Takes::Pass("NAME"), "what a pass does, its options and statistics"),
            row("show-op", Takes::Value("NAME"), "an op's parameters and documentation, as tf.reduce"),
            row("dump-pipeline", Takes::Nothing, "print the pipeline with named ones expanded, and stop"),
            row("threads", Takes::Value("N"), "threads for passes over functions; default: one a core"),
        ],
    ),
    (
        "Output",
        &[
            row("output", Takes::Path("OUT"), "-o OUT: the last artifact, or the IR; a folder: one file each input"),
            row("print-locations", Takes::Flag, "with the source locations in textual IR"),
            row("color", Takes::Words(&["auto", "always", "never"]), "colour of diagnostics; NO_COLOR=1 is never"),
            row("diagnostics", Takes::Words(&["text", "json"]), "form of diagnostics; json is one object a line"),
            row("remarks", Takes::Maybe(REMARKS), "what passes did, or why they did not; several with commas"),
            row("remarks-from", Takes::Pass("A,B"), "only remarks of these passes"),
        ],
    ),
    (
        "Looking inside",
        &[
            row("print-ir-before", Takes::Pass("A,B"), "IR before these passes or named pipelines, on stderr"),
            row("print-ir-before-all", Takes::Flag, "IR before every pass"),
            row("print-ir-after", Takes::Pass("A,B"), "IR after these passes or named pipelines"),
            row("print-ir-after-all", Takes::Flag, "IR after every pass"),
            row("print-ir-after-change", Takes::Flag, "only where the pass changed the text"),
            row("print-ir-function", Takes::Value("F,G"), "only these functions"),
            row("print-ir-diff", Takes::Flag, "after a pass, what differs from before"),
            row("print-ir-tree-dir", Takes::Path("DIR"), "a file of IR for each pass"),
            row("timing", Takes::Maybe(&["tree", "flat", "json"]), "where the time went"),
            row("stats", Takes::Flag, "what passes counted"),
            row("trace", Takes::Path("FILE"), "spans as a Chrome trace"),
            row("trace-html", Takes::Path("FILE"), "a page that steps through the passes"),
        ],
    ),
    (
        "Checking",
        &[
            row("verify-each", Takes::Flag, "=false: do not check the IR between passes"),
            row(
                "check-each",
                Takes::MaybeValue("INPUTS"),
                "passes keep the values: on INPUTS generated sets of inputs (6), or those of a file",
            ),
            row(
                "pass-time-limit",
                Takes::Value("SECS"),
                "a pass that takes longer ends the run, as one that fails: with a reproducer",
            ),
            row("verify-roundtrip", Takes::Flag, "the final IR prints and parses back to the same text"),
            row(
                "verify-diagnostics",
                Takes::Flag,
                "diagnostics are those that `expected-error@+1 {{…}}` states; -re: {{…}} in it",
            ),
            row("reproducer", Takes::Path("FILE"), "when a pass fails or crashes: the IR before it, and how to run it"),
            row("run-reproducer", Takes::Path("FILE"), "run such a file"),
        ],
    ),
    (
        "About",
        &[
            row("emit-docs", Takes::Path("DIR"), "write the pages of all passes and of all ops"),
            row(
                "emit-stubs",
                Takes::Path("DIR"),
                "write .pyi files of the Python syntax, for type checkers and editors",
            ),
            row("completions", Takes::Words(&["bash", "zsh", "fish"]), "a completion script for that shell"),
            row("help", Takes::Nothing, "-h: this text"),
            row("version", Takes::Nothing, "-V: versions and targets"),
        ],
    ),
];

/// The words of `--remarks`.
pub const REMARKS: &[&str] = &["all", "applied", "missed", "analysis"];

/// All options.
pub fn rows() -> impl Iterator<Item = &'static OptionRow> {
    GROUPS.iter().flat_map(|(_, rows)| rows.iter())
}
