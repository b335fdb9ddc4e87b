//! Loops: registers that the body writes and that outlive an iteration become `iter_args`.
use crate::emit::{
    Builder, V,
    build::{argument, body},
    gpu::{
        KernelCx,
        index::{Index, gcd},
        memory::Place,
        registers::FileId,
    },
};
use melior::ir::{Block, OperationRef, ValueLike, operation::OperationLike};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use tf_core::{Diagnostic, Expr, Result, Stmt, StmtKind, node::TirCallee, op::OpView, walk::walk_stmts};
use tf_tir::memory::tensor_view::TensorView;

/// A loop whose body is being built.
pub(crate) struct Loop<'a> {
    operation: OperationRef<'a, 'a>,
    outer: Builder<'a>,
    carried: Vec<(FileId, usize)>,
}

impl<'a, 'c> KernelCx<'a, 'c> {
    /// Opens a loop; what follows is appended to its body.
    ///
    /// # Errors
    /// Bounds that are no indices, a step that is not a positive constant.
    pub(crate) fn start_loop(
        &mut self,
        induction: Expr<'c>,
        [start, stop, step]: [Expr<'c>; 3],
        statements: Stmt<'c>,
    ) -> Result<Loop<'a>> {
        let (start, stop, by) = (self.index(start)?, self.index(stop)?, self.index(step)?);
        if by.term.is_some() || by.constant <= 0 {
            let message = "a loop of device code needs a positive constant step";
            return Err(Diagnostic::error(message).at(step.span()));
        }
        let carried = self.carried(statements);
        let builder = self.builder;
        let mut operands = vec![builder.materialize(start)?, builder.materialize(stop)?, builder.materialize(by)?];
        for &(file, at) in &carried {
            let value = match self.registers.get(file, at) {
                Some(value) => value,
                None => self.zero(self.registers.dtype(file))?,
            };
            operands.push(value);
        }
        let types: Vec<_> = operands[3..].iter().map(ValueLike::r#type).collect();
        let mut arguments = vec![(builder.index_type(), builder.location)];
        arguments.extend(types.iter().map(|&t| (t, builder.location)));
        let operation = builder.region_op("scf.for", &operands, &types, &[], vec![Block::new(&arguments)])?;
        let block = body(operation)?;
        self.builder.block = block;
        self.depth += 1;
        let term = argument(block, 0)?;
        let divisor = gcd(start.known_divisor(), by.constant);
        self.indices.insert(induction, Index::of(term, divisor));
        for (number, &(file, at)) in carried.iter().enumerate() {
            self.registers.set(file, at, argument(block, number + 1)?);
        }
        Ok(Loop { operation, outer: builder, carried })
    }

    /// Closes the innermost loop.
    pub(crate) fn end_loop(&mut self, frame: Loop<'a>) -> Result<()> {
        let Loop { operation, outer, carried } = frame;
        let inside = Builder { location: outer.location, ..self.builder };
        let values: Vec<V<'a>> = carried.iter().filter_map(|&(file, at)| self.registers.get(file, at)).collect();
        inside.op("scf.yield", &values, &[], &[])?;
        self.builder = outer;
        self.depth -= 1;
        for (number, &(file, at)) in carried.iter().enumerate() {
            let result = OperationLike::result(&operation, number).map_err(crate::emit::build::melior_error)?;
            self.registers.set(file, at, result.into());
        }
        Ok(())
    }

    /// Registers allocated before the loop that its body writes, in a fixed order.
    fn carried(&self, statements: Stmt<'c>) -> Vec<(FileId, usize)> {
        let mut views: FxHashMap<Expr<'c>, Expr<'c>> = FxHashMap::default();
        let mut found = BTreeSet::new();
        walk_stmts(statements, |stmt| match stmt.kind {
            StmtKind::Let { var, value, .. } => {
                let memory = value.as_op::<TensorView>().map_or(value, |view| view.memory());
                views.insert(var, views.get(&memory).copied().unwrap_or(memory));
            }
            StmtKind::Evaluate { callee: TirCallee::Op(op), args } => {
                for written in self.table.writes(OpView { op, args }) {
                    let root = views.get(&written).copied().unwrap_or(written);
                    if let Some(Place::Registers { file, .. }) = self.buffers.get(&root).map(|b| &b.place) {
                        found.extend((0..self.registers.len(*file)).map(|at| (*file, at)));
                    }
                }
            }
            _ => {}
        });
        found.into_iter().collect()
    }
}
