//! Loops compiled for the vector units of the processor that runs them.

/// Runs `f`, which is compiled for several sets of vector instructions; the best one of this processor is chosen here. Rust code only becomes
/// part of that where it is inlined: no calls through pointers, no mathematics library.
#[inline(always)]
pub(crate) fn vectorized<R>(f: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(f)
}
