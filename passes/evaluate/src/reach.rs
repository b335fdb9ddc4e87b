//! Which constants a run needs, found out before anything runs.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;
use tf_core::node::Literal;
use tf_core::walk::post_order;
use tf_core::{Callee, Diagnostic, Expr, ExprKind, Function, Result, Span};
use tf_types::{Symbol, Type, TypeKind};
use tf_value::extent;
use tf_value::io::HOST;

use crate::boundary::activations;
use crate::device::Devices;
use crate::method::Calls;
use crate::reading::missing;
use crate::{DimSizes, Reading};

/// What is known of a value before the run: extents, where they are known.
#[derive(Clone, Debug)]
pub enum Known {
    /// A tensor.
    Tensor(Option<Vec<Option<i64>>>),
    /// Several values.
    Tuple(Vec<Known>),
}

/// A function with its reading's path and the sizes of its dims.
type Visit<'c> = (String, Function<'c>, Vec<(&'c str, i64)>);

/// Looks for constants that functions reach and no place has.
#[derive(Default)]
pub struct Reach<'c> {
    seen: FxHashSet<Visit<'c>>,
    /// By the order of first need: module, and dotted names.
    lacking: Vec<(String, Vec<String>)>,
    /// Where the constants that there are lie.
    devices: Devices,
}

impl<'c> Reach<'c> {
    /// Notes what a function needs in a reading, with all it calls.
    ///
    /// `omits_constants`: whether its own constants are filled by name.
    pub fn function(
        &mut self,
        reading: &Reading<'c>,
        function: Function<'c>,
        dims: DimSizes<'c>,
        omits_constants: bool,
    ) {
        let mut pending = vec![(reading.clone(), function, dims, omits_constants)];
        while let Some((reading, function, dims, omits_constants)) = pending.pop() {
            let sizes: BTreeMap<&str, i64> = dims.iter().map(|(name, &size)| (name.as_str(), size)).collect();
            if omits_constants {
                self.constants(&reading, function);
            }
            let key = (reading.path().to_owned(), function, sizes.into_iter().collect());
            if !self.seen.insert(key) {
                continue;
            }
            let known: Vec<_> = dims.iter().map(|(&name, &size)| (name, size)).collect();
            // A dispatch that fails does so when it is run, with its own message.
            let Some(body) = function.variant_for(&known).ok().and_then(|function| function.body) else { continue };
            for expr in post_order(&[body]) {
                let ExprKind::Call { callee: Callee::Function(callee), args } = expr.kind else { continue };
                let below = reading.of_callee(callee).unwrap_or(&reading).clone();
                let omits = args.len() != callee.params.len();
                let shapes: Vec<_> = args.iter().map(|arg| known_of(arg.ty(), &dims)).collect();
                pending.push((below, callee, dims_of(callee, omits, &shapes), omits));
            }
        }
    }

    fn constants(&mut self, reading: &Reading<'c>, function: Function<'c>) {
        for param in function.params.iter().filter(|param| param.is_const_param()) {
            let dotted = reading.dotted(param.var_name().map_or("", |name| name.as_str()));
            if let Some(found) = reading.resource().find(&dotted) {
                self.devices.add(&dotted, found.device());
                continue;
            }
            if reading.resource().makes_up() {
                continue;
            }
            let owner = reading.describe();
            match self.lacking.iter_mut().find(|(known, _)| *known == owner) {
                Some((_, names)) if names.contains(&dotted) => {}
                Some((_, names)) => names.push(dotted),
                None => self.lacking.push((owner, vec![dotted])),
            }
        }
    }

    /// Nothing, if there is everything, and all of it where the activations of these names are.
    ///
    /// # Errors
    /// All that is missing, with the child's path; constants that do not lie where the activations do.
    pub fn finish(mut self, reading: &Reading<'c>, inputs: &[Symbol<'c>], span: Option<Span>) -> Result<()> {
        if !self.lacking.is_empty() {
            return Err(missing(reading.resource(), &self.lacking, &reading.declared()).at(span));
        }
        inputs.iter().for_each(|input| self.devices.add(input.as_str(), HOST));
        self.devices.check().map_err(|error| error.at(span))
    }
}

impl<'c> Calls<'c> for Reach<'c> {
    type Value = Known;

    fn call(
        &mut self,
        reading: &Reading<'c>,
        function: Function<'c>,
        values: Vec<Known>,
        _: Option<Span>,
    ) -> Result<Known> {
        let dims = dims_of(function, true, &values);
        let result = known_of(function.return_type, &dims);
        self.function(reading, function, dims, true);
        Ok(result)
    }

    fn literal(&self, _: Literal) -> Known {
        Known::Tensor(Some(Vec::new()))
    }

    fn fields(&self, value: &Known) -> Option<Vec<Known>> {
        match value {
            Known::Tensor(_) => None,
            Known::Tuple(fields) => Some(fields.clone()),
        }
    }
}

/// What a type tells of its values under known dims.
fn known_of<'c>(ty: Type<'c>, dims: &DimSizes<'c>) -> Known {
    match *ty.data() {
        TypeKind::Tuple(fields) => Known::Tuple(fields.iter().map(|&field| known_of(field, dims)).collect()),
        TypeKind::Tensor(ref tensor) => {
            Known::Tensor(Some(tensor.shape.iter().map(|&dim| extent(dim, dims).ok()).collect()))
        }
        TypeKind::Unit | TypeKind::Callable { .. } => Known::Tensor(None),
    }
}

/// The dims that extents of arguments tell.
fn dims_of<'c>(function: Function<'c>, omits_constants: bool, values: &[Known]) -> DimSizes<'c> {
    let all: Vec<Expr<'c>> = function.data().params.to_vec();
    let params = if omits_constants { activations(function).collect() } else { all };
    let mut dims = DimSizes::default();
    for (param, value) in params.iter().zip(values) {
        let (Some(ty), Known::Tensor(Some(extents))) = (param.ty().as_tensor(), value) else { continue };
        for (dim, extent) in ty.shape.iter().zip(extents) {
            if let (tf_types::DimKind::Var(var), Some(extent)) = (*dim.data(), extent) {
                dims.insert(var.name, *extent);
            }
        }
    }
    dims
}

/// What a message says of a step without the names that it needs.
pub fn arity(what: &str, activations: &[String], constants: &[String], found: usize) -> Diagnostic {
    let list = |names: &[String]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let count = activations.len();
    let plural = if count == 1 { "" } else { "s" };
    let wanted = if count == 0 {
        "no activations".to_owned()
    } else {
        format!("{count} activation{plural} ({})", list(activations))
    };
    let error = Diagnostic::error(format!("{what} takes {wanted}, found {found}"));
    if constants.is_empty() {
        return error;
    }
    let fill = format!("in a reading its constants ({}) are filled by name", list(constants));
    if found == count + constants.len() {
        return error.with_help(format!("{fill}; one argument for each parameter is the list of a plain module"));
    }
    error.with_help(fill)
}
