//! Threads of a CTA take turns: a group runs until it waits for threads of other groups.
//!
//! The group that is furthest behind goes on first, so that threads whose ways parted run together again as soon as they can.

use tf_core::{Diagnostic, Result, Span};
use tf_value::ValueError;

use super::code::{Code, Instruction};
use super::cta::{Cta, Group};
use super::lanes::{Lanes, Shared, refused};
use super::report::Who;
use super::run::launch;
use super::scalar::{Scalar, ScalarCode};

/// Instructions of groups that a run may take.
const MOST_STEPS: u64 = 1 << 27;
/// Rounds of a `while` loop that a thread may take each time it comes to it: its end is no number that a bound could be told from.
const MOST_ROUNDS: i64 = 1 << 18;

/// How far a CTA came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// All threads are at their ends.
    Done,
    /// All threads wait for those of other CTAs, at that instruction.
    AtGrid(u32),
}

/// Where a group goes from an instruction.
pub(super) enum Next {
    /// On, at that place.
    At(u32),
    /// Some threads go on there, the others here.
    Parts(u32, Vec<u32>, u32, Vec<u32>),
    /// Nowhere: the threads wait, or are at their ends.
    Nowhere,
}

/// A CTA, with what it runs.
pub struct Turn<'a, 'c> {
    pub shared: &'a mut Shared,
    pub code: &'a Code<'c>,
    pub who: Who,
    /// CTAs of the launch.
    pub ctas: u32,
}

impl<'c> Turn<'_, 'c> {
    pub(super) fn site(&self, at: u32) -> u32 {
        self.code.first_site + at
    }

    pub(super) fn span(&self, at: u32) -> Option<Span> {
        self.code.spans[at as usize]
    }

    /// Runs until all threads are at their ends or wait for those of other CTAs.
    ///
    /// # Errors
    /// What a thread may not do; threads that wait for others which do not come.
    pub fn run(&mut self, cta: &mut Cta) -> Result<Progress> {
        loop {
            let behind = (0..cta.groups.len()).min_by_key(|&at| cta.groups[at].at);
            let Some(behind) = behind else { return self.stand(cta) };
            let mut group = cta.groups.swap_remove(behind);
            loop {
                match self.step(cta, &mut group)? {
                    Next::Nowhere => break,
                    Next::At(at) => group.at = at,
                    Next::Parts(at, threads, other, others) => {
                        cta.groups.push(group.part(other, others));
                        group = group.part(at, threads);
                    }
                }
                if cta.groups.is_empty() {
                    continue;
                }
                if let Some(same) = cta.groups.iter().position(|other| other.is_with(&group)) {
                    group.join(cta.groups.swap_remove(same));
                }
                if cta.groups.iter().any(|other| other.at < group.at) {
                    cta.groups.push(group);
                    break;
                }
            }
        }
    }

    fn lanes<'b>(&'b mut self, cta: &'b mut Cta, threads: &'b [u32], at: u32) -> Lanes<'b, 'c> {
        let (site, who) = (self.site(at), self.who);
        Lanes { shared: self.shared, cta, threads, operands: &[], site, who }
    }

    pub(super) fn scalar(&mut self, cta: &mut Cta, thread: u32, code: &ScalarCode<'c>, at: u32) -> Result<Scalar> {
        let value = self.lanes(cta, &[thread], at).scalar(code, thread);
        value.map_err(|stop| self.refused(cta, stop, "", at))
    }

    /// The threads of a group apart: those for which `goes` holds, and the others.
    fn parts(
        &mut self,
        group: &Group,
        target: u32,
        mut goes: impl FnMut(&mut Self, u32) -> Result<bool>,
    ) -> Result<Next> {
        let (mut there, mut on) = (Vec::new(), Vec::new());
        for &thread in &group.threads {
            if goes(self, thread)? { &mut there } else { &mut on }.push(thread);
        }
        Ok(match (there.is_empty(), on.is_empty()) {
            (true, _) => Next::At(group.at + 1),
            (_, true) => Next::At(target),
            _ => Next::Parts(group.at + 1, on, target, there),
        })
    }

    fn step(&mut self, cta: &mut Cta, group: &mut Group) -> Result<Next> {
        self.shared.steps += 1;
        let at = group.at;
        let span = self.span(at);
        if self.shared.steps > MOST_STEPS {
            return Err(Diagnostic::error("the run takes too many steps; a loop may not end").at(span));
        }
        let value_error = |error: ValueError| refused(error.into(), "", span);
        let code = self.code;
        match &code.instructions[at as usize] {
            Instruction::Set { to, value } => {
                for &thread in &group.threads {
                    let value = self.scalar(cta, thread, value, at)?;
                    *cta.scalar_mut(*to, thread) = value;
                }
            }
            Instruction::Spill { to, site, value } => {
                let dtype = code.sites[*site as usize].dtype;
                for &thread in &group.threads {
                    let value = self.scalar(cta, thread, value, at)?.tensor().cast(dtype).map_err(value_error)?;
                    let target = cta.allocate(*site, thread);
                    *cta.buffer_mut(*to, thread) = target;
                    let spilled = self.lanes(cta, &[thread], at).spill(target, &value);
                    spilled.map_err(|stop| self.refused(cta, stop, "", at))?;
                }
            }
            Instruction::Allocate { to, site } => {
                for &thread in &group.threads {
                    let target = cta.allocate(*site, thread);
                    self.shared.memory.clear_own(target.block, thread);
                    *cta.buffer_mut(*to, thread) = target;
                }
            }
            Instruction::View { to, from, .. } => {
                for &thread in &group.threads {
                    let start = self.start(cta, thread, at)?;
                    *cta.buffer_mut(*to, thread) = super::memory::Target { start, ..cta.buffer(*from, thread) };
                }
            }
            Instruction::Bind { to, from } => {
                for &thread in &group.threads {
                    *cta.buffer_mut(*to, thread) = cta.buffer(*from, thread);
                }
            }
            Instruction::Run { name, team, .. } => return self.meet(cta, group, name, *team),
            Instruction::Jump(target) => return Ok(Next::At(*target)),
            Instruction::Again { rounds, head } => {
                for &thread in &group.threads {
                    let run = cta.scalar(*rounds, thread).int().map_err(value_error)? + 1;
                    if run > MOST_ROUNDS {
                        let message = format!("a `while` loop does not end: more than {MOST_ROUNDS} rounds were run");
                        return Err(Diagnostic::error(message).at(span));
                    }
                    *cta.scalar_mut(*rounds, thread) = Scalar::Int(run);
                }
                return Ok(Next::At(*head));
            }
            Instruction::Unless(cond, target) => {
                return self.parts(group, *target, |turn, thread| {
                    Ok(!turn.scalar(cta, thread, cond, at)?.holds().map_err(value_error)?)
                });
            }
            Instruction::CheckStep { step } => {
                for &thread in &group.threads {
                    let step = cta.scalar(*step, thread).int().map_err(value_error)?;
                    if step < 1 {
                        return Err(
                            Diagnostic::error(format!("the step of a loop is at least 1, found {step}")).at(span)
                        );
                    }
                }
            }
            Instruction::Past { at, stop, target } => {
                return self.parts(group, *target, |_, thread| {
                    let int = |slot| cta.scalar(slot, thread).int().map_err(value_error);
                    Ok(int(*at)? >= int(*stop)?)
                });
            }
            Instruction::Advance { at: index, step, head, exit } => {
                let (mut on, mut out) = (Vec::new(), Vec::new());
                for &thread in &group.threads {
                    let int = |slot| cta.scalar(slot, thread).int().map_err(value_error);
                    // What passes the last integer leaves the loop.
                    match int(*index)?.checked_add(int(*step)?) {
                        Some(next) => {
                            *cta.scalar_mut(*index, thread) = Scalar::Int(next);
                            on.push(thread);
                        }
                        None => out.push(thread),
                    }
                }
                return Ok(match (on.is_empty(), out.is_empty()) {
                    (_, true) => Next::At(*head),
                    (true, _) => Next::At(*exit),
                    _ => Next::Parts(*head, on, *exit, out),
                });
            }
            Instruction::Outside { value, lo, hi, target } => {
                return self.parts(group, *target, |turn, thread| {
                    let value = turn.scalar(cta, thread, value, at)?.int().map_err(value_error)?;
                    Ok(!(*lo..*hi).contains(&value))
                });
            }
            Instruction::Call(function) => {
                group.stack.push(at + 1);
                return Ok(Next::At(code.entries[*function]));
            }
            Instruction::Return => {
                return Ok(group.stack.pop().map_or(Next::Nowhere, Next::At));
            }
            Instruction::Abort(message) => {
                let who = self.who.name(cta.id * cta.threads + group.threads[0]);
                let message = if message.is_empty() { "what is never reached" } else { message.as_str() };
                return Err(Diagnostic::error(format!("{who} reaches an abort: {message}")).at(span));
            }
            Instruction::Open { mesh, ctas, threads } => self.open(cta, mesh, [*ctas, *threads], span)?,
            Instruction::Launch { .. } => {
                if self.who != Who::Host {
                    return Err(Diagnostic::error("a kernel launches no kernel").at(span));
                }
                launch(self, cta, at)?;
            }
        }
        Ok(Next::At(at + 1))
    }
}
