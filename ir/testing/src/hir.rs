//! HIR functions.

use tf_core::node::{FunctionData, GridRegion};
use tf_core::{Callee, Expr, ExprKind, Function, Meta};
use tf_types::{DType, Type};

use crate::{Generator, types};

/// Tensors of a tuple, at most.
const LEAVES: usize = 64;

/// An open loop.
struct Loop<'c> {
    induction: Expr<'c>,
    carries: Vec<Expr<'c>>,
    inits: Vec<Expr<'c>>,
    /// How many values were in scope before.
    scope: usize,
}

impl<'c> Generator<'_, 'c> {
    /// A function whose parameters are of some of the types, one of them perhaps a weight. It calls functions of `known`.
    pub fn function(&mut self, name: &str, known: &[Function<'c>]) -> Function<'c> {
        let count = 1 + self.rng.below(3);
        let types: Vec<_> = (0..count).map(|_| self.rng.pick(&self.types)).collect();
        let params = self.params(&types);
        let body = self.body(&params, known);
        let cx = self.cx;
        let data = FunctionData::new(cx.symbol(name), cx.alloc_slice(&params), body, body.ty());
        let doc = self.rng.once_in(4).then(|| cx.symbol("What it\ndoes \"so\"."));
        cx.function(FunctionData { doc, span: self.meta().span, ..data })
    }

    /// Parameters with names of their own; the last of several is a weight.
    pub fn params(&mut self, types: &[Type<'c>]) -> Vec<Expr<'c>> {
        let cx = self.cx;
        let last = types.len() - 1;
        self.bounds = types::bounds(&self.dims, types);
        let mut params = Vec::new();
        for (at, &ty) in types.iter().enumerate() {
            let is_const = at > 0 && at == last;
            // A weight is one tensor of its module.
            let name = if is_const { self.new_name("w") } else { cx.symbol(&format!("p{at}")) };
            let kind = ExprKind::Var { name, is_const };
            let meta = Meta { name: None, ..self.meta_of(ty) };
            params.push(cx.expr(kind, cx.signature_type(ty), meta));
        }
        params
    }

    /// A value of the parameters.
    pub fn body(&mut self, params: &[Expr<'c>], known: &[Function<'c>]) -> Expr<'c> {
        let types: Vec<_> = params.iter().map(|param| param.ty()).collect();
        self.bounds = types::bounds(&self.dims, &types);
        let mut scope = params.to_vec();
        let mut loops: Vec<Loop<'c>> = Vec::new();
        for _ in 0..self.rng.below(self.options.steps + 1) {
            match self.rng.below(10) {
                0 => scope.push(self.literal()),
                1 => {
                    let parts: Vec<_> = (0..self.rng.below(4)).map(|_| self.rng.pick(&scope)).collect();
                    scope.push(self.tuple(&parts));
                }
                2 => loops.push(self.open(&mut scope)),
                3 => self.close(&mut scope, &mut loops),
                4 if !known.is_empty() => {
                    let callee = self.rng.pick(known);
                    scope.extend(self.invoke(callee, &scope));
                }
                _ => {
                    let ops = std::mem::take(&mut self.hir_values);
                    scope.extend(self.call(&ops, &scope));
                    self.hir_values = ops;
                }
            }
        }
        while !loops.is_empty() {
            self.close(&mut scope, &mut loops);
        }
        match self.rng.below(3) {
            0 => self.tuple(&scope),
            _ => scope[scope.len() - 1],
        }
    }

    /// A tuple of as many of the parts as have few tensors together: the results of functions that call each other stay small.
    pub fn tuple(&mut self, parts: &[Expr<'c>]) -> Expr<'c> {
        let mut left = LEAVES;
        let mut fits = |part: &&Expr<'c>| {
            let count = part.ty().leaves().len();
            left = left.saturating_sub(count);
            left > 0
        };
        let parts: Vec<_> = parts.iter().take_while(|part| fits(part)).copied().collect();
        let types: Vec<_> = parts.iter().map(|part| part.ty()).collect();
        let meta = self.meta();
        self.cx.expr(ExprKind::Tuple(self.cx.alloc_slice(&parts)), self.cx.tuple(&types), meta)
    }

    /// A call on values of the parameters' types, if there are some.
    fn invoke(&mut self, callee: Function<'c>, scope: &[Expr<'c>]) -> Option<Expr<'c>> {
        let mut args = Vec::new();
        // A call of a direct child leaves its constants out.
        let omits = self.below.contains(&callee);
        for param in callee.params.iter().filter(|param| !omits || !param.is_const_param()) {
            let fit: Vec<_> = scope.iter().copied().filter(|value| value.ty() == param.ty()).collect();
            if fit.is_empty() {
                return None;
            }
            args.push(self.rng.pick(&fit));
        }
        let kind = ExprKind::Call { callee: Callee::Function(callee), args: self.cx.alloc_slice(&args) };
        let meta = self.meta_of(callee.return_type);
        Some(self.cx.expr(kind, callee.return_type, meta))
    }

    fn open(&mut self, scope: &mut Vec<Expr<'c>>) -> Loop<'c> {
        // The result of a loop has the tensors of all carries.
        let small: Vec<_> = scope.iter().copied().filter(|value| value.ty().leaves().len() < LEAVES / 4).collect();
        let count = if small.is_empty() { 0 } else { self.rng.below(3) };
        let inits: Vec<_> = (0..count).map(|_| self.rng.pick(&small)).collect();
        let carries: Vec<_> = inits.iter().map(|init| self.var(init.ty())).collect();
        let before = scope.len();
        let induction = self.var(self.cx.scalar(DType::I64));
        scope.extend(&carries);
        scope.push(induction);
        Loop { induction, carries, inits, scope: before }
    }

    fn close(&mut self, scope: &mut Vec<Expr<'c>>, loops: &mut Vec<Loop<'c>>) {
        let cx = self.cx;
        let Some(Loop { induction, carries, inits, scope: before }) = loops.pop() else { return };
        let mut yields = Vec::new();
        for carry in &carries {
            let fit: Vec<_> = scope.iter().copied().filter(|value| value.ty() == carry.ty()).collect();
            yields.push(self.rng.pick(&fit));
        }
        let body = carries.is_empty().then(|| self.rng.pick(&scope[before..]));
        scope.truncate(before);
        let ty = cx.loop_type(&carries, body);
        let region = GridRegion {
            induction,
            carries: cx.alloc_slice(&carries),
            inits: cx.alloc_slice(&inits),
            yields: cx.alloc_slice(&yields),
            body,
            start: cx.dim(0),
            stop: self.rng.pick(&self.bounds),
            step: cx.dim(1 + self.rng.below(3) as i64),
        };
        let meta = self.meta_of(ty);
        scope.push(cx.grid(region, ty, meta));
    }
}
