//! The little that is read from PTX text: its target and its kernels' names.

/// Lines without `//` comments.
fn code(ptx: &str) -> impl Iterator<Item = &str> {
    ptx.lines().map(|line| line.split("//").next().unwrap_or(line).trim())
}

/// The architecture of the `.target` directive.
pub(crate) fn target(ptx: &str) -> Option<&str> {
    code(ptx).find_map(|line| line.strip_prefix(".target")).and_then(|rest| rest.split(',').next()).map(str::trim)
}

/// A kernel as the PTX declares it.
pub(crate) struct Declared {
    pub(crate) name: String,
    /// The declaration of each parameter, as `.param .u64 x`.
    pub(crate) parameters: Vec<String>,
}

/// All `.entry` directives, in order.
pub(crate) fn entries(ptx: &str) -> Vec<Declared> {
    let text = code(ptx).collect::<Vec<_>>().join(" ");
    text.split(".entry")
        .skip(1)
        .map(|rest| {
            let head = rest.split('{').next().unwrap_or(rest);
            let (name, list) = head.split_once('(').unwrap_or((head, ""));
            let list = list.split(')').next().unwrap_or(list);
            let name = name.split_whitespace().next().unwrap_or_default().to_owned();
            let parameters = list.split(',').map(|one| one.trim().to_owned()).filter(|one| !one.is_empty()).collect();
            Declared { name, parameters }
        })
        .collect()
}

/// Whether a parameter's declaration takes a device address: one 64-bit number.
pub(crate) fn is_address(parameter: &str) -> bool {
    let mut words = parameter.split_whitespace();
    words.next() == Some(".param")
        && words.any(|word| [".u64", ".b64", ".s64"].contains(&word))
        && !parameter.contains('[')
}
