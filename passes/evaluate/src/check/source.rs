//! Where the inputs of a check come from.

use std::fmt;

/// How many sets of inputs are made up unless told: one of each flavour.
const SAMPLES: usize = super::Flavour::ALL.len();

/// What programs are evaluated on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckInputs {
    /// That many sets, made up.
    Generated(usize),
    /// The tensors of a file; those that it lacks are made up.
    File {
        /// A tensor file or folder.
        path: String,
        /// What stands before a parameter's name in the file.
        prefix: String,
    },
}

impl CheckInputs {
    /// A number of sets, else the name of a file, with `{prefix=P}` after it where names in the file begin with `P`; without a text the
    /// usual number.
    ///
    /// # Errors
    /// What was expected.
    pub fn parse(text: Option<&str>) -> Result<Self, String> {
        match text {
            None => Ok(Self::Generated(SAMPLES)),
            Some("") => Err("a number of generated inputs from 1, or a tensor file".to_owned()),
            Some(text) if text.bytes().all(|byte| byte.is_ascii_digit()) => match text.parse() {
                Ok(count @ 1..=10_000) => Ok(Self::Generated(count)),
                _ => Err("a number of generated inputs from 1 to 10000, or a tensor file".to_owned()),
            },
            Some(text) => {
                let (path, options) = match text.strip_suffix('}').and_then(|text| text.rsplit_once('{')) {
                    Some((path, options)) => (path, Some(options)),
                    None => (text, None),
                };
                let prefix = options.map(|options| options.strip_prefix("prefix="));
                match prefix {
                    Some(None) => Err("a tensor file, as FILE or FILE{prefix=P}".to_owned()),
                    _ if path.is_empty() => Err("a tensor file before `{`".to_owned()),
                    prefix => Ok(Self::File {
                        path: path.to_owned(),
                        prefix: prefix.flatten().unwrap_or_default().to_owned(),
                    }),
                }
            }
        }
    }
}

impl fmt::Display for CheckInputs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Generated(count) => write!(f, "{count}"),
            Self::File { path, prefix } if prefix.is_empty() => f.write_str(path),
            Self::File { path, prefix } => write!(f, "{path}{{prefix={prefix}}}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::CheckInputs;

    #[test]
    fn texts_are_read_and_shown() {
        let parse = |text| CheckInputs::parse(Some(text));
        for text in ["1", "10000", "x.npz", "cases.safetensors{prefix=case3.}"] {
            assert_eq!(parse(text).unwrap().to_string(), text);
        }
        assert_eq!(CheckInputs::parse(None), Ok(CheckInputs::Generated(6)));
        assert_eq!(parse("f{prefix=p}"), Ok(CheckInputs::File { path: "f".to_owned(), prefix: "p".to_owned() }));
        for (text, expected) in [
            ("", "a number of generated inputs from 1, or a tensor file"),
            ("0", "a number of generated inputs from 1 to 10000, or a tensor file"),
            ("f{prefx=p}", "a tensor file, as FILE or FILE{prefix=P}"),
            ("{prefix=p}", "a tensor file before `{`"),
        ] {
            assert_eq!(parse(text).unwrap_err(), expected);
        }
    }
}
