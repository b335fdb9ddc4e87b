//! Intrinsics of the IR: their declarations are read as a file of their own.

use ruff_python_ast as ast;
use tf_core::node::Intrinsic;
use tf_core::{Context, Diagnostic, Expr, Span};

use super::closed::free_names;
use crate::environment::Closed;
use crate::parser::Parser;
use crate::refusal::Refusal;
use crate::source::Source;

/// Checks the operands of uses of an intrinsic as its declaration states: each with the place of the statement.
///
/// What is wrong is returned, in the order of the uses; a declaration that cannot be read is reported once.
#[must_use]
pub fn check_intrinsic<'c>(
    cx: &Context<'c>,
    intrinsic: &Intrinsic<'c>,
    uses: &[(&'c [Expr<'c>], Option<Span>)],
) -> Vec<Diagnostic> {
    let checked = declared(cx, intrinsic, |parser, def| {
        let mut errors = Vec::new();
        for &(args, span) in uses {
            let span = span.unwrap_or(parser.span(&def.name));
            let (wanted, found) = (intrinsic.params.len(), args.len());
            let checked = if wanted == found {
                parser.accepts(0, args, span)
            } else {
                Err(Refusal::wrong(span, format!("`{}` takes {wanted} operands, found {found}", intrinsic.name)))
            };
            let Some(mut error) = checked.err().and_then(Refusal::diagnostic) else { continue };
            // The declaration stands in a file of its own.
            let (here, there) = error.labels.into_iter().partition(|(at, _)| at.file == span.file);
            error.labels = here;
            error.notes.extend(there.into_iter().map(|(at, text): (Span, _)| (Some(at), text)));
            errors.push(error);
        }
        errors
    });
    checked.unwrap_or_else(|error| vec![error])
}

/// The names that a declaration uses and does not bind, each once.
///
/// # Errors
/// It is none of that intrinsic.
pub(crate) fn names_of<'c>(cx: &Context<'c>, intrinsic: &Intrinsic<'c>) -> Result<Vec<String>, Diagnostic> {
    declared(cx, intrinsic, |_, def| free_names(def).into_iter().map(str::to_owned).collect())
}

/// Reads a declaration, which is then the first one of the parser.
fn declared<'c, T>(
    cx: &Context<'c>,
    intrinsic: &Intrinsic<'c>,
    then: impl for<'a> FnOnce(&mut Parser<'a, 'c>, &'a ast::StmtFunctionDef) -> T,
) -> Result<T, Diagnostic> {
    stacker::grow(crate::STACK, || {
        let wrong =
            || Diagnostic::error(format!("the source of the intrinsic `{0}` does not declare it", intrinsic.name));
        let file = cx.sources().add_once(&format!("<intrinsic {}>", intrinsic.name), intrinsic.source.as_str());
        let source = Source::new(cx, file).map_err(|error| *error)?;
        let syntax = source.parse().map_err(|errors| errors.into_iter().next().unwrap_or_else(wrong))?;
        let [ast::Stmt::FunctionDef(def)] = &syntax.body[..] else { return Err(wrong()) };
        let mut parser = Parser::new(cx, &source, &Closed);
        parser.bind_exports();
        let span = parser.span(&def.name);
        match parser.intrinsic(def).and_then(|at| parser.intrinsic_node(at, span)) {
            Ok(node) if node == intrinsic => Ok(then(&mut parser, def)),
            Ok(_) => Err(wrong().at(span)),
            Err(refusal) => Err(refusal.diagnostic().unwrap_or_else(wrong)),
        }
    })
}
