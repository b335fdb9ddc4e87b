//! Rules of a HIR function.

use rustc_hash::{FxHashMap, FxHashSet};
use tf_core::walk::schedule;
use tf_core::{Context, Diagnostic, Expr, ExprKind, Function, Module};
use tf_types::{DType, DimVar, DimVars, Storage, Symbol, TensorType};

use super::values::Values;
use super::{Errors, placement};

/// The violations in a function.
pub fn function<'c>(function: Function<'c>, module: Module<'c>, cx: &Context<'c>) -> Vec<Diagnostic> {
    let mut errors = Errors(function.check_parts());
    for part in function.with_parts() {
        parameters(&mut errors, part, module.entry == Some(function.name));
        let values = Values::of(part);
        dims(&mut errors, part, &values);
        dialect(&mut errors, part, &values);
        bindings(&mut errors, part, &values);
        constraints(&mut errors, part, &values);
        placement::function(&mut errors, module, part, &values, cx);
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

/// Dims of one name have one range in a signature; those of loop bounds have values from the parameters' shapes.
fn dims<'c>(errors: &mut Errors, function: Function<'c>, values: &Values<'c>) {
    let mut ranges: FxHashMap<Symbol<'c>, DimVar<'c>> = FxHashMap::default();
    let params = function.params.iter().map(|param| (param.ty(), param.span().or(function.span)));
    for (ty, span) in params.chain([(function.return_type, function.span)]) {
        let mut vars = DimVars::default();
        vars.add_type(ty);
        let clash = vars.as_slice().iter().find_map(|&var| {
            let first = *ranges.entry(var.name).or_insert(var);
            (first != var).then_some((first, var))
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
    let mut bound = DimVars::default();
    let shapes = function.params.iter().flat_map(|param| param.ty().leaves());
    shapes.flat_map(|tensor| tensor.shape).for_each(|&dim| bound.add_dim(dim));
    let mut check = |bound: &mut DimVars<'c>, used: &DimVars<'c>, what: &str, expr: Expr<'c>| {
        let Some(var) = used.as_slice().iter().find(|var| !bound.as_slice().contains(var)) else { return };
        let message = format!("dim `{}` {what}, but no parameter of `{}` has it", var.name, function.name);
        errors.add(expr.span().or(function.span), message).help =
            Some("dims get their values from the shapes of parameters".to_owned());
        bound.add_dim_var(*var);
    };
    for &expr in &values.loops {
        let ExprKind::Grid(region) = expr.kind else { continue };
        let mut used = DimVars::default();
        [region.start, region.stop, region.step].into_iter().for_each(|dim| used.add_dim(dim));
        check(&mut bound, &used, "bounds the loop", expr);
    }
    values.returned.as_slice().iter().for_each(|var| bound.add_dim_var(*var));
    // Those of meshes are the sizes of levels, which a launch decides.
    for &(ty, expr) in &values.types {
        let mut used = DimVars::default();
        ty.leaves().iter().flat_map(|tensor| tensor.shape).for_each(|&dim| used.add_dim(dim));
        check(&mut bound, &used, "is in the shape of the value", expr);
    }
    for &expr in &values.constrained {
        let layout = expr.meta.constraint.and_then(|constraint| constraint.layout);
        let mut used = DimVars::default();
        layout.iter().flat_map(|layout| layout.extents()).for_each(|dim| used.add_dim(dim));
        check(&mut bound, &used, "is required by `where(...)`", expr);
    }
}

/// Values only: statements and what they are about stand in TIR functions.
fn dialect<'c>(errors: &mut Errors, function: Function<'c>, values: &Values<'c>) {
    for &expr in &values.statement_ops {
        let Some(call) = expr.op_call() else { continue };
        let message = format!("`{}` is a TIR op and cannot stand in a HIR function", call.op.decl.name);
        errors.add(expr.span().or(function.span), message);
    }
}

/// Schedule constraints are for tensors.
fn constraints<'c>(errors: &mut Errors, function: Function<'c>, values: &Values<'c>) {
    for &expr in &values.constrained {
        let Some(constraint) = expr.meta.constraint else { continue };
        let is_index = |t: &TensorType<'c>| t.rank() == 0 && t.dtype == DType::I64 && t.storage == Storage::Umat;
        let span = expr.span().or(function.span);
        if expr.ty().as_tensor().is_none_or(is_index) {
            let message = format!("a constraint is for a tensor, but {} is {}", expr.describe(), expr.ty());
            errors.add(span, message);
        }
        if let Err(error) = constraint.check() {
            errors.0.push(error.at(span));
        }
    }
}

/// Every variable is a parameter or bound by a loop, and values of a loop's body stay inside it.
fn bindings<'c>(errors: &mut Errors, function: Function<'c>, values: &Values<'c>) {
    let mut bound: FxHashSet<Expr<'c>> = function.params.iter().copied().collect();
    for &expr in &values.loops {
        let ExprKind::Grid(region) = expr.kind else { continue };
        for var in region.binders() {
            if !bound.insert(var) {
                let message = format!("variable {} is bound twice", var.describe());
                errors.add(var.span().or(expr.span()), message);
            }
        }
    }
    let mut closed = true;
    for &var in values.variables.iter().filter(|var| !bound.contains(var)) {
        errors.add(var.span().or(function.span), format!("variable {} is not bound here", var.describe()));
        closed = false;
    }
    let Some(body) = function.body else { return };
    let inside_a_loop = match body.kind {
        ExprKind::Var { .. } => bound.contains(&body) && !function.params.contains(&body),
        _ => !values.loops.is_empty() && !schedule(body).root.contains(&body),
    };
    if closed && inside_a_loop {
        let message = format!("the value of `{}` uses a value of a loop's body outside the loop", function.name);
        errors.add(body.span().or(function.span), message);
    }
}
