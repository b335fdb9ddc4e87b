//! Smaller shapes and meshes, plain dtypes, and types without placement.

mod dtypes;
mod extents;
mod levels;
mod placement;

use tf_core::node::{FunctionData, GridRegion};
use tf_core::op::{Attr, OpInstance};
use tf_core::tree::{Replacements, replaced};
use tf_core::visit::{Cloning, ExprCloner};
use tf_core::{AnyFunction, Callee, Context, Diagnostic, Expr, ExprKind, Function, Module, Result};
use tf_hir::{Local, Reshard};
use tf_types::{
    DType, Dim, DimKind, Mesh, ShardLayout, Storage, Symbol, TensorLayout, TensorType, Type, TypeError, TypeKind,
};

use crate::reduction::functions;
use crate::{OnModule, Reduction};

pub(crate) use extents::variables;

/// Which types a [`Map`] makes.
enum Rule<'c> {
    /// Extents become others.
    Extents(Vec<(Dim<'c>, i64)>),
    /// Nothing is placed, everything lies in gmem.
    Unplaced,
    /// A level of the hardware gets fewer positions.
    Level(levels::Level<'c>),
    /// These dtypes become f32.
    Floats(Vec<DType>),
}

struct Map<'c>(Rule<'c>);

impl<'c> Map<'c> {
    /// An integer or a variable as itself, in arithmetic only a variable.
    fn dim(&self, cx: &Context<'c>, dim: Dim<'c>) -> Result<Dim<'c>, TypeError> {
        let Rule::Extents(extents) = &self.0 else { return Ok(dim) };
        match *dim.data() {
            DimKind::Const(_) => {
                let new = extents.iter().find(|(old, _)| *old == dim);
                Ok(new.map_or(dim, |&(_, new)| cx.dim(new)))
            }
            DimKind::Var(_) | DimKind::Op(..) => {
                let bindings: Vec<(Symbol<'c>, Dim<'c>)> = extents
                    .iter()
                    .filter_map(|&(old, new)| match *old.data() {
                        DimKind::Var(var) => Some((var.name, cx.dim(new))),
                        _ => None,
                    })
                    .collect();
                cx.substitute_dim(dim, &bindings)
            }
        }
    }

    fn dims(&self, cx: &Context<'c>, dims: &[Dim<'c>]) -> Result<Vec<Dim<'c>>, TypeError> {
        dims.iter().map(|&dim| self.dim(cx, dim)).collect()
    }

    /// The mesh with fewer positions.
    fn mesh(&self, cx: &Context<'c>, mesh: Mesh<'c>) -> Result<Mesh<'c>, TypeError> {
        match &self.0 {
            Rule::Level(level) => level.mesh(cx, mesh),
            _ => Ok(mesh),
        }
    }

    fn dtype(&self, dtype: DType) -> DType {
        match &self.0 {
            Rule::Floats(gone) if gone.contains(&dtype) => DType::F32,
            _ => dtype,
        }
    }

    /// The placement of a tensor of `old` shape for the `new` one.
    fn shard(
        &self,
        cx: &Context<'c>,
        shard: ShardLayout<'c>,
        (old, new): (&[Dim<'c>], &[Dim<'c>]),
    ) -> Result<ShardLayout<'c>, TypeError> {
        let mesh = self.mesh(cx, shard.mesh)?;
        match old == new && mesh == shard.mesh {
            true => Ok(shard),
            false => cx.canonical_shard_layout(new, mesh, &shard.logical_attrs(old)),
        }
    }

    /// The layout of a tensor of `old` shape for the `new` one.
    fn layout(
        &self,
        cx: &Context<'c>,
        layout: TensorLayout<'c>,
        (old, new): (&[Dim<'c>], &[Dim<'c>]),
    ) -> Result<Option<TensorLayout<'c>>, TypeError> {
        match (&self.0, layout) {
            (Rule::Unplaced, _) => Ok(None),
            (_, TensorLayout::Shard(shard)) => Ok(Some(TensorLayout::Shard(self.shard(cx, shard, (old, new))?))),
            _ if old == new => Ok(Some(layout)),
            (_, TensorLayout::Plain(_)) => Ok(Some(TensorLayout::Plain(cx.c_order_layout(new)))),
            (_, TensorLayout::Composed(_)) => Err(TypeError::new("a slice keeps its extents")),
        }
    }

    fn ty(&self, cx: &Context<'c>, ty: Type<'c>) -> Result<Type<'c>, TypeError> {
        match *ty.data() {
            TypeKind::Tensor(tensor) => {
                let shape = self.dims(cx, tensor.shape)?;
                let layout = tensor.layout.map(|layout| self.layout(cx, layout, (tensor.shape, &shape)));
                let storage = match self.0 {
                    Rule::Unplaced if tensor.storage != Storage::Umat => Storage::Gmem,
                    _ => tensor.storage,
                };
                let layout = match tensor.storage {
                    // Shape elements have a layout of their own.
                    Storage::Umat => tensor.layout,
                    _ => layout.transpose()?.flatten(),
                };
                let dtype = self.dtype(tensor.dtype);
                Ok(cx.tensor_type(TensorType { shape: cx.dims(&shape), dtype, layout, storage }))
            }
            TypeKind::Tuple(fields) => {
                let fields: Vec<_> = fields.iter().map(|&field| self.ty(cx, field)).collect::<Result<_, _>>()?;
                Ok(cx.tuple(&fields))
            }
            TypeKind::Unit | TypeKind::Callable { .. } => Ok(ty),
        }
    }

    fn attr(
        &self,
        cx: &Context<'c>,
        attr: Attr<'c>,
        operand: Option<(Type<'c>, Type<'c>)>,
    ) -> Result<Attr<'c>, TypeError> {
        let shapes = operand.and_then(|(old, new)| Some((old.as_tensor()?.shape, new.as_tensor()?.shape)));
        Ok(match attr {
            Attr::Dim(dim) => Attr::Dim(self.dim(cx, dim)?),
            Attr::Dims(dims) => Attr::Dims(cx.dims(&self.dims(cx, dims)?)),
            Attr::Type(ty) => Attr::Type(self.ty(cx, ty)?),
            Attr::DType(dtype) => Attr::DType(self.dtype(dtype)),
            Attr::Mesh(mesh) => Attr::Mesh(self.mesh(cx, mesh)?),
            Attr::Shard(shard) => match (shapes, &self.0) {
                (Some(shapes), Rule::Extents(_) | Rule::Level(_)) => Attr::Shard(self.shard(cx, shard, shapes)?),
                _ => attr,
            },
            other => other,
        })
    }

    fn op(
        &self,
        cx: &Context<'c>,
        op: OpInstance<'c>,
        operand: Option<(Type<'c>, Type<'c>)>,
    ) -> Result<OpInstance<'c>, TypeError> {
        let attrs = op.attrs().iter().map(|&attr| self.attr(cx, attr, operand)).collect::<Result<Vec<_>, _>>()?;
        Ok(if attrs == op.attrs() { op } else { cx.op_instance(op.id, &attrs) })
    }
}

fn refused(error: TypeError) -> Diagnostic {
    Diagnostic::error(error.message)
}

impl<'c> ExprCloner<'c> for Map<'c> {
    fn clone_constant(&mut self, constant: Expr<'c>, clone: &mut Cloning<'_, 'c>) -> Result<Expr<'c>> {
        let ty = match self.0 {
            Rule::Floats(_) => self.ty(clone.cx, constant.ty()).map_err(refused)?,
            _ => constant.ty(),
        };
        Ok(if ty == constant.ty() { constant } else { clone.cx.expr(constant.kind, ty, constant.meta) })
    }

    fn bind(&mut self, region: &GridRegion<'c>, clone: &mut Cloning<'_, 'c>) -> Result<()> {
        for (&carry, &init) in region.carries.iter().zip(region.inits) {
            let ty = match carry.ty() == init.ty() {
                true => clone.get(init).ty(),
                false => self.ty(clone.cx, carry.ty()).map_err(refused)?,
            };
            if ty != carry.ty() {
                clone.replace(carry, clone.cx.expr(carry.kind, ty, carry.meta));
            }
        }
        Ok(())
    }

    fn clone_call(&mut self, call: Expr<'c>, clone: &mut Cloning<'_, 'c>) -> Result<Expr<'c>> {
        let ExprKind::Call { callee, args } = call.kind else { return clone.rebuild(call) };
        let cx = clone.cx;
        let new: Vec<_> = args.iter().map(|&arg| clone.get(arg)).collect();
        match callee {
            Callee::Op(op) => {
                if matches!(self.0, Rule::Unplaced) && (op.is::<Reshard>() || op.is::<Local>()) {
                    return Ok(new[0]);
                }
                let operand = args.first().map(|old| (old.ty(), new[0].ty()));
                cx.call(self.op(cx, op, operand).map_err(refused)?, &new, call.meta)
            }
            Callee::Function(_) => {
                let ty = self.ty(cx, call.ty()).map_err(refused)?;
                Ok(cx.expr(ExprKind::Call { callee, args: cx.alloc_slice(&new) }, ty, call.meta))
            }
        }
    }

    fn clone_grid(&mut self, grid: Expr<'c>, clone: &mut Cloning<'_, 'c>) -> Result<Expr<'c>> {
        let rebuilt = clone.rebuild(grid)?;
        let ExprKind::Grid(region) = rebuilt.kind else { return Ok(rebuilt) };
        let [start, stop, step] =
            [region.start, region.stop, region.step].map(|bound| self.dim(clone.cx, bound).map_err(refused));
        let new = GridRegion { start: start?, stop: stop?, step: step?, ..*region };
        let is_same = (new.start, new.stop, new.step) == (region.start, region.stop, region.step);
        Ok(if is_same { rebuilt } else { clone.cx.grid(new, rebuilt.ty(), rebuilt.meta) })
    }
}

fn function<'c>(cx: &Context<'c>, function: Function<'c>, map: &mut Map<'c>) -> Result<FunctionData<'c>> {
    let mut clone = Cloning::new(cx);
    let mut params = function.params.to_vec();
    for param in &mut params {
        let ty = cx.signature_type(map.ty(cx, param.ty()).map_err(refused)?);
        if ty != param.ty() {
            let new = cx.expr(param.kind, ty, param.meta);
            clone.replace(*param, new);
            *param = new;
        }
    }
    let body = function.body.map(|body| clone.visit(map, body)).transpose()?;
    let return_type = match body {
        Some(body) => body.ty(),
        None => map.ty(cx, function.return_type).map_err(refused)?,
    };
    Ok(FunctionData { params: cx.alloc_slice(&params), body, return_type, ..*function })
}

fn mapped<'c>(cx: &Context<'c>, module: Module<'c>, mut map: Map<'c>) -> Result<Module<'c>> {
    let mut replacements = Replacements::default();
    for old in functions(module) {
        let AnyFunction::Hir(old) = old else { continue };
        let mut data = function(cx, old, &mut map)?;
        let variants = old.variants.iter().map(|&variant| Ok(cx.function(function(cx, variant, &mut map)?)));
        data.variants = cx.alloc_slice(&variants.collect::<Result<Vec<_>>>()?);
        let mut converters = old.converters.to_vec();
        for converter in &mut converters {
            converter.function = cx.function(function(cx, converter.function, &mut map)?);
        }
        data.converters = cx.alloc_slice(&converters);
        replacements.insert(AnyFunction::Hir(old), AnyFunction::Hir(cx.function(data)));
    }
    replaced(cx, module, &replacements, &Function::callees)
}
/// Those that concern types.
pub(crate) fn reductions() -> Vec<Box<dyn Reduction>> {
    let mut all: Vec<Box<dyn Reduction>> = vec![Box::new(OnModule(placement::Unplaced))];
    all.extend(levels::reductions());
    all.extend(extents::extents_to(false));
    all.push(Box::new(OnModule(dtypes::Floats)));
    all
}
