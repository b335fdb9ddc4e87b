//! `T.reduce` over every distribution: within threads, across lanes, across warps.

use tf_types::DType;
use tf_types::kinds::ReduceKind;
use tf_value::Tensor;

use super::{kernel, numbers, placed, run};

const SHAPE: [i64; 2] = [64, 128];

fn reduced(mesh: &[i64], splits: &[Option<usize>], axis: usize, kind: &str, dtype: DType) -> Tensor {
    let mut result = SHAPE;
    result[axis] = 1;
    let wide = if dtype.is_float() { "f32" } else { dtype.name() };
    let threads: i64 = mesh.iter().product();
    let list = |values: &[i64]| format!("({},)", values.iter().map(i64::to_string).collect::<Vec<_>>().join(", "));
    let strides: Vec<i64> = (0..mesh.len()).map(|at| mesh[at + 1..].iter().product()).collect();
    let names: Vec<_> = (0..mesh.len()).map(|at| format!("\"a{at}\"")).collect();
    let kept: Vec<_> = splits.iter().map(|split| split.filter(|split| *split != axis)).collect();
    let lines = format!(
        "with Mesh((Topology(\"thread\", {threads}),), Layout({extents}, {strides}), names=({names},)) as m:\n    \
         source = T.tensor_view(x, layout={from})\n    \
         target = T.tensor_view(out, layout={to})\n    \
         held = T.alloc_tensor(TensorType({SHAPE_TEXT}, \"{dtype}\", {held}, \"rmem\"))\n    \
         total = T.alloc_tensor(TensorType({result}, \"{dtype}\", {total}, \"rmem\"))\n    \
         box = T.alloc_tensor(TensorType((8192,), \"{wide}\", None, \"smem\"))\n    \
         T.copy(source, held)\n    \
         T.reduce(held, total, box, axes=({axis},), kind=\"{kind}\")\n    \
         T.reduce(held, total, box, axes=({axis},), kind=\"{kind}\")\n    \
         T.copy(total, target)",
        extents = list(mesh),
        strides = list(&strides),
        names = names.join(", "),
        from = placed(SHAPE, mesh, splits, false),
        to = placed(result, mesh, &kept, false),
        held = placed(SHAPE, mesh, splits, true),
        total = placed(result, mesh, &kept, true),
        SHAPE_TEXT = "(64, 128)",
        result = list(&result),
    );
    let params = format!("x: Tensor[(64, 128), \"{dtype}\"], out: Tensor[{}, \"{dtype}\"]", list(&result));
    let input = numbers(&[64, 128]).cast(dtype).unwrap();
    run(&kernel(&params, &lines), &[input]).unwrap_or_else(|error| panic!("{error}")).remove(0)
}

#[test]
fn every_distribution() {
    let (row, column, none) = (Some(0), Some(1), None);
    let meshes: [(&[i64], &[Option<usize>]); 7] = [
        (&[4, 32], &[row, column]),
        (&[4, 32], &[column, row]),
        (&[4, 32], &[none, column]),
        (&[4, 32], &[column, none]),
        (&[2, 4, 8], &[row, column, row]),
        (&[3, 32], &[none, row]),
        (&[32], &[none]),
    ];
    for (mesh, splits) in meshes {
        for axis in [0, 1] {
            for (kind, name) in [
                (ReduceKind::Sum, "sum"),
                (ReduceKind::Mean, "mean"),
                (ReduceKind::Max, "max"),
                (ReduceKind::AbsMax, "abs_max"),
            ] {
                for dtype in [DType::F32, DType::BF16, DType::I32] {
                    if kind == ReduceKind::Mean && !dtype.is_float() {
                        continue;
                    }
                    let found = reduced(mesh, splits, axis, name, dtype);
                    let input = numbers(&[64, 128]).cast(dtype).unwrap();
                    let wanted = input.reduce(&[axis as i64], true, kind).unwrap();
                    assert_eq!(found.to_f32_vec(), wanted.to_f32_vec(), "{mesh:?} {splits:?} {axis} {name} {dtype}");
                }
            }
        }
    }
}
