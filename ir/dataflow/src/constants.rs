//! Constant propagation: which values are known before anything runs.

use std::sync::Arc;

use tf_core::node::GridRegion;
use tf_core::op::OpView;
use tf_core::{Callee, Context, Expr, ExprKind, NodeMap, NodeSet, PrimFunction, StmtKind, walk};
use tf_types::{Dim, Type};
use tf_value::{Tensor, Value, literal};

use crate::values::ValueFlow;
use crate::worklist::{ValueAnalysis, solve_values};

/// What is known of a value: [`Fact::Unknown`] is below, [`Fact::Varying`] above all others.
#[derive(Clone, Debug)]
pub enum Fact {
    /// Nothing has reached it.
    Unknown,
    /// Always this tensor.
    Constant(Arc<Tensor>),
    /// A tuple, and what is known of each field.
    Fields(Arc<[Fact]>),
    /// Not always the same, or too large to follow.
    Varying,
}

impl From<Value> for Fact {
    fn from(value: Value) -> Self {
        match value {
            Value::Tensor(tensor) => Self::Constant(Arc::new(tensor)),
            Value::Tuple(fields) => Self::Fields(fields.into_iter().map(Self::from).collect()),
        }
    }
}

impl Fact {
    /// The tensor that the value always is.
    #[must_use]
    pub fn tensor(&self) -> Option<&Tensor> {
        match self {
            Self::Constant(tensor) => Some(tensor),
            _ => None,
        }
    }

    /// The value, if all of it is known.
    #[must_use]
    pub fn value(&self) -> Option<Value> {
        match self {
            Self::Constant(tensor) => Some(Value::Tensor(Tensor::clone(tensor))),
            Self::Fields(fields) => Some(Value::Tuple(fields.iter().map(Self::value).collect::<Option<_>>()?)),
            Self::Unknown | Self::Varying => None,
        }
    }

    /// What is known of a field.
    #[must_use]
    pub fn field(&self, index: usize) -> Self {
        match self {
            Self::Fields(fields) => fields.get(index).cloned().unwrap_or(Self::Varying),
            Self::Unknown => Self::Unknown,
            Self::Constant(_) | Self::Varying => Self::Varying,
        }
    }

    /// The integer of a rank-0 constant.
    #[must_use]
    pub fn integer(&self) -> Option<i64> {
        self.tensor().filter(|tensor| tensor.rank() == 0)?.to_index().ok()
    }

    fn join(&mut self, other: &Self) -> bool {
        let joined = match (&*self, other) {
            (_, Self::Unknown) | (Self::Varying, _) => return false,
            (Self::Unknown, _) => other.clone(),
            (Self::Constant(a), Self::Constant(b)) if Arc::ptr_eq(a, b) || same_bits(a, b) => return false,
            (Self::Fields(a), Self::Fields(b)) if a.len() == b.len() => {
                let mut fields = a.to_vec();
                let changed = fields.iter_mut().zip(&**b).fold(false, |changed, (field, b)| field.join(b) | changed);
                if !changed {
                    return false;
                }
                Self::Fields(fields.into())
            }
            _ => Self::Varying,
        };
        *self = joined;
        true
    }
}

/// Whether two tensors are the same bit for bit: nan is itself, and `-0.0` is not `0.0`.
#[must_use]
pub fn same_bits(a: &Tensor, b: &Tensor) -> bool {
    a.dtype() == b.dtype() && a.shape() == b.shape() && a.to_le_bytes() == b.to_le_bytes()
}

/// What an op makes of what is known of its operands. It gives more for more, and [`Fact::Unknown`] only where an operand is that.
pub trait Fold<'c> {
    /// The fact of a call with a result of type `ty`.
    fn fold(&self, view: OpView<'c>, ty: Type<'c>, operands: &[Fact]) -> Fact;
}

/// How often a loop runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trips {
    /// Never.
    None,
    /// Once, for this index.
    One(i64),
    /// More than once.
    Several,
    /// That depends on the run.
    Unknown,
}

impl Trips {
    /// The trips of `range(start, stop, step)`. Bounds that are errors of a HIR loop are left to the run.
    #[must_use]
    pub fn of(start: Option<i64>, stop: Option<i64>, step: Option<i64>) -> Self {
        match (start, stop, step) {
            (Some(start @ 0..), Some(stop @ 0..), Some(step @ 1..)) => match start.checked_add(step) {
                _ if start >= stop => Self::None,
                Some(next) if next < stop => Self::Several,
                _ => Self::One(start),
            },
            _ => Self::Unknown,
        }
    }

    /// The trips of a loop of HIR.
    #[must_use]
    pub fn of_region<'c>(cx: &Context<'c>, region: &GridRegion<'c>) -> Self {
        let [start, stop, step] = [region.start, region.stop, region.step].map(|dim| known_dim(cx, dim));
        Self::of(start, stop, step)
    }
}

/// The one value of a dim, if it has no other.
#[must_use]
pub fn known_dim<'c>(cx: &Context<'c>, dim: Dim<'c>) -> Option<i64> {
    dim.as_const().or_else(|| cx.dim_range(dim).filter(|&(lo, hi)| hi.checked_sub(lo) == Some(1)).map(|(lo, _)| lo))
}

/// What is known of every value of a function, loop carries at their fixed point.
pub struct Constants<'c> {
    flow: ValueFlow<'c>,
    facts: Vec<Fact>,
}

struct Problem<'a, 'c, F> {
    cx: &'a Context<'c>,
    flow: &'a ValueFlow<'c>,
    fold: &'a F,
    /// Variables without inputs of which something is known.
    variables: NodeMap<Expr<'c>, Fact>,
    /// Carries of loops that run once or never: they keep their initial value.
    settled: NodeSet<Expr<'c>>,
    /// The variables of loops of TIR; their inputs are the bounds.
    loops: NodeSet<Expr<'c>>,
}

impl<'c, F: Fold<'c>> Problem<'_, 'c, F> {
    fn variable(&self, node: usize, facts: &[Fact]) -> Fact {
        let var = self.flow.expr(node);
        if let (true, &[start, stop, step]) = (self.loops.contains(&var), self.flow.inputs(node)) {
            let bounds = [start, stop, step].map(|bound| &facts[bound as usize]);
            if bounds.iter().any(|bound| matches!(bound, Fact::Unknown)) {
                return Fact::Unknown;
            }
            let [start, stop, step] = bounds.map(Fact::integer);
            return if let Trips::One(_) = Trips::of(start, stop, step) { bounds[0].clone() } else { Fact::Varying };
        }
        let inputs = match self.flow.inputs(node) {
            [] => return self.variables.get(&var).cloned().unwrap_or(Fact::Varying),
            [init, _] if self.settled.contains(&var) => std::slice::from_ref(init),
            inputs => inputs,
        };
        let mut fact = Fact::Unknown;
        for &input in inputs {
            fact.join(&facts[input as usize]);
        }
        fact
    }

    fn grid(&self, node: usize, region: &GridRegion<'c>, facts: &[Fact]) -> Fact {
        let inputs = self.flow.inputs(node);
        let (inits, rest) = inputs.split_at(region.inits.len());
        let (yields, body) = rest.split_at(region.yields.len());
        let trips = Trips::of_region(self.cx, region);
        let value = |at: usize| {
            let (init, next) = (&facts[inits[at] as usize], &facts[yields[at] as usize]);
            match trips {
                Trips::None => init.clone(),
                Trips::One(_) | Trips::Several => next.clone(),
                Trips::Unknown => {
                    let mut fact = init.clone();
                    fact.join(next);
                    fact
                }
            }
        };
        match (body, inits.len()) {
            // Without an iteration there is no value, and no run that sees one.
            (&[body], _) => facts[body as usize].clone(),
            (_, 1) => value(0),
            (_, count) => Fact::Fields((0..count).map(value).collect()),
        }
    }
}

impl<'c, F: Fold<'c>> ValueAnalysis for Problem<'_, 'c, F> {
    type Fact = Fact;

    fn bottom(&self) -> Fact {
        Fact::Unknown
    }

    fn join(&self, fact: &mut Fact, other: &Fact) -> bool {
        fact.join(other)
    }

    fn transfer(&self, node: usize, facts: &[Fact]) -> Fact {
        let expr = self.flow.expr(node);
        let operands =
            || -> Vec<Fact> { self.flow.inputs(node).iter().map(|&input| facts[input as usize].clone()).collect() };
        match expr.kind {
            ExprKind::Var { .. } => self.variable(node, facts),
            ExprKind::Constant(constant) => match expr.ty().as_tensor().map(|ty| literal(constant, ty.dtype)) {
                Some(Ok(tensor)) => Fact::Constant(Arc::new(tensor)),
                _ => Fact::Varying,
            },
            ExprKind::Tuple(_) => Fact::Fields(operands().into()),
            ExprKind::Call { callee: Callee::Op(op), args } => {
                self.fold.fold(OpView { op, args }, expr.ty(), &operands())
            }
            ExprKind::Grid(region) => self.grid(node, region, facts),
            ExprKind::ShapeOf { param, axis } => {
                let extent = param.ty().as_tensor().and_then(|ty| known_dim(self.cx, *ty.shape.get(axis as usize)?));
                let extent = extent.and_then(|extent| i32::try_from(extent).ok());
                extent.map_or(Fact::Varying, |extent| Fact::from(Value::from(Tensor::scalar(extent))))
            }
            ExprKind::Call { callee: Callee::Function(_), .. } | ExprKind::SymbolRef(_) => Fact::Varying,
        }
    }
}

impl<'c> Constants<'c> {
    /// Analyses these values of a HIR function. Parameters and calls of functions vary.
    #[must_use]
    pub fn of_values<F: Fold<'c>>(cx: &Context<'c>, roots: &[Expr<'c>], fold: &F) -> Self {
        let flow = ValueFlow::of_values(roots);
        let (mut variables, mut settled) = (NodeMap::<Expr<'c>, Fact>::default(), NodeSet::default());
        for node in 0..flow.len() {
            let ExprKind::Grid(region) = flow.expr(node).kind else { continue };
            let index = match Trips::of_region(cx, region) {
                Trips::One(index) => Fact::from(Value::from(Tensor::scalar(index))),
                _ => Fact::Varying,
            };
            if matches!(Trips::of_region(cx, region), Trips::One(_) | Trips::None) {
                settled.extend(region.carries.iter().copied());
            }
            variables.or_insert_with(region.induction, || Fact::Unknown).join(&index);
        }
        Self::solve(cx, flow, fold, variables, settled, NodeSet::default())
    }

    /// Analyses a TIR function. Parameters vary; buffers are not followed.
    #[must_use]
    pub fn of_statements<F: Fold<'c>>(cx: &Context<'c>, function: PrimFunction<'c>, fold: &F) -> Self {
        let flow = ValueFlow::of_statements(function);
        let mut loops = NodeSet::default();
        walk::walk_stmts(function.body, |stmt| {
            if let StmtKind::For { induction, .. } = stmt.kind {
                loops.insert(induction);
            }
        });
        Self::solve(cx, flow, fold, NodeMap::default(), NodeSet::default(), loops)
    }

    fn solve<F: Fold<'c>>(
        cx: &Context<'c>,
        flow: ValueFlow<'c>,
        fold: &F,
        variables: NodeMap<Expr<'c>, Fact>,
        settled: NodeSet<Expr<'c>>,
        loops: NodeSet<Expr<'c>>,
    ) -> Self {
        let facts = solve_values(&flow, &Problem { cx, flow: &flow, fold, variables, settled, loops });
        Self { flow, facts }
    }

    /// What is known of an expression of the function.
    #[must_use]
    pub fn fact(&self, expr: Expr<'c>) -> &Fact {
        self.flow.node(expr).map_or(&Fact::Varying, |node| &self.facts[node])
    }
}
