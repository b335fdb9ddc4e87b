//! Instructions that threads run together, and views.

use tf_core::{Diagnostic, Result, Span};
use tf_value::tir::{Stop, Team};

use super::code::Instruction;
use super::cta::{Cta, Group};
use super::lanes::{Lanes, refused};
use super::report::{Who, intervals};
use super::schedule::{Next, Progress, Turn};

impl Turn<'_, '_> {
    /// A group comes to an effect.
    pub(super) fn meet(&mut self, cta: &mut Cta, group: &mut Group, name: &str, team: Team) -> Result<Next> {
        let at = group.at;
        let next = Next::At(at + 1);
        let range = match team {
            Team::Each => {
                self.effect(cta, &group.threads, at)?;
                return Ok(next);
            }
            Team::Block(Some(threads)) if threads != cta.threads => {
                let message = format!("`{name}` of all {threads} threads of a mesh, but the CTA has {}", cta.threads);
                let error = Diagnostic::error(message).at(self.span(at));
                return Err(error.with_help("launch as many threads as the mesh has"));
            }
            Team::Threads { base, count } if base.saturating_add(count) > cta.threads => {
                let last = base.saturating_add(count).saturating_sub(1);
                let message = format!("`{name}` meets threads {base} to {last}, but the CTA has {}", cta.threads);
                return Err(Diagnostic::error(message).at(self.span(at)));
            }
            Team::Threads { base, count } => base..base + count,
            Team::Block(_) | Team::Chunks(_) | Team::Grid => 0..cta.threads,
        };
        let (inside, outside) = group.threads.iter().partition::<Vec<u32>, _>(|&&thread| range.contains(&thread));
        if inside.is_empty() {
            return Ok(next);
        }
        let arrived = group.part(at, inside);
        let mut waiting = match cta.waiting.iter().position(|other| other.is_with(&arrived)) {
            Some(known) => cta.waiting.swap_remove(known),
            None => arrived.part(at, Vec::new()),
        };
        waiting.join(arrived);
        let complete = complete(&waiting.threads, team, range.len(), cta.threads);
        waiting.threads.retain(|thread| complete.binary_search(thread).is_err());
        if !waiting.threads.is_empty() {
            cta.waiting.push(waiting);
        }
        if !complete.is_empty() {
            self.effect(cta, &complete, at)?;
        }
        let going = group.part(at, complete);
        group.threads = outside;
        group.join(going);
        Ok(if group.threads.is_empty() { Next::Nowhere } else { next })
    }

    /// Runs an effect for these threads.
    fn effect(&mut self, cta: &mut Cta, threads: &[u32], at: u32) -> Result<()> {
        let Instruction::Run { name, effect, operands, .. } = &self.code.instructions[at as usize] else {
            return Ok(());
        };
        let (site, who) = (self.site(at), self.who);
        let mut lanes = Lanes { shared: self.shared, cta, threads, operands, site, who };
        let run = effect.run(&mut lanes);
        run.map_err(|stop| self.refused(cta, stop, name, at))
    }

    /// A refusal, with who waits at a barrier meanwhile: of threads whose ways parted there, the fault may be that they did.
    pub(super) fn refused(&self, cta: &Cta, stop: Stop, name: &str, at: u32) -> Diagnostic {
        let is_access = matches!(stop, Stop::Report(_));
        let error = refused(stop, name, self.span(at));
        match cta.waiting.iter().min_by_key(|group| group.at).filter(|_| is_access) {
            Some(group) => error.with_note(self.span(group.at), format!("{} meanwhile", self.waits(cta, group))),
            None => error,
        }
    }

    /// That threads wait for others, and the numbers of those.
    fn waits(&self, cta: &Cta, group: &Group) -> String {
        let missing = self.missing(cta, group);
        let plural = |threads: &[u32]| if threads.len() == 1 { "thread" } else { "threads" };
        let (here, lacking) = (intervals(&group.threads), intervals(&missing));
        let name = match &self.code.instructions[group.at as usize] {
            Instruction::Run { name, .. } => name.as_str(),
            _ => "",
        };
        format!(
            "{} {here} of block {} wait at `{name}` for {} {lacking}",
            plural(&group.threads),
            cta.id,
            plural(&missing)
        )
    }

    /// Those who must come before a group that waits goes on.
    fn missing(&self, cta: &Cta, group: &Group) -> Vec<u32> {
        let needed = match &self.code.instructions[group.at as usize] {
            Instruction::Run { team: Team::Threads { base, count }, .. } => *base..base + count,
            Instruction::Run { team: Team::Chunks(size), .. } => {
                let chunk = group.threads[0] / size * size;
                chunk..(chunk + size).min(cta.threads)
            }
            _ => 0..cta.threads,
        };
        needed.filter(|thread| group.threads.binary_search(thread).is_err()).collect()
    }

    /// No group goes on.
    pub(super) fn stand(&self, cta: &Cta) -> Result<Progress> {
        let Some(first) = cta.waiting.iter().min_by_key(|group| group.at) else { return Ok(Progress::Done) };
        let is_grid = matches!(&self.code.instructions[first.at as usize], Instruction::Run { team: Team::Grid, .. });
        if is_grid && first.threads.len() == cta.threads as usize {
            return Ok(Progress::AtGrid(first.at));
        }
        let missing = self.missing(cta, first);
        let message = format!("{}, which never come", self.waits(cta, first));
        let error = Diagnostic::error(message).at(self.span(first.at));
        let other =
            cta.waiting.iter().find(|group| group.threads.iter().any(|thread| missing.binary_search(thread).is_ok()));
        let error = match other {
            Some(group) => {
                error.with_note(self.span(group.at), format!("threads {} wait here", intervals(&group.threads)))
            }
            None => error.with_note(None, "they have come to the end of the function"),
        };
        Err(error.with_help("every thread that takes part must come to the same barrier"))
    }

    /// The launch must start the positions that a mesh has.
    pub(super) fn open(&self, cta: &Cta, mesh: &str, stated: [Option<i64>; 2], span: Option<Span>) -> Result<()> {
        let started = [i64::from(self.ctas), i64::from(cta.threads)];
        for ((stated, started), what) in stated.into_iter().zip(started).zip(["CTAs", "threads in a CTA"]) {
            let Some(stated) = stated.filter(|&stated| stated != started) else { continue };
            let message = match self.who {
                Who::Host => format!("{mesh} has {stated} {what}, and a host function runs at one position"),
                Who::Device { .. } => format!("{mesh} has {stated} {what}, the launch starts {started}"),
            };
            return Err(Diagnostic::error(message).at(span));
        }
        Ok(())
    }

    /// Where a view starts, in elements from the start of the memory; it must stay inside.
    pub(super) fn start(&mut self, cta: &mut Cta, thread: u32, at: u32) -> Result<i64> {
        let code = self.code;
        let Instruction::View { from, window, starts, name, .. } = &code.instructions[at as usize] else {
            return Ok(0);
        };
        let span = self.span(at);
        let memory = cta.buffer(*from, thread);
        let who = self.who.name(cta.id * cta.threads + thread);
        let what = |turn: &Self| {
            let what = turn.shared.memory.what(memory.block);
            (what.name.clone(), what.span, what.len)
        };
        let mut start = memory.start;
        for (axis, (code, step)) in starts.iter().zip(&window.starts).enumerate() {
            let coordinate =
                self.scalar(cta, thread, code, at)?.int().map_err(|error| refused(error.into(), "", span))?;
            start = start.saturating_add(step.offset(coordinate));
            if let Some((extent, window)) = step.room
                && !(0..=extent - window).contains(&coordinate)
            {
                let (memory, place, _) = what(self);
                let last = coordinate.saturating_add(window);
                let message = format!(
                    "{who}: the view {name} is {coordinate} to {last} of axis {axis} of {memory}, which has {extent}"
                );
                return Err(Diagnostic::error(message)
                    .at(span)
                    .with_note(place, "the memory is here")
                    .with_help("a window stays inside each axis"));
            }
        }
        let (memory, place, len) = what(self);
        if window.span > 0 && !(0..=(len as i64).saturating_sub(window.span)).contains(&start) {
            let last = start.saturating_add(window.span) - 1;
            let message = format!("{who}: the view {name} is elements {start} to {last} of {memory}, which has {len}");
            return Err(Diagnostic::error(message).at(span).with_note(place, "the memory is here"));
        }
        Ok(start)
    }
}

/// The threads that are all there, ascending.
fn complete(waiting: &[u32], team: Team, count: usize, threads: u32) -> Vec<u32> {
    match team {
        Team::Chunks(size) => {
            let chunks = waiting.chunk_by(|a, b| a / size == b / size);
            let whole = chunks.filter(|chunk| {
                let first = chunk[0] / size * size;
                chunk.len() as u32 == size.min(threads - first)
            });
            whole.flatten().copied().collect()
        }
        Team::Grid => Vec::new(),
        _ if waiting.len() == count => waiting.to_vec(),
        _ => Vec::new(),
    }
}
