//! Inference of one function.

use tf_core::node::{FunctionData, GridRegion};
use tf_core::op::OpView;
use tf_core::visit::{Cloning, ExprCloner, clone_expr};
use tf_core::{Callee, Context, Diagnostic, Expr, ExprKind, Function, Literal, Meta, Result};
use tf_types::{DType, Type};

use super::agree;

/// Types a function again, with its variants and converters.
///
/// # Errors
/// Every type that differs from the inferred one, and what inference refuses.
pub fn infer_function<'c>(function: Function<'c>, cx: &Context<'c>) -> Result<Function<'c>, Vec<Diagnostic>> {
    let new = infer_body(function, cx)?;
    let variants = function.variants.iter().map(|&variant| infer_body(variant, cx));
    let variants = variants.collect::<Result<Vec<_>, _>>()?;
    let mut converters = function.converters.to_vec();
    for converter in &mut converters {
        converter.function = infer_body(converter.function, cx)?;
    }
    if variants == function.variants && converters == function.converters {
        return Ok(new);
    }
    let (variants, converters) = (cx.alloc_slice(&variants), cx.alloc_slice(&converters));
    Ok(cx.function(FunctionData { variants, converters, ..*new }))
}

fn infer_body<'c>(function: Function<'c>, cx: &Context<'c>) -> Result<Function<'c>, Vec<Diagnostic>> {
    let Some(old) = function.body else { return Ok(function) };
    let mut infer = Infer { errors: Vec::new() };
    let body = match clone_expr(cx, old, &mut infer) {
        Ok(body) => body,
        Err(error) => {
            infer.errors.push(error);
            return Err(infer.errors);
        }
    };
    if infer.errors.is_empty() {
        infer.errors.extend(check_return(function, old, body.ty()));
    }
    match infer.errors.is_empty() {
        true if body == old => Ok(function),
        true => Ok(cx.function(FunctionData { body: Some(body), ..*function })),
        false => Err(infer.errors),
    }
}

fn check_return<'c>(function: Function<'c>, body: Expr<'c>, found: Type<'c>) -> Option<Diagnostic> {
    let what = agree::declared(function.return_type, found).err()?;
    let message = format!(
        "`{}` is declared to return {}, but its body is {found}: the {what} differs",
        function.name, function.return_type
    );
    Some(Diagnostic::error(message).at(body.span().or(function.span)))
}

/// How many errors of one function are reported; what follows is rarely of another kind.
const MOST_ERRORS: usize = 50;

/// Errors are collected, each once although a loop may be typed twice, and a node that has one keeps its type.
struct Infer {
    errors: Vec<Diagnostic>,
}

impl<'c> ExprCloner<'c> for Infer {
    fn clone_grid(&mut self, expr: Expr<'c>, clone: &mut Cloning<'_, 'c>) -> Result<Expr<'c>> {
        let ExprKind::Grid(region) = expr.kind else { return Ok(expr) };
        Ok(self.grid(expr, region, clone))
    }

    fn default_clone(&mut self, expr: Expr<'c>, clone: &mut Cloning<'_, 'c>) -> Result<Expr<'c>> {
        let rebuilt = match clone.rebuild(expr) {
            Ok(rebuilt) => rebuilt,
            Err(error) => return Ok(self.refuse(expr, error)),
        };
        if rebuilt == expr || matches!(expr.kind, ExprKind::Call { callee: Callee::Function(_), .. }) {
            self.check(rebuilt, clone.cx);
        }
        Ok(rebuilt)
    }
}

impl Infer {
    fn report(&mut self, error: Option<Diagnostic>) {
        let is_new = |error: &Diagnostic| self.errors.len() < MOST_ERRORS && !self.errors.contains(error);
        if let Some(error) = error.filter(is_new) {
            self.errors.push(error);
        }
    }

    fn refuse<'c>(&mut self, expr: Expr<'c>, error: Diagnostic) -> Expr<'c> {
        self.report(Some(error.at(expr.span())));
        expr
    }

    /// Compares the type of a node with what its operands give.
    fn check<'c>(&mut self, expr: Expr<'c>, cx: &Context<'c>) {
        let inferred = match expr.kind {
            ExprKind::Var { .. } | ExprKind::SymbolRef(_) | ExprKind::ShapeOf { .. } | ExprKind::Grid(_) => return,
            ExprKind::Constant(literal) => {
                self.report(check_literal(expr, literal));
                return;
            }
            ExprKind::Tuple(elements) => {
                let types: Vec<_> = elements.iter().map(|e| e.ty()).collect();
                Ok(cx.tuple(&types))
            }
            ExprKind::Call { callee: Callee::Op(op), args } => cx.infer(OpView { op, args }, expr.span()),
            ExprKind::Call { callee: Callee::Function(callee), args } => {
                self.report(check_call(expr, callee, args));
                return;
            }
        };
        match inferred {
            Ok(ty) if ty == expr.ty() => {}
            Ok(ty) => {
                let message = format!("{} is written with type {}, but has type {ty}", expr.describe(), expr.ty());
                self.report(Some(Diagnostic::error(message).at(expr.span())));
            }
            Err(error) => self.report(Some(error.at(expr.span()))),
        }
    }

    fn grid<'c>(&mut self, expr: Expr<'c>, region: &GridRegion<'c>, clone: &Cloning<'_, 'c>) -> Expr<'c> {
        let cx = clone.cx;
        let map = |exprs: &'c [Expr<'c>]| -> Vec<Expr<'c>> { exprs.iter().map(|&e| clone.get(e)).collect() };
        let (mut carries, inits, mut yields) = (map(region.carries), map(region.inits), map(region.yields));
        let mut body = region.body.map(|body| clone.get(body));
        if let Some(error) = check_form(expr, region) {
            return self.refuse(expr, error);
        }
        let open = |(carry, value): (&Expr<'c>, &Expr<'c>)| {
            carry.ty() != value.ty() && agree::is_open(carry.ty()) && retypes(carry.ty(), value.ty())
        };
        if carries.iter().zip(&yields).any(open) {
            let replaced: Vec<_> = carries.iter().zip(&yields).filter(|&pair| open(pair)).collect();
            let substitute: Vec<_> =
                replaced.into_iter().map(|(&old, value)| (old, cx.expr(old.kind, value.ty(), old.meta))).collect();
            match self.again(cx, &yields, body, &substitute) {
                Ok((new_yields, new_body)) => (yields, body) = (new_yields, new_body),
                Err(error) => return self.refuse(expr, error),
            }
            for (old, new) in substitute {
                carries.iter_mut().filter(|carry| **carry == old).for_each(|carry| *carry = new);
            }
        }
        for ((carry, value), init) in carries.iter().zip(&yields).zip(&inits) {
            self.report(check_carry(expr, *carry, *value, *init));
        }
        let same = carries == region.carries && inits == region.inits && yields == region.yields && body == region.body;
        let ty = cx.loop_type(&carries, body);
        if same && ty != expr.ty() {
            let message = format!("{} is written with type {}, but has type {ty}", expr.describe(), expr.ty());
            return self.refuse(expr, Diagnostic::error(message));
        }
        if same {
            return expr;
        }
        let (carries, inits, yields) = (cx.alloc_slice(&carries), cx.alloc_slice(&inits), cx.alloc_slice(&yields));
        cx.grid(GridRegion { carries, inits, yields, body, ..*region }, ty, expr.meta)
    }

    /// The values of an iteration with other carries.
    fn again<'c>(
        &mut self,
        cx: &Context<'c>,
        yields: &[Expr<'c>],
        body: Option<Expr<'c>>,
        substitute: &[(Expr<'c>, Expr<'c>)],
    ) -> Result<(Vec<Expr<'c>>, Option<Expr<'c>>)> {
        let roots: Vec<_> = yields.iter().copied().chain(body).collect();
        let types: Vec<_> = roots.iter().map(|e| e.ty()).collect();
        let together = cx.expr(ExprKind::Tuple(cx.alloc_slice(&roots)), cx.tuple(&types), Meta::default());
        let mut clone = Cloning::new(cx);
        substitute.iter().for_each(|&(old, new)| clone.replace(old, new));
        let new = clone.visit(self, together)?;
        let ExprKind::Tuple(new) = new.kind else { unreachable!("a tuple is rewritten to a tuple") };
        let (yields, rest) = new.split_at(yields.len());
        Ok((yields.to_vec(), rest.first().copied()))
    }
}

/// Whether a carry of type `phi` becomes one of type `found`: everything but the layout is equal.
fn retypes<'c>(phi: Type<'c>, found: Type<'c>) -> bool {
    match (phi.as_tensor(), found.as_tensor()) {
        (Some(a), Some(b)) => a.shape == b.shape && a.dtype == b.dtype && a.storage == b.storage,
        _ => false,
    }
}

fn check_literal<'c>(expr: Expr<'c>, literal: Literal) -> Option<Diagnostic> {
    let tensor = expr.ty().as_tensor();
    let fits = tensor.is_some_and(|t| {
        t.rank() == 0
            && match literal {
                Literal::Bool(_) => t.dtype == DType::Bool,
                Literal::Int(_) => t.dtype.is_integer(),
                Literal::Float(_) => t.dtype.is_float(),
            }
    });
    let message = || format!("the literal {literal} cannot have type {}", expr.ty());
    (!fits).then(|| Diagnostic::error(message()).at(expr.span()))
}

fn check_call<'c>(expr: Expr<'c>, callee: Function<'c>, args: &[Expr<'c>]) -> Option<Diagnostic> {
    let refuse = |message: String| Some(Diagnostic::error(message).at(expr.span()));
    // A call of a child's entry leaves its constants out (spec: hir §2, rule 1).
    let omits = args.len() != callee.params.len();
    let params: Vec<_> = callee.params.iter().filter(|param| !omits || !param.is_const_param()).collect();
    if args.len() != params.len() {
        let (want, have) = (callee.params.len(), args.len());
        return refuse(format!("`{}` has {want} parameters, found {have} arguments", callee.name));
    }
    for (param, arg) in params.into_iter().zip(args) {
        if !agree::binds(param.ty(), arg.ty()) {
            let message =
                format!("parameter {} of `{}` is {}, found {}", param.describe(), callee.name, param.ty(), arg.ty());
            let error = Diagnostic::error(message).at(expr.span());
            return Some(match arg.span() {
                Some(span) if Some(span) != expr.span() => error.also(span, format!("this is {}", arg.ty())),
                _ => error,
            });
        }
    }
    match agree::declared(callee.return_type, expr.ty()) {
        Ok(()) => None,
        Err(what) => refuse(format!(
            "the call is written with type {}, but `{}` returns {}: the {what} differs",
            expr.ty(),
            callee.name,
            callee.return_type
        )),
    }
}

fn check_form<'c>(expr: Expr<'c>, region: &GridRegion<'c>) -> Option<Diagnostic> {
    let (carries, inits, yields) = (region.carries.len(), region.inits.len(), region.yields.len());
    let message = if carries != inits || carries != yields {
        format!("a loop with {carries} carries has {inits} initial values and {yields} yields")
    } else if (carries == 0) != region.body.is_some() {
        "a loop has either carries or a body value".to_owned()
    } else if region.induction.ty().as_tensor().is_none_or(|t| t.rank() != 0 || t.dtype != DType::I64) {
        format!("the induction variable is {}, not a rank-0 i64", region.induction.ty())
    } else {
        return None;
    };
    Some(Diagnostic::error(message).at(expr.span()))
}

fn check_carry<'c>(expr: Expr<'c>, carry: Expr<'c>, value: Expr<'c>, init: Expr<'c>) -> Option<Diagnostic> {
    let refuse = |message: String, at: Expr<'c>| Some(Diagnostic::error(message).at(at.span().or(expr.span())));
    if !carry.ty().carries(value.ty()) {
        let message = format!("the loop carries {} as {}, but yields {}", carry.describe(), carry.ty(), value.ty());
        return refuse(message, value);
    }
    // A carry that took its yield's layout differs from its initial value in that.
    let took_layout = agree::is_open(init.ty()) && retypes(init.ty(), carry.ty());
    if !took_layout && !carry.ty().carries(init.ty()) {
        let message = format!("the loop carries {} as {}, but starts with {}", carry.describe(), carry.ty(), init.ty());
        return refuse(message, init);
    }
    None
}
