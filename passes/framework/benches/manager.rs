//! What the pass manager costs beside its passes, and what a second thread brings: 10,000 functions of 100 ops.
//!
//! `cargo bench -p tf-framework --bench manager`

use std::io::Write;
use std::sync::Arc;
use std::time::Instant;

use tf_core::node::{FunctionData, ModuleData};
use tf_core::op::{OpCall, OpRegistry, OpRegistryBuilder, RuleError, TypeRule};
use tf_core::visit::{Cloning, ExprCloner, clone_expr};
use tf_core::walk::post_order;
use tf_core::{AnyFunction, Arena, Context, Expr, Function, Meta, Module, Result, op};
use tf_framework::{FunctionCx, FunctionPass, Pass, PassManager, PassRegistry, Pipeline, map_in_parallel};
use tf_types::{DType, Type};

const FUNCTIONS: usize = 10_000;
const OPS: usize = 100;
const ROUNDS: usize = 9;

/// Adds.
#[op(dialect = "bench", category = "math")]
struct Add {
    /// One.
    #[input(Any)]
    lhs: (),
    /// The other.
    #[input(Any)]
    rhs: (),
}

impl TypeRule for Add {
    fn infer<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Result<Type<'c>, RuleError> {
        Ok(call.lhs().ty())
    }
}

/// Looks at every value and changes none.
#[derive(Clone, Pass)]
#[pass(name = "look")]
struct Look {}

fn look(function: Function<'_>) -> usize {
    post_order(&function.body.into_iter().collect::<Vec<_>>()).len()
}

impl FunctionPass for Look {
    fn run<'c>(&self, function: Function<'c>, _: &FunctionCx<'_, 'c>) -> Result<Function<'c>> {
        assert!(look(function) > 0);
        Ok(function)
    }
}

/// Rebuilds every function over new nodes, as a rewriting pass at its busiest.
#[derive(Clone, Pass)]
#[pass(name = "rebuild")]
struct Rebuild {}

struct Swap;

impl<'c> ExprCloner<'c> for Swap {
    fn clone_call(&mut self, call: Expr<'c>, clone: &mut Cloning<'_, 'c>) -> Result<Expr<'c>> {
        let new = clone.rebuild(call)?;
        match new.as_op::<Add>() {
            Some(add) => clone.cx.call(add.instance(), &[add.rhs(), add.lhs()], new.meta),
            None => Ok(new),
        }
    }
}

fn rebuild<'c>(function: Function<'c>, cx: &Context<'c>) -> Result<Function<'c>> {
    let Some(body) = function.body else { return Ok(function) };
    let body = Some(clone_expr(cx, body, &mut Swap)?);
    Ok(cx.function(FunctionData { body, ..*function }))
}

impl FunctionPass for Rebuild {
    fn run<'c>(&self, function: Function<'c>, cx: &FunctionCx<'_, 'c>) -> Result<Function<'c>> {
        rebuild(function, cx)
    }
}

fn module<'c>(cx: &Context<'c>) -> Module<'c> {
    let ty = cx.scalar(DType::F32);
    let functions: Vec<_> = (0..FUNCTIONS)
        .map(|i| {
            let x = cx.var(cx.symbol("x"), ty, Meta::default());
            let mut body = x;
            for _ in 0..OPS {
                body = cx.call(Add::new(cx), &[body, x], Meta::default()).unwrap_or_else(|e| panic!("{}", e.message));
            }
            let params = cx.alloc_slice(&[x]);
            AnyFunction::Hir(cx.function(FunctionData::new(cx.symbol(&format!("f{i}")), params, body, ty)))
        })
        .collect();
    cx.module(ModuleData { functions: cx.alloc_slice(&functions), ..ModuleData::new(cx.symbol("m")) })
}

/// Seconds of processor time of the process, which other programs on the machine do not add to.
fn processor_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a timespec of this frame.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Milliseconds of wall and of processor time.
#[derive(Clone, Copy)]
struct Times {
    wall: f64,
    processor: f64,
}

fn measure(run: impl FnOnce()) -> Times {
    let (started, before) = (Instant::now(), processor_seconds());
    run();
    let wall = started.elapsed().as_secs_f64() * 1e3;
    Times { wall, processor: (processor_seconds() - before) * 1e3 }
}

/// Each from the middle of its values.
fn median(times: &[Times]) -> Times {
    let middle = |of: fn(&Times) -> f64| {
        let mut values: Vec<_> = times.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    Times { wall: middle(|t| t.wall), processor: middle(|t| t.processor) }
}

impl std::fmt::Display for Times {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.1} ms wall {:.1} ms processor", self.wall, self.processor)
    }
}

/// The work of a pass without the manager; whether it could be done.
fn bare<'c>(name: &str, cx: &Context<'c>, module: Module<'c>) -> bool {
    let done = map_in_parallel(cx, module.functions, |cx, f| match f {
        AnyFunction::Hir(f) if name == "look" => look(*f) > 0,
        AnyFunction::Hir(f) => rebuild(*f, cx).is_ok(),
        AnyFunction::Tir(_) => false,
    });
    done.iter().all(|&ok| ok)
}

/// Alternating rounds, each over a module of its own: what the first run allocates would make the second slower.
fn compare(passes: &PassRegistry, ops: &Arc<OpRegistry>, name: &str) -> [Times; 2] {
    let (mut managed, mut alone) = (Vec::new(), Vec::new());
    for round in 0..2 * ROUNDS {
        let arena = Arena::new();
        let cx = Context::new(&arena, Arc::clone(ops));
        let module = module(&cx);
        if round % 2 == 0 {
            let Ok(pipeline) = Pipeline::build(passes, cx.sources(), "<pipeline>", name) else { continue };
            managed.push(measure(|| assert!(PassManager::default().run(&pipeline, &cx, module).is_ok())));
        } else {
            alone.push(measure(|| assert!(bare(name, &cx, module))));
        }
    }
    [median(&managed), median(&alone)]
}

fn main() {
    let mut passes = PassRegistry::default();
    passes.function_pass(Look::new());
    passes.function_pass(Rebuild::new());
    let mut ops = OpRegistryBuilder::default();
    let id = ops.declare::<Add>();
    ops.types::<Add>(id);
    let Ok(ops) = ops.freeze() else { return };
    let ops = Arc::new(ops);
    let mut out = std::io::stdout();
    for threads in [1, 2] {
        let Ok(pool) = rayon::ThreadPoolBuilder::new().num_threads(threads).build() else { return };
        for name in ["look", "rebuild"] {
            let [managed, alone] = pool.install(|| compare(&passes, &ops, name));
            let _ = writeln!(out, "{threads} threads, {name}\n  manager  {managed}\n  bare     {alone}");
        }
    }
}
