//! One pass on one module.

use rustc_hash::FxBuildHasher;
use tf_core::diag::Severity;
use tf_core::tree::Replacements;
use tf_core::{AnyFunction, Context, Diagnostic, Module, Result};

use crate::cx::{Given, RunNested};
use crate::parallel::{Own, map_timed};
use crate::pass::{AnyPass, Over};
use crate::relink::{each_part, functions, with_functions};
use crate::{FunctionCx, Outcome, PassCx, PassDecl};

/// With a note that says where it arose, on errors and remarks.
pub(crate) fn blame(mut diagnostics: Vec<Diagnostic>, place: &str) -> Vec<Diagnostic> {
    for diagnostic in diagnostics.iter_mut().filter(|d| d.severity != Severity::Warning) {
        diagnostic.notes.push((None, place.to_owned()));
    }
    diagnostics
}

/// The note that names the pass.
pub(crate) fn place(decl: &PassDecl) -> String {
    format!("in pass `{}`", decl.name)
}

/// With the name of the pass as their code.
pub(crate) fn coded(diagnostics: Vec<Diagnostic>, code: &'static str) -> Vec<Diagnostic> {
    diagnostics.into_iter().map(|diagnostic| diagnostic.coded(code)).collect()
}

fn is_error(diagnostic: &Diagnostic) -> bool {
    diagnostic.severity == Severity::Error
}

/// What came of a pass.
pub(crate) struct Applied<'c> {
    pub(crate) result: std::result::Result<Module<'c>, Vec<Diagnostic>>,
    /// The time of all functions together, where the pass ran over functions.
    pub(crate) busy_seconds: Option<f64>,
}

/// Runs a pass; its artifacts and warnings go to the outcome.
pub(crate) fn apply<'c>(
    pass: &AnyPass,
    cx: &Context<'c>,
    given: Given<'_, 'c>,
    nested: &mut dyn RunNested<'c>,
    outcome: &mut Outcome<'c>,
    decl: &'static PassDecl,
) -> Applied<'c> {
    let module = outcome.module;
    match pass {
        AnyPass::Module(pass) => {
            let mut pass_cx = PassCx::with(cx, &Own, given, Some(nested));
            let result = pass.run(module, &mut pass_cx);
            let PassCx { artifacts, diagnostics: mut found, .. } = pass_cx;
            let result = result.map_err(|error| found.push(error));
            let found = coded(blame(found, &place(decl)), decl.name);
            let result = match result {
                Ok(after) if !found.iter().any(is_error) => {
                    outcome.diagnostics.extend(found);
                    outcome.artifacts.extend(artifacts);
                    Ok(after)
                }
                _ => Err(found),
            };
            Applied { result, busy_seconds: None }
        }
        AnyPass::AnyFunction(pass, over) => {
            over_functions(cx, given, outcome, decl, |function, cx| match (function, over) {
                (AnyFunction::Hir(_), Over::Tir) | (AnyFunction::Tir(_), Over::Hir) => Ok(function),
                (AnyFunction::Hir(hir), _) => {
                    let of_part = |part| match pass.run(AnyFunction::Hir(part), cx)? {
                        AnyFunction::Hir(new) => Ok(new),
                        AnyFunction::Tir(_) => Ok(part),
                    };
                    each_part(cx, hir, of_part).map(AnyFunction::Hir)
                }
                (tir, _) => pass.run(tir, cx),
            })
        }
        AnyPass::Function(pass) => over_functions(cx, given, outcome, decl, |function, cx| match function {
            AnyFunction::Hir(hir) => each_part(cx, hir, |part| pass.run(part, cx)).map(AnyFunction::Hir),
            tir @ AnyFunction::Tir(_) => Ok(tir),
        }),
        AnyPass::PrimFunc(pass) => over_functions(cx, given, outcome, decl, |function, cx| match function {
            AnyFunction::Tir(tir) => pass.run(tir, cx).map(AnyFunction::Tir),
            hir @ AnyFunction::Hir(_) => Ok(hir),
        }),
    }
}

fn over_functions<'c>(
    cx: &Context<'c>,
    given: Given<'_, 'c>,
    outcome: &mut Outcome<'c>,
    decl: &'static PassDecl,
    run: impl Fn(AnyFunction<'c>, &FunctionCx<'_, 'c>) -> Result<AnyFunction<'c>> + Sync,
) -> Applied<'c> {
    let root = outcome.module;
    let members = functions(cx, root);
    let (results, busy_seconds) = map_timed(&Own, cx, &members, |cx, &(function, module)| {
        let _span = tracing::info_span!("function", name = function.name().as_str()).entered();
        let function_cx = FunctionCx::with(cx, module, given);
        let result = run(function, &function_cx);
        let mut found = function_cx.into_diagnostics();
        let after = result.map_err(|error| found.push(error)).unwrap_or(function);
        if !found.is_empty() {
            found = coded(blame(blame(found, &format!("in function `{}`", function.name())), &place(decl)), decl.name);
        }
        // Asked here, where both are still in the caches.
        (after, found, function.refers() || after.refers())
    });
    let busy_seconds = Some(busy_seconds);
    let mut changed = Replacements::with_capacity_and_hasher(members.len(), FxBuildHasher);
    let (mut found, mut any_refers) = (Vec::new(), false);
    for (&(before, _), (after, told, refers)) in members.iter().zip(results) {
        any_refers |= refers;
        if after != before {
            changed.insert(before, after);
        }
        found.extend(told);
    }
    if found.iter().any(is_error) {
        return Applied { result: Err(found), busy_seconds };
    }
    outcome.diagnostics.extend(found);
    let result = with_functions(cx, root, &changed, any_refers)
        .map_err(|error| coded(blame(vec![error], &place(decl)), decl.name));
    Applied { result, busy_seconds }
}
