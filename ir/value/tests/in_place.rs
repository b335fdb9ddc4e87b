//! Where results go: into an operand whose elements nobody else holds, never into one that somebody does.

use proptest::prelude::*;
use tf_types::DType;
use tf_types::kinds::{BinaryKind, UnaryKind};
use tf_value::{Activation, Tensor, ValueError};

/// An op on tensors of one shape, and how many operands it takes.
type Rule = (&'static str, usize, fn(Vec<Tensor>) -> Result<Tensor, ValueError>);

fn take<const N: usize>(operands: Vec<Tensor>) -> [Tensor; N] {
    operands.try_into().unwrap()
}

fn one(operands: Vec<Tensor>) -> Tensor {
    let [x] = take(operands);
    x
}

fn weight(x: &Tensor) -> Tensor {
    Tensor::full(&[*x.shape().last().unwrap()], 1.5f32).unwrap()
}

/// Every op that may write into its first operand.
const RULES: &[Rule] = &[
    ("neg", 1, |x| one(x).unary(UnaryKind::Neg)),
    ("silu", 1, |x| one(x).activate(Activation::Silu)),
    ("softplus", 1, |x| one(x).softplus()),
    ("clamp", 1, |x| one(x).clamp(0.5, 3.0)),
    ("softmax", 1, |x| one(x).softmax(-1)),
    ("rms_norm", 1, |x| {
        let x = one(x);
        let weight = weight(&x);
        x.rms_norm(&weight, 1e-5)
    }),
    ("layer_norm", 1, |x| {
        let x = one(x);
        let weight = weight(&x);
        x.layer_norm(&weight, &weight, -1, 1e-5)
    }),
    ("sub", 2, |x| {
        let [x, y] = take(x);
        x.binary(y, BinaryKind::Sub)
    }),
    ("select", 2, |x| {
        let [x, y] = take(x);
        x.clone().binary(y.clone(), BinaryKind::Lt)?.select(x, &y)
    }),
    ("insert", 2, |x| {
        let [x, y] = take(x);
        let part = y.slice(&vec![0; y.rank()], &vec![1; y.rank()], &vec![1; y.rank()])?;
        let offsets: Vec<i64> = x.shape().iter().map(|&n| n as i64 - 1).collect();
        x.insert(&part, &offsets)
    }),
    ("index_copy", 2, |x| {
        let [x, y] = take(x);
        let index = Tensor::arange(x.shape()[0], 0, 1, DType::I64)?;
        x.index_copy(&index, &y, 0)
    }),
    ("index_add", 2, |x| {
        let [x, y] = take(x);
        let index = Tensor::arange(x.shape()[0], 0, 1, DType::I32)?;
        x.index_add(&index, &y, 0)
    }),
];

fn waves(shape: &[usize], phase: usize) -> Tensor {
    let count: usize = shape.iter().product();
    let values: Vec<f32> = (0..count).map(|at| ((at * 37 + phase) % 101) as f32 / 8.0 - 5.0).collect();
    Tensor::from_f32(shape, &values).unwrap()
}

fn place(tensor: &Tensor) -> *const f32 {
    tensor.array::<f32>().unwrap().as_ptr()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_first_operand_is_overwritten_where_nobody_else_holds_it(
        shape in proptest::collection::vec(1usize..6, 1..5),
        wide in any::<bool>(),
    ) {
        // Long rows and many chunks, too.
        let shape = if wide { [&shape[..], &[600]].concat() } else { shape };
        let operands = |count: usize| (0..count).map(|phase| waves(&shape, phase * 13)).collect::<Vec<_>>();
        for (name, count, rule) in RULES {
            let held = operands(*count);
            let before: Vec<_> = held.iter().map(Tensor::to_le_bytes).collect();
            let apart = rule(held.clone()).unwrap();
            for (operand, before) in held.iter().zip(&before) {
                prop_assert_eq!(&operand.to_le_bytes(), before, "{} wrote into an operand", name);
                prop_assert_ne!(place(operand), place(&apart), "{} shares with an operand", name);
            }
            let given = operands(*count);
            let there = place(&given[0]);
            let in_place = rule(given).unwrap();
            prop_assert_eq!(there, place(&in_place), "{} takes memory of its own", name);
            prop_assert_eq!(apart.to_le_bytes(), in_place.to_le_bytes(), "{} in place", name);
            // A view of elements in another order is copied first.
            let back: Vec<usize> = (0..shape.len()).rev().collect();
            let turned = |x: Tensor| x.permute(&back).unwrap().contiguous().permute(&back).unwrap();
            let strided = rule(operands(*count).into_iter().map(turned).collect()).unwrap();
            prop_assert_eq!(apart.to_le_bytes(), strided.to_le_bytes(), "{} of a strided view", name);
        }
    }

    /// Either operand may give its memory, whatever the other one is broadcast from.
    #[test]
    fn the_second_operand_gives_its_memory_too(rows in 1usize..5, row in 1usize..700, which in 0usize..3) {
        let small = vec![vec![], vec![1], vec![row]].swap_remove(which);
        let (x, y) = (waves(&small, 3), waves(&[rows, row], 5));
        let want = x.clone().binary(y.clone(), BinaryKind::Sub).unwrap();
        let there = place(&y);
        let got = x.clone().binary(y, BinaryKind::Sub).unwrap();
        prop_assert_eq!(got.to_le_bytes(), want.to_le_bytes());
        prop_assert_eq!(there, place(&got));
        let expected: Vec<f32> = x.broadcast_to(&[rows, row]).unwrap().to_f32_vec();
        let expected: Vec<f32> = expected.iter().zip(waves(&[rows, row], 5).to_f32_vec()).map(|(a, b)| a - b).collect();
        prop_assert_eq!(got.to_f32_vec(), expected);
    }
}
