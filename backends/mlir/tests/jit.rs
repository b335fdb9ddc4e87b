//! The CPU JIT on small functions: numbers, and every way a call or a compilation can fail.
use tf_mlir::{
    Session,
    jit::{Argument, Jit},
};

const SCALE: &str = "
func.func @scale(%x: memref<3x4xf32>, %o: memref<3x4xf32>, %k: f32, %from: index) {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  scf.for %i = %from to %c3 step %c1 {
    %zero = arith.constant 0 : index
    %v = vector.load %x[%i, %zero] {alignment = 16 : i64} : memref<3x4xf32>, vector<4xf32>
    %s = vector.broadcast %k : f32 to vector<4xf32>
    %m = arith.mulf %v, %s : vector<4xf32>
    vector.store %m, %o[%i, %zero] {alignment = 16 : i64} : memref<3x4xf32>, vector<4xf32>
  }
  return
}";

fn bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_ne_bytes()).collect()
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|b| f32::from_ne_bytes([b[0], b[1], b[2], b[3]])).collect()
}

fn compile(text: &str) -> Result<Jit, tf_mlir::BackendError> {
    let session = Session::new();
    let module = session.parse(text)?;
    Jit::compile(&session, &module, 2)
}

#[test]
fn vectors_scalars_and_misaligned_buffers() {
    let jit = compile(SCALE).unwrap();
    assert_eq!(jit.functions().collect::<Vec<_>>(), ["scale"]);
    let values: Vec<f32> = (0..12).map(|i| i as f32).collect();
    for shift in [0, 1, 4] {
        let mut input = vec![0; shift];
        input.extend(bytes(&values));
        let mut output = vec![0; 48 + shift];
        let mut arguments = [
            Argument::Input { bytes: &input[shift..], shape: &[3, 4] },
            Argument::Output { bytes: &mut output[shift..], shape: &[3, 4] },
            Argument::Float(2.5),
            Argument::Int(1),
        ];
        unsafe { jit.invoke("scale", &mut arguments) }.unwrap();
        let expected: Vec<f32> = values.iter().enumerate().map(|(i, v)| if i < 4 { 0.0 } else { v * 2.5 }).collect();
        assert_eq!(floats(&output[shift..]), expected);
    }
}

#[test]
fn narrow_floats_round_to_nearest_even() {
    let text = "
func.func @narrow(%x: memref<4xf32>, %b: memref<4xbf16>, %h: memref<4xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    %v = memref.load %x[%i] : memref<4xf32>
    %b16 = arith.truncf %v : f32 to bf16
    memref.store %b16, %b[%i] : memref<4xbf16>
    %wide = arith.extf %b16 : bf16 to f32
    %h16 = arith.truncf %wide : f32 to f16
    memref.store %h16, %h[%i] : memref<4xf16>
  }
  return
}";
    let jit = compile(text).unwrap();
    let input = bytes(&[1.0, 1.003_906_3, 1.011_718_8, -3.0]);
    let (mut brain, mut half) = ([0; 8], [0; 8]);
    let mut arguments = [
        Argument::Input { bytes: &input, shape: &[4] },
        Argument::Output { bytes: &mut brain, shape: &[4] },
        Argument::Output { bytes: &mut half, shape: &[4] },
    ];
    unsafe { jit.invoke("narrow", &mut arguments) }.unwrap();
    let words = |raw: &[u8]| raw.chunks_exact(2).map(|b| u16::from_ne_bytes([b[0], b[1]])).collect::<Vec<_>>();
    assert_eq!(words(&brain), [0x3f80, 0x3f80, 0x3f82, 0xc040]);
    assert_eq!(words(&half), [0x3c00, 0x3c00, 0x3c10, 0xc200]);
}

#[test]
fn wrong_calls_are_refused() {
    let jit = compile(SCALE).unwrap();
    let (input, mut output) = (vec![0; 48], vec![0; 48]);
    let mut call = |name: &str, take: usize, shape: &[usize], len: usize, float: bool| {
        let last = if float { Argument::Float(1.0) } else { Argument::Int(1) };
        let mut arguments = vec![
            Argument::Input { bytes: &input[..len], shape },
            Argument::Output { bytes: &mut output, shape: &[3, 4] },
            last,
            Argument::Int(0),
        ];
        arguments.truncate(take);
        unsafe { jit.invoke(name, &mut arguments) }.unwrap_err().to_string()
    };
    assert_eq!(call("missing", 4, &[3, 4], 48, true), "no compiled function `missing`; there are: scale");
    assert_eq!(call("scale", 3, &[3, 4], 48, true), "`scale` takes 4 arguments, not 3");
    assert_eq!(call("scale", 4, &[4, 3], 48, true), "argument 0 of `scale`: expected shape [3, 4], got [4, 3]");
    assert_eq!(call("scale", 4, &[3, 4], 44, true), "argument 0 of `scale`: shape [3, 4] takes 48 bytes, got 44");
    assert_eq!(
        call("scale", 4, &[3, 4], 48, false),
        "argument 2 of `scale`: expected a float of 32 bits, got an integer"
    );
}

#[test]
fn what_cannot_be_compiled_is_refused() {
    let results = compile("func.func @f(%x: f32) -> f32 { return %x : f32 }").unwrap_err();
    assert_eq!(results.message, "function `f` cannot be called: it returns values; results must be memref parameters");
    let dynamic = compile("func.func @f(%x: memref<?xf32>) { return }").unwrap_err();
    assert_eq!(dynamic.message, "function `f` cannot be called: parameter 0 has type memref<?xf32>");
    let unresolved = compile("func.func private @nowhere()\nfunc.func @f() { call @nowhere() : () -> () return }");
    assert!(unresolved.unwrap_err().message.contains("does not resolve"));
    let session = Session::new();
    let module = session.parse("func.func @f() { return }").unwrap();
    let level = Jit::compile(&session, &module, 7).unwrap_err();
    assert_eq!(level.message, "optimization level 7 is not one of 0, 1, 2, 3");
}
