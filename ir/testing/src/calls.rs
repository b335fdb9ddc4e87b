//! Random calls of ops: operands from those in scope, attributes by kind; what an op's rule refuses is not made.

use tf_core::node::constraint::{AxisConstraint, BindingConstraint, ConstraintData, LayoutConstraint};
use tf_core::op::{Attr, AttrKind, OpDecl, OpId, OpView, ParamKind};
use tf_core::{Expr, Literal, Meta, Span};
use tf_types::{DType, DimVars, Mesh, Storage, Symbol, TensorLayout, Type};

use crate::{Generator, types};

/// How often a call is tried.
const TRIES: usize = 24;

impl<'c> Generator<'_, 'c> {
    /// A call of one of the ops on values in scope.
    pub fn call(&mut self, ops: &[OpId], scope: &[Expr<'c>]) -> Option<Expr<'c>> {
        let cx = self.cx;
        for _ in 0..TRIES {
            let Some((id, args, attrs)) = self.attempt(ops, scope) else { continue };
            if let Ok(call) = cx.call(cx.op_instance(id, &attrs), &args, Meta::default()) {
                let meta = self.meta_of(call.ty());
                return Some(cx.expr(call.kind, call.ty(), meta));
            }
        }
        None
    }

    /// An effect that its rule accepts.
    pub fn effect(&mut self, ops: &[OpId], scope: &[Expr<'c>]) -> Option<OpView<'c>> {
        let cx = self.cx;
        for _ in 0..TRIES {
            let Some((id, args, attrs)) = self.attempt(ops, scope) else { continue };
            let view = OpView { op: cx.op_instance(id, &attrs), args: cx.alloc_slice(&args) };
            if cx.ops().verify.get(id).is_some_and(|rule| rule(view, cx).is_ok()) {
                return Some(view);
            }
        }
        None
    }

    fn attempt(&mut self, ops: &[OpId], scope: &[Expr<'c>]) -> Option<(OpId, Vec<Expr<'c>>, Vec<Attr<'c>>)> {
        if ops.is_empty() || scope.is_empty() {
            return None;
        }
        let id = self.rng.pick(ops);
        let decl = self.cx.ops().decl(id);
        let first = self.rng.pick(scope);
        let mut args = Vec::new();
        for input in decl.inputs() {
            let ParamKind::Input { pattern, variadic, optional } = input.kind else { continue };
            let count = if variadic { self.rng.below(3) } else { usize::from(!optional || self.rng.once_in(2)) };
            for _ in 0..count {
                let like = args.first().copied().unwrap_or(first);
                let mut pick = self.rng.pick(scope);
                for _ in 0..4 {
                    // Most ops take operands of one type.
                    if pattern.matches(pick.ty()) && (self.rng.once_in(4) || pick.ty() == like.ty()) {
                        break;
                    }
                    pick = self.rng.pick(scope);
                }
                args.push(pick);
            }
            if optional && count == 0 {
                break;
            }
        }
        Some((id, args, self.attributes(decl)?))
    }

    pub(crate) fn attributes(&mut self, decl: &'static OpDecl) -> Option<Vec<Attr<'c>>> {
        let kinds = decl.attributes().filter_map(|param| match param.kind {
            ParamKind::Attribute { kind, optional, .. } => Some((kind, optional)),
            ParamKind::Input { .. } => None,
        });
        let kinds: Vec<_> = kinds.collect();
        kinds.into_iter().map(|(kind, optional)| self.attribute(kind, optional)).collect()
    }

    /// None where the kind needs a mesh and none is open.
    fn attribute(&mut self, kind: AttrKind, optional: bool) -> Option<Attr<'c>> {
        let cx = self.cx;
        if optional && self.rng.once_in(2) {
            return Some(Attr::None);
        }
        Some(match kind {
            AttrKind::Bool => Attr::Bool(self.rng.once_in(2)),
            AttrKind::Int => Attr::Int(self.rng.below(5) as i64 - 1),
            AttrKind::Float => Attr::Float(self.float().to_bits()),
            AttrKind::Str => Attr::Str(cx.symbol(["a", "two words", "\"\\\n"][self.rng.below(3)])),
            AttrKind::Enum(decl) => Attr::Enum(self.rng.below(decl.variants.len()) as u8),
            AttrKind::DType => Attr::DType(self.rng.pick(&DType::ALL)),
            AttrKind::Storage => Attr::Storage(self.rng.pick(&Storage::ALL)),
            AttrKind::Ints => {
                let values: Vec<_> = (0..self.rng.below(3)).map(|_| self.rng.below(4) as i64 - 1).collect();
                Attr::Ints(cx.alloc_slice(&values))
            }
            AttrKind::Dim => Attr::Dim(self.rng.pick(&self.bounds)),
            AttrKind::Dims => {
                let dims: Vec<_> = (0..self.rng.below(3)).map(|_| self.rng.pick(&self.bounds)).collect();
                Attr::Dims(cx.dims(&dims))
            }
            AttrKind::Layout | AttrKind::Shard => {
                let ty = self.open_type();
                let shape = ty.as_tensor().map_or(&[][..], |tensor| tensor.shape);
                match (kind, types::layout(cx, &mut self.rng, shape, &self.open)) {
                    (_, Some(TensorLayout::Shard(shard))) => match kind {
                        AttrKind::Shard => Attr::Shard(shard),
                        _ => Attr::Layout(TensorLayout::Shard(shard)),
                    },
                    (AttrKind::Layout, Some(layout)) => Attr::Layout(layout),
                    (AttrKind::Layout, None) => Attr::Layout(TensorLayout::Plain(cx.c_order_layout(shape))),
                    _ => {
                        let mesh = self.open_mesh()?;
                        let attrs = vec![tf_types::ShardAttr::Broadcast; mesh.rank()];
                        Attr::Shard(cx.shard_layout(cx.c_order_layout(shape), &attrs, mesh))
                    }
                }
            }
            AttrKind::Mesh => Attr::Mesh(self.open_mesh()?),
            AttrKind::Type => Attr::Type(self.open_type()),
        })
    }

    fn open_mesh(&mut self) -> Option<Mesh<'c>> {
        (!self.open.is_empty()).then(|| self.rng.pick(&self.open))
    }

    /// One of the types, but for those that are placed on a mesh which is not open or have dims that no parameter has.
    fn open_type(&mut self) -> Type<'c> {
        let is_open = |ty: &Type<'c>| {
            let shard = ty.as_tensor().and_then(|tensor| tensor.shard());
            shard.is_none_or(|shard| self.open.contains(&shard.mesh))
        };
        let mut known = DimVars::default();
        self.bounds.iter().for_each(|&dim| known.add_dim(dim));
        let has_values = |ty: &Type<'c>| {
            let mut used = DimVars::default();
            ty.leaves().iter().flat_map(|tensor| tensor.shape).for_each(|&dim| used.add_dim(dim));
            used.as_slice().iter().all(|var| known.as_slice().contains(var))
        };
        let open: Vec<_> = self.types.iter().copied().filter(|ty| is_open(ty) && has_values(ty)).collect();
        self.rng.pick(&open)
    }

    pub fn float(&mut self) -> f64 {
        let any = f64::from_bits(self.rng.next_u64());
        self.rng.pick(&[0.0, -0.0, 1.5, f64::INFINITY, f64::NAN, any])
    }

    /// A literal of rank 0.
    pub fn literal(&mut self) -> Expr<'c> {
        let (literal, dtype) = match self.rng.below(3) {
            0 => (Literal::Bool(self.rng.once_in(2)), DType::Bool),
            1 => (Literal::Int(self.rng.next_u64() as i64 >> self.rng.below(64)), DType::I64),
            _ => (Literal::Float(self.float()), DType::F32),
        };
        let meta = self.meta();
        self.cx.constant(literal, dtype, meta)
    }

    /// Random metadata of a value of that type: a constraint too, if it is a tensor.
    pub fn meta_of(&mut self, ty: Type<'c>) -> Meta<'c> {
        let mut meta = self.meta();
        if ty.as_tensor().is_some_and(|tensor| tensor.storage != Storage::Umat) && self.rng.once_in(8) {
            meta.constraint = self.cx.constraint(self.constraint()).ok();
        }
        meta
    }

    /// Random metadata: names that need quotes or repeat, places.
    pub fn meta(&mut self) -> Meta<'c> {
        let cx = self.cx;
        let mut meta = Meta::default();
        if self.rng.once_in(2) {
            meta.name = Some(self.word(&["acc", "x", "y_1"], &["1", "a b", "x.1"]));
        }
        if self.rng.once_in(3) {
            let file = cx.sources().named("some file.py");
            let line = self.rng.below(100) as u32 + 1;
            meta.span = Some(Span::new(file, (line, 1), (line, 9)));
        }
        meta
    }

    fn constraint(&mut self) -> ConstraintData<'c> {
        let cx = self.cx;
        let (split, other) = (self.levels[0], self.levels.get(1).copied());
        let axes = [
            AxisConstraint::Any,
            AxisConstraint::Extent(self.rng.pick(&self.bounds)),
            AxisConstraint::Split(self.rng.once_in(2).then(|| cx.dim(4)), split),
        ];
        let binding = self.rng.pick(&[BindingConstraint::Broadcast, BindingConstraint::Partial(cx.symbol("max"))]);
        let bindings = match (self.rng.once_in(2), other) {
            (false, Some(other)) => cx.alloc_slice(&[(other, binding)]),
            _ => &[],
        };
        let first = self.rng.below(3);
        let layout = LayoutConstraint { axes: cx.alloc_slice(&axes[first..]), bindings };
        ConstraintData {
            layout: self.rng.once_in(2).then_some(layout),
            mesh: self.rng.once_in(3).then(|| self.rng.pick(&self.meshes)),
            storage: Some(self.rng.pick(&Storage::ALL)),
        }
    }

    /// One of the words, or of the odd names.
    fn word(&mut self, words: &[&str], odd: &[&str]) -> Symbol<'c> {
        let names = if self.options.odd && self.rng.once_in(2) { odd } else { words };
        self.cx.symbol(names[self.rng.below(names.len())])
    }

    /// A variable of that type.
    pub fn var(&mut self, ty: Type<'c>) -> Expr<'c> {
        let name = self.word(&["x", "acc", "i", "k", "row", "t", "y", "z"], &["1", "a b", "x.1"]);
        let meta = Meta { name: None, ..self.meta_of(ty) };
        self.cx.var(name, ty, meta)
    }
}
