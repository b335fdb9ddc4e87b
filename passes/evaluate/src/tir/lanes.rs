//! Threads that run one instruction together.

use tf_core::{Diagnostic, Span};
use tf_types::DType;
use tf_value::tir::{Access, Addresses, AxisPosition, Place, Positions, Stop};
use tf_value::{Tensor, ValueError};

use super::code::Operand;
use super::cta::{Cta, Pending};
use super::memory::{Fault, FaultKind, Memory, Target};
use super::report::{self, Who};
use super::scalar::{Scalar, ScalarCode, ScalarEnv};

/// What a run knows beside its CTAs.
pub struct Shared {
    pub memory: Memory,
    /// Launches and barriers of the grid so far, and one.
    pub epoch: u32,
    /// Where the instructions stand, by site.
    pub spans: Vec<Option<Span>>,
    /// Instructions that groups have run.
    pub steps: u64,
}

/// Threads of a CTA at an instruction.
pub struct Lanes<'a, 'c> {
    pub shared: &'a mut Shared,
    pub cta: &'a mut Cta,
    pub threads: &'a [u32],
    pub operands: &'a [Operand<'c>],
    /// The instruction.
    pub site: u32,
    pub who: Who,
}

impl<'c> Lanes<'_, 'c> {
    fn report(&self, fault: &Fault, thread: u32) -> Stop {
        let (span, number) = (self.span(), self.cta.id * self.cta.threads + thread);
        report::fault(&self.shared.memory, fault, self.who, number, span, &self.shared.spans).into()
    }

    pub fn span(&self) -> Option<Span> {
        self.shared.spans.get(self.site as usize).copied().flatten()
    }

    /// The value of a scalar at a thread.
    pub fn scalar(&mut self, code: &ScalarCode<'c>, thread: u32) -> Result<Scalar, Stop> {
        code.value(&mut OneLane { lanes: self, thread })
    }

    fn read_at(&mut self, target: Target, offsets: &[i64], bytes: &mut Vec<u8>) -> Result<(), Stop> {
        let by = self.cta.clocks.by(self.cta.id, target.thread, self.shared.epoch, self.site);
        let read = self.shared.memory.read(&by, target, offsets, bytes);
        read.map_err(|fault| self.report(&fault, target.thread))
    }

    fn write_at(&mut self, target: Target, offsets: &[i64], bytes: &[u8], later: bool) -> Result<(), Fault> {
        let by = self.cta.clocks.by(self.cta.id, target.thread, self.shared.epoch, self.site);
        self.shared.memory.write(&by, target, offsets, bytes, later)
    }

    /// Keeps a scalar in the first element of a memory.
    pub fn spill(&mut self, target: Target, value: &Tensor) -> Result<(), Stop> {
        let write = self.write_at(target, &[0], &value.to_le_bytes(), false);
        write.map_err(|fault| self.report(&fault, target.thread))
    }

    /// The dtype of what a buffer holds.
    fn dtype(&self, target: Target) -> DType {
        self.shared.memory.what(target.block).dtype
    }

    fn buffer(&self, access: &Access, thread: u32) -> Option<Target> {
        match self.operands.get(access.operand) {
            Some(Operand::Buffer(buffer)) => Some(self.cta.buffer(*buffer, thread)),
            _ => None,
        }
    }

    fn coordinate_of(cta: &Cta, thread: u32, axis: AxisPosition) -> i64 {
        axis.of(i64::from(if axis.in_cta { thread } else { cta.id }))
    }

    /// The memory of a thread, and the addresses of its elements, which `found` has room for.
    fn place<'b>(&self, access: &'b Access, thread: u32, found: &'b mut Vec<i64>) -> Result<(Target, &'b [i64]), Stop> {
        let Some(mut target) = self.buffer(access, thread) else {
            return Err(ValueError::new(format!("operand {} is no memory", access.operand)).into());
        };
        let coordinate = |axis| Self::coordinate_of(self.cta, thread, axis);
        match &access.addresses {
            Addresses::Strided { offsets, steps } => {
                target.start += steps.iter().map(|(axis, step)| coordinate(*axis) * step).sum::<i64>();
                Ok((target, offsets))
            }
            Addresses::Looked(lookup) => {
                found.clear();
                lookup.addresses(&coordinate, found)?;
                Ok((target, found))
            }
        }
    }

    /// Calls `f` for each thread with its memory and the addresses of its elements.
    fn each(
        &mut self,
        access: &Access,
        mut f: impl FnMut(&mut Self, usize, Target, &[i64]) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let mut found = Vec::new();
        for (row, &thread) in self.threads.iter().enumerate() {
            let (target, offsets) = self.place(access, thread, &mut found)?;
            f(self, row, target, offsets)?;
        }
        Ok(())
    }

    /// A refused write, told apart where the other thread has written in this very run of the instruction: no barrier can part the two.
    fn at_once(&self, access: &Access, row: usize, fault: Fault) -> Fault {
        let FaultKind::WriteOfWrite(other) = fault.kind else { return fault };
        let (cta, thread) = (other.who / self.cta.threads, other.who % self.cta.threads);
        let is_earlier = self.threads[..row].contains(&thread);
        if cta != self.cta.id || other.site != self.site || !is_earlier {
            return fault;
        }
        let mut found = Vec::new();
        let wrote = self.place(access, thread, &mut found).is_ok_and(|(target, offsets)| {
            target.block == fault.block && offsets.contains(&(fault.element - target.start))
        });
        Fault { kind: if wrote { FaultKind::WrittenAtOnce(other) } else { fault.kind }, ..fault }
    }

    fn write_all(&mut self, access: &Access, values: &Tensor, later: bool) -> Result<(), Stop> {
        let (rows, len) = (self.threads.len(), access.len);
        let values = match values.shape() {
            [found, 1] if len != 1 && *found == rows => values.broadcast_to(&[rows, len])?,
            _ => values.clone(),
        };
        if values.len() != rows * len {
            let message = format!("{} elements are written where {} are", values.len(), rows * len);
            return Err(ValueError::new(message).into());
        }
        let (bytes, dtype) = (values.to_le_bytes(), values.dtype());
        let width = bytes.len() / (rows * len).max(1);
        self.each(access, |lanes, row, target, offsets| {
            if lanes.dtype(target) != dtype {
                let message = format!("{dtype} is written to a memory of {}", lanes.dtype(target));
                return Err(ValueError::new(message).into());
            }
            let write = lanes.write_at(target, offsets, &bytes[row * len * width..][..len * width], later);
            write.map_err(|fault| lanes.report(&lanes.at_once(access, row, fault), target.thread))?;
            if later {
                let pending = Pending { target, offsets: offsets.to_vec() };
                lanes.cta.copies[target.thread as usize].open.push(pending);
            }
            Ok(())
        })
    }
}

impl Positions for Lanes<'_, '_> {
    fn count(&self) -> usize {
        self.threads.len()
    }

    fn coordinate(&self, position: usize, axis: AxisPosition) -> i64 {
        Self::coordinate_of(self.cta, self.threads[position], axis)
    }

    fn read(&mut self, access: &Access) -> Result<Tensor, Stop> {
        let (rows, len) = (self.threads.len(), access.len);
        if let Some(Operand::Scalar(code, dtype)) = self.operands.get(access.operand) {
            let (code, dtype, threads) = (code, *dtype, self.threads);
            let mut bytes = Vec::new();
            for &thread in threads {
                let value = self.scalar(code, thread)?.tensor().cast(dtype)?.to_le_bytes();
                (0..len).for_each(|_| bytes.extend_from_slice(&value));
            }
            return Ok(Tensor::from_le_bytes(&[rows, len], dtype, &bytes)?);
        }
        let Some(first) = self.threads.first().and_then(|&thread| self.buffer(access, thread)) else {
            return Err(ValueError::new(format!("there is no operand {}", access.operand)).into());
        };
        let dtype = self.dtype(first);
        let mut bytes = Vec::with_capacity(rows * len * 4);
        self.each(access, |lanes, _, target, offsets| lanes.read_at(target, offsets, &mut bytes))?;
        Ok(Tensor::from_le_bytes(&[rows, len], dtype, &bytes)?)
    }

    fn write(&mut self, access: &Access, values: &Tensor) -> Result<(), Stop> {
        self.write_all(access, values, false)
    }

    fn write_later(&mut self, access: &Access, values: &Tensor) -> Result<(), Stop> {
        self.write_all(access, values, true)
    }

    fn commit(&mut self) {
        for &thread in self.threads {
            let copies = &mut self.cta.copies[thread as usize];
            let group = std::mem::take(&mut copies.open);
            copies.groups.push(group);
        }
    }

    fn wait(&mut self, pending: usize) {
        for &thread in self.threads {
            let groups = &mut self.cta.copies[thread as usize].groups;
            let done: Vec<_> = groups.drain(..groups.len().saturating_sub(pending)).flatten().collect();
            let by = self.cta.clocks.by(self.cta.id, thread, self.shared.epoch, self.site);
            for copy in done {
                self.shared.memory.arrive(&by, copy.target, &copy.offsets);
            }
        }
    }

    fn barrier(&mut self) {
        self.cta.clocks.meet(self.threads);
    }
}

/// A thread that computes a scalar.
struct OneLane<'b, 'a, 'c> {
    lanes: &'b mut Lanes<'a, 'c>,
    thread: u32,
}

impl ScalarEnv for OneLane<'_, '_, '_> {
    fn slot(&self, slot: u32) -> Scalar {
        self.lanes.cta.scalar(slot, self.thread).clone()
    }

    fn element(&mut self, buffer: u32) -> Result<Scalar, Stop> {
        let target = self.lanes.cta.buffer(buffer, self.thread);
        let mut bytes = Vec::new();
        self.lanes.read_at(target, &[0], &mut bytes)?;
        Ok(Scalar::of(Tensor::from_le_bytes(&[], self.lanes.dtype(target), &bytes)?))
    }

    fn coordinate(&self, place: Place) -> i64 {
        Lanes::coordinate_of(self.lanes.cta, self.thread, place.axis) - place.start
    }
}

/// A refusal by values, as one of an instruction.
pub fn refused(stop: Stop, name: &str, span: Option<Span>) -> Diagnostic {
    match stop {
        Stop::Report(error) => error.at(span),
        Stop::Value(error) => {
            let message = if name.is_empty() { error.message } else { format!("`{name}`: {}", error.message) };
            let refused = Diagnostic::error(message).at(span);
            match error.help {
                Some(help) => refused.with_help(help),
                None => refused,
            }
        }
    }
}
