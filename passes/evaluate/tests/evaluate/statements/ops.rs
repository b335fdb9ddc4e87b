//! Ops against the tensor operations that they are.

use tf_types::DType;
use tf_types::kinds::{BinaryKind, UnaryKind};
use tf_value::Tensor;

use super::{host, kernel, numbers, placed, run};

const SHAPE: [usize; 2] = [4, 6];

fn one(params: &str, lines: &str, inputs: &[Tensor]) -> Tensor {
    run(&host(params, lines), inputs).unwrap_or_else(|error| panic!("{lines}: {error}")).remove(0)
}

fn same(found: &Tensor, wanted: &Tensor, what: &str) {
    assert_eq!((found.dtype(), found.shape()), (wanted.dtype(), wanted.shape()), "{what}");
    assert_eq!(found.to_le_bytes(), wanted.to_le_bytes(), "{what}");
}

#[test]
fn unary_kinds() {
    let x = numbers(&SHAPE);
    for &kind in UnaryKind::ALL {
        let (from, to) = match kind {
            UnaryKind::Not => (DType::Bool, DType::Bool),
            UnaryKind::Cast => (DType::F32, DType::BF16),
            _ => (DType::BF16, DType::BF16),
        };
        let params = format!("x: Tensor[(4, 6), \"{from}\"], out: Tensor[(4, 6), \"{to}\"]");
        let input = x.cast(from).unwrap();
        let found = one(&params, &format!("T.unary(x, out, kind=\"{kind}\")"), std::slice::from_ref(&input));
        let wanted = if kind == UnaryKind::Cast { input.cast(to) } else { input.unary(kind) };
        same(&found, &wanted.unwrap(), kind.name());
    }
}

#[test]
fn binary_kinds_broadcast() {
    for &kind in BinaryKind::ALL {
        let from = match kind {
            BinaryKind::And | BinaryKind::Or => DType::Bool,
            BinaryKind::FloorDiv | BinaryKind::Mod => DType::I32,
            _ => DType::F16,
        };
        let to = if kind.is_comparison() { DType::Bool } else { from };
        let params =
            format!("x: Tensor[(4, 6), \"{from}\"], y: Tensor[(6,), \"{from}\"], out: Tensor[(4, 6), \"{to}\"]");
        let y = Tensor::from_f32(&[6], &[1.0, 2.0, 3.0, -1.0, -2.0, 2.0]).unwrap();
        let inputs = [numbers(&SHAPE).cast(from).unwrap(), y.cast(from).unwrap()];
        let found = one(&params, &format!("T.binary(x, y, out, kind=\"{kind}\")"), &inputs);
        let [x, y] = inputs;
        same(&found, &x.binary(y, kind).unwrap(), kind.name());
    }
}

#[test]
fn bounds_norms_and_scalars() {
    let x = numbers(&SHAPE);
    let params = "x: Tensor[(4, 6), \"f32\"], out: Tensor[(4, 6), \"f32\"]";
    let of = |lines: &str| one(params, lines, std::slice::from_ref(&x));
    same(&of("T.clamp(x, out, min_val=-1.0, max_val=0.5)"), &x.clone().clamp(-1.0, 0.5).unwrap(), "clamp");
    same(&of("T.relu(x, out)"), &x.clone().unary(UnaryKind::Relu).unwrap(), "relu");
    same(&of("span = T.memory_span(x)\nstart = T.ptr_of(span)\nT.copy(start, out)"), &x, "ptr_of");
    same(&of("T.fill(out, 2.0)"), &Tensor::full(&SHAPE, 2.0f32).unwrap(), "fill");
    let gain = Tensor::from_f32(&[6], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
    let params = "x: Tensor[(4, 6), \"f32\"], gain: Tensor[(6,), \"f32\"], out: Tensor[(4, 6), \"f32\"]";
    let found = one(params, "T.rms_norm(x, out, gain, eps=0.5)", &[x.clone(), gain.clone()]);
    same(&found, &x.rms_norm(&gain, 0.5).unwrap(), "rms_norm");
}

#[test]
fn rows_that_threads_share_are_normalised_whole() {
    let mesh = [4, 8];
    let lines = format!(
        "with Mesh((Topology(\"thread\", 32),), Layout((4, 8), (8, 1)), names=(\"p\", \"q\")) as m:\n    \
         rows = T.tensor_view(x, layout={rows})\n    result = T.tensor_view(out, layout={rows})\n    \
         T.rms_norm(rows, result, gain, eps=0.5)",
        rows = placed([8, 16], &mesh, &[Some(0), Some(1)], false),
    );
    let params = "x: Tensor[(8, 16), \"f32\"], gain: Tensor[(16,), \"f32\"], out: Tensor[(8, 16), \"f32\"]";
    let (x, gain) = (numbers(&[8, 16]), numbers(&[16]));
    let found = run(&kernel(params, &lines), &[x.clone(), gain.clone()]).unwrap_or_else(|error| panic!("{error}"));
    same(&found[0], &x.rms_norm(&gain, 0.5).unwrap(), "rms_norm");
}

#[test]
fn each_thread_scales_by_its_own_weight() {
    let view = |of: &str| format!("T.tensor_view({of}, m.t * 2, layout=Layout((2,), (1,)), shape=(2,))");
    let held = "T.alloc_tensor(TensorType((2,), \"f32\", None, \"rmem\"))";
    let of = |weight: &str| {
        let lines = format!(
            "with Mesh((Topology(\"thread\", 32),), Layout((32,), (1,)), names=(\"t\",)) as m:\n    \
             row = {}\n    result = {}\n    own = {}\n    held = {held}\n    T.copy(own, held)\n    \
             T.rms_norm(row, result, {weight}, eps=0.5)",
            view("x"),
            view("out"),
            view("gain"),
        );
        let params = "x: Tensor[(64,), \"f32\"], gain: Tensor[(64,), \"f32\"], out: Tensor[(64,), \"f32\"]";
        let gain = Tensor::from_f32(&[64], &(0..64).map(|i| i as f32).collect::<Vec<_>>()).unwrap();
        run(&kernel(params, &lines), &[numbers(&[64]), gain]).unwrap_or_else(|error| panic!("{error}"))[0].to_f32_vec()
    };
    let x = numbers(&[64]).to_f32_vec();
    let rows = x.chunks(2).enumerate().flat_map(|(thread, row)| {
        let (row, gain) = (Tensor::from_f32(&[2], row).unwrap(), [2 * thread, 2 * thread + 1].map(|at| at as f32));
        row.rms_norm(&Tensor::from_f32(&[2], &gain).unwrap(), 0.5).unwrap().to_f32_vec()
    });
    let wanted: Vec<_> = rows.collect();
    assert_eq!(of("own"), wanted);
    assert_eq!(of("held"), wanted);
}

#[test]
fn copies_of_other_shapes_correspond_in_c_order() {
    let lines = format!(
        "with Mesh((Topology(\"thread\", 32),), Layout((4, 8), (8, 1)), names=(\"p\", \"q\")) as m:\n    \
         rows = T.tensor_view(x, layout={})\n    \
         held = T.alloc_tensor(TensorType((8, 16), \"f32\", {}, \"rmem\"))\n    \
         box = T.alloc_tensor(TensorType((128,), \"f32\", None, \"smem\"))\n    \
         T.copy(rows, held)\n    T.copy(held, box)\n    T.sync(m)\n    T.copy(box, out)",
        placed([8, 16], &[4, 8], &[Some(0), Some(1)], false),
        placed([8, 16], &[4, 8], &[Some(0), Some(1)], true),
    );
    let params = "x: Tensor[(8, 16), \"f32\"], out: Tensor[(128,), \"f32\"]";
    let x = numbers(&[8, 16]);
    let found = run(&kernel(params, &lines), std::slice::from_ref(&x)).unwrap_or_else(|error| panic!("{error}"));
    same(&found[0], &x.reshape(&[128]).unwrap(), "copy");
}

#[test]
fn registers_of_others_are_out_of_reach() {
    let lines = format!(
        "with Mesh((Topology(\"thread\", 32),), Layout((4, 8), (8, 1)), names=(\"p\", \"q\")) as m:\n    \
         rows = T.tensor_view(x, layout={})\n    \
         held = T.alloc_tensor(TensorType((8, 16), \"f32\", {}, \"rmem\"))\n    \
         whole = T.alloc_tensor(TensorType((8, 16), \"f32\", None, \"rmem\"))\n    \
         T.copy(rows, held)\n    T.copy(held, whole)\n    T.copy(whole, out)",
        placed([8, 16], &[4, 8], &[Some(0), Some(1)], false),
        placed([8, 16], &[4, 8], &[Some(0), Some(1)], true),
    );
    let params = "x: Tensor[(8, 16), \"f32\"], out: Tensor[(8, 16), \"f32\"]";
    let error = run(&kernel(params, &lines), &[numbers(&[8, 16])]).unwrap_err();
    assert!(error.starts_with("error: `T.copy`: a position does not hold the elements of "), "{error}");
    assert!(error.contains("help: place the operand like the result, or exchange it through smem"), "{error}");
}
