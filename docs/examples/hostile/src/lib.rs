//! No example: a plugin that does everything wrong, for the tests. `HOSTILE` chooses how.

use std::ffi::c_void;

use tf_core::op::{Op, OpCall, OpView, RuleError, TypeRule};
use tf_core::{Context, Expr, Function, Module, Result, op};
use tf_framework::{FunctionCx, FunctionPass, Pass, PassCx};
use tf_lower::Lowerer;
use tf_plugin::abi::{PluginInfo, Text, VERSION, enter};
use tf_plugin::{BUILD, Registrar, locked_versions};
use tf_rewrite::{RewritePattern, Rewriter, Root};
use tf_types::Type;

/// Panics in the function that it is told.
#[derive(Clone, Pass)]
#[pass(name = "hostile-panic")]
pub struct Panics {
    /// The function.
    #[option]
    #[default("")]
    at: String,
}

impl FunctionPass for Panics {
    fn run<'c>(&self, function: Function<'c>, _: &FunctionCx<'_, 'c>) -> Result<Function<'c>> {
        assert!(function.name.as_str() != self.at, "no way to do @{}", self.at);
        Ok(function)
    }
}

/// Panics on the driver's threads, or brings the process down.
#[derive(Clone, Pass)]
#[pass(name = "hostile-crash")]
pub struct Crashes {
    /// Abort instead.
    #[option]
    abort: bool,
}

impl Pass for Crashes {
    fn run<'c>(&self, module: Module<'c>, cx: &mut PassCx<'_, 'c>) -> Result<Module<'c>> {
        if self.abort {
            std::process::abort();
        }
        let names = cx.map_in_parallel(module.functions, |_, function| {
            assert!(function.name().as_str() != "f", "f is bad luck");
            function.name()
        });
        assert_eq!(names.len(), module.functions.len());
        Ok(module)
    }
}

/// Never ends.
#[derive(Clone, Pass)]
#[pass(name = "hostile-hang")]
pub struct Hangs {}

impl Pass for Hangs {
    fn run<'c>(&self, _: Module<'c>, _: &mut PassCx<'_, 'c>) -> Result<Module<'c>> {
        loop {
            std::thread::park();
        }
    }
}

/// Comes too early.
#[derive(Clone, Pass)]
#[pass(name = "hostile-late", requires("typeinfer"))]
pub struct Late {}

impl Pass for Late {
    fn run<'c>(&self, module: Module<'c>, _: &mut PassCx<'_, 'c>) -> Result<Module<'c>> {
        Ok(module)
    }
}

/// Is typed, and cannot be lowered.
#[op(dialect = "hostile", category = "math")]
pub struct Unlowered {
    /// The operand.
    #[input(Tensor)]
    x: (),
}

impl TypeRule for Unlowered {
    fn infer<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Result<Type<'c>, RuleError> {
        Ok(call.x().ty())
    }
}

fn lower<'c>(_: &mut Lowerer<'_, 'c>, _: Expr<'c>, _: OpView<'c>) -> Result<Expr<'c>> {
    panic!("what statements?")
}

/// Has no type.
#[op(dialect = "hostile", category = "math")]
pub struct Untyped {
    /// The operand.
    #[input(Tensor)]
    x: (),
}

impl TypeRule for Untyped {
    fn infer<'c>(_: OpCall<'c, Self>, _: &Context<'c>) -> Result<Type<'c>, RuleError> {
        panic!("what type?")
    }
}

/// Panics at every `tf.unary`.
struct Pattern;

impl RewritePattern for Pattern {
    fn name(&self) -> &'static str {
        "hostile-pattern"
    }
    fn doc(&self) -> &'static str {
        "Panics."
    }
    fn root(&self) -> Root {
        Root::Op(<tf_hir::Unary as Op>::DECL.name)
    }
    fn rewrite<'c>(&self, root: Expr<'c>, _: &Rewriter<'_, 'c>) -> Option<Expr<'c>> {
        panic!("no better form of {}", root.describe())
    }
}

fn mode() -> String {
    std::env::var("HOSTILE").unwrap_or_default()
}

fn register(r: &mut Registrar<'_>) {
    match mode().as_str() {
        "register" => panic!("I do not feel like it"),
        "duplicate" => {
            r.passes.pipeline("verify", "A name that is taken.", &[], |_| Ok(String::new()));
        }
        "pattern" => r.patterns.add(Pattern),
        "patterns" => {
            r.patterns.add(Pattern);
            r.patterns.add(Pattern);
        }
        "op" => {
            r.dialects.op::<Untyped>().done();
        }
        _ => {
            r.passes.function_pass(Panics::new());
            r.passes.module_pass(Crashes::new());
            r.passes.module_pass(Hangs::new());
            r.passes.module_pass(Late::new());
            r.passes.pipeline("hostile-again", "Contains itself.", &[], |_| Ok("verify,hostile-again".to_owned()));
            r.dialects.op::<Untyped>().types().done();
            r.dialects.op::<Unlowered>().types().done();
            r.lowering.add::<Unlowered>(lower);
        }
    }
}

unsafe extern "C" fn call(session: *mut c_void) {
    // SAFETY: the driver calls this with a session.
    unsafe { enter(session, register) }
}

const fn info(abi: u32, build: &'static str, crates: &'static str) -> PluginInfo {
    let (name, version) = (Text::new("hostile"), Text::new("0.1.0"));
    PluginInfo { abi, name, version, build: Text::new(build), crates: Text::new(crates), register: call }
}

static GOOD: PluginInfo = info(VERSION, BUILD, locked_versions!());
static OLD: PluginInfo = info(VERSION, "compiler: 1.0.0\nprofile: opt-level 3, debug assertions off, panic abort", "");
static CRATES: PluginInfo = info(VERSION, BUILD, "half: 1.0.0");
static FUTURE: PluginInfo = info(VERSION + 1, "", "");

/// What the driver reads first.
#[unsafe(no_mangle)]
pub extern "C" fn tilefoundry_plugin_info() -> *const PluginInfo {
    match mode().as_str() {
        "build" => &OLD,
        "crates" => &CRATES,
        "abi" => &FUTURE,
        "null" => std::ptr::null(),
        _ => &GOOD,
    }
}
