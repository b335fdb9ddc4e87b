//! Thread and CTA coordinates, each computed once at the head of the kernel.
use crate::{
    BackendError,
    emit::{
        V,
        build::{first_result, operation},
        gpu::index::Index,
    },
};
use melior::ir::{Attribute, BlockLike, BlockRef, Location, OperationRef, Type, attribute::IntegerAttribute};
use rustc_hash::FxHashMap;
use tf_core::{Diagnostic, Result};
use tf_tir::mesh::positions::{AxisPosition, Positions};
use tf_types::Mesh;

use crate::Session;

/// Grid and block of a kernel, x y z.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Geometry {
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
}

impl Geometry {
    fn extents(&self, in_cta: bool) -> [u32; 3] {
        if in_cta { self.block } else { self.grid }
    }

    /// Number of threads of a CTA, or of CTAs.
    pub(crate) fn total(&self, in_cta: bool) -> i64 {
        self.extents(in_cta).iter().map(|&extent| i64::from(extent)).product()
    }
}

/// The prologue of a kernel: what depends on the position only.
pub(crate) struct Prologue<'a> {
    session: &'a Session,
    entry: BlockRef<'a, 'a>,
    location: Location<'a>,
    geometry: Geometry,
    last: Option<OperationRef<'a, 'a>>,
    ids: [Option<V<'a>>; 2],
    coordinates: FxHashMap<(bool, i64, i64), V<'a>>,
}

impl<'a> Prologue<'a> {
    pub(crate) fn new(
        session: &'a Session,
        entry: BlockRef<'a, 'a>,
        location: Location<'a>,
        geometry: Geometry,
    ) -> Self {
        Self { session, entry, location, geometry, last: None, ids: [None; 2], coordinates: FxHashMap::default() }
    }

    pub(crate) fn geometry(&self) -> Geometry {
        self.geometry
    }

    /// The coordinate along an axis of a mesh.
    ///
    /// # Errors
    /// A mesh that is not static, or that has more positions than the launch starts.
    pub(crate) fn coordinate(&mut self, mesh: Mesh<'_>, axis: usize) -> Result<Index<'a>> {
        let place = Positions::of(mesh).map_err(Diagnostic::from)?.axes[axis];
        let AxisPosition { in_cta, stride, extent } = place;
        if extent == 1 {
            return Ok(Index::constant(0));
        }
        let total = self.geometry.total(in_cta);
        if stride * extent > total {
            let message = format!(
                "mesh axis `{}` needs {} {}, the launch starts {total}",
                mesh.axis_name(axis),
                stride * extent,
                if in_cta { "threads in a CTA" } else { "CTAs" }
            );
            return Err(Diagnostic::error(message));
        }
        if let Some(&known) = self.coordinates.get(&(in_cta, stride, extent)) {
            return Ok(Index::of(known, 1));
        }
        let mut value = self.id(in_cta)?;
        if stride > 1 {
            let by = self.constant(stride)?;
            value = self.op("arith.divui", &[value, by], &[])?;
        }
        if stride * extent < total {
            let by = self.constant(extent)?;
            value = self.op("arith.remui", &[value, by], &[])?;
        }
        self.coordinates.insert((in_cta, stride, extent), value);
        Ok(Index::of(value, 1))
    }

    /// The linear id of the thread in its CTA.
    pub(crate) fn thread(&mut self) -> Result<V<'a>> {
        self.id(true)
    }

    /// The linear thread or CTA id, x fastest.
    fn id(&mut self, in_cta: bool) -> Result<V<'a>> {
        if let Some(known) = self.ids[usize::from(in_cta)] {
            return Ok(known);
        }
        let name = if in_cta { "gpu.thread_id" } else { "gpu.block_id" };
        let extents = self.geometry.extents(in_cta);
        let mut id = None;
        // From z to x: id = (z * extent_y + y) * extent_x + x; axes of extent 1 are always 0.
        for (axis, letter) in ["x", "y", "z"].into_iter().enumerate().rev() {
            if extents[axis] == 1 && axis > 0 {
                continue;
            }
            let attribute = Attribute::parse(self.session.context(), &format!("#gpu<dim {letter}>"))
                .ok_or_else(|| BackendError::new("MLIR has no dimension attribute"))?;
            let part = self.op(name, &[], &[("dimension", attribute)])?;
            id = Some(match id {
                None => part,
                Some(outer) => {
                    let extent = self.constant(i64::from(extents[axis]))?;
                    let scaled = self.op("arith.muli", &[outer, extent], &[])?;
                    self.op("arith.addi", &[scaled, part], &[])?
                }
            });
        }
        let id = id.ok_or_else(|| BackendError::new("a launch has three axes"))?;
        self.ids[usize::from(in_cta)] = Some(id);
        Ok(id)
    }

    fn constant(&mut self, value: i64) -> Result<V<'a>> {
        let index = Type::index(self.session.context());
        self.op("arith.constant", &[], &[("value", IntegerAttribute::new(index, value).into())])
    }

    /// Inserts an operation with an index result after those before.
    fn op(&mut self, name: &str, operands: &[V<'a>], attributes: &[(&str, Attribute<'a>)]) -> Result<V<'a>> {
        let context = self.session.context();
        let made = operation(self.location, context, name, operands, &[Type::index(context)], attributes, vec![])?;
        let inserted = match self.last {
            None => self.entry.insert_operation(0, made),
            Some(last) => self.entry.insert_operation_after(last, made),
        };
        self.last = Some(inserted);
        first_result(inserted)
    }
}
