//! Types as annotations and as `TensorType(…)`, layouts, placements.

use tf_core::{Diagnostic, Result};
use tf_types::{
    ComposedLayout, DimTuple, Layout, OuterLayout, ShardAttr, ShardLayout, Storage, TensorLayout, TensorType, Type,
    TypeKind,
};

use super::Printer;
use super::doc::Doc;
use super::python::{is_name, string};

fn refuse<T>(message: String) -> Result<T> {
    Err(Diagnostic::error(message))
}

impl<'c> Printer<'_, 'c> {
    /// `Tensor[shape, dtype, layout, storage]`, or a tuple of such. Annotations have strides at once.
    pub(super) fn annotation(&mut self, ty: Type<'c>, is_const: bool) -> Result<Doc> {
        if self.cx.signature_type(ty) != ty {
            return refuse(format!("an annotation of the DSL has layouts with strides only, found {ty}"));
        }
        match ty.data() {
            TypeKind::Tensor(tensor) => self.tensor(tensor, is_const),
            TypeKind::Tuple(fields) if !fields.is_empty() => {
                let fields = fields.iter().map(|&field| match field.data() {
                    TypeKind::Tensor(tensor) => self.tensor(tensor, false),
                    _ => refuse(format!("an annotation of the DSL has no tuple in a tuple, found {ty}")),
                });
                let fields = fields.collect::<Result<Vec<_>>>()?;
                Ok(Doc::subscript(self.file.word(self.cx, "tuple")?, fields))
            }
            _ => refuse(format!("{ty} is no annotation of the DSL")),
        }
    }

    fn tensor(&mut self, tensor: &TensorType<'c>, is_const: bool) -> Result<Doc> {
        let mut slots = vec![self.dims(tensor.shape)?, string(tensor.dtype.name()).into()];
        if let Some(layout) = tensor.layout {
            slots.push(self.layout_slot(tensor, layout)?);
        }
        if tensor.storage != Storage::Gmem {
            slots.push(string(tensor.storage.name()).into());
        }
        let name = self.file.import(if is_const { "ConstTensor" } else { "Tensor" });
        Ok(Doc::subscript(name, slots))
    }

    fn layout_slot(&mut self, tensor: &TensorType<'c>, layout: TensorLayout<'c>) -> Result<Doc> {
        match layout {
            TensorLayout::Plain(plain) if plain.shape() != tensor.shape => {
                let shape = DimTuple(tensor.shape);
                refuse(format!("an annotation of the DSL has a layout of the shape {shape} only, found {plain}"))
            }
            TensorLayout::Shard(shard) => match self.sugar(shard)? {
                Some(sugar) => Ok(sugar),
                None => self.shard(shard),
            },
            other => self.layout(other),
        }
    }

    /// A type as an annotation, or as a tensor without layout where the DSL cannot say it: a return type states no more
    /// than what it shows.
    pub(super) fn return_annotation(&mut self, ty: Type<'c>) -> Option<Doc> {
        let tensor = ty.as_tensor()?;
        let whole = self.annotation(ty, false);
        whole.or_else(|_| self.tensor(&TensorType { layout: None, ..*tensor }, false)).ok()
    }

    /// `TensorType(shape=…, dtype=…, layout=…, storage=…)`: the exact type of a tensor.
    pub(super) fn tensor_type(&mut self, ty: Type<'c>) -> Result<Doc> {
        let Some(tensor) = ty.as_tensor() else { return refuse(format!("{ty} is no `TensorType` of the DSL")) };
        let mut fields = vec![
            Doc::keyword("shape", self.dims(tensor.shape)?),
            Doc::keyword("dtype", string(tensor.dtype.name()).into()),
        ];
        if let Some(layout) = tensor.layout {
            fields.push(Doc::keyword("layout", self.layout(layout)?));
        }
        fields.push(Doc::keyword("storage", string(tensor.storage.name()).into()));
        Ok(Doc::call(self.file.import("TensorType"), fields))
    }

    pub(super) fn layout(&mut self, layout: TensorLayout<'c>) -> Result<Doc> {
        match layout {
            TensorLayout::Plain(layout) => self.strided(layout),
            TensorLayout::Composed(composed) => self.composed(composed),
            TensorLayout::Shard(shard) => self.shard(shard),
        }
    }

    /// `Layout(shape, strides)`
    pub(super) fn strided(&mut self, layout: Layout<'c>) -> Result<Doc> {
        let strides = match layout.strides() {
            Some(strides) => self.dims(strides)?,
            None => "None".into(),
        };
        let shape = self.dims(layout.shape())?;
        Ok(Doc::call(self.file.import("Layout"), vec![shape, strides]))
    }

    fn composed(&mut self, composed: ComposedLayout<'c>) -> Result<Doc> {
        let inner = composed.inner.map(|layout| self.strided(layout)).transpose()?;
        let outer = match composed.outer {
            Some(OuterLayout::Plain(layout)) => Some(self.strided(layout)?),
            Some(OuterLayout::Shard(shard)) => Some(self.shard(shard)?),
            None => None,
        };
        let none = || Doc::from("None");
        let parts = vec![
            Doc::keyword("inner", inner.unwrap_or_else(none)),
            Doc::keyword("offset", self.dim(composed.offset)?.into()),
            Doc::keyword("outer", outer.unwrap_or_else(none)),
        ];
        Ok(Doc::call(self.file.import("ComposedLayout"), parts))
    }

    /// `ShardLayout(layout=…, attrs=…, mesh=…)`
    pub(super) fn shard(&mut self, shard: ShardLayout<'c>) -> Result<Doc> {
        let attrs = shard.attrs.iter().map(|attr| match *attr {
            ShardAttr::Split(axis) => Ok(Doc::call(self.file.import("S"), vec![axis.to_string().into()])),
            ShardAttr::Broadcast => Ok(Doc::call(self.file.import("B"), Vec::new())),
            ShardAttr::Partial(reduction) => self.partial(reduction.as_str()),
            ShardAttr::Dynamic => Ok(Doc::call(self.file.import("Dynamic"), Vec::new())),
        });
        let attrs = attrs.collect::<Result<Vec<_>>>()?;
        let parts = vec![
            Doc::keyword("layout", self.strided(shard.layout)?),
            Doc::keyword("attrs", Doc::tuple(attrs)),
            Doc::keyword("mesh", self.mesh(shard.mesh)?.into()),
        ];
        Ok(Doc::call(self.file.import("ShardLayout"), parts))
    }

    /// `P("sum")`
    pub(super) fn partial(&mut self, reduction: &str) -> Result<Doc> {
        if !matches!(reduction, "sum" | "max" | "min") {
            return refuse(format!("the DSL has partial sums, maxima and minima, found P({reduction:?})"));
        }
        Ok(Doc::call(self.file.import("P"), vec![string(reduction).into()]))
    }

    /// `(1, 6 @ thread.w, 8)`, where that is read back as the same placement: every mesh axis has a name, and no axis of
    /// the layout is factored again.
    fn sugar(&mut self, shard: ShardLayout<'c>) -> Result<Option<Doc>> {
        let mesh = shard.mesh;
        let has_names = (0..mesh.rank()).all(|axis| {
            let name = mesh.axis_name(axis);
            is_name(&name) && mesh.axis_index(&name) == Some(axis)
        });
        let names_mesh = shard.attrs.iter().any(|attr| !matches!(attr, ShardAttr::Broadcast));
        let is_sayable = shard.attrs.iter().all(|attr| !matches!(attr, ShardAttr::Dynamic));
        if !has_names || !names_mesh || !is_sayable || shard.layout.rank() == 0 {
            return Ok(None);
        }
        let is_c_order = self.cx.c_order_layout(shard.layout.shape()) == shard.layout;
        let owner = self.mesh(mesh)?;
        let mut axes = Vec::with_capacity(shard.layout.rank());
        for (axis, &extent) in shard.layout.shape().iter().enumerate() {
            let mut splitters = shard.splitters(axis);
            let text = self.dim(extent)?;
            axes.push(Doc::Text(match (splitters.next(), splitters.next()) {
                (None, _) => text,
                (Some(by), None) if extent == mesh.extents()[by] || !is_c_order => {
                    let text = if text.contains(' ') { format!("({text})") } else { text };
                    format!("{text} @ {owner}.{}", mesh.axis_name(by))
                }
                _ => return Ok(None),
            }));
        }
        let mut partials = Vec::new();
        for (axis, attr) in shard.attrs.iter().enumerate() {
            if let ShardAttr::Partial(reduction) = attr {
                let state = self.partial(reduction.as_str())?;
                partials.push(Doc::Seq(vec![format!("{owner}.{} @ ", mesh.axis_name(axis)).into(), state]));
            }
        }
        let axes = Doc::tuple(axes);
        if is_c_order && partials.is_empty() {
            return Ok(Some(axes));
        }
        let mut parts = vec![axes];
        if let (false, Some(strides)) = (is_c_order, shard.layout.strides()) {
            parts.push(self.dims(strides)?);
        }
        if !partials.is_empty() {
            parts.push(Doc::set(partials));
        }
        Ok(Some(Doc::tuple(parts)))
    }
}
