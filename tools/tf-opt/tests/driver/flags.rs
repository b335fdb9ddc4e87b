//! Options that only tell something, and mistakes on the command line.

use crate::common::Place;

#[test]
fn help_and_version() {
    let place = Place::new("help");
    let help = place.ok(&["--help"]);
    assert!(help.contains("Usage: tf-opt FILE... [--pipeline=TEXT] [-o OUT]") && help.lines().count() < 62, "{help}");
    assert_eq!(place.ok(&["-V"]), format!("tf-opt {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn passes_and_ops() {
    let place = Place::new("passes");
    let list = place.ok(&["--list-passes"]);
    for name in ["emit-dot ", "evaluate ", "print ", "typeinfer ", "verify "] {
        assert!(list.lines().any(|line| line.starts_with(name)), "{name}: {list}");
    }
    let help = place.ok(&["--help-pass=evaluate"]);
    assert!(help.starts_with("evaluate (module pass)\n") && help.contains("  on=TEXT (default reference)\n"), "{help}");
    let patterns = place.ok(&["--help-pass=canonicalize"]);
    assert!(patterns.contains("\nPatterns:\n") && patterns.contains("\n  cast-to-same\n"), "{patterns}");
    assert!(patterns.lines().any(|line| line.starts_with("  ") && line.ends_with(" (fast-math)")), "{patterns}");
    let error = place.refused(&["--help-pass=nothing"]);
    assert!(error.contains("unknown pass `nothing`") && error.contains("`tf-opt-llvm`"), "{error}");
    let op = place.ok(&["--show-op=tf.reduce"]);
    assert!(op.starts_with("### `tf.reduce`\n") && op.contains("| `keepdim` | truth value | `true` |"), "{op}");
    assert!(
        op.contains("`\"mean\"` \\| `\"sum\"`") && op.contains("out[i] <- x[i, j]  for i < 4, j < 6, reduced over j"),
        "{op}"
    );
    let alias = place.ok(&["--show-op=tf.maximum"]);
    assert!(alias.starts_with("`tf.maximum` is `tf.binary` with `kind = \"max\"`.\n\n### `tf.binary`\n"), "{alias}");
    assert_eq!(place.ok(&["--show-op=rms_norm"]).matches("### ").count(), 2, "tf and T have one");
    assert_eq!(
        place.refused(&["--show-op=tf.maximun"]),
        "error: unknown op `tf.maximun`; did you mean `tf.maximum`?\n"
    );
    assert_eq!(place.refused(&["--show-op=tf.redcue"]), "error: unknown op `tf.redcue`; did you mean `tf.reduce`?\n");
}

#[test]
fn mistakes_on_the_command_line() {
    let place = Place::new("mistakes");
    assert_eq!(place.refused(&["--pipelin=a"]), "error: unknown option `--pipelin`; did you mean `--pipeline`?\n");
    assert!(place.refused(&[]).contains("no input; write a file's name"));
    assert!(place.refused(&["nowhere.py"]).contains("cannot read `nowhere.py`: "));
    assert!(place.refused(&["square.c"]).contains("the language of `square.c` is not known from its name"));
    assert!(place.refused(&["square.py", "--module=N"]).contains("`N`"));
    std::fs::write(place.path("latin.py"), b"x = '\xe4'\n").unwrap();
    assert_eq!(
        place.refused(&["latin.py"]),
        "error: `latin.py` is not UTF-8 text: byte 5 starts no character, in line 1\n"
    );
}
