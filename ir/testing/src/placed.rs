//! Functions whose values are placed on meshes: random placements, and ops with attributes that fit the shapes.

use tf_core::node::{FunctionData, GridRegion, ModuleData};
use tf_core::op::{Attr, OpName, ParamKind};
use tf_core::{AnyFunction, Callee, Context, Expr, ExprKind, Literal, Meta, Module};
use tf_types::{DType, Mesh, MeshLayout, ShardAttr, ShardLayout, Storage, Topology, Type, TypeKind};

use crate::Rng;

/// Elements of a value, at most.
const MOST_ELEMENTS: i64 = 4096;

/// The module of a seed: one function that returns every value it makes. All are well typed; which ops occur depends on what is
/// registered of the dialect `tf`.
#[must_use]
pub fn random_placed<'c>(cx: &Context<'c>, seed: u64) -> Module<'c> {
    let mut rng = Rng::new(seed);
    let levels = levels(cx, &mut rng);
    let meshes: Vec<_> = (0..1 + usize::from(rng.once_in(4))).map(|_| mesh(cx, &mut rng, levels)).collect();
    let mut maker = Maker { cx, rng, meshes, scope: Vec::new() };
    let params = maker.params();
    for _ in 0..4 + maker.rng.below(14) {
        let made = maker.step();
        maker.scope.extend(made.filter(|made| is_small(made.ty())));
    }
    let values: Vec<_> = maker.scope[params.len()..].to_vec();
    let types: Vec<_> = values.iter().map(|value| value.ty()).collect();
    let body = cx.expr(ExprKind::Tuple(cx.alloc_slice(&values)), cx.tuple(&types), Meta::default());
    let name = cx.symbol("f");
    let function = cx.function(FunctionData::new(name, cx.alloc_slice(&params), body, body.ty()));
    cx.module(ModuleData {
        functions: cx.alloc_slice(&[AnyFunction::Hir(function)]),
        topologies: Some(levels),
        entry: Some(name),
        ..ModuleData::new(cx.symbol("m"))
    })
}

fn levels<'c>(cx: &Context<'c>, rng: &mut Rng) -> &'c [Topology<'c>] {
    let level = |name: &str, size| Topology { name: cx.symbol(name), size: Some(cx.dim(size)) };
    let threads = level("thread", rng.pick(&[2, 4, 8]));
    if rng.once_in(2) { cx.topologies(&[threads]) } else { cx.topologies(&[level("cta", 2), threads]) }
}

/// A mesh over the innermost level or all of them, whose axes are factors of their sizes.
fn mesh<'c>(cx: &Context<'c>, rng: &mut Rng, levels: &'c [Topology<'c>]) -> Mesh<'c> {
    let over = if rng.once_in(3) { &levels[levels.len() - 1..] } else { levels };
    let mut extents = Vec::new();
    for level in over {
        let mut rest = level.size.and_then(|size| size.as_const()).unwrap_or(1);
        while rest > 2 && rng.once_in(2) {
            extents.push(2);
            rest /= 2;
        }
        extents.push(rest);
    }
    let names: Vec<_> = ["a", "b", "c", "d", "e"].iter().take(extents.len()).map(|name| cx.symbol(name)).collect();
    cx.mesh(over, MeshLayout::Plain(cx.c_order_layout(cx.const_dims(&extents))), &names)
}

fn shape(ty: Type<'_>) -> Vec<i64> {
    ty.as_tensor().and_then(|tensor| tensor.static_shape()).unwrap_or_default()
}

fn is_small(ty: Type<'_>) -> bool {
    ty.leaves().iter().all(|leaf| {
        leaf.static_shape().is_some_and(|shape| shape.iter().product::<i64>() <= MOST_ELEMENTS && shape.len() < 6)
    })
}

struct Maker<'a, 'c> {
    cx: &'a Context<'c>,
    rng: Rng,
    meshes: Vec<Mesh<'c>>,
    scope: Vec<Expr<'c>>,
}

impl<'c> Maker<'_, 'c> {
    fn params(&mut self) -> Vec<Expr<'c>> {
        const SHAPES: &[&[i64]] = &[
            &[8, 8],
            &[8, 8],
            &[16, 8],
            &[8, 16],
            &[4, 8, 8],
            &[16],
            &[8],
            &[1, 8],
            &[8, 1],
            &[2, 4, 8, 8],
            &[8, 4, 1, 1],
        ];
        let cx = self.cx;
        for at in 0..2 + self.rng.below(3) {
            let shape = cx.const_dims(self.rng.pick(SHAPES));
            let dtype = self.rng.pick(&[DType::F32, DType::F32, DType::F32, DType::I32]);
            let ty = cx.tensor(shape, dtype, None, Storage::Gmem);
            self.scope.push(cx.var(cx.symbol(&format!("p{at}")), ty, Meta::default()));
        }
        self.scope.clone()
    }

    /// A call of an op with these attributes, the others by default; none where its rule refuses it.
    fn call(&mut self, name: &'static str, args: &[Expr<'c>], attrs: &[(&str, Attr<'c>)]) -> Option<Expr<'c>> {
        let id = self.cx.ops().id_of(OpName::new("tf", name))?;
        let mut values = Vec::new();
        for param in self.cx.ops().decl(id).attributes() {
            let ParamKind::Attribute { default, .. } = param.kind else { continue };
            let stated = attrs.iter().find(|(known, _)| *known == param.name).map(|(_, attr)| *attr);
            values.push(stated.or(default.map(|default| default.to_attr()))?);
        }
        self.cx.call(self.cx.op_instance(id, &values), args, Meta::default()).ok()
    }

    /// A random placement of a shape.
    fn placement(&mut self, shape: &[i64]) -> Option<ShardLayout<'c>> {
        let mesh = self.rng.pick(&self.meshes);
        let terms = self.rng.pick(&["sum", "sum", "max", "min"]);
        let attrs: Vec<_> = (0..mesh.rank())
            .map(|_| match self.rng.below(8) {
                0..4 if !shape.is_empty() => ShardAttr::Split(self.rng.below(shape.len()) as u32),
                7 => ShardAttr::Partial(self.cx.symbol(terms)),
                _ => ShardAttr::Broadcast,
            })
            .collect();
        let runs: Vec<_> =
            attrs.iter().map(|_| self.rng.once_in(4).then(|| self.cx.dim(1 + self.rng.below(2) as i64))).collect();
        let shard = self.cx.shard_layout_in_runs(self.cx.const_dims(shape), mesh, &attrs, &runs).ok()?;
        Some(self.cx.shard_layout(self.cx.layout(shard.layout.shape(), None), shard.attrs, mesh))
    }

    fn reshard(&mut self, x: Expr<'c>) -> Option<Expr<'c>> {
        // Placements that values have already, so that operands meet their like.
        let of = |value: &Expr<'c>| value.ty().as_tensor().filter(|ty| ty.rank() > 0)?.shard();
        let alike: Vec<_> =
            self.scope.iter().filter(|other| shape(other.ty()) == shape(x.ty())).filter_map(of).collect();
        let layout = match alike.is_empty() || self.rng.once_in(2) {
            true => self.placement(&shape(x.ty()))?,
            false => self.rng.pick(&alike),
        };
        let storage = self.rng.pick(&[Storage::Rmem, Storage::Rmem, Storage::Rmem, Storage::Rmem, Storage::Gmem]);
        self.call("reshard", &[x], &[("layout", Attr::Shard(layout)), ("storage", Attr::Storage(storage))])
    }

    fn number(&self, value: i64) -> Expr<'c> {
        self.cx.constant(Literal::Int(value), DType::I64, Meta::default())
    }

    /// Few of many steps make a value where operands are drawn blindly, hence several tries.
    fn step(&mut self) -> Option<Expr<'c>> {
        (0..24).find_map(|_| {
            let is_placed = |value: &Expr<'c>| value.ty().leaves().iter().any(|leaf| leaf.shard().is_some());
            let placed: Vec<_> = self.scope.iter().copied().filter(is_placed).collect();
            let any = placed.is_empty() || self.rng.once_in(4);
            let x = self.rng.pick(if any { &self.scope } else { &placed });
            if let TypeKind::Tuple(fields) = *x.ty().data() {
                let index = Attr::Int(self.rng.below(fields.len().max(1)) as i64);
                return self.call("tuple_get_item", &[x], &[("index", index)]);
            }
            match self.rng.below(8) {
                0 => self.reshard(x),
                1 | 2 => self.pointwise(x),
                3 | 4 => self.along_axes(x),
                _ => self.joined(x),
            }
        })
    }

    /// Operands with x of several inputs: of its type, most often.
    fn like(&mut self, x: Expr<'c>) -> Expr<'c> {
        let alike: Vec<_> = self.scope.iter().copied().filter(|other| other.ty() == x.ty()).collect();
        if self.rng.once_in(3) { self.rng.pick(&self.scope) } else { self.rng.pick(&alike) }
    }

    fn pointwise(&mut self, x: Expr<'c>) -> Option<Expr<'c>> {
        let y = self.like(x);
        let kind = |ordinal: usize| ("kind", Attr::Enum(ordinal as u8));
        match self.rng.below(10) {
            0 => self.call("relu", &[x], &[]),
            1 => self.call("tanh", &[x], &[]),
            2 => self.call(
                "clamp",
                &[x],
                &[("min_val", Attr::Float((-4f64).to_bits())), ("max_val", Attr::Float(6f64.to_bits()))],
            ),
            3 => self.call("full_like", &[x], &[("value", Attr::Float(2f64.to_bits()))]),
            4 => self.call("cast", &[x], &[("dtype", Attr::DType(DType::F32))]),
            5 => {
                let unary = self.rng.below(12);
                self.call("unary", &[x], &[kind(unary)])
            }
            6 => {
                let condition = self.call("binary", &[x, y], &[("kind", Attr::Enum(10))])?;
                self.call("where", &[condition, y, x], &[])
            }
            7 => {
                let half = self.cx.constant(Literal::Float(0.5), DType::F32, Meta::default());
                self.call("binary", &[x, half], &[kind(2)])
            }
            _ => {
                let binary = self.rng.below(8);
                self.call("binary", &[x, y], &[kind(binary)])
            }
        }
    }

    fn along_axes(&mut self, x: Expr<'c>) -> Option<Expr<'c>> {
        let cx = self.cx;
        let shape = shape(x.ty());
        let rank = shape.len();
        if rank == 0 {
            return None;
        }
        let axis = self.rng.below(rank);
        let at = Attr::Int(axis as i64);
        match self.rng.below(11) {
            0 | 1 => {
                let axes: Vec<_> = (0..rank as i64).filter(|_| self.rng.once_in(2)).collect();
                let kind = Attr::Enum(self.rng.below(4) as u8);
                let keepdim = Attr::Bool(self.rng.once_in(2));
                let attrs = [("axes", Attr::Ints(cx.alloc_slice(&axes))), ("keepdim", keepdim), ("kind", kind)];
                self.call("reduce", &[x], &attrs)
            }
            2 => {
                let mut perm: Vec<_> = (0..rank as i64).collect();
                (0..rank).for_each(|at| perm.swap(at, self.rng.below(rank)));
                self.call("transpose", &[x], &[("perm", Attr::Ints(cx.alloc_slice(&perm)))])
            }
            3 => {
                let mut new = shape.clone();
                match self.rng.below(3) {
                    0 if new[axis] % 2 == 0 => {
                        new[axis] /= 2;
                        new.insert(axis + self.rng.below(2), 2);
                    }
                    1 if axis + 1 < rank => new[axis] *= new.remove(axis + 1),
                    _ => new.insert(axis, 1),
                }
                self.call("reshape", &[x], &[("new_shape", Attr::Dims(cx.const_dims(&new)))])
            }
            4 => {
                let (mut sizes, mut starts) = (shape.clone(), vec![0; rank]);
                sizes[axis] = (shape[axis] / 2).max(1);
                starts[axis] = self.rng.below((shape[axis] - sizes[axis] + 1) as usize) as i64;
                let args: Vec<_> = [x].into_iter().chain(starts.into_iter().map(|start| self.number(start))).collect();
                let dims = |values: &[i64]| Attr::Dims(cx.const_dims(values));
                self.call("slice", &args, &[("sizes", dims(&sizes)), ("strides", dims(&vec![1; rank]))])
            }
            5 => self.call("softmax", &[x], &[("axis", at)]),
            6 => self.call("argmax", &[x], &[("axis", at)]),
            7 => self.call("topk", &[x], &[("k", Attr::Dim(cx.dim(2))), ("axis", at)]),
            8 => self.call("split", &[x], &[("axis", at), ("num_splits", Attr::Int(2))]),
            9 => self.call("repeat_interleave", &[x], &[("axis", at), ("repeats", Attr::Int(2))]),
            _ => {
                let count = cx.const_dims(&[4]);
                let ty = cx.tensor(count, DType::I64, None, Storage::Gmem);
                let rows = self.call("arange", &[], &[("type", Attr::Type(ty))])?;
                self.call("index_select", &[x, rows], &[("dim", at)])
            }
        }
    }

    fn joined(&mut self, x: Expr<'c>) -> Option<Expr<'c>> {
        let (y, shape) = (self.like(x), shape(x.ty()));
        let rank = shape.len();
        let axis = Attr::Int(self.rng.below(rank.max(1)) as i64);
        match self.rng.below(8) {
            0 | 1 => {
                let fits = |other: &Expr<'c>| {
                    let shape = self::shape(other.ty());
                    shape.len() >= 2 && Some(&shape[shape.len() - 2]) == self::shape(x.ty()).last()
                };
                let fitting: Vec<_> = self.scope.iter().copied().filter(fits).collect();
                let rhs = if fitting.is_empty() { y } else { self.rng.pick(&fitting) };
                self.call("matmul", &[x, rhs], &[])
            }
            2 => self.call("concat", &[x, y], &[("axis", axis)]),
            3 => self.call("stack", &[x, y], &[("axis", axis)]),
            4 => {
                let offset = (0..rank).map(|axis| {
                    let room = shape[axis] - self::shape(y.ty()).get(axis).copied().unwrap_or(1);
                    let first = if room > 0 { self.rng.below(room as usize + 1) as i64 } else { 0 };
                    self.number(first)
                });
                let args: Vec<_> = [x, y].into_iter().chain(offset.collect::<Vec<_>>()).collect();
                self.call("insert_slice", &args, &[])
            }
            5 => {
                let last = self
                    .scope
                    .iter()
                    .copied()
                    .find(|v| self::shape(v.ty()).len() == 1 && self::shape(v.ty()).last() == shape.last());
                self.call("rms_norm", &[x, last?], &[])
            }
            6 => self.summed(x, y),
            _ => self.called(x),
        }
    }

    /// A loop that adds a value three times.
    fn summed(&mut self, x: Expr<'c>, y: Expr<'c>) -> Option<Expr<'c>> {
        let cx = self.cx;
        let carry = cx.var(cx.symbol("acc"), x.ty(), Meta::default());
        let next = self.call("binary", &[carry, y], &[("kind", Attr::Enum(0))]).filter(|next| next.ty() == x.ty())?;
        let region = GridRegion {
            induction: cx.var(cx.symbol("i"), cx.scalar(DType::I64), Meta::default()),
            carries: cx.alloc_slice(&[carry]),
            inits: cx.alloc_slice(&[x]),
            yields: cx.alloc_slice(&[next]),
            body: None,
            start: cx.dim(0),
            stop: cx.dim(3),
            step: cx.dim(1),
        };
        Some(cx.grid(region, x.ty(), Meta::default()))
    }

    /// A function of its own that is called with a value.
    fn called(&mut self, x: Expr<'c>) -> Option<Expr<'c>> {
        let cx = self.cx;
        let param = cx.var(cx.symbol("x"), x.ty(), Meta::default());
        let body = self.call("relu", &[param], &[])?;
        let callee = cx.function(FunctionData::new(cx.symbol("g"), cx.alloc_slice(&[param]), body, body.ty()));
        let kind = ExprKind::Call { callee: Callee::Function(callee), args: cx.alloc_slice(&[x]) };
        Some(cx.expr(kind, body.ty(), Meta::default()))
    }
}
