//! `@prim_func`: signature and body.

use ruff_python_ast as ast;
use rustc_hash::FxHashMap;
use tf_core::hidden::{hidden_scalar, mentioned_shape_scalars};
use tf_core::node::PrimFunctionData;
use tf_core::{Context, Expr, PrimFunction, Span, Stmt, Target, TargetKind};

use crate::body::{docstring, is_docstring};
use crate::parser::{Body, Parser};
use crate::refusal::{Refusal, Res};

/// The device of functions that declare none.
const DEFAULT_DEVICE: &str = "nvidia.h200_sxm";

/// How many of the last parameters are outputs where the decorator does not say.
pub(crate) fn default_outputs(params: usize) -> usize {
    params.min(1)
}

/// The target of functions that no target is declared for.
pub(crate) fn default_target<'c>(cx: &Context<'c>) -> Target<'c> {
    Target { kind: TargetKind::Cuda, device: cx.symbol(DEFAULT_DEVICE) }
}

impl<'c> Parser<'_, 'c> {
    /// Reads a TIR function; its errors are reported. Without a target it has the default one; without a stated number
    /// of outputs its last parameter is one.
    pub(crate) fn prim_function(
        &mut self,
        def: &ast::StmtFunctionDef,
        target: Option<Target<'c>>,
        outputs: Option<(i64, Span)>,
    ) -> Res<PrimFunction<'c>> {
        let before = self.refused;
        let span = self.span(&def.name);
        if def.is_async || def.type_params.is_some() {
            return Err(Refusal::unread(span, "async and type parameters are not part of the language"));
        }
        if let Some(returns) = &def.returns
            && !matches!(&**returns, ast::Expr::NoneLiteral(_))
        {
            let message = format!("`{}` returns nothing: outputs are its last parameters", def.name);
            return Err(Refusal::wrong(self.span(&**returns), message));
        }
        let params = self.params(&def.parameters)?;
        let doc = def.body.first().and_then(docstring).map(|text| self.cx.symbol(text));
        let stmts = match &def.body[..] {
            [first, rest @ ..] if is_docstring(first) => rest,
            all => all,
        };
        let escaping = super::escapes::escaping(stmts);
        let body = Body { is_prim: true, escaping, ..Body::new(self.cx.symbol(def.name.as_str()), &params) };
        let outer = self.body.replace(body);
        let body = self.prim_block(stmts);
        let called = std::mem::replace(&mut self.body, outer).map(|body| body.called).unwrap_or_default();
        if self.refused > before {
            return Err(Refusal::Reported);
        }
        let mut params: Vec<_> = params.into_iter().filter_map(|(_, var)| var).collect();
        let output_count = match outputs {
            None => default_outputs(params.len()),
            Some((count, at)) => {
                usize::try_from(count).ok().filter(|count| *count <= params.len()).ok_or_else(|| {
                    let message =
                        format!("`{}` has {} parameters, so {count} cannot be outputs", def.name, params.len());
                    Refusal::wrong(at, message)
                })?
            }
        };
        let target = target.unwrap_or_else(|| default_target(self.cx));
        if target.kind == TargetKind::Cuda {
            self.add_shape_scalars(&mut params, body, span)?;
        }
        let function = self.cx.prim_function(PrimFunctionData {
            name: self.cx.symbol(def.name.as_str()),
            params: self.cx.alloc_slice(&params),
            body,
            output_count,
            target,
            doc,
            span: Some(span),
        });
        self.called.insert(function, called);
        Ok(function)
    }

    /// A function of a GPU takes the extents that its body depends on. One that the author wrote down is there already.
    fn add_shape_scalars(&mut self, params: &mut Vec<Expr<'c>>, body: Stmt<'c>, span: Span) -> Res<()> {
        let scalars = mentioned_shape_scalars(self.cx, params, body);
        let named: FxHashMap<_, _> = params.iter().map(|&param| (param.var_name(), param)).collect();
        for scalar in scalars {
            match named.get(&scalar.var_name()) {
                None => params.push(scalar),
                Some(&own) if hidden_scalar(params, own).is_some() => {}
                Some(own) => {
                    let message = format!("{} has the name of a hidden extent, found {}", own.describe(), own.ty());
                    return Err(Refusal::wrong(own.span().unwrap_or(span), message));
                }
            }
        }
        Ok(())
    }
}
