//! Runs cases and compares.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use tf_core::node::ExprKind;
use tf_core::{Arena, Context, Expr, Literal, Meta};
use tf_testing::Rng;
use tf_types::{DType, Type};
use tf_value::{DialectBuilder, EvalCx, EvalRegistry, Tensor, Value, ValueError};

use crate::Make;
use crate::draw::{Case, Extents, Gen, Operand, Refusal};
use crate::nd::Nd;
use crate::want::{Expected, Negative};

pub fn context(arena: &Arena) -> (Context<'_>, Arc<EvalRegistry>) {
    let mut builder = DialectBuilder::default();
    tf_hir::register(&mut builder);
    let (ops, eval) = builder.freeze().unwrap();
    (Context::new(arena, ops), eval)
}

/// What is wrong with an op, over all its forms, dtypes, ranks and extents.
pub fn all((name, forms, make): (&str, usize, Make)) -> Vec<String> {
    let (mut wrong, mut accepted) = (Vec::new(), 0);
    for form in 0..forms {
        for dtype in DType::ALL.into_iter().filter(|dtype| *dtype != DType::F4E2M1) {
            let arena = Arena::new();
            let (cx, rules) = &context(&arena);
            for number in 0..7 * ROUNDS.len() {
                let (rank, (extents, special)) = (number % 7, ROUNDS[number / 7]);
                let takes = match extents {
                    Extents::Large => (1..=3).contains(&rank),
                    Extents::Huge => rank == 1 && matches!(dtype, DType::F32 | DType::I64) && !BY_ROW.contains(&name),
                    Extents::Small | Extents::Empty => true,
                };
                if !takes {
                    continue;
                }
                let rng = Rng::new((form * 1000 + number) as u64 * 31 + dtype as u64);
                let mut g = Gen { cx, rng, dtype, rank, form, extents, special };
                let Some(case) = make(&mut g) else { continue };
                match one(cx, rules, &case, &mut g.rng) {
                    Ok(evaluated) => accepted += usize::from(evaluated),
                    Err(what) => wrong
                        .push(format!("{name}, form {form}, {dtype}, rank {rank}, {extents:?}: {:?}: {what}", case.op)),
                }
            }
        }
    }
    if accepted == 0 {
        wrong.push(format!("{name}: no case was evaluated"));
    }
    wrong
}

/// Ops whose every element takes a whole row to compute: a huge one takes too long by indices.
const BY_ROW: [&str; 4] = ["softmax", "rms_norm", "layer_norm", "topk"];

/// Extents and whether special numbers are among the elements.
const ROUNDS: [(Extents, bool); 8] = [
    (Extents::Small, false),
    (Extents::Small, true),
    (Extents::Small, true),
    (Extents::Empty, false),
    (Extents::Large, true),
    (Extents::Huge, false),
    (Extents::Small, false),
    (Extents::Small, true),
];

pub fn operand<'c>(cx: &Context<'c>, operand: &Operand<'c>) -> Expr<'c> {
    let var = |ty: Type<'c>| cx.var(cx.symbol("x"), ty, Meta::default());
    let ty = |nd: &Nd| {
        let dims: Vec<_> = nd.shape.iter().map(|&extent| cx.dim(extent as i64)).collect();
        cx.tensor(&dims, nd.dtype, None, tf_types::Storage::Gmem)
    };
    match operand {
        Operand::Tensor(nd) => var(ty(nd)),
        Operand::Placed(_, ty) => var(*ty),
        Operand::Literal(value) => cx.constant(Literal::Int(*value), DType::I64, Meta::default()),
        Operand::Tuple(fields) => {
            let fields: Vec<_> = fields.iter().map(|field| var(ty(field))).collect();
            let types: Vec<_> = fields.iter().map(|field| field.ty()).collect();
            cx.expr(ExprKind::Tuple(cx.alloc_slice(&fields)), cx.tuple(&types), Meta::default())
        }
    }
}

/// The tensor, row-major or as a view.
fn laid(nd: &Nd, rng: &mut Rng, view: bool) -> Tensor {
    if !view {
        return nd.tensor();
    }
    let rank = nd.shape.len();
    let mut order: Vec<usize> = (0..rank).collect();
    for at in (1..rank).rev() {
        order.swap(at, rng.below(at + 1));
    }
    let large = nd.shape.iter().any(|&extent| extent > 8);
    let first: Vec<usize> = (0..rank).map(|_| rng.below(2)).collect();
    let strides: Vec<usize> = (0..rank).map(|_| 1 + if large { 0 } else { rng.below(2) }).collect();
    nd.view(&order, &first, &strides)
}

pub fn value(operand: &Operand<'_>, rng: &mut Rng, view: bool) -> Value {
    match operand {
        Operand::Tensor(nd) | Operand::Placed(nd, _) => laid(nd, rng, view).into(),
        Operand::Literal(value) => Tensor::scalar(*value).into(),
        Operand::Tuple(fields) => Value::Tuple(fields.iter().map(|nd| laid(nd, rng, view).into()).collect()),
    }
}

/// Types and evaluates a case with operands of its own, and once more with views that others hold. Whether it was evaluated.
fn one<'c>(cx: &Context<'c>, rules: &EvalRegistry, case: &Case<'c>, rng: &mut Rng) -> Result<bool, String> {
    let args: Vec<_> = case.operands.iter().map(|one| operand(cx, one)).collect();
    let call = match (cx.call(case.op, &args, Meta::default()), &case.want) {
        (Ok(call), _) => call,
        (Err(_), Err(Refusal::Type)) => return Ok(false),
        (Err(error), _) => return Err(format!("the types are refused: {}", error.message)),
    };
    if matches!(case.want, Err(Refusal::Type)) {
        return Err("the types are accepted".to_owned());
    }
    let dims = FxHashMap::default();
    let run = |values: &mut [Value]| {
        let cx = EvalCx { dims: &dims, result_type: call.ty() };
        rules.get(case.op.id).expect("a rule")(call.op_call().expect("a call"), values, &cx)
    };
    let mut own: Vec<_> = case.operands.iter().map(|operand| value(operand, rng, false)).collect();
    judge(run(&mut own), &case.want)?;
    let held: Vec<_> = case.operands.iter().map(|operand| value(operand, rng, true)).collect();
    let before: Vec<_> = held.iter().map(bytes).collect();
    judge(run(&mut held.clone()), &case.want).map_err(|what| format!("of views: {what}"))?;
    let mut mixed: Vec<_> = case
        .operands
        .iter()
        .map(|operand| {
            let view = rng.once_in(2);
            value(operand, rng, view)
        })
        .collect();
    judge(run(&mut mixed), &case.want).map_err(|what| format!("of mixed operands: {what}"))?;
    if held.iter().map(bytes).ne(before) {
        return Err("operands that others hold have changed".to_owned());
    }
    Ok(case.want.is_ok())
}

fn bytes(value: &Value) -> Vec<u8> {
    match value {
        Value::Tensor(tensor) => tensor.to_le_bytes(),
        Value::Tuple(fields) => fields.iter().flat_map(bytes).collect(),
    }
}

fn judge(got: Result<Value, ValueError>, want: &Result<Vec<Expected>, Refusal>) -> Result<(), String> {
    let want = match (&got, want) {
        (Err(error), Err(Refusal::Run(word))) if error.message.contains(word) => return Ok(()),
        (_, Err(refusal)) => return Err(format!("{refusal:?} is not refused so: {:?}", got.map(|_| ()))),
        (_, Ok(want)) => want,
    };
    let negative = want.iter().map(Expected::negative).find(|negative| *negative != Negative::No);
    let value = match (got, negative) {
        (Err(error), Some(_)) if error.message.contains("f8e8m0 holds no negative") => return Ok(()),
        (Err(error), _) => return Err(error.to_string()),
        (Ok(_), Some(Negative::Yes)) => return Err("a negative value in f8e8m0 is not refused".to_owned()),
        (Ok(value), _) => value,
    };
    let tensors: Vec<_> = match &value {
        Value::Tensor(tensor) => vec![tensor],
        Value::Tuple(fields) => fields.iter().filter_map(Value::as_tensor).collect(),
    };
    if tensors.len() != want.len() {
        return Err(format!("{} results, not {}", tensors.len(), want.len()));
    }
    let complaint = want.iter().zip(tensors).enumerate().find_map(|(at, (want, got))| Some((at, want.complaint(got)?)));
    complaint.map_or(Ok(()), |(at, what)| Err(format!("result {at}: {what}")))
}
