//! The little that is read from PTX text: its target and its kernels' names.

/// Lines without `//` comments.
fn code(ptx: &str) -> impl Iterator<Item = &str> {
    ptx.lines().map(|line| line.split("//").next().unwrap_or(line).trim())
}

/// The architecture of the `.target` directive.
pub(crate) fn target(ptx: &str) -> Option<&str> {
    code(ptx).find_map(|line| line.strip_prefix(".target")).and_then(|rest| rest.split(',').next()).map(str::trim)
}

/// The names of all `.entry` directives, in order.
pub(crate) fn entries(ptx: &str) -> Vec<&str> {
    code(ptx)
        .filter_map(|line| line.split_once(".entry"))
        .map(|(_, rest)| {
            let rest = rest.trim_start();
            &rest[..rest.find(|c: char| c == '(' || c.is_whitespace()).unwrap_or(rest.len())]
        })
        .collect()
}
