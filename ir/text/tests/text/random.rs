//! Random well-formed HIR modules survive printing and parsing.

use proptest::prelude::{Strategy, any, prop, proptest};
use tf_core::node::GridRegion;
use tf_core::op::OpInstance;
use tf_core::{AnyFunction, Arena, Context, Expr, Literal, Meta};
use tf_types::kinds::ReduceKind;
use tf_types::{DType, Type};

use crate::common::{Add, Reduce, hir, module, registry, round_trip, s, tensor, tuple, var};

/// One step of building a function: what to make, from which earlier values, under which name.
#[derive(Clone, Debug)]
struct Step {
    what: u8,
    picks: [prop::sample::Index; 3],
    name: u8,
    literal: f64,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let literal = any::<u64>().prop_map(f64::from_bits);
    let step = (0..8u8, any::<[prop::sample::Index; 3]>(), 0..6u8, literal);
    let step = step.prop_map(|(what, picks, name, literal)| Step { what, picks, name, literal });
    prop::collection::vec(step, 0..40)
}

/// An open loop.
struct Loop<'c> {
    induction: Expr<'c>,
    carries: Vec<Expr<'c>>,
    inits: Vec<Expr<'c>>,
    /// How many values and extras were in scope before.
    scope: [usize; 2],
}

struct Builder<'a, 'c> {
    cx: &'a Context<'c>,
    ty: Type<'c>,
    /// Values of `ty` in scope, innermost loop last.
    values: Vec<Expr<'c>>,
    extra: Vec<Expr<'c>>,
    loops: Vec<Loop<'c>>,
    functions: Vec<AnyFunction<'c>>,
}

impl<'c> Builder<'_, 'c> {
    fn meta(&self, name: u8) -> Meta<'c> {
        match ["", "", "acc", "x", "1", "x.1"][usize::from(name)] {
            "" => Meta::default(),
            name => Meta::default().named(self.cx.symbol(name)),
        }
    }

    fn op(&self, op: OpInstance<'c>, args: &[Expr<'c>], name: u8) -> Expr<'c> {
        self.cx.call(op, args, self.meta(name)).expect("a well-typed call")
    }

    fn step(&mut self, step: &Step) {
        let cx = self.cx;
        let [a, b, c] = step.picks.map(|pick| self.values[pick.index(self.values.len())]);
        match step.what {
            0 | 1 => self.values.push(self.op(Add::new(cx), &[a, b], step.name)),
            2 => {
                let kind = ReduceKind::ALL[step.picks[1].index(4)];
                let axes = cx.alloc_slice(&[i64::from(step.name)]);
                let op = Reduce::new(cx, axes, step.name.is_multiple_of(2), kind);
                self.values.push(self.op(op, &[a], step.name));
            }
            3 => self.extra.push(cx.constant(Literal::Float(step.literal), DType::F32, self.meta(step.name))),
            4 => self.extra.push(tuple(cx, &[a, b, c])),
            5 => {
                let names = ["i", "x", "acc"];
                let binder = |n: usize, ty| var(cx, names[(usize::from(step.name) + n) % 3], ty);
                let inits: Vec<_> = [a, b].into_iter().take(usize::from(step.name) % 3).collect();
                let carries: Vec<_> = (0..inits.len()).map(|n| binder(n + 1, self.ty)).collect();
                let scope = [self.values.len(), self.extra.len()];
                self.values.extend(&carries);
                let induction = binder(0, cx.scalar(DType::I64));
                self.loops.push(Loop { induction, carries, inits, scope });
            }
            6 => self.close(step.picks.map(|pick| pick.index(self.values.len())), step.name),
            _ => {
                if let Some(&AnyFunction::Hir(f)) = self.functions.get(step.picks[1].index(self.functions.len() + 1)) {
                    let kind =
                        tf_core::ExprKind::Call { callee: tf_core::Callee::Function(f), args: cx.alloc_slice(&[a, b]) };
                    self.extra.push(cx.expr(kind, f.return_type, self.meta(step.name)));
                }
            }
        }
    }

    /// Ends the innermost loop, which yields the values at these indices.
    fn close(&mut self, picks: [usize; 3], name: u8) {
        let cx = self.cx;
        let Some(Loop { induction, carries, inits, scope: [values, extra] }) = self.loops.pop() else { return };
        let yields: Vec<_> = carries.iter().zip(picks).map(|(_, pick)| self.values[pick]).collect();
        let body = carries.is_empty().then(|| {
            let parts: Vec<_> = self.extra[extra..].iter().copied().chain([induction]).collect();
            tuple(cx, &parts)
        });
        self.values.truncate(values);
        self.extra.truncate(extra);
        let ty = match (body, &carries[..]) {
            (Some(body), _) => body.ty(),
            (None, [_]) => self.ty,
            (None, _) => cx.tuple(&[self.ty, self.ty]),
        };
        let region = GridRegion {
            induction,
            carries: cx.alloc_slice(&carries),
            inits: cx.alloc_slice(&inits),
            yields: cx.alloc_slice(&yields),
            body,
            start: cx.dim(0),
            stop: s(cx),
            step: cx.dim(2),
        };
        let grid = cx.grid(region, ty, self.meta(name));
        if ty == self.ty {
            self.values.push(grid);
        } else {
            self.extra.push(grid);
        }
    }

    fn function(&mut self, name: &str, steps: &[Step]) {
        let params = [var(self.cx, "x", self.ty), var(self.cx, "1", self.ty)];
        self.values = params.to_vec();
        self.extra.clear();
        for step in steps {
            self.step(step);
        }
        while !self.loops.is_empty() {
            self.close([0; 3], 0);
        }
        let all: Vec<_> = self.values.iter().chain(&self.extra).copied().collect();
        let body = tuple(self.cx, &all);
        self.functions.push(hir(self.cx, name, &params, body));
    }
}

proptest! {
    #[test]
    fn modules(functions in prop::collection::vec(steps(), 1..4), reversed in any::<bool>()) {
        let arena = Arena::new();
        let cx = &Context::new(&arena, registry());
        let ty = tensor(cx, &[4]);
        let mut builder = Builder { cx, ty, values: vec![], extra: vec![], loops: vec![], functions: vec![] };
        for (at, steps) in functions.iter().enumerate() {
            builder.function(&format!("f{at}"), steps);
        }
        let mut functions = builder.functions;
        if reversed {
            functions.reverse();
        }
        round_trip(cx, module(cx, &functions));
    }
}
