//! Dispatch prototypes and their variants.

use rustc_hash::{FxHashMap, FxHashSet};
use tf_types::{DimVar, DimVars, Symbol};

use crate::node::{DimVarRangePat, Function};
use crate::{Diagnostic, Result};

impl<'c> Function<'c> {
    /// What tells a variant from its siblings: `dim$lo_hi`, several joined by `;`. Empty for other functions.
    #[must_use]
    pub fn signature_id(self) -> String {
        let parts: Vec<_> = self.specializations.iter().map(DimVarRangePat::to_string).collect();
        parts.join(";")
    }

    /// How messages call a variant: its label, else its signature.
    #[must_use]
    pub fn variant_name(self) -> String {
        match self.label {
            Some(label) if label.as_str() != "_" => label.to_string(),
            _ => self.signature_id(),
        }
    }

    /// Whether it has variants instead of a body.
    #[must_use]
    pub fn is_prototype(self) -> bool {
        self.body.is_none()
    }

    /// What runs for these values of dims: an ordinary function itself, of a prototype the one variant whose range has
    /// the value of its dim.
    ///
    /// # Errors
    /// A prototype without a value for its dim; no variant or several have it.
    pub fn variant_for(self, dims: &[(Symbol<'c>, i64)]) -> Result<Function<'c>> {
        if !self.is_prototype() {
            return Ok(self);
        }
        let refuse = |message: String| Err(Diagnostic::error(message).at(self.span));
        let mut found: Option<Function<'c>> = None;
        for &variant in self.variants {
            let mut fits = true;
            for range in variant.specializations {
                let Some(&(_, value)) = dims.iter().find(|(name, _)| *name == range.dim) else {
                    return refuse(format!("`{}` dispatches on dim `{}`, which has no value", self.name, range.dim));
                };
                fits &= range.matches(value);
            }
            match found {
                Some(first) if fits => {
                    let (first, second) = (first.variant_name(), variant.variant_name());
                    return refuse(format!("variants {first} and {second} of `{}` both match", self.name));
                }
                None if fits => found = Some(variant),
                _ => {}
            }
        }
        match found {
            Some(variant) => Ok(variant),
            None => {
                let values: Vec<_> = dims.iter().map(|(name, value)| format!("`{name}` = {value}")).collect();
                refuse(format!("no variant of `{}` is for {}", self.name, values.join(", ")))
            }
        }
    }

    /// The rules of a function with its variants and converters, as a member of a module.
    #[must_use]
    pub fn check_parts(self) -> Vec<Diagnostic> {
        let mut errors = Vec::new();
        let mut add = |at: Function<'c>, message: String| {
            errors.push(Diagnostic::error(message).at(at.span).at(self.span));
        };
        let name = self.name;
        match (self.body, self.variants) {
            (None, []) => add(self, format!("`{name}` has neither a body nor variants")),
            (Some(_), [_, ..]) => {
                add(self, format!("`{name}` has a body and variants: a dispatch prototype has no body"));
            }
            _ => {}
        }
        if !self.specializations.is_empty() {
            add(self, format!("`{name}` is a variant: it belongs to its prototype and is no member of a module"));
        }
        let mut ranges: FxHashMap<&[DimVarRangePat<'c>], usize> = FxHashMap::default();
        self.variants.iter().for_each(|variant| *ranges.entry(variant.data().specializations).or_default() += 1);
        for &variant in self.variants {
            self.check_variant(variant, &ranges, &mut add);
        }
        let params = self.params.iter().filter(|param| param.is_const_param());
        let weights: FxHashSet<_> = params.filter_map(|param| param.var_name()).collect();
        let mut converted: FxHashMap<_, usize> = FxHashMap::default();
        self.converters.iter().for_each(|converter| *converted.entry(converter.weight).or_default() += 1);
        for converter in self.converters {
            let of = format!("the converter of `{}` in `{name}`", converter.weight);
            if !weights.contains(&converter.weight) {
                add(converter.function, format!("{of} is for no constant parameter of `{name}`"));
            }
            if converter.function.body.is_none() {
                add(converter.function, format!("{of} has no body"));
            }
            let nested = !converter.function.variants.is_empty() || !converter.function.converters.is_empty();
            if nested || !converter.function.specializations.is_empty() {
                add(converter.function, format!("{of} has variants or converters of its own"));
            }
            if converted[&converter.weight] > 1 {
                add(converter.function, format!("{of} is one of several"));
            }
        }
        if !self.variants.is_empty() && errors.is_empty() {
            errors.extend(self.check_partition().err());
        }
        errors
    }

    /// `ranges` says how many variants there are for each pattern.
    fn check_variant(
        self,
        variant: Function<'c>,
        ranges: &FxHashMap<&[DimVarRangePat<'c>], usize>,
        add: &mut impl FnMut(Function<'c>, String),
    ) {
        let (name, id) = (self.name, variant.variant_name());
        if variant.body.is_none() {
            add(variant, format!("variant {id} of `{name}` has no body"));
        }
        if !variant.variants.is_empty() || !variant.converters.is_empty() {
            add(variant, format!("variant {id} of `{name}` has variants or converters of its own"));
        }
        if variant.specializations.len() != 1 {
            let found = variant.specializations.len();
            add(variant, format!("a variant of `{name}` has one range, found {found}"));
        }
        if variant.name != name {
            add(variant, format!("variant {id} of `{name}` is named `{}`", variant.name));
        }
        let types = |f: Function<'c>| f.data().params.iter().map(|p| (p.ty(), p.is_const_param())).collect::<Vec<_>>();
        if types(variant) != types(self) {
            add(variant, format!("variant {id} of `{name}` has other parameter types than `{name}`"));
        }
        if variant.return_type != self.return_type {
            let (found, wanted) = (variant.return_type, self.return_type);
            add(variant, format!("variant {id} returns {found}, but `{name}` returns {wanted}"));
        }
        if ranges[variant.data().specializations] > 1 && !variant.specializations.is_empty() {
            add(variant, format!("`{name}` has two variants for {}", variant.signature_id()));
        }
    }

    /// The dim variable of a parameter's type.
    #[must_use]
    pub fn parameter_dim(self, name: Symbol<'c>) -> Option<DimVar<'c>> {
        let mut vars = DimVars::default();
        self.params.iter().filter_map(|p| p.ty().as_tensor()).flat_map(|t| t.shape).for_each(|&d| vars.add_dim(d));
        vars.as_slice().iter().copied().find(|var| var.name == name)
    }

    /// The ranges of the variants partition the range of one dim of a parameter's shape.
    fn check_partition(self) -> Result<()> {
        let refuse = |message: String| Err(Diagnostic::error(message).at(self.span));
        let name = self.name;
        let mut ranges: Vec<_> = self.variants.iter().map(|variant| variant.specializations[0]).collect();
        let dim = ranges[0].dim;
        if let Some(other) = ranges.iter().find(|range| range.dim != dim) {
            return refuse(format!("the variants of `{name}` dispatch on `{dim}` and on `{}`", other.dim));
        }
        let Some(var) = self.parameter_dim(dim) else {
            return refuse(format!("the variants of `{name}` dispatch on `{dim}`, which no parameter's shape has"));
        };
        ranges.sort_unstable_by_key(|range| (range.lo, range.hi));
        let mut next = var.lo;
        for range in &ranges {
            let (lo, hi) = (range.lo, range.hi);
            if lo < var.lo || hi > var.hi {
                let whole = format!("[{}, {})", var.lo, var.hi);
                return refuse(format!(
                    "the range [{lo}, {hi}) of a variant of `{name}` leaves {whole}, that of `{dim}`"
                ));
            }
            if lo > next {
                return refuse(format!("no variant of `{name}` is for `{dim}` in [{next}, {lo})"));
            }
            if lo < next {
                let end = hi.min(next);
                return refuse(format!("two variants of `{name}` are for `{dim}` in [{lo}, {end})"));
            }
            next = hi;
        }
        if next < var.hi {
            return refuse(format!("no variant of `{name}` is for `{dim}` in [{next}, {})", var.hi));
        }
        Ok(())
    }
}
