//! Replacing dim variables by name.

use rustc_hash::FxHashMap;

use crate::dim::{DimKind, DimVar};
use crate::layout::OuterLayout;
use crate::mesh::MeshLayout;
use crate::{ComposedLayout, Dim, Layout, Mesh, ShardLayout, Symbol, TensorLayout, Topology, Type, TypeContext};
use crate::{TypeError, TypeKind};

/// One pass over a type; the rule "one name, one range" spans all of it.
struct Substitution<'a, 'c> {
    cx: &'a TypeContext<'c>,
    bindings: &'a [(Symbol<'c>, Dim<'c>)],
    seen: Vec<DimVar<'c>>,
    done: FxHashMap<Dim<'c>, Dim<'c>>,
}

impl<'c> TypeContext<'c> {
    /// The dim with variables replaced by name, all at once, in normal form. Names without a binding stay.
    ///
    /// # Errors
    /// An integer outside the variable's range; one name with two ranges.
    pub fn substitute_dim(&self, dim: Dim<'c>, bindings: &[(Symbol<'c>, Dim<'c>)]) -> Result<Dim<'c>, TypeError> {
        Substitution::new(self, bindings).dim(dim)
    }

    /// The type with variables of shapes, layouts, meshes and topologies replaced by name, in normal form.
    ///
    /// # Errors
    /// As [`TypeContext::substitute_dim`].
    pub fn substitute_type(&self, ty: Type<'c>, bindings: &[(Symbol<'c>, Dim<'c>)]) -> Result<Type<'c>, TypeError> {
        Substitution::new(self, bindings).ty(ty)
    }

    /// The mesh with variables replaced by name, in normal form.
    ///
    /// # Errors
    /// As [`TypeContext::substitute_dim`].
    pub fn substitute_mesh(&self, mesh: Mesh<'c>, bindings: &[(Symbol<'c>, Dim<'c>)]) -> Result<Mesh<'c>, TypeError> {
        Substitution::new(self, bindings).mesh(mesh)
    }

    /// The placement with variables replaced by name, in normal form.
    ///
    /// # Errors
    /// As [`TypeContext::substitute_dim`].
    pub fn substitute_shard(
        &self,
        shard: ShardLayout<'c>,
        bindings: &[(Symbol<'c>, Dim<'c>)],
    ) -> Result<ShardLayout<'c>, TypeError> {
        Substitution::new(self, bindings).shard(shard)
    }
}

impl<'a, 'c> Substitution<'a, 'c> {
    fn new(cx: &'a TypeContext<'c>, bindings: &'a [(Symbol<'c>, Dim<'c>)]) -> Self {
        Self { cx, bindings, seen: Vec::new(), done: FxHashMap::default() }
    }

    fn variable(&mut self, dim: Dim<'c>, var: DimVar<'c>) -> Result<Dim<'c>, TypeError> {
        match self.seen.iter().find(|v| v.name == var.name) {
            Some(seen) if *seen != var => return Err(conflict(*seen, var)),
            Some(_) => {}
            None => self.seen.push(var),
        }
        let Some(&(_, value)) = self.bindings.iter().find(|b| b.0 == var.name) else { return Ok(dim) };
        match value.as_const() {
            Some(int) if !(var.lo..var.hi).contains(&int) => {
                Err(TypeError::new(format!("`{}` cannot be {int}; its range is [{}, {})", var.name, var.lo, var.hi)))
            }
            _ => Ok(value),
        }
    }

    fn dim(&mut self, root: Dim<'c>) -> Result<Dim<'c>, TypeError> {
        let mut stack = vec![(root, false)];
        while let Some((dim, operands_done)) = stack.pop() {
            if self.done.contains_key(&dim) {
                continue;
            }
            let replaced = match *dim.data() {
                DimKind::Const(_) => dim,
                DimKind::Var(var) => self.variable(dim, var)?,
                DimKind::Op(_, a, b) if !operands_done => {
                    stack.extend([(dim, true), (b, false), (a, false)]);
                    continue;
                }
                DimKind::Op(op, a, b) => self.cx.dim_op(op, self.done[&a], self.done[&b]),
            };
            self.done.insert(dim, replaced);
        }
        Ok(self.cx.simplify(self.done[&root]))
    }

    fn dims(&mut self, dims: &[Dim<'c>]) -> Result<Vec<Dim<'c>>, TypeError> {
        dims.iter().map(|&d| self.dim(d)).collect()
    }

    fn layout(&mut self, layout: Layout<'c>) -> Result<Layout<'c>, TypeError> {
        let shape = self.dims(layout.shape())?;
        let strides = layout.strides().map(|s| self.dims(s)).transpose()?;
        Ok(self.cx.layout(&shape, strides.as_deref()))
    }

    fn composed(&mut self, composed: ComposedLayout<'c>) -> Result<ComposedLayout<'c>, TypeError> {
        let inner = composed.inner.map(|l| self.layout(l)).transpose()?;
        let offset = self.dim(composed.offset)?;
        let outer = match composed.outer {
            Some(OuterLayout::Plain(layout)) => Some(OuterLayout::Plain(self.layout(layout)?)),
            Some(OuterLayout::Shard(shard)) => Some(OuterLayout::Shard(self.shard(shard)?)),
            None => None,
        };
        Ok(self.cx.composed_layout(inner, offset, outer))
    }

    fn mesh(&mut self, mesh: Mesh<'c>) -> Result<Mesh<'c>, TypeError> {
        let mut topologies = Vec::with_capacity(mesh.topologies.len());
        for topology in mesh.topologies {
            let size = topology.size.map(|s| self.dim(s)).transpose()?;
            topologies.push(Topology { name: topology.name, size });
        }
        let layout = match mesh.layout {
            MeshLayout::Plain(layout) => MeshLayout::Plain(self.layout(layout)?),
            MeshLayout::Sliced(composed) => MeshLayout::Sliced(self.composed(composed)?),
        };
        Ok(self.cx.mesh(&topologies, layout, mesh.names))
    }

    fn shard(&mut self, shard: ShardLayout<'c>) -> Result<ShardLayout<'c>, TypeError> {
        let (layout, mesh) = (self.layout(shard.layout)?, self.mesh(shard.mesh)?);
        Ok(self.cx.shard_layout(layout, shard.attrs, mesh))
    }

    /// Recursive: types nest as deep as they are written.
    fn ty(&mut self, ty: Type<'c>) -> Result<Type<'c>, TypeError> {
        Ok(match *ty.data() {
            TypeKind::Tensor(tensor) => {
                let shape = self.dims(tensor.shape)?;
                let layout = match tensor.layout {
                    Some(TensorLayout::Plain(layout)) => Some(TensorLayout::Plain(self.layout(layout)?)),
                    Some(TensorLayout::Composed(composed)) => Some(TensorLayout::Composed(self.composed(composed)?)),
                    Some(TensorLayout::Shard(shard)) => Some(TensorLayout::Shard(self.shard(shard)?)),
                    None => None,
                };
                self.cx.tensor(&shape, tensor.dtype, layout, tensor.storage)
            }
            TypeKind::Tuple(fields) => {
                let fields: Vec<_> = fields.iter().map(|&f| self.ty(f)).collect::<Result<_, _>>()?;
                self.cx.tuple(&fields)
            }
            TypeKind::Unit => ty,
            TypeKind::Callable { params, result } => {
                let params: Vec<_> = params.iter().map(|&p| self.ty(p)).collect::<Result<_, _>>()?;
                let result = self.ty(result)?;
                self.cx.callable(&params, result)
            }
        })
    }
}

fn conflict(have: DimVar<'_>, found: DimVar<'_>) -> TypeError {
    TypeError::new(format!(
        "`{}` has the range [{}, {}) here and [{}, {}) there",
        have.name, have.lo, have.hi, found.lo, found.hi
    ))
    .with_help("one name has one range in a signature")
}

#[cfg(test)]
mod tests {
    use crate::test_util::{dims, mesh};
    use crate::{Arena, DType, DimOp, DimVar, ShardAttr, Storage, TensorLayout, TypeContext};

    #[test]
    fn substitution_reaches_shapes_layouts_and_meshes() {
        let arena = Arena::new();
        let cx = &TypeContext::new(&arena);
        let grid = mesh(cx, &[("cta", 0)], &[("b", 0)]);
        let shape = dims(cx, "S 8");
        let shard = cx.shard_layout(cx.c_order_layout(shape), &[ShardAttr::Split(0)], grid);
        let placed = cx.tensor(shape, DType::F32, Some(TensorLayout::Shard(shard)), Storage::Rmem);
        let s = shape[0];
        let twice = cx.tensor(&[cx.dim_mul(s, cx.dim(2))], DType::F32, None, Storage::Gmem);
        let function = cx.callable(&[placed, cx.unit()], cx.tuple(&[twice, twice]));
        assert_eq!(function.dim_vars().len(), 1);
        let sixteen = [(cx.symbol("S"), cx.dim(16))];
        let bound = cx.substitute_type(function, &sixteen).unwrap();
        assert!(bound.is_concrete());
        assert_eq!(
            bound.to_string(),
            r#"(Tensor[(16, 8), "f32", (16 @ b, 8), "rmem"], ()) -> (Tensor[(32,), "f32"], Tensor[(32,), "f32"])"#
        );
        assert_eq!(cx.substitute_mesh(grid, &sixteen).unwrap().to_string(), "Mesh(cta 16; b=16)");
        assert_eq!(cx.substitute_shard(shard, &sixteen).unwrap().to_string(), "((16 @ b, 8), (8, 1))");
        assert_eq!(cx.substitute_type(function, &[]).unwrap(), function);
    }

    #[test]
    fn replacement_is_simultaneous_and_normalised() {
        let arena = Arena::new();
        let cx = &TypeContext::new(&arena);
        let [s, t] = *dims(cx, "S T") else { unreachable!() };
        let swap = [(cx.symbol("S"), t), (cx.symbol("T"), s)];
        let difference = cx.dim_op(DimOp::Sub, s, t);
        assert_eq!(cx.substitute_dim(difference, &swap).unwrap(), cx.dim_op(DimOp::Sub, t, s));
        let to_t = [(cx.symbol("S"), t)];
        assert_eq!(cx.substitute_dim(difference, &to_t).unwrap(), cx.dim(0));
    }

    #[test]
    fn refusals() {
        let arena = Arena::new();
        let cx = &TypeContext::new(&arena);
        let s = dims(cx, "S")[0];
        let big = [(cx.symbol("S"), cx.dim(1025))];
        assert_eq!(cx.substitute_dim(s, &big).unwrap_err().message, "`S` cannot be 1025; its range is [1, 1025)");
        let other = cx.dim_var(DimVar { name: cx.symbol("S"), lo: 1, hi: 9 });
        let ty = cx.tensor(&[s, other], DType::F32, None, Storage::Gmem);
        let message = "`S` has the range [1, 1025) here and [1, 9) there";
        assert_eq!(cx.substitute_type(ty, &[]).unwrap_err().message, message);
    }
}
