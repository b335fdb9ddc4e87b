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
        .map(|candidate| (likeness(word, candidate), candidate))
        .filter(|&(score, _)| score > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0).then_with(|| b.1.cmp(a.1)))
        .map(|(_, candidate)| candidate)
}

/// How alike two words are, from 0 to 1. Two neighbours that are swapped make short words too unlike otherwise.
fn likeness(word: &str, candidate: &str) -> f64 {
    const SWAPPED: f64 = 0.9;
    let like = strsim::jaro_winkler(word, candidate);
    if is_swapped(word.as_bytes(), candidate.as_bytes()) { like.max(SWAPPED) } else { like }
}

/// Whether two words differ in the order of two neighbours only.
fn is_swapped(a: &[u8], b: &[u8]) -> bool {
    let Some(at) = a.iter().zip(b).position(|(a, b)| a != b) else { return false };
    let ([a, c, rest_a @ ..], [b, d, rest_b @ ..]) = (&a[at..], &b[at..]) else { return false };
    a == d && c == b && rest_a == rest_b
}

#[cfg(test)]
mod tests {
    use super::did_you_mean;

    #[test]
    fn nearest_name_or_none() {
        assert_eq!(did_you_mean("typinfer", ["verify", "typeinfer"]), Some("typeinfer"));
        assert_eq!(did_you_mean(&"typeinfer".repeat(1_000_000), ["typeinfer"]), None);
        assert_eq!(did_you_mean("dls", ["dsl", "ir"]), Some("dsl"));
        assert_eq!(did_you_mean("dls", ["dal", "ds"]), None);
        assert_eq!(did_you_mean("zzz", ["verify", "typeinfer"]), None);
    }
}
