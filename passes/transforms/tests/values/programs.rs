//! A random program, a pipeline, and what both versions give on random inputs.

use std::collections::BTreeSet;
use std::sync::Arc;

use tf_core::node::{FunctionData, ModuleData};
use tf_core::special::with_callees;
use tf_core::visit::collect_exprs;
use tf_core::{AnyFunction, Arena, Callee, Context, Diagnostic, ExprKind, Function, Meta, Module};
use tf_dataflow::same_bits;
use tf_evaluate::{DimSizes, Engine, Reference, Request};
use tf_framework::{PassManager, PassRegistry, Pipeline};
use tf_hir::TupleGetItem;
use tf_rewrite::Patterns;
use tf_testing::{Options, Rng, random_module};
use tf_text::{PrintOptions, print_module};
use tf_transforms::Rules;
use tf_types::DType;
use tf_value::{DialectBuilder, Tensor, extent};

/// What was seen.
#[derive(Debug, Default)]
pub struct Check {
    /// Functions with a value that was compared.
    pub compared: u64,
    /// Modules that the pipeline changed.
    pub changed: u64,
    /// What occurred in functions with values: ops by name, and `loop`, `call`, `tuple`, `variant`.
    pub seen: BTreeSet<String>,
}

impl Check {
    pub fn add(&mut self, other: Self) {
        self.compared += other.compared;
        self.changed += other.changed;
        self.seen.extend(other.seen);
    }
}

/// The ops of HIR and of scalars, by name.
pub fn value_ops() -> Vec<String> {
    let mut dialects = DialectBuilder::default();
    tf_hir::register(&mut dialects);
    tf_dim::register(&mut dialects);
    let (ops, _) = dialects.freeze().unwrap();
    ops.iter().map(|(_, decl)| decl.name.to_string()).collect()
}

/// What a function consists of, with what it calls.
fn parts(function: Function<'_>) -> impl Iterator<Item = String> {
    let functions = with_callees(&[function]);
    let variants = functions.iter().filter(|function| function.is_prototype()).map(|_| "variant".to_owned());
    let exprs = functions.iter().filter_map(|function| function.body).flat_map(collect_exprs);
    let kinds = exprs.filter_map(|expr| match expr.kind {
        ExprKind::Grid(_) => Some("loop".to_owned()),
        ExprKind::Tuple(_) => Some("tuple".to_owned()),
        ExprKind::Call { callee: Callee::Op(op), .. } => Some(op.decl.name.to_string()),
        ExprKind::Call { callee: Callee::Function(_), .. } => Some("call".to_owned()),
        _ => None,
    });
    variants.chain(kinds).collect::<Vec<_>>().into_iter()
}

/// What is asked of a pipeline, besides that values stay.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted {
    /// A second run changes nothing.
    pub idempotent: bool,
    /// The functions give one field of a loop, so that the others are for nobody.
    pub projected: bool,
    /// The size of the dim `S`, which programs without it are not asked for.
    pub size: Option<i64>,
}

/// Runs the pipeline on random statements: they keep the rules, and a second run changes nothing. Whether it changed something.
pub fn check_statements(seed: u64, pipeline: &str) -> bool {
    let mut dialects = DialectBuilder::default();
    tf_tir::register(&mut dialects);
    tf_dim::register(&mut dialects);
    let (ops, rules) = dialects.freeze().unwrap();
    let arena = Arena::new();
    let cx = &Context::new(&arena, ops);
    let options =
        Options { hir_functions: 0, tir_functions: 3, steps: 20, depth: 0, parts: false, ..Options::default() };
    let module = random_module(cx, seed, &options);
    let mut registry = PassRegistry::default();
    let mut patterns = Patterns::default();
    tf_transforms::patterns::register(&mut patterns);
    tf_transforms::register(&mut registry, &rules, patterns);
    let Ok(module) = run(&registry, "verify", cx, module) else { return false };
    let text = |module| print_module(module, &PrintOptions::default());
    let once = run(&registry, pipeline, cx, module)
        .unwrap_or_else(|errors| panic!("statements {seed}: {errors:?}\n{}", text(module)));
    let again = run(&registry, pipeline, cx, once).ok();
    assert!(again == Some(once), "statements {seed}: a second run changes\n{}\n{}", text(module), text(once));
    once != module
}

/// Runs the pipeline on the program of a seed: values stay bit for bit, and what had one still has one.
pub fn check(seed: u64, pipeline: &str, wanted: Wanted) -> Check {
    let mut dialects = DialectBuilder::default();
    tf_hir::register(&mut dialects);
    tf_dim::register(&mut dialects);
    let (ops, rules) = dialects.freeze().unwrap();
    let arena = Arena::new();
    let cx = &Context::new(&arena, ops);
    let options =
        Options { hir: &["tf", "dim"], hir_functions: 3, tir_functions: 0, steps: 16, depth: 0, ..Options::default() };
    let module = random_module(cx, seed, &options);
    let module = if wanted.projected { projected(cx, module, seed) } else { module };
    let mut registry = PassRegistry::default();
    let mut patterns = Patterns::default();
    tf_transforms::patterns::register(&mut patterns);
    tf_transforms::register(&mut registry, &rules, patterns);
    // The generator knows fewer rules than the verifier.
    let Ok(module) = run(&registry, "verify", cx, module) else { return Check::default() };
    let has_size = |function: &AnyFunction<'_>| match function {
        AnyFunction::Hir(function) => function.residual_dims().iter().any(|dim| dim.as_str() == "S"),
        AnyFunction::Tir(_) => false,
    };
    if wanted.size.is_some() && !module.functions.iter().any(has_size) {
        return Check::default();
    }
    let wrong = |what: String, after: Option<Module<'_>>| -> ! {
        let text = |module| print_module(module, &PrintOptions::default());
        panic!("program {seed}: {what}\n{}\n{}", text(module), after.map(text).unwrap_or_default())
    };
    let once = match run(&registry, pipeline, cx, module) {
        Ok(once) => once,
        // Types that fit for some sizes are refused for the others.
        Err(_) if wanted.size.is_some() => return Check::default(),
        Err(errors) => wrong(format!("{errors:?}"), None),
    };
    if wanted.idempotent && run(&registry, pipeline, cx, once).ok() != Some(once) {
        wrong("a second run changes it again".to_owned(), Some(once));
    }
    let mut seen = Check { changed: u64::from(once != module), ..Check::default() };
    let engine = Reference::new(Arc::clone(&rules));
    for new in once.functions {
        let old = module.functions.iter().find(|old| old.name() == new.name());
        let (Some(AnyFunction::Hir(old)), AnyFunction::Hir(new)) = (old.copied(), *new) else { continue };
        let Some((inputs, dims)) = inputs(old, &mut Rng::new(seed), wanted.size) else { continue };
        let value = |module, function| {
            let entry = AnyFunction::Hir(function);
            engine.run(&Request { cx, module, entry, inputs: &inputs, outputs: &[], dims: &dims, argument: None })
        };
        let Ok(expected) = value(module, old) else { continue };
        let found =
            value(once, new).unwrap_or_else(|error| wrong(format!("{}: {}", old.name, error.message), Some(once)));
        let same = expected.len() == found.len() && expected.iter().zip(&found).all(|(a, b)| same_bits(a, b));
        if !same {
            wrong(format!("{} gave {expected:?} and gives {found:?}", old.name), Some(once));
        }
        seen.compared += 1;
        seen.seen.extend(parts(old));
    }
    seen
}

fn run<'c>(
    registry: &PassRegistry,
    pipeline: &str,
    cx: &Context<'c>,
    module: Module<'c>,
) -> Result<Module<'c>, Vec<Diagnostic>> {
    let pipeline = Pipeline::build(registry, cx.sources(), "pipeline", pipeline).expect("a pipeline");
    let outcome = PassManager::default().verify_with(&Rules).run(&pipeline, cx, module);
    outcome.map(|outcome| outcome.module).map_err(|failure| failure.diagnostics)
}

/// The module whose functions give a field of the last loop with several carries, where they have one.
fn projected<'c>(cx: &Context<'c>, module: Module<'c>, seed: u64) -> Module<'c> {
    let field = |function: Function<'c>| {
        let loops = collect_exprs(function.body?);
        let grid = loops.into_iter().rfind(|e| matches!(e.kind, ExprKind::Grid(region) if region.carries.len() > 1))?;
        let body = cx.call(TupleGetItem::new(cx, (seed % 2) as i64), &[grid], Meta::default()).ok()?;
        Some(cx.function(FunctionData { body: Some(body), return_type: body.ty(), ..*function }))
    };
    let functions = module.functions.iter().map(|&function| match function {
        AnyFunction::Hir(hir) => AnyFunction::Hir(field(hir).unwrap_or(hir)),
        tir @ AnyFunction::Tir(_) => tir,
    });
    // Calls of the others would be of functions that are gone.
    let functions: Vec<_> = functions.take(1).collect();
    cx.module(ModuleData { functions: cx.alloc_slice(&functions), entry: None, methods: &[], ..*module })
}

/// Random tensors for the parameters, and sizes of the dims.
fn inputs<'c>(function: Function<'c>, rng: &mut Rng, size: Option<i64>) -> Option<(Vec<Tensor>, DimSizes<'c>)> {
    let mut dims = DimSizes::default();
    for var in function.dim_vars_reached() {
        if let (Some(size), "S") = (size, var.name.as_str()) {
            dims.insert(var.name, size);
            continue;
        }
        dims.insert(var.name, var.lo + rng.below(4.min((var.hi - var.lo) as usize)) as i64);
    }
    let tensors = function.params.iter().map(|param| {
        let ty = param.ty().as_tensor()?;
        let shape: Option<Vec<_>> =
            ty.shape.iter().map(|&dim| extent(dim, &dims).ok().and_then(|n| usize::try_from(n).ok())).collect();
        tensor(&shape?, ty.dtype, rng)
    });
    Some((tensors.collect::<Option<_>>()?, dims))
}

fn tensor(shape: &[usize], dtype: DType, rng: &mut Rng) -> Option<Tensor> {
    let count = shape.iter().product();
    if dtype.is_integer() {
        let values =
            (0..count).map(|_| rng.pick(&[0, 1, -1, 2, 3, 7, i64::from(i32::MAX), i64::from(i32::MIN)])).collect();
        return Tensor::from_vec::<i64>(shape, values).ok()?.cast(dtype).ok();
    }
    let special = [0.0, -0.0, 1.0, -2.5, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 1e-40];
    let values: Vec<_> = (0..count)
        .map(|_| if rng.once_in(2) { rng.pick(&special) } else { rng.below(64) as f32 / 8.0 - 4.0 })
        .collect();
    Tensor::from_f32(shape, &values).ok()?.cast(dtype).ok()
}
