//! Rules of a HIR function (spec: hir §1).

use rustc_hash::{FxHashMap, FxHashSet};
use tf_core::walk::{for_each_new, schedule};
use tf_core::{Diagnostic, Expr, ExprKind, Function, Module, NodeSet, Span};
use tf_types::{DimVar, Mesh, Storage, Symbol, Type};

use super::{Errors, target};

/// The violations in a function.
pub fn function<'c>(function: Function<'c>, module: Module<'c>) -> Vec<Diagnostic> {
    let mut errors = Errors(function.check_parts());
    for part in function.with_parts() {
        parameters(&mut errors, part, module.entry == Some(function.name));
        dims(&mut errors, part);
        let values = Values::of(part);
        bindings(&mut errors, part, &values);
        levels(&mut errors, module, part, &values);
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

/// Dims of one name have one range in a signature: its shapes, layouts and meshes.
fn dims<'c>(errors: &mut Errors, function: Function<'c>) {
    let mut ranges: FxHashMap<Symbol<'c>, DimVar<'c>> = FxHashMap::default();
    let params = function.params.iter().map(|param| (param.ty(), param.span().or(function.span)));
    let signature: Vec<(Type<'c>, Option<Span>)> = params.chain([(function.return_type, function.span)]).collect();
    for (ty, span) in signature {
        let mut clash = None;
        for var in ty.dim_vars() {
            let first = *ranges.entry(var.name).or_insert(var);
            if first != var {
                clash = Some((first, var));
            }
        }
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

/// What the rules ask of the values of a body, from one walk over them.
struct Values<'c> {
    loops: Vec<Expr<'c>>,
    variables: Vec<Expr<'c>>,
    /// Each type with the first value of it; parameters count.
    types: Vec<(Type<'c>, Expr<'c>)>,
}

impl<'c> Values<'c> {
    fn of(function: Function<'c>) -> Self {
        let mut values = Self { loops: Vec::new(), variables: Vec::new(), types: Vec::new() };
        let mut seen: FxHashSet<Type<'c>> = FxHashSet::default();
        let mut last = None;
        let mut add = |expr: Expr<'c>| {
            // Most values have the type of the one before.
            if last != Some(expr.ty()) && seen.insert(expr.ty()) {
                values.types.push((expr.ty(), expr));
            }
            last = Some(expr.ty());
        };
        function.params.iter().for_each(|&param| add(param));
        for_each_new(&mut NodeSet::default(), function.data().body.as_slice(), |expr| {
            add(expr);
            match expr.kind {
                ExprKind::Grid(_) => values.loops.push(expr),
                ExprKind::Var { .. } => values.variables.push(expr),
                _ => {}
            }
        });
        values
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

/// Meshes are over levels that the target has.
fn levels<'c>(errors: &mut Errors, module: Module<'c>, function: Function<'c>, values: &Values<'c>) {
    let Ok(Some(device)) = target::device(module) else { return };
    let mut seen: FxHashSet<Mesh<'c>> = FxHashSet::default();
    for &(ty, expr) in &values.types {
        for shard in ty.leaves().iter().filter_map(|tensor| tensor.shard()) {
            if seen.insert(shard.mesh) {
                target::levels(errors, device, shard.mesh.topologies, |_| expr.span().or(function.span));
            }
        }
    }
}
