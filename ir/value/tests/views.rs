//! Properties of views, shapes and reductions against index arithmetic on plain vectors.

use proptest::prelude::*;
use tf_types::DType;
use tf_types::kinds::{BinaryKind, ReduceKind};
use tf_value::Tensor;

/// The model: extents and the elements in row-major order.
#[derive(Clone, Debug)]
struct Naive {
    shape: Vec<usize>,
    elements: Vec<i64>,
}

impl Naive {
    fn counted(shape: &[usize]) -> Self {
        Self { shape: shape.to_vec(), elements: (0..shape.iter().product::<usize>() as i64).collect() }
    }

    fn at(&self, index: &[usize]) -> i64 {
        self.elements[index.iter().zip(&self.shape).fold(0, |flat, (&i, &extent)| flat * extent + i)]
    }

    /// The array of that shape whose element at an index is `f` of the index.
    fn from_fn(shape: &[usize], f: impl Fn(&[usize]) -> i64) -> Self {
        let count = shape.iter().product::<usize>();
        let elements = (0..count).map(|flat| {
            let mut rest = flat;
            let mut index = vec![0; shape.len()];
            for (axis, &extent) in shape.iter().enumerate().rev() {
                index[axis] = rest % extent;
                rest /= extent;
            }
            f(&index)
        });
        Self { shape: shape.to_vec(), elements: elements.collect() }
    }

    fn tensor(&self) -> Tensor {
        Tensor::from_vec(&self.shape, self.elements.clone()).unwrap()
    }

    fn equals(&self, tensor: &Tensor) -> bool {
        self.shape == tensor.shape() && tensor.to_vec::<i64>().as_ref() == Some(&self.elements)
    }
}

/// One step on a tensor and its model; arbitrary numbers are folded into what the shape allows.
#[derive(Clone, Debug)]
enum Step {
    Slice(Vec<(usize, usize, usize)>),
    Permute(usize),
    Flatten,
    SplitFirst(usize),
    Broadcast(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        proptest::collection::vec((0usize..7, 0usize..7, 1usize..4), 5).prop_map(Step::Slice),
        (0usize..120).prop_map(Step::Permute),
        Just(Step::Flatten),
        (1usize..5).prop_map(Step::SplitFirst),
        (1usize..4).prop_map(Step::Broadcast),
    ]
}

fn permutation(rank: usize, mut code: usize) -> Vec<usize> {
    let mut axes: Vec<usize> = (0..rank).collect();
    (0..rank)
        .map(|at| {
            let pick = code % (rank - at);
            code /= rank - at;
            axes.remove(pick)
        })
        .collect()
}

fn apply(step: &Step, model: &Naive, tensor: &Tensor) -> (Naive, Tensor) {
    let rank = model.shape.len();
    match step {
        Step::Slice(choice) => {
            let (mut starts, mut sizes, mut strides) = (vec![], vec![], vec![]);
            for (&extent, &(start, size, stride)) in model.shape.iter().zip(choice) {
                let start = start % (extent + 1);
                starts.push(start as i64);
                sizes.push(size % ((extent - start).div_ceil(stride) + 1));
                strides.push(stride);
            }
            let rest = rank.min(choice.len());
            for &extent in &model.shape[rest..] {
                starts.push(0);
                sizes.push(extent);
                strides.push(1);
            }
            let sliced = Naive::from_fn(&sizes, |index| {
                let source: Vec<usize> =
                    (0..rank).map(|axis| starts[axis] as usize + index[axis] * strides[axis]).collect();
                model.at(&source)
            });
            (sliced, tensor.slice(&starts, &sizes, &strides).unwrap())
        }
        Step::Permute(code) => {
            let perm = permutation(rank, *code);
            let shape: Vec<usize> = perm.iter().map(|&axis| model.shape[axis]).collect();
            let permuted = Naive::from_fn(&shape, |index| {
                let mut source = vec![0; rank];
                for (axis, &from) in perm.iter().enumerate() {
                    source[from] = index[axis];
                }
                model.at(&source)
            });
            (permuted, tensor.permute(&perm).unwrap())
        }
        Step::Flatten => {
            let shape = vec![model.elements.len()];
            (Naive { shape: shape.clone(), ..model.clone() }, tensor.reshape(&shape).unwrap())
        }
        Step::SplitFirst(parts) => match model.shape.split_first() {
            Some((&first, rest)) if first % parts == 0 && rank < 5 => {
                let shape: Vec<usize> = [*parts, first / parts].into_iter().chain(rest.iter().copied()).collect();
                (Naive { shape: shape.clone(), ..model.clone() }, tensor.reshape(&shape).unwrap())
            }
            _ => (model.clone(), tensor.clone()),
        },
        Step::Broadcast(extent) => {
            let mut shape: Vec<usize> = model.shape.iter().map(|&n| if n == 1 { *extent } else { n }).collect();
            if rank < 5 && model.elements.len() < 1000 {
                shape.insert(0, *extent);
            }
            let new_axes = shape.len() - rank;
            let repeated = Naive::from_fn(&shape, |index| {
                let source: Vec<usize> =
                    (0..rank).map(|axis| if model.shape[axis] == 1 { 0 } else { index[axis + new_axes] }).collect();
                model.at(&source)
            });
            (repeated, tensor.broadcast_to(&shape).unwrap())
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn chains_of_views_follow_index_arithmetic(
        shape in proptest::collection::vec(0usize..6, 0..5),
        steps in proptest::collection::vec(step(), 0..6),
    ) {
        let mut model = Naive::counted(&shape);
        let mut tensor = model.tensor();
        for step in &steps {
            (model, tensor) = apply(step, &model, &tensor);
            prop_assert!(model.equals(&tensor), "after {step:?}: {model:?} {tensor:?}");
        }
        // Arithmetic reads through the view, whatever its strides are.
        let doubled = tensor.clone().binary(tensor.clone(), BinaryKind::Add).unwrap();
        let twice = Naive { elements: model.elements.iter().map(|x| x * 2).collect(), ..model.clone() };
        prop_assert!(twice.equals(&doubled));
        let halves = tensor.cast(DType::F32).unwrap().cast(DType::I64).unwrap();
        prop_assert!(model.equals(&halves));
        let all: Vec<i64> = (0..model.shape.len() as i64).collect();
        let sum = tensor.reduce(&all, false, ReduceKind::Sum).unwrap();
        prop_assert_eq!(sum.to_vec::<i64>().unwrap(), vec![model.elements.iter().sum::<i64>()]);
    }

    #[test]
    fn rows_and_columns_reduce_alike(rows in 1usize..70, columns in 1usize..300, seed in 0i64..1000) {
        let x = Tensor::from_vec(&[rows, columns], (0..(rows * columns) as i64).map(|i| (i * 31 + seed) % 257 - 128).collect()).unwrap();
        let turned = x.permute(&[1, 0]).unwrap();
        for kind in [ReduceKind::Sum, ReduceKind::Max, ReduceKind::AbsMax] {
            let straight = x.reduce(&[1], false, kind).unwrap();
            let across = turned.contiguous().reduce(&[0], false, kind).unwrap();
            prop_assert_eq!(straight.to_vec::<i64>(), across.to_vec::<i64>());
        }
    }
}
