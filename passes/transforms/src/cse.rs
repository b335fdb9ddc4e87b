//! `cse`: one expression for equal ones.

use std::hash::{Hash, Hasher};

use hashbrown::HashTable;
use rustc_hash::FxHasher;
use tf_core::node::{FunctionData, GridRegion, PrimFunctionData};
use tf_core::visit::{Cloning, ExprCloner, StmtMutator, clone_expr, rewrite_stmt_exprs};
use tf_core::walk::operands;
use tf_core::{AnyFunction, Callee, Expr, ExprKind, Function, Literal, Node, NodeMap, PrimFunction, Result};
use tf_framework::{AnyFunctionPass, Counter, FunctionCx, Pass, RemarkKind};

/// Computes equal values once: the same op with the same attributes on the same operands, equal literals, tuples, and calls of one function.
///
/// The value that comes first stays, with its name and place; one with a schedule constraint stays by itself. A loop is equal to
/// no other, since its variables are its own. HIR is pure, so where a value stands does not matter: an expression belongs to the innermost
/// loop that it depends on. In statements only what reads no memory is shared.
#[derive(Clone, Pass)]
#[pass(name = "cse")]
pub struct CommonSubexpressions {
    #[statistic("values merged")]
    merged: Counter,
}

struct Merge<'a, 'c> {
    pass: &'a CommonSubexpressions,
    cx: &'a FunctionCx<'a, 'c>,
    seen: Seen<'c>,
}

/// Of one operand so many users are looked through one by one.
const NEAR: u32 = 8;

/// What has been seen, by structure over operands that have been merged themselves.
///
/// Equal expressions have equal operands, so an expression is kept with the one of its operands that was made last. That one has few
/// users as a rule, and lies in the caches, where a table of a million expressions does not: what has no operands, and what is
/// kept with an operand of many users, is in a table.
#[derive(Default)]
struct Seen<'c> {
    /// The place in `users` of the newest user that is kept with an operand.
    newest: NodeMap<Expr<'c>, u32>,
    users: Vec<User<'c>>,
    others: HashTable<(u64, Expr<'c>)>,
}

#[derive(Clone, Copy)]
struct User<'c> {
    expr: Expr<'c>,
    /// How many are kept with the operand, this one included.
    count: u32,
    /// The place of the one before, if `count` is more than one.
    older: u32,
}

/// What equal expressions have in common.
#[derive(Clone, Copy)]
enum Place<'c> {
    /// With this operand.
    With(Expr<'c>),
    /// In the table.
    Alone,
}

fn place(expr: Expr<'_>) -> Option<Place<'_>> {
    if let ExprKind::Var { .. } | ExprKind::Grid(_) | ExprKind::SymbolRef(_) = expr.kind {
        return None;
    }
    let mut last: Option<Expr<'_>> = None;
    operands(expr, |operand| {
        // Any order of operands would do: equal expressions agree on it.
        if last.is_none_or(|last| last.address() < operand.address()) {
            last = Some(operand);
        }
    });
    Some(last.map_or(Place::Alone, Place::With))
}

fn hash(expr: Expr<'_>) -> u64 {
    let mut state = FxHasher::default();
    match expr.kind {
        ExprKind::Call { callee, .. } => callee.hash(&mut state),
        ExprKind::Constant(Literal::Bool(value)) => (1, value).hash(&mut state),
        ExprKind::Constant(Literal::Int(value)) => (2, value).hash(&mut state),
        ExprKind::Constant(Literal::Float(value)) => (3, value.to_bits()).hash(&mut state),
        ExprKind::Tuple(_) => 4.hash(&mut state),
        ExprKind::ShapeOf { axis, .. } => (5, axis).hash(&mut state),
        ExprKind::Var { .. } | ExprKind::Grid(_) | ExprKind::SymbolRef(_) => {}
    }
    expr.ty().hash(&mut state);
    operands(expr, |operand| operand.hash(&mut state));
    state.finish()
}

/// Whether two expressions say the same, operands by identity.
fn same(a: Expr<'_>, b: Expr<'_>) -> bool {
    a.ty() == b.ty()
        && match (a.kind, b.kind) {
            (ExprKind::Call { callee: f, args: x }, ExprKind::Call { callee: g, args: y }) => f == g && x == y,
            (ExprKind::Constant(x), ExprKind::Constant(y)) => x == y,
            (ExprKind::Tuple(x), ExprKind::Tuple(y)) => x == y,
            (ExprKind::ShapeOf { param: x, axis: i }, ExprKind::ShapeOf { param: y, axis: j }) => x == y && i == j,
            _ => false,
        }
}

impl<'c> Seen<'c> {
    /// The first expression that says the same; from now on this one, if there is none.
    fn first(&mut self, expr: Expr<'c>, place: Place<'c>) -> Expr<'c> {
        if let Place::With(operand) = place {
            let newest = self.newest.get(&operand).copied();
            let count = newest.map_or(0, |at| self.users[at as usize].count);
            let mut at = newest;
            while let Some(user) = at.map(|at| self.users[at as usize]) {
                if same(user.expr, expr) {
                    return user.expr;
                }
                at = (user.count > 1).then_some(user.older);
            }
            if count < NEAR
                && let Ok(at) = u32::try_from(self.users.len())
            {
                self.users.push(User { expr, count: count + 1, older: newest.unwrap_or_default() });
                self.newest.insert(operand, at);
                return expr;
            }
        }
        let hash = hash(expr);
        if let Some(&(_, first)) = self.others.find(hash, |&(_, first)| same(first, expr)) {
            return first;
        }
        self.others.insert_unique(hash, (hash, expr), |&(hash, _)| hash);
        expr
    }
}

impl<'c> Merge<'_, 'c> {
    fn merged(&mut self, expr: Expr<'c>) -> Expr<'c> {
        let Some(place) = place(expr).filter(|_| expr.meta.constraint.is_none()) else { return expr };
        let first = self.seen.first(expr, place);
        if first != expr {
            self.pass.merged.add(1);
            self.cx.remark(RemarkKind::Applied, expr.span(), || format!("{} is {}", expr.describe(), first.describe()));
        }
        first
    }
}

impl<'c> ExprCloner<'c> for Merge<'_, 'c> {
    /// Types stay.
    fn bind(&mut self, _: &GridRegion<'c>, _: &mut Cloning<'_, 'c>) -> Result<()> {
        Ok(())
    }

    fn default_clone(&mut self, expr: Expr<'c>, clone: &mut Cloning<'_, 'c>) -> Result<Expr<'c>> {
        let rebuilt = clone.rebuild(expr)?;
        Ok(self.merged(rebuilt))
    }
}

/// As [`Merge`], of what reads no memory: literals, extents, and arithmetic on scalars that live in none.
struct MergeScalars<'a, 'c>(Merge<'a, 'c>);

fn reads_memory(expr: Expr<'_>) -> bool {
    let in_memory = |expr: Expr<'_>| {
        !matches!(expr.kind, ExprKind::ShapeOf { .. })
            && expr.ty().as_tensor().is_none_or(|ty| ty.rank() > 0 || ty.storage != tf_types::Storage::Umat)
    };
    let mut reads = match expr.kind {
        // An extent is a property of its parameter.
        ExprKind::ShapeOf { .. } => return false,
        ExprKind::Call { callee: Callee::Op(op), .. } => op.decl.name.dialect != "dim",
        ExprKind::Constant(_) => false,
        _ => true,
    };
    operands(expr, |operand| reads |= in_memory(operand));
    reads
}

impl<'c> ExprCloner<'c> for MergeScalars<'_, 'c> {
    fn default_clone(&mut self, expr: Expr<'c>, clone: &mut Cloning<'_, 'c>) -> Result<Expr<'c>> {
        let rebuilt = clone.rebuild(expr)?;
        Ok(if reads_memory(rebuilt) { rebuilt } else { self.0.merged(rebuilt) })
    }
}

impl<'c> StmtMutator<'c> for MergeScalars<'_, 'c> {}

impl AnyFunctionPass for CommonSubexpressions {
    fn run<'c>(&self, function: AnyFunction<'c>, cx: &FunctionCx<'_, 'c>) -> Result<AnyFunction<'c>> {
        let merge = Merge { pass: self, cx, seen: Seen::default() };
        match function {
            AnyFunction::Hir(function) => value(function, cx, merge).map(AnyFunction::Hir),
            AnyFunction::Tir(function) => statements(function, cx, merge).map(AnyFunction::Tir),
        }
    }
}

fn value<'c>(function: Function<'c>, cx: &FunctionCx<'_, 'c>, mut merge: Merge<'_, 'c>) -> Result<Function<'c>> {
    let Some(old) = function.body else { return Ok(function) };
    let body = clone_expr(cx.context(), old, &mut merge)?;
    Ok(if body == old { function } else { cx.function(FunctionData { body: Some(body), ..*function }) })
}

fn statements<'c>(
    function: PrimFunction<'c>,
    cx: &FunctionCx<'_, 'c>,
    merge: Merge<'_, 'c>,
) -> Result<PrimFunction<'c>> {
    let body = rewrite_stmt_exprs(&mut MergeScalars(merge), function.body, cx.context())?;
    Ok(if body == function.body { function } else { cx.prim_function(PrimFunctionData { body, ..*function.data() }) })
}
