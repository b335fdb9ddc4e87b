//! The order in which a function is evaluated, and when values are dropped.

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};
use tf_core::walk::{operands, schedule};
use tf_core::{Expr, ExprKind, Function};

/// An expression's place among a function's values.
pub type Slot = usize;

/// What a function's evaluation does, region by region.
pub struct Plan<'c> {
    /// Region 0 is the function's body, the others are loop bodies.
    pub regions: Vec<Vec<Item<'c>>>,
    /// The region of a loop.
    pub bodies: FxHashMap<Expr<'c>, usize>,
    slots: FxHashMap<Expr<'c>, Slot>,
    /// Of all items, one after the other.
    operands: Vec<Slot>,
    dead: Vec<Slot>,
}

/// One evaluation.
pub struct Item<'c> {
    /// What is evaluated.
    pub expr: Expr<'c>,
    /// Its slot.
    pub slot: Slot,
    operands: Range<usize>,
    dead: Range<usize>,
    /// Whether only iterations of loops use it, so that its failure counts when one runs (spec: design §3).
    pub deferred: bool,
}

/// Where an expression stands.
#[derive(Clone, Copy)]
struct Place {
    region: usize,
    at: usize,
}

struct Planner<'c> {
    plan: Plan<'c>,
    places: FxHashMap<Expr<'c>, Place>,
    /// Per region: where its loop stands.
    parents: Vec<Option<Place>>,
}

impl<'c> Plan<'c> {
    /// The plan of a function with that value.
    #[must_use]
    pub fn new(function: Function<'c>, body: Expr<'c>) -> Self {
        let mut planner = Planner::new(function, body);
        planner.lifetimes(body);
        planner.plan
    }

    /// How many slots there are.
    #[must_use]
    pub fn slot_count(&self) -> usize {
        self.slots.len()
    }

    /// The slot of an expression of this function; of any other one a slot that there is not.
    #[must_use]
    pub fn slot(&self, expr: Expr<'c>) -> Slot {
        self.slots.get(&expr).copied().unwrap_or(usize::MAX)
    }

    /// The slots of an item's operands, if it is no loop.
    #[must_use]
    pub fn operands(&self, item: &Item<'c>) -> &[Slot] {
        &self.operands[item.operands.clone()]
    }

    /// The slots whose values nobody needs after an item.
    #[must_use]
    pub fn dead(&self, item: &Item<'c>) -> &[Slot] {
        &self.dead[item.dead.clone()]
    }
}

impl<'c> Planner<'c> {
    fn new(function: Function<'c>, body: Expr<'c>) -> Self {
        let mut schedule = schedule(body);
        let (bodies, slots) = (FxHashMap::default(), FxHashMap::default());
        let mut plan = Plan { regions: Vec::new(), bodies, slots, operands: Vec::new(), dead: Vec::new() };
        let mut places = FxHashMap::default();
        let mut parents = vec![None];
        for &param in function.params {
            let next = plan.slots.len();
            plan.slots.entry(param).or_insert(next);
        }
        // Regions get numbers as their loops come up, outer ones first.
        let mut pending = vec![(0, std::mem::take(&mut schedule.root))];
        let mut count = 1;
        while let Some((region, exprs)) = pending.pop() {
            let mut items = Vec::with_capacity(exprs.len());
            for (at, expr) in exprs.into_iter().enumerate() {
                places.insert(expr, Place { region, at });
                let slot = plan.slots.len();
                plan.slots.insert(expr, slot);
                if let ExprKind::Grid(grid) = expr.kind {
                    for &var in grid.carries.iter().chain([&grid.induction]) {
                        let next = plan.slots.len();
                        plan.slots.insert(var, next);
                        places.insert(var, Place { region: count, at: 0 });
                    }
                    plan.bodies.insert(expr, count);
                    parents.push(Some(Place { region, at }));
                    pending.push((count, schedule.regions.remove(&expr).unwrap_or_default()));
                    count += 1;
                }
                items.push(Item { expr, slot, operands: 0..0, dead: 0..0, deferred: false });
            }
            if plan.regions.len() < count {
                plan.regions.resize_with(count, Vec::new);
            }
            plan.regions[region] = items;
        }
        plan.regions.resize_with(count, Vec::new);
        for item in plan.regions.iter_mut().flatten() {
            let first = plan.operands.len();
            if !matches!(item.expr.kind, ExprKind::Grid(_)) {
                operands(item.expr, |operand| {
                    plan.operands.push(plan.slots.get(&operand).copied().unwrap_or(usize::MAX));
                });
            }
            item.operands = first..plan.operands.len();
        }
        Self { plan, places, parents }
    }

    /// The item of `region` that contains a place, and whether it lies in a loop of that region.
    fn item_in(&self, region: usize, mut place: Place) -> Option<(usize, bool)> {
        let mut nested = false;
        while place.region != region {
            place = self.parents[place.region]?;
            nested = true;
        }
        Some((place.at, nested))
    }

    /// Notes for every value its last use in its own region and whether all uses are in iterations.
    fn lifetimes(&mut self, body: Expr<'c>) {
        let mut last: FxHashMap<Expr<'c>, usize> = FxHashMap::default();
        // Yields are read when the iteration has ended.
        let mut pinned: FxHashSet<Expr<'c>> = FxHashSet::default();
        // Uses by an item of the same region: the value is deferred only if the user is.
        let mut direct: FxHashMap<Expr<'c>, Vec<Place>> = FxHashMap::default();
        for (region, items) in self.plan.regions.iter().enumerate() {
            for (at, item) in items.iter().enumerate() {
                let user = Place { region, at };
                let in_iteration = self.plan.bodies.get(&item.expr).copied();
                let mut note = |operand: Expr<'c>, by_iteration: bool| {
                    let home = self.places.get(&operand).map_or(0, |place| place.region);
                    if Some(home) == in_iteration {
                        pinned.insert(operand);
                        return;
                    }
                    let Some((at, nested)) = self.item_in(home, user) else { return };
                    let latest = last.entry(operand).or_insert(at);
                    *latest = at.max(*latest);
                    if !nested && !by_iteration {
                        direct.entry(operand).or_default().push(user);
                    }
                };
                match item.expr.kind {
                    ExprKind::Grid(grid) => {
                        grid.inits.iter().for_each(|&init| note(init, false));
                        grid.yields.iter().chain(&grid.body).for_each(|&value| note(value, true));
                    }
                    _ => operands(item.expr, |operand| note(operand, false)),
                }
            }
        }
        let mut deaths = Vec::with_capacity(last.len());
        for (value, at) in last {
            if value != body && !pinned.contains(&value) {
                let home = self.places.get(&value).map_or(0, |place| place.region);
                deaths.push((home, at, self.plan.slots[&value]));
            }
        }
        deaths.sort_unstable();
        for (order, &(home, at, slot)) in deaths.iter().enumerate() {
            let dead = &mut self.plan.regions[home][at].dead;
            *dead = if dead.start == dead.end { order } else { dead.start }..order + 1;
            self.plan.dead.push(slot);
        }
        for region in (0..self.plan.regions.len()).rev() {
            for at in (0..self.plan.regions[region].len()).rev() {
                let expr = self.plan.regions[region][at].expr;
                let is_deferred = |user: &Place| self.plan.regions[user.region][user.at].deferred;
                let deferred = expr != body && direct.get(&expr).is_none_or(|users| users.iter().all(is_deferred));
                self.plan.regions[region][at].deferred = deferred;
            }
        }
    }
}
