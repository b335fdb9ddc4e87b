//! Commands that messages show.

/// A word as a shell reads it: as it is where nothing in it is special, else in quotes.
#[must_use]
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_./:=,@%+-".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn a_shell_reads_words_back() {
        for word in ["k.tfir", "--pipeline=a,b", "two words", "it's", "", "a{x=1}", "$HOME", "\u{e9}t\u{e9}.py"] {
            let run = std::process::Command::new("sh").arg("-c").arg(format!("printf %s {}", quoted(word))).output();
            assert_eq!(String::from_utf8(run.unwrap().stdout).unwrap(), word);
        }
        assert_eq!([quoted("a/b.tfir"), quoted("a b")], ["a/b.tfir", "'a b'"]);
    }
}
