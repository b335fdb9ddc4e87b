//! Runs of functions: the host's, and the kernels that it launches.

use tf_core::node::TargetKind;
use tf_core::{Diagnostic, PrimFunction, Result};
use tf_tir::launch::mesh_geometry;
use tf_value::{EvalRegistry, Tensor};

use super::code::{Code, Instruction, Operand, Scope};
use super::compile::Compiler;
use super::cta::Cta;
use super::lanes::{Shared, refused};
use super::memory::{Memory, Target};
use super::report::{self, Who};
use super::schedule::{Progress, Turn};
use crate::Request;

/// The most positions of a launch.
const MOST_POSITIONS: u64 = 1 << 31;
/// The most threads of a CTA.
const MOST_THREADS: u64 = 1 << 16;
/// Scalars, buffers and allocations of all positions of a launch whose CTAs meet, which have theirs at once.
const MOST_STATE: u64 = 1 << 26;
/// What the clocks, groups and copies of a position count for there.
const OWN_STATE: u64 = 8;

/// The outputs of a TIR function: a function of the host runs at one position, one of a device at all positions of its meshes.
///
/// # Errors
/// What cannot be evaluated; what a position may not do; an output that is not written.
pub fn run<'c>(request: &Request<'_, 'c>, function: PrimFunction<'c>, rules: &EvalRegistry) -> Result<Vec<Tensor>> {
    let (inputs, outputs) = function.inputs_and_outputs();
    if inputs.len() != request.inputs.len() {
        let (wanted, found) = (inputs.len(), request.inputs.len());
        let message = format!("`{}` takes one argument for each of its {wanted} inputs, found {found}", function.name);
        return Err(Diagnostic::error(message).at(function.span));
    }
    let mut compiler = Compiler::new(request.cx, request.module, rules);
    let code = compiler.code(request.module, function, request.dims)?;
    let geometry = match function.target.kind {
        TargetKind::Cpu => None,
        _ => Some(geometry(request, function)?),
    };
    let mut shared = Shared { memory: Memory::default(), epoch: 1, spans: compiler.spans, steps: 0 };
    let mut params = Vec::new();
    let held = request.inputs.iter().map(Some).chain((0..outputs.len()).map(|at| request.outputs.get(at)?.as_ref()));
    for (what, tensor) in code.memory.iter().zip(held) {
        let block = shared.memory.allocate(what.clone(), 1);
        let block = block.map_err(|error| refused(error.into(), "", what.span))?;
        if let Some(tensor) = tensor {
            shared.memory.fill(block, &what.addresses(), &tensor.to_le_bytes());
        }
        params.push(Target { block, generation: 0, thread: 0, start: 0 });
    }
    match geometry {
        Some([ctas, threads]) => kernel(&mut shared, &code, &params, [ctas, threads])?,
        None => host(&mut shared, &code, &params)?,
    }
    let results = params[inputs.len()..].iter().zip(&code.memory[inputs.len()..]);
    let results = results.map(|(target, what)| {
        let bytes = shared.memory.contents(target.block, &what.addresses()).map_err(|fault| {
            let place = report::element(what, fault.element);
            Diagnostic::error(format!("`{}` ends, and {place} was not written", function.name)).at(what.span)
        })?;
        let shape: Vec<_> = what.shape().iter().map(|&extent| usize::try_from(extent).unwrap_or(0)).collect();
        Tensor::from_le_bytes(&shape, what.dtype, &bytes).map_err(|error| refused(error.into(), "", what.span))
    });
    results.collect()
}

/// CTAs and threads of the meshes of a device function.
fn geometry<'c>(request: &Request<'_, 'c>, function: PrimFunction<'c>) -> Result<[u32; 2]> {
    let dims: Vec<_> = request.dims.iter().map(|(&name, &size)| (name, size)).collect();
    let known = tf_core::special::specialize_prim_function(request.cx, function, &dims)?;
    let (ctas, threads) = mesh_geometry(known)?;
    positions([ctas, threads]).map_err(|error| error.at(function.span))
}

fn positions([ctas, threads]: [i64; 2]) -> Result<[u32; 2]> {
    let counts = [u32::try_from(ctas), u32::try_from(threads)];
    if let [Ok(ctas @ 1..), Ok(threads @ 1..)] = counts
        && u64::from(threads) <= MOST_THREADS
        && u64::from(ctas) * u64::from(threads) < MOST_POSITIONS
    {
        return Ok([ctas, threads]);
    }
    Err(Diagnostic::error(format!("a launch of {ctas} CTAs of {threads} threads is not evaluated")))
}

fn host<'c>(shared: &mut Shared, code: &Code<'c>, params: &[Target]) -> Result<()> {
    let blocks = blocks(shared, code, 1, |_| true)?;
    let mut cta = Cta::new(0, 1, code, params, blocks);
    Turn { shared, code, who: Who::Host, ctas: 1 }.run(&mut cta).map(drop)
}

/// The blocks of the allocations for which `wanted` holds; the others have no number.
fn blocks(shared: &mut Shared, code: &Code<'_>, threads: u32, wanted: impl Fn(Scope) -> bool) -> Result<Vec<u32>> {
    let block = |site: &super::code::Allocated| match wanted(site.scope) {
        true => shared.memory.allocate(site.clone(), threads as usize).map_err(|e| refused(e.into(), "", site.span)),
        false => Ok(u32::MAX),
    };
    code.sites.iter().map(block).collect()
}

/// Runs a kernel. CTAs run one after the other, unless they meet.
fn kernel<'c>(shared: &mut Shared, code: &Code<'c>, params: &[Target], [ctas, threads]: [u32; 2]) -> Result<()> {
    let before = shared.memory.len();
    shared.epoch += 1;
    let who = Who::Device { threads };
    let grid = blocks(shared, code, threads, |scope| scope == Scope::Grid)?;
    let own = |shared: &mut Shared| -> Result<Vec<u32>> {
        let own = blocks(shared, code, threads, |scope| scope != Scope::Grid)?;
        Ok(own.iter().zip(&grid).map(|(&own, &grid)| own.min(grid)).collect())
    };
    if code.meets_grid {
        let state = OWN_STATE + u64::from(code.scalars) + u64::from(code.buffers) + code.sites.len() as u64;
        if (u64::from(ctas) * u64::from(threads)).saturating_mul(state) > MOST_STATE {
            let message = format!("a barrier of the grid of {ctas} CTAs of {threads} threads is not evaluated");
            let most = MOST_STATE / state;
            return Err(Diagnostic::error(message)
                .at(code.spans.iter().copied().flatten().next())
                .with_help(format!("all positions are kept at once there, at most {most} of this function")));
        }
        let mut all = Vec::new();
        for id in 0..ctas {
            all.push(Cta::new(id, threads, code, params, own(shared)?));
        }
        while together(shared, code, who, &mut all)? {}
    } else {
        let blocks = own(shared)?;
        for id in 0..ctas {
            let mut cta = Cta::new(id, threads, code, params, blocks.clone());
            Turn { shared, code, who, ctas }.run(&mut cta)?;
            let own = blocks.iter().zip(&code.sites).filter(|(_, site)| site.scope != Scope::Grid);
            own.for_each(|(&block, _)| shared.memory.clear(block));
        }
    }
    shared.memory.settle();
    shared.memory.truncate(before);
    shared.epoch += 1;
    Ok(())
}

/// Runs all CTAs to the next barrier of the grid; false at the end.
fn together<'c>(shared: &mut Shared, code: &Code<'c>, who: Who, all: &mut [Cta]) -> Result<bool> {
    let ctas = all.len() as u32;
    let mut progress = Vec::with_capacity(all.len());
    for cta in &mut *all {
        progress.push(Turn { shared, code, who, ctas }.run(cta)?);
    }
    let first = progress.first().copied().unwrap_or(Progress::Done);
    if let Some(other) = progress.iter().position(|&one| one != first) {
        let (here, there) = if first == Progress::Done { (other, 0) } else { (0, other) };
        let span = |progress| match progress {
            Progress::AtGrid(at) => code.spans[at as usize],
            Progress::Done => None,
        };
        let message = format!("block {here} waits at a barrier of the grid for block {there}, which never comes");
        return Err(Diagnostic::error(message).at(span(progress[here])).with_note(
            span(progress[there]),
            match progress[there] {
                Progress::Done => format!("block {there} has come to the end of the function"),
                Progress::AtGrid(_) => format!("block {there} waits here"),
            },
        ));
    }
    let Progress::AtGrid(at) = first else { return Ok(false) };
    shared.epoch += 1;
    for cta in all {
        let mut groups = std::mem::take(&mut cta.waiting);
        groups.iter_mut().for_each(|group| group.at = at + 1);
        cta.groups = groups;
    }
    Ok(true)
}

/// A launch by the host.
pub fn launch<'c>(turn: &mut Turn<'_, 'c>, cta: &mut Cta, at: u32) -> Result<()> {
    let code = turn.code;
    let Instruction::Launch { name, code: kernel_code, extents, args } = &code.instructions[at as usize] else {
        return Ok(());
    };
    let span = code.spans[at as usize];
    let mut sizes = Vec::with_capacity(6);
    for extent in extents {
        sizes.push(turn.scalar(cta, 0, extent, at)?.int().map_err(|error| refused(error.into(), name, span))?);
    }
    if let Some(bad) = sizes.iter().find(|&&size| size < 1) {
        return Err(Diagnostic::error(format!("`{name}` is launched with an extent of {bad}")).at(span));
    }
    let product = |sizes: &[i64]| sizes.iter().fold(1i64, |a, &b| a.saturating_mul(b));
    let (grid, block) = sizes.split_at(sizes.len().min(3));
    let geometry = positions([product(grid), product(block)]).map_err(|error| error.at(span))?;
    let params = args.iter().map(|arg| match arg {
        Operand::Buffer(buffer) => Ok(cta.buffer(*buffer, 0)),
        Operand::Scalar(..) => {
            Err(Diagnostic::error(format!("`{name}` is launched on tensors, found a scalar")).at(span))
        }
    });
    let params = params.collect::<Result<Vec<_>>>()?;
    kernel(turn.shared, kernel_code, &params, geometry)
}
