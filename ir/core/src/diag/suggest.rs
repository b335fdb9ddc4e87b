//! "Did you mean" hints.

/// Nobody misspells longer names; the comparison takes time with the product of both lengths.
const LONGEST: usize = 100;

/// The candidate nearest to `word`, if one is near enough to be a likely misspelling.
pub fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > LONGEST {
        return None;
    }
    candidates
        .into_iter()
        .filter(|candidate| candidate.len() <= LONGEST)
        .map(|candidate| (strsim::jaro_winkler(word, candidate), candidate))
        .filter(|&(score, _)| score > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0).then_with(|| b.1.cmp(a.1)))
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::did_you_mean;

    #[test]
    fn nearest_name_or_none() {
        assert_eq!(did_you_mean("typinfer", ["verify", "typeinfer"]), Some("typeinfer"));
        assert_eq!(did_you_mean(&"typeinfer".repeat(1_000_000), ["typeinfer"]), None);
        assert_eq!(did_you_mean("zzz", ["verify", "typeinfer"]), None);
    }
}
