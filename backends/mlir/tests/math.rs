//! Accuracy of the math functions of both targets. The GPU's expansions run on the CPU with the
//! hardware approximations replaced by correctly rounded functions; what remains to be added for
//! the GPU is the approximation's own relative error, below 2^-22.
use melior::{
    dialect::func,
    ir::{
        Attribute, Block, BlockLike, Identifier, Location, Region, RegionLike, Type,
        attribute::{StringAttribute, TypeAttribute},
        r#type::FunctionType,
    },
};
use tf_mlir::{
    MathBuilder, MathFn, Session, Target,
    jit::{Argument, Jit},
};

/// A module with `@main(in, out)` that maps `function` over `count` numbers.
fn module_text(session: &Session, function: MathFn, target: Target, float: &str, count: usize) -> String {
    let caller = format!(
        "func.func @main(%x: memref<{count}x{float}>, %o: memref<{count}x{float}>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant {count} : index
  scf.for %i = %c0 to %n step %c1 {{
    %v = memref.load %x[%i] : memref<{count}x{float}>
    %r = func.call @f(%v) : ({float}) -> {float}
    memref.store %r, %o[%i] : memref<{count}x{float}>
  }}
  return
}}"
    );
    let context = session.context();
    let location = Location::unknown(context);
    let element = Type::parse(context, float).unwrap();
    let block = Block::new(&[(element, location)]);
    let builder = MathBuilder::new(context, &block, location, target);
    let result = builder.unary(function, block.argument(0).unwrap().into()).unwrap();
    block.append_operation(func::r#return(&[result], location));
    let region = Region::new();
    region.append_block(block);
    let callee = func::func(
        context,
        StringAttribute::new(context, "f"),
        TypeAttribute::new(FunctionType::new(context, &[element], &[element]).into()),
        region,
        &[(Identifier::new(context, "sym_visibility"), Attribute::from(StringAttribute::new(context, "private")))],
        location,
    );
    // The caller does not verify until the callee is there, so it is printed behind it.
    format!("{callee}\n{caller}")
}

fn map(text: &str, inputs: &[f32]) -> Vec<f32> {
    let session = Session::new();
    let module = session.parse(text).unwrap();
    let jit = Jit::compile(&session, &module, 2).unwrap();
    let input: Vec<u8> = inputs.iter().flat_map(|v| v.to_ne_bytes()).collect();
    let mut output = vec![0; input.len()];
    let shape = [inputs.len()];
    let mut arguments =
        [Argument::Input { bytes: &input, shape: &shape }, Argument::Output { bytes: &mut output, shape: &shape }];
    unsafe { jit.invoke("main", &mut arguments) }.unwrap();
    output.chunks_exact(4).map(|b| f32::from_ne_bytes([b[0], b[1], b[2], b[3]])).collect()
}

fn exact(function: MathFn, x: f64) -> f64 {
    match function {
        MathFn::Abs => x.abs(),
        MathFn::Ceil => x.ceil(),
        MathFn::Erf => erf(x),
        MathFn::Exp => x.exp(),
        MathFn::Exp2 => x.exp2(),
        MathFn::Floor => x.floor(),
        MathFn::Log => x.ln(),
        MathFn::Log1p => x.ln_1p(),
        MathFn::Log2 => x.log2(),
        MathFn::RoundEven => x.round_ties_even(),
        MathFn::Rsqrt => 1.0 / x.sqrt(),
        MathFn::Sqrt => x.sqrt(),
        MathFn::Tanh => x.tanh(),
    }
}

/// The Maclaurin series; 80 terms are exact enough up to |x| = 3.
fn erf(x: f64) -> f64 {
    if x.abs() > 3.9 {
        return x.signum();
    }
    let (mut term, mut sum) = (x, x);
    for n in 1..80 {
        term *= -x * x / f64::from(n);
        sum += term / f64::from(2 * n + 1);
    }
    sum * std::f64::consts::FRAC_2_SQRT_PI
}

fn inputs(function: MathFn) -> Vec<f32> {
    let spread = |low: f32, high: f32| (0..=2000).map(move |i| low + (high - low) * (i as f32 / 2000.0));
    let magnitudes = || (-120..=120).flat_map(|e| [1.0f32, 1.37, 1.9].map(|m| m * (e as f32).exp2()));
    match function {
        MathFn::Exp => spread(-87.0, 88.0).chain(spread(-1.0, 1.0)).collect(),
        MathFn::Exp2 => spread(-120.0, 126.0).collect(),
        MathFn::Log | MathFn::Log2 | MathFn::Rsqrt | MathFn::Sqrt => {
            magnitudes().chain(spread(0.5, 2.0)).chain(spread(0.999, 1.001)).collect()
        }
        MathFn::Log1p => magnitudes().chain(spread(-0.9, 2.0)).collect(),
        MathFn::Erf => spread(-5.0, 5.0).chain(spread(-1.1, 1.1)).collect(),
        MathFn::Tanh => spread(-12.0, 12.0).chain(magnitudes()).collect(),
        MathFn::Abs | MathFn::Ceil | MathFn::Floor | MathFn::RoundEven => spread(-4.0, 4.0).collect(),
    }
}

fn on_cpu(text: &str) -> String {
    text.replace("llvm.nvvm.ex2.approx.f32", "llvm.exp2.f32")
}

#[test]
fn relative_error_is_small_on_both_targets() {
    let session = Session::new();
    for function in MathFn::ALL {
        for target in [Target::Cpu, Target::Gpu] {
            if target == Target::Gpu && function == MathFn::Rsqrt {
                continue;
            }
            let inputs = inputs(function);
            let text = on_cpu(&module_text(&session, function, target, "f32", inputs.len()));
            let mut worst = (0f64, 0f32);
            for (&x, y) in inputs.iter().zip(map(&text, &inputs)) {
                let want = exact(function, f64::from(x));
                let error = (f64::from(y) - want).abs() / want.abs().max(1e-38);
                if error > worst.0 || error.is_nan() {
                    worst = (error, x);
                }
            }
            println!("{function:?} {target:?}: {:.1e} at {}", worst.0, worst.1);
            assert!(worst.0 < 1e-6, "{function:?} on {target:?}: {:.2e} at {}", worst.0, worst.1);
        }
    }
}

#[test]
fn edges_of_the_gpu_expansions() {
    let session = Session::new();
    let (inf, nan) = (f32::INFINITY, f32::NAN);
    let cases: [(MathFn, &[(f32, f32)]); 6] = [
        (MathFn::Exp, &[(0.0, 1.0), (inf, inf), (-inf, 0.0), (nan, nan), (89.0, inf), (-110.0, 0.0), (1e30, inf)]),
        (MathFn::Log, &[(1.0, 0.0), (0.0, -inf), (-0.0, -inf), (-1.0, nan), (inf, inf), (nan, nan)]),
        (MathFn::Log2, &[(1.0, 0.0), (8.0, 3.0), (1e-45, -149.0), (0.0, -inf), (-inf, nan), (inf, inf)]),
        (MathFn::Log1p, &[(0.0, 0.0), (1e-20, 1e-20), (-1.0, -inf), (inf, inf), (nan, nan)]),
        (MathFn::Tanh, &[(0.0, 0.0), (inf, 1.0), (-inf, -1.0), (50.0, 1.0), (nan, nan)]),
        (MathFn::Erf, &[(0.0, 0.0), (inf, 1.0), (-inf, -1.0), (-9.0, -1.0), (nan, nan)]),
    ];
    for (function, pairs) in cases {
        let inputs: Vec<f32> = pairs.iter().map(|pair| pair.0).collect();
        let text = on_cpu(&module_text(&session, function, Target::Gpu, "f32", inputs.len()));
        for (&(x, want), y) in pairs.iter().zip(map(&text, &inputs)) {
            assert!(y == want || (y.is_nan() && want.is_nan()), "{function:?}({x}) = {y}, not {want}");
        }
    }
}

#[test]
fn unsupported_types_are_refused() {
    let session = Session::new();
    let context = session.context();
    let location = Location::unknown(context);
    let error = |float: &str, function, target| {
        let element = Type::parse(context, float).unwrap();
        let block = Block::new(&[(element, location)]);
        let builder = MathBuilder::new(context, &block, location, target);
        let x = block.argument(0).unwrap().into();
        builder.unary(function, x).map(drop).map_err(|error| error.message)
    };
    assert_eq!(error("bf16", MathFn::Exp, Target::Cpu).unwrap_err(), "math function `exp` takes f32 or f64, not bf16");
    assert_eq!(error("f64", MathFn::Exp, Target::Gpu).unwrap_err(), "math function `exp` of f64 has no GPU form");
    assert!(error("f64", MathFn::Sqrt, Target::Gpu).is_ok());
    assert!(error("f64", MathFn::Tanh, Target::Cpu).is_ok());
}
