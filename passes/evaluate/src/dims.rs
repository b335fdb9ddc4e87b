//! Sizes of dims from the shapes of inputs.

use rustc_hash::FxHashMap;
use tf_core::{Diagnostic, Expr, Result, Span};
use tf_types::{Dim, DimKind, DimVar, Symbol};
use tf_value::{Tensor, extent, show_shape};

/// Sizes of dim variables in a run.
pub type DimSizes<'c> = FxHashMap<Symbol<'c>, i64>;

/// Binds each dim variable of the parameters' shapes to the extent its axis has, and compares every other extent.
///
/// # Errors
/// Another rank or extent than the type says; one dim with two sizes; a size outside the dim's range. The error points at `span`, the
/// function's name.
pub fn bind_dims<'c>(params: &[Expr<'c>], inputs: &[Tensor], span: Option<Span>) -> Result<DimSizes<'c>> {
    let shapes: Vec<_> = params.iter().zip(inputs).map(|(&param, input)| (param, input.shape())).collect();
    bind_shapes(&shapes, span)
}

/// The same from shapes alone.
pub fn bind_shapes<'c>(shapes: &[(Expr<'c>, &[usize])], span: Option<Span>) -> Result<DimSizes<'c>> {
    let mut sizes = DimSizes::default();
    let mut owners: FxHashMap<Symbol<'c>, Expr<'c>> = FxHashMap::default();
    let mut derived: Vec<(Expr<'c>, usize, Dim<'c>, i64)> = Vec::new();
    for &(param, shape) in shapes {
        let Some(ty) = param.ty().as_tensor() else {
            let message = format!("parameter {} is {}, not a tensor", param.describe(), param.ty());
            return Err(Diagnostic::error(message).at(param.span().or(span)));
        };
        if ty.rank() != shape.len() {
            let shape = show_shape(shape);
            let message = format!("parameter {} is {}, found a tensor of shape {shape}", param.describe(), param.ty());
            return Err(Diagnostic::error(message).at(param.span().or(span)));
        }
        for (axis, (&dim, &found)) in ty.shape.iter().zip(shape).enumerate() {
            let found = i64::try_from(found).unwrap_or(i64::MAX);
            match *dim.data() {
                DimKind::Var(var) => bind(&mut sizes, &mut owners, var, (param, found), span)?,
                _ => derived.push((param, axis, dim, found)),
            }
        }
    }
    for (param, axis, dim, found) in derived {
        let expected = extent(dim, &sizes).map_err(|error| Diagnostic::error(error.message).at(span))?;
        if expected != found {
            let of = if dim.as_const().is_some() { String::new() } else { format!("`{dim}` = ") };
            let message = format!("axis {axis} of {} is {of}{expected}, found {found}", param.describe());
            return Err(Diagnostic::error(message).at(param.span().or(span)));
        }
    }
    Ok(sizes)
}

/// Adds sizes that were stated.
///
/// # Errors
/// The shapes say another one.
pub fn add_stated<'c>(sizes: &mut DimSizes<'c>, stated: &DimSizes<'c>, span: Option<Span>) -> Result<()> {
    let mut stated: Vec<_> = stated.iter().map(|(&name, &size)| (name, size)).collect();
    stated.sort_unstable_by_key(|(name, _)| name.as_str());
    for (name, size) in stated {
        let known = *sizes.entry(name).or_insert(size);
        if known != size {
            let message = format!("dim `{name}` is {known} in the inputs, but stated as {size}");
            return Err(Diagnostic::error(message).at(span));
        }
    }
    Ok(())
}

/// Binds what no other shape has bound, by a constant's stored shape. That the rest agrees is seen when the constant is read.
pub fn bind_rest<'c>(sizes: &mut DimSizes<'c>, param: Expr<'c>, shape: &[usize], span: Option<Span>) -> Result<()> {
    let dims = param.ty().as_tensor().filter(|ty| ty.rank() == shape.len()).map_or(&[][..], |ty| ty.shape);
    for (&dim, &found) in dims.iter().zip(shape) {
        if let DimKind::Var(var) = *dim.data()
            && !sizes.contains_key(&var.name)
        {
            let found = i64::try_from(found).unwrap_or(i64::MAX);
            bind(sizes, &mut FxHashMap::default(), var, (param, found), span)?;
        }
    }
    Ok(())
}

fn bind<'c>(
    sizes: &mut DimSizes<'c>,
    owners: &mut FxHashMap<Symbol<'c>, Expr<'c>>,
    var: DimVar<'c>,
    (param, found): (Expr<'c>, i64),
    span: Option<Span>,
) -> Result<()> {
    let name = var.name;
    if let Some(&first) = sizes.get(&name).filter(|&&first| first != found) {
        let owner = owners[&name];
        let message = format!("dim `{name}` is {first} in {} and {found} in {}", owner.describe(), param.describe());
        return Err(Diagnostic::error(message).at(span.or(param.span())));
    }
    if !(var.lo..var.hi).contains(&found) {
        let message =
            format!("dim `{name}` is {found} in {}, outside its range [{}, {})", param.describe(), var.lo, var.hi);
        return Err(Diagnostic::error(message).at(span.or(param.span())));
    }
    sizes.insert(name, found);
    owners.entry(name).or_insert(param);
    Ok(())
}
