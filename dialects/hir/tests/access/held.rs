//! What each position of a mesh holds of a placed tensor, element by element.

use tf_types::{ShardAttr, ShardLayout};

use crate::draw::Draw;

/// The extents of the mesh.
pub fn extents(shard: ShardLayout<'_>) -> Vec<usize> {
    shard.mesh.extents().iter().map(|extent| extent.as_const().unwrap() as usize).collect()
}

/// The coordinates of all positions.
pub fn positions(mesh: &[usize]) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for &extent in mesh {
        all = all.iter().flat_map(|before| (0..extent).map(|at| [&before[..], &[at]].concat())).collect();
    }
    all
}

/// The tensor axis of each axis of the layout.
pub fn axes(layout: &[usize], shape: &[usize]) -> Vec<usize> {
    let mut map = Vec::new();
    for (axis, &extent) in shape.iter().enumerate() {
        let mut held = 1;
        while map.len() < layout.len() {
            held *= layout[map.len()];
            map.push(axis);
            if held >= extent {
                break;
            }
        }
    }
    map.resize(layout.len(), shape.len().saturating_sub(1));
    map
}

/// Whether the position holds each element; `skip` leaves out what a mesh axis splits.
pub fn owned(shard: ShardLayout<'_>, shape: &[usize], at: &[usize], skip: impl Fn(usize) -> bool) -> Vec<bool> {
    let mesh = extents(shard);
    let layout: Vec<_> = shard.layout.shape().iter().map(|extent| extent.as_const().unwrap() as usize).collect();
    let map = axes(&layout, shape);
    let holds = |number: usize| {
        let mut index = vec![0; shape.len()];
        let mut rest = number;
        for axis in (0..shape.len()).rev() {
            index[axis] = rest % shape[axis];
            rest /= shape[axis];
        }
        (0..layout.len()).rev().all(|place| {
            if shape.is_empty() {
                return true;
            }
            let digit = index[map[place]] % layout[place];
            index[map[place]] /= layout[place];
            // Mesh axes that split one axis of the layout cut it in mesh order, the first one outermost.
            let splitters: Vec<_> =
                (0..mesh.len()).filter(|&axis| shard.attrs[axis] == ShardAttr::Split(place as u32)).collect();
            let parts: usize = splitters.iter().map(|&axis| mesh[axis]).product();
            let mut part = digit / (layout[place] / parts);
            splitters.into_iter().rev().all(|axis| {
                let coordinate = part % mesh[axis];
                part /= mesh[axis];
                skip(axis) || coordinate == at[axis]
            })
        })
    };
    (0..shape.iter().product()).map(holds).collect()
}

/// Terms of `value`, one for each of `count` positions.
pub fn terms(value: f64, reduction: &str, count: usize, draw: &mut Draw) -> Vec<f64> {
    let mut quarters = |sign: f64| sign * draw.below(6) as f64 / 4.0;
    let mut terms: Vec<f64> = match reduction {
        "sum" => (1..count).map(|_| quarters(1.0) - quarters(1.0)).collect(),
        "max" => (1..count).map(|_| value - quarters(1.0)).collect(),
        _ => (1..count).map(|_| value + quarters(1.0)).collect(),
    };
    let rest = if reduction == "sum" { value - terms.iter().sum::<f64>() } else { value };
    let at = draw.below(count);
    terms.insert(at, rest);
    terms
}

/// What the reduction makes of terms.
pub fn combined(terms: &[f64], reduction: &str) -> f64 {
    match reduction {
        "sum" => terms.iter().sum(),
        "max" => terms.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        _ => terms.iter().copied().fold(f64::INFINITY, f64::min),
    }
}
