//! `T.launch`

use tf_core::node::TirCallee;
use tf_core::op::attr::Ints;
use tf_core::op::{OpCall, OpView, RuleError, VerifyRule};
use tf_core::walk::{post_order, walk_stmts};
use tf_core::{Context, Diagnostic, Expr, ExprKind, Literal, PrimFunction, Span, StmtKind, op};
use tf_types::{DType, Mesh, Type, TypeKind};
use tf_value::rule::DialectBuilder;
use tf_value::tir::{Meaning, TirEvalRule};

/// Starts a device function of the module, or the entry of a child module, on `grid` CTAs of `block` threads.
///
/// An extent is a positive integer, an extent of a tensor, or `dim` arithmetic over those. `args` are one tensor for each parameter of the
/// function that its callers see; what follows them, its shape scalars, is filled in from the tensors' shapes.
///
/// ```python
/// def kernel(x: Tensor[(4, 6), "f32"], out: Tensor[(4, 6), "f32"]):
///     with Mesh((Topology("cta", 4), Topology("thread", 64)), (4, 64), ("block", "thread")):
///         T.relu(x, out)
///
/// @prim_func(target=CpuTarget())
/// def f(x: Tensor[(4, 6), "f32"], out: Tensor[(4, 6), "f32"]):
///     launch(kernel, x, out, grid=(4,), block=(64,))
/// ```
#[op(dialect = "T", category = "launch", effect)]
pub struct Launch {
    /// A symbol: the device function, or the child module.
    #[input(Any)]
    callee: (),
    /// CTAs along x.
    #[input(Scalar)]
    grid_x: (),
    /// CTAs along y.
    #[input(Scalar)]
    grid_y: (),
    /// CTAs along z.
    #[input(Scalar)]
    grid_z: (),
    /// Threads along x.
    #[input(Scalar)]
    block_x: (),
    /// Threads along y.
    #[input(Scalar)]
    block_y: (),
    /// Threads along z.
    #[input(Scalar)]
    block_z: (),
    /// One tensor for each parameter of `callee` that its callers see.
    #[input(Tensor, variadic)]
    args: (),
    /// CTAs of a cluster along x, y and z.
    #[default(None)]
    cluster: Option<Ints>,
    /// Bytes of shared memory besides what the function allocates.
    #[default(0)]
    dynamic_smem: i64,
    /// Number of the stream to start on; none: the default one.
    #[default(None)]
    stream: Option<i64>,
    /// Selectors: 1 cooperative, 2 programmatic stream serialization, 3 cluster dimension.
    #[default(None)]
    attrs: Option<Ints>,
}

/// The selectors that `attrs` can name.
const SELECTORS: std::ops::RangeInclusive<i64> = 1..=3;
/// Operands before `args`: the symbol and six extents.
const FIRST_ARG: usize = 7;
const EXTENTS: [&str; 6] = ["grid x", "grid y", "grid z", "block x", "block y", "block z"];

/// Grid and block extents of a launch, x y z; `None` for those that are known at run time only.
#[must_use]
pub fn known_geometry(call: &OpCall<'_, Launch>) -> ([Option<u32>; 3], [Option<u32>; 3]) {
    let extent = |e: Expr<'_>| match e.literal()? {
        Literal::Int(value) => u32::try_from(value).ok(),
        _ => None,
    };
    let grid = [call.grid_x(), call.grid_y(), call.grid_z()];
    let block = [call.block_x(), call.block_y(), call.block_z()];
    (grid.map(extent), block.map(extent))
}

/// Grid and block extents of a launch, x y z, when all are constants.
#[must_use]
pub fn static_geometry(call: &OpCall<'_, Launch>) -> Option<([u32; 3], [u32; 3])> {
    let ([gx, gy, gz], [bx, by, bz]) = known_geometry(call);
    Some(([gx?, gy?, gz?], [bx?, by?, bz?]))
}

/// The launches of a function, in order, with their places.
#[must_use]
pub fn launches<'c>(function: PrimFunction<'c>) -> Vec<(OpCall<'c, Launch>, Option<Span>)> {
    let mut found = Vec::new();
    walk_stmts(function.body, |stmt| {
        if let StmtKind::Evaluate { callee: TirCallee::Op(op), args } = stmt.kind {
            found.extend(OpCall::new(OpView { op, args }).map(|call| (call, stmt.span)));
        }
    });
    found
}

/// CTAs and threads: the largest of the meshes of a device function.
///
/// # Errors
/// A mesh whose positions are symbolic.
pub fn mesh_geometry(kernel: PrimFunction<'_>) -> Result<(i64, i64), Diagnostic> {
    let (mut grid, mut block) = (1, 1);
    let mut symbolic = false;
    walk_stmts(kernel.body, |stmt| {
        if let StmtKind::MeshScope { mesh, .. } = stmt.kind {
            match (positions(mesh, true), positions(mesh, false)) {
                (Some(ctas), Some(threads)) => (grid, block) = (grid.max(ctas), block.max(threads)),
                _ => symbolic = true,
            }
        }
    });
    if symbolic {
        let message = format!("the meshes of `@{}` are symbolic: its launch geometry is not known", kernel.name);
        return Err(Diagnostic::error(message).at(kernel.span));
    }
    Ok((grid, block))
}

/// Positions of a mesh's CTA levels, or of its other levels.
fn positions(mesh: Mesh<'_>, ctas: bool) -> Option<i64> {
    let levels = mesh.topologies.iter().filter(|t| (t.name.as_str() == "cta") == ctas);
    levels.map(|t| t.size.and_then(|size| size.as_const())).product()
}

impl VerifyRule for Launch {
    fn verify<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Result<(), RuleError> {
        let (ExprKind::SymbolRef(name), TypeKind::Callable { params, .. }) =
            (call.callee().kind, call.callee().ty().data())
        else {
            return Err(RuleError::new("`T.launch` starts a function or a child of the module").operand(0, "no symbol"));
        };
        let args = call.args();
        // Shape scalars follow the parameters that callers see; the module tells which they are.
        let hidden = params.get(args.len()..).unwrap_or_default();
        let is_shape_scalar = |ty: &Type<'_>| ty.as_tensor().is_some_and(|t| t.rank() == 0 && t.dtype == DType::I32);
        if args.len() > params.len() || !hidden.iter().all(is_shape_scalar) {
            let message = format!("`@{name}` takes {} tensors, found {}", params.len(), args.len());
            return Err(RuleError::new(message));
        }
        for (i, (arg, param)) in args.iter().zip(*params).enumerate() {
            if arg.ty() != *param {
                let message = format!("`@{name}` takes {param} as parameter {i}, found {}", arg.ty());
                return Err(RuleError::new(message).operand(FIRST_ARG + i, arg.ty().to_string()));
            }
        }
        for (at, what) in EXTENTS.into_iter().enumerate() {
            extent(call.operands()[1 + at], what).map_err(|error| error.operand(1 + at, what))?;
        }
        attributes(&call)
    }
}

/// A positive integer, an extent of a tensor, or arithmetic over those.
fn extent(root: Expr<'_>, what: &str) -> Result<(), RuleError> {
    if let Some(Literal::Int(value)) = root.literal()
        && u32::try_from(value).ok().is_none_or(|value| value == 0)
    {
        return Err(RuleError::new(format!("`T.launch` has {what} = {value}, but needs a positive 32-bit extent")));
    }
    for expr in post_order(&[root]) {
        let fits = match expr.kind {
            ExprKind::Constant(literal) => matches!(literal, Literal::Int(_)),
            ExprKind::ShapeOf { .. } => true,
            // The tensor whose extent is asked for.
            ExprKind::Var { .. } => expr != root && expr.ty().as_tensor().is_some_and(|t| t.rank() > 0),
            _ => expr.op_call().is_some_and(|call| call.op.decl.name.dialect == "dim"),
        };
        if !fits {
            let message = format!("`T.launch` cannot compute {what} from {}", expr.describe());
            return Err(RuleError::new(message)
                .with_help("an extent is an integer, an extent of a forwarded tensor, or arithmetic over those"));
        }
    }
    Ok(())
}

fn attributes(call: &OpCall<'_, Launch>) -> Result<(), RuleError> {
    if let Some(cluster) = call.cluster()
        && (cluster.is_empty() || cluster.len() > 3 || cluster.iter().any(|&extent| extent < 1))
    {
        let message = format!("`T.launch` takes one to three positive extents of a cluster, found {cluster:?}");
        return Err(RuleError::new(message));
    }
    if call.dynamic_smem() < 0 {
        let message = format!("`T.launch` takes 0 or more bytes of dynamic_smem, found {}", call.dynamic_smem());
        return Err(RuleError::new(message));
    }
    if let Some(stream) = call.stream().filter(|&stream| stream < 0) {
        return Err(RuleError::new(format!("`T.launch` takes the number of a stream, found {stream}")));
    }
    let unknown = call.attrs().unwrap_or_default().iter().find(|selector| !SELECTORS.contains(selector));
    match unknown {
        None => Ok(()),
        Some(selector) => Err(RuleError::new(format!("`T.launch` has no attribute {selector}"))
            .with_help("1 is cooperative, 2 programmatic stream serialization, 3 cluster dimension")),
    }
}

impl TirEvalRule for Launch {
    fn meaning<'c>(_: OpCall<'c, Self>) -> Result<Meaning, RuleError> {
        Ok(Meaning::Launch)
    }
}

pub(crate) fn register(r: &mut DialectBuilder) {
    r.op::<Launch>().verifies().means().done();
}

#[cfg(test)]
mod tests {
    use tf_core::{Arena, Context, Expr, ExprKind, Literal, Meta};
    use tf_types::{DType, Storage};

    use super::Launch;
    use crate::test_util::{context, refusal, tensor};

    fn int<'c>(cx: &Context<'c>, value: i64) -> Expr<'c> {
        cx.constant(Literal::Int(value), DType::I64, Meta::default())
    }

    #[test]
    fn geometry_and_arguments() {
        let arena = Arena::new();
        let cx = &context(&arena);
        let x = tensor(cx, &[8, 4], DType::F32, Storage::Gmem);
        let scalar = tensor(cx, &[], DType::I32, Storage::Rmem);
        let ty = cx.callable(&[x.ty(), scalar.ty()], cx.unit());
        let symbol = cx.expr(ExprKind::SymbolRef(cx.symbol("kernel")), ty, Meta::default());
        let of = |grid, block, args: &[Expr<'_>]| {
            let one = int(cx, 1);
            let mut operands = vec![symbol, grid, one, one, block, one, one];
            operands.extend(args.iter().map(|_| x));
            refusal(cx, Launch::new(cx, None, 0, None, None), &operands)
        };
        let rows = cx.shape_of(x, 0, Meta::default()).unwrap();
        let half = cx.call(tf_dim::FloorDiv::new(cx), &[rows, int(cx, 2)], Meta::default()).unwrap();
        for extent in [int(cx, 4), rows, half] {
            assert_eq!(of(extent, int(cx, 32), &[x]), None);
        }
        assert_eq!(
            of(int(cx, 4), int(cx, 0), &[x]).unwrap(),
            "`T.launch` has block x = 0, but needs a positive 32-bit extent"
        );
        assert_eq!(of(scalar, int(cx, 32), &[x]).unwrap(), "`T.launch` cannot compute grid x from `x`");
        assert_eq!(of(rows, int(cx, 32), &[]).unwrap(), "`@kernel` takes 2 tensors, found 0");
        assert_eq!(of(rows, int(cx, 32), &[x, x, x]).unwrap(), "`@kernel` takes 2 tensors, found 3");
        assert!(of(rows, int(cx, 32), &[x, x]).unwrap().contains("as parameter 1, found Tensor[(8, 4), \"f32\"]"));
        let with = |op| {
            let one = int(cx, 1);
            refusal(cx, op, &[symbol, one, one, one, one, one, one, x])
        };
        assert_eq!(with(Launch::new(cx, Some(&[2, 1]), 1024, Some(0), Some(&[1, 3]))), None);
        let refused = |op| with(op).unwrap();
        assert!(
            refused(Launch::new(cx, Some(&[0]), 0, None, None)).contains("positive extents of a cluster, found [0]")
        );
        assert!(refused(Launch::new(cx, None, -8, None, None)).contains("bytes of dynamic_smem, found -8"));
        assert!(refused(Launch::new(cx, None, 0, Some(-1), None)).contains("number of a stream, found -1"));
        assert_eq!(refused(Launch::new(cx, None, 0, None, Some(&[4]))), "`T.launch` has no attribute 4");
    }
}
