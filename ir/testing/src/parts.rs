//! Dispatch prototypes, converters, instances.

use tf_core::node::{Converter, FunctionData, Origin};
use tf_core::{DimVarRangePat, ExprKind, Function};

use crate::{Generator, types};

impl<'c> Generator<'_, 'c> {
    /// A prototype over a partition of the range of `S`.
    pub fn prototype(&mut self, name: &str, known: &[Function<'c>]) -> Function<'c> {
        let cx = self.cx;
        // The second type is over `S`.
        let ty = self.types[1];
        let (lo, hi) = types::S;
        let mut ends = vec![hi];
        for _ in 0..self.rng.below(3) {
            ends.push(lo + 1 + self.rng.below((hi - lo - 1) as usize) as i64);
        }
        ends.sort_unstable();
        ends.dedup();
        let mut start = lo;
        let mut variants = Vec::new();
        for end in ends {
            let params = self.params(&[ty]);
            let value = self.body(&params, known);
            let body = if value.ty() == ty { value } else { params[0] };
            let range = DimVarRangePat { dim: cx.symbol("S"), lo: start, hi: end };
            let label = match self.rng.below(3) {
                0 => None,
                1 => Some(cx.symbol("_")),
                _ => Some(cx.symbol("small")),
            };
            variants.push(cx.function(FunctionData {
                specializations: cx.alloc_slice(&[range]),
                label,
                span: self.meta().span,
                ..FunctionData::new(cx.symbol(name), cx.alloc_slice(&params), body, ty)
            }));
            start = end;
        }
        let params = self.params(&[ty]);
        let data = FunctionData::prototype(cx.symbol(name), cx.alloc_slice(&params), ty, cx.alloc_slice(&variants));
        cx.function(FunctionData { span: self.meta().span, ..data })
    }

    /// The function with a converter for its weight, if it has one.
    pub fn with_converter(&mut self, function: Function<'c>, known: &[Function<'c>]) -> Function<'c> {
        let cx = self.cx;
        let weight = function.params.iter().find(|param| matches!(param.kind, ExprKind::Var { is_const: true, .. }));
        let Some((weight, ty)) = weight.and_then(|param| Some((param.var_name()?, param.ty()))) else {
            return function;
        };
        let params = self.params(&[ty]);
        let value = self.body(&params, known);
        let body = if value.ty() == ty { value } else { params[0] };
        let name = cx.symbol(if self.rng.once_in(2) { "_" } else { "convert" });
        let converter = cx.function(FunctionData::new(name, cx.alloc_slice(&params), body, ty));
        let converters = cx.alloc_slice(&[Converter { weight, function: converter }]);
        cx.function(FunctionData { converters, ..*function })
    }

    /// A function as if elaborated from, or specialised of, another.
    pub fn instance(&mut self, of: Function<'c>, number: usize, known: &[Function<'c>]) -> Function<'c> {
        let cx = self.cx;
        let function = self.function(&format!("{}${number}", of.name), known);
        let dims = self.rng.once_in(2).then(|| cx.alloc_slice(&[(cx.symbol("N"), 3), (cx.symbol("S"), 8)]));
        let origin = Some(Origin { name: of.name, function: Some(of), dims });
        cx.function(FunctionData { origin, ..*function })
    }
}
