//! Passes keep values: random programs are evaluated before and after, at least 2,000 in all.

mod programs;

use programs::{Check, Wanted, check, check_statements};

/// The programs of every test, more with `TF_PROGRAMS`.
fn count() -> u64 {
    std::env::var("TF_PROGRAMS").ok().and_then(|text| text.parse().ok()).unwrap_or(500)
}

fn keeps_values(pipeline: &str, wanted: Wanted) {
    let check = (0..count()).map(|seed| check(seed, pipeline, wanted)).fold(Check::default(), Check::and);
    // Most programs must have a value, and the pass something to do, or nothing is tested.
    assert!(check.compared * 2 > count() && check.changed > 0, "{check:?}");
}

const IDEMPOTENT: Wanted = Wanted { idempotent: true, projected: false, size: None };

#[test]
fn constprop_keeps_values() {
    keeps_values("constprop", IDEMPOTENT);
}

#[test]
fn canonicalize_keeps_values() {
    keeps_values("canonicalize", IDEMPOTENT);
}

#[test]
fn cse_keeps_values() {
    keeps_values("cse", IDEMPOTENT);
}

#[test]
fn dce_keeps_values() {
    keeps_values("dce", Wanted { projected: true, ..IDEMPOTENT });
}

#[test]
fn all_together_keep_values() {
    keeps_values("constprop,canonicalize,cse,dce", Wanted { projected: true, idempotent: false, size: None });
}

#[test]
fn inline_keeps_values() {
    keeps_values("inline", IDEMPOTENT);
}

#[test]
fn strip_debug_keeps_values() {
    keeps_values("strip-debug", IDEMPOTENT);
}

#[test]
fn statements_keep_the_rules() {
    for pipeline in ["constprop", "canonicalize", "cse", "dce", "strip-debug"] {
        let changed = (0..count() / 2).filter(|&seed| check_statements(seed, pipeline)).count();
        assert!(changed > 0 || pipeline == "cse", "{pipeline}");
    }
}

#[test]
fn specialize_keeps_values() {
    let wanted = Wanted { size: Some(3), ..Wanted::default() };
    let check = (0..count()).map(|seed| check(seed, "specialize{dims=S:3}", wanted)).fold(Check::default(), Check::and);
    assert!(check.compared * 10 > count() && check.changed > 0, "{check:?}");
}
