//! Passes keep values: for each of them, random programs are evaluated before and after until 2,000 values have been compared.

mod programs;

use programs::{Check, Wanted, check, check_statements, value_ops};

/// The values of every test, more with `TF_PROGRAMS`.
fn count() -> u64 {
    std::env::var("TF_PROGRAMS").ok().and_then(|text| text.parse().ok()).unwrap_or(2000)
}

/// Runs the pipeline on programs until enough values have been compared; the pass must have something to do, or nothing is tested.
fn keeps_values(pipeline: &str, wanted: Wanted) -> Check {
    let mut all = Check::default();
    for seed in 0.. {
        all.add(check(seed, pipeline, wanted));
        if all.compared >= count() {
            break;
        }
        assert!(seed < 20 * count(), "few programs have values: {all:?}");
    }
    assert!(all.changed > 0, "{all:?}");
    all
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

/// Ops whose operands must fit each other in shapes that chance does not meet.
const UNSEEN: [&str; 5] = ["tf.cache_update", "tf.conv2d", "tf.mma_sm80_16x8x16", "tf.rope", "tf.wgmma_sm90_64x128x16"];

#[test]
fn cse_keeps_values_of_programs_of_everything() {
    let seen = keeps_values("cse", IDEMPOTENT).seen;
    let wanted = value_ops().into_iter().filter(|op| !UNSEEN.contains(&op.as_str()));
    let lacking: Vec<_> = wanted
        .chain(["call", "loop", "tuple", "variant"].map(str::to_owned))
        .filter(|part| !seen.contains(part))
        .collect();
    assert!(lacking.is_empty(), "no program with a value has {lacking:?}");
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
        let changed = (0..count() / 8).filter(|&seed| check_statements(seed, pipeline)).count();
        assert!(changed > 0 || pipeline == "cse", "{pipeline}");
    }
}

#[test]
fn specialize_keeps_values() {
    let wanted = Wanted { size: Some(3), ..Wanted::default() };
    keeps_values("specialize{dims=S:3}", wanted);
}

#[test]
fn symbol_dce_keeps_values() {
    keeps_values("symbol-dce", IDEMPOTENT);
}
