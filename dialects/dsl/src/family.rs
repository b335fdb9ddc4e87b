//! Functions with their variants and converters, until their module is complete.

use ruff_python_ast as ast;
use rustc_hash::FxHashMap;
use tf_core::node::{Converter, FunctionData, ModuleData};
use tf_core::{AnyFunction, DimVarRangePat, Expr, Function, Span};
use tf_types::Symbol;

use crate::function::Role;
use crate::parser::{Domain, Parser};
use crate::refusal::{Refusal, Res};
use crate::value::Value;

/// Parts of functions that are copied for one file: a function whose parts stand between classes and calls of plain functions, which
/// may call it as it is so far, is made anew before each.
const COPIED: usize = 1 << 22;

/// A function that still takes variants and converters.
pub(crate) struct Family<'c> {
    /// With its parts as they were when it was made.
    pub(crate) function: Function<'c>,
    variants: Vec<Function<'c>>,
    converters: Vec<Converter<'c>>,
    /// Its weights, each with whether it has a converter, once a converter has been read.
    weights: FxHashMap<Symbol<'c>, (Expr<'c>, bool)>,
    /// Where the name and the bounds of each variant's range stand.
    ranges: Vec<[Span; 3]>,
    /// A variant of it is refused, so nothing is said about those that are left.
    refused: bool,
}

impl<'c> Family<'c> {
    fn new(function: Function<'c>) -> Self {
        Self {
            function,
            variants: Vec::new(),
            converters: Vec::new(),
            weights: FxHashMap::default(),
            ranges: Vec::new(),
            refused: false,
        }
    }

    fn is_complete(&self) -> bool {
        self.variants.len() == self.function.variants.len() && self.converters.len() == self.function.converters.len()
    }
}

impl<'c> Domain<'c> {
    /// Takes a function; its place.
    pub(crate) fn add(&mut self, function: Function<'c>) -> usize {
        let at = self.functions.len();
        self.names.insert(function.name);
        self.states.insert(function, at);
        self.functions.push(Family::new(function));
        at
    }
}

/// The decorators of a function's parts.
const PARTS: [&str; 2] = ["specialize", "converter"];

impl<'c> Parser<'_, 'c> {
    /// `@base.specialize(pattern)` and `@base.converter(weight)`; false where the decorator is neither.
    pub(crate) fn part(&mut self, def: &ast::StmtFunctionDef) -> Res<bool> {
        let [decorator] = &def.decorator_list[..] else { return Ok(false) };
        let (name, call) = match &decorator.expression {
            ast::Expr::Call(call) => (&*call.func, Some(call)),
            other => (other, None),
        };
        let ast::Expr::Attribute(attribute) = name else { return Ok(false) };
        let what = attribute.attr.as_str();
        if !PARTS.contains(&what) {
            if attribute.value.is_name_expr()
                && let Ok(Value::Function(base)) = self.eval(&attribute.value, None)
                && let Some(&at) = self.domain.states.get(&base)
            {
                self.domain.functions[at].refused = true;
                let message = format!("the function `{}` has no decorator `{what}`", base.name);
                return Err(Refusal::wrong(self.span(&attribute.attr), message).near(what, PARTS));
            }
            return Ok(false);
        }
        let span = self.span(decorator);
        if let Some(module) = self.module_of(&attribute.value) {
            let message =
                format!("the functions of the module `{module}` are complete: they take no variants or converters");
            return Err(Refusal::wrong(span, message).help("write it below the function, where that is defined"));
        }
        let Value::Function(base) = self.eval(&attribute.value, None)? else { return Ok(false) };
        let Some(call) = call else {
            return Err(Refusal::wrong(span, format!("`@{}` takes an argument", self.text(name))));
        };
        let Some(&at) = self.domain.states.get(&base) else {
            let message = format!("`{}` is complete: its module takes no more of its parts", base.name);
            return Err(Refusal::wrong(span, message));
        };
        let result = match what {
            "specialize" => self.variant(at, call, def),
            _ => self.converter(at, call, def),
        };
        self.domain.functions[at].refused |= result.is_err();
        result.map(|()| true)
    }

    fn note_label(&mut self, def: &ast::StmtFunctionDef, what: &'static str, base: Symbol<'c>) {
        if def.name.as_str() != "_" {
            self.labels.insert(self.cx.symbol(def.name.as_str()), (what, base));
        }
    }

    /// A function that is about to get a part.
    fn amended_family(&mut self, at: usize) -> &mut Family<'c> {
        let family = &mut self.domain.functions[at];
        if family.is_complete() {
            self.domain.incomplete.push(at);
        }
        family
    }

    /// Gives the functions of the module the parts that they have so far. Calls in other functions of it need none: they are of the
    /// complete ones in the end.
    pub(crate) fn complete_parts(&mut self) -> Res<()> {
        std::mem::take(&mut self.domain.incomplete).into_iter().try_for_each(|at| self.complete(at))
    }

    fn complete(&mut self, at: usize) -> Res<()> {
        let family = &mut self.domain.functions[at];
        if family.is_complete() {
            return Ok(());
        }
        let old = family.function;
        self.copied_parts += family.variants.len() + family.converters.len();
        if self.copied_parts > COPIED {
            let message =
                format!("the parts of `{}` stand between too many classes and calls of plain functions", old.name);
            let refusal = Refusal::from(tf_core::Diagnostic::error(message).at(old.span));
            return Err(refusal.help("write the variants and converters of a function one below the other"));
        }
        let (variants, converters) = (self.cx.alloc_slice(&family.variants), self.cx.alloc_slice(&family.converters));
        let new = self.cx.function(FunctionData { variants, converters, ..*old });
        family.function = new;
        self.domain.states.insert(new, at);
        self.amend(old, new);
        Ok(())
    }

    fn amend(&mut self, old: Function<'c>, new: Function<'c>) {
        let id = *self.amended.entry(old).or_insert_with(|| {
            self.latest.push(new);
            self.latest.len() - 1
        });
        self.latest[id] = new;
        self.amended.insert(new, id);
    }

    /// A function with the parts that have been read since a name was bound to it.
    pub(crate) fn latest(&self, function: Function<'c>) -> Function<'c> {
        self.amended.get(&function).map_or(function, |&id| self.latest[id])
    }

    /// The module that `M` is, or of which `M.f` is a function.
    fn module_of(&mut self, expr: &ast::Expr) -> Option<tf_types::Symbol<'c>> {
        let owner = match expr {
            ast::Expr::Attribute(attribute) => &*attribute.value,
            other => other,
        };
        match self.eval(owner, None) {
            Ok(Value::Module(module)) => Some(module.name),
            _ => None,
        }
    }

    fn variant(&mut self, at: usize, call: &ast::ExprCall, def: &ast::StmtFunctionDef) -> Res<()> {
        let base = self.domain.functions[at].function;
        if let args @ [_, first, ..] = &call.arguments.args[..] {
            let written = args.iter().map(|arg| self.text(arg)).collect::<Vec<_>>().join(", ");
            let refusal = Refusal::wrong(self.span(first), format!("a variant of `{}` is for one range", base.name));
            return Err(refusal.help(format!("write `@{}.specialize(DimVarRangePat({written}))`", base.name)));
        }
        let given = self.arguments(call, "specialize", &["pattern"])?;
        let Some(pattern) = given[0] else {
            let message = format!("a variant of `{}` needs a `DimVarRangePat`", base.name);
            return Err(Refusal::wrong(self.span(call), message));
        };
        let span = self.span(pattern);
        let written = match pattern {
            ast::Expr::Call(inner) => match self.eval(&inner.func, None) {
                Ok(Value::Builtin(crate::names::Builtin::DimVarRangePat)) => Some(self.range_pattern(inner, span)?),
                _ => None,
            },
            _ => None,
        };
        let (range, spans) = match written {
            Some(written) => written,
            None => match self.eval(pattern, None)? {
                Value::Range(range) => (range, [span; 3]),
                other => {
                    let message = format!("a variant is for a `DimVarRangePat`, found {}", other.describe());
                    return Err(Refusal::wrong(span, message).help("write `DimVarRangePat(\"n\", 1, 9)`"));
                }
            },
        };
        self.check_range(at, range, spans)?;
        let variant = self.function(def, Role::Variant(base))?;
        self.check_signature(base, variant)?;
        let patterns = self.cx.alloc_slice(&[range]);
        let variant = self.cx.function(FunctionData { specializations: patterns, ..*variant });
        self.note_label(def, "variant", base.name);
        let family = self.amended_family(at);
        family.ranges.push(spans);
        family.variants.push(variant);
        Ok(())
    }

    /// The dim is one of the parameters' and that of the other variants; the range lies in its own.
    fn check_range(&self, at: usize, range: DimVarRangePat<'c>, spans: [Span; 3]) -> Res<()> {
        let Family { function: base, variants, .. } = &self.domain.functions[at];
        let (name, dim) = (base.name, range.dim);
        let Some(var) = base.parameter_dim(dim) else {
            let message = format!("no parameter of `{name}` has the dim `{dim}` in its shape");
            return Err(Refusal::wrong(spans[0], message));
        };
        // All that are there have the dim of the first one.
        let first = variants.first().and_then(|variant| variant.specializations.first());
        if let Some(other) = first.filter(|first| first.dim != dim) {
            let message = format!("the variants of `{name}` dispatch on one dim, found `{}` and `{dim}`", other.dim);
            return Err(Refusal::wrong(spans[0], message));
        }
        let whole = format!("[{}, {}), the range of `{dim}`", var.lo, var.hi);
        if range.lo < var.lo {
            return Err(Refusal::wrong(spans[1], format!("the range starts at {}, before {whole}", range.lo)));
        }
        if range.hi > var.hi {
            return Err(Refusal::wrong(spans[2], format!("the range ends at {}, after {whole}", range.hi)));
        }
        Ok(())
    }

    /// Parameters and result of a variant are those of its prototype.
    fn check_signature(&self, base: Function<'c>, variant: Function<'c>) -> Res<()> {
        let (name, at) = (base.name, variant.variant_name());
        let span = variant.span;
        let wrong = |span: Option<Span>, message: String| match span {
            Some(span) => Err(Refusal::wrong(span, message)),
            None => Err(tf_core::Diagnostic::error(message).into()),
        };
        let at = if at.is_empty() { "the variant".to_owned() } else { format!("the variant `{at}`") };
        if base.params.len() != variant.params.len() {
            let (want, have) = (base.params.len(), variant.params.len());
            return wrong(span, format!("{at} has {have} parameters, but `{name}` has {want}"));
        }
        for (want, have) in base.params.iter().zip(variant.params) {
            if want.ty() != have.ty() || want.is_const_param() != have.is_const_param() {
                let written = |param: Expr<'c>| match param.is_const_param() {
                    true => format!("Const{}", param.ty()),
                    false => param.ty().to_string(),
                };
                let (param, taken) = (have.describe(), written(*have));
                let message = format!("{at} takes {param} as {taken}, but `{name}` takes {}", written(*want));
                return wrong(have.span().or(span), message);
            }
        }
        if base.return_type != variant.return_type {
            let (want, have) = (base.return_type, variant.return_type);
            return wrong(span, format!("{at} returns {have}, but `{name}` returns {want}"));
        }
        Ok(())
    }

    fn converter(&mut self, at: usize, call: &ast::ExprCall, def: &ast::StmtFunctionDef) -> Res<()> {
        let base = self.domain.functions[at].function;
        let given = self.arguments(call, "converter", &["weight"])?;
        let Some(weight) = given[0] else {
            let message = format!("a converter of `{}` names its weight", base.name);
            return Err(Refusal::wrong(self.span(call), message));
        };
        let span = self.span(weight);
        let weight = match self.eval(weight, None)? {
            Value::Str(name) => name,
            other => {
                let message = format!("a converter names a weight, found {}", other.describe());
                return Err(Refusal::wrong(span, message));
            }
        };
        let family = &mut self.domain.functions[at];
        if family.weights.is_empty() {
            let weights = base.params.iter().filter(|param| param.is_const_param());
            family.weights.extend(weights.filter_map(|&param| Some((param.var_name()?, (param, false)))));
        }
        let Some(&(param, has_converter)) = family.weights.get(&weight) else {
            let message = format!("`{}` has no `ConstTensor` parameter `{weight}`", base.name);
            let known: Vec<&str> = family.weights.keys().map(|name| name.as_str()).collect();
            return Err(self.near(Refusal::wrong(span, message), weight.as_str(), &known));
        };
        if has_converter {
            return Err(Refusal::wrong(span, format!("the weight `{weight}` has a converter already")));
        }
        let function = self.function(def, Role::Converter(base))?;
        let (want, have) = (param.ty(), function.return_type);
        let fits = match (want.as_tensor(), have.as_tensor()) {
            (Some(want), Some(have)) => want.shape == have.shape && want.dtype == have.dtype,
            _ => want == have,
        };
        if !fits {
            let message = format!("the converter returns {have}, but the weight `{weight}` is {want}");
            return Err(Refusal::wrong(function.span.unwrap_or(span), message));
        }
        self.note_label(def, "converter", base.name);
        let family = self.amended_family(at);
        family.weights.insert(weight, (param, true));
        family.converters.push(Converter { weight, function });
        Ok(())
    }

    /// Completes the functions of a module: prototypes have variants for every value of their dim, and all calls are of
    /// the complete functions. Gives them with the instances that calls made of them.
    pub(crate) fn seal(&mut self, domain: Domain<'c>) -> (Vec<Function<'c>>, &'c [Function<'c>]) {
        let outer = std::mem::replace(&mut self.domain, domain);
        if let Err(refusal) = self.complete_parts() {
            self.report(refusal);
        }
        let domain = std::mem::replace(&mut self.domain, outer);
        for family in &domain.functions {
            if !family.refused
                && let Err(refusal) = check_family(family)
            {
                self.report(refusal);
            }
        }
        let functions: Vec<_> = domain.functions.iter().map(|family| family.function).collect();
        let members: Vec<_> = functions.iter().copied().map(AnyFunction::Hir).collect();
        let earlier = domain.states.iter().filter(|(state, at)| **state != functions[**at]);
        let replaced = earlier.map(|(&old, &at)| (AnyFunction::Hir(old), members[at]));
        let members = ModuleData { functions: self.cx.alloc_slice(&members), ..ModuleData::new(self.cx.symbol("")) };
        let module = self.cx.module(members);
        match tf_core::tree::replaced(self.cx, module, &replaced.collect(), &Function::callees) {
            Ok(module) => {
                let made = module.functions.iter().filter_map(|function| match function {
                    AnyFunction::Hir(function) => Some(*function),
                    AnyFunction::Tir(_) => None,
                });
                let made: Vec<_> = made.collect();
                for (&old, &new) in functions.iter().zip(&made).filter(|(old, new)| old != new) {
                    self.amend(old, new);
                }
                (made, module.data().instances)
            }
            Err(error) => {
                self.report(error.into());
                (functions, &[])
            }
        }
    }
}

/// A function has a body or variants, whose ranges partition that of the dim.
fn check_family(family: &Family<'_>) -> Res<()> {
    let function = family.function;
    let name = function.name;
    let wrong = |message: String| Refusal::from(tf_core::Diagnostic::error(message).at(function.span));
    match (function.body, function.variants) {
        (Some(_), []) => return Ok(()),
        (Some(_), _) => {
            let refusal = wrong(format!("`{name}` has a body and variants"));
            return Err(refusal.help("the body of a function with variants is `pass`"));
        }
        (None, []) => {
            let refusal = wrong(format!("`{name}` has no body, and no variants"));
            return Err(refusal.help(format!("add `@{name}.specialize(...)`, or a body")));
        }
        (None, _) => {}
    }
    let ranges = function.variants.iter().flat_map(|variant| variant.specializations);
    let mut ranges: Vec<_> = ranges.copied().zip(family.ranges.iter().copied()).collect();
    ranges.sort_by_key(|(range, _)| (range.lo, range.hi));
    let Some(var) = ranges.first().and_then(|(range, _)| function.parameter_dim(range.dim)) else { return Ok(()) };
    let mut next = var.lo;
    for (range, [_, at, _]) in &ranges {
        let (dim, lo, hi) = (range.dim, range.lo, range.hi);
        if lo > next {
            return Err(Refusal::wrong(*at, format!("no variant of `{name}` is for `{dim}` in [{next}, {lo})")));
        }
        if lo < next {
            let end = hi.min(next);
            return Err(Refusal::wrong(*at, format!("two variants of `{name}` are for `{dim}` in [{lo}, {end})")));
        }
        next = hi;
    }
    if next < var.hi {
        return Err(wrong(format!("no variant of `{name}` is for `{}` in [{next}, {})", var.name, var.hi)));
    }
    Ok(())
}
