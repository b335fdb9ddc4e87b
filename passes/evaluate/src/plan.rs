//! The order in which a function is evaluated, and when values are dropped.

use std::ops::Range;

use tf_core::op::{OpCall, OpView};
use tf_core::walk::{operands, schedule};
use tf_core::{Callee, Expr, ExprKind, Function, NodeMap};
use tf_hir::tensor::TupleGetItem;
use tf_types::TypeKind;

/// An expression's place among a function's values.
pub type Slot = usize;

/// What a function's evaluation does, region by region.
pub struct Plan<'c> {
    /// Region 0 is the function's body, the others are loop bodies.
    pub regions: Vec<Vec<Item<'c>>>,
    /// By region: what its iterations have of their own and end with.
    pub made: Vec<Vec<Slot>>,
    /// The region of a loop.
    pub bodies: NodeMap<Expr<'c>, usize>,
    slots: NodeMap<Expr<'c>, Slot>,
    /// Of all items, one after the other.
    operands: Vec<Slot>,
    dead: Vec<Slot>,
    spent: Vec<usize>,
    /// Parameters that nobody uses.
    pub unused: Vec<Slot>,
}

/// One evaluation.
pub struct Item<'c> {
    /// What is evaluated.
    pub expr: Expr<'c>,
    /// Its slot.
    pub slot: Slot,
    operands: Range<usize>,
    dead: Range<usize>,
    dead_after: Range<usize>,
    spent: Range<usize>,
    /// Whether only iterations of loops use it, so that its failure counts when one runs.
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
    /// Of the value in each slot.
    places: Vec<Place>,
    /// Per region: where its loop stands.
    parents: Vec<Option<Place>>,
    params: Vec<Slot>,
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

    /// The slots whose values nobody needs once an item has read its operands (a loop: what it begins with).
    #[must_use]
    pub fn dead(&self, item: &Item<'c>) -> &[Slot] {
        &self.dead[item.dead.clone()]
    }

    /// The slots whose values nobody needs once a loop has ended.
    #[must_use]
    pub fn dead_after(&self, item: &Item<'c>) -> &[Slot] {
        &self.dead[item.dead_after.clone()]
    }

    /// The fields that nobody needs once an item has read its operand, a tuple that lives on.
    #[must_use]
    pub fn spent(&self, item: &Item<'c>) -> &[usize] {
        &self.spent[item.spent.clone()]
    }
}

/// The field that an expression takes out of its operand.
fn field_of(expr: Expr<'_>) -> Option<usize> {
    let ExprKind::Call { callee: Callee::Op(op), args } = expr.kind else { return None };
    let call = op.is::<TupleGetItem>().then(|| OpCall::<TupleGetItem>::new(OpView { op, args }))??;
    usize::try_from(call.index()).ok()
}

/// A field taken out of the tuple in a slot of the same region, by that item.
struct Get<'c> {
    slot: Slot,
    tuple: Expr<'c>,
    at: usize,
    field: usize,
}

impl<'c> Planner<'c> {
    fn new(function: Function<'c>, body: Expr<'c>) -> Self {
        let mut schedule = schedule(body);
        let (bodies, slots) = (NodeMap::default(), NodeMap::default());
        let mut plan = Plan {
            regions: Vec::new(),
            made: Vec::new(),
            bodies,
            slots,
            operands: Vec::new(),
            dead: Vec::new(),
            spent: Vec::new(),
            unused: Vec::new(),
        };
        let mut places = Vec::new();
        let mut parents = vec![None];
        let mut add = |plan: &mut Plan<'c>, expr: Expr<'c>, place: Place| {
            let next = places.len();
            let slot = *plan.slots.or_insert_with(expr, || next);
            if slot == next {
                places.push(place);
            }
            slot
        };
        for &param in function.params {
            add(&mut plan, param, Place { region: 0, at: 0 });
        }
        // Regions get numbers as their loops come up, outer ones first.
        let mut pending = vec![(0, std::mem::take(&mut schedule.root))];
        let mut count = 1;
        while let Some((region, exprs)) = pending.pop() {
            let mut items = Vec::with_capacity(exprs.len());
            for (at, expr) in exprs.into_iter().enumerate() {
                let slot = add(&mut plan, expr, Place { region, at });
                if let ExprKind::Grid(grid) = expr.kind {
                    for var in grid.binders() {
                        add(&mut plan, var, Place { region: count, at: 0 });
                    }
                    plan.bodies.insert(expr, count);
                    parents.push(Some(Place { region, at }));
                    pending.push((count, schedule.regions.get_mut(&expr).map(std::mem::take).unwrap_or_default()));
                    count += 1;
                }
                items.push(Item {
                    expr,
                    slot,
                    operands: 0..0,
                    dead: 0..0,
                    dead_after: 0..0,
                    spent: 0..0,
                    deferred: false,
                });
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
        let params = function.params.iter().map(|&param| plan.slot(param)).collect();
        Self { plan, places, parents, params }
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
        const NEVER: usize = usize::MAX;
        // By slot: the item of its own region that uses it last, and whether that is a loop whose iterations do.
        let mut last = vec![(NEVER, false); self.places.len()];
        // Yields are read when the iteration has ended, the body when the function has.
        let mut pinned = vec![false; self.places.len()];
        let mut made = vec![Vec::new(); self.plan.regions.len()];
        let mut uses = Vec::new();
        let (mut gets, mut whole) = (Vec::new(), vec![false; self.places.len()]);
        for (region, items) in self.plan.regions.iter().enumerate() {
            for (at, item) in items.iter().enumerate() {
                let inner = self.uses(item, &mut uses);
                let field = field_of(item.expr);
                for &(slot, by_iteration) in &uses {
                    let home = self.places[slot].region;
                    match (field, item.expr.kind) {
                        (Some(field), ExprKind::Call { args: &[tuple], .. }) if home == region => {
                            gets.push(Get { slot, tuple, at, field });
                        }
                        _ => whole[slot] = true,
                    }
                    if let Some(inner) = inner.filter(|&inner| inner == home) {
                        if !std::mem::replace(&mut pinned[slot], true) {
                            made[inner].push(slot);
                        }
                    } else if let Some((at, nested)) = self.item_in(home, Place { region, at }) {
                        let (before, in_loop) = last[slot];
                        let in_loop = nested || by_iteration || (in_loop && before == at);
                        if before == NEVER || before <= at {
                            last[slot] = (at, in_loop);
                        }
                    }
                }
            }
        }
        self.plan.made = made;
        let result = self.plan.slot(body);
        let is_unused = |slot: &Slot| *slot != result && last[*slot].0 == NEVER;
        self.plan.unused = self.params.iter().copied().filter(is_unused).collect();
        gets.retain(|get| !whole[get.slot] && get.slot != result);
        self.fields(gets);
        let dying = last.iter().enumerate().filter(|&(slot, &(at, _))| at != NEVER && !pinned[slot] && slot != result);
        let mut deaths: Vec<_> =
            dying.map(|(slot, &(at, in_loop))| (self.places[slot].region, at, in_loop, slot)).collect();
        deaths.sort_unstable();
        for (order, &(home, at, in_loop, slot)) in deaths.iter().enumerate() {
            let item = &mut self.plan.regions[home][at];
            let dead = if in_loop { &mut item.dead_after } else { &mut item.dead };
            *dead = if dead.start == dead.end { order } else { dead.start }..order + 1;
            self.plan.dead.push(slot);
        }
        self.deferrals(result);
    }

    /// Notes which get of a field is the last one, or the first one of any field where nobody gets this one. `gets`, in order, are the only uses
    /// of their tuples.
    fn fields(&mut self, mut gets: Vec<Get<'c>>) {
        gets.sort_by_key(|get| get.slot);
        let mut spent = Vec::new();
        for gets in gets.chunk_by(|a, b| a.slot == b.slot) {
            let TypeKind::Tuple(fields) = *gets[0].tuple.ty().data() else { continue };
            for field in 0..fields.len() {
                let last = gets.iter().rfind(|get| get.field == field).unwrap_or(&gets[0]);
                spent.push((self.places[last.slot].region, last.at, field));
            }
        }
        spent.sort_unstable();
        for (order, &(region, at, field)) in spent.iter().enumerate() {
            let range = &mut self.plan.regions[region][at].spent;
            *range = if range.start == range.end { order } else { range.start }..order + 1;
            self.plan.spent.push(field);
        }
    }

    /// A value is deferred if every use outside iterations is by a deferred one of its region, which comes later.
    fn deferrals(&mut self, result: Slot) {
        let mut needed = vec![false; self.places.len()];
        if let Some(needed) = needed.get_mut(result) {
            *needed = true;
        }
        let mut uses = Vec::new();
        for region in (0..self.plan.regions.len()).rev() {
            for at in (0..self.plan.regions[region].len()).rev() {
                let item = &self.plan.regions[region][at];
                if !needed[item.slot] {
                    self.plan.regions[region][at].deferred = true;
                    continue;
                }
                self.uses(item, &mut uses);
                for &(slot, by_iteration) in &uses {
                    needed[slot] |= !by_iteration && self.places[slot].region == region;
                }
            }
        }
    }

    /// The slots that an item reads, and whether its iterations do; the region of these iterations.
    fn uses(&self, item: &Item<'c>, uses: &mut Vec<(Slot, bool)>) -> Option<usize> {
        uses.clear();
        let known = |slot: &Slot| *slot < self.places.len();
        let ExprKind::Grid(grid) = item.expr.kind else {
            uses.extend(self.plan.operands(item).iter().copied().filter(known).map(|slot| (slot, false)));
            return None;
        };
        let slots =
            |exprs: &[Expr<'c>]| exprs.iter().map(|&expr| self.plan.slot(expr)).filter(known).collect::<Vec<_>>();
        uses.extend(slots(grid.inits).into_iter().map(|slot| (slot, false)));
        uses.extend(slots(grid.yields).into_iter().map(|slot| (slot, true)));
        uses.extend(grid.body.map(|body| self.plan.slot(body)).filter(known).map(|slot| (slot, true)));
        self.plan.bodies.get(&item.expr).copied()
    }
}
