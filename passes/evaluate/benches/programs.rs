//! Whole programs on made-up tensors: `cargo bench -p tf-evaluate --bench programs [-- NAME...]` prints the median of each.
//! With `--serve` it answers every line `NAME` on stdin with the milliseconds of one run, so that another process can take turns with it
//! (`tools/bench-torch.sh`).

use std::io::BufRead;
use std::sync::Arc;
use std::time::Instant;

use tf_core::{Arena, Context, Expr, Module};
use tf_dsl::{DslOptions, parse_file};
use tf_evaluate::{DimSizes, Engine, Reading, ReadingRequest, Reference, Resource, Step};
use tf_value::{DialectBuilder, EvalRegistry, LargeBlocks, Tensor};

/// As the driver has it.
#[global_allocator]
static ALLOCATOR: LargeBlocks = LargeBlocks::new();

/// Folder `programs/`; `tiny_decoder` is the reference's.
const PROGRAMS: &[(&str, &str)] = &[
    ("matmul", include_str!("programs/matmul.py")),
    ("rms_norm", include_str!("programs/rms_norm.py")),
    ("softmax", include_str!("programs/softmax.py")),
    ("attention", include_str!("programs/attention.py")),
    ("decoder", include_str!("programs/decoder.py")),
    ("tiny_decoder", include_str!("../../../tests/reference/programs/tiny_decoder.py")),
];
const RUNS: usize = 21;
/// The sequence of `tiny_decoder`, whose length is open.
const TINY: usize = 32;

/// A program that is ready to run.
struct Program<'c> {
    step: Step<'c>,
    inputs: Vec<Tensor>,
    engine: Reference,
}

/// Floats in `[-1, 1)`, integers from 0 to 7.
fn made_up(param: Expr<'_>) -> Tensor {
    let ty = param.ty().as_tensor().expect("parameters are tensors");
    let shape: Vec<usize> =
        ty.shape.iter().map(|dim| dim.as_const().and_then(|n| usize::try_from(n).ok()).unwrap_or(TINY)).collect();
    let mut state = 1u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 8
    };
    let count: usize = shape.iter().product();
    let tensor = if ty.dtype.is_float() {
        Tensor::from_vec(&shape, (0..count).map(|_| next() as f32 / (1 << 23) as f32 - 1.0).collect())
    } else {
        Tensor::from_vec(&shape, (0..count).map(|_| i64::from(next() % 8)).collect())
    };
    tensor.and_then(|tensor| tensor.cast(ty.dtype)).expect("a tensor of that type")
}

impl<'c> Program<'c> {
    fn new(module: Module<'c>, rules: Arc<EvalRegistry>) -> Self {
        let reading = Reading::load(module, Resource::default().or_random(Some(1)));
        let step = reading.default_step().expect("an entry");
        let inputs = match &step {
            Step::Function(_, function) => {
                function.params.iter().copied().filter(|param| !param.is_const_param()).map(made_up).collect()
            }
            Step::Method(..) => panic!("the programs here have functions as entries"),
        };
        Self { step, inputs, engine: Reference::new(rules) }
    }

    fn milliseconds(&self) -> f64 {
        let dims = DimSizes::default();
        let request = ReadingRequest { step: self.step.clone(), inputs: &self.inputs, dims: &dims, times: None };
        let start = Instant::now();
        let outputs = self.engine.run_reading(&request).expect("the reference runs readings");
        let took = start.elapsed();
        drop(outputs.expect("a value"));
        took.as_secs_f64() * 1e3
    }
}

/// Calls `f` with a program of [`PROGRAMS`].
fn with_program<T>(name: &str, f: impl FnOnce(&Program<'_>) -> T) -> T {
    let Some((_, source)) = PROGRAMS.iter().find(|(known, _)| *known == name) else {
        panic!("there is no program `{name}`");
    };
    let arena = Arena::new();
    let mut builder = DialectBuilder::default();
    tf_dim::register(&mut builder);
    tf_hir::register(&mut builder);
    let (ops, rules) = builder.freeze().expect("ops register");
    let cx = Context::new(&arena, ops);
    let file = cx.sources().add(format!("{name}.py"), *source);
    let module = parse_file(&cx, file, &DslOptions::default()).expect("the program is right");
    f(&Program::new(module, rules))
}

fn serve() {
    let mut lines = std::io::stdin().lock().lines();
    while let Some(Ok(name)) = lines.next() {
        with_program(name.trim(), |program| {
            // One line asks for a run of the same program; an empty one goes on to the next.
            println!("{}", program.milliseconds());
            while let Some(Ok(line)) = lines.next() {
                if line.is_empty() {
                    break;
                }
                println!("{}", program.milliseconds());
            }
        });
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if arguments == ["--serve"] {
        return serve();
    }
    for (name, _) in PROGRAMS.iter().filter(|(name, _)| arguments.is_empty() || arguments.iter().any(|a| a == name)) {
        let mut times = with_program(name, |program| {
            program.milliseconds();
            (0..RUNS).map(|_| program.milliseconds()).collect::<Vec<_>>()
        });
        times.sort_by(f64::total_cmp);
        println!("{name:14} {:10.3} ms, least {:10.3} ms", times[RUNS / 2], times[0]);
    }
}
