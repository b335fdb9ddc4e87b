//! Where the elements of a placed tensor are, as numbers of one run.

use tf_target::mma::Fragment;
use tf_tir::held::{self, Held};
use tf_types::{Dim, Mesh, MeshLayout, ShardAttr, ShardLayout, Symbol, TensorType, layout_axis_to_tensor_axis};
use tf_value::extent;

use crate::dims::DimSizes;
use crate::mesh::digit::Digit;

/// A part of a logical axis, outer ones first: so many neighbours, dealt out along a digit or held by everyone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Factor {
    pub extent: usize,
    pub digit: Option<Digit>,
}

/// How a logical axis is dealt out; empty: every position has all of it. Equal ways are equal lists.
pub type Cut = Vec<Factor>;

/// What the positions along a mesh axis hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds<'c> {
    /// Slices.
    Slices,
    /// The same.
    Same,
    /// Terms of this reduction.
    Terms(Symbol<'c>),
}

/// An axis of the mesh that has more than one position.
#[derive(Clone, Copy, Debug)]
pub struct MeshAxis<'c> {
    pub digit: Digit,
    pub holds: Holds<'c>,
    mesh: Mesh<'c>,
    axis: usize,
}

impl MeshAxis<'_> {
    pub fn name(&self) -> String {
        self.mesh.axis_name(self.axis)
    }
}

/// The placement of a tensor type in a run.
#[derive(Clone, Debug)]
pub struct Placed<'c> {
    /// The logical shape.
    pub shape: Vec<usize>,
    /// One an axis.
    pub cuts: Vec<Cut>,
    /// None of an unplaced tensor.
    pub mesh: Vec<MeshAxis<'c>>,
}

/// The hardware levels that meshes name, outermost first, and the digits of all meshes that occurred.
pub struct Levels<'c> {
    names: Vec<Symbol<'c>>,
    /// With the name of the first mesh axis that has it.
    pub seen: Vec<(Digit, String)>,
}

type Refused = String;

fn size<'c>(dim: Dim<'c>, dims: &DimSizes<'c>) -> Result<usize, Refused> {
    let value = extent(dim, dims).map_err(|error| error.message)?;
    usize::try_from(value).map_err(|_| format!("an extent is not negative, found {value}"))
}

fn sizes<'c>(dims: &[Dim<'c>], known: &DimSizes<'c>) -> Result<Vec<usize>, Refused> {
    dims.iter().map(|&dim| size(dim, known)).collect()
}

impl<'c> Levels<'c> {
    /// Those that a module declares.
    pub fn new(names: impl IntoIterator<Item = Symbol<'c>>) -> Self {
        Self { names: names.into_iter().collect(), seen: Vec::new() }
    }

    fn index(&mut self, name: Symbol<'c>) -> usize {
        self.names.iter().position(|known| *known == name).unwrap_or_else(|| {
            self.names.push(name);
            self.names.len() - 1
        })
    }

    /// The digit of every axis of a mesh.
    fn digits(&mut self, mesh: Mesh<'c>, dims: &DimSizes<'c>) -> Result<Vec<Digit>, Refused> {
        let levels = mesh.axis_levels().map_err(|error| error.message)?;
        let extents = sizes(mesh.extents(), dims)?;
        let Some(strides) = mesh.strides() else { return Err(format!("the strides of {mesh} are not stated")) };
        let strides = sizes(strides, dims)?;
        let offset = match mesh.layout {
            MeshLayout::Plain(_) => 0,
            MeshLayout::Sliced(scope) => size(scope.offset, dims)?,
        };
        let level_size = |level: usize| {
            let stated = mesh.topologies[level].size;
            stated.map_or_else(|| Err(format!("the size of a level of {mesh} is deferred")), |dim| size(dim, dims))
        };
        let mut digits = Vec::with_capacity(extents.len());
        for (axis, &level) in levels.iter().enumerate() {
            let inner = (level + 1..mesh.topologies.len()).map(level_size).collect::<Result<Vec<_>, _>>()?;
            let below: usize = inner.iter().product();
            let (stride, count) = (strides[axis], extents[axis]);
            if below == 0 || stride % below != 0 || count == 0 {
                return Err(format!("{mesh} has an axis over no positions of its level"));
            }
            let above = |other: &usize| levels[*other] == level && strides[*other] > stride && extents[*other] > 1;
            let next = (0..extents.len()).filter(above).map(|other| strides[other]).min();
            let radix = match (mesh.is_sliced(), next) {
                (false, _) => count,
                (true, Some(next)) => next / stride.max(1),
                (true, None) => level_size(level)? * below / stride.max(1),
            };
            let start = if mesh.is_sliced() { offset / stride.max(1) % radix.max(1) } else { 0 };
            if count > 1 && (stride == 0 || start + count > radix) {
                return Err(format!("{mesh} has two positions that are one"));
            }
            digits.push(Digit {
                level: self.index(mesh.topologies[level].name),
                stride: stride / below,
                radix,
                start,
                count,
            });
        }
        for (axis, &digit) in digits.iter().enumerate() {
            if digit.count > 1 && self.seen.iter().all(|(known, _)| *known != digit) {
                self.seen.push((digit, mesh.axis_name(axis)));
            }
        }
        Ok(digits)
    }

    /// The placement of a type. Dims are those of the run.
    ///
    /// # Errors
    /// A dim without a size; a mesh that is no counting of its levels' positions; a split that leaves a rest; Dynamic ownership.
    pub fn placed(&mut self, ty: &TensorType<'c>, dims: &DimSizes<'c>) -> Result<Placed<'c>, Refused> {
        let shape = sizes(ty.shape, dims)?;
        let Some(shard) = ty.shard() else {
            return Ok(Placed { cuts: vec![Cut::new(); shape.len()], shape, mesh: Vec::new() });
        };
        let digits = self.digits(shard.mesh, dims)?;
        let mut mesh = Vec::with_capacity(digits.len());
        for (axis, (&digit, attr)) in digits.iter().zip(shard.attrs).enumerate() {
            let holds = match *attr {
                ShardAttr::Split(_) => Holds::Slices,
                ShardAttr::Broadcast => Holds::Same,
                ShardAttr::Partial(reduction) => Holds::Terms(reduction),
                ShardAttr::Dynamic => {
                    return Err(format!("ownership along `{}` is decided at run time", shard.mesh.axis_name(axis)));
                }
            };
            if digit.count > 1 {
                mesh.push(MeshAxis { digit, holds, mesh: shard.mesh, axis });
            }
        }
        let cuts = match tile(ty, shard, &digits) {
            Some(cuts) => cuts,
            None => cuts(&shape, ty.shape, shard, &digits, dims)?,
        };
        Ok(Placed { shape, cuts, mesh })
    }
}

/// What threads hold of a tile of a matrix instruction, whose strides tell rows and columns.
fn tile<'c>(ty: &TensorType<'c>, shard: ShardLayout<'c>, digits: &[Digit]) -> Option<Vec<Cut>> {
    let held = Fragment::is_placement(&ty.static_shape()?, shard).then(|| Held::of(ty).ok()).flatten()?;
    let factor = |factor: &held::Factor| Factor {
        extent: factor.extent as usize,
        digit: factor.mesh_axis.map(|axis| digits[axis]),
    };
    Some(held.axes.iter().map(|factors| factors.iter().map(factor).collect()).collect())
}

fn cuts<'c>(
    shape: &[usize],
    logical: &[Dim<'c>],
    shard: ShardLayout<'c>,
    digits: &[Digit],
    dims: &DimSizes<'c>,
) -> Result<Vec<Cut>, Refused> {
    let mut cuts = vec![Cut::new(); shape.len()];
    let mut held = vec![1usize; shape.len()];
    let map = layout_axis_to_tensor_axis(shard.layout.shape(), logical);
    for (at, (&dim, axis)) in shard.layout.shape().iter().zip(map).enumerate() {
        let mut rest = size(dim, dims)?;
        let Some(axis) = axis else { continue };
        held[axis] = held[axis].saturating_mul(rest);
        for mesh_axis in shard.splitters(at) {
            let digit = digits[mesh_axis];
            if rest % digit.count != 0 {
                let (name, parts) = (shard.mesh.axis_name(mesh_axis), digit.count);
                return Err(format!("{rest} elements of axis {axis} are split over the {parts} positions of `{name}`"));
            }
            rest /= digit.count;
            if digit.count > 1 {
                cuts[axis].push(Factor { extent: digit.count, digit: Some(digit) });
            }
        }
        match cuts[axis].last_mut() {
            _ if rest == 1 => {}
            Some(Factor { extent, digit: None }) => *extent *= rest,
            _ => cuts[axis].push(Factor { extent: rest, digit: None }),
        }
    }
    for (axis, cut) in cuts.iter_mut().enumerate() {
        if cut.iter().all(|factor| factor.digit.is_none()) {
            cut.clear();
        }
        if held[axis] != shape[axis] {
            let (found, wanted) = (held[axis], shape[axis]);
            return Err(format!("the layout {shard} has {found} elements for axis {axis} of extent {wanted}"));
        }
    }
    Ok(cuts)
}

impl<'c> Placed<'c> {
    /// The shape of what one position holds.
    pub fn local_shape(&self) -> Vec<usize> {
        self.shape.iter().zip(&self.cuts).map(|(&extent, cut)| local_extent(extent, cut)).collect()
    }

    /// The digits of a kind of mesh axes.
    pub fn digits(&self, of: impl Fn(Holds<'c>) -> bool) -> Vec<Digit> {
        self.mesh.iter().filter(|axis| of(axis.holds)).map(|axis| axis.digit).collect()
    }

    /// The mesh axis that a digit belongs to.
    pub fn axis_of(&self, digit: &Digit) -> Option<&MeshAxis<'c>> {
        self.mesh.iter().find(|axis| digit.lies_in(&axis.digit))
    }
}

/// How much of an axis one position holds.
pub fn local_extent(extent: usize, cut: &Cut) -> usize {
    match cut.is_empty() {
        true => extent,
        false => cut.iter().filter(|factor| factor.digit.is_none()).map(|factor| factor.extent).product(),
    }
}
