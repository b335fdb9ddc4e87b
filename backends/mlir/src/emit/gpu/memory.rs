//! Elements of a tensor wherever it resides: what a position reads and writes, by local index.
use crate::emit::{
    V,
    gpu::{
        KernelCx,
        access::{Run, runs},
        index::Index,
        registers::FileId,
    },
    types,
};
use melior::ir::{Attribute, Type, attribute::DenseI64ArrayAttribute};
use rustc_hash::FxHashMap;
use tf_core::{Diagnostic, Result};
use tf_tir::held::{Factor, Held};
use tf_types::DType;

/// Elements that one position may touch in one statement; more would not fit its registers.
pub(crate) const LOCAL_LIMIT: usize = 2048;

/// A tensor in the kernel.
#[derive(Clone)]
pub(crate) struct Buffer<'a, 'c> {
    pub(crate) dtype: DType,
    pub(crate) held: Held<'c>,
    pub(crate) place: Place<'a>,
}

/// Where a tensor resides.
#[derive(Clone)]
pub(crate) enum Place<'a> {
    /// From element `start` of a linear buffer on; mesh coordinates are not included.
    Memory { memref: V<'a>, start: Index<'a>, shared: Option<usize> },
    /// For each local index the register of `file`.
    Registers { file: FileId, at: Vec<usize> },
}

/// How local indices of a distribution address a memory.
struct Addresses<'a> {
    memref: V<'a>,
    base: Index<'a>,
    offsets: Vec<i64>,
}

impl<'a, 'c> KernelCx<'a, 'c> {
    /// The elements of `buffer` that a position of the distribution `wanted` needs, by local index of `wanted`;
    /// axes of extent 1 are repeated.
    ///
    /// # Errors
    /// Registers that are distributed otherwise, or hold nothing yet.
    pub(crate) fn read(&mut self, buffer: &Buffer<'a, 'c>, wanted: &Held<'c>) -> Result<Vec<V<'a>>> {
        let len = local_len(wanted)?;
        match &buffer.place {
            Place::Registers { file, at } => {
                let mut values = Vec::with_capacity(len);
                for index in 0..len {
                    let local = find(&buffer.held, wanted, index)?;
                    values.push(
                        self.registers
                            .get(*file, at[local])
                            .ok_or_else(|| Diagnostic::error("a register is read before it is written"))?,
                    );
                }
                Ok(values)
            }
            Place::Memory { .. } => {
                let addresses = self.addresses(buffer, wanted)?;
                let mut loaded = FxHashMap::default();
                for run in runs(&addresses.offsets, addresses.base.divisor, types::bytes(buffer.dtype)) {
                    let values = self.load(buffer.dtype, &addresses, run)?;
                    loaded.extend((run.offset..).zip(values));
                }
                Ok(addresses.offsets.iter().map(|offset| loaded[offset]).collect())
            }
        }
    }

    /// Writes `values`, by local index of `wanted`.
    ///
    /// # Errors
    /// Registers that are distributed otherwise.
    pub(crate) fn write(&mut self, buffer: &Buffer<'a, 'c>, wanted: &Held<'c>, values: &[V<'a>]) -> Result<()> {
        match &buffer.place {
            Place::Registers { file, at } => {
                for (index, &value) in values.iter().enumerate() {
                    let local = find(&buffer.held, wanted, index)?;
                    self.registers.set(*file, at[local], value);
                }
                Ok(())
            }
            Place::Memory { .. } => {
                let addresses = self.addresses(buffer, wanted)?;
                let by_offset: FxHashMap<i64, V<'a>> =
                    addresses.offsets.iter().copied().zip(values.iter().copied()).collect();
                for run in runs(&addresses.offsets, addresses.base.divisor, types::bytes(buffer.dtype)) {
                    let values: Vec<_> = (run.offset..run.offset + run.width).map(|at| by_offset[&at]).collect();
                    self.store(buffer.dtype, &addresses, run, &values)?;
                }
                Ok(())
            }
        }
    }

    fn addresses(&mut self, buffer: &Buffer<'a, 'c>, wanted: &Held<'c>) -> Result<Addresses<'a>> {
        let Place::Memory { memref, start, shared } = buffer.place else {
            return Err(Diagnostic::error("registers have no address"));
        };
        self.touched.extend(shared);
        let len = local_len(wanted)?;
        let axes = buffer
            .held
            .placed_as(wanted)
            .ok_or_else(|| Diagnostic::error("the two layouts do not address the same elements by strides"))?;
        let target = Held { axes, mesh: wanted.mesh };
        let mut base = start;
        for (_, factor) in target.split() {
            let (Some(axis), Some(mesh)) = (factor.mesh_axis, target.mesh) else { continue };
            let coordinate = self.prologue.coordinate(mesh, axis)?;
            let scaled = self.builder.scale_index(coordinate, factor.stride)?;
            base = self.builder.add_index(base, scaled)?;
        }
        let offsets = (0..len).map(|index| base.constant + target.local_offset(index)).collect();
        Ok(Addresses { memref, base: Index { constant: 0, ..base }, offsets })
    }

    /// The position of a run: the operand of a memory operation.
    fn at(&self, addresses: &Addresses<'a>, run: Run) -> Result<V<'a>> {
        self.builder.materialize(Index { constant: run.offset, ..addresses.base })
    }

    fn alignment(&self, dtype: DType, run: Run) -> (&'static str, Attribute<'a>) {
        ("alignment", self.builder.i64_attr(run.width * types::bytes(dtype)))
    }

    fn load(&self, dtype: DType, addresses: &Addresses<'a>, run: Run) -> Result<Vec<V<'a>>> {
        let (builder, scalars) = (self.builder, self.builder.scalars());
        let (at, element) = (self.at(addresses, run)?, scalars.memory_type(dtype)?);
        let operands = [addresses.memref, at];
        if run.width == 1 {
            let value = builder.value("memref.load", &operands, element, &[])?;
            return Ok(vec![scalars.from_memory(dtype, value)?]);
        }
        let vector = Type::vector(&[run.width as u64], element);
        let vector = builder.value("vector.load", &operands, vector, &[self.alignment(dtype, run)])?;
        let lane = |lane: i64| {
            let position = DenseI64ArrayAttribute::new(builder.context(), &[lane]).into();
            let value = builder.value("vector.extract", &[vector], element, &[("static_position", position)])?;
            Ok(scalars.from_memory(dtype, value)?)
        };
        (0..run.width).map(lane).collect()
    }

    fn store(&self, dtype: DType, addresses: &Addresses<'a>, run: Run, values: &[V<'a>]) -> Result<()> {
        let (builder, scalars) = (self.builder, self.builder.scalars());
        let at = self.at(addresses, run)?;
        let values = values.iter().map(|&v| scalars.to_memory(dtype, v)).collect::<Result<Vec<_>, _>>()?;
        if let [value] = values[..] {
            builder.op("memref.store", &[value, addresses.memref, at], &[], &[])?;
            return Ok(());
        }
        let vector = Type::vector(&[run.width as u64], scalars.memory_type(dtype)?);
        let vector = builder.value("vector.from_elements", &values, vector, &[])?;
        builder.op("vector.store", &[vector, addresses.memref, at], &[], &[self.alignment(dtype, run)])?;
        Ok(())
    }
}

/// The local length of a distribution.
///
/// # Errors
/// More than [`LOCAL_LIMIT`].
pub(crate) fn local_len(held: &Held<'_>) -> Result<usize> {
    let len = held.local_len();
    if len > LOCAL_LIMIT {
        let message = format!("one position would hold {len} elements at once, more than {LOCAL_LIMIT}");
        return Err(Diagnostic::error(message).with_help("split the tensor over more positions"));
    }
    Ok(len)
}

fn find<'c>(held: &Held<'c>, wanted: &Held<'c>, index: usize) -> Result<usize> {
    let splits = |h: &Held<'c>| h.split().any(|(_, f)| f.extent > 1);
    let apart = held.mesh != wanted.mesh && splits(held);
    (!apart).then(|| held.local_index_for(wanted, index)).flatten().ok_or_else(|| {
        Diagnostic::error("a position does not hold the elements of this operand that it needs")
            .with_help("reshard the operand to the distribution of the result")
    })
}

/// The stride of a logical axis, if one number is.
pub(crate) fn axis_stride(factors: &[Factor]) -> Option<i64> {
    let mut parts = factors.iter().filter(|f| f.extent > 1);
    let Some(last) = parts.next_back() else { return Some(0) };
    let stride = last.stride / last.step;
    let uniform = |f: &Factor| f.stride == stride * f.step;
    (uniform(last) && parts.all(uniform)).then_some(stride)
}
