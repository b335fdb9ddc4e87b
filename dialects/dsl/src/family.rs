//! Functions with their variants and converters, until their module is complete.

use ruff_python_ast as ast;
use tf_core::node::{Converter, FunctionData, ModuleData};
use tf_core::{AnyFunction, Context, DimVarRangePat, Function, Span};

use crate::function::Role;
use crate::parser::{Binding, Domain, Frame, Parser};
use crate::refusal::{Refusal, Res};
use crate::value::Value;

/// A function that still takes variants and converters.
pub(crate) struct Family<'c> {
    pub(crate) function: Function<'c>,
    /// Where the name and the bounds of each variant's range stand.
    ranges: Vec<[Span; 3]>,
    /// A variant of it is refused, so nothing is said about those that are left.
    refused: bool,
}

impl<'c> Family<'c> {
    pub(crate) fn new(function: Function<'c>) -> Self {
        Self { function, ranges: Vec::new(), refused: false }
    }
}

impl<'c> Domain<'c> {
    /// Puts a new state of a function in place of its last one.
    fn amend(&mut self, at: usize, data: FunctionData<'c>, cx: &Context<'c>) -> Function<'c> {
        let new = cx.function(data);
        let old = std::mem::replace(&mut self.functions[at].function, new);
        self.replaced.insert(old, at);
        new
    }
}

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
        if !matches!(what, "specialize" | "converter") {
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
        let Some(at) = self.domain.functions.iter().position(|family| family.function == base) else {
            let message = format!("`{}` is complete: its module takes no more of its parts", base.name);
            return Err(Refusal::wrong(span, message));
        };
        let result = match what {
            "specialize" => self.variant(at, call, def),
            _ => self.converter(at, call, def),
        };
        self.domain.functions[at].refused |= result.is_err();
        let function = result?;
        let name = function.name;
        let update = |names: &mut Frame<'c>| {
            for binding in names.values_mut() {
                if let Binding::Value(Value::Function(bound)) = binding
                    && *bound == base
                {
                    *bound = function;
                }
            }
        };
        match self.scopes.last() {
            Some(scope) => update(&mut scope.borrow_mut()),
            None => update(&mut self.file),
        }
        debug_assert_eq!(name, base.name);
        Ok(true)
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

    fn variant(&mut self, at: usize, call: &ast::ExprCall, def: &ast::StmtFunctionDef) -> Res<Function<'c>> {
        let base = self.domain.functions[at].function;
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
        self.check_range(base, range, spans)?;
        let variant = self.function(def, Role::Variant(base))?;
        self.check_signature(base, variant)?;
        let patterns = self.cx.alloc_slice(&[range]);
        let variant = self.cx.function(FunctionData { specializations: patterns, ..*variant });
        let variants: Vec<_> = base.variants.iter().copied().chain([variant]).collect();
        self.domain.functions[at].ranges.push(spans);
        let variants = self.cx.alloc_slice(&variants);
        Ok(self.domain.amend(at, FunctionData { variants, ..*base }, self.cx))
    }

    /// The dim is one of the parameters' and that of the other variants; the range lies in its own.
    fn check_range(&self, base: Function<'c>, range: DimVarRangePat<'c>, spans: [Span; 3]) -> Res<()> {
        let (name, dim) = (base.name, range.dim);
        let Some(var) = base.parameter_dim(dim) else {
            let message = format!("no parameter of `{name}` has the dim `{dim}` in its shape");
            return Err(Refusal::wrong(spans[0], message));
        };
        let other = base.variants.iter().flat_map(|variant| variant.specializations).find(|known| known.dim != dim);
        if let Some(other) = other {
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
                let (param, have_ty) = (have.describe(), have.ty());
                return wrong(
                    have.span().or(span),
                    format!("{at} takes {param} as {have_ty}, but `{name}` takes {}", want.ty()),
                );
            }
        }
        if base.return_type != variant.return_type {
            let (want, have) = (base.return_type, variant.return_type);
            return wrong(span, format!("{at} returns {have}, but `{name}` returns {want}"));
        }
        Ok(())
    }

    fn converter(&mut self, at: usize, call: &ast::ExprCall, def: &ast::StmtFunctionDef) -> Res<Function<'c>> {
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
        let params = base.params.iter();
        let Some(param) = params.copied().find(|p| p.is_const_param() && p.var_name() == Some(weight)) else {
            let message = format!("`{}` has no `ConstTensor` parameter `{weight}`", base.name);
            return Err(Refusal::wrong(span, message));
        };
        if base.converters.iter().any(|converter| converter.weight == weight) {
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
        let converters: Vec<_> = base.converters.iter().copied().chain([Converter { weight, function }]).collect();
        let converters = self.cx.alloc_slice(&converters);
        Ok(self.domain.amend(at, FunctionData { converters, ..*base }, self.cx))
    }

    /// Completes the functions of a module: prototypes have variants for every value of their dim, and all calls are of
    /// the complete functions. Gives them with the instances that calls made of them.
    pub(crate) fn seal(&mut self, domain: Domain<'c>) -> (Vec<Function<'c>>, &'c [Function<'c>]) {
        for family in &domain.functions {
            if !family.refused
                && let Err(refusal) = check_family(family)
            {
                self.report(refusal);
            }
        }
        let functions: Vec<_> = domain.functions.iter().map(|family| family.function).collect();
        let members: Vec<_> = functions.iter().copied().map(AnyFunction::Hir).collect();
        let replaced = domain.replaced.iter().map(|(&old, &at)| (AnyFunction::Hir(old), members[at]));
        let members = ModuleData { functions: self.cx.alloc_slice(&members), ..ModuleData::new(self.cx.symbol("")) };
        let module = self.cx.module(members);
        match tf_core::tree::replaced(self.cx, module, &replaced.collect(), &Function::callees) {
            Ok(module) => {
                let functions = module.functions.iter().filter_map(|function| match function {
                    AnyFunction::Hir(function) => Some(*function),
                    AnyFunction::Tir(_) => None,
                });
                (functions.collect(), module.data().instances)
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
