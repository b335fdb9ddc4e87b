//! An op's example as a program: compiled, printed as textual IR, read back, and asked what the op reads.

use std::sync::Arc;

use tf_core::diag::Style;
use tf_core::op::{OpDecl, OpForm, OpRegistry, OpView};
use tf_core::visit::collect_exprs;
use tf_core::{AnyFunction, Arena, Context, Diagnostic};
use tf_dsl::DslOptions;
use tf_text::{PrintOptions, parse_module, print_module};
use tf_types::access::fmt::Names;

use crate::error::{Outcome, stop};

/// What is shown of an example beside its source.
pub struct Shown {
    /// Its function as textual IR, with the aliases it needs.
    pub text: String,
    /// What the op reads for each element, one line a relation.
    pub accesses: Vec<String>,
}

/// The function in a module that has threads and CTAs.
fn program(decl: &OpDecl, source: &str) -> String {
    let in_statements = decl.form == OpForm::Effect || decl.name.dialect == "T";
    let kind = if in_statements { "prim_func" } else { "func" };
    let body: String = source.lines().map(|line| format!("    {line}\n")).collect();
    format!(
        "from tilefoundry import TensorType, func, module, prim_func\n\
         from tilefoundry.dsl import Layout, Mesh, T, Tensor, Topology, tf\n\
         from tilefoundry.target import CpuTarget, CudaTarget\n\n\n\
         @module(entry=\"f\", target=CudaTarget(\"nvidia.h200_sxm\"), topologies=(Topology(\"cta\", 4), Topology(\"thread\", 64)))\n\
         class Example:\n    @{kind}\n{body}"
    )
}

/// Compiles the example.
///
/// # Errors
/// It is no program, does not use the op, or its textual IR does not read back.
pub fn show(ops: &Arc<OpRegistry>, decl: &OpDecl, source: &str) -> Outcome<Shown> {
    let arena = Arena::new();
    let cx = &Context::new(&arena, ops.clone());
    let wrong = |errors: Vec<Diagnostic>| {
        let text: String = errors.iter().map(|error| error.render(cx.sources(), Style::Plain)).collect();
        stop(format!("the example of `{}` is wrong: {text}", decl.name))
    };
    let file = cx.sources().add(format!("{}.py", decl.name), program(decl, source));
    let module = match tf_dsl::parse_file(cx, file, &DslOptions::default()) {
        Ok(module) => module,
        Err(errors) => return wrong(errors),
    };
    let text = print_module(module, &PrintOptions::default());
    let file = cx.sources().add(format!("{}.tfir", decl.name), text.clone());
    match parse_module(cx, file) {
        Ok(again) if print_module(again, &PrintOptions::default()) == text => {}
        Ok(_) => return stop(format!("the example of `{}` reads back from textual IR as another program", decl.name)),
        Err(errors) => return wrong(errors),
    }
    let used = text.contains(&format!("{} ", decl.name));
    let Some(accesses) = accesses(cx, decl, module.entry_function()).filter(|_| used) else {
        return stop(format!("the example of `{}` does not use it", decl.name));
    };
    Ok(Shown { text: function_text(&text), accesses })
}

/// The aliases and the function, without the module around.
fn function_text(module: &str) -> String {
    let is_body = |line: &&str| line.starts_with("  ") || line.starts_with('#') || line.starts_with('!');
    let lines: Vec<_> = module.lines().filter(is_body).map(|line| line.strip_prefix("  ").unwrap_or(line)).collect();
    lines.join("\n")
}

/// The access relations of the op's call; `None` if a value op is not called.
fn accesses<'c>(cx: &Context<'c>, decl: &OpDecl, entry: Option<AnyFunction<'c>>) -> Option<Vec<String>> {
    let Some(AnyFunction::Hir(function)) = entry else { return Some(Vec::new()) };
    let calls = collect_exprs(function.body?).into_iter().filter_map(|expr| expr.op_call());
    let call = calls.into_iter().find(|call| call.op.decl.name == decl.name)?;
    Some(relations(cx, call))
}

fn relations<'c>(cx: &Context<'c>, call: OpView<'c>) -> Vec<String> {
    let Some(rule) = cx.ops().access.get(call.op.id) else { return Vec::new() };
    let relations = rule(call, cx);
    let fields = relations.iter().map(|relation| relation.field).max().unwrap_or_default();
    let operand = |at: usize, field: usize| {
        let inputs: Vec<_> = call.op.decl.inputs().collect();
        let last = inputs.len().saturating_sub(1);
        let name = inputs.get(at).or(inputs.last()).map_or("operand", |input| input.name);
        // Variadic inputs are numbered.
        let number =
            if at >= last && call.args.len() > inputs.len() { format!("[{}]", at - last) } else { String::new() };
        let is_tuple = call.args.get(at).is_some_and(|arg| arg.ty().as_tensor().is_none());
        if is_tuple { format!("{name}.{field}") } else { name.to_owned() + &number }
    };
    let result = |field: usize| if fields == 0 { "out".to_owned() } else { format!("out.{field}") };
    let names = Names { operand: &operand, result: &result };
    relations.iter().map(|relation| relation.describe(&names)).collect()
}
