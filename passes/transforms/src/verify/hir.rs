//! Rules of a HIR function (spec: hir §1).

use rustc_hash::{FxHashMap, FxHashSet};
use tf_core::walk::{post_order, schedule};
use tf_core::{Diagnostic, Expr, ExprKind, Function, Module, Span};
use tf_types::{Dim, DimKind, DimVar, Mesh, Storage, Symbol, Type};

use super::{Errors, target};

/// The violations in a function.
pub fn function<'c>(function: Function<'c>, module: Module<'c>) -> Vec<Diagnostic> {
    let mut errors = Errors(function.check_parts());
    for part in function.with_parts() {
        parameters(&mut errors, part, module.entry == Some(function.name));
        dims(&mut errors, part);
        let order = post_order(&part.body.into_iter().collect::<Vec<_>>());
        bindings(&mut errors, part, &order);
        levels(&mut errors, module, part, &order);
    }
    errors.0
}

/// Scalars of the compiler may be passed between functions, but not from outside.
fn parameters(errors: &mut Errors, function: Function<'_>, is_entry: bool) {
    let mut names = FxHashSet::default();
    for &param in function.params {
        let Some(name) = param.var_name() else {
            errors.add(param.span().or(function.span), format!("a parameter of `{}` is no variable", function.name));
            continue;
        };
        if !names.insert(name) {
            errors.add(param.span().or(function.span), format!("`{}` has two parameters `{name}`", function.name));
        }
        if param.ty().leaves().iter().any(|t| t.storage == Storage::Umat && (is_entry || t.rank() > 0)) {
            let message = format!("parameter `{name}` of `{}` is in umat, which is no place in memory", function.name);
            errors.add(param.span().or(function.span), message).help =
                Some("declare another storage, such as gmem".to_owned());
        }
    }
}

fn dim_vars<'c>(ty: Type<'c>, mut f: impl FnMut(DimVar<'c>)) {
    let mut stack: Vec<Dim<'c>> = ty.leaves().iter().flat_map(|tensor| tensor.shape.iter().copied()).collect();
    while let Some(dim) = stack.pop() {
        match *dim.data() {
            DimKind::Const(_) => {}
            DimKind::Var(var) => f(var),
            DimKind::Op(_, lhs, rhs) => stack.extend([lhs, rhs]),
        }
    }
}

/// Dims of one name have one range in a signature.
fn dims<'c>(errors: &mut Errors, function: Function<'c>) {
    let mut ranges: FxHashMap<Symbol<'c>, DimVar<'c>> = FxHashMap::default();
    let params = function.params.iter().map(|param| (param.ty(), param.span().or(function.span)));
    let signature: Vec<(Type<'c>, Option<Span>)> = params.chain([(function.return_type, function.span)]).collect();
    for (ty, span) in signature {
        let mut clash = None;
        dim_vars(ty, |var| {
            let first = *ranges.entry(var.name).or_insert(var);
            if first != var {
                clash = Some((first, var));
            }
        });
        if let Some((first, var)) = clash {
            let (name, first, second) = (var.name, (first.lo, first.hi), (var.lo, var.hi));
            let message = format!(
                "dim `{name}` of `{}` ranges over [{}, {}) and over [{}, {})",
                function.name, first.0, first.1, second.0, second.1
            );
            errors.add(span, message);
        }
    }
}

/// Every variable is a parameter or bound by a loop, and values of a loop's body stay inside it.
fn bindings<'c>(errors: &mut Errors, function: Function<'c>, order: &[Expr<'c>]) {
    let mut bound: FxHashSet<Expr<'c>> = function.params.iter().copied().collect();
    for &expr in order {
        let ExprKind::Grid(region) = expr.kind else { continue };
        for var in region.binders() {
            if !bound.insert(var) {
                let message = format!("variable {} is bound twice", var.describe());
                errors.add(var.span().or(expr.span()), message);
            }
        }
    }
    let mut closed = true;
    for &expr in order {
        if matches!(expr.kind, ExprKind::Var { .. }) && !bound.contains(&expr) {
            errors.add(expr.span().or(function.span), format!("variable {} is not bound here", expr.describe()));
            closed = false;
        }
    }
    let Some(body) = function.body else { return };
    let has_loops = order.iter().any(|expr| matches!(expr.kind, ExprKind::Grid(_)));
    let inside_a_loop = match body.kind {
        ExprKind::Var { .. } => bound.contains(&body) && !function.params.contains(&body),
        _ => has_loops && !schedule(body).root.contains(&body),
    };
    if closed && inside_a_loop {
        let message = format!("the value of `{}` uses a value of a loop's body outside the loop", function.name);
        errors.add(body.span().or(function.span), message);
    }
}

/// Meshes are over levels that the target has.
fn levels<'c>(errors: &mut Errors, module: Module<'c>, function: Function<'c>, order: &[Expr<'c>]) {
    let Ok(Some(device)) = target::device(module) else { return };
    let mut seen: FxHashSet<Mesh<'c>> = FxHashSet::default();
    for &expr in function.params.iter().chain(order) {
        for shard in expr.ty().leaves().iter().filter_map(|tensor| tensor.shard()) {
            if seen.insert(shard.mesh) {
                target::levels(errors, &device, shard.mesh.topologies, |_| expr.span().or(function.span));
            }
        }
    }
}
