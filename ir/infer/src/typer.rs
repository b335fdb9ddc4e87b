//! The walk that types bodies: operands first, a loop's body after its initial values, a callee's body where a call needs it.
//! It is one loop over frames and steps, so that neither depth of values nor of calls is depth of the stack.

use tf_core::node::{FunctionData, GridRegion, Origin};
use tf_core::walk::{operands, rebuild_expr};
use tf_core::{Callee, Context, Diagnostic, Expr, ExprKind, Function, NodeMap, Result};
use tf_types::{Fit, Type};

use crate::agree::Mismatch;
use crate::check;
use crate::elaborate::{Choice, Key, Session};

/// How many errors of one function are reported; what follows is rarely of another kind.
const MOST_ERRORS: usize = 50;
/// How many instances one session makes: callees whose calls double at every level would never end.
const MOST_INSTANCES: usize = 20_000;
/// How often the values of a body are typed again on average, for carries that start without a layout.
const MOST_REPEATS: usize = 256;
/// How many calls a refusal inside a callee names.
const MOST_CALLS: usize = 8;

#[derive(Clone, Copy)]
enum Step<'c> {
    Enter(Expr<'c>),
    /// Between a loop's initial values and its body.
    Bind(&'c GridRegion<'c>),
    Finish(Expr<'c>),
}

/// A loop whose body is being typed.
struct OpenLoop {
    /// Where its values start in [`Frame::log`].
    first: usize,
    /// Errors before it.
    errors: usize,
    retyped: bool,
}

/// A body that is being typed.
struct Frame<'c> {
    function: Function<'c>,
    /// What it becomes an instance for, with its parameters; none for the function that is typed itself.
    instance: Option<(Key<'c>, &'c [Expr<'c>])>,
    root: Expr<'c>,
    steps: Vec<Step<'c>>,
    new: NodeMap<Expr<'c>, Expr<'c>>,
    /// The values of open loops in the order in which they were typed.
    log: Vec<Expr<'c>>,
    loops: Vec<OpenLoop>,
    /// Values that were forgotten because a carry got another type.
    repeated: usize,
    errors: Vec<Diagnostic>,
    /// A callee of an instance was refused, so that it is refused too.
    refused: bool,
}

/// What comes of a step.
enum Next<'c> {
    Value(Expr<'c>),
    /// The value is there when this instance is.
    Instance(Key<'c>, Vec<Type<'c>>),
    /// The loop's body is typed again.
    Again,
}

pub struct Typer<'a, 'c> {
    cx: &'a Context<'c>,
    pub session: Session<'c>,
    frames: Vec<Frame<'c>>,
}

impl<'a, 'c> Typer<'a, 'c> {
    pub fn new(cx: &'a Context<'c>) -> Self {
        Self::with(cx, Session::default())
    }

    pub fn with(cx: &'a Context<'c>, session: Session<'c>) -> Self {
        Self { cx, session, frames: Vec::new() }
    }

    /// The function with every type inferred again; the same one if all types are right.
    pub fn function(&mut self, function: Function<'c>) -> Result<Function<'c>, Vec<Diagnostic>> {
        let Some(root) = function.body else { return Ok(function) };
        self.frames.push(Frame::new(function, root));
        let mut frame = self.run();
        let body = frame.get(root);
        if frame.errors.is_empty() {
            frame.errors.extend(check::returned(function, body).err());
        }
        match frame.errors.is_empty() {
            true if body == root => Ok(function),
            true => Ok(self.cx.function(FunctionData { body: Some(body), ..*function })),
            false => Err(frame.errors),
        }
    }

    /// A new instance.
    ///
    /// # Errors
    /// Why there is none, or nothing where that has been said before.
    pub fn instance(&mut self, key: Key<'c>, types: &[Type<'c>]) -> Result<Function<'c>, Option<Diagnostic>> {
        self.open(key, types).map_err(Some)?;
        let mut frame = self.run();
        if frame.is_refused() { Err(frame.errors.pop()) } else { Ok(self.finished(&frame)) }
    }

    /// Rule 7: fresh parameters.
    fn open(&mut self, key: Key<'c>, types: &[Type<'c>]) -> Result<()> {
        let (cx, callee) = (self.cx, key.callee);
        let root = callee.value()?;
        if self.session.memo.len() + self.frames.len() >= MOST_INSTANCES {
            let message = format!("calls need more than {MOST_INSTANCES} instances, the last one of `{}`", callee.name);
            return Err(Diagnostic::error(message).at(callee.span));
        }
        let params = callee.params.iter().zip(types);
        let params: Vec<_> = params.map(|(param, &ty)| cx.expr(param.kind, ty, param.meta)).collect();
        let mut frame = Frame::new(callee, root);
        frame.new.extend(callee.params.iter().copied().zip(params.iter().copied()));
        frame.instance = Some((key, cx.alloc_slice(&params)));
        self.frames.push(frame);
        Ok(())
    }

    fn finished(&mut self, frame: &Frame<'c>) -> Function<'c> {
        let Some((key, params)) = frame.instance else { return frame.function };
        let (from, body) = (frame.function, frame.get(frame.root));
        let origin = Some(Origin { name: from.name, function: Some(from), dims: None });
        let data = FunctionData::new(from.name, params, body, body.ty());
        let made = self.cx.function(FunctionData { origin, doc: from.doc, span: from.span, ..data });
        self.session.memo.insert(key, Some(made));
        made
    }

    /// Types the body on top and all it calls; gives its frame.
    fn run(&mut self) -> Frame<'c> {
        let bottom = self.frames.len();
        loop {
            let frame = self.frames.last_mut().expect("a body is being typed");
            // In an instance the first error ends it: others follow from what the call gives it.
            let is_over = frame.instance.is_some() && frame.is_refused();
            if let Some(step) = frame.steps.pop().filter(|_| !is_over) {
                if let Some((key, types)) = frame.step(step, self.cx, &self.session)
                    && let Err(error) = self.open(key, &types)
                {
                    self.refused(key, Some(error));
                }
                continue;
            }
            let Some(mut frame) = self.frames.pop() else { unreachable!("a frame was there") };
            let is_refused = frame.is_refused();
            if self.frames.len() < bottom {
                if let Some((key, _)) = frame.instance.filter(|_| is_refused) {
                    self.session.memo.insert(key, None);
                }
                return frame;
            }
            match frame.instance {
                Some((key, _)) if is_refused => self.refused(key, frame.errors.pop()),
                _ => drop(self.finished(&frame)),
            }
        }
    }

    /// The call on top of the innermost body's steps has no callee; an error that has been reported is none.
    fn refused(&mut self, key: Key<'c>, error: Option<Diagnostic>) {
        self.session.memo.insert(key, None);
        let (Some(frame), Some(mut error)) = (self.frames.last_mut(), error) else { return };
        if let Some(Step::Finish(call)) = frame.steps.last()
            && let Some(span) = call.span().filter(|_| error.labels.len() < MOST_CALLS)
        {
            error = error.also(span, format!("in this call of `{}`", key.callee.name));
        }
        frame.report(error);
    }
}

impl<'c> Frame<'c> {
    fn new(function: Function<'c>, root: Expr<'c>) -> Self {
        Self {
            function,
            instance: None,
            root,
            steps: vec![Step::Enter(root)],
            new: NodeMap::default(),
            log: Vec::new(),
            loops: Vec::new(),
            repeated: 0,
            errors: Vec::new(),
            refused: false,
        }
    }

    fn get(&self, expr: Expr<'c>) -> Expr<'c> {
        self.new.get(&expr).copied().unwrap_or(expr)
    }

    fn is_refused(&self) -> bool {
        self.refused || !self.errors.is_empty()
    }

    /// Each error once, although a loop may be typed twice.
    fn report(&mut self, error: Diagnostic) {
        if self.errors.len() < MOST_ERRORS && !self.errors.contains(&error) {
            self.errors.push(error);
        }
    }

    fn set(&mut self, old: Expr<'c>, new: Expr<'c>) {
        self.new.insert(old, new);
        if !self.loops.is_empty() {
            self.log.push(old);
        }
    }

    /// Gives the instance that is missing; the step is then still to be done.
    fn step(&mut self, step: Step<'c>, cx: &Context<'c>, session: &Session<'c>) -> Option<(Key<'c>, Vec<Type<'c>>)> {
        let expr = match step {
            Step::Enter(expr) => {
                if self.new.contains_key(&expr) {
                    return None;
                }
                let steps = &mut self.steps;
                steps.push(Step::Finish(expr));
                let first = steps.len();
                if let ExprKind::Grid(region) = expr.kind {
                    steps.extend(region.inits.iter().map(|&init| Step::Enter(init)));
                    steps.push(Step::Bind(region));
                } else {
                    operands(expr, |operand| steps.push(Step::Enter(operand)));
                }
                if steps.len() > first {
                    steps[first..].reverse();
                    return None;
                }
                steps.pop();
                expr
            }
            Step::Bind(region) => {
                self.bind(region, cx);
                return None;
            }
            Step::Finish(expr) => expr,
        };
        let next = match expr.kind {
            ExprKind::Grid(region) => self.grid(expr, region, cx),
            ExprKind::Call { callee: Callee::Function(callee), args } => self.call(expr, callee, args, cx, session),
            _ => rebuild_expr(cx, expr, |operand| self.get(operand))
                .and_then(|new| if new == expr { check::node(expr, cx).map(|()| new) } else { Ok(new) })
                .map(Next::Value),
        };
        match next {
            Ok(Next::Value(new)) => self.set(expr, new),
            Ok(Next::Again) => {}
            Ok(Next::Instance(key, types)) => {
                self.steps.push(Step::Finish(expr));
                return Some((key, types));
            }
            // A value that has an error keeps its type.
            Err(error) => {
                self.report(error.at(expr.span()));
                self.set(expr, expr);
            }
        }
        None
    }

    /// Opens a loop: its carries follow the types of their initial values. An instance has variables of its own.
    fn bind(&mut self, region: &'c GridRegion<'c>, cx: &Context<'c>) {
        let is_instance = self.instance.is_some();
        let variable = |old: Expr<'c>, ty: Type<'c>| match is_instance || ty != old.ty() {
            true => cx.expr(old.kind, ty, old.meta),
            false => old,
        };
        for (&carry, &init) in region.carries.iter().zip(region.inits) {
            let ty = self.get(init).ty();
            // A carry that took its yield's layout keeps it while its initial value stays the same.
            let ty = if ty == init.ty() { carry.ty() } else { ty };
            self.set(carry, variable(carry, ty));
        }
        self.set(region.induction, variable(region.induction, region.induction.ty()));
        self.loops.push(OpenLoop { first: self.log.len(), errors: self.errors.len(), retyped: false });
        self.enter_body(region);
    }

    fn enter_body(&mut self, region: &GridRegion<'c>) {
        self.steps.extend(region.yields.iter().chain(&region.body).rev().map(|&value| Step::Enter(value)));
    }

    fn grid(&mut self, expr: Expr<'c>, region: &'c GridRegion<'c>, cx: &Context<'c>) -> Result<Next<'c>> {
        let form = check::form(expr, region);
        let Some(open) = self.loops.last().filter(|_| form.is_ok()) else {
            self.close();
            return form.map(|()| Next::Value(expr));
        };
        let is_right = self.errors.len() == open.errors;
        let fits = |(&carry, &value): (&Expr<'c>, &Expr<'c>)| self.get(carry).ty().fit(self.get(value).ty());
        let pairs = || region.carries.iter().zip(region.yields);
        if is_right && !open.retyped && pairs().any(|pair| fits(pair) == Fit::Retype) {
            let retyped: Vec<_> = pairs()
                .filter(|&pair| fits(pair) == Fit::Retype)
                .map(|(&carry, &value)| (carry, cx.expr(carry.kind, self.get(value).ty(), carry.meta)))
                .collect();
            return self.again(expr, region, retyped);
        }
        let all = |exprs: &[Expr<'c>]| exprs.iter().map(|&e| self.get(e)).collect::<Vec<_>>();
        let lists = [region.carries, region.inits, region.yields].map(all);
        let (induction, body) = (self.get(region.induction), region.body.map(|body| self.get(body)));
        let is_same = lists.iter().zip([region.carries, region.inits, region.yields]).all(|(new, old)| new == old)
            && (induction, body) == (region.induction, region.body);
        let new = match is_same {
            true => *region,
            false => {
                let [carries, inits, yields] = lists.map(|list| cx.alloc_slice(&list));
                GridRegion { induction, carries, inits, yields, body, ..*region }
            }
        };
        self.close();
        check::carries(expr, &new, &mut |error| self.report(error));
        let ty = cx.loop_type(new.carries, new.body);
        if is_same {
            return check::written(expr, ty).map(|()| Next::Value(expr));
        }
        Ok(Next::Value(cx.grid(new, ty, expr.meta)))
    }

    fn close(&mut self) {
        self.loops.pop();
        if self.loops.is_empty() {
            self.log.clear();
        }
    }

    /// Types the body again with other carries.
    fn again(
        &mut self,
        expr: Expr<'c>,
        region: &'c GridRegion<'c>,
        retyped: Vec<(Expr<'c>, Expr<'c>)>,
    ) -> Result<Next<'c>> {
        let Some(open) = self.loops.last_mut() else { return Ok(Next::Value(expr)) };
        open.retyped = true;
        let forgotten = self.log.split_off(open.first);
        self.repeated += forgotten.len();
        for old in &forgotten {
            self.new.remove(old);
        }
        if self.repeated > MOST_REPEATS * (self.new.len() + forgotten.len()) {
            self.close();
            let message = "the loop and those in it start without a layout too often";
            return Err(Diagnostic::error(message)
                .at(expr.span())
                .with_help("give the initial values of its carries the layout of the values that follow"));
        }
        self.new.extend(retyped);
        self.steps.push(Step::Finish(expr));
        self.enter_body(region);
        Ok(Next::Again)
    }

    fn call(
        &mut self,
        expr: Expr<'c>,
        callee: Function<'c>,
        args: &'c [Expr<'c>],
        cx: &Context<'c>,
        session: &Session<'c>,
    ) -> Result<Next<'c>> {
        let new: Vec<_> = args.iter().map(|&arg| self.get(arg)).collect();
        let types: Vec<_> = new.iter().map(|arg| arg.ty()).collect();
        // A call of a direct child's function leaves its constants out.
        let omits = args.len() != callee.params.len();
        let chosen = match session.choose(cx, callee, &types, omits) {
            Ok(Choice::Known(function)) => function,
            Ok(Choice::Refused) => {
                self.refused = true;
                return Ok(Next::Value(expr));
            }
            Ok(Choice::New(key, types)) => return Ok(Next::Instance(key, types)),
            Err(mismatch) => {
                let mut error = Diagnostic::error(mismatch.message(callee)).at(expr.span());
                if let Mismatch::Argument { at, found, .. } = mismatch
                    && let Some(span) = new[at].span().filter(|&span| Some(span) != expr.span())
                {
                    error = error.also(span, format!("this is {found}"));
                }
                return Err(error);
            }
        };
        if chosen == callee {
            check::result(expr, callee)?;
            if new == args {
                return Ok(Next::Value(expr));
            }
        }
        let ty = if chosen == callee { expr.ty() } else { chosen.return_type };
        let kind = ExprKind::Call { callee: Callee::Function(chosen), args: cx.alloc_slice(&new) };
        Ok(Next::Value(cx.expr(kind, ty, expr.meta)))
    }
}
