//! `T.sync`

use tf_core::op::attr::MeshAttr;
use tf_core::op::{OpCall, RuleError, VerifyRule};
use tf_core::{Context, op};
use tf_value::rule::DialectBuilder;

/// A barrier: every position of `mesh` arrives before one goes on, and sees what the others wrote.
#[op(dialect = "T", category = "sync", effect)]
pub struct Sync {
    /// The positions that take part.
    mesh: MeshAttr,
}

impl VerifyRule for Sync {
    fn verify<'c>(call: OpCall<'c, Self>, _: &Context<'c>) -> Result<(), RuleError> {
        let grid = call.mesh().topologies.iter().all(|t| t.name.as_str() == "cta");
        if grid {
            return Err(RuleError::new("`T.sync` of a mesh of CTAs is a grid barrier, which is not built yet")
                .with_help("synchronise the threads of one CTA"));
        }
        Ok(())
    }
}

pub(crate) fn register(r: &mut DialectBuilder) {
    r.op::<Sync>().verifies().done();
}
