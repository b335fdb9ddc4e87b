//! Buffers of a CPU function as strided memrefs.
use crate::{
    BackendError,
    emit::{build::V, scalar::Scalars},
};
use melior::ir::{
    Attribute, Type, attribute::DenseI32ArrayAttribute, attribute::DenseI64ArrayAttribute, r#type::MemRefType,
};
use tf_core::{Diagnostic, Result};
use tf_tir::held::c_order;
use tf_types::{DType, Storage, TensorLayout, TensorType};

/// Elements of memory from `base` on, addressed by strides.
#[derive(Clone, Debug)]
pub(super) struct Buffer<'a> {
    pub(super) dtype: DType,
    pub(super) shape: Vec<i64>,
    strides: Vec<i64>,
    /// What is loaded from and stored to.
    memref: V<'a>,
    /// The allocation or parameter, whose first element is `Start`'s zero.
    base: V<'a>,
    /// Number of elements of `base`.
    len: i64,
    start: Start<'a>,
}

/// Elements between the start of the base and that of a view.
#[derive(Clone, Copy, Debug)]
struct Start<'a> {
    known: i64,
    /// What is added at run time, an index.
    computed: Option<V<'a>>,
}

/// An element start of a view.
#[derive(Clone, Copy, Debug)]
pub(super) enum Coordinate<'a> {
    /// Known now.
    Known(i64),
    /// An index at run time.
    Computed(V<'a>),
}

/// Extents and strides of a tensor that one position holds whole.
///
/// # Errors
/// A placement, a symbolic extent or stride, a storage that the host has not.
pub(super) fn strided(tensor: &TensorType<'_>, what: &str) -> Result<(Vec<i64>, Vec<i64>)> {
    let lower = |message: String| Diagnostic::error(message).with_help("lower with target=cpu");
    match tensor.storage {
        Storage::Host | Storage::Umat => {}
        other => return Err(lower(format!("{what} resides in {other}, and a CPU function has only host memory"))),
    }
    let shape = tensor.static_shape().ok_or_else(|| {
        Diagnostic::error(format!("{what} has a symbolic extent, and code is generated for known extents"))
            .with_help("bind the dims before lowering")
    })?;
    let strides = match tensor.layout {
        None => None,
        Some(TensorLayout::Plain(layout)) => match layout.strides() {
            None => None,
            Some(_) => Some(layout.static_strides().ok_or_else(|| {
                Diagnostic::error(format!("{what} has a symbolic stride, and code is generated for known strides"))
            })?),
        },
        Some(TensorLayout::Shard(_)) => {
            return Err(lower(format!("{what} is placed on a mesh, and a CPU function has no positions")));
        }
        Some(TensorLayout::Composed(_)) => {
            return Err(lower(format!("{what} has a composed layout, and a CPU function has plain strides")));
        }
    };
    let strides = strides.unwrap_or_else(|| c_order(&shape));
    Ok((shape, strides))
}

/// Whether the elements lie in C order without gaps. Strides of axes that nothing steps along have no meaning.
pub(super) fn is_dense(shape: &[i64], strides: &[i64]) -> bool {
    shape.contains(&0) || shape.iter().zip(strides.iter().zip(c_order(shape))).all(|(&n, (&s, c))| n == 1 || s == c)
}

/// The type of a dense buffer, C order.
pub(super) fn dense_type<'a>(s: &Scalars<'a, 'a>, dtype: DType, shape: &[i64]) -> Result<Type<'a>> {
    Ok(MemRefType::new(s.memory_type(dtype)?, shape, None, None).into())
}

/// Number of elements.
///
/// # Errors
/// More than 2^63.
pub(super) fn element_count(shape: &[i64]) -> Result<i64> {
    let count = shape.iter().try_fold(1i64, |count, &extent| count.checked_mul(extent));
    count.ok_or_else(|| Diagnostic::error(format!("a buffer of shape {shape:?} is too large")))
}

impl<'a> Buffer<'a> {
    /// A whole dense buffer.
    pub(super) fn dense(memref: V<'a>, dtype: DType, shape: &[i64]) -> Result<Self> {
        let start = Start { known: 0, computed: None };
        let (shape, strides, len) = (shape.to_vec(), c_order(shape), element_count(shape)?);
        Ok(Self { dtype, shape, strides, memref, base: memref, len, start })
    }

    /// Elements of the same memory: element `c` lies at `start(self) + sum coords[i]*stride[i] + sum c[i]*strides[i]`; a single start
    /// of several axes counts elements. A start that is computed is checked at run time.
    ///
    /// # Errors
    /// A window that leaves the memory.
    pub(super) fn view(
        &self,
        s: &Scalars<'a, 'a>,
        coords: &[Coordinate<'a>],
        shape: Vec<i64>,
        strides: Vec<i64>,
    ) -> Result<Self> {
        let mut start = self.start;
        let is_flat = coords.len() == 1 && self.strides.len() != 1;
        let steps = if is_flat { &[1][..] } else { &self.strides };
        for (coord, &stride) in coords.iter().zip(steps) {
            match *coord {
                Coordinate::Known(at) => start.known = start.known.wrapping_add(at.wrapping_mul(stride)),
                Coordinate::Computed(at) => {
                    let term = s.same("arith.muli", at, s.index(stride)?)?;
                    start.computed = Some(match start.computed {
                        Some(sum) => s.same("arith.addi", sum, term)?,
                        None => term,
                    });
                }
            }
        }
        let offset = self.bounded(s, start, &shape, &strides)?;
        let memref = self.cast(s, offset, &shape, &strides)?;
        Ok(Self { dtype: self.dtype, shape, strides, memref, base: self.base, len: self.len, start })
    }

    /// The offset as an index where it is computed; checked against the memory's extent.
    fn bounded(&self, s: &Scalars<'a, 'a>, start: Start<'a>, shape: &[i64], strides: &[i64]) -> Result<Coordinate<'a>> {
        let mut span = 1i64;
        for (&extent, &stride) in shape.iter().zip(strides) {
            span = span.saturating_add((extent - 1).max(0).saturating_mul(stride));
        }
        let span = if shape.contains(&0) { 0 } else { span };
        let last = self.len - span;
        match start.computed {
            None if (0..=last).contains(&start.known) => Ok(Coordinate::Known(start.known)),
            None => Err(Diagnostic::error(format!(
                "a view of {span} elements from element {} on leaves a buffer of {}",
                start.known, self.len
            ))),
            Some(computed) => {
                let offset = s.same("arith.addi", computed, s.index(start.known)?)?;
                // Unsigned: a negative start is beyond every end.
                let inside = match last {
                    0.. => s.compare_int("ule", offset, s.index(last)?)?,
                    _ => s.compare_int("ne", offset, offset)?,
                };
                s.require(inside, &format!("a view of {span} elements leaves a buffer of {}", self.len))?;
                Ok(Coordinate::Computed(offset))
            }
        }
    }

    fn cast(&self, s: &Scalars<'a, 'a>, offset: Coordinate<'a>, shape: &[i64], strides: &[i64]) -> Result<V<'a>> {
        let context = s.session.context();
        let (operands, known, text) = match offset {
            Coordinate::Known(at) => (vec![self.base], at, at.to_string()),
            Coordinate::Computed(at) => (vec![self.base, at], i64::MIN, "?".to_owned()),
        };
        let list: Vec<_> = strides.iter().map(ToString::to_string).collect();
        let layout = format!("strided<[{}], offset: {text}>", list.join(", "));
        let layout = Attribute::parse(context, &layout)
            .ok_or_else(|| BackendError::new(format!("cannot parse the layout `{layout}`")))?;
        let r#type = MemRefType::new(s.memory_type(self.dtype)?, shape, Some(layout), None).into();
        let dynamic = operands.len() as i32 - 1;
        let attributes = [
            ("static_offsets", DenseI64ArrayAttribute::new(context, &[known]).into()),
            ("static_sizes", DenseI64ArrayAttribute::new(context, shape).into()),
            ("static_strides", DenseI64ArrayAttribute::new(context, strides).into()),
            ("operandSegmentSizes", DenseI32ArrayAttribute::new(context, &[1, dynamic, 0, 0]).into()),
        ];
        Ok(s.op_with("memref.reinterpret_cast", &operands, r#type, &attributes)?)
    }

    /// The element at `indices`, one for each axis, as in registers.
    pub(super) fn load(&self, s: &Scalars<'a, 'a>, indices: &[V<'a>]) -> Result<V<'a>> {
        let mut operands = vec![self.memref];
        operands.extend_from_slice(indices);
        let element = s.op("memref.load", &operands, s.memory_type(self.dtype)?)?;
        Ok(s.from_memory(self.dtype, element)?)
    }

    /// The element that is broadcast to `indices` of a shape of no lower rank: right-aligned, extent 1 is repeated.
    pub(super) fn load_broadcast(&self, s: &Scalars<'a, 'a>, indices: &[V<'a>]) -> Result<V<'a>> {
        let missing = indices.len() - self.shape.len();
        let mut at = Vec::with_capacity(self.shape.len());
        for (&extent, &index) in self.shape.iter().zip(&indices[missing..]) {
            at.push(if extent == 1 { s.index(0)? } else { index });
        }
        self.load(s, &at)
    }

    /// Stores an element that is in registers.
    pub(super) fn store(&self, s: &Scalars<'a, 'a>, element: V<'a>, indices: &[V<'a>]) -> Result<()> {
        let mut operands = vec![s.to_memory(self.dtype, element)?, self.memref];
        operands.extend_from_slice(indices);
        s.append("memref.store", &operands, &[], &[], Vec::new())?;
        Ok(())
    }
}
