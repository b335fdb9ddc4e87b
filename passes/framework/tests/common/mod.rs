//! Passes and modules for the tests.

use std::sync::Arc;

use tf_core::node::{FunctionData, ModuleData};
use tf_core::op::OpRegistryBuilder;
use tf_core::walk::post_order;
use tf_core::{AnyFunction, Arena, Callee, Context, Diagnostic, ExprKind, Function, Meta, Module, Result};
use tf_framework::{
    Artifact, Counter, FunctionCx, FunctionPass, NestedPipeline, OptionDecl, OptionError, OptionKind, OptionValue,
    Pass, PassCx, PassRegistry,
};
use tf_types::DType;

/// How much.
#[derive(Clone, Copy, Debug, PartialEq, Eq, OptionValue)]
pub enum Level {
    AllOfIt,
    None,
}

/// Renames every
/// HIR function.
///
/// A second paragraph.
#[derive(Clone, Pass)]
#[pass(name = "rename")]
pub struct Rename {
    /// What stands before the old name.
    #[option]
    pub prefix: String,
    /// How often.
    #[option]
    #[default("1")]
    pub count: i64,
    /// How much.
    #[option]
    pub level: Level,
    /// Leave these alone.
    #[option]
    skip: Vec<String>,
    /// Say nothing.
    #[option]
    quiet: bool,
    /// At most so many.
    #[option]
    limit: Option<i64>,
    #[statistic("functions renamed")]
    renamed: Counter,
}

impl FunctionPass for Rename {
    fn check(&self) -> Result<(), OptionError> {
        match self.prefix.as_str() {
            "forbidden" => {
                let message = "not this one".to_owned();
                Err(OptionError { option: "prefix", message, help: None, missing: false })
            }
            _ => Ok(()),
        }
    }

    fn run<'c>(&self, function: Function<'c>, cx: &FunctionCx<'_, 'c>) -> Result<Function<'c>> {
        let name = function.name.as_str();
        if self.skip.iter().any(|skip| skip == name) || self.limit == Some(0) {
            return Ok(function);
        }
        if !self.quiet {
            cx.emit(Diagnostic::warning(format!("renaming {name}")));
        }
        self.renamed.add(1);
        Ok(cx.function(FunctionData { name: cx.symbol(&format!("{}{name}", self.prefix)), ..*function }))
    }
}

/// Leaves a text of who calls whom.
#[derive(Clone, Pass)]
#[pass(name = "calls")]
pub struct Calls {}

impl Pass for Calls {
    fn run<'c>(&self, module: Module<'c>, cx: &mut PassCx<'_, 'c>) -> Result<Module<'c>> {
        let mut text = String::new();
        for function in module.functions {
            let AnyFunction::Hir(function) = function else { continue };
            for expr in post_order(&[function.body.unwrap()]) {
                if let ExprKind::Call { callee: Callee::Function(callee), .. } = expr.kind {
                    text.push_str(&format!("{} calls {}\n", function.name, callee.name));
                }
            }
        }
        cx.emit_artifact(Artifact::text("text", "txt", text));
        Ok(module)
    }
}

/// Refuses every function.
#[derive(Clone, Pass)]
#[pass(name = "fails", requires("calls"))]
pub struct Fails {}

impl FunctionPass for Fails {
    fn run<'c>(&self, function: Function<'c>, _: &FunctionCx<'_, 'c>) -> Result<Function<'c>> {
        Err(Diagnostic::error(format!("no {}", function.name)))
    }
}

/// Reports and goes on.
#[derive(Clone, Pass)]
#[pass(name = "chatty")]
pub struct Chatty {
    /// No errors.
    #[option(name = "warnings-only")]
    warnings_only: bool,
}

impl Pass for Chatty {
    fn run<'c>(&self, module: Module<'c>, cx: &mut PassCx<'_, 'c>) -> Result<Module<'c>> {
        cx.emit(Diagnostic::warning("beware"));
        if !self.warnings_only {
            cx.emit(Diagnostic::error("too bad"));
        }
        cx.emit_artifact(Artifact::text("text", "txt", "done".to_owned()));
        Ok(module)
    }
}

/// Runs passes a number of times.
#[derive(Clone, Pass)]
#[pass(name = "times", requires("calls"))]
pub struct Times {
    /// How often.
    #[option]
    n: i64,
    /// What.
    #[option]
    passes: NestedPipeline,
}

impl Pass for Times {
    fn run<'c>(&self, mut module: Module<'c>, cx: &mut PassCx<'_, 'c>) -> Result<Module<'c>> {
        assert!(cx.option_span("n").is_some() && cx.option_span("passes").is_some());
        for _ in 0..self.n {
            module = cx.run_pipeline(&self.passes, module)?;
        }
        Ok(module)
    }
}

pub fn registry() -> PassRegistry {
    const OPTIONS: &[OptionDecl] =
        &[OptionDecl { name: "name", doc: "Prefix.", kind: OptionKind::Text, default: None, required: true }];
    let mut registry = PassRegistry::default();
    registry.function_pass(Rename::new());
    registry.module_pass(Calls::new());
    registry.function_pass(Fails::new());
    registry.module_pass(Chatty::new());
    registry.module_pass(Times::new());
    registry.pipeline("twice", "Renames twice.", OPTIONS, |options| {
        let name: String = options.get("name")?;
        Ok(format!("rename{{prefix={name} level=none}},rename{{prefix={name} level=all-of-it count=2}}"))
    });
    assert!(registry.mistakes().is_empty());
    registry
}

pub fn context(arena: &Arena) -> Context<'_> {
    Context::new(arena, Arc::new(OpRegistryBuilder::default().freeze().expect("an empty registry")))
}

/// `f0(x) = x`, `f1(x) = f0(x)`, …
pub fn module<'c>(cx: &Context<'c>, count: usize) -> Module<'c> {
    let ty = cx.scalar(DType::F32);
    let mut functions = Vec::new();
    let mut last: Option<Function<'c>> = None;
    for i in 0..count {
        let x = cx.var(cx.symbol("x"), ty, Meta::default());
        let args = cx.alloc_slice(&[x]);
        let call = |f| cx.expr(ExprKind::Call { callee: Callee::Function(f), args }, ty, Meta::default());
        let name = cx.symbol(&format!("f{i}"));
        let body = last.map_or(x, call);
        let function = cx.function(FunctionData::new(name, args, body, ty));
        functions.push(AnyFunction::Hir(function));
        last = Some(function);
    }
    cx.module(ModuleData { functions: cx.alloc_slice(&functions), ..ModuleData::new(cx.symbol("m")) })
}
