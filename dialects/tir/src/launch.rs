//! `T.launch`

use tf_core::node::TirCallee;
use tf_core::op::{OpCall, OpView, RuleError, VerifyRule};
use tf_core::walk::walk_stmts;
use tf_core::{Context, Expr, ExprKind, Literal, PrimFunction, Span, StmtKind, op};
use tf_types::TypeKind;
use tf_value::rule::DialectBuilder;

/// Starts a device function on `grid` CTAs of `block` threads.
#[op(dialect = "T", category = "launch", effect)]
pub struct Launch {
    /// A symbol: the device function.
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
    /// One tensor for each parameter of `callee`.
    #[input(Tensor, variadic)]
    args: (),
}

/// Grid and block extents of a launch, x y z, when they are constants.
#[must_use]
pub fn static_geometry(call: &OpCall<'_, Launch>) -> Option<([u32; 3], [u32; 3])> {
    let extent = |e: Expr<'_>| match e.literal()? {
        Literal::Int(value) => u32::try_from(value).ok(),
        _ => None,
    };
    let grid = [extent(call.grid_x())?, extent(call.grid_y())?, extent(call.grid_z())?];
    let block = [extent(call.block_x())?, extent(call.block_y())?, extent(call.block_z())?];
    Some((grid, block))
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

impl VerifyRule for Launch {
    fn verify<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Result<(), RuleError> {
        let (ExprKind::SymbolRef(name), TypeKind::Callable { params, .. }) =
            (call.callee().kind, call.callee().ty().data())
        else {
            return Err(RuleError::new("`T.launch` starts a function of the module").operand(0, "no symbol"));
        };
        let args = call.args();
        if args.len() != params.len() {
            let message = format!("`@{name}` takes {} tensors, found {}", params.len(), args.len());
            return Err(RuleError::new(message));
        }
        for (i, (arg, param)) in args.iter().zip(*params).enumerate() {
            if arg.ty() != *param {
                let message = format!("`@{name}` takes {param} as parameter {i}, found {}", arg.ty());
                return Err(RuleError::new(message).operand(7 + i, arg.ty().to_string()));
            }
        }
        if static_geometry(&call).is_none() {
            return Err(RuleError::new("`T.launch` needs constant positive extents")
                .with_help("extents that depend on a shape are not built yet"));
        }
        Ok(())
    }
}

pub(crate) fn register(r: &mut DialectBuilder) {
    r.op::<Launch>().verifies().done();
}
