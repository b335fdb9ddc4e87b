//! Smaller shapes, and types without placement.

use std::ops::Range;

use tf_core::node::{FunctionData, GridRegion};
use tf_core::op::{Attr, OpInstance};
use tf_core::tree::{Replacements, replaced};
use tf_core::visit::{Cloning, ExprCloner};
use tf_core::{AnyFunction, Callee, Context, Diagnostic, Expr, ExprKind, Function, Module, Result};
use tf_hir::{Local, Reshard};
use tf_types::{DType, Dim, DimKind, Storage, Symbol, TensorLayout, TensorType, Type, TypeError, TypeKind};

use crate::reduction::functions;
use crate::{ModuleReduction, OnModule, Reduction};

/// What becomes of an extent.
#[derive(Clone, Copy)]
enum Extent {
    /// This, if that is less.
    Least(i64),
    /// A half.
    Half,
}

/// Which types a [`Map`] makes.
enum Rule<'c> {
    /// Extents become others.
    Extents(Vec<(Dim<'c>, i64)>),
    /// Nothing is placed, everything lies in gmem.
    Unplaced,
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

    /// The layout of a tensor of `old` shape for the `new` one.
    fn layout(
        &self,
        cx: &Context<'c>,
        layout: TensorLayout<'c>,
        (old, new): (&[Dim<'c>], &[Dim<'c>]),
    ) -> Result<Option<TensorLayout<'c>>, TypeError> {
        match (&self.0, layout) {
            (Rule::Unplaced, _) => Ok(None),
            _ if old == new => Ok(Some(layout)),
            (_, TensorLayout::Plain(_)) => Ok(Some(TensorLayout::Plain(cx.c_order_layout(new)))),
            (_, TensorLayout::Shard(shard)) => {
                let shard = cx.canonical_shard_layout(new, shard.mesh, &shard.logical_attrs(old))?;
                Ok(Some(TensorLayout::Shard(shard)))
            }
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
                Ok(cx.tensor_type(TensorType { shape: cx.dims(&shape), layout, storage, ..tensor }))
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
            Attr::Shard(shard) => match (shapes, &self.0) {
                (Some((old, new)), Rule::Extents(_)) if old != new => {
                    Attr::Shard(cx.canonical_shard_layout(new, shard.mesh, &shard.logical_attrs(old))?)
                }
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

/// Extents of parameters become less everywhere at once: integers, and variables, which become integers.
struct Extents {
    to: Extent,
    /// Whether integers stay.
    only_variables: bool,
}

impl Extents {
    fn of(&self, dim: Dim<'_>) -> Option<i64> {
        let is_integer = dim.as_const().is_some();
        self.to.of(dim).filter(|_| !(self.only_variables && is_integer))
    }
}

/// What the extents of HIR parameters are, each once.
fn extents<'c>(module: Module<'c>) -> Vec<Dim<'c>> {
    let mut found: Vec<Dim<'c>> = Vec::new();
    for function in functions(module) {
        let AnyFunction::Hir(function) = function else { continue };
        for tensor in function.params.iter().filter_map(|param| param.ty().as_tensor()) {
            found.extend(tensor.shape.iter().filter(|dim| !dim.is_op()));
        }
    }
    let mut seen = rustc_hash::FxHashSet::default();
    found.retain(|dim| seen.insert(*dim));
    found
}

impl Extent {
    fn of(self, dim: Dim<'_>) -> Option<i64> {
        let (old, least) = match *dim.data() {
            DimKind::Const(old) => (Some(old), 1),
            // A variable without a value gets the least of its range that is wanted.
            DimKind::Var(var) => (None, var.lo.max(1)),
            DimKind::Op(..) => return None,
        };
        match (self, old, *dim.data()) {
            (Self::Half, Some(old), _) if old > 1 => Some(old / 2),
            (Self::Least(wanted), Some(old), _) if old > wanted => Some(wanted),
            (Self::Least(wanted), None, DimKind::Var(var)) => Some(wanted.max(least)).filter(|value| *value < var.hi),
            _ => None,
        }
    }
}

impl ModuleReduction for Extents {
    fn name(&self) -> &'static str {
        "extents"
    }

    fn places<'c>(&self, _: &Context<'c>, module: Module<'c>) -> usize {
        extents(module).into_iter().filter(|dim| self.of(*dim).is_some()).count()
    }

    fn apply<'c>(&self, cx: &Context<'c>, module: Module<'c>, places: Range<usize>) -> Result<Module<'c>> {
        let all: Vec<_> = extents(module).into_iter().filter_map(|dim| Some((dim, self.of(dim)?))).collect();
        mapped(cx, module, Map(Rule::Extents(all[places].to_vec())))
    }
}

/// Layouts, placements and storages go, in all functions.
struct Unplaced;

impl ModuleReduction for Unplaced {
    fn name(&self) -> &'static str {
        "placement"
    }

    fn places<'c>(&self, _: &Context<'c>, module: Module<'c>) -> usize {
        let is_placed = |ty: Type<'_>| {
            ty.leaves().iter().any(|tensor| {
                tensor.storage != Storage::Umat && (tensor.layout.is_some() || tensor.storage != Storage::Gmem)
            })
        };
        let placed = functions(module).into_iter().any(|function| match function {
            AnyFunction::Hir(function) => {
                let values = function.bodies().flat_map(tf_core::visit::collect_exprs);
                function.params.iter().copied().chain(values).any(|value| {
                    is_placed(value.ty())
                        && value.ty().as_tensor().is_none_or(|tensor| tensor.dtype != DType::I64 || tensor.rank() > 0)
                })
            }
            AnyFunction::Tir(_) => false,
        });
        usize::from(placed)
    }

    fn apply<'c>(&self, cx: &Context<'c>, module: Module<'c>, _: Range<usize>) -> Result<Module<'c>> {
        mapped(cx, module, Map(Rule::Unplaced))
    }
}

const EXTENTS: [Extent; 4] = [Extent::Least(1), Extent::Least(2), Extent::Least(4), Extent::Half];

fn extents_to(only_variables: bool) -> impl Iterator<Item = Box<dyn Reduction>> {
    EXTENTS.into_iter().map(move |to| Box::new(OnModule(Extents { to, only_variables })) as Box<dyn Reduction>)
}

/// Those that give dim variables values.
pub(crate) fn variables() -> Vec<Box<dyn Reduction>> {
    extents_to(true).collect()
}

/// Those that concern types.
pub(crate) fn reductions() -> Vec<Box<dyn Reduction>> {
    let mut all: Vec<Box<dyn Reduction>> = vec![Box::new(OnModule(Unplaced))];
    all.extend(extents_to(false));
    all
}

#[cfg(test)]
mod tests {
    use super::{Extent, Extents, Unplaced};
    use crate::testing::{check, reduced};
    use crate::{OnModule, Reduction};

    fn extents(to: Extent, only_variables: bool) -> Box<dyn Reduction> {
        Box::new(OnModule(Extents { to, only_variables }))
    }

    fn product(m: &str, k: &str, n: &str, head: &str) -> String {
        format!(
            r#"{head}
module @m {{ hir.func @f(%x: tensor<{m}x{k}xf32>, %y: tensor<{k}x{n}xf32>) -> tensor<{m}x{n}xf32> {{
  %0 = tf.matmul %x, %y : (tensor<{m}x{k}xf32>, tensor<{k}x{n}xf32>) -> tensor<{m}x{n}xf32>
  hir.return %0 }} }}"#
        )
    }

    #[test]
    fn extents_shrink_everywhere_at_once() {
        let before = product("4", "6", "8", "");
        check(&*extents(Extent::Half, false), &before, 1..2, 3, &product("4", "3", "8", ""));
        check(&*extents(Extent::Least(1), false), &before, 0..3, 3, &product("1", "1", "1", ""));
        assert_eq!(reduced(&*extents(Extent::Least(1), true), &before, 0..0).0, 0);
    }

    #[test]
    fn variables_get_values_of_their_range() {
        let head = "#S = dim<\"S\", 3, 9>";
        let before = product("[#S]", "6", "8", head);
        check(&*extents(Extent::Least(1), true), &before, 0..1, 1, &product("3", "6", "8", ""));
        check(&*extents(Extent::Least(4), true), &before, 0..1, 1, &product("4", "6", "8", ""));
        assert_eq!(reduced(&*extents(Extent::Least(40), true), &before, 0..0).0, 0);
    }

    #[test]
    fn what_is_not_well_formed_any_more_is_not_tried() {
        let before = r#"module @m { hir.func @f(%x: tensor<4x6xf32>) -> tensor<4x3xf32> {
  %0 = tf.split %x {axis = 1, num_splits = 2} : (tensor<4x6xf32>) -> tuple<tensor<4x3xf32>, tensor<4x3xf32>>
  %1 = tf.tuple_get_item %0 {index = 0} : (tuple<tensor<4x3xf32>, tensor<4x3xf32>>) -> tensor<4x3xf32>
  hir.return %1 } }"#;
        assert_eq!(reduced(&*extents(Extent::Least(1), false), before, 1..2), (2, None));
    }

    #[test]
    fn calls_follow() {
        let text = |n: i64| {
            format!(
                r#"module @m {{
  hir.func @g(%x: tensor<{n}xf32>) -> tensor<{n}xf32> {{
    %0 = tf.unary %x {{kind = "exp"}} : (tensor<{n}xf32>) -> tensor<{n}xf32>
    hir.return %0 }}
  hir.func @f(%x: tensor<{n}xf32>) -> tensor<{n}xf32> {{
    %0 = call @g(%x) : (tensor<{n}xf32>) -> tensor<{n}xf32>
    hir.return %0 }} }}"#
            )
        };
        check(&*extents(Extent::Half, false), &text(8), 0..1, 1, &text(4));
    }

    const PLACED: &str = r#"#mesh0 = mesh<[thread = 4], (4):(1), [w]>
#layout0 = shard<(4, 2):(2, 1), [S(0)], #mesh0>
module @m topology(thread = 4) { hir.func @f(%x: tensor<8xf32>) -> tensor<8xf32, #layout0> {
  %0 = tf.reshard %x {layout = #layout0} : (tensor<8xf32>) -> tensor<8xf32, #layout0>
  %1 = tf.unary %0 {kind = "exp"} : (tensor<8xf32, #layout0>) -> tensor<8xf32, #layout0>
  hir.return %1 } }"#;

    #[test]
    fn placement_goes() {
        let after = r#"module @m topology(thread = 4) { hir.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = tf.unary %x {kind = "exp"} : (tensor<8xf32>) -> tensor<8xf32>
  hir.return %0 } }"#;
        check(&OnModule(Unplaced), PLACED, 0..1, 1, after);
        assert_eq!(reduced(&OnModule(Unplaced), after, 0..0).0, 0);
    }

    #[test]
    fn placements_follow_extents() {
        let (count, after) = reduced(&*extents(Extent::Half, false), PLACED, 0..1);
        assert_eq!(count, 1);
        let after = after.expect("it is reduced");
        assert!(after.contains("tensor<4xf32, #layout0>") && after.contains("S(0)"), "{after}");
    }
}
