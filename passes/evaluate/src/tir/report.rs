//! What a run is refused for.

use tf_core::{Diagnostic, Span};
use tf_tir::held::Factor;

use super::code::Allocated;
use super::memory::{Fault, FaultKind, Memory};
use super::sets::Access;

/// Elements that are looked through for the coordinates of an address.
const MOST_ELEMENTS: i64 = 1 << 22;

/// How messages call positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// A host function.
    Host,
    /// A thread of a kernel with that many threads in a CTA.
    Device { threads: u32 },
}

impl Who {
    /// The position of that number.
    pub fn name(self, number: u32) -> String {
        match self {
            Self::Host => "the host".to_owned(),
            Self::Device { threads } => format!("thread {} of block {}", number % threads, number / threads),
        }
    }
}

/// Threads as intervals: `0 to 31, 40`.
pub fn intervals(threads: &[u32]) -> String {
    let mut parts: Vec<(u32, u32)> = Vec::new();
    for &thread in threads {
        match parts.last_mut() {
            Some((_, last)) if *last + 1 == thread => *last = thread,
            _ => parts.push((thread, thread)),
        }
    }
    let text =
        |(first, last): &(u32, u32)| if first == last { first.to_string() } else { format!("{first} to {last}") };
    parts.iter().map(text).collect::<Vec<_>>().join(", ")
}

/// The element of a memory, by its coordinates where it has some.
pub fn element(what: &Allocated, address: i64) -> String {
    let name = &what.name;
    match coordinates(&what.axes, address) {
        Some(coords) if coords.is_empty() => name.clone(),
        Some(coords) => format!("element {coords:?} of {name}"),
        None => format!("element {address} of {name}"),
    }
}

/// The coordinates of the element that lies there.
fn coordinates(axes: &[Vec<Factor>], address: i64) -> Option<Vec<i64>> {
    let factors: Vec<_> = axes.iter().enumerate().flat_map(|(axis, f)| f.iter().map(move |f| (axis, *f))).collect();
    let count = factors.iter().try_fold(1i64, |count, (_, f)| count.checked_mul(f.extent))?;
    let value = |index: i64, at: usize| {
        let inner: i64 = factors[at + 1..].iter().map(|(_, f)| f.extent).product();
        index / inner.max(1) % factors[at].1.extent.max(1)
    };
    let addressed = |index: i64| (0..factors.len()).map(|at| value(index, at) * factors[at].1.stride).sum::<i64>();
    // In C-order the address is the index.
    let candidates = std::iter::once(address).chain(0..count.min(MOST_ELEMENTS));
    let found = candidates.into_iter().find(|&index| (0..count).contains(&index) && addressed(index) == address)?;
    let mut coords = vec![0; axes.len()];
    (0..factors.len()).for_each(|at| coords[factors[at].0] += value(found, at) * factors[at].1.step);
    Some(coords)
}

/// A refused access of a position.
pub fn fault(
    memory: &Memory,
    fault: &Fault,
    who: Who,
    number: u32,
    span: Option<Span>,
    spans: &[Option<Span>],
) -> Diagnostic {
    let (what, me) = (memory.what(fault.block), who.name(number));
    let place = element(what, fault.element);
    let error = |message: String| Diagnostic::error(message).at(span);
    let other = |access: &Access| (spans.get(access.site as usize).copied().flatten(), who.name(access.who));
    match &fault.kind {
        FaultKind::Outside => {
            let (name, len) = (&what.name, what.len);
            error(format!("{me} accesses element {} of {name}, which has {len} elements", fault.element))
                .with_note(what.span, format!("{name} is allocated here"))
                .with_help("views and their starts must stay inside the memory")
        }
        FaultKind::Empty => error(format!("{me} reads {place}, which holds nothing yet"))
            .with_note(what.span, format!("{} holds nothing before it is written", what.name))
            .with_help("write it before; an input needs a tensor"),
        FaultKind::ReadOfWrite(access) if access.later => {
            let (at, they) = other(access);
            error(format!("{me} reads {place}, which {they} still copies asynchronously"))
                .with_note(at, "the copy is started here")
                .with_help(
                    "wait for its group by `T.cp_async_wait` before, and synchronise where other threads read it",
                )
        }
        FaultKind::ReadOfWrite(access) => {
            let (at, they) = other(access);
            error(format!("{me} reads {place}, which {they} writes with no barrier between"))
                .with_note(at, format!("{they} writes it here"))
                .with_help(separate(who, number, access))
        }
        FaultKind::WriteOfWrite(access) => {
            let (at, they) = other(access);
            error(format!("{me} writes {place}, to which {they} writes another value with no barrier between"))
                .with_note(at, format!("{they} writes it here"))
                .with_help(separate(who, number, access))
        }
        FaultKind::WrittenAtOnce(access) => {
            let they = who.name(access.who);
            error(format!("{me} writes {place}, to which {they} writes another value in the same statement")).with_help(
                "give each thread elements of its own, by the layout or the start of the view, or let one thread write",
            )
        }
        FaultKind::WriteOfRead(access) => {
            let (at, they) = other(access);
            error(format!("{me} writes {place}, which {they} reads with no barrier between"))
                .with_note(at, format!("{they} reads it here"))
                .with_help(separate(who, number, access))
        }
    }
}

/// What puts two accesses in order.
fn separate(who: Who, number: u32, other: &Access) -> &'static str {
    match who {
        Who::Device { threads } if other.who / threads != number / threads => {
            "blocks meet at a barrier of the whole grid only, or at the end of the kernel"
        }
        _ => "put a `T.sync` that both take part in between the two accesses",
    }
}

#[cfg(test)]
mod tests {
    use super::{Who, intervals};

    #[test]
    fn names() {
        assert_eq!(Who::Device { threads: 32 }.name(69), "thread 5 of block 2");
        assert_eq!(intervals(&[0, 1, 2, 5, 7, 8]), "0 to 2, 5, 7 to 8");
    }
}
