//! The statements of a kernel.
use crate::{
    Session,
    emit::{
        Builder, V,
        build::location,
        gpu::{
            Buffer, Geometry,
            head::{self, Head},
            index::{Index, scalar_index},
            loops::Loop,
            positions::Prologue,
            registers::RegisterFile,
        },
        table::EmissionTable,
    },
};
use melior::ir::BlockRef;
use rustc_hash::{FxHashMap, FxHashSet};
use tf_core::{
    Diagnostic, Expr, Literal, PrimFunction, Result, SourceMap, Stmt, StmtKind, node::TirCallee, op::OpView,
};
use tf_tir::{held::Held, sync::participants::NamedBarriers};
use tf_types::DType;

/// What is known at one point of a kernel under construction.
pub(crate) struct KernelCx<'a, 'c> {
    pub(crate) builder: Builder<'a>,
    pub(crate) table: &'a EmissionTable,
    pub(crate) prologue: Prologue<'a>,
    pub(crate) registers: RegisterFile<'a>,
    pub(crate) buffers: FxHashMap<Expr<'c>, Buffer<'a, 'c>>,
    pub(crate) indices: FxHashMap<Expr<'c>, Index<'a>>,
    /// Literals by the variables that name them.
    literals: FxHashMap<Expr<'c>, Literal>,
    /// Shared buffers by the variable that allocates them: number and memory.
    pub(crate) shared: FxHashMap<Expr<'c>, (usize, V<'a>)>,
    /// Shared buffers that a thread may have accessed since the last barrier.
    pub(crate) touched: FxHashSet<usize>,
    /// Enclosing loops.
    pub(crate) depth: usize,
    /// Ids of the kernel's named barriers.
    pub(crate) barriers: NamedBarriers,
}

enum Step<'a, 'c> {
    Run(Stmt<'c>),
    EndLoop(Loop<'a>),
}

/// Appends the `gpu.func` of a device function to the body of a `gpu.module`.
///
/// # Errors
/// What has no device form, at its statement.
pub(crate) fn emit_kernel<'a>(
    session: &'a Session,
    kernels: BlockRef<'a, 'a>,
    table: &'a EmissionTable,
    function: PrimFunction<'_>,
    geometry: Geometry,
    sources: &SourceMap,
) -> Result<()> {
    let at = location(session, sources, function.span);
    let outer = Builder { session, block: kernels, location: at };
    let Head { entry, parameters, shared } = head::emit(&outer, table, function, geometry)?;
    let mut cx = KernelCx {
        builder: Builder { block: entry, ..outer },
        table,
        prologue: Prologue::new(session, entry, at, geometry),
        registers: RegisterFile::default(),
        buffers: parameters,
        indices: FxHashMap::default(),
        literals: FxHashMap::default(),
        shared,
        touched: FxHashSet::default(),
        depth: 0,
        barriers: NamedBarriers::default(),
    };
    let mut steps = vec![Step::Run(function.body)];
    while let Some(step) = steps.pop() {
        match step {
            Step::EndLoop(frame) => cx.end_loop(frame)?,
            Step::Run(stmt) => {
                cx.builder.location = location(session, sources, stmt.span.or(function.span));
                if matches!(stmt.kind, StmtKind::Return) {
                    break;
                }
                cx.statement(stmt, &mut steps).map_err(|error| error.at(stmt.span.or(function.span)))?;
            }
        }
    }
    cx.builder.location = at;
    cx.builder.op("gpu.return", &[], &[], &[])?;
    Ok(())
}

impl<'a, 'c> KernelCx<'a, 'c> {
    fn statement(&mut self, stmt: Stmt<'c>, steps: &mut Vec<Step<'a, 'c>>) -> Result<()> {
        match stmt.kind {
            StmtKind::Sequential(body) => steps.extend(body.iter().rev().map(|&s| Step::Run(s))),
            StmtKind::Let { var, value, body } => {
                self.bind(var, value)?;
                steps.push(Step::Run(body));
            }
            StmtKind::For { induction, start, stop, step, body } => {
                let frame = self.start_loop(induction, [start, stop, step], body)?;
                steps.push(Step::EndLoop(frame));
                steps.push(Step::Run(body));
            }
            StmtKind::MeshScope { body, .. } => steps.push(Step::Run(body)),
            StmtKind::Evaluate { callee: TirCallee::Op(op), args } => {
                let table = self.table;
                table.emit_effect(OpView { op, args }, self)?;
            }
            StmtKind::Evaluate { callee: TirCallee::Symbol(name), .. } => {
                return Err(Diagnostic::error(format!("device code cannot call `@{name}` yet"))
                    .with_help("inline the function before lowering"));
            }
            StmtKind::Evaluate { callee: TirCallee::Intrinsic(name), .. } => {
                return Err(Diagnostic::error(format!("no code is known for the intrinsic `{name}`")));
            }
            StmtKind::Return => {}
            StmtKind::While { .. } | StmtKind::If { .. } | StmtKind::Dispatch { .. } | StmtKind::Abort { .. } => {
                return Err(Diagnostic::error(format!("{} in device code is not built yet", stmt.describe())));
            }
        }
        Ok(())
    }

    fn bind(&mut self, var: Expr<'c>, value: Expr<'c>) -> Result<()> {
        match value.op_call() {
            Some(call) if call.op.decl.name.dialect == "dim" => {
                let index = self.index(value)?;
                self.indices.insert(var, index);
            }
            Some(call) => {
                let table = self.table;
                let buffer = table.emit_buffer(call, var, self)?;
                self.buffers.insert(var, buffer);
            }
            None => match (self.buffers.get(&value).cloned(), value.literal()) {
                (Some(buffer), _) => {
                    self.buffers.insert(var, buffer);
                }
                (None, Some(literal)) if !matches!(literal, Literal::Int(_)) => {
                    self.literals.insert(var, literal);
                }
                _ => {
                    let index = self.index(value)?;
                    self.indices.insert(var, index);
                }
            },
        }
        Ok(())
    }

    /// The index that an integer scalar denotes.
    pub(crate) fn index(&self, expr: Expr<'c>) -> Result<Index<'a>> {
        scalar_index(&self.builder, &|var| self.indices.get(&var).copied(), expr)
    }

    /// The buffer of an operand.
    ///
    /// # Errors
    /// An operand that is no buffer of this function.
    pub(crate) fn buffer(&self, operand: Expr<'c>) -> Result<Buffer<'a, 'c>> {
        self.buffers.get(&operand).cloned().ok_or_else(|| {
            Diagnostic::error(format!("{} is no buffer of this function", operand.describe())).at(operand.span())
        })
    }

    /// The elements of an operand by local index of `wanted`; literals and indices are repeated.
    pub(crate) fn operand(&mut self, operand: Expr<'c>, wanted: &Held<'c>) -> Result<Vec<V<'a>>> {
        if let Some(buffer) = self.buffers.get(&operand).cloned() {
            let missing =
                |error: Diagnostic| error.with_note(operand.span(), format!("the operand {}", operand.describe()));
            return self.read(&buffer, wanted).map_err(missing);
        }
        let value = self.scalar(operand)?;
        Ok(vec![value; super::memory::local_len(wanted)?])
    }

    /// A scalar operand: a literal, an index, or a buffer of rank 0.
    pub(crate) fn scalar(&mut self, operand: Expr<'c>) -> Result<V<'a>> {
        let dtype = dtype(operand)?;
        if let Some(literal) = operand.literal().or(self.literals.get(&operand).copied()) {
            return Ok(self.builder.scalars().constant(dtype, literal)?);
        }
        if let Some(buffer) = self.buffers.get(&operand).cloned() {
            let scalar = Held { axes: vec![], mesh: None };
            return Ok(self.read(&buffer, &scalar)?[0]);
        }
        let index = self.index(operand)?;
        let index = self.builder.materialize(index)?;
        let wide = self.builder.value("arith.index_cast", &[index], self.builder.int_type(64), &[])?;
        Ok(self.builder.scalars().cast(DType::I64, dtype, wide)?)
    }

    /// The zero of a dtype.
    pub(crate) fn zero(&self, dtype: DType) -> Result<V<'a>> {
        let literal = match dtype {
            DType::Bool => Literal::Bool(false),
            _ => Literal::Int(0),
        };
        Ok(self.builder.scalars().constant(dtype, literal)?)
    }

    /// A barrier of all threads of the CTA.
    pub(crate) fn barrier(&mut self) -> Result<()> {
        self.builder.op("gpu.barrier", &[], &[], &[])?;
        self.touched.clear();
        Ok(())
    }
}

/// The element type of an operand.
pub(crate) fn dtype(operand: Expr<'_>) -> Result<DType> {
    let tensor = operand.ty().as_tensor();
    tensor.map(|t| t.dtype).ok_or_else(|| {
        Diagnostic::error(format!("{} is no tensor, but {}", operand.describe(), operand.ty())).at(operand.span())
    })
}
