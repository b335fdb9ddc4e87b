//! Which accesses read or write a set of elements: the widest that are provably aligned.

/// Bytes of the widest access.
const WIDEST: i64 = 16;

/// `width` consecutive elements from `offset` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) offset: i64,
    pub(crate) width: i64,
}

/// Covers every offset with runs, each power-of-two wide and aligned to its width.
///
/// Addresses are `term + offset` elements of a buffer that is aligned to 16 bytes; `divisor` divides the term (0: there
/// is none).
pub(crate) fn runs(offsets: &[i64], divisor: i64, bytes: i64) -> Vec<Run> {
    let mut sorted = offsets.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let mut runs = Vec::new();
    let mut at = 0;
    while at < sorted.len() {
        let offset = sorted[at];
        let fits = |width: i64| {
            let last = at + width as usize - 1;
            divisor % width == 0 && offset % width == 0 && sorted.get(last) == Some(&(offset + width - 1))
        };
        let mut width = WIDEST / bytes;
        while width > 1 && !fits(width) {
            width /= 2;
        }
        runs.push(Run { offset, width });
        at += width as usize;
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::{Run, runs};
    use proptest::prelude::{ProptestConfig, any, prop_assert, prop_assert_eq, proptest};

    #[test]
    fn widest_accesses() {
        let run = |offset, width| Run { offset, width };
        assert_eq!(runs(&[0, 1, 2, 3, 4, 5, 6, 7], 8, 2), [run(0, 8)]);
        assert_eq!(runs(&[0, 1, 2, 3, 4, 5, 6, 7], 8, 4), [run(0, 4), run(4, 4)]);
        assert_eq!(runs(&[0, 1, 2, 3], 2, 4), [run(0, 2), run(2, 2)]);
        assert_eq!(runs(&[1, 2, 3, 4], 0, 4), [run(1, 1), run(2, 2), run(4, 1)]);
        assert_eq!(runs(&[0, 128, 1, 129], 128, 4), [run(0, 2), run(128, 2)]);
        assert_eq!(runs(&[0, 0, 0], 1, 4), [run(0, 1)]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]
        #[test]
        fn every_offset_is_covered_once_and_aligned(
            seed in any::<u32>(), count in 1usize..40, spread in 1i64..80, divisor in 0i64..33, shift in 0u32..4,
        ) {
            let mut state = u64::from(seed);
            let offsets: Vec<i64> = (0..count).map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 33) as i64 % spread
            }).collect();
            let bytes = 1i64 << shift;
            let found = runs(&offsets, divisor, bytes);
            let mut covered: Vec<i64> = found.iter().flat_map(|r| r.offset..r.offset + r.width).collect();
            let mut wanted = offsets;
            wanted.sort_unstable();
            wanted.dedup();
            covered.sort_unstable();
            prop_assert_eq!(covered, wanted);
            for run in found {
                prop_assert!(run.width * bytes <= 16);
                for term in [0, divisor, 3 * divisor] {
                    prop_assert_eq!((term + run.offset) % run.width, 0);
                }
            }
        }
    }
}
