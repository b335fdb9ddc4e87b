//! Orchestration methods.

use rustc_hash::FxHashMap;
use tf_core::node::method::{MethodExpr, MethodItems, MethodStmt, MethodStmtKind};
use tf_core::node::{Literal, Method};
use tf_core::{Diagnostic, Function, Result, Span};
use tf_types::Symbol;

use crate::Reading;
use crate::boundary::activations;
use crate::reach::arity;
use crate::reading::Step;

/// Deepest chain of calls of methods.
const DEEPEST: usize = 64;

/// What a method's calls of functions do.
pub trait Calls<'c> {
    /// A value that functions take and give.
    type Value: Clone + 'static;

    /// Calls a function on activations in a reading. `span`: the statement that calls.
    ///
    /// # Errors
    /// The function fails.
    fn call(
        &mut self,
        reading: &Reading<'c>,
        function: Function<'c>,
        values: Vec<Self::Value>,
        span: Option<Span>,
    ) -> Result<Self::Value>;

    /// A number as an argument.
    fn literal(&self, literal: Literal) -> Self::Value;

    /// The fields of a tuple.
    fn fields(&self, value: &Self::Value) -> Option<Vec<Self::Value>>;
}

/// What a name of a method stands for.
#[derive(Clone)]
pub enum Item<'c, V> {
    /// Tensors.
    Value(V),
    /// A number or a truth value.
    Literal(Literal),
    /// A string.
    Text,
    /// `None`
    None,
    /// Several.
    Tuple(Vec<Item<'c, V>>),
    /// A module: `self`, or a child.
    Reading(Reading<'c>),
    /// A group of children.
    Group(Vec<Reading<'c>>),
    /// A function or method of a module.
    Step(Step<'c>),
}

type Names<'c, V> = FxHashMap<Symbol<'c>, Item<'c, V>>;

/// Runs a method on arguments by position and by name.
///
/// # Errors
/// A construct that is not run, by name and place; an argument too many or too few; a call that fails.
pub fn run<'c, C: Calls<'c>>(
    calls: &mut C,
    reading: &Reading<'c>,
    method: Method<'c>,
    args: Vec<Item<'c, C::Value>>,
    keywords: Vec<(Symbol<'c>, Item<'c, C::Value>)>,
    depth: usize,
) -> Result<Item<'c, C::Value>> {
    let mut frame = Frame { calls, reading, method, names: Names::default(), span: method.span, depth };
    if depth > DEEPEST {
        return Err(frame.refuse(format!("methods call each other more than {DEEPEST} deep")));
    }
    frame.bind(args, keywords)?;
    Ok(frame.block(method.body)?.unwrap_or(Item::None))
}

struct Frame<'a, 'c, C: Calls<'c>> {
    calls: &'a mut C,
    reading: &'a Reading<'c>,
    method: Method<'c>,
    names: Names<'c, C::Value>,
    /// The statement that runs.
    span: Option<Span>,
    depth: usize,
}

impl<'c, C: Calls<'c>> Frame<'_, 'c, C> {
    fn refuse(&self, message: String) -> Diagnostic {
        Diagnostic::error(format!("method `{}` of {}: {message}", self.method.name, self.reading.describe()))
            .at(self.span)
    }

    fn bind(&mut self, args: Vec<Item<'c, C::Value>>, keywords: Vec<(Symbol<'c>, Item<'c, C::Value>)>) -> Result<()> {
        let params = self.method.data().params;
        if args.len() > params.len() {
            let (wanted, found) = (params.len(), args.len());
            return Err(self.refuse(format!("it takes {wanted} arguments, found {found}")));
        }
        self.names.extend(params.iter().map(|param| param.name).zip(args));
        for (name, value) in keywords {
            if !params.iter().any(|param| param.name == name) {
                return Err(self.refuse(format!("it has no parameter `{name}`")));
            }
            if self.names.insert(name, value).is_some() {
                return Err(self.refuse(format!("`{name}` is given twice")));
            }
        }
        for param in params {
            if !self.names.contains_key(&param.name) {
                let Some(default) = param.default else {
                    return Err(self.refuse(format!("`{}` is not given", param.name)));
                };
                let value = self.expr(&default)?;
                self.names.insert(param.name, value);
            }
        }
        Ok(())
    }

    /// Runs statements; the value of `return`, if one was reached. Blocks nest as deep as they were written.
    fn block(&mut self, body: &'c [MethodStmt<'c>]) -> Result<Option<Item<'c, C::Value>>> {
        for stmt in body {
            self.span = stmt.span.0.or(self.method.span);
            match stmt.kind {
                MethodStmtKind::Assign(name, value) => {
                    let value = self.expr(&value)?;
                    self.names.insert(name, value);
                }
                MethodStmtKind::Unpack(names, value) => self.unpack(names, &value)?,
                MethodStmtKind::Drop(value) => drop(self.expr(&value)?),
                MethodStmtKind::For { name, items, body } => {
                    for item in self.items(items)? {
                        self.names.insert(name, item);
                        if let Some(returned) = self.block(body)? {
                            return Ok(Some(returned));
                        }
                    }
                }
                MethodStmtKind::Return(None) => return Ok(Some(Item::None)),
                MethodStmtKind::Return(Some(value)) => return self.expr(&value).map(Some),
                MethodStmtKind::Unsupported(what) => return Err(self.unsupported(what)),
            }
        }
        Ok(None)
    }

    fn unsupported(&self, what: Symbol<'c>) -> Diagnostic {
        let runs = "assignments, unpacking, calls of functions, children and methods, loops over a group of children or a range, and return";
        self.refuse(format!("`{what}` is not run")).with_help(format!("a method that is evaluated holds {runs}"))
    }

    fn unpack(&mut self, names: &[Symbol<'c>], value: &MethodExpr<'c>) -> Result<()> {
        let value = self.expr(value)?;
        let parts = self.parts(value).ok_or_else(|| self.refuse("what is unpacked is no tuple".to_owned()))?;
        if parts.len() != names.len() {
            let (wanted, found) = (names.len(), parts.len());
            return Err(self.refuse(format!("{wanted} names for {found} values")));
        }
        self.names.extend(names.iter().copied().zip(parts));
        Ok(())
    }

    fn items(&mut self, items: MethodItems<'c>) -> Result<Box<dyn Iterator<Item = Item<'c, C::Value>> + 'c>> {
        match items {
            MethodItems::Range(start, stop, step) => {
                let Ok(stride) = usize::try_from(step.unsigned_abs()) else {
                    return Err(self.refuse("the step of a range is too large".to_owned()));
                };
                let number = |n| Item::Literal(Literal::Int(n));
                match step {
                    0 => Err(self.refuse("the step of a range is 0".to_owned())),
                    1.. => Ok(Box::new((start..stop).step_by(stride).map(number))),
                    _ => Ok(Box::new((stop.saturating_add(1)..=start).rev().step_by(stride).map(number))),
                }
            }
            MethodItems::Of(value) => {
                let value = self.expr(&value)?;
                let refusal = "a loop runs over a group of children, a tuple or a range".to_owned();
                let parts = self.parts(value).ok_or_else(|| self.refuse(refusal))?;
                Ok(Box::new(parts.into_iter()))
            }
        }
    }

    fn parts(&self, value: Item<'c, C::Value>) -> Option<Vec<Item<'c, C::Value>>> {
        match value {
            Item::Tuple(parts) => Some(parts),
            Item::Group(readings) => Some(readings.into_iter().map(Item::Reading).collect()),
            Item::Value(value) => Some(self.calls.fields(&value)?.into_iter().map(Item::Value).collect()),
            _ => None,
        }
    }

    /// Expressions nest as deep as they were written.
    fn expr(&mut self, expr: &MethodExpr<'c>) -> Result<Item<'c, C::Value>> {
        Ok(match *expr {
            MethodExpr::Name(name) => match self.names.get(&name) {
                Some(item) => item.clone(),
                None if name.as_str() == "self" => Item::Reading(self.reading.clone()),
                None => return Err(self.refuse(format!("`{name}` is not defined"))),
            },
            MethodExpr::None => Item::None,
            MethodExpr::Literal(literal) => Item::Literal(literal),
            MethodExpr::Str(_) => Item::Text,
            MethodExpr::Attribute(base, name) => {
                let Item::Reading(reading) = self.expr(base)? else {
                    return Err(self.refuse(format!("`.{name}`: only modules have attributes here")));
                };
                self.attribute(&reading, name)?
            }
            MethodExpr::Item(base, index) => {
                let base = self.expr(base)?;
                let Item::Literal(Literal::Int(index)) = self.expr(index)? else {
                    return Err(self.refuse("an index is an integer".to_owned()));
                };
                let refusal = "only groups of children and tuples have items here".to_owned();
                let parts = self.parts(base).ok_or_else(|| self.refuse(refusal))?;
                let count = parts.len();
                let at = if index < 0 { index.checked_add_unsigned(count as u64) } else { Some(index) };
                let found = at.and_then(|at| usize::try_from(at).ok()).and_then(|at| parts.into_iter().nth(at));
                found.ok_or_else(|| self.refuse(format!("there is no item {index} of {count}")))?
            }
            MethodExpr::Tuple(items) => Item::Tuple(items.iter().map(|item| self.expr(item)).collect::<Result<_>>()?),
            MethodExpr::Call { callee, args, keywords } => {
                let callee = self.expr(callee)?;
                let args = args.iter().map(|arg| self.expr(arg)).collect::<Result<Vec<_>>>()?;
                let keywords = keywords.iter().map(|(name, value)| Ok((*name, self.expr(value)?)));
                let keywords = keywords.collect::<Result<Vec<_>>>()?;
                self.call(callee, args, keywords)?
            }
            MethodExpr::Unsupported(what) => return Err(self.unsupported(what)),
        })
    }

    /// A function, a child, a group or a method of a module, in that order.
    fn attribute(&self, reading: &Reading<'c>, name: Symbol<'c>) -> Result<Item<'c, C::Value>> {
        if let Some(Step::Function(reading, function)) = reading.step(name.as_str()) {
            return Ok(Item::Step(Step::Function(reading, function)));
        }
        if let Some(child) = reading.child(name.as_str()) {
            return Ok(Item::Reading(child.clone()));
        }
        if let Some(group) = reading.group(name) {
            return Ok(Item::Group(group));
        }
        match reading.step(name.as_str()) {
            Some(step) => Ok(Item::Step(step)),
            None => {
                Err(self.refuse(format!("{} has no member `{name}`", reading.describe())).with_help(reading.members()))
            }
        }
    }

    fn call(
        &mut self,
        callee: Item<'c, C::Value>,
        args: Vec<Item<'c, C::Value>>,
        keywords: Vec<(Symbol<'c>, Item<'c, C::Value>)>,
    ) -> Result<Item<'c, C::Value>> {
        let step = match callee {
            Item::Step(step) => step,
            Item::Reading(reading) => reading.default_step().map_err(|error| error.at(self.span))?,
            _ => return Err(self.refuse("only functions, children and methods are called".to_owned())),
        };
        match step {
            Step::Method(reading, method) => run(self.calls, &reading, method, args, keywords, self.depth + 1),
            Step::Function(reading, function) => {
                let values = self.arguments(function, args, keywords)?;
                self.calls.call(&reading, function, values, self.span).map(Item::Value)
            }
        }
    }

    /// One value an activation.
    fn arguments(
        &self,
        function: Function<'c>,
        args: Vec<Item<'c, C::Value>>,
        keywords: Vec<(Symbol<'c>, Item<'c, C::Value>)>,
    ) -> Result<Vec<C::Value>> {
        let names: Vec<_> = activations(function).filter_map(tf_core::Expr::var_name).collect();
        let found = args.len() + keywords.len();
        let wrong = || {
            let constants = function.params.iter().filter(|param| param.is_const_param());
            let constants: Vec<_> =
                constants.filter_map(|param| param.var_name()).map(|name| name.to_string()).collect();
            let names: Vec<_> = names.iter().map(Symbol::to_string).collect();
            arity(&format!("`{}`", function.name), &names, &constants, found).at(self.span)
        };
        if found != names.len() {
            return Err(wrong());
        }
        let mut slots: Vec<Option<C::Value>> = vec![None; names.len()];
        for (slot, item) in slots.iter_mut().zip(args) {
            *slot = Some(self.value(item)?);
        }
        for (name, item) in keywords {
            let at = names.iter().position(|known| *known == name);
            let Some(slot) = at.map(|at| &mut slots[at]).filter(|slot| slot.is_none()) else {
                return Err(self.refuse(format!("`{}` has no parameter `{name}` left", function.name)));
            };
            *slot = Some(self.value(item)?);
        }
        slots.into_iter().collect::<Option<Vec<_>>>().ok_or_else(wrong)
    }

    fn value(&self, item: Item<'c, C::Value>) -> Result<C::Value> {
        match item {
            Item::Value(value) => Ok(value),
            Item::Literal(literal) => Ok(self.calls.literal(literal)),
            _ => Err(self.refuse("an argument of a function is a tensor or a number".to_owned())),
        }
    }
}
