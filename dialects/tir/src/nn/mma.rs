//! `T.mma`

use tf_core::diag::did_you_mean;
use tf_core::op::attr::StrAttr;
use tf_core::op::{OpCall, RuleError, VerifyRule};
use tf_core::{Context, op};
use tf_target::mma::{MmaAtom, MmaOpSpec, Operand};
use tf_types::{DType, DimTuple};
use tf_value::rule::DialectBuilder;
use tf_value::tir::{Meaning, TirEvalRule};

use super::product;
use crate::rules::{numbers, same_dtype, tensor};

/// `acc[m, n] += sum over k of lhs[m, k] * rhs[k, n]`, every position on what it holds, or all threads of an instruction together. It
/// neither loads nor stores.
///
/// With `atom` the operands have the dtypes, shapes, placements and storages of that instruction, and an enclosing mesh has the threads
/// that it requires.
///
/// ```python
/// def f(a: Tensor[(16, 16), "bf16"], b: Tensor[(16, 8), "bf16"], acc: Tensor[(16, 8), "f32"]):
///     T.fill(acc, 0.0)
///     T.mma(acc, a, b)
/// ```
#[op(dialect = "T", category = "nn", effect)]
pub struct Mma {
    /// (M, N) accumulator.
    #[input(Tensor)]
    acc: (),
    /// (M, K)
    #[input(Tensor)]
    lhs: (),
    /// (K, N)
    #[input(Tensor)]
    rhs: (),
    /// Name of the instruction, such as `SM80_16x8x16_F32BF16BF16F32_TN`.
    #[default(None)]
    atom: Option<StrAttr>,
}

/// The instruction of a call, with the placements of its operands.
///
/// # Errors
/// An unknown name.
pub fn atom<'c>(call: &OpCall<'c, Mma>, cx: &Context<'c>) -> Result<Option<MmaAtom<'c>>, RuleError> {
    let Some(name) = call.atom() else { return Ok(None) };
    if let Some(spec) = MmaOpSpec::named(name.as_str()) {
        return Ok(Some(spec.atom(cx)));
    }
    let known: Vec<_> = MmaOpSpec::all().map(MmaOpSpec::name).collect();
    let error = RuleError::new(format!("there is no matrix instruction `{name}`"));
    Err(match did_you_mean(name.as_str(), known.iter().map(String::as_str)) {
        Some(near) => error.with_help(format!("did you mean `{near}`?")),
        None => error.with_help(format!("the first of {} is `{}`", known.len(), known[0])),
    })
}

impl VerifyRule for Mma {
    fn verify<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Result<(), RuleError> {
        numbers("T.mma", (1, call.lhs()))?;
        same_dtype("T.mma", (1, call.lhs()), (2, call.rhs()))?;
        let (acc, lhs, rhs) =
            (tensor(0, "acc", call.acc())?, tensor(1, "lhs", call.lhs())?, tensor(2, "rhs", call.rhs())?);
        let ([m, n], [lm, lk], [rk, rn]) = (acc.shape, lhs.shape, rhs.shape) else {
            return Err(RuleError::new(format!(
                "`T.mma` takes matrices, found ranks {}, {} and {}",
                acc.rank(),
                lhs.rank(),
                rhs.rank()
            )));
        };
        if m != lm || n != rn || lk != rk {
            let message = format!("`T.mma` multiplies ({lm}, {lk}) with ({rk}, {rn}) into ({m}, {n})");
            return Err(RuleError::new(message)
                .operand(1, lhs.to_string())
                .operand(2, rhs.to_string())
                .operand(0, acc.to_string())
                .with_help("the shapes must be (m, k), (k, n) and (m, n)"));
        }
        let wide_enough = acc.dtype == lhs.dtype || acc.dtype == DType::F32 && lhs.dtype.is_float();
        if !wide_enough {
            let own = if lhs.dtype.is_float() && lhs.dtype != DType::F32 {
                format!("{} or f32", lhs.dtype)
            } else {
                lhs.dtype.to_string()
            };
            let message = format!("`T.mma` of {} accumulates in {own}, found {}", lhs.dtype, acc.dtype);
            return Err(RuleError::new(message)
                .operand(0, call.acc().ty().to_string())
                .with_help(format!("allocate the accumulator in {own}")));
        }
        match atom(&call, cx)? {
            Some(atom) => operands_of(&call, cx, &atom),
            None => Ok(()),
        }
    }
}

/// Checks the operands of an instruction.
fn operands_of<'c>(call: &OpCall<'c, Mma>, cx: &Context<'c>, atom: &MmaAtom<'c>) -> Result<(), RuleError> {
    let (spec, name) = (atom.op, atom.op.name());
    let [a, b, c] = spec.dtypes();
    let operands = [
        (0, "acc", call.acc(), Operand::C, c, atom.c),
        (1, "lhs", call.lhs(), Operand::A, a, atom.a),
        (2, "rhs", call.rhs(), Operand::B, b, atom.b),
    ];
    for (at, what, operand, role, dtype, placement) in operands {
        let found = tensor(at, what, operand)?;
        let fragment = spec.fragment(role);
        let refused = |message: String| {
            let fix = format!("`{name}` has its operands placed as `atom.A`, `atom.B` and `atom.C` say");
            Err(RuleError::new(message).operand(at, operand.ty().to_string()).with_help(fix))
        };
        let shape = cx.const_dims(&fragment.shape());
        if found.shape != shape {
            let [rows, columns] = fragment.shape();
            return refused(format!(
                "`{name}` takes {what} of shape ({rows}, {columns}), found {}",
                DimTuple(found.shape)
            ));
        }
        if found.dtype != dtype {
            return refused(format!("`{name}` takes {what} of {dtype}, found {}", found.dtype));
        }
        if found.storage != fragment.storage() {
            return refused(format!("`{name}` takes {what} in {}, found {}", fragment.storage(), found.storage));
        }
        if found.shard() != Some(placement) {
            let layout = found.layout.map_or_else(|| "no layout".to_owned(), |layout| layout.to_string());
            return refused(format!("`{name}` takes {what} placed as {role:?}, {placement}, found {layout}"));
        }
    }
    Ok(())
}

impl TirEvalRule for Mma {
    fn meaning<'c>(call: OpCall<'c, Self>) -> Result<Meaning, RuleError> {
        product::meaning(&call)
    }
}

pub(crate) fn register(r: &mut DialectBuilder) {
    r.op::<Mma>().verifies().means().done();
}

#[cfg(test)]
mod tests {
    use tf_core::{Arena, Context, Expr, Meta};
    use tf_target::mma::MmaOpSpec;
    use tf_types::{DType, ShardLayout, Storage, TensorLayout};

    use super::Mma;
    use crate::test_util::{context, refusal, refused, tensor};

    #[test]
    fn products_of_what_each_position_holds() {
        let arena = Arena::new();
        let cx = &context(&arena);
        let of = |shapes: [&[i64]; 3], acc, input| {
            let held = |shape, dtype| tensor(cx, shape, dtype, Storage::Rmem);
            let operands = [held(shapes[0], acc), held(shapes[1], input), held(shapes[2], input)];
            refusal(cx, Mma::new(cx, None), &operands)
        };
        let shapes: [&[i64]; 3] = [&[4, 6], &[4, 8], &[8, 6]];
        let pairs = [(DType::F32, DType::F16), (DType::F32, DType::BF16), (DType::F16, DType::F16)];
        for (acc, input) in pairs.into_iter().chain([(DType::BF16, DType::BF16), (DType::F32, DType::F32)]) {
            assert_eq!(of(shapes, acc, input), None);
        }
        assert_eq!(
            of(shapes, DType::F16, DType::BF16).unwrap(),
            "`T.mma` of bf16 accumulates in bf16 or f32, found f16"
        );
        assert_eq!(of(shapes, DType::F16, DType::F32).unwrap(), "`T.mma` of f32 accumulates in f32, found f16");
        assert_eq!(of(shapes, DType::I32, DType::I32), None);
        assert_eq!(of(shapes, DType::Bool, DType::Bool).unwrap(), "`T.mma` takes numbers, found bool");
        assert_eq!(
            of([&[4, 6], &[4, 8], &[6, 6]], DType::F32, DType::F32).unwrap(),
            "`T.mma` multiplies (4, 8) with (6, 6) into (4, 6)"
        );
        assert_eq!(
            of([&[4], &[4, 8], &[8, 6]], DType::F32, DType::F32).unwrap(),
            "`T.mma` takes matrices, found ranks 1, 2 and 2"
        );
    }

    fn placed<'c>(
        cx: &Context<'c>,
        shape: [i64; 2],
        dtype: DType,
        shard: ShardLayout<'c>,
        storage: Storage,
    ) -> Expr<'c> {
        let ty = cx.tensor(cx.const_dims(&shape), dtype, Some(TensorLayout::Shard(shard)), storage);
        cx.var(cx.symbol("x"), ty, Meta::default())
    }

    #[test]
    fn instructions() {
        let arena = Arena::new();
        let cx = &context(&arena);
        for spec in MmaOpSpec::all() {
            let (atom, [m, n, k], [da, db, dc]) = (spec.atom(cx), spec.shape_mnk(), spec.dtypes());
            let read = if spec.reads_registers() { Storage::Rmem } else { Storage::Smem };
            let operands = [
                placed(cx, [m, n], dc, atom.c, Storage::Rmem),
                placed(cx, [m, k], da, atom.a, read),
                placed(cx, [k, n], db, atom.b, read),
            ];
            assert_eq!(refusal(cx, Mma::new(cx, Some(cx.symbol(&spec.name()))), &operands), None, "{}", spec.name());
        }
        let name = "SM80_16x8x16_F32BF16BF16F32_TN";
        let atom = MmaOpSpec::named(name).unwrap().atom(cx);
        let of = |acc, lhs, rhs| refusal(cx, Mma::new(cx, Some(cx.symbol(name))), &[acc, lhs, rhs]).unwrap();
        let (rmem, bf16, f32) = (Storage::Rmem, DType::BF16, DType::F32);
        let c = placed(cx, [16, 8], f32, atom.c, rmem);
        let a = placed(cx, [16, 16], bf16, atom.a, rmem);
        let b = placed(cx, [16, 8], bf16, atom.b, rmem);
        let wrong = placed(cx, [16, 8], f32, atom.b, rmem);
        assert!(of(wrong, a, b).contains("takes acc placed as C, "), "{}", of(wrong, a, b));
        let smem = placed(cx, [16, 16], bf16, atom.a, Storage::Smem);
        assert_eq!(of(c, smem, b), format!("`{name}` takes lhs in rmem, found smem"));
        let (f16a, f16b) =
            (placed(cx, [16, 16], DType::F16, atom.a, rmem), placed(cx, [16, 8], DType::F16, atom.b, rmem));
        assert_eq!(of(c, f16a, f16b), format!("`{name}` takes lhs of bf16, found f16"));
        let small = placed(cx, [16, 8], bf16, atom.a, rmem);
        let short = placed(cx, [8, 8], bf16, atom.b, rmem);
        assert_eq!(of(c, small, short), format!("`{name}` takes lhs of shape (16, 16), found (16, 8)"));
        let unknown = refused(cx, Mma::new(cx, Some(cx.symbol("SM80_16x8x16_F32BF16BF16F32"))), &[c, a, b]).unwrap();
        assert_eq!(unknown.message, "there is no matrix instruction `SM80_16x8x16_F32BF16BF16F32`");
        assert_eq!(unknown.help.as_deref(), Some("did you mean `SM80_16x8x16_F32BF16BF16F32_TN`?"));
    }
}
