//! Passes keep values: random programs are evaluated before and after.

mod programs;

use programs::{Check, check};

/// The programs of every test, more with `TF_PROGRAMS`.
fn count() -> u64 {
    std::env::var("TF_PROGRAMS").ok().and_then(|text| text.parse().ok()).unwrap_or(400)
}

fn keeps_values(pipeline: &str) -> Check {
    let check = (0..count()).map(|seed| check(seed, pipeline)).fold(Check::default(), Check::and);
    // Most programs must have a value, and the pass something to do, or nothing is tested.
    assert!(check.compared * 2 > count() && check.changed > 0, "{check:?}");
    check
}

#[test]
fn constprop_keeps_values() {
    keeps_values("constprop");
}
