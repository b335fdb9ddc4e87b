//! Addresses of buffers and views: they stay apart, and inside.

use tf_core::op::RuleError;
use tf_core::{Expr, Literal};
use tf_types::{Storage, TensorType, separates_instances};

use crate::held::{Factor, Held, addresses};

/// Elements of one instance of a storage that are told apart one by one.
const MOST_ELEMENTS: i64 = 1 << 16;

/// Refuses a buffer of which two elements of one instance of the storage have one address. A placement without static positions has no
/// addresses to compare.
pub(super) fn apart(tensor: &TensorType<'_>) -> Result<(), RuleError> {
    let (Some(layout), Ok(held)) = (tensor.layout, Held::of(tensor)) else { return Ok(()) };
    let factors: Vec<_> = of_one_instance(tensor.storage, &held).filter(|factor| factor.extent > 1).collect();
    let is_empty = held.axes.iter().flatten().any(|factor| factor.extent == 0);
    if is_empty || is_injective(&factors) != Some(false) {
        return Ok(());
    }
    let storage = tensor.storage;
    let message = format!("several elements of a buffer in {storage} have one address under {layout}");
    Err(RuleError::new(message).with_help(match storage {
        Storage::Rmem => "give every axis that a thread holds a stride of its own".to_owned(),
        _ => format!("give every axis that threads share a stride of its own: {storage} is one for all of them"),
    }))
}

/// Refuses a view that leaves what it is a view of. Starts that are computed are checked when they are.
pub(super) fn inside(memory: Expr<'_>, coords: &[Expr<'_>], window: &TensorType<'_>) -> Result<(), RuleError> {
    let Some(buffer) = memory.ty().as_tensor().filter(|tensor| tensor.storage != Storage::Rmem) else { return Ok(()) };
    let (Ok(from), Ok(to)) = (Held::of(buffer), Held::of(window)) else { return Ok(()) };
    let (len, needed) = (addressed(&from), addressed(&to));
    let start = known_start(&from, coords);
    let what = memory.describe();
    if start < 0 {
        return Err(RuleError::new(format!("the view starts {} elements before {what}", start.unsigned_abs()))
            .operand(0, buffer.to_string())
            .with_help("starts count from the first element and are 0 or more"));
    }
    if needed == 0 || start.saturating_add(needed) <= len {
        return Ok(());
    }
    let last = start.saturating_add(needed) - 1;
    Err(RuleError::new(format!("the view reaches element {last} of {what}, which has {len} elements"))
        .operand(0, buffer.to_string())
        .with_help("its starts and strides must stay inside the buffer"))
}

/// Elements from the first to the last address in memory; 0 of no elements. A mesh coordinate moves the address by its stride, also one
/// that separates instances: there the stride is 0 unless the author wants room for all.
#[must_use]
pub fn addressed(held: &Held<'_>) -> i64 {
    let mut last = 0i64;
    for factor in held.axes.iter().flatten() {
        if factor.extent == 0 {
            return 0;
        }
        last = last.saturating_add((factor.extent - 1).saturating_mul(factor.stride));
    }
    last.saturating_add(1)
}

/// The factors that move addresses within one instance of the storage.
fn of_one_instance<'a>(storage: Storage, held: &'a Held<'_>) -> impl Iterator<Item = Factor> + 'a {
    let levels = held.mesh.and_then(|mesh| Some((mesh, mesh.axis_levels().ok()?)));
    held.axes.iter().flatten().copied().filter(move |factor| match (factor.mesh_axis, &levels) {
        (None, _) => true,
        (Some(axis), Some((mesh, levels))) => !separates_instances(storage, mesh.topologies[levels[axis]]),
        (Some(_), None) => false,
    })
}

/// Elements before the view, as far as its starts are constants.
fn known_start(memory: &Held<'_>, coords: &[Expr<'_>]) -> i64 {
    let constant = |coord: &Expr<'_>| match coord.literal() {
        Some(Literal::Int(value)) => value,
        _ => 0,
    };
    if let ([flat], true) = (coords, memory.axes.len() != 1) {
        return constant(flat);
    }
    let offset = |factors: &[Factor], coord: i64| {
        let part = |f: &Factor| (coord / f.step.max(1)).saturating_mul(f.stride);
        // The outermost factor takes all that the inner ones do not.
        let inner = factors.iter().skip(1).map(|f| (coord / f.step.max(1) % f.extent.max(1)).saturating_mul(f.stride));
        factors.first().map(part).into_iter().chain(inner).fold(0, i64::saturating_add)
    };
    let offsets = coords.iter().zip(&memory.axes).map(|(coord, factors)| offset(factors, constant(coord)));
    offsets.fold(0, i64::saturating_add)
}

/// Whether addresses are distinct; none where there are too many to tell.
fn is_injective(factors: &[Factor]) -> Option<bool> {
    let mut sorted = factors.to_vec();
    sorted.sort_by_key(|factor| factor.stride);
    let mut reached = 0i64;
    let mut nested = true;
    for factor in &sorted {
        nested &= factor.stride > reached;
        reached = reached.saturating_add((factor.extent - 1).saturating_mul(factor.stride));
    }
    if nested {
        return Some(true);
    }
    if factors.iter().any(|factor| factor.stride == 0) {
        return Some(false);
    }
    let count = factors.iter().try_fold(1i64, |count, factor| count.checked_mul(factor.extent))?;
    if count > MOST_ELEMENTS {
        return None;
    }
    let mut addresses = addresses(factors.iter().copied());
    addresses.sort_unstable();
    Some(addresses.windows(2).all(|pair| pair[0] != pair[1]))
}

#[cfg(test)]
mod tests {
    use tf_core::{Arena, Context, Expr, Literal, Meta};
    use tf_types::{DType, ShardAttr, Storage, TensorLayout, TensorType};

    use super::{apart, inside};
    use crate::test_util::{context, threads};

    fn plain<'c>(cx: &Context<'c>, extents: &[i64], strides: &[i64], storage: Storage) -> Expr<'c> {
        let layout = TensorLayout::Plain(cx.layout(cx.const_dims(extents), Some(cx.const_dims(strides))));
        let ty = cx.tensor(cx.const_dims(extents), DType::F32, Some(layout), storage);
        cx.var(cx.symbol("box"), ty, Meta::default())
    }

    fn data<'c>(expr: Expr<'c>) -> &'c TensorType<'c> {
        expr.ty().as_tensor().expect("a tensor")
    }

    #[test]
    fn views_stay_inside() {
        let arena = Arena::new();
        let cx = &context(&arena);
        let memory = plain(cx, &[8, 16], &[16, 1], Storage::Smem);
        let int = |value| cx.constant(Literal::Int(value), DType::I64, Meta::default());
        let of = |coords: &[i64], extents: &[i64], strides: &[i64]| {
            let coords: Vec<_> = coords.iter().map(|&value| int(value)).collect();
            inside(memory, &coords, data(plain(cx, extents, strides, Storage::Smem))).map_err(|error| error.message)
        };
        assert_eq!(of(&[], &[16, 8], &[1, 16]), Ok(()));
        assert_eq!(of(&[6, 12], &[2, 4], &[16, 1]), Ok(()));
        assert_eq!(of(&[108], &[2, 4], &[16, 1]), Ok(()));
        let reaches = |last| Err(format!("the view reaches element {last} of `box`, which has 128 elements"));
        assert_eq!(of(&[6, 13], &[2, 4], &[16, 1]), reaches(128));
        assert_eq!(of(&[109], &[2, 4], &[16, 1]), reaches(128));
        assert_eq!(of(&[], &[8, 16], &[17, 1]), reaches(134));
        assert_eq!(of(&[-1, 0], &[2, 4], &[16, 1]), Err("the view starts 16 elements before `box`".into()));
        assert_eq!(of(&[100, 0], &[0, 4], &[16, 1]), Ok(()), "nothing is addressed");
    }

    #[test]
    fn elements_stay_apart() {
        let arena = Arena::new();
        let cx = &context(&arena);
        let of = |extents: &[i64], strides: &[i64]| apart(data(plain(cx, extents, strides, Storage::Smem))).is_ok();
        assert!(of(&[4, 8], &[8, 1]) && of(&[4, 8], &[1, 4]) && of(&[4, 8], &[9, 1]));
        assert!(of(&[2, 3], &[3, 2]), "interleaved, but apart");
        assert!(!of(&[4, 8], &[0, 1]) && !of(&[4, 8], &[4, 1]) && !of(&[2, 3], &[4, 2]));
        assert!(of(&[4, 0, 3], &[0, 3, 1]), "no element has an address");
        let placed = |strides: &[i64], storage| {
            let layout = cx.layout(cx.const_dims(&[4, 32, 2]), Some(cx.const_dims(strides)));
            let shard = cx.shard_layout(layout, &[ShardAttr::Split(0), ShardAttr::Split(1)], threads(cx, &[4, 32]));
            let ty = cx.tensor(cx.const_dims(&[4, 64]), DType::F32, Some(TensorLayout::Shard(shard)), storage);
            apart(ty.as_tensor().expect("a tensor")).map_err(|error| error.message)
        };
        assert_eq!(placed(&[0, 0, 1], Storage::Rmem), Ok(()), "every thread has registers of its own");
        assert_eq!(placed(&[64, 2, 1], Storage::Smem), Ok(()));
        let message = placed(&[0, 0, 1], Storage::Smem).unwrap_err();
        assert!(message.starts_with("several elements of a buffer in smem have one address under "), "{message}");
        assert!(placed(&[0, 0, 0], Storage::Rmem).is_err());
    }
}
