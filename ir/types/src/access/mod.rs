//! Access relations: which operand axes a result element reads (spec: shard §10).

/// How one operand or result axis depends on the iteration domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AxisAccess {
    /// Exactly this domain dim: coefficient 1, no offset.
    Proj(usize),
    /// Always position 0.
    Const,
    /// Anything else; the domain dims that take part.
    Complex(Vec<usize>),
}

/// The relation of one call: per operand and for the result, one access an axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessRelation {
    /// Number of domain dims.
    pub domain_rank: usize,
    /// One list an operand, in logical axes.
    pub operands: Vec<Vec<AxisAccess>>,
    /// The result's axes.
    pub result: Vec<AxisAccess>,
}
