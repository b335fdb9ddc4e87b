//! Analyses are computed once and kept while they hold.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use common::{context, module, registry};
use tf_core::node::FunctionData;
use tf_core::walk::post_order;
use tf_core::{AnyFunction, Arena, Context, Expr, Function, Module, Result, SourceMap};
use tf_framework::{
    Counter, FunctionAnalysis, FunctionCx, FunctionPass, Pass, PassCx, PassManager, Pipeline, Statistics,
};

/// The values of a function in order.
struct Values {
    computed: Arc<AtomicU64>,
}

impl FunctionAnalysis for Values {
    const NAME: &'static str = "values";
    type Subject<'c> = Function<'c>;
    type Result<'c> = Vec<Expr<'c>>;

    fn run<'c>(&self, function: Function<'c>, _: &Context<'c>) -> Vec<Expr<'c>> {
        self.computed.fetch_add(1, Ordering::Relaxed);
        post_order(&function.body.into_iter().collect::<Vec<_>>())
    }
}

/// Counts values.
#[derive(Clone, Pass)]
#[pass(name = "asks")]
struct Asks {
    #[statistic("values")]
    values: Counter,
    computed: Arc<AtomicU64>,
}

impl FunctionPass for Asks {
    fn run<'c>(&self, function: Function<'c>, cx: &FunctionCx<'_, 'c>) -> Result<Function<'c>> {
        let values = cx.analysis(&Values { computed: Arc::clone(&self.computed) }, function);
        assert_eq!(values.last().copied(), function.body);
        self.values.add(values.len() as u64);
        Ok(function)
    }
}

/// Counts values of the module.
#[derive(Clone, Pass)]
#[pass(name = "asks-of-all")]
struct AsksOfAll {
    computed: Arc<AtomicU64>,
}

impl Pass for AsksOfAll {
    fn run<'c>(&self, module: Module<'c>, cx: &mut PassCx<'_, 'c>) -> Result<Module<'c>> {
        for function in module.functions {
            let AnyFunction::Hir(function) = *function else { continue };
            assert!(!cx.analysis(&Values { computed: Arc::clone(&self.computed) }, function).is_empty());
        }
        Ok(module)
    }
}

/// Documents every function; the values stay.
#[derive(Clone, Pass)]
#[pass(name = "document", preserves("values"))]
struct Document {}

impl FunctionPass for Document {
    fn run<'c>(&self, function: Function<'c>, cx: &FunctionCx<'_, 'c>) -> Result<Function<'c>> {
        Ok(cx.function(FunctionData { doc: Some(cx.symbol("documented")), ..*function }))
    }
}

/// How often the analysis is computed of three functions (the first has one value, each other two).
fn computed(pipeline: &str) -> u64 {
    let computed = Arc::new(AtomicU64::new(0));
    let mut registry = registry();
    registry.function_pass(Asks::new(Arc::clone(&computed)));
    registry.module_pass(AsksOfAll::new(Arc::clone(&computed)));
    registry.function_pass(Document::new());
    let pipeline = Pipeline::build(&registry, &SourceMap::default(), "<pipeline>", pipeline).ok().unwrap();
    let arena = Arena::new();
    let cx = context(&arena);
    let mut statistics = Statistics::default();
    let run = PassManager::default().instrument(&mut statistics).run(&pipeline, &cx, module(&cx, 3));
    assert!(run.is_ok() && statistics.report().contains(" 5  "), "{}", statistics.report());
    computed.load(Ordering::Relaxed)
}

#[test]
fn a_function_that_stays_keeps_its_results() {
    assert_eq!(computed("asks,calls,asks,asks-of-all"), 3);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
    assert_eq!(pool.install(|| computed("asks,asks")), 3);
}

#[test]
fn a_function_that_is_replaced_loses_them() {
    assert_eq!(computed("asks,rename{prefix=a level=none},asks"), 6);
    assert_eq!(computed("asks,rename{prefix=a level=none skip=f0,f1},asks"), 4);
}

#[test]
fn a_pass_may_preserve_them() {
    // `f1` and `f2` call functions that were replaced, so their calls are new in spite of the pass.
    assert_eq!(computed("asks,document,asks"), 5);
}
