//! Every kind of every elementwise op over dtypes and odd values, against the tensor engine.
use tf_tir::arith::{binary::Binary, unary::Unary};
use tf_tir::tensor::reduce::Reduce;
use tf_types::DType;
use tf_types::kinds::{BinaryKind, ReduceKind, UnaryKind};
use tf_value::{Tensor, Tolerance};

use crate::support::{Block, extents, param, param_like, run, with_context};

const FLOATS: [f32; 22] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    1.5,
    2.5,
    -2.5,
    3.7,
    -3.7,
    f32::NAN,
    f32::INFINITY,
    f32::NEG_INFINITY,
    1e-40,
    -6e-8,
    65504.0,
    -7e4,
    1.003_906_3,
    1.011_718_8,
    88.0,
    3e38,
    -1e30,
];

/// The values of a dtype that are worth trying, as one row.
fn odd(dtype: DType) -> Tensor {
    let row = |values: Vec<i64>| Tensor::from_vec(&[values.len()], values).unwrap();
    match dtype {
        DType::Bool => Tensor::from_vec(&[2], vec![false, true]).unwrap(),
        DType::I32 => row(vec![0, 1, -1, 7, -7, 2, -2, 1 << 20, i64::from(i32::MAX), i64::from(i32::MIN)])
            .cast(DType::I32)
            .unwrap(),
        DType::I64 => row(vec![0, 1, -1, 7, -7, 2, -2, (1 << 53) + 1, i64::MAX, i64::MIN]),
        _ => Tensor::from_f32(&[FLOATS.len()], &FLOATS).unwrap().cast(dtype).unwrap(),
    }
}

const DTYPES: [DType; 7] = [DType::F32, DType::F16, DType::BF16, DType::I32, DType::I64, DType::Bool, DType::Fp8E4M3];

/// Mathematics libraries differ by a few units; all else is exact, zeros included.
fn tolerance(kind: UnaryKind, dtype: DType) -> Tolerance {
    let libm = matches!(kind, UnaryKind::Rsqrt | UnaryKind::Exp | UnaryKind::Exp2 | UnaryKind::Log | UnaryKind::Log2);
    let (rtol, atol) = match (libm, dtype) {
        (false, _) => (0.0, 0.0),
        (true, DType::F32) => (1e-6, 1e-44),
        (true, _) => (1e-2, 1e-7),
    };
    Tolerance { rtol, atol, signed_zero: true }
}

#[test]
fn binary_kinds() {
    for dtype in DTYPES {
        let x = odd(dtype);
        let n = x.len();
        // Every pair: a column against a row, without zero divisors where these are refused.
        for divides in [false, true] {
            let divisors = if divides { x.slice(&[1], &[n - 1], &[1]).unwrap() } else { x.clone() };
            let column = x.reshape(&[n, 1]).unwrap();
            let is_division = |kind| matches!(kind, BinaryKind::Div | BinaryKind::FloorDiv | BinaryKind::Mod);
            let kinds =
                BinaryKind::ALL.iter().copied().filter(|&kind| (dtype.is_integer() && is_division(kind)) == divides);
            let wanted: Vec<_> =
                kinds.filter_map(|kind| Some((kind, column.clone().binary(divisors.clone(), kind).ok()?))).collect();
            if wanted.is_empty() {
                continue;
            }
            let got = with_context(|cx| {
                let mut params = vec![param_like(cx, "a", &column), param_like(cx, "b", &divisors)];
                let mut block = Block::default();
                for (kind, want) in &wanted {
                    let out = param_like(cx, kind.name(), want);
                    block.run(cx, Binary::new(cx, *kind), &[params[0], params[1], out]);
                    params.push(out);
                }
                run(cx, &params, wanted.len(), block, &[column.clone(), divisors.clone()]).unwrap()
            });
            for (got, (kind, want)) in got.iter().zip(&wanted) {
                let result = Tolerance { rtol: 0.0, atol: 0.0, signed_zero: true }.compare(got, want);
                assert!(result.pass(), "{kind} of {dtype}: {result}");
            }
        }
    }
}

#[test]
fn unary_kinds() {
    for dtype in DTYPES {
        let x = odd(dtype);
        let wanted: Vec<_> =
            UnaryKind::ALL.iter().filter_map(|&kind| Some((kind, x.clone().unary(kind).ok()?))).collect();
        let got = with_context(|cx| {
            let mut params = vec![param_like(cx, "x", &x)];
            let mut block = Block::default();
            for (kind, want) in &wanted {
                let out = param_like(cx, kind.name(), want);
                block.run(cx, Unary::new(cx, *kind), &[params[0], out]);
                params.push(out);
            }
            run(cx, &params, wanted.len(), block, std::slice::from_ref(&x)).unwrap()
        });
        for (got, (kind, want)) in got.iter().zip(&wanted) {
            let result = tolerance(*kind, dtype).compare(got, want);
            assert!(result.pass(), "{kind} of {dtype}: {result}");
        }
    }
}

#[test]
fn casts() {
    for from in DTYPES {
        let x = odd(from);
        let got = with_context(|cx| {
            let mut params = vec![param_like(cx, "x", &x)];
            let mut block = Block::default();
            for to in DTYPES {
                let out = param(cx, to.name(), to, &extents(&x));
                block.run(cx, Unary::new(cx, UnaryKind::Cast), &[params[0], out]);
                params.push(out);
            }
            run(cx, &params, DTYPES.len(), block, std::slice::from_ref(&x)).unwrap()
        });
        for (got, to) in got.iter().zip(DTYPES) {
            let want = x.cast(to).unwrap();
            let result = Tolerance { rtol: 0.0, atol: 0.0, signed_zero: true }.compare(got, &want);
            assert!(result.pass(), "{from} to {to}: {result}");
        }
    }
}

#[test]
fn every_fp8_pattern_widens() {
    let x = Tensor::from_le_bytes(&[256], DType::Fp8E4M3, &(0..=255).collect::<Vec<u8>>()).unwrap();
    let got = with_context(|cx| {
        let params = [param_like(cx, "x", &x), param(cx, "o", DType::F32, &[256])];
        let mut block = Block::default();
        block.run(cx, Unary::new(cx, UnaryKind::Cast), &params);
        run(cx, &params, 1, block, std::slice::from_ref(&x)).unwrap()
    });
    let exact = Tolerance { rtol: 0.0, atol: 0.0, signed_zero: true };
    let result = exact.compare(&got[0], &x.cast(DType::F32).unwrap());
    assert!(result.pass(), "{result}");
}

#[test]
fn reduce_kinds() {
    for dtype in DTYPES {
        let x = odd(dtype);
        let n = x.len();
        // Rows of one odd value among ordinary ones, so that an infinity does not hide the others.
        let two = Tensor::scalar_from_i64(1, dtype).unwrap().broadcast_to(&[n, 3]).unwrap();
        let table = two.binary(x.reshape(&[n, 1]).unwrap(), BinaryKind::Max).unwrap();
        for axes in [vec![0], vec![1], vec![0, 1]] {
            let wanted: Vec<_> = ReduceKind::ALL
                .iter()
                .filter_map(|&kind| table.reduce(&axes, true, kind).ok().map(|want| (kind, want)))
                .collect();
            let got = with_context(|cx| {
                let mut params = vec![param_like(cx, "x", &table)];
                let mut block = Block::default();
                for (kind, want) in &wanted {
                    let out = param_like(cx, kind.name(), want);
                    block.run(cx, Reduce::new(cx, cx.alloc_slice(&axes), *kind), &[params[0], out]);
                    params.push(out);
                }
                run(cx, &params, wanted.len(), block, std::slice::from_ref(&table)).unwrap()
            });
            for (got, (kind, want)) in got.iter().zip(&wanted) {
                let rtol = if dtype.is_float() { 1e-6 } else { 0.0 };
                let result = Tolerance { rtol, atol: 0.0, signed_zero: false }.compare(got, want);
                assert!(result.pass(), "{kind} of {dtype} over {axes:?}: {result}");
            }
        }
    }
}
