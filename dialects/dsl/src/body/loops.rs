//! `for` loops as grids with carries.

use ruff_python_ast as ast;
use rustc_hash::{FxHashMap, FxHashSet};
use tf_core::node::GridRegion;
use tf_core::{Expr, Meta, Span};
use tf_types::{DType, Dim, Fit, Symbol, Type};

use crate::names::Builtin;
use crate::parser::{Binding, BodyFrame, Frame, OpenLoop, Parser};
use crate::refusal::{Refusal, Res};
use crate::value::{Value, Window};

/// Loops inside loops.
const LOOPS: usize = 32;
/// Loops of one function that are read a second time.
const REREADS: usize = 256;

/// Calls `f` with every name that the statements assign, and its statement.
pub(crate) fn assigned<'x>(stmts: &'x [ast::Stmt], f: &mut impl FnMut(&'x str, &'x ast::Stmt)) {
    for stmt in stmts {
        match stmt {
            ast::Stmt::Assign(assign) => match &assign.targets[..] {
                [ast::Expr::Name(name)] => f(name.id.as_str(), stmt),
                [ast::Expr::Tuple(ast::ExprTuple { elts, .. }) | ast::Expr::List(ast::ExprList { elts, .. })] => {
                    for element in elts {
                        if let ast::Expr::Name(name) = element {
                            f(name.id.as_str(), stmt);
                        }
                    }
                }
                _ => {}
            },
            ast::Stmt::AnnAssign(assign) if assign.value.is_some() => {
                if let ast::Expr::Name(name) = &*assign.target {
                    f(name.id.as_str(), stmt);
                }
            }
            ast::Stmt::For(inner) => assigned(&inner.body, f),
            _ => {}
        }
    }
}

/// The header of a loop.
struct Header<'c> {
    start: Dim<'c>,
    stop: Dim<'c>,
    step: Dim<'c>,
    /// Whether the variable stands for a window of `step` elements.
    is_window: bool,
}

struct Carry<'c> {
    name: Symbol<'c>,
    init: Expr<'c>,
    /// Its last assignment.
    at: Span,
}

/// One reading of a loop's body.
struct Reading<'c> {
    induction: Expr<'c>,
    phis: Vec<Expr<'c>>,
    yields: Vec<Expr<'c>>,
    last: Option<Expr<'c>>,
    names: Frame<'c>,
}

impl<'c> Parser<'_, 'c> {
    pub(crate) fn loop_statement(&mut self, stmt: &ast::StmtFor) -> Res<Expr<'c>> {
        let span = self.span(stmt).to(self.span(&*stmt.iter));
        if stmt.is_async {
            return Err(Refusal::unread(span, "async is not part of the language"));
        }
        if let Some(other) = stmt.orelse.first() {
            return Err(Refusal::unread(self.span(other), "`else` of a loop is not part of the language"));
        }
        let ast::Expr::Name(target) = &*stmt.target else {
            return Err(Refusal::wrong(self.span(&*stmt.target), "the variable of a loop is one name"));
        };
        if self.body.as_ref().is_some_and(|body| body.loops.len() >= LOOPS) {
            return Err(Refusal::wrong(span, format!("loops are nested more than {LOOPS} deep")));
        }
        let header = self.loop_header(&stmt.iter)?;
        let carries = self.carries(stmt)?;
        let target = self.cx.symbol(target.id.as_str());
        let target_span = self.span(&*stmt.target);
        let mut types: Vec<_> = carries.iter().map(|c| c.init.ty()).collect();
        let mut reading = self.read_loop(stmt, &header, (target, target_span), &carries, &types)?;
        if self.retyped(&carries, &reading, &mut types)? {
            self.count_rereading(span)?;
            reading = self.read_loop(stmt, &header, (target, target_span), &carries, &types)?;
            let before = types.clone();
            if self.retyped(&carries, &reading, &mut types)? {
                let at = before.iter().zip(&types).position(|(a, b)| a != b).unwrap_or(0);
                return Err(differs(&carries[at], before[at], reading.yields[at].ty()));
            }
        }
        self.finish_loop(&header, &carries, reading, span)
    }

    fn count_rereading(&mut self, span: Span) -> Res<()> {
        if let Some(body) = &mut self.body {
            body.rereads += 1;
            if body.rereads > REREADS {
                return Err(Refusal::wrong(span, "too many loops whose carries start without a layout")
                    .help("give the initial values the layout of the values that follow"));
            }
        }
        Ok(())
    }

    fn finish_loop(
        &mut self,
        header: &Header<'c>,
        carries: &[Carry<'c>],
        reading: Reading<'c>,
        span: Span,
    ) -> Res<Expr<'c>> {
        let body = match (carries, reading.last) {
            ([], None) => {
                let refusal = Refusal::wrong(span, "the loop computes no value");
                return Err(refusal.help("assign to a name that is bound before the loop: it is carried"));
            }
            ([], last) => last,
            _ => None,
        };
        let cx = self.cx;
        let ty = cx.loop_type(&reading.phis, body);
        let name = if let [carry] = carries { Some(carry.name) } else { None };
        let inits: Vec<_> = carries.iter().map(|c| c.init).collect();
        let region = GridRegion {
            induction: reading.induction,
            carries: cx.alloc_slice(&reading.phis),
            inits: cx.alloc_slice(&inits),
            yields: cx.alloc_slice(&reading.yields),
            body,
            start: header.start,
            stop: header.stop,
            step: header.step,
        };
        let grid = cx.grid(region, ty, self.meta(span, name));
        self.leave_loop(&reading, carries);
        for (at, carry) in carries.iter().enumerate() {
            let value = match carries.len() {
                1 => grid,
                _ => self.project(grid, at, span, Some(carry.name))?,
            };
            self.bind(carry.name, Binding::Value(Value::Expr(value)));
        }
        Ok(grid)
    }

    /// Names that only the loop binds are undefined after it.
    fn leave_loop(&mut self, reading: &Reading<'c>, carries: &[Carry<'c>]) {
        let carried: FxHashSet<_> = carries.iter().map(|c| c.name).collect();
        let mut local: Vec<_> = reading.names.keys().copied().filter(|name| !carried.contains(name)).collect();
        local.sort_unstable_by_key(|name| name.as_str());
        for name in local {
            let hides = matches!(self.binding(name).as_deref(), Some(Binding::Value(_)));
            let gone = match hides {
                true => {
                    let why = format!("the loop above took the name `{name}`, so that it is undefined after it");
                    Binding::Gone(why, None)
                }
                false => {
                    let why = format!("`{name}` is bound inside the loop only and undefined after it");
                    let help = "a name that has a value before the loop is carried out of it";
                    let is_variable = reading.induction.var_name() == Some(name);
                    Binding::Gone(why, (!is_variable).then(|| help.to_owned()))
                }
            };
            self.bind(name, gone);
        }
    }

    fn loop_header(&mut self, iter: &ast::Expr) -> Res<Header<'c>> {
        let span = self.span(iter);
        let ast::Expr::Call(call) = iter else {
            let message = format!("a loop runs over `tile(...)` or `range(...)`, not `{}`", self.text(iter));
            return Err(
                Refusal::wrong(span, message).help("unrolled it is a comprehension: `[f(v) for v in (1.0, 2.0)]`")
            );
        };
        let callee = self.text(&*call.func);
        let (zero, one) = (self.cx.dim(0), self.cx.dim(1));
        if self.is_builtin(&callee, Builtin::Range) {
            let bounds = self.loop_bounds(call, "range", 3)?;
            if let Some(step) = bounds.get(2).filter(|step| step.as_const().is_some_and(|step| step < 1)) {
                return Err(Refusal::wrong(span, format!("the step of a loop is positive, found {step}"))
                    .help("count upwards, and compute the index: `n - 1 - i`"));
            }
            return Ok(match bounds[..] {
                [stop] => Header { start: zero, stop, step: one, is_window: false },
                [start, stop] => Header { start, stop, step: one, is_window: false },
                [start, stop, step, ..] => Header { start, stop, step, is_window: false },
                [] => return Err(Refusal::Reported),
            });
        }
        let is_tile = match &*call.func {
            ast::Expr::Attribute(ast::ExprAttribute { value, attr, .. }) => {
                attr.as_str() == "tile" && value.as_name_expr().is_some_and(|tf| self.is_builtin(&tf.id, Builtin::Tf))
            }
            _ => self.is_builtin(&callee, Builtin::Tile),
        };
        if !is_tile {
            return Err(Refusal::wrong(span, format!("a loop runs over `tile(...)` or `range(...)`, not `{callee}`")));
        }
        match self.loop_bounds(call, "tile", 2)?[..] {
            [stop] => Ok(Header { start: zero, stop, step: one, is_window: false }),
            [stop, step] if step.as_const().is_none_or(|step| step > 0) => {
                Ok(Header { start: zero, stop, step, is_window: true })
            }
            [_, step] => Err(Refusal::wrong(span, format!("the step of `tile` is positive, found {step}"))),
            _ => Err(Refusal::Reported),
        }
    }

    /// One to `most` positional dims.
    pub(crate) fn loop_bounds(&mut self, call: &ast::ExprCall, what: &str, most: usize) -> Res<Vec<Dim<'c>>> {
        let span = self.span(call);
        if let Some(keyword) = call.arguments.keywords.first() {
            let word = keyword.arg.as_ref().map_or("**", |word| word.as_str());
            let message = format!("arguments of `{what}` are positional, found `{word}` by keyword");
            return Err(Refusal::wrong(self.span(keyword), message));
        }
        let args = &call.arguments.args;
        if args.is_empty() || args.len() > most {
            let taken = if most == 2 { "1 or 2".to_owned() } else { format!("1 to {most}") };
            let refusal = Refusal::wrong(span, format!("`{what}` takes {taken} arguments, found {}", args.len()));
            return Err(match (what, args.len()) {
                ("tile", 3) => {
                    refusal.help("a tile loop starts at 0; `for i in range(start, stop, step)` starts elsewhere")
                }
                _ => refusal,
            });
        }
        let bounds = args.iter().map(|arg| {
            let name = self.text(arg);
            let dim = self.dim(arg, &format!("the bound `{name}` of a loop"))?;
            Ok(self.cx.simplify(dim))
        });
        bounds.collect()
    }

    /// Names bound outside to a run-time value and assigned somewhere in the loop.
    fn carries(&mut self, stmt: &ast::StmtFor) -> Res<Vec<Carry<'c>>> {
        let mut found: Vec<(&str, &ast::Stmt)> = Vec::new();
        let mut places: FxHashMap<&str, usize> = FxHashMap::default();
        assigned(&stmt.body, &mut |name, at| {
            let place = *places.entry(name).or_insert(found.len());
            match found.get_mut(place) {
                Some(known) => known.1 = at,
                None => found.push((name, at)),
            }
        });
        let frames = self.body.as_ref().map_or(&[][..], |body| &body.frames);
        let mut carries = Vec::new();
        for (name, at) in found {
            let name = self.cx.symbol(name);
            let Some(binding) = frames.iter().rev().find_map(|frame| frame.names.get(&name)) else { continue };
            match binding {
                Binding::Value(Value::Expr(init)) => carries.push(Carry { name, init: *init, at: self.span(at) }),
                Binding::Value(Value::Unread(_)) | Binding::Gone(..) => {}
                Binding::Value(value) => {
                    let message = format!(
                        "`{name}` is {} before the loop, so an assignment in the loop cannot carry it",
                        value.describe()
                    );
                    return Err(Refusal::wrong(self.span(at), message)
                        .help("start from a tensor, or use another name inside the loop"));
                }
                Binding::Poison | Binding::Outer(_) => return Err(Refusal::Reported),
            }
        }
        Ok(carries)
    }

    fn read_loop(
        &mut self,
        stmt: &ast::StmtFor,
        header: &Header<'c>,
        (target, target_span): (Symbol<'c>, Span),
        carries: &[Carry<'c>],
        types: &[Type<'c>],
    ) -> Res<Reading<'c>> {
        let cx = self.cx;
        let induction = cx.var(target, cx.scalar(DType::I64), Meta::at(target_span));
        let variable = match header.is_window {
            true => Value::Window(Window { iv: induction, size: header.step }),
            false => Value::Expr(induction),
        };
        let mut names = Frame::from_iter([(target, Binding::Value(variable))]);
        let mut phis = Vec::with_capacity(carries.len());
        for (carry, &ty) in carries.iter().zip(types) {
            let phi = cx.var(carry.name, ty, Meta::at(carry.init.span()));
            names.insert(carry.name, Binding::Value(Value::Expr(phi)));
            phis.push(phi);
        }
        let open = OpenLoop { iv: induction, start: header.start, stop: header.stop, step: header.step };
        let before = self.refused;
        if let Some(body) = &mut self.body {
            body.loops.push(open);
            body.frames.push(BodyFrame { names, is_mesh: false });
        }
        let last = self.loop_suite(&stmt.body);
        let frame = self.pop();
        if let Some(body) = &mut self.body {
            body.loops.pop();
        }
        let names = frame.map(|frame| frame.names).unwrap_or_default();
        if self.refused > before {
            return Err(Refusal::Reported);
        }
        let mut yields = Vec::with_capacity(carries.len());
        for (carry, phi) in carries.iter().zip(&phis) {
            let value = match names.get(&carry.name) {
                Some(Binding::Value(value)) => value.clone(),
                _ => return Err(Refusal::Reported),
            };
            let float = phi.ty().as_tensor().map_or(DType::F32, |t| t.dtype);
            let float = if float.is_float() { float } else { DType::F32 };
            yields.push(self.node(&value, float, carry.at)?);
        }
        Ok(Reading { induction, phis, yields, last, names })
    }

    /// The statements of a loop; the value that the last one assigns.
    fn loop_suite(&mut self, stmts: &[ast::Stmt]) -> Option<Expr<'c>> {
        let mut last = None;
        for stmt in stmts {
            let span = self.span(stmt);
            let result = self.nested(span, |p| match stmt {
                ast::Stmt::For(inner) => p.loop_statement(inner).map(Some),
                ast::Stmt::Return(_) => Err(Refusal::wrong(span, "`return` inside a loop")),
                ast::Stmt::With(_) => {
                    Err(Refusal::wrong(span, "`with` inside a loop").help("open the mesh around the loop"))
                }
                ast::Stmt::Pass(_) => Err(Refusal::wrong(span, "a loop makes assignments; `pass` computes nothing")),
                other => p.assignment_or_refusal(other),
            });
            match result {
                Ok(value) => last = value,
                Err(refusal) => {
                    self.report(refusal);
                    self.poison_names(stmt);
                }
            }
        }
        last
    }

    fn poison_names(&mut self, stmt: &ast::Stmt) {
        let mut names = Vec::new();
        assigned(std::slice::from_ref(stmt), &mut |name, _| names.push(name));
        for name in names {
            self.bind(self.cx.symbol(name), Binding::Poison);
        }
    }

    /// Whether a phi takes its yield's type and the body is to be read again; `types` then holds the new types.
    fn retyped(&self, carries: &[Carry<'c>], reading: &Reading<'c>, types: &mut [Type<'c>]) -> Res<bool> {
        let mut again = false;
        for ((carry, value), ty) in carries.iter().zip(&reading.yields).zip(types) {
            match ty.fit(value.ty()) {
                Fit::Same => {}
                Fit::Retype => {
                    *ty = value.ty();
                    again = true;
                }
                Fit::Differs => return Err(differs(carry, *ty, value.ty())),
            }
        }
        Ok(again)
    }
}

fn differs<'c>(carry: &Carry<'c>, phi: Type<'c>, value: Type<'c>) -> Refusal {
    let message = format!("the loop carries `{}` as {phi}, but an iteration ends with {value}", carry.name);
    Refusal::wrong(carry.at, message)
        .help("the initial value and the assigned one need one shape, dtype, storage and placement")
}
