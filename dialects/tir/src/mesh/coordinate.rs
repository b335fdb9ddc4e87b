//! `T.coordinate`

use tf_core::op::attr::MeshAttr;
use tf_core::op::{OpCall, RuleError, TypeRule};
use tf_core::{Context, op};
use tf_types::{DType, Type};
use tf_value::rule::DialectBuilder;
use tf_value::tir::{Meaning, TirEvalRule};

use super::positions;

/// Where this position is along one axis of an open mesh, from 0 on; of a slice `m[…]`, from the slice's start on.
///
/// ```python
/// def f(out: Tensor[(4, 6), "f32"]):
///     with Mesh((Topology("thread", 64),), (2, 32), ("warp", "lane")) as m:
///         if m.warp == 0:
///             T.fill(out, 0.5)
/// ```
#[op(dialect = "T", category = "mesh")]
pub struct Coordinate {
    /// An open mesh.
    mesh: MeshAttr,
    /// A mesh axis.
    axis: i64,
}

impl TypeRule for Coordinate {
    fn infer<'c>(call: OpCall<'c, Self>, cx: &Context<'c>) -> Result<Type<'c>, RuleError> {
        let rank = call.mesh().rank() as i64;
        if (0..rank).contains(&call.axis()) {
            return Ok(cx.umat_scalar(DType::I64));
        }
        Err(RuleError::new(format!("`T.coordinate` along axis {} of a mesh of {rank} axes", call.axis())))
    }
}

impl TirEvalRule for Coordinate {
    fn meaning<'c>(call: OpCall<'c, Self>) -> Result<Meaning, RuleError> {
        let axis = usize::try_from(call.axis()).unwrap_or(usize::MAX);
        Ok(Meaning::Coordinate(positions::place(call.mesh(), axis)?))
    }
}

pub(crate) fn register(r: &mut DialectBuilder) {
    r.op::<Coordinate>().types().means().done();
}

#[cfg(test)]
mod tests {
    use tf_core::{Arena, Meta};
    use tf_types::DType;

    use super::Coordinate;
    use crate::test_util::{context, threads};

    #[test]
    fn along_an_axis() {
        let arena = Arena::new();
        let cx = &context(&arena);
        let mesh = threads(cx, &[6, 32]);
        let of = |axis| cx.call(Coordinate::new(cx, mesh, axis), &[], Meta::default()).map(|expr| expr.ty());
        assert_eq!(of(1), Ok(cx.umat_scalar(DType::I64)));
        assert_eq!(of(2).unwrap_err().message, "`T.coordinate` along axis 2 of a mesh of 2 axes");
    }
}
