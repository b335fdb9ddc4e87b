//! Loops: carries are assignments to names that have a value before the loop.

use rustc_hash::FxHashSet;
use tf_core::node::GridRegion;
use tf_core::walk::Schedule;
use tf_core::{Diagnostic, Expr, ExprKind, Result};
use tf_types::{DType, Symbol};

use super::Printer;
use super::body::end_of;
use super::doc::Doc;
use super::scope::Mark;

/// A loop whose block is open.
pub(super) struct Open<'c> {
    carries: Vec<Symbol<'c>>,
    nested: Nested<'c>,
    mark: Mark,
}

/// Names that loops inside a loop bind.
#[derive(Default)]
struct Nested<'c> {
    carries: FxHashSet<Symbol<'c>>,
    counters: FxHashSet<Symbol<'c>>,
}

fn name_of(var: Expr<'_>) -> Result<Symbol<'_>> {
    var.var_name().ok_or_else(|| Diagnostic::error("a loop counts with a variable"))
}

fn nested_names<'c>(grid: Expr<'c>, plan: &Schedule<'c>) -> Nested<'c> {
    let mut names = Nested::default();
    let mut stack = vec![grid];
    while let Some(outer) = stack.pop() {
        let ExprKind::Grid(region) = outer.kind else { continue };
        if outer != grid {
            names.carries.extend(region.carries.iter().filter_map(|carry| carry.var_name()));
            names.counters.extend(region.induction.var_name());
        }
        let inside = plan.region(outer).iter().copied().chain(end_of(outer));
        stack.extend(inside.filter(|inner| matches!(inner.kind, ExprKind::Grid(_))));
    }
    names
}

impl<'c> Printer<'_, 'c> {
    /// Gives the carries their initial values and begins the block.
    pub(super) fn open_loop(
        &mut self,
        grid: Expr<'c>,
        region: &GridRegion<'c>,
        plan: &Schedule<'c>,
    ) -> Result<Open<'c>> {
        let carries = region.carries.iter().map(|&carry| name_of(carry)).collect::<Result<Vec<_>>>()?;
        let counter = name_of(region.induction)?;
        let mut all: Vec<_> = carries.iter().chain([&counter]).collect();
        all.sort_unstable_by_key(|name| name.as_str());
        if let Some(twice) = all.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Diagnostic::error(format!("two variables of the loop are named `{}`", twice[0])));
        }
        let nested = nested_names(grid, plan);
        let mut foreign: Vec<_> = nested.carries.iter().filter(|name| !carries.contains(name)).collect();
        foreign.sort_unstable_by_key(|name| name.as_str());
        if let Some(name) = foreign.into_iter().find(|name| self.scope.binding(**name).is_some()) {
            let message = format!("a loop inside carries `{name}`, which has a value before this one");
            return Err(Diagnostic::error(message).with_help("the DSL carries it through both"));
        }
        for (&name, &init) in carries.iter().zip(region.inits) {
            if init.literal().is_some() {
                return Err(Diagnostic::error(format!(
                    "the loop carries `{name}` from a literal on, not from a tensor"
                )));
            }
            let text = self.value_text(init)?;
            if self.scope.binding(name) != Some(init) {
                self.keep(name);
                self.text_line(&format!("{name} = {text}"));
                self.scope.bind(name, init);
            }
        }
        // Values that lose their names in the block get others before it.
        let mut bound: Vec<_> = carries.iter().chain([&counter]).chain(&nested.counters).copied().collect();
        bound.sort_unstable_by_key(|name| name.as_str());
        for name in bound {
            self.keep(name);
        }
        let header = self.header(region)?;
        self.line();
        Doc::Seq(vec![format!("for {counter} in ").into(), header]).write(&mut self.out, self.indent, self.indent, 1);
        self.open_block();
        self.comment_loop(grid);
        let mark = self.scope.enter();
        for (&name, &var) in carries.iter().zip(region.carries).chain([(&counter, &region.induction)]) {
            self.scope.names.insert(var, name.as_str().into());
            self.scope.bind(name, var);
        }
        if carries.len() > 1 && carries.iter().any(|name| nested.carries.contains(name)) {
            // Carries are in the order of their first assignment, also of one in a loop inside.
            for name in &carries {
                self.text_line(&format!("{name} = {name}"));
            }
        }
        Ok(Open { carries, nested, mark })
    }

    fn comment_loop(&mut self, grid: Expr<'c>) {
        if self.options.types || self.options.locations || self.options.names {
            self.comment(grid);
        }
    }

    /// `tile(extent, step)` where a window of that size starts at the variable, else `range(…)`.
    fn header(&mut self, region: &GridRegion<'c>) -> Result<Doc> {
        let (start, stop, step) = (region.start, region.stop, region.step);
        let is_tile = start.as_const() == Some(0)
            && step.as_const() != Some(1)
            && step.as_const().is_none_or(|step| step > 0)
            && self.scope.windows.contains(&(region.induction, step));
        let word = self.file.word(self.cx, if is_tile { "tile" } else { "range" })?;
        if is_tile {
            self.scope.tiles.insert(region.induction, step);
        }
        let dims = match (start.as_const(), step.as_const()) {
            _ if is_tile => vec![stop, step],
            (Some(0), Some(1)) => vec![stop],
            (_, Some(1)) => vec![start, stop],
            _ => vec![start, stop, step],
        };
        let bounds = dims.into_iter().map(|dim| self.dim(dim).map(Doc::Text)).collect::<Result<Vec<_>>>()?;
        Ok(Doc::call(word, bounds))
    }

    /// Assigns the values of the next iteration and ends the block; `last` is the value of its last statement.
    pub(super) fn close_loop(&mut self, grid: Expr<'c>, open: Open<'c>, last: Option<Expr<'c>>) -> Result<()> {
        let ExprKind::Grid(region) = grid.kind else { return Ok(()) };
        let Open { carries, nested, mark } = open;
        for (at, (&name, &value)) in carries.iter().zip(region.yields).enumerate() {
            let text = match value.literal() {
                Some(_) => {
                    let carried = region.carries[at].ty().as_tensor().map(|t| t.dtype);
                    self.literal(value, carried.filter(|dtype| dtype.is_float()).unwrap_or(DType::F32))?
                }
                None => self.value_text(value)?,
            };
            if self.scope.binding(name) == Some(value) {
                if nested.carries.contains(&name) {
                    continue;
                }
            } else {
                self.keep(name);
            }
            self.text_line(&format!("{name} = {text}"));
            self.scope.bind(name, value);
        }
        if let (true, Some(body)) = (carries.is_empty(), region.body)
            && last != Some(body)
        {
            if body.literal().is_some() {
                return Err(Diagnostic::error("a loop that carries nothing ends with a tensor, not with a literal"));
            }
            let text = self.value_text(body)?;
            let name = self.scope.fresh(None, &self.file, self.cx);
            self.text_line(&format!("{name} = {text}"));
        }
        self.scope.leave(mark);
        self.close_block();
        for &counter in [name_of(region.induction)?].iter().chain(&nested.counters) {
            self.scope.unbind(counter);
        }
        match &carries[..] {
            [] => {}
            [name] => {
                self.scope.names.insert(grid, name.as_str().into());
                self.scope.bind(*name, grid);
                self.constraint(grid)?;
            }
            several => {
                for (at, &name) in several.iter().enumerate() {
                    let item = self.scope.items.get(&(grid, at)).copied();
                    self.scope.bind(name, item.unwrap_or(grid));
                    if let Some(item) = item {
                        self.scope.names.insert(item, name.as_str().into());
                        self.constraint(item)?;
                    }
                }
            }
        }
        Ok(())
    }
}
