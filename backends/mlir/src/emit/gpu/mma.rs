//! `T.mma` without an atom: every position multiplies what it holds.
use crate::{
    MathBuilder, Target,
    emit::{
        V,
        gpu::{Buffer, KernelCx, memory::local_len},
        table::EmitEffect,
    },
};
use tf_core::{Diagnostic, Result, op::OpCall};
use tf_tir::{held::Held, nn::mma::Mma, tensor::reduce::accumulator};
use tf_types::{DType, kinds::BinaryKind};

/// Multiply-adds of one statement; all are unrolled.
const WORK_LIMIT: i64 = 1 << 16;

impl EmitEffect for Mma {
    const WRITES: &'static [usize] = &[0];

    fn emit<'a, 'c>(call: OpCall<'c, Self>, cx: &mut KernelCx<'a, 'c>) -> Result<()> {
        if let Some(atom) = call.atom() {
            return Err(Diagnostic::error(format!("the matrix instruction `{atom}` has no form in device code yet"))
                .with_help("leave the atom out: every thread multiplies what it holds"));
        }
        let (acc, lhs, rhs) = (cx.buffer(call.acc())?, cx.buffer(call.lhs())?, cx.buffer(call.rhs())?);
        let ([m, n], [_, lk], [rk, _]) = (&acc.held.axes[..], &lhs.held.axes[..], &rhs.held.axes[..]) else {
            return Err(Diagnostic::error("`T.mma` takes matrices"));
        };
        if lk.iter().chain(rk).any(|f| f.mesh_axis.is_some() && f.extent > 1) {
            return Err(Diagnostic::error("`T.mma` needs the whole of k at each position, but k is split")
                .with_help("reduce over the mesh axis after the product, or do not split k"));
        }
        let depth: i64 = lk.iter().map(|f| f.extent).product();
        let work = local_len(&acc.held)? as i64 * depth;
        if work > WORK_LIMIT {
            let message = format!("one position would run {work} multiply-adds in one `T.mma`, more than {WORK_LIMIT}");
            return Err(Diagnostic::error(message).with_help("loop over tiles of k"));
        }
        // What a position needs of the operands follows from the rows and columns of its accumulators.
        let lhs_wanted = Held { axes: vec![m.clone(), lk.clone()], mesh: acc.held.mesh };
        let rhs_wanted = Held { axes: vec![rk.clone(), n.clone()], mesh: acc.held.mesh };
        let a = widened(cx, &lhs, &lhs_wanted)?;
        let b = widened(cx, &rhs, &rhs_wanted)?;
        let wide = accumulator(acc.dtype);
        let scalars = cx.builder.scalars();
        let mut sums = cx.read(&acc, &acc.held)?;
        for sum in &mut sums {
            *sum = scalars.cast(acc.dtype, wide, *sum)?;
        }
        let columns = (local_len(&rhs_wanted)? as i64 / depth.max(1)).max(1);
        for k in 0..depth {
            for (at, sum) in sums.iter_mut().enumerate() {
                let (row, column) = (at as i64 / columns, at as i64 % columns);
                let (x, y) = (a[(row * depth + k) as usize], b[(k * columns + column) as usize]);
                *sum = multiply_add(cx, wide, x, y, *sum)?;
            }
        }
        for sum in &mut sums {
            *sum = scalars.cast(wide, acc.dtype, *sum)?;
        }
        let held = acc.held.clone();
        cx.write(&acc, &held, &sums)
    }
}

fn widened<'a, 'c>(cx: &mut KernelCx<'a, 'c>, operand: &Buffer<'a, 'c>, wanted: &Held<'c>) -> Result<Vec<V<'a>>> {
    let values = cx.read(operand, wanted)?;
    let scalars = cx.builder.scalars();
    let wide = accumulator(operand.dtype);
    Ok(values.into_iter().map(|v| scalars.cast(operand.dtype, wide, v)).collect::<Result<_, _>>()?)
}

fn multiply_add<'a>(cx: &KernelCx<'a, '_>, dtype: DType, x: V<'a>, y: V<'a>, sum: V<'a>) -> Result<V<'a>> {
    let builder = &cx.builder;
    if dtype == DType::F32 {
        let math = MathBuilder::new(builder.context(), &builder.block, builder.location, Target::Gpu);
        return Ok(math.fma(x, y, sum)?);
    }
    let scalars = builder.scalars();
    let product = scalars.binary(BinaryKind::Mul, dtype, x, y)?;
    Ok(scalars.binary(BinaryKind::Add, dtype, sum, product)?)
}
