//! How `T.reduce` runs: within a position, across the lanes of a warp, across the warps of a CTA.

use tf_core::op::{OpCall, RuleError};
use tf_types::DType;
use tf_types::kinds::{BinaryKind, ReduceKind};
use tf_value::tir::{Access, Addresses, AxisPosition, Effect, Meaning, Positions, Stop, Team};
use tf_value::{Tensor, ValueError};

use super::plan::ReducePlan;
use super::reduce::{Reduce, accumulator};
use crate::access::{Operand, strided};
use crate::sync::participants::WARP;

/// The number of a thread in its CTA.
const THREAD: AxisPosition = AxisPosition { in_cta: true, stride: 1, extent: i64::MAX };

/// A reduction that is ready to run.
pub struct Reduction {
    /// The elements, those of one cell together.
    src: Access,
    dst: Access,
    /// The slots of the workspace that a position writes, and those it reads.
    exchange: Option<[Access; 2]>,
    /// The bits of the lane's number by which the lanes that are combined differ.
    lanes: i64,
    cells: usize,
    /// Elements that one cell combines.
    count: i64,
    kind: ReduceKind,
    wide: DType,
    dtype: DType,
}

impl Reduction {
    /// What a call means.
    ///
    /// # Errors
    /// As [`ReducePlan::new`]; no workspace where warps exchange their terms.
    pub fn of(call: &OpCall<'_, Reduce>) -> Result<Meaning, RuleError> {
        let [src, dst] = Operand::all(call.view())?;
        let plan = ReducePlan::new(src.tensor, dst.tensor, call.axes())?;
        let (mut elements, cells) = (src.access(&src.held)?, dst.access(&dst.held)?);
        if let Addresses::Strided { offsets, .. } = &mut elements.addresses {
            let mut order: Vec<usize> = (0..offsets.len()).collect();
            order.sort_by_key(|&at| plan.cell_of[at]);
            *offsets = order.iter().map(|&at| offsets[at]).collect();
        }
        let exchange = match (plan.exchanged.is_empty(), call.workspace()) {
            (true, _) => None,
            (false, None) => return Err(RuleError::new("`T.reduce` across warps needs a workspace in smem")),
            (false, Some(_)) => {
                let (write, read) = plan.slots_of(&src.held);
                let slots = |held: &crate::held::Held<'_>| {
                    strided(held).map(|addresses| Access { operand: 2, len: held.local_len(), addresses })
                };
                Some([slots(&write)?, slots(&read)?])
            }
        };
        let team = match (&exchange, plan.shuffles.is_empty()) {
            (Some(_), _) => Team::Block(None),
            (None, false) => Team::Chunks(WARP as u32),
            (None, true) => Team::Each,
        };
        let lanes = plan.shuffles.iter().fold(0, |bits, distance| bits | distance);
        let (kind, dtype) = (call.kind(), src.tensor.dtype);
        let effect = Self {
            src: elements,
            dst: cells,
            exchange,
            lanes,
            cells: plan.cells,
            count: plan.count,
            kind,
            wide: accumulator(dtype),
            dtype,
        };
        Ok(Meaning::Effect(team, Box::new(effect)))
    }

    /// The kind by which partial results are combined.
    fn partial(&self) -> ReduceKind {
        if self.kind == ReduceKind::Mean { ReduceKind::Sum } else { self.kind }
    }

    /// Combines the cells of lanes whose numbers differ in `self.lanes` only.
    fn across_lanes(&self, cells: Tensor, positions: &dyn Positions) -> Result<Tensor, ValueError> {
        if self.lanes == 0 {
            return Ok(cells);
        }
        let count = positions.count();
        let team = |at: usize| positions.coordinate(at, THREAD) & !self.lanes;
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by_key(|&at| team(at));
        let size = 1usize << self.lanes.count_ones();
        let whole = order.chunks(size).all(|rows| rows.len() == size && team(rows[0]) == team(rows[size - 1]));
        if !whole {
            return Err(ValueError::new("`T.reduce` across lanes needs all lanes of the warp"));
        }
        let index = |rows: Vec<i64>| Tensor::from_vec(&[count], rows);
        let gathered = cells.index_select(&index(order.iter().map(|&at| at as i64).collect())?, 0)?;
        let combined = gathered.reshape(&[count / size, size, self.cells])?.reduce(&[1], false, self.partial())?;
        let mut team_of = vec![0i64; count];
        order.iter().enumerate().for_each(|(rank, &at)| team_of[at] = (rank / size) as i64);
        combined.index_select(&index(team_of)?, 0)
    }
}

impl Effect for Reduction {
    fn run(&self, positions: &mut dyn Positions) -> Result<(), Stop> {
        let (count, cells) = (positions.count(), self.cells);
        let terms = self.src.len / cells.max(1);
        let values = positions.read(&self.src)?.reshape(&[count, cells, terms])?.cast(self.wide)?;
        let mut total = self.across_lanes(values.reduce(&[2], false, self.partial())?, positions)?;
        if let Some([mine, all]) = &self.exchange {
            // Somebody may still read what the last use left in the workspace.
            positions.barrier();
            positions.write(mine, &total)?;
            positions.barrier();
            let values = positions.read(all)?.reshape(&[count, all.len / cells.max(1), cells])?;
            total = values.reduce(&[1], false, self.partial())?;
        }
        if self.kind == ReduceKind::Mean {
            total = total.binary(Tensor::scalar(self.count as f32), BinaryKind::Div)?;
        }
        positions.write(&self.dst, &total.cast(self.dtype)?)
    }
}
