//! Which elements of its operands an op accesses at a position, for the evaluator.

use std::cell::RefCell;
use std::collections::BTreeMap;

use tf_core::op::RuleError;
use tf_core::{Expr, op::OpView};
use tf_types::{Storage, TensorType};
use tf_value::ValueError;
use tf_value::tir::{Access, Addresses, AxisPosition, Lookup};

use crate::distribution::Part;
use crate::held::{Factor, Held, addresses};
use crate::mesh::positions::Positions;
use crate::rules::tensor;

/// Elements that one position may access at once: their addresses are listed.
const MOST_ELEMENTS: usize = 1 << 26;

/// An operand with its factors.
pub struct Operand<'c> {
    index: usize,
    /// Its type.
    pub tensor: &'c TensorType<'c>,
    /// What one position holds of it.
    pub held: Held<'c>,
}

impl<'c> Operand<'c> {
    /// The operand of that number.
    ///
    /// # Errors
    /// No tensor, or one without static positions.
    pub fn of(index: usize, operand: Expr<'c>) -> Result<Self, RuleError> {
        let tensor = tensor(index, "operand", operand)?;
        let held = Held::of(tensor).map_err(|error| RuleError::from(error).operand(index, operand.ty().to_string()))?;
        Ok(Self { index, tensor, held })
    }

    /// All operands of a call.
    ///
    /// # Errors
    /// As [`Operand::of`].
    pub fn all<const N: usize>(view: OpView<'c>) -> Result<[Self; N], RuleError> {
        let found: Vec<_> =
            view.args.iter().take(N).enumerate().map(|(i, &e)| Self::of(i, e)).collect::<Result<_, _>>()?;
        let count = found.len();
        found.try_into().map_err(|_| RuleError::new(format!("`{}` has {count} operands", view.op.decl.name)))
    }

    /// The part that it plays in an op.
    #[must_use]
    pub fn part(&self) -> Part<'_, 'c> {
        Part::new(self.tensor, &self.held)
    }

    fn is_private(&self) -> bool {
        self.tensor.storage == Storage::Rmem
    }

    /// The elements that a position of the distribution `wanted` needs, by local index of `wanted`; axes of extent 1 are repeated.
    ///
    /// # Errors
    /// Positions without ids.
    pub fn access(&self, wanted: &Held<'c>) -> Result<Access, RuleError> {
        self.accessed(wanted, false)
    }

    /// The same where elements correspond in C-order, whatever the shapes.
    ///
    /// # Errors
    /// As [`Operand::access`].
    pub fn access_in_order(&self, wanted: &Held<'c>) -> Result<Access, RuleError> {
        self.accessed(wanted, self.held.extents() != wanted.extents())
    }

    fn accessed(&self, wanted: &Held<'c>, in_order: bool) -> Result<Access, RuleError> {
        let len = listed(wanted)?;
        let memory = self.addressing();
        let reachable = !in_order && (!self.is_private() || holds(&self.held, wanted));
        let addresses = match memory.placed_as(wanted).filter(|_| reachable) {
            Some(axes) => strided(&Held { axes, mesh: wanted.mesh })?,
            None => Addresses::Looked(Box::new(Lookups::new(self, &memory, wanted, in_order)?)),
        };
        Ok(Access { operand: self.index, len, addresses })
    }

    /// The factors with what a mesh coordinate adds to an address: nothing where every position has memory of its own.
    fn addressing(&self) -> Held<'c> {
        let mut memory = self.held.clone();
        if self.is_private() {
            let split = memory.axes.iter_mut().flatten().filter(|factor| factor.mesh_axis.is_some());
            split.for_each(|factor| factor.stride = 0);
        }
        memory
    }
}

/// The number of elements of a position, if they can be listed.
fn listed(held: &Held<'_>) -> Result<usize, RuleError> {
    let len = held.local_len();
    if len <= MOST_ELEMENTS {
        return Ok(len);
    }
    let message = format!("a position accesses {len} elements at once, and at most {MOST_ELEMENTS} are evaluated");
    Err(RuleError::new(message).with_help("split the tensor over positions, or go through it in a loop over views"))
}

/// The addresses of a distribution whose strides are those of the memory.
///
/// # Errors
/// Positions without ids; more elements of one position than are evaluated.
pub fn strided(held: &Held<'_>) -> Result<Addresses, RuleError> {
    listed(held)?;
    let offsets = addresses(held.local().map(|(_, factor)| factor));
    let mut steps = Vec::new();
    if let Some(mesh) = held.mesh.filter(|_| held.split().any(|(_, f)| f.extent > 1 && f.stride != 0)) {
        let positions = Positions::of(mesh)?;
        for (_, factor) in held.split().filter(|(_, f)| f.extent > 1 && f.stride != 0) {
            steps.extend(factor.mesh_axis.map(|axis| (positions.axes[axis], factor.stride)));
        }
    }
    Ok(Addresses::Strided { offsets, steps })
}

/// Whether a position that needs the elements of `wanted` holds them: what the mesh splits here, it splits there in the same way.
fn holds(held: &Held<'_>, wanted: &Held<'_>) -> bool {
    let Some(shift) = wanted.axes.len().checked_sub(held.axes.len()) else { return false };
    let split = |factors: &[Factor]| -> Vec<_> {
        factors
            .iter()
            .filter(|f| f.mesh_axis.is_some() && f.extent > 1)
            .map(|f| (f.extent, f.step, f.mesh_axis))
            .collect()
    };
    let mut any = false;
    let alike = held.axes.iter().enumerate().all(|(axis, factors)| {
        let (mine, theirs) = (split(factors), split(&wanted.axes[axis + shift]));
        any |= !mine.is_empty();
        mine.iter().all(|factor| theirs.contains(factor))
    });
    alike && (!any || held.mesh == wanted.mesh)
}

/// A factor, with the positions of its mesh axis.
type Placed = (Factor, Option<AxisPosition>);

/// Addresses of elements that lie in memory by no strides of the wanted factors.
struct Lookups {
    wanted: Vec<Vec<Placed>>,
    extents: Vec<i64>,
    memory: Vec<Vec<Placed>>,
    /// Extents of the memory's axes.
    shape: Vec<i64>,
    in_order: bool,
    is_private: bool,
    name: String,
    /// The mesh axes that addresses depend on.
    axes: Vec<AxisPosition>,
    known: RefCell<Known>,
}

/// Addresses by coordinates, as far as there is room.
#[derive(Default)]
struct Known {
    by_coordinates: BTreeMap<Vec<i64>, Vec<i64>>,
    count: usize,
}

/// Addresses that a [`Lookups`] keeps for the next time.
const MOST_KNOWN: usize = 1 << 22;

impl Lookups {
    fn new<'c>(operand: &Operand<'c>, memory: &Held<'c>, wanted: &Held<'c>, in_order: bool) -> Result<Self, RuleError> {
        let [from, to] = [placed(memory)?, placed(wanted)?];
        let mut axes: Vec<AxisPosition> = Vec::new();
        for (_, position) in from.iter().chain(&to).flatten() {
            axes.extend(position.filter(|position| !axes.contains(position)));
        }
        Ok(Self {
            wanted: to,
            extents: wanted.extents(),
            memory: from,
            shape: memory.extents(),
            in_order,
            is_private: operand.is_private(),
            name: operand.tensor.to_string(),
            axes,
            known: RefCell::default(),
        })
    }

    /// The element of the memory that the wanted coordinates stand for.
    fn coordinates(&self, coords: &[i64], found: &mut Vec<i64>) {
        found.clear();
        if self.in_order {
            let mut rest = coords.iter().zip(&self.extents).fold(0, |at, (coord, extent)| at * extent + coord);
            for extent in self.shape.iter().rev() {
                found.push(rest % (*extent).max(1));
                rest /= (*extent).max(1);
            }
            found.reverse();
            return;
        }
        let missing = coords.len().saturating_sub(self.shape.len());
        found.extend(
            coords[missing..].iter().zip(&self.shape).map(|(&coord, &extent)| if extent == 1 { 0 } else { coord }),
        );
    }
}

fn placed(held: &Held<'_>) -> Result<Vec<Vec<Placed>>, RuleError> {
    let is_split = held.split().any(|(_, factor)| factor.extent > 1);
    let positions = held.mesh.filter(|_| is_split).map(Positions::of).transpose()?;
    let of = |factor: &Factor| {
        let axis = factor.mesh_axis.filter(|_| factor.extent > 1);
        (*factor, axis.zip(positions.as_ref()).map(|(axis, positions)| positions.axes[axis]))
    };
    Ok(held.axes.iter().map(|factors| factors.iter().map(of).collect()).collect())
}

impl Lookup for Lookups {
    fn addresses(&self, coordinate: &dyn Fn(AxisPosition) -> i64, found: &mut Vec<i64>) -> Result<(), ValueError> {
        let position: Vec<i64> = self.axes.iter().map(|&axis| coordinate(axis)).collect();
        let mut known = self.known.borrow_mut();
        if let Some(addresses) = known.by_coordinates.get(&position) {
            found.extend_from_slice(addresses);
            return Ok(());
        }
        let first = found.len();
        self.look_up(coordinate, found)?;
        if known.count + found.len() - first <= MOST_KNOWN {
            known.count += found.len() - first;
            known.by_coordinates.insert(position, found[first..].to_vec());
        }
        Ok(())
    }
}

impl Lookups {
    fn look_up(&self, coordinate: &dyn Fn(AxisPosition) -> i64, found: &mut Vec<i64>) -> Result<(), ValueError> {
        let mut fixed = vec![0i64; self.wanted.len()];
        let mut local = Vec::new();
        for (axis, factors) in self.wanted.iter().enumerate() {
            for (factor, position) in factors {
                match position {
                    Some(position) => fixed[axis] += coordinate(*position) * factor.step,
                    None if factor.mesh_axis.is_none() => local.push((axis, *factor)),
                    None => {}
                }
            }
        }
        let count: i64 = local.iter().map(|(_, factor)| factor.extent).product();
        let (mut coords, mut at) = (fixed.clone(), Vec::new());
        for index in 0..count {
            coords.copy_from_slice(&fixed);
            let mut rest = index;
            for (axis, factor) in local.iter().rev() {
                coords[*axis] += rest % factor.extent * factor.step;
                rest /= factor.extent;
            }
            self.coordinates(&coords, &mut at);
            let mut address = 0;
            for (&coord, factors) in at.iter().zip(&self.memory) {
                for (factor, position) in factors {
                    let value = coord / factor.step.max(1) % factor.extent.max(1);
                    if self.is_private && position.is_some_and(|position| coordinate(position) != value) {
                        let message = format!("a position does not hold the elements of {} that it needs", self.name);
                        return Err(ValueError::new(message)
                            .with_help("place the operand like the result, or exchange it through smem"));
                    }
                    address += value * factor.stride;
                }
            }
            found.push(address);
        }
        Ok(())
    }
}
