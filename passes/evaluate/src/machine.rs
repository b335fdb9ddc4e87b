//! The interpreter of HIR functions. Its stack is a vector: neither loops nor calls nest on the host's.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use tf_core::node::GridRegion;
use tf_core::op::OpView;
use tf_core::{Callee, Diagnostic, Expr, ExprKind, Function, Literal, Result};
use tf_types::DType;
use tf_value::{EvalRegistry, Tensor, extent};

use crate::Reading;
use crate::boundary::{self, Arguments};
use crate::dims::DimSizes;
use crate::plan::{Item, Plan, Slot};
use crate::semantics::{Crossing, Semantics, failed};
use crate::times::Times;

/// A value, or why there is none although nobody has needed it yet.
#[derive(Clone)]
enum Cell<V> {
    Empty,
    /// A constant that nobody has needed yet.
    Constant,
    Value(V),
    Failed(Box<Diagnostic>),
}

/// A function that is being evaluated.
struct Activation<'c, V> {
    function: Function<'c>,
    plan: Rc<Plan<'c>>,
    cells: Vec<Cell<V>>,
    dims: Rc<DimSizes<'c>>,
    /// Where its constants are.
    reading: Option<Reading<'c>>,
}

#[derive(Clone, Copy)]
enum Frame<'c> {
    /// The items of a region from `at` on.
    Region { region: usize, at: usize },
    /// A loop between two iterations; `index` is the next one.
    Loop { expr: Expr<'c>, deferred: bool, index: i64, stop: i64, step: i64 },
    /// The end of the function that the call `expr` called.
    Return { expr: Expr<'c>, deferred: bool },
}

/// Evaluates functions. What values are is a matter of the semantics; order, loops and calls are the machine's.
pub struct Machine<'a, 'c, S: Semantics<'c>> {
    rules: &'a EvalRegistry,
    /// What values are.
    pub semantics: S,
    plans: FxHashMap<Function<'c>, Rc<Plan<'c>>>,
    activations: Vec<Activation<'c, S::Value>>,
    frames: Vec<Frame<'c>>,
    times: Option<&'a Times>,
}

impl<'a, 'c, S: Semantics<'c>> Machine<'a, 'c, S> {
    /// A machine over the evaluation rules of a driver's ops.
    pub fn new(rules: &'a EvalRegistry, semantics: S, times: Option<&'a Times>) -> Self {
        Self { rules, semantics, plans: FxHashMap::default(), activations: Vec::new(), frames: Vec::new(), times }
    }

    /// The value of a function on arguments that fit its parameters. In a reading these are activations only.
    ///
    /// # Errors
    /// What an op's rule refuses, with the op, its binding and its place; a loop that cannot run; a constant that is missing.
    pub fn run(
        &mut self,
        function: Function<'c>,
        arguments: Arguments<'c, S::Value>,
        dims: DimSizes<'c>,
    ) -> Result<S::Value> {
        self.activations.clear();
        self.frames.clear();
        self.enter(function, arguments, dims)?;
        while let Some(frame) = self.frames.pop() {
            let result = match frame {
                Frame::Region { region, at } => self.items(region, at),
                Frame::Loop { expr, deferred, index, stop, step } => self.iterate(expr, deferred, (index, stop, step)),
                Frame::Return { expr, .. } => self.come_back(expr),
            };
            if let Err(error) = result {
                self.unwind(error, frame)?;
            }
        }
        self.leave().map(|(value, ..)| value)
    }

    /// Goes on after the innermost loop or call that may fail without anyone having noticed yet; `frame` has just been popped.
    fn unwind(&mut self, error: Diagnostic, frame: Frame<'c>) -> Result<()> {
        // A call that has been left has no activation any more.
        let mut next = Some((frame, false));
        while let Some((frame, active)) = next {
            if let Frame::Loop { expr, deferred, .. } | Frame::Return { expr, deferred } = frame {
                if active && matches!(frame, Frame::Return { .. }) {
                    self.activations.pop();
                }
                if deferred {
                    self.fail(expr, error);
                    return Ok(());
                }
            }
            next = self.frames.pop().map(|frame| (frame, true));
        }
        Err(error)
    }

    /// Starts a function; of a dispatch prototype the variant whose range has the value of its dim.
    fn enter(&mut self, function: Function<'c>, arguments: Arguments<'c, S::Value>, dims: DimSizes<'c>) -> Result<()> {
        let mut known: Vec<_> = dims.iter().map(|(&name, &value)| (name, value)).collect();
        known.sort_unstable_by_key(|(name, _)| name.as_str());
        let function = function.variant_for(&known)?;
        let body = function.value()?;
        let plan = self.plans.entry(function).or_insert_with(|| Rc::new(Plan::new(function, body)));
        let plan = Rc::clone(plan);
        let mut cells = vec![Cell::Empty; plan.slot_count()];
        let mut values = arguments.values.into_iter();
        for &param in function.params {
            let cell = if arguments.omits_constants && param.is_const_param() {
                Cell::Constant
            } else {
                values.next().map_or(Cell::Empty, Cell::Value)
            };
            cells[plan.slot(param)] = cell;
        }
        for &slot in &plan.unused {
            cells[slot] = Cell::Empty;
        }
        self.activations.push(Activation { function, plan, cells, dims: Rc::new(dims), reading: arguments.reading });
        self.frames.push(Frame::Region { region: 0, at: 0 });
        Ok(())
    }

    /// Ends the function; its value, the expression that it is the value of, the function's dims.
    fn leave(&mut self) -> Result<(S::Value, Expr<'c>, Rc<DimSizes<'c>>)> {
        let (function, dims) = (self.now().function, Rc::clone(&self.now().dims));
        let value = function.value().and_then(|body| Ok((self.read(body)?, body, dims)));
        self.activations.pop();
        value
    }

    /// Ends the function that `expr` called.
    fn come_back(&mut self, expr: Expr<'c>) -> Result<()> {
        let (value, body, inner) = self.leave()?;
        let outer = Rc::clone(&self.now().dims);
        let crossing = Crossing { from: (body.ty(), &inner), to: (expr.ty(), &outer), source: body, at: expr };
        let value = self.semantics.cross(value, crossing)?;
        self.store(expr, value);
        Ok(())
    }

    fn now(&mut self) -> &mut Activation<'c, S::Value> {
        self.activations.last_mut().expect("a function is being evaluated")
    }

    fn store(&mut self, expr: Expr<'c>, value: S::Value) {
        let now = self.now();
        let slot = now.plan.slot(expr);
        now.cells[slot] = Cell::Value(value);
    }

    fn fail(&mut self, expr: Expr<'c>, error: Diagnostic) {
        let now = self.now();
        let slot = now.plan.slot(expr);
        now.cells[slot] = Cell::Failed(Box::new(error));
    }

    /// The value of an operand. One whose failure was deferred fails now.
    fn read(&mut self, expr: Expr<'c>) -> Result<S::Value> {
        let slot = self.now().plan.slot(expr);
        self.read_slot(slot, expr)
    }

    fn read_slot(&mut self, slot: Slot, expr: Expr<'c>) -> Result<S::Value> {
        let now = self.activations.last_mut().expect("a function is being evaluated");
        match now.cells.get(slot).unwrap_or(&Cell::Empty) {
            Cell::Value(value) => Ok(value.clone()),
            Cell::Failed(error) => Err(error.as_ref().clone()),
            Cell::Constant => {
                let Some(reading) = &now.reading else { return Err(boundary::without_reading(expr)) };
                let value = self.semantics.tensor(reading.constant(expr, &now.dims)?, expr, &now.dims)?;
                now.cells[slot] = Cell::Value(value.clone());
                Ok(value)
            }
            Cell::Empty => {
                Err(Diagnostic::error(format!("{} is used outside its loop", expr.describe())).at(expr.span()))
            }
        }
    }

    /// Evaluates the items of a region from `at` on, up to a loop or a call of a function.
    fn items(&mut self, region: usize, mut at: usize) -> Result<()> {
        let plan = Rc::clone(&self.now().plan);
        while let Some(item) = plan.regions[region].get(at) {
            at += 1;
            let result = match item.expr.kind {
                ExprKind::Grid(grid) => {
                    self.frames.push(Frame::Region { region, at });
                    let started = self.start(item, grid, plan.dead(item));
                    return self.note(item, started);
                }
                ExprKind::Call { callee: Callee::Function(callee), args } => {
                    self.frames.push(Frame::Region { region, at });
                    let called = self.call(item, callee, args, plan.dead(item));
                    return self.note(item, called);
                }
                _ => self.compute(&plan, item).map(|value| self.now().cells[item.slot] = Cell::Value(value)),
            };
            self.note(item, result)?;
        }
        Ok(())
    }

    /// Puts off a failure until the value is needed, if it may be.
    fn note(&mut self, item: &Item<'c>, result: Result<()>) -> Result<()> {
        match result {
            Err(error) if item.deferred => {
                self.fail(item.expr, error);
                Ok(())
            }
            other => other,
        }
    }

    fn compute(&mut self, plan: &Plan<'c>, item: &Item<'c>) -> Result<S::Value> {
        let expr = item.expr;
        match expr.kind {
            ExprKind::Constant(literal) => {
                let dims = Rc::clone(&self.now().dims);
                self.semantics.tensor(constant(expr, literal)?, expr, &dims)
            }
            ExprKind::Tuple(elements) => self.operands(plan, item, elements).map(|fields| self.semantics.tuple(fields)),
            ExprKind::Call { callee: Callee::Op(op), args } => {
                let mut operands = self.operands(plan, item, args)?;
                let Some(rule) = self.rules.get(op.id) else {
                    return Err(failed(expr, "it has no evaluation rule".to_owned(), None));
                };
                let dims = &self.activations.last().expect("a function is being evaluated").dims;
                let start = self.times.and_then(|times| times.begin(op.decl.name));
                let value = self.semantics.op((expr, OpView { op, args }), rule, &mut operands, dims);
                if let (Some(times), Some(start)) = (self.times, start) {
                    times.end(op.decl.name, start);
                }
                value
            }
            _ => Err(Diagnostic::error(format!("{} has no value here", expr.describe())).at(expr.span())),
        }
    }

    /// The operands of an item. Those that die there have no other owner now, so that the result may take their place.
    fn operands(&mut self, plan: &Plan<'c>, item: &Item<'c>, exprs: &[Expr<'c>]) -> Result<Vec<S::Value>> {
        let slots = plan.operands(item).iter();
        let values = slots.zip(exprs).map(|(&slot, &expr)| self.read_slot(slot, expr)).collect();
        for &field in plan.spent(item) {
            if let Cell::Value(tuple) = &mut self.now().cells[plan.operands(item)[0]] {
                S::forget(tuple, field);
            }
        }
        self.drop_all(plan.dead(item));
        values
    }

    fn drop_all(&mut self, dead: &[Slot]) {
        let now = self.now();
        for &slot in dead {
            now.cells[slot] = Cell::Empty;
        }
    }

    fn call(&mut self, item: &Item<'c>, callee: Function<'c>, args: &[Expr<'c>], dead: &[Slot]) -> Result<()> {
        let (expr, deferred) = (item.expr, item.deferred);
        let values = args.iter().map(|&arg| self.read(arg)).collect::<Result<Vec<_>>>()?;
        self.drop_all(dead);
        let (reading, outer) = (self.now().reading.clone(), Rc::clone(&self.now().dims));
        let mut arguments = Arguments::of_call(expr, callee, args, values, reading.as_ref())?;
        let dims = arguments.dims(callee, expr.span(), S::shape)?;
        let params = arguments.params(callee);
        for ((value, &arg), param) in arguments.values.iter_mut().zip(args).zip(params) {
            let crossing = Crossing { from: (arg.ty(), &outer), to: (param.ty(), &dims), source: arg, at: expr };
            *value = self.semantics.cross(value.clone(), crossing)?;
        }
        self.frames.push(Frame::Return { expr, deferred });
        let entered = self.enter(callee, arguments, dims);
        if entered.is_err() {
            self.frames.pop();
        }
        entered.map_err(|error| error.at(expr.span()))
    }

    fn start(&mut self, item: &Item<'c>, grid: &GridRegion<'c>, dead: &[Slot]) -> Result<()> {
        let (expr, deferred) = (item.expr, item.deferred);
        let dims = Rc::clone(&self.now().dims);
        let bound = |dim| extent(dim, &dims).map_err(|error| Diagnostic::error(error.message).at(expr.span()));
        let (start, stop, step) = (bound(grid.start)?, bound(grid.stop)?, bound(grid.step)?);
        if step < 1 {
            return Err(Diagnostic::error(format!("the step of a loop is at least 1, found {step}")).at(expr.span()));
        }
        if start < 0 || stop < 0 {
            let message = format!("the bounds of a loop are at least 0, found {start} and {stop}");
            return Err(Diagnostic::error(message).at(expr.span()));
        }
        if start >= stop && grid.carries.is_empty() {
            let message = format!("the loop over {start}..{stop} has no iteration, and nothing is carried through it");
            return Err(Diagnostic::error(message).at(expr.span()));
        }
        let inits = grid.inits.iter().map(|&init| self.read(init)).collect::<Result<Vec<_>>>()?;
        self.drop_all(dead);
        self.carry(expr, grid.carries, grid.inits, inits)?;
        self.begin(expr, grid, deferred, (start, stop, step))
    }

    /// Runs the iteration `index`, or ends the loop.
    fn begin(
        &mut self,
        expr: Expr<'c>,
        grid: &GridRegion<'c>,
        deferred: bool,
        (index, stop, step): (i64, i64, i64),
    ) -> Result<()> {
        if index < stop {
            let region = self.now().plan.bodies[&expr];
            let dims = Rc::clone(&self.now().dims);
            let value = self.semantics.tensor(Tensor::scalar(index), grid.induction, &dims)?;
            self.store(grid.induction, value);
            let index = index.saturating_add(step);
            self.frames.push(Frame::Loop { expr, deferred, index, stop, step });
            self.frames.push(Frame::Region { region, at: 0 });
            return Ok(());
        }
        let mut values = self.take(grid.carries)?;
        let value = match (grid.body, values.len()) {
            (Some(body), 0) => self.read(body)?,
            (_, 1) => values.remove(0),
            _ => self.semantics.tuple(values),
        };
        self.store(expr, value);
        self.drop_unneeded(expr);
        Ok(())
    }

    /// The values of what belongs to the iteration that ends here; nothing else holds them then.
    fn take(&mut self, exprs: &[Expr<'c>]) -> Result<Vec<S::Value>> {
        let values = exprs.iter().map(|&expr| self.read(expr)).collect();
        for &expr in exprs {
            let now = self.now();
            let slot = now.plan.slot(expr);
            now.cells[slot] = Cell::Empty;
        }
        values
    }

    /// Drops what the loop that has ended was the last to need.
    fn drop_unneeded(&mut self, expr: Expr<'c>) {
        let plan = Rc::clone(&self.now().plan);
        if let Some(Frame::Region { region, at }) = self.frames.last() {
            let item = &plan.regions[*region][at - 1];
            debug_assert!(item.expr == expr);
            self.drop_all(plan.dead_after(item));
        }
    }

    fn iterate(&mut self, expr: Expr<'c>, deferred: bool, range: (i64, i64, i64)) -> Result<()> {
        let ExprKind::Grid(grid) = expr.kind else { return Ok(()) };
        let yields = grid.yields.iter().map(|&value| self.read(value)).collect::<Result<Vec<_>>>()?;
        if !grid.carries.is_empty() {
            let plan = Rc::clone(&self.now().plan);
            self.drop_all(&plan.made[plan.bodies[&expr]]);
        }
        self.carry(expr, grid.carries, grid.yields, yields)?;
        self.begin(expr, grid, deferred, range)
    }

    /// Gives the phis of a loop the values of other expressions.
    fn carry(
        &mut self,
        expr: Expr<'c>,
        carries: &[Expr<'c>],
        sources: &[Expr<'c>],
        values: Vec<S::Value>,
    ) -> Result<()> {
        let dims = Rc::clone(&self.now().dims);
        for ((&carry, &source), value) in carries.iter().zip(sources).zip(values) {
            let crossing = Crossing { from: (source.ty(), &dims), to: (carry.ty(), &dims), source, at: expr };
            let value = self.semantics.cross(value, crossing)?;
            self.store(carry, value);
        }
        Ok(())
    }
}

fn constant(expr: Expr<'_>, literal: Literal) -> Result<Tensor> {
    let dtype = expr.ty().as_tensor().map_or(DType::F32, |tensor| tensor.dtype);
    tf_value::literal(literal, dtype).map_err(|error| failed(expr, error.message, error.help))
}
