//! Ops on random small tensors: what inference accepts evaluates, and the value has the inferred shape and dtype, with the extents known
//! and with the first one symbolic.

use std::sync::Arc;

use proptest::prelude::*;
use rustc_hash::FxHashMap;
use tf_core::op::OpInstance;
use tf_core::{Arena, Context, Expr, Literal, Meta};
use tf_hir::{
    Arange, ArgMax, Clamp, Concat, FullLike, IndexAdd, IndexCopy, IndexSelect, InsertSlice, Quant, QuantScheme, Rank,
    RepeatInterleave, Reshape, ShapeOf, Softplus, Split, Stack, TopK, Transpose, Where, Zeros,
};
use tf_types::{DType, Dim, DimVar, Storage, Type, TypeKind};
use tf_value::{DialectBuilder, EvalCx, EvalRegistry, Tensor, Value, extent};

/// What a case is made of; each op takes what it needs.
#[derive(Clone, Debug)]
struct Draw {
    shape: Vec<usize>,
    dtype: DType,
    /// Makes the first extent symbolic.
    symbolic: bool,
    axis: i64,
    /// Small numbers for counts, offsets and indices.
    numbers: Vec<usize>,
    flag: bool,
}

fn draws() -> impl Strategy<Value = Draw> {
    const DTYPES: [DType; 8] =
        [DType::F32, DType::F16, DType::BF16, DType::Fp8E4M3, DType::F8E8M0, DType::I32, DType::I64, DType::Bool];
    let shape = proptest::collection::vec(0usize..4, 0..=6);
    (
        shape,
        proptest::sample::select(&DTYPES[..]),
        any::<bool>(),
        -6i64..6,
        proptest::collection::vec(0usize..4, 8),
        any::<bool>(),
    )
        .prop_map(|(shape, dtype, symbolic, axis, numbers, flag)| Draw {
            shape,
            dtype,
            symbolic,
            axis,
            numbers,
            flag,
        })
}

/// One call under construction.
struct Build<'r, 'c> {
    cx: &'r Context<'c>,
    draw: &'r Draw,
    operands: Vec<(Expr<'c>, Value)>,
}

impl<'c> Build<'_, 'c> {
    fn n(&self) -> Dim<'c> {
        self.cx.dim_var(DimVar { name: self.cx.symbol("n"), lo: 0, hi: 99 })
    }

    /// Extents as the types state them: the first one is `n` if that is asked for.
    fn dims(&self, shape: &[usize]) -> Vec<Dim<'c>> {
        let is_symbol =
            |at: usize, extent: usize| at == 0 && self.draw.symbolic && Some(&extent) == self.draw.shape.first();
        let dim =
            |(at, &extent): (usize, &usize)| if is_symbol(at, extent) { self.n() } else { self.cx.dim(extent as i64) };
        shape.iter().enumerate().map(dim).collect()
    }

    fn add(&mut self, shape: &[usize], dtype: DType, elements: impl Fn(usize) -> i64) {
        let count = shape.iter().product();
        let whole = Tensor::from_vec(shape, (0..count).map(elements).collect::<Vec<i64>>()).unwrap();
        // Half of the operands are strided views.
        let tensor = match self.draw.flag {
            true => {
                let back: Vec<usize> = (0..shape.len()).rev().collect();
                whole.permute(&back).unwrap().contiguous().permute(&back).unwrap()
            }
            false => whole,
        };
        let node = self.cx.var(
            self.cx.symbol("x"),
            self.cx.tensor(&self.dims(shape), dtype, None, Storage::Gmem),
            Meta::default(),
        );
        self.operands.push((node, tensor.cast(dtype).unwrap().into()));
    }

    fn x(&mut self, shape: &[usize]) {
        self.add(shape, self.draw.dtype, |at| (at * 7 % 5) as i64);
    }

    fn literal(&mut self, value: i64) {
        let node = self.cx.constant(Literal::Int(value), DType::I64, Meta::default());
        self.operands.push((node, Tensor::scalar(value).into()));
    }

    /// The axis from 0, if the shape has it.
    fn axis(&self) -> Option<usize> {
        let rank = self.draw.shape.len() as i64;
        let axis = if self.draw.axis < 0 { self.draw.axis + rank } else { self.draw.axis };
        (0..rank).contains(&axis).then_some(axis as usize)
    }
}

const OPS: usize = 21;

/// The call number `which`; `None` where the draw does not make one.
fn build<'c>(which: usize, b: &mut Build<'_, 'c>) -> Option<OpInstance<'c>> {
    let (cx, draw) = (b.cx, b.draw.clone());
    let (shape, numbers) = (&draw.shape[..], &draw.numbers);
    let first = numbers[0];
    let ty = |b: &Build<'_, 'c>, dtype| cx.tensor(&b.dims(shape), dtype, None, Storage::Gmem);
    // The source of an update: the shape with another extent along the axis, which only the index vector names.
    let source = |axis: usize| {
        let mut source = shape.to_vec();
        source[axis] = first;
        source
    };
    Some(match which {
        0 => {
            b.x(shape);
            Clamp::new(cx, 0.5, 2.0)
        }
        1 => {
            b.x(shape);
            Softplus::new(cx)
        }
        2 => Arange::new(cx, ty(b, draw.dtype), Some(cx.dim(first as i64)), numbers[1] as i64),
        3 => Zeros::new(cx, ty(b, draw.dtype)),
        4 => {
            b.x(shape);
            FullLike::new(cx, 1.5)
        }
        5 => {
            let thin: Vec<usize> =
                shape.iter().zip(numbers).map(|(&e, &n)| if n == 0 && !draw.symbolic { 1 } else { e }).collect();
            b.add(&thin, DType::Bool, |at| (at % 2) as i64);
            b.x(shape);
            b.x(&shape[first.min(shape.len())..]);
            Where::new(cx)
        }
        6 => {
            b.x(shape);
            let mut dims = b.dims(shape);
            dims.insert(first.min(shape.len()), cx.dim(1));
            Reshape::new(cx, cx.dims(&dims))
        }
        7 => {
            b.x(shape);
            let mut perm: Vec<i64> = (0..shape.len() as i64).collect();
            perm.rotate_left(first.min(shape.len()));
            perm.reverse();
            Transpose::new(cx, cx.alloc_slice(&perm))
        }
        8 => {
            let update: Vec<usize> = shape.iter().zip(numbers).map(|(&extent, &n)| n.min(extent)).collect();
            b.x(shape);
            b.x(&update);
            for (extent, size) in shape.iter().zip(&update) {
                b.literal((extent - size) as i64);
            }
            InsertSlice::new(cx)
        }
        9 => {
            for _ in 0..=first {
                b.x(shape);
            }
            Concat::new(cx, draw.axis)
        }
        10 => {
            for _ in 0..=first {
                b.x(shape);
            }
            Stack::new(cx, draw.axis)
        }
        11 => {
            b.x(shape);
            let parts = if draw.symbolic { 1 } else { first as i64 };
            Split::new(cx, draw.axis, parts)
        }
        12 => {
            b.x(shape);
            // A symbolic axis may turn out empty.
            let axis = b.axis()?;
            (shape[axis] > 0).then(|| ArgMax::new(cx, draw.axis))?
        }
        13 => {
            b.x(shape);
            let extent = shape[b.axis()?];
            TopK::new(cx, cx.dim(first.min(extent) as i64), draw.axis, draw.flag, true)
        }
        14..=16 => {
            let axis = b.axis()?;
            let extent = shape[axis] as i64;
            if extent == 0 && first > 0 {
                return None;
            }
            b.x(shape);
            // The index's extent is never `n`: it is a number of its own.
            let index = cx.tensor(&[cx.dim(first as i64)], DType::I64, None, Storage::Gmem);
            let values = (0..first as i64).map(|at| (at * 3 + 1) % extent.max(1)).collect::<Vec<_>>();
            let index = cx.var(cx.symbol("i"), index, Meta::default());
            b.operands.push((index, Tensor::from_vec(&[first], values).unwrap().into()));
            if which == 14 {
                return Some(IndexSelect::new(cx, draw.axis));
            }
            b.x(&source(axis));
            if which == 15 { IndexAdd::new(cx, draw.axis) } else { IndexCopy::new(cx, draw.axis) }
        }
        17 => {
            b.x(shape);
            RepeatInterleave::new(cx, first as i64, draw.axis)
        }
        18 => {
            b.x(shape);
            Quant::new(cx, QuantScheme::PerTokenGroup, 1, None)
        }
        19 => {
            b.x(shape);
            ShapeOf::new(cx)
        }
        _ => {
            b.x(shape);
            Rank::new(cx)
        }
    })
}

fn check(ty: Type<'_>, value: &Value, sizes: &FxHashMap<tf_types::Symbol<'_>, i64>) -> Result<(), String> {
    match (ty.data(), value) {
        (TypeKind::Tensor(ty), Value::Tensor(tensor)) => {
            let shape: Vec<i64> = ty.shape.iter().map(|&dim| extent(dim, sizes).unwrap()).collect();
            let found: Vec<i64> = tensor.shape().iter().map(|&extent| extent as i64).collect();
            let fits = shape == found && ty.dtype == tensor.dtype();
            if fits { Ok(()) } else { Err(format!("{ty} has a value of {} {found:?}", tensor.dtype())) }
        }
        (TypeKind::Tuple(types), Value::Tuple(fields)) if types.len() == fields.len() => {
            types.iter().zip(fields).try_for_each(|(&ty, field)| check(ty, field, sizes))
        }
        _ => Err(format!("{ty} has another kind of value")),
    }
}

/// Whether the call was accepted; accepted ones are evaluated and checked.
fn run(which: usize, draw: &Draw) -> Result<bool, String> {
    let mut builder = DialectBuilder::default();
    tf_hir::register(&mut builder);
    let (ops, rules): (_, Arc<EvalRegistry>) = builder.freeze().unwrap();
    let arena = Arena::new();
    let cx = &Context::new(&arena, ops);
    let mut b = Build { cx, draw, operands: Vec::new() };
    let Some(op) = build(which, &mut b) else { return Ok(false) };
    let (args, mut values): (Vec<_>, Vec<_>) = b.operands.into_iter().unzip();
    let Ok(call) = cx.call(op, &args, Meta::default()) else { return Ok(false) };
    let again = cx.call(op, &args, Meta::default()).map(|again| again.ty());
    if again != Ok(call.ty()) {
        return Err(format!("inferred twice, {:?} and {}", again, call.ty()));
    }
    let sizes = FxHashMap::from_iter([(cx.symbol("n"), draw.shape.first().copied().unwrap_or_default() as i64)]);
    let eval_cx = EvalCx { dims: &sizes, result_type: call.ty() };
    let value = rules.get(op.id).unwrap()(call.op_call().unwrap(), &mut values, &eval_cx)
        .map_err(|e| format!("{op:?}: {e}"))?;
    check(call.ty(), &value, &sizes).map_err(|e| format!("{op:?}: {e}"))?;
    Ok(true)
}

proptest! {
    #[test]
    fn values_have_their_inferred_types(draw in draws()) {
        for which in 0..OPS {
            let result = run(which, &draw);
            prop_assert!(result.is_ok(), "op {} {}", which, result.unwrap_err());
        }
    }
}

/// A draw that every op accepts, so that none is skipped throughout.
#[test]
fn every_op_takes_part() {
    for dtype in [DType::F32, DType::I64] {
        let draw = Draw {
            shape: vec![2, 3],
            dtype,
            symbolic: false,
            axis: 0,
            numbers: vec![2, 1, 1, 1, 1, 1, 1, 1],
            flag: true,
        };
        let accepted: Vec<usize> = (0..OPS).filter(|&which| run(which, &draw).unwrap()).collect();
        let takes = |which: usize| match dtype {
            DType::F32 => which != 2,
            _ => ![1, 2, 18].contains(&which),
        };
        assert_eq!(accepted, (0..OPS).filter(|&which| takes(which)).collect::<Vec<_>>());
    }
    let vector = Draw { shape: vec![3], dtype: DType::I32, symbolic: true, axis: 0, numbers: vec![1; 8], flag: false };
    assert_eq!(run(2, &vector), Ok(true));
}
