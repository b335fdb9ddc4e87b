//! Structural hashes.

use std::fmt::Display;
use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};
use tf_types::Type;

use crate::node::{AnyFunction, Callee, Expr, ExprKind, Function, Literal, Module, Stmt, StmtKind, TirCallee};
use crate::op::OpInstance;
use crate::walk::{for_each_new, operands, stmt_exprs, walk_stmts};
use crate::{NodeMap, NodeSet, PrimFunction};

/// A hash of a module that does not depend on addresses: [`structurally_equal`](crate::equal::structurally_equal) modules
/// have the same one, also in different processes. Linear: every node is hashed once.
///
/// It says less than equality where that costs nothing: which of two variables of one name and type is meant, and whether
/// equal values are shared, does not enter.
#[must_use]
pub fn structural_hash(module: Module<'_>) -> u64 {
    let mut hasher = Structural::default();
    let mut state = FxHasher::default();
    for module in module.tree() {
        module.name.as_str().hash(&mut state);
        module.entry.map(|entry| entry.as_str()).hash(&mut state);
        (module.functions.len(), module.children.len(), module.methods.len()).hash(&mut state);
        for function in module.all_functions() {
            function.name().as_str().hash(&mut state);
            match function {
                AnyFunction::Hir(function) => {
                    function.with_parts().for_each(|part| hasher.function(part, &mut state));
                }
                AnyFunction::Tir(function) => hasher.prim_function(function, &mut state),
            }
        }
    }
    state.finish()
}

/// Hashes of what has been seen.
#[derive(Default)]
struct Structural<'c> {
    seen: NodeSet<Expr<'c>>,
    exprs: NodeMap<Expr<'c>, u64>,
    types: FxHashMap<Type<'c>, u64>,
    ops: FxHashMap<OpInstance<'c>, u64>,
}

fn hash_of(value: impl Hash) -> u64 {
    let mut state = FxHasher::default();
    value.hash(&mut state);
    state.finish()
}

fn hash_text(value: impl Display) -> u64 {
    hash_of(value.to_string())
}

impl<'c> Structural<'c> {
    fn function(&mut self, function: Function<'c>, state: &mut FxHasher) {
        self.seen = NodeSet::default();
        self.exprs.clear();
        self.list(function.params, state);
        self.ty(function.return_type).hash(state);
        if let Some(body) = function.body {
            self.expr(body).hash(state);
        }
    }

    fn prim_function(&mut self, function: PrimFunction<'c>, state: &mut FxHasher) {
        self.seen = NodeSet::default();
        self.exprs.clear();
        self.list(function.params, state);
        function.output_count.hash(state);
        walk_stmts(function.body, |stmt| self.stmt(stmt, state));
    }

    /// A statement without those inside.
    fn stmt(&mut self, stmt: Stmt<'c>, state: &mut FxHasher) {
        match stmt.kind {
            // How sequences nest does not count.
            StmtKind::Sequential(_) => return,
            StmtKind::Let { var, .. } => (1, self.expr(var)).hash(state),
            StmtKind::For { induction, .. } => (2, self.expr(induction)).hash(state),
            StmtKind::MeshScope { mesh, binding, .. } => (3, mesh.names.len(), binding.as_str()).hash(state),
            StmtKind::Evaluate { callee: TirCallee::Op(op), .. } => (4, self.op(op)).hash(state),
            StmtKind::Evaluate { callee: TirCallee::Symbol(name), .. } => (5, name.as_str()).hash(state),
            StmtKind::Evaluate { callee: TirCallee::Intrinsic(intrinsic), .. } => {
                (11, intrinsic.name.as_str(), intrinsic.source.as_str()).hash(state);
            }
            StmtKind::While { .. } => 6.hash(state),
            StmtKind::If { .. } => 7.hash(state),
            StmtKind::Dispatch { cases, .. } => (8, cases.len()).hash(state),
            StmtKind::Abort { .. } => 9.hash(state),
            StmtKind::Return => 10.hash(state),
        }
        stmt_exprs(stmt, |expr| self.expr(expr).hash(state));
    }

    fn list(&mut self, exprs: &[Expr<'c>], state: &mut FxHasher) {
        exprs.len().hash(state);
        for &expr in exprs {
            self.expr(expr).hash(state);
        }
    }

    fn ty(&mut self, ty: Type<'c>) -> u64 {
        *self.types.entry(ty).or_insert_with(|| hash_text(ty))
    }

    fn op(&mut self, op: OpInstance<'c>) -> u64 {
        *self.ops.entry(op).or_insert_with(|| hash_of(format!("{op:?}")))
    }

    fn expr(&mut self, root: Expr<'c>) -> u64 {
        let mut seen = std::mem::take(&mut self.seen);
        for_each_new(&mut seen, &[root], |expr| {
            let hash = self.node(expr);
            self.exprs.insert(expr, hash);
        });
        self.seen = seen;
        self.exprs[&root]
    }

    /// A node whose operands have been hashed.
    fn node(&mut self, expr: Expr<'c>) -> u64 {
        let mut state = FxHasher::default();
        self.ty(expr.ty()).hash(&mut state);
        match expr.kind {
            ExprKind::Var { name, is_const } => (1, name.as_str(), is_const).hash(&mut state),
            ExprKind::Constant(Literal::Bool(value)) => (2, value).hash(&mut state),
            ExprKind::Constant(Literal::Int(value)) => (3, value).hash(&mut state),
            ExprKind::Constant(Literal::Float(value)) => (4, value.to_bits()).hash(&mut state),
            ExprKind::Tuple(parts) => (5, parts.len()).hash(&mut state),
            ExprKind::Call { callee: Callee::Op(op), .. } => (6, self.op(op)).hash(&mut state),
            ExprKind::Call { callee: Callee::Function(f), .. } => (7, f.name.as_str()).hash(&mut state),
            ExprKind::Grid(region) => {
                let bounds = [region.start, region.stop, region.step].map(hash_text);
                (8, bounds, region.carries.len()).hash(&mut state);
            }
            ExprKind::SymbolRef(name) => (9, name.as_str()).hash(&mut state),
            ExprKind::ShapeOf { axis, .. } => (10, axis).hash(&mut state),
        }
        operands(expr, |operand| self.exprs.get(&operand).hash(&mut state));
        state.finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tf_types::DType;

    use super::structural_hash;
    use crate::equal::structurally_equal;
    use crate::node::{AnyFunction, ExprKind, FunctionData, Literal, Meta, ModuleData};
    use crate::op::OpRegistryBuilder;
    use crate::{Arena, Context, Module};

    fn module<'c>(cx: &Context<'c>, name: &str, value: i64) -> Module<'c> {
        let x = cx.var(cx.symbol(name), cx.scalar(DType::I64), Meta::default());
        let literal = cx.constant(Literal::Int(value), DType::I64, Meta::default());
        let kind = ExprKind::Tuple(cx.alloc_slice(&[x, literal]));
        let body = cx.expr(kind, cx.tuple(&[x.ty(), literal.ty()]), Meta::default());
        let function = cx.function(FunctionData::new(cx.symbol("f"), cx.alloc_slice(&[x]), body, body.ty()));
        let functions = cx.alloc_slice(&[AnyFunction::Hir(function)]);
        cx.module(ModuleData { functions, ..ModuleData::new(cx.symbol("m")) })
    }

    #[test]
    fn equal_modules_have_one_hash_in_any_context() {
        let (first, second) = (Arena::new(), Arena::new());
        let context = |arena| Context::new(arena, Arc::new(OpRegistryBuilder::default().freeze().expect("empty")));
        let (a, b) = (context(&first), context(&second));
        let hash = structural_hash(module(&a, "x", 1));
        assert!(structurally_equal(module(&a, "x", 1), module(&a, "x", 1)));
        assert_eq!(hash, structural_hash(module(&a, "x", 1)));
        // Other names first, so that symbols and types of the second context lie elsewhere.
        let _ = module(&b, "other", 7);
        assert_eq!(hash, structural_hash(module(&b, "x", 1)));
        for (name, value) in [("y", 1), ("x", 2)] {
            assert_ne!(hash, structural_hash(module(&a, name, value)));
        }
    }
}
