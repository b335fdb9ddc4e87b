//! `T.mma`: matrix instructions, and what each position multiplies itself.

use tf_target::mma::MmaOpSpec;
use tf_types::DType;
use tf_value::Tensor;

use super::{kernel, numbers, placed, run};

fn instruction(spec: MmaOpSpec) -> (Tensor, Tensor) {
    let [m, n, k] = spec.shape_mnk();
    let [a, b, c] = spec.dtypes();
    let (mesh, threads, storage) = match spec.reads_registers() {
        true => ("(4, 8), (1, 4)", 32, "rmem"),
        false => ("(4, 8, 4), (1, 4, 32)", 128, "smem"),
    };
    let load = match spec.reads_registers() {
        true => {
            "left = T.tensor_view(x, layout=atom.A)\n    right = T.tensor_view(y, layout=atom.B)\n    \
             T.copy(left, lhs)\n    T.copy(right, rhs)"
        }
        false => "T.copy(x, lhs)\n    T.copy(y, rhs)\n    T.sync(warp)",
    };
    let lines = format!(
        "step = T.cuda.mma.{name}\natom = T.cuda.mma.atom(op=step)\n\
         with Mesh((Topology(\"thread\", {threads}),), Layout({mesh})) as warp:\n    \
         result = T.tensor_view(out, layout=atom.C)\n    \
         lhs = T.alloc_tensor(TensorType(({m}, {k}), \"{a}\", atom.A, \"{storage}\"))\n    \
         rhs = T.alloc_tensor(TensorType(({k}, {n}), \"{b}\", atom.B, \"{storage}\"))\n    \
         acc = T.alloc_tensor(TensorType(({m}, {n}), \"{c}\", atom.C, \"rmem\"))\n    \
         {load}\n    T.fill(acc, 1.0)\n    T.mma(acc, lhs, rhs, atom=atom)\n    T.copy(acc, result)",
        name = spec.name(),
    );
    let params =
        format!("x: Tensor[({m}, {k}), \"{a}\"], y: Tensor[({k}, {n}), \"{b}\"], out: Tensor[({m}, {n}), \"{c}\"]");
    let size = |extent: i64| usize::try_from(extent).unwrap();
    let (x, y) = (numbers(&[size(m), size(k)]), numbers(&[size(k), size(n)]));
    let inputs = [x.cast(a).unwrap(), y.cast(b).unwrap()];
    let found = run(&kernel(&params, &lines), &inputs).unwrap_or_else(|error| panic!("{}: {error}", spec.name()));
    let one = Tensor::full(&[size(m), size(n)], 1.0f32).unwrap();
    let wanted = x.matmul(&y).unwrap().binary(one, tf_types::kinds::BinaryKind::Add).unwrap();
    (found[0].clone(), wanted)
}

#[test]
fn instructions_multiply_tiles() {
    // Of the wide ones some widths.
    let chosen = |spec: &MmaOpSpec| spec.reads_registers() || [8, 24, 64].contains(&spec.shape_mnk()[1]);
    let specs: Vec<_> = MmaOpSpec::all().filter(chosen).collect();
    assert_eq!(specs.len(), 4 + 3 * 3);
    for spec in specs {
        let (found, wanted) = instruction(spec);
        assert_eq!(found.dtype(), spec.dtypes()[2]);
        assert_eq!(found.to_f32_vec(), wanted.to_f32_vec(), "{}", spec.name());
    }
}

#[test]
fn positions_multiply_what_they_hold() {
    let (mesh, rows, columns) = ([4, 8], [Some(0), None], [None, Some(1)]);
    let both = [Some(0), Some(1)];
    let operand = |name: &str, shape: [i64; 2], splits: &[Option<usize>], dtype: DType| {
        format!(
            "{name}_view = T.tensor_view({name}, layout={})\n    \
             {name}_held = T.alloc_tensor(TensorType(({}, {}), \"{dtype}\", {}, \"rmem\"))\n    \
             T.copy({name}_view, {name}_held)\n    ",
            placed(shape, &mesh, splits, false),
            shape[0],
            shape[1],
            placed(shape, &mesh, splits, true),
        )
    };
    for (input, acc) in
        [(DType::F32, DType::F32), (DType::BF16, DType::F32), (DType::F16, DType::F16), (DType::I32, DType::I32)]
    {
        let lines = format!(
            "with Mesh((Topology(\"thread\", 32),), Layout((4, 8), (8, 1)), names=(\"p\", \"q\")) as m:\n    {}{}\
             result = T.tensor_view(out, layout={})\n    \
             acc = T.alloc_tensor(TensorType((8, 16), \"{acc}\", {}, \"rmem\"))\n    \
             T.fill(acc, one)\n    T.mma(acc, x_held, y_held)\n    T.copy(acc, result)",
            operand("x", [8, 6], &rows, input),
            operand("y", [6, 16], &columns, input),
            placed([8, 16], &mesh, &both, false),
            placed([8, 16], &mesh, &both, true),
        );
        let params = format!(
            "x: Tensor[(8, 6), \"{input}\"], y: Tensor[(6, 16), \"{input}\"], one: Tensor[(), \"{acc}\"], out: Tensor[(8, 16), \"{acc}\"]"
        );
        let (x, y) = (numbers(&[8, 6]), numbers(&[6, 16]));
        let inputs = [x.cast(input).unwrap(), y.cast(input).unwrap(), Tensor::scalar(1.0f32).cast(acc).unwrap()];
        let found = run(&kernel(&params, &lines), &inputs).unwrap_or_else(|error| panic!("{error}"));
        let one = Tensor::full(&[8, 16], 1.0f32).unwrap();
        let wanted = x.matmul(&y).unwrap().binary(one, tf_types::kinds::BinaryKind::Add).unwrap();
        assert_eq!(found[0].to_f32_vec(), wanted.to_f32_vec(), "{input} {acc}");
    }
}
