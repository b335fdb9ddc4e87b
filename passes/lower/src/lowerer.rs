//! The state of lowering one function: what a lowering rule may use.

use rustc_hash::FxHashMap;
use tf_core::op::{OpInstance, OpView};
use tf_core::walk::Schedule;
use tf_core::{Callee, Context, Diagnostic, Expr, ExprKind, Literal, Meta, Result, Span, Target, TargetKind};
use tf_tir::memory::alloc_tensor::AllocTensor;
use tf_tir::memory::fill::Fill;
use tf_types::{DType, Mesh, ShardLayout, Storage, Symbol, TensorLayout, TensorType, Type, TypeError};

use crate::block::Block;
use crate::table::LowerTable;

/// Lowers the expressions of one function. A rule asks for operands with [`Lowerer::buffer`] and
/// [`Lowerer::coordinate`] and adds statements with [`Lowerer::alloc`], [`Lowerer::bind`] and [`Lowerer::emit`]; nesting is not its
/// business.
pub struct Lowerer<'a, 'c> {
    /// Where nodes are made.
    pub cx: &'a Context<'c>,
    /// What the function will run on.
    pub target: Target<'c>,
    table: &'a LowerTable,
    schedule: &'a Schedule<'c>,
    /// Output parameters of the values that the function returns.
    pub(crate) sinks: FxHashMap<Expr<'c>, Vec<Expr<'c>>>,
    /// A mesh of the CTA's threads; `None`: it has one.
    pub(crate) threads: Option<Mesh<'c>>,
    values: FxHashMap<Expr<'c>, Expr<'c>>,
    blocks: Vec<Block<'c>>,
    names: usize,
    /// Position of the expression that is being lowered.
    pub span: Option<Span>,
    /// What the author calls it.
    label: Option<Symbol<'c>>,
}

impl<'a, 'c> Lowerer<'a, 'c> {
    pub(crate) fn new(
        cx: &'a Context<'c>,
        target: Target<'c>,
        table: &'a LowerTable,
        schedule: &'a Schedule<'c>,
    ) -> Self {
        Self {
            cx,
            target,
            table,
            schedule,
            sinks: FxHashMap::default(),
            threads: None,
            values: FxHashMap::default(),
            blocks: vec![Block::default()],
            names: 0,
            span: None,
            label: None,
        }
    }

    /// Whether placement is dropped: values are host buffers.
    #[must_use]
    pub fn on_cpu(&self) -> bool {
        self.target.kind == TargetKind::Cpu
    }

    /// Whether statements are being added to the body of a loop.
    #[must_use]
    pub fn in_loop(&self) -> bool {
        self.blocks.len() > 1
    }

    /// Says which TIR variable or scalar holds a HIR value.
    pub fn set(&mut self, value: Expr<'c>, held_by: Expr<'c>) {
        self.values.insert(value, held_by);
    }

    /// The buffer that holds an operand.
    ///
    /// # Errors
    /// The operand has no buffer: it was written to memory that this kernel cannot read back.
    pub fn buffer(&self, operand: Expr<'c>) -> Result<Expr<'c>> {
        self.values.get(&operand).copied().ok_or_else(|| {
            let message = format!("{} cannot be read back in the kernel that computes it", operand.describe());
            Diagnostic::error(message).at(operand.span()).with_help("use the value before it is moved to gmem")
        })
    }

    /// The tensor type of a buffer.
    #[must_use]
    pub fn tensor(&self, buffer: Expr<'c>) -> &'c TensorType<'c> {
        buffer.ty().as_tensor().unwrap_or_else(|| unreachable!("buffers are tensors, found {}", buffer.ty()))
    }

    /// An operand as a coordinate: a constant, an induction variable, or dim arithmetic over those.
    ///
    /// # Errors
    /// It is computed by a tensor op.
    pub fn coordinate(&self, operand: Expr<'c>) -> Result<Expr<'c>> {
        if operand.literal().is_some() {
            return Ok(operand);
        }
        self.values.get(&operand).copied().filter(|v| !self.is_buffer(*v)).ok_or_else(|| {
            let message = format!("{} is computed by a tensor op and cannot be a coordinate", operand.describe());
            Diagnostic::error(message).at(operand.span())
        })
    }

    fn is_buffer(&self, value: Expr<'c>) -> bool {
        value.ty().as_tensor().is_some_and(|t| t.storage != Storage::Umat)
    }

    /// A new variable; it is bound with [`Lowerer::bind`].
    pub fn fresh(&mut self, ty: Type<'c>, hint: &str) -> Expr<'c> {
        self.names += 1;
        let name = self.cx.symbol(&format!("{hint}{}", self.names));
        self.cx.var(name, ty, Meta::at(self.span))
    }

    /// Binds a variable for the rest of the block.
    pub fn bind(&mut self, var: Expr<'c>, value: Expr<'c>) {
        let span = self.span;
        self.block().bind(var, value, span);
    }

    /// A new variable bound to the value of an op.
    ///
    /// # Errors
    /// The op refuses its operands.
    pub fn bind_op(&mut self, op: OpInstance<'c>, args: &[Expr<'c>], hint: &str) -> Result<Expr<'c>> {
        let value = self.cx.call(op, args, Meta::at(self.span))?;
        let var = self.fresh(value.ty(), hint);
        self.bind(var, value);
        Ok(var)
    }

    /// Appends an effect.
    pub fn emit(&mut self, op: OpInstance<'c>, args: &[Expr<'c>]) {
        let stmt = self.cx.evaluate(op, args, self.span);
        self.block().push(stmt);
    }

    /// A new buffer of exactly that type.
    ///
    /// # Errors
    /// The type cannot be allocated.
    pub fn alloc(&mut self, ty: Type<'c>, hint: &str) -> Result<Expr<'c>> {
        self.bind_op(AllocTensor::new(self.cx, ty), &[], hint)
    }

    /// A new buffer for the result of an op, of the HIR type `ty`: on the CPU plain host memory; else its placement
    /// without strides (bufferisation chooses them), in registers where no residency is decided.
    ///
    /// # Errors
    /// The result would lie in gmem or smem, where ops do not compute.
    pub fn alloc_result(&mut self, ty: Type<'c>, hint: &str) -> Result<Expr<'c>> {
        let wanted = self.result_type(ty)?;
        self.alloc_named(wanted, hint)
    }

    /// A new buffer of exactly that type, named as the author named the value that is being lowered.
    ///
    /// # Errors
    /// The type cannot be allocated.
    pub fn alloc_named(&mut self, ty: Type<'c>, hint: &str) -> Result<Expr<'c>> {
        let Some(name) = self.label else { return self.alloc(ty, hint) };
        let value = self.cx.call(AllocTensor::new(self.cx, ty), &[], Meta::at(self.span))?;
        let var = self.cx.var(name, ty, Meta::at(self.span));
        self.bind(var, value);
        Ok(var)
    }

    fn result_type(&self, ty: Type<'c>) -> Result<Type<'c>> {
        let Some(tensor) = ty.as_tensor() else {
            return Err(self.refuse("a result of several tensors is not lowered yet"));
        };
        if self.on_cpu() {
            return Ok(self.host_type(tensor));
        }
        match tensor.storage {
            Storage::Umat | Storage::Rmem => {
                let layout = tensor.shard().map(|s| TensorLayout::Shard(self.without_strides(s)));
                Ok(self.cx.tensor(tensor.shape, tensor.dtype, layout, Storage::Rmem))
            }
            other => Err(self
                .refuse(format!("a kernel computes in registers, but this value lies in {other}"))
                .with_help("reshard the operands to rmem first, and the result back")),
        }
    }

    /// The host buffer type of a logical tensor: dense, in C-order.
    #[must_use]
    pub fn host_type(&self, tensor: &TensorType<'c>) -> Type<'c> {
        self.cx.tensor(tensor.shape, tensor.dtype, None, Storage::Host)
    }

    /// The placement with its strides left open.
    #[must_use]
    pub fn without_strides(&self, shard: ShardLayout<'c>) -> ShardLayout<'c> {
        self.cx.shard_layout(self.cx.layout(shard.layout.shape(), None), shard.attrs, shard.mesh)
    }

    /// An error at the expression that is being lowered.
    #[must_use]
    pub fn refuse(&self, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(message).at(self.span)
    }

    /// A refusal of the type layer, at the expression that is being lowered.
    #[must_use]
    pub fn refuse_type(&self, error: TypeError) -> Diagnostic {
        Diagnostic::from(error).at(self.span)
    }

    fn block(&mut self) -> &mut Block<'c> {
        self.blocks.last_mut().unwrap_or_else(|| unreachable!("the function's block is open"))
    }

    /// Opens a nested block; [`Lowerer::close`] ends it.
    pub(crate) fn open(&mut self) {
        self.blocks.push(Block::default());
    }

    /// The innermost block as a statement.
    pub(crate) fn close(&mut self) -> tf_core::Stmt<'c> {
        self.blocks.pop().unwrap_or_default().fold(self.cx)
    }

    pub(crate) fn push(&mut self, stmt: tf_core::Stmt<'c>) {
        self.block().push(stmt);
    }

    /// Lowers what belongs to the function body itself.
    pub(crate) fn root(&mut self) -> Result<()> {
        self.region(&self.schedule.root)
    }

    /// Lowers what belongs to a loop.
    pub(crate) fn loop_body(&mut self, grid: Expr<'c>) -> Result<()> {
        let schedule = self.schedule;
        self.region(schedule.region(grid))
    }

    fn region(&mut self, exprs: &'a [Expr<'c>]) -> Result<()> {
        for &expr in exprs {
            self.span = expr.span().or(self.span);
            self.label = expr.meta.name;
            self.node(expr)?;
        }
        Ok(())
    }

    /// The buffer of a value that a rule has made of HIR ops: lowers what of it is not lowered yet, operands first.
    ///
    /// # Errors
    /// One of the ops is refused.
    pub fn parts(&mut self, value: Expr<'c>) -> Result<Expr<'c>> {
        let label = self.label.take();
        let mut open = vec![(value, false)];
        while let Some((expr, ready)) = open.pop() {
            if self.values.contains_key(&expr) {
                continue;
            }
            if ready {
                // Only the value itself is what the author named.
                self.label = label.filter(|_| expr == value);
                self.node(expr)?;
            } else {
                open.push((expr, true));
                tf_core::walk::operands(expr, |operand| open.push((operand, false)));
            }
        }
        self.label = label;
        self.buffer(value)
    }

    fn node(&mut self, expr: Expr<'c>) -> Result<()> {
        match expr.kind {
            // A tuple is looked through where it is returned.
            ExprKind::Var { .. } | ExprKind::SymbolRef(_) | ExprKind::Tuple(_) => Ok(()),
            ExprKind::Constant(literal) => self.constant(expr, literal),
            ExprKind::ShapeOf { .. } => {
                Err(self.refuse(format!("{} is an expression of TIR: it cannot stand in HIR", expr.describe())))
            }
            ExprKind::Grid(region) => crate::grid::lower(self, expr, region),
            ExprKind::Call { callee: Callee::Op(op), args } => {
                let held_by = if op.decl.name.dialect == "dim" {
                    let args: Vec<_> = args.iter().map(|&a| self.coordinate(a)).collect::<Result<_>>()?;
                    self.cx.call(op, &args, expr.meta)?
                } else {
                    let Some(rule) = self.table.get(op.id) else {
                        return Err(self.refuse(format!("`{}` has no lowering", op.decl.name)));
                    };
                    rule.lower(self, expr, OpView { op, args })?
                };
                self.set(expr, held_by);
                Ok(())
            }
            ExprKind::Call { callee: Callee::Function(callee), .. } => {
                let message =
                    format!("the call of `@{}` is not lowered: calls between functions are not built yet", callee.name);
                Err(self.refuse(message))
            }
        }
    }

    fn constant(&mut self, expr: Expr<'c>, literal: Literal) -> Result<()> {
        let buffer = self.alloc_result(expr.ty(), "c")?;
        let dtype = expr.ty().as_tensor().map_or(DType::F32, |t| t.dtype);
        let value = self.cx.constant(literal, dtype, expr.meta);
        self.emit(Fill::new(self.cx), &[buffer, value]);
        self.set(expr, buffer);
        Ok(())
    }
}
