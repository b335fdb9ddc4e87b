//! `T.rms_norm`

use tf_core::op::{OpCall, RuleError, VerifyRule};
use tf_core::{Context, op};
use tf_types::DType;
use tf_types::kinds::BinaryKind;
use tf_value::Tensor;
use tf_value::rule::DialectBuilder;
use tf_value::tir::{Access, Effect, Meaning, Positions, Stop, Team, TirEvalRule};

use crate::access::Operand;
use crate::held::{Factor, Held};
use crate::rules::{floats, same_dtype, same_shape, tensor};

/// `dst[…, i] = src[…, i] * rsqrt(mean over the last axis of src^2 + eps) * weight[i]`, computed in f32 and rounded once.
///
/// ```python
/// def f(x: Tensor[(4, 6), "bf16"], gain: Tensor[(6,), "bf16"], out: Tensor[(4, 6), "bf16"]):
///     T.rms_norm(x, out, gain, eps=1e-6)
/// ```
#[op(dialect = "T", category = "nn", effect)]
pub struct RmsNorm {
    /// What is read, of rank 1 or more.
    #[input(Tensor)]
    src: (),
    /// What is written.
    #[input(Tensor)]
    dst: (),
    /// Rank 1, as long as the last axis.
    #[input(Tensor)]
    weight: (),
    /// Added to the mean of squares.
    #[default(1e-6)]
    eps: f64,
}

impl VerifyRule for RmsNorm {
    fn verify<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Result<(), RuleError> {
        let what = "T.rms_norm";
        floats(what, (0, call.src()))?;
        floats(what, (2, call.weight()))?;
        same_dtype(what, (0, call.src()), (1, call.dst()))?;
        same_shape(what, (0, call.src()), (1, call.dst()))?;
        let (src, weight) = (tensor(0, "src", call.src())?, tensor(2, "weight", call.weight())?);
        let Some(&length) = src.shape.last() else {
            let error = RuleError::new(format!("`{what}` takes rank 1 or more, found rank 0"));
            return Err(error.operand(0, src.to_string()));
        };
        match *weight.shape {
            [found] if found == length => Ok(()),
            [found] => {
                Err(RuleError::new(format!("`{what}` normalises {length} elements, but the weight has {found}"))
                    .operand(0, src.to_string())
                    .operand(2, weight.to_string())
                    .with_help(format!("the weight must have the shape ({length},)")))
            }
            _ => Err(RuleError::new(format!("`{what}` takes a weight of rank 1, found rank {}", weight.rank()))
                .operand(2, weight.to_string())
                .with_help(format!("the weight must have the shape ({length},)"))),
        }
    }
}

struct Normalised {
    src: Access,
    dst: Access,
    weight: Access,
    eps: f64,
}

impl Effect for Normalised {
    fn run(&self, positions: &mut dyn Positions) -> Result<(), Stop> {
        let (src, weight) = (positions.read(&self.src)?, positions.read(&self.weight)?);
        let (count, row, dtype) = (positions.count(), self.weight.len, src.dtype());
        let rows = src.cast(DType::F32)?.reshape(&[count, self.src.len / row.max(1), row])?;
        // Each position has a weight of its own: its memory, or its view of one.
        let weight = weight.cast(DType::F32)?.reshape(&[count, 1, row])?;
        let normalised = rows.rms_norm(&Tensor::full(&[row], 1.0f32)?, self.eps)?;
        let scaled = normalised.binary(weight, BinaryKind::Mul)?.cast(dtype)?;
        positions.write(&self.dst, &scaled.reshape(&[count, self.src.len])?)
    }
}

impl TirEvalRule for RmsNorm {
    /// A position normalises whole rows: those that it holds a part of.
    fn meaning<'c>(call: OpCall<'c, Self>) -> Result<Meaning, RuleError> {
        let [src, dst, weight] = Operand::all(call.view())?;
        let mut wanted = dst.held.clone();
        let length = wanted.extents().last().copied().unwrap_or(1);
        let row = vec![Factor { extent: length, step: 1, stride: 0, mesh_axis: None }];
        if let Some(last) = wanted.axes.last_mut() {
            last.clone_from(&row);
        }
        let weight = weight.access(&Held { axes: vec![row], mesh: wanted.mesh })?;
        let (src, dst) = (src.access(&wanted)?, dst.access(&wanted)?);
        Ok(Meaning::Effect(Team::Each, Box::new(Normalised { src, dst, weight, eps: call.eps() })))
    }
}

pub(crate) fn register(r: &mut DialectBuilder) {
    r.op::<RmsNorm>().verifies().means().done();
}

#[cfg(test)]
mod tests {
    use tf_core::Arena;
    use tf_types::{DType, Storage};

    use super::RmsNorm;
    use crate::test_util::{context, refusal, tensor};

    #[test]
    fn operands() {
        let arena = Arena::new();
        let cx = &context(&arena);
        let of = |src: &[i64], dst: &[i64], weight: &[i64], dtype| {
            let of = |shape, dtype| tensor(cx, shape, dtype, Storage::Gmem);
            refusal(cx, RmsNorm::new(cx, 1e-6), &[of(src, dtype), of(dst, dtype), of(weight, DType::F32)])
        };
        let bf16 = DType::BF16;
        assert_eq!(of(&[2, 8], &[2, 8], &[8], bf16), None);
        assert_eq!(
            of(&[2, 8], &[2, 8], &[4], bf16).unwrap(),
            "`T.rms_norm` normalises 8 elements, but the weight has 4"
        );
        assert_eq!(of(&[2, 8], &[2, 8], &[2, 8], bf16).unwrap(), "`T.rms_norm` takes a weight of rank 1, found rank 2");
        assert_eq!(of(&[], &[], &[8], bf16).unwrap(), "`T.rms_norm` takes rank 1 or more, found rank 0");
        assert!(of(&[2, 8], &[2, 4], &[8], bf16).unwrap().starts_with("`T.rms_norm` takes operands of one shape"));
        assert_eq!(of(&[8], &[8], &[8], DType::I32).unwrap(), "`T.rms_norm` takes floats, found i32");
    }
}
