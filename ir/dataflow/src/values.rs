//! Where values come from: operands, and what variables are bound to.

use tf_core::walk::{operands, post_order, stmt_exprs, walk_stmts};
use tf_core::{Expr, ExprKind, NodeMap, NodeSet, PrimFunction, StmtKind};

/// The expressions of a function as numbers, inputs first, and for each the expressions that its value follows from.
///
/// Those of a call, a tuple or a loop are its operands; of a loop's carry the initial value and the yield; of a variable that a
/// `let` binds the bound value, of that of a loop of TIR start, stop and step. Only carries have inputs with larger numbers.
pub struct ValueFlow<'c> {
    order: Vec<Expr<'c>>,
    index: NodeMap<Expr<'c>, u32>,
    inputs: Lists,
    users: Lists,
}

/// Lists of numbers, one after the other.
struct Lists {
    ends: Vec<u32>,
    items: Vec<u32>,
}

impl Lists {
    fn get(&self, at: usize) -> &[u32] {
        let first = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.items[first as usize..self.ends[at] as usize]
    }

    /// For every number the lists that it is in.
    fn inverted(&self) -> Self {
        let count = self.ends.len();
        let mut ends = vec![0; count + 1];
        self.items.iter().for_each(|&item| ends[item as usize + 1] += 1);
        for at in 0..count {
            ends[at + 1] += ends[at];
        }
        let mut items = vec![0; self.items.len()];
        for at in 0..count {
            for &item in self.get(at) {
                items[ends[item as usize] as usize] = at as u32;
                ends[item as usize] += 1;
            }
        }
        ends.pop();
        Self { ends, items }
    }
}

impl<'c> ValueFlow<'c> {
    /// These values of a HIR function, and those that they follow from.
    #[must_use]
    pub fn of_values(roots: &[Expr<'c>]) -> Self {
        let mut order = post_order(roots);
        let mut bound: NodeMap<Expr<'c>, Vec<Expr<'c>>> = NodeMap::default();
        let mut loops = Vec::new();
        for &expr in &order {
            let ExprKind::Grid(region) = expr.kind else { continue };
            loops.push(region);
            for ((&carry, &init), &next) in region.carries.iter().zip(region.inits).zip(region.yields) {
                bound.or_insert_with(carry, Vec::new).extend([init, next]);
            }
        }
        if !loops.is_empty() {
            // A variable that its loop does not use has a value all the same.
            let seen: NodeSet<_> = order.iter().copied().collect();
            let variables = loops.iter().flat_map(|region| region.carries.iter().chain([&region.induction]));
            order.extend(variables.filter(|variable| !seen.contains(*variable)));
        }
        Self::new(order, &bound)
    }

    /// The values in the statements of a TIR function.
    #[must_use]
    pub fn of_statements(function: PrimFunction<'c>) -> Self {
        let (mut roots, mut bound) = (Vec::new(), NodeMap::<Expr<'c>, Vec<Expr<'c>>>::default());
        walk_stmts(function.body, |stmt| {
            stmt_exprs(stmt, |expr| roots.push(expr));
            let (var, values) = match stmt.kind {
                StmtKind::Let { var, value, .. } => (var, &[value][..]),
                StmtKind::For { induction, start, stop, step, .. } => (induction, &[start, stop, step][..]),
                _ => return,
            };
            bound.or_insert_with(var, Vec::new).extend(values);
            roots.push(var);
        });
        Self::new(post_order(&roots), &bound)
    }

    fn new(order: Vec<Expr<'c>>, bound: &NodeMap<Expr<'c>, Vec<Expr<'c>>>) -> Self {
        let index: NodeMap<_, _> = order.iter().copied().zip(0..).collect();
        let mut inputs = Lists { ends: Vec::with_capacity(order.len()), items: Vec::with_capacity(2 * order.len()) };
        for &expr in &order {
            operands(expr, |operand| inputs.items.push(index[&operand]));
            if let (ExprKind::Var { .. }, false) = (expr.kind, bound.is_empty()) {
                inputs.items.extend(bound.get(&expr).into_iter().flatten().map(|value| index[value]));
            }
            inputs.ends.push(inputs.items.len() as u32);
        }
        let users = inputs.inverted();
        Self { order, index, inputs, users }
    }

    /// How many expressions there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// The expression of a number.
    #[must_use]
    pub fn expr(&self, node: usize) -> Expr<'c> {
        self.order[node]
    }

    /// The number of an expression.
    #[must_use]
    pub fn node(&self, expr: Expr<'c>) -> Option<usize> {
        self.index.get(&expr).map(|&at| at as usize)
    }

    /// What a value follows from, in order and with repetitions.
    #[must_use]
    pub fn inputs(&self, node: usize) -> &[u32] {
        self.inputs.get(node)
    }

    /// What follows from a value, once for each use.
    #[must_use]
    pub fn users(&self, node: usize) -> &[u32] {
        self.users.get(node)
    }
}
