//! Statements, without recursion: a function may be long.
use super::{
    Binding, Emitter,
    index::{is_dim, to_index},
    nest, table,
};
use crate::emit::{build::location, scalar::Scalars};
use melior::ir::Type;
use tf_core::{Diagnostic, Expr, Result, Stmt, StmtKind, node::TirCallee, op::OpView};
use tf_types::DType;

/// What is left to do.
enum Step<'a, 'c> {
    Run(Stmt<'c>),
    /// Ends a loop: back to the block around it.
    Leave(Scalars<'a, 'a>),
}

/// A loop's bounds.
struct Range<'c> {
    start: Expr<'c>,
    stop: Expr<'c>,
    step: Expr<'c>,
}

impl<'a, 'c> Emitter<'a, 'c> {
    /// Emits a statement and everything in it into the current block.
    pub(super) fn walk(&mut self, body: Stmt<'c>) -> Result<()> {
        let mut steps = vec![Step::Run(body)];
        let mut depth = 0;
        while let Some(step) = steps.pop() {
            let stmt = match step {
                Step::Run(stmt) => stmt,
                Step::Leave(outer) => {
                    nest::close(&self.s)?;
                    self.s = outer;
                    depth -= 1;
                    continue;
                }
            };
            if stmt.span.is_some() {
                self.s.location = location(self.s.session, &self.sources, stmt.span);
            }
            let placed = |error: Diagnostic| error.at(stmt.span);
            match stmt.kind {
                StmtKind::Sequential(body) => steps.extend(body.iter().rev().map(|&child| Step::Run(child))),
                StmtKind::Let { var, value, body } => {
                    let binding = self.bind(value).map_err(placed)?;
                    self.env.insert(var, binding);
                    steps.push(Step::Run(body));
                }
                StmtKind::For { induction, start, stop, step, body } => {
                    let outer = self.s;
                    self.enter(induction, &Range { start, stop, step }).map_err(placed)?;
                    depth += 1;
                    steps.push(Step::Leave(outer));
                    steps.push(Step::Run(body));
                }
                StmtKind::Evaluate { callee: TirCallee::Op(op), args } => {
                    table::effect(self, OpView { op, args }).map_err(placed)?;
                }
                StmtKind::Return if depth == 0 => return Ok(()),
                StmtKind::Return => return Err(placed(Diagnostic::error("a return inside a loop is not built yet"))),
                StmtKind::Evaluate { callee: TirCallee::Symbol(name), .. } => {
                    let message = format!("a CPU function that calls another (`@{name}`) is not built yet");
                    return Err(placed(Diagnostic::error(message)));
                }
                StmtKind::Evaluate { callee: TirCallee::Intrinsic(name), .. } => {
                    return Err(placed(Diagnostic::error(format!("no code is known for the intrinsic `{name}`"))));
                }
                StmtKind::While { .. } | StmtKind::If { .. } | StmtKind::Dispatch { .. } | StmtKind::Abort { .. } => {
                    let message = format!("{} in a CPU function is not built yet", stmt.describe());
                    return Err(placed(Diagnostic::error(message)));
                }
                StmtKind::MeshScope { binding, .. } => {
                    let message = format!("mesh `{binding}` in a CPU function, which has no positions");
                    return Err(placed(Diagnostic::error(message).with_help("lower with target=cpu")));
                }
            }
        }
        Ok(())
    }

    fn bind(&mut self, value: Expr<'c>) -> Result<Binding<'a>> {
        if is_dim(value) || value.literal().is_some() {
            return Ok(Binding::Index(self.wide(value)?));
        }
        table::value(self, value)
    }

    fn enter(&mut self, induction: Expr<'c>, range: &Range<'c>) -> Result<()> {
        let bound = |expr: Expr<'c>| self.wide(expr);
        let (start, stop, step) = (bound(range.start)?, bound(range.stop)?, bound(range.step)?);
        match range.step.literal() {
            Some(tf_core::Literal::Int(1..)) => {}
            Some(literal) => return Err(Diagnostic::error(format!("a loop's step must be positive, found {literal}"))),
            None => {
                let zero = self.s.constant(DType::I64, tf_core::Literal::Int(0))?;
                let positive = self.s.compare_int("sgt", step, zero)?;
                self.s.require(positive, "a loop's step must be positive")?;
            }
        }
        let s = self.s;
        let (inside, at) = nest::open(&s, to_index(&s, start)?, to_index(&s, stop)?, to_index(&s, step)?)?;
        self.s = inside;
        let i64: Type<'a> = self.s.mlir_type(DType::I64)?;
        let value = self.s.op("arith.index_cast", &[at], i64)?;
        self.env.insert(induction, Binding::Index(value));
        Ok(())
    }
}
