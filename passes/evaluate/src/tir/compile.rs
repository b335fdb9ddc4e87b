//! From functions to instructions.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use tf_core::hidden::hidden_scalar;
use tf_core::special::specialize_prim_function;
use tf_core::{AnyFunction, Context, Diagnostic, Expr, Module, PrimFunction, Result, Span, Stmt};
use tf_tir::held::Held;
use tf_tir::memory::addresses::addressed;
use tf_types::{Storage, Symbol, TensorType};
use tf_value::EvalRegistry;

use super::code::{Allocated, Code, Instruction, Scope};
use super::scalar::ScalarCode;
use crate::dims::DimSizes;

/// A function under sizes of its dims, sorted by name.
type Key<'c> = (PrimFunction<'c>, Vec<(Symbol<'c>, i64)>);
/// An entry, in the module whose functions it calls.
type Entry<'c> = (Module<'c>, Key<'c>);

/// What all code of a run is made from.
pub struct Compiler<'a, 'c> {
    pub cx: &'a Context<'c>,
    /// Whose functions the code at hand calls.
    module: Module<'c>,
    pub rules: &'a EvalRegistry,
    /// Spans of the instructions of all code, by site.
    pub spans: Vec<Option<Span>>,
    kernels: FxHashMap<Entry<'c>, Rc<Code<'c>>>,
    /// Entries whose code is being made.
    open: Vec<(Module<'c>, PrimFunction<'c>)>,
}

impl<'a, 'c> Compiler<'a, 'c> {
    pub fn new(cx: &'a Context<'c>, module: Module<'c>, rules: &'a EvalRegistry) -> Self {
        Self { cx, module, rules, spans: Vec::new(), kernels: FxHashMap::default(), open: Vec::new() }
    }

    /// The code of an entry of that module under sizes of its dims.
    ///
    /// # Errors
    /// What cannot be evaluated, at its statement.
    pub fn code(&mut self, module: Module<'c>, entry: PrimFunction<'c>, dims: &DimSizes<'c>) -> Result<Rc<Code<'c>>> {
        let key = (module, (entry, sorted(dims)));
        if let Some(known) = self.kernels.get(&key) {
            return Ok(Rc::clone(known));
        }
        if self.open.contains(&(module, entry)) {
            return Err(Diagnostic::error(format!("`{}` launches itself", entry.name)).at(entry.span));
        }
        self.open.push((module, entry));
        let caller = std::mem::replace(&mut self.module, module);
        let code = Rc::new(Body::new(self).finish(&key.1)?);
        self.module = caller;
        self.open.pop();
        self.kernels.insert(key, Rc::clone(&code));
        Ok(code)
    }

    pub(super) fn callee(&self, name: Symbol<'c>) -> Result<PrimFunction<'c>> {
        self.of_statements(name, self.module.lookup(name.as_str()))
    }

    /// What a launch of that name starts, and the module that it is of.
    pub(super) fn launched(&self, name: Symbol<'c>) -> Result<(Module<'c>, PrimFunction<'c>)> {
        let function = self.of_statements(name, self.module.launched(name.as_str()))?;
        let is_own = self.module.lookup(name.as_str()).is_some();
        let child = if is_own { None } else { self.module.child(name.as_str()) };
        Ok((child.unwrap_or(self.module), function))
    }

    fn of_statements(&self, name: Symbol<'c>, found: Option<AnyFunction<'c>>) -> Result<PrimFunction<'c>> {
        match found {
            Some(AnyFunction::Tir(function)) => Ok(function),
            Some(AnyFunction::Hir(_)) => {
                let message = format!("`{name}` is a function of values, and statements call functions of statements");
                Err(Diagnostic::error(message).with_help("lower it first"))
            }
            None => Err(Diagnostic::error(format!("module `{}` has no function `{name}`", self.module.name))),
        }
    }
}

fn sorted<'c>(dims: &DimSizes<'c>) -> Vec<(Symbol<'c>, i64)> {
    let mut sorted: Vec<_> = dims.iter().map(|(&name, &size)| (name, size)).collect();
    sorted.sort_by_key(|&(name, _)| name.as_str());
    sorted
}

/// The memory of a parameter or an allocation.
///
/// # Errors
/// A type without addresses.
pub fn allocated(tensor: &TensorType<'_>, name: String, span: Option<Span>) -> Result<Allocated> {
    let mut held = Held::of(tensor).map_err(|error| Diagnostic::from(error).at(span))?;
    let scope = match tensor.storage {
        Storage::Rmem | Storage::Umat => Scope::Thread,
        Storage::Smem | Storage::Tmem => Scope::Cta,
        Storage::Gmem | Storage::Host => Scope::Grid,
    };
    if scope == Scope::Thread {
        held.axes.iter_mut().for_each(|factors| factors.retain(|factor| factor.mesh_axis.is_none()));
    }
    let len = usize::try_from(addressed(&held)).unwrap_or(0);
    Ok(Allocated { name, span, dtype: tensor.dtype, len, scope, axes: held.axes })
}

/// What a variable is.
#[derive(Clone, Copy)]
pub(super) enum Binding {
    Buffer(u32),
    Scalar(u32),
}

/// What is left to do.
pub(super) enum Task<'c> {
    Run(Stmt<'c>),
    /// The end of a first branch, whose condition was tested there.
    Else(usize, Stmt<'c>),
    /// The target of a jump is here.
    Land(usize),
    EndFor {
        head: usize,
        at: u32,
        step: u32,
    },
    EndWhile {
        head: u32,
        test: usize,
        rounds: u32,
    },
}

/// Code under construction.
pub(super) struct Body<'b, 'a, 'c> {
    pub compiler: &'b mut Compiler<'a, 'c>,
    pub code: Code<'c>,
    /// Functions by what they are, in the order of their numbers.
    functions: Vec<Key<'c>>,
    /// The buffers of each function's parameters that callers see.
    pub params: Vec<Vec<u32>>,
    /// Which functions each one calls, with a place.
    pub calls: Vec<Vec<(usize, Option<Span>)>>,
    /// Variables of the function at hand.
    pub env: FxHashMap<Expr<'c>, Binding>,
    /// The statement at hand.
    pub span: Option<Span>,
}

impl<'b, 'a, 'c> Body<'b, 'a, 'c> {
    fn new(compiler: &'b mut Compiler<'a, 'c>) -> Self {
        Self {
            compiler,
            code: Code::default(),
            functions: Vec::new(),
            params: Vec::new(),
            calls: Vec::new(),
            env: FxHashMap::default(),
            span: None,
        }
    }

    fn finish(mut self, entry: &Key<'c>) -> Result<Code<'c>> {
        self.number(entry.clone());
        let mut at = 0;
        while at < self.functions.len() {
            self.body(at)?;
            at += 1;
        }
        self.refuse_recursion()?;
        self.code.params.clone_from(&self.params[0]);
        self.code.first_site = self.compiler.spans.len() as u32;
        self.compiler.spans.extend_from_slice(&self.code.spans);
        Ok(self.code)
    }

    /// The number of a function under sizes of its dims.
    pub fn function(&mut self, function: PrimFunction<'c>, dims: &DimSizes<'c>) -> usize {
        self.number((function, sorted(dims)))
    }

    fn number(&mut self, key: Key<'c>) -> usize {
        if let Some(at) = self.functions.iter().position(|known| *known == key) {
            return at;
        }
        let visible = key.0.visible_params().len();
        let buffers = (0..visible).map(|_| self.code.new_buffer()).collect();
        self.params.push(buffers);
        self.functions.push(key);
        self.calls.push(Vec::new());
        self.functions.len() - 1
    }

    pub fn emit(&mut self, instruction: Instruction<'c>) -> usize {
        self.code.instructions.push(instruction);
        self.code.spans.push(self.span);
        self.code.instructions.len() - 1
    }

    pub fn here(&self) -> u32 {
        self.code.instructions.len() as u32
    }

    /// Sends the jump at `at` here.
    pub fn land(&mut self, at: usize) {
        let here = self.here();
        match &mut self.code.instructions[at] {
            Instruction::Jump(target)
            | Instruction::Unless(_, target)
            | Instruction::Past { target, .. }
            | Instruction::Outside { target, .. } => *target = here,
            _ => {}
        }
    }

    fn body(&mut self, number: usize) -> Result<()> {
        let (function, dims) = self.functions[number].clone();
        let name = function.name;
        let function = specialize_prim_function(self.compiler.cx, function, &dims)?;
        let first = self.here();
        self.code.entries.push(first);
        self.env.clear();
        self.span = function.span;
        let mut visible = self.params[number].clone().into_iter();
        for &param in function.data().params {
            let Some((of, axis)) = hidden_scalar(function.data().params, param) else {
                let buffer = visible.next().unwrap_or_default();
                self.env.insert(param, Binding::Buffer(buffer));
                if number == 0 {
                    self.parameter(param)?;
                }
                continue;
            };
            let extent = of.ty().as_tensor().and_then(|ty| ty.shape.get(axis as usize)?.as_const());
            let extent = extent.ok_or_else(|| {
                let message = format!("{} of `{name}` has a size that no argument tells", param.describe());
                Diagnostic::error(message).at(param.span().or(function.span))
            })?;
            let to = self.code.new_scalar();
            self.env.insert(param, Binding::Scalar(to));
            self.emit(Instruction::Set { to, value: ScalarCode::int(extent) });
        }
        let mut tasks = vec![Task::Run(function.body)];
        while let Some(task) = tasks.pop() {
            self.task(number, task, &mut tasks).map_err(|error| error.at(self.span.or(function.span)))?;
        }
        self.span = function.span;
        self.emit(Instruction::Return);
        Ok(())
    }

    /// The memory of a parameter of the entry: tensors of a caller, which all positions share.
    fn parameter(&mut self, param: Expr<'c>) -> Result<()> {
        let span = param.span().or(self.span);
        let Some(tensor) = param.ty().as_tensor() else {
            return Err(Diagnostic::error(format!("parameter {} is no tensor", param.describe())).at(span));
        };
        let shared = TensorType { storage: Storage::Gmem, ..*tensor };
        self.code.memory.push(allocated(&shared, param.describe(), span)?);
        Ok(())
    }

    fn task(&mut self, number: usize, task: Task<'c>, tasks: &mut Vec<Task<'c>>) -> Result<()> {
        match task {
            Task::Run(stmt) => {
                self.span = stmt.span.or(self.span);
                self.statement(number, stmt, tasks)?;
            }
            Task::Else(test, otherwise) => {
                let jump = self.emit(Instruction::Jump(0));
                self.land(test);
                tasks.extend([Task::Land(jump), Task::Run(otherwise)]);
            }
            Task::Land(jump) => self.land(jump),
            Task::EndFor { head, at, step } => {
                let exit = self.here() + 1;
                self.emit(Instruction::Advance { at, step, head: head as u32, exit });
                self.land(head);
            }
            Task::EndWhile { head, test, rounds } => {
                self.emit(Instruction::Again { rounds, head });
                self.land(test);
            }
        }
        Ok(())
    }

    /// A function that calls itself would need buffers for each of its calls.
    fn refuse_recursion(&self) -> Result<()> {
        // 0: not visited, 1: on the path, 2: done.
        let mut state = vec![0u8; self.functions.len()];
        let mut path = vec![(0usize, 0usize)];
        state[0] = 1;
        while let Some(&mut (at, ref mut next)) = path.last_mut() {
            let Some(&(callee, span)) = self.calls[at].get(*next) else {
                state[at] = 2;
                path.pop();
                continue;
            };
            *next += 1;
            match state[callee] {
                0 => {
                    state[callee] = 1;
                    path.push((callee, 0));
                }
                1 => {
                    let name = self.functions[callee].0.name;
                    return Err(Diagnostic::error(format!("`{name}` calls itself")).at(span));
                }
                _ => {}
            }
        }
        Ok(())
    }
}
