//! What both sides must have in common.

/// How this crate was built: lines `name: value`.
pub const BUILD: &str = concat!(
    "compiler: ",
    env!("TF_COMPILER"),
    "\nprofile: ",
    env!("TF_PROFILE"),
    "\ntilefoundry: ",
    env!("CARGO_PKG_VERSION"),
    ", sources ",
    env!("TF_SOURCES"),
);

fn fields(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.lines().filter_map(|line| line.split_once(": "))
}

/// What differs, one line each; names that only one side has are none of the other's business.
pub(crate) fn differences(ours: &str, theirs: &str) -> Vec<String> {
    let other = |name: &str| fields(theirs).find(|(other, _)| *other == name).map(|(_, value)| value);
    fields(ours)
        .filter_map(|(name, here)| match other(name) {
            Some(there) if there != here => Some(format!("{name}: {here} here, {there} in the plugin")),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{BUILD, differences};

    #[test]
    fn what_differs_is_named() {
        let there = "compiler: 1.94\nhalf: 2.7.1\nlog: 1.0";
        let found = differences("compiler: 1.95\nhalf: 2.7.1\nproptest: 1.9", there);
        assert_eq!(found, ["compiler: 1.95 here, 1.94 in the plugin"]);
        assert!(differences(BUILD, BUILD).is_empty() && BUILD.lines().count() == 3, "{BUILD}");
    }
}
