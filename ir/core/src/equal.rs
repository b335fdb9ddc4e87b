//! Structural equality.

use rustc_hash::FxHashMap;

use crate::node::{
    AnyFunction, Callee, Child, Expr, ExprKind, Function, FunctionData, GridRegion, Module, ModuleData, PrimFunction,
    PrimFunctionData, Stmt, StmtKind,
};
use crate::walk::{operands, stmt_exprs};

/// Whether two modules of one context (or its forks) are the same up to the identity of nodes.
///
/// Names, types, attributes, order and the sharing of values count; metadata of nodes, labels and origins of functions, how
/// sequences nest, and the identity of constants, extents and symbols do not, nor the sharing of values between functions.
/// Linear: every node is compared once.
#[must_use]
pub fn structurally_equal(a: Module<'_>, b: Module<'_>) -> bool {
    let (a, b) = (a.tree(), b.tree());
    let mut matcher = Matcher::default();
    a.len() == b.len() && a.into_iter().zip(b).all(|(a, b)| matcher.modules(a, b))
}

/// A one-to-one relation of functions and of the nodes of the current one.
#[derive(Default)]
struct Matcher<'c> {
    exprs: FxHashMap<Expr<'c>, Expr<'c>>,
    inverse: FxHashMap<Expr<'c>, Expr<'c>>,
    functions: FxHashMap<Function<'c>, Function<'c>>,
    function_inverse: FxHashMap<Function<'c>, Function<'c>>,
    stack: Vec<(Expr<'c>, Expr<'c>)>,
    /// Called functions whose bodies are still to be compared.
    callees: Vec<(Function<'c>, Function<'c>)>,
}

impl<'c> Matcher<'c> {
    /// Compares two modules without those below.
    fn modules(&mut self, a: Module<'c>, b: Module<'c>) -> bool {
        let same_child = |(a, b): (&Child<'c>, &Child<'c>)| {
            let same_form = matches!(a, Child::One(_)) == matches!(b, Child::One(_));
            same_form && a.name() == b.name() && a.modules().len() == b.modules().len()
        };
        // Every field is named, so that a new one is not forgotten.
        let ModuleData {
            name,
            functions,
            instances,
            children,
            methods,
            metadata,
            entry,
            target,
            topologies,
            span: _,
            header: _,
        } = *a.data();
        let same_head = name == b.name
            && entry == b.entry
            && target == b.target
            && topologies == b.topologies
            && metadata == b.metadata
            && functions.len() == b.functions.len()
            && instances.len() == b.instances.len()
            && children.len() == b.children.len()
            && methods.len() == b.methods.len()
            && children.iter().zip(b.children).all(same_child)
            && methods.iter().zip(b.methods).all(|(a, b)| a.same(*b));
        same_head
            && a.all_functions().zip(b.all_functions()).all(|(a, b)| match (a, b) {
                (AnyFunction::Hir(a), AnyFunction::Hir(b)) => self.functions(a, b),
                (AnyFunction::Tir(a), AnyFunction::Tir(b)) => self.prim_functions(a, b),
                _ => false,
            })
    }

    fn functions(&mut self, a: Function<'c>, b: Function<'c>) -> bool {
        if !self.meet(a, b) {
            return false;
        }
        while let Some((a, b)) = self.callees.pop() {
            // No value belongs to two functions.
            self.exprs.clear();
            self.inverse.clear();
            let FunctionData {
                name,
                params,
                body,
                return_type,
                specializations,
                variants,
                converters,
                label: _,
                doc: _,
                origin: _,
                span: _,
            } = *a.data();
            let same = name == b.name
                && return_type == b.return_type
                && specializations == b.specializations
                && variants.len() == b.variants.len()
                && converters.len() == b.converters.len()
                && converters.iter().zip(b.converters).all(|(a, b)| a.weight == b.weight)
                && self.all(params, b.params);
            let same_value = match (body, b.body) {
                (Some(a), Some(b)) => same && self.expr(a, b),
                (None, None) => same,
                _ => false,
            };
            if !same_value || !a.with_parts().zip(b.with_parts()).all(|(a, b)| self.meet(a, b)) {
                return false;
            }
        }
        true
    }

    /// Relates two functions; their bodies are compared later, once.
    fn meet(&mut self, a: Function<'c>, b: Function<'c>) -> bool {
        match (self.functions.get(&a), self.function_inverse.get(&b)) {
            (Some(&other), _) => other == b,
            (None, Some(_)) => false,
            (None, None) => {
                self.functions.insert(a, b);
                self.function_inverse.insert(b, a);
                self.callees.push((a, b));
                true
            }
        }
    }

    fn prim_functions(&mut self, a: PrimFunction<'c>, b: PrimFunction<'c>) -> bool {
        self.exprs.clear();
        self.inverse.clear();
        let PrimFunctionData { name, params, body, output_count, target, doc: _, span: _ } = *a.data();
        name == b.name
            && output_count == b.output_count
            && target == b.target
            && self.all(params, b.params)
            && self.stmts(body, b.body)
    }

    fn all(&mut self, a: &[Expr<'c>], b: &[Expr<'c>]) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(&a, &b)| self.expr(a, b))
    }

    fn expr(&mut self, a: Expr<'c>, b: Expr<'c>) -> bool {
        self.stack.clear();
        self.stack.push((a, b));
        while let Some((a, b)) = self.stack.pop() {
            if !self.node(a, b) {
                return false;
            }
        }
        true
    }

    /// Compares two nodes and leaves their operands on the stack.
    fn node(&mut self, a: Expr<'c>, b: Expr<'c>) -> bool {
        if a.ty() != b.ty() {
            return false;
        }
        match (a.kind, b.kind) {
            (ExprKind::Constant(a), ExprKind::Constant(b)) => return a == b,
            (ExprKind::SymbolRef(a), ExprKind::SymbolRef(b)) => return a == b,
            (ExprKind::ShapeOf { param: x, axis: i }, ExprKind::ShapeOf { param: y, axis: j }) => {
                self.stack.push((x, y));
                return i == j;
            }
            _ => {}
        }
        match (self.exprs.get(&a), self.inverse.get(&b)) {
            (Some(&other), _) => return other == b,
            (None, Some(_)) => return false,
            (None, None) => {}
        }
        self.exprs.insert(a, b);
        self.inverse.insert(b, a);
        let same = match (a.kind, b.kind) {
            (ExprKind::Var { name: x, is_const: c }, ExprKind::Var { name: y, is_const: d }) => x == y && c == d,
            (ExprKind::Tuple(x), ExprKind::Tuple(y)) => x.len() == y.len(),
            (ExprKind::Call { callee: f, args: x }, ExprKind::Call { callee: g, args: y }) => {
                let same = match (f, g) {
                    (Callee::Op(f), Callee::Op(g)) => f == g,
                    (Callee::Function(f), Callee::Function(g)) => self.meet(f, g),
                    _ => false,
                };
                same && x.len() == y.len()
            }
            (ExprKind::Grid(x), ExprKind::Grid(y)) => {
                let GridRegion { induction, carries, inits, yields, body, start, stop, step } = *x;
                let same = (start, stop, step) == (y.start, y.stop, y.step)
                    && carries.len() == y.carries.len()
                    && inits.len() == y.inits.len()
                    && yields.len() == y.yields.len()
                    && body.is_some() == y.body.is_some();
                self.stack.push((induction, y.induction));
                self.stack.extend(carries.iter().copied().zip(y.carries.iter().copied()));
                same
            }
            _ => false,
        };
        if same {
            let first = self.stack.len();
            operands(a, |operand| self.stack.push((operand, operand)));
            let mut at = first;
            operands(b, |operand| {
                self.stack[at].1 = operand;
                at += 1;
            });
        }
        same
    }

    fn stmts(&mut self, a: Stmt<'c>, b: Stmt<'c>) -> bool {
        let (mut a, mut b) = (Flat::new(a), Flat::new(b));
        loop {
            let same = match (a.next(), b.next()) {
                (None, None) => return true,
                (Some(Event::End), Some(Event::End)) => true,
                (Some(Event::Stmt(a)), Some(Event::Stmt(b))) => self.stmt(a, b),
                _ => false,
            };
            if !same {
                return false;
            }
        }
    }

    /// Compares two statements without those inside.
    fn stmt(&mut self, a: Stmt<'c>, b: Stmt<'c>) -> bool {
        let same = match (a.kind, b.kind) {
            (StmtKind::Let { var: x, .. }, StmtKind::Let { var: y, .. }) => self.expr(x, y),
            (StmtKind::For { induction: x, .. }, StmtKind::For { induction: y, .. }) => self.expr(x, y),
            (StmtKind::MeshScope { mesh: m, binding: x, .. }, StmtKind::MeshScope { mesh: n, binding: y, .. }) => {
                m == n && x == y
            }
            (StmtKind::Evaluate { callee: f, .. }, StmtKind::Evaluate { callee: g, .. }) => f == g,
            (StmtKind::Dispatch { callee: f, cases: x, .. }, StmtKind::Dispatch { callee: g, cases: y, .. }) => {
                f == g && x.len() == y.len() && x.iter().zip(y).all(|(x, y)| x.pattern == y.pattern)
            }
            (StmtKind::Abort { message: x }, StmtKind::Abort { message: y }) => x == y,
            (StmtKind::While { .. }, StmtKind::While { .. })
            | (StmtKind::If { .. }, StmtKind::If { .. })
            | (StmtKind::Return, StmtKind::Return) => true,
            _ => false,
        };
        let (mut x, mut y) = (Vec::new(), Vec::new());
        stmt_exprs(a, |e| x.push(e));
        stmt_exprs(b, |e| y.push(e));
        same && self.all(&x, &y)
    }
}

/// Statements in textual order: sequences are not seen, the rest of a block follows its `Let`.
struct Flat<'c> {
    stack: Vec<Event<'c>>,
}

#[derive(Clone, Copy)]
enum Event<'c> {
    Stmt(Stmt<'c>),
    /// The end of a block.
    End,
}

impl<'c> Flat<'c> {
    fn new(root: Stmt<'c>) -> Self {
        Self { stack: vec![Event::Stmt(root)] }
    }
}

impl<'c> Iterator for Flat<'c> {
    type Item = Event<'c>;

    fn next(&mut self) -> Option<Event<'c>> {
        loop {
            let event = self.stack.pop()?;
            let Event::Stmt(stmt) = event else { return Some(event) };
            match stmt.kind {
                StmtKind::Sequential(body) => {
                    self.stack.extend(body.iter().rev().map(|&s| Event::Stmt(s)));
                    continue;
                }
                StmtKind::Let { body, .. } => self.stack.push(Event::Stmt(body)),
                StmtKind::For { body, .. } | StmtKind::While { body, .. } | StmtKind::MeshScope { body, .. } => {
                    self.stack.extend([Event::End, Event::Stmt(body)]);
                }
                StmtKind::If { then_body, else_body, .. } => {
                    let branches = [Event::End, Event::Stmt(else_body), Event::End, Event::Stmt(then_body)];
                    self.stack.extend(branches);
                }
                StmtKind::Dispatch { cases, fallback, .. } => {
                    self.stack.extend([Event::End, Event::Stmt(fallback)]);
                    self.stack.extend(cases.iter().rev().map(|case| Event::Stmt(case.call)));
                }
                StmtKind::Evaluate { .. } | StmtKind::Abort { .. } | StmtKind::Return => {}
            }
            return Some(event);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tf_types::DType;

    use super::structurally_equal;
    use crate::node::{AnyFunction, ExprKind, FunctionData, Literal, Meta, ModuleData};
    use crate::op::OpRegistryBuilder;
    use crate::{Arena, Context, Expr, Module};

    fn tuple<'c>(cx: &Context<'c>, parts: &[Expr<'c>]) -> Expr<'c> {
        let types: Vec<_> = parts.iter().map(|p| p.ty()).collect();
        cx.expr(ExprKind::Tuple(cx.alloc_slice(parts)), cx.tuple(&types), Meta::default())
    }

    fn module<'c>(cx: &Context<'c>, param: &str, body: impl FnOnce(Expr<'c>) -> Expr<'c>) -> Module<'c> {
        let param = cx.var(cx.symbol(param), cx.scalar(DType::I64), Meta::default());
        let body = body(param);
        let name = cx.symbol("f");
        let params = cx.alloc_slice(&[param]);
        let function = cx.function(FunctionData::new(name, params, body, body.ty()));
        let functions = cx.alloc_slice(&[AnyFunction::Hir(function)]);
        cx.module(ModuleData { functions, ..ModuleData::new(name) })
    }

    #[test]
    fn names_literals_and_sharing_count() {
        let arena = Arena::new();
        let registry = OpRegistryBuilder::default().freeze().expect("empty registry");
        let cx = &Context::new(&arena, Arc::new(registry));
        let int = |value| cx.constant(Literal::Int(value), DType::I64, Meta::default());
        let shared = |x| {
            let part = tuple(cx, &[x, int(1)]);
            tuple(cx, &[part, part])
        };
        let apart = |x| tuple(cx, &[tuple(cx, &[x, int(1)]), tuple(cx, &[x, int(1)])]);
        let other = |x| tuple(cx, &[tuple(cx, &[x, int(1)]), tuple(cx, &[x, int(2)])]);
        assert!(structurally_equal(module(cx, "x", shared), module(cx, "x", shared)));
        assert!(structurally_equal(module(cx, "x", apart), module(cx, "x", apart)));
        assert!(!structurally_equal(module(cx, "x", shared), module(cx, "y", shared)));
        assert!(!structurally_equal(module(cx, "x", shared), module(cx, "x", apart)));
        assert!(!structurally_equal(module(cx, "x", apart), module(cx, "x", shared)));
        assert!(!structurally_equal(module(cx, "x", apart), module(cx, "x", other)));
    }

    #[test]
    fn shared_values_are_compared_once() {
        let arena = Arena::new();
        let registry = OpRegistryBuilder::default().freeze().expect("empty registry");
        let cx = &Context::new(&arena, Arc::new(registry));
        let doubled = |x| {
            let double = |value, _| {
                let kind = ExprKind::Tuple(cx.alloc_slice(&[value, value]));
                cx.expr(kind, cx.unit(), Meta::default())
            };
            (0..64).fold(x, double)
        };
        assert!(structurally_equal(module(cx, "x", doubled), module(cx, "x", doubled)));
    }
}
