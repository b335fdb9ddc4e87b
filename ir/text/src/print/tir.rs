//! Statements. A value that no statement binds stands before the statement that uses it first, in the block of the
//! innermost variable it depends on.

use rustc_hash::{FxHashMap, FxHashSet};
use tf_core::node::{DimVarRangePat, TirCallee};
use tf_core::walk::{operands, stmt_exprs};
use tf_core::{Expr, ExprKind, Stmt, StmtKind};
use tf_types::Symbol;

use super::Printer;
use crate::syntax::write_quoted;

/// A statement tree in textual order: the rest of a block that nests in a `Let` follows it.
enum Step<'c> {
    Enter(Stmt<'c>),
    /// Between the branches of an `if`.
    Else,
    /// Before the call of a case.
    Case(DimVarRangePat<'c>),
    Leave,
}

fn is_empty(stmt: Stmt<'_>) -> bool {
    matches!(stmt.kind, StmtKind::Sequential([]))
}

fn push_rest<'c>(stack: &mut Vec<Step<'c>>, stmt: Stmt<'c>) {
    match stmt.kind {
        StmtKind::Sequential(body) => stack.extend(body.iter().rev().map(|&s| Step::Enter(s))),
        StmtKind::Let { body, .. } => stack.push(Step::Enter(body)),
        StmtKind::For { body, .. } | StmtKind::While { body, .. } | StmtKind::MeshScope { body, .. } => {
            stack.extend([Step::Leave, Step::Enter(body)]);
        }
        StmtKind::If { then_body, else_body, .. } => {
            stack.push(Step::Leave);
            if !is_empty(else_body) {
                stack.extend([Step::Enter(else_body), Step::Else]);
            }
            stack.push(Step::Enter(then_body));
        }
        StmtKind::Dispatch { cases, fallback, .. } => {
            stack.extend([Step::Leave, Step::Enter(fallback)]);
            stack.extend(cases.iter().rev().flat_map(|case| [Step::Enter(case.call), Step::Case(case.pattern)]));
        }
        StmtKind::Evaluate { .. } | StmtKind::Abort { .. } | StmtKind::Return => {}
    }
}

/// Literals without a name and symbols are written where they are used.
fn is_leaf(expr: Expr<'_>) -> bool {
    match expr.kind {
        ExprKind::Var { .. } | ExprKind::SymbolRef(_) => true,
        ExprKind::Constant(_) => expr.meta.name.is_none() && expr.meta.constraint.is_none(),
        _ => false,
    }
}

/// Which values get lines of their own, and where.
#[derive(Default)]
struct Placement<'c> {
    /// Values used otherwise than as the whole value of one `Let`.
    shared: FxHashSet<Expr<'c>>,
    before: FxHashMap<Stmt<'c>, Vec<Expr<'c>>>,
    /// Block depth of variables and placed values; parameters have none, they are at 0.
    depth: FxHashMap<Expr<'c>, usize>,
    /// The current statement of every open block.
    path: Vec<Stmt<'c>>,
}

impl<'c> Placement<'c> {
    fn new(root: Stmt<'c>) -> Self {
        let mut placement = Self::default();
        placement.find_shared(root);
        placement.path.push(root);
        let mut stack = vec![Step::Enter(root)];
        while let Some(step) = stack.pop() {
            match step {
                Step::Enter(stmt) => {
                    placement.enter(stmt);
                    push_rest(&mut stack, stmt);
                }
                Step::Else | Step::Case(_) => {}
                Step::Leave => drop(placement.path.pop()),
            }
        }
        placement
    }

    fn find_shared(&mut self, root: Stmt<'c>) {
        let mut values = FxHashSet::default();
        let mut stack = vec![Step::Enter(root)];
        let mut exprs = Vec::new();
        while let Some(step) = stack.pop() {
            let Step::Enter(stmt) = step else { continue };
            match stmt.kind {
                StmtKind::Let { value, .. } if values.insert(value) => operands(value, |e| exprs.push(e)),
                _ => stmt_exprs(stmt, |e| exprs.push(e)),
            }
            while let Some(expr) = exprs.pop() {
                if !is_leaf(expr) && self.shared.insert(expr) {
                    operands(expr, |e| exprs.push(e));
                }
            }
            push_rest(&mut stack, stmt);
        }
    }

    fn stands_in_let(&self, value: Expr<'c>) -> bool {
        !self.shared.contains(&value) && !matches!(value.kind, ExprKind::Grid(_))
    }

    fn enter(&mut self, stmt: Stmt<'c>) {
        if let StmtKind::Sequential(_) = stmt.kind {
            return;
        }
        let at = self.path.len() - 1;
        self.path[at] = stmt;
        match stmt.kind {
            StmtKind::Let { var, value, .. } => {
                if self.stands_in_let(value) {
                    operands(value, |e| self.place(e));
                } else {
                    self.place(value);
                }
                self.depth.insert(var, at);
            }
            StmtKind::For { induction, .. } => {
                stmt_exprs(stmt, |e| self.place(e));
                self.depth.insert(induction, at + 1);
                self.path.push(stmt);
            }
            StmtKind::MeshScope { .. } => self.path.push(stmt),
            StmtKind::While { .. } | StmtKind::If { .. } | StmtKind::Dispatch { .. } => {
                stmt_exprs(stmt, |e| self.place(e));
                self.path.push(stmt);
            }
            _ => stmt_exprs(stmt, |e| self.place(e)),
        }
    }

    fn place(&mut self, root: Expr<'c>) {
        let mut stack = vec![(root, false)];
        while let Some((expr, operands_done)) = stack.pop() {
            if is_leaf(expr) || self.depth.contains_key(&expr) {
                continue;
            }
            if !operands_done {
                stack.push((expr, true));
                let first = stack.len();
                // A loop is printed with all that it needs.
                if !matches!(expr.kind, ExprKind::Grid(_)) {
                    operands(expr, |e| stack.push((e, false)));
                }
                stack[first..].reverse();
                continue;
            }
            let mut home = 0;
            operands(expr, |e| home = home.max(self.depth.get(&e).copied().unwrap_or(0)));
            let home = home.min(self.path.len() - 1);
            self.depth.insert(expr, home);
            self.before.entry(self.path[home]).or_default().push(expr);
        }
    }
}

impl<'c> Printer<'_, 'c> {
    pub fn statements(&mut self, root: Stmt<'c>) {
        let mut placement = Placement::new(root);
        let mut stack = vec![Step::Enter(root)];
        while let Some(step) = stack.pop() {
            match step {
                Step::Leave => self.close(),
                Step::Else => {
                    self.close();
                    self.out.push_str(" else {");
                    self.indent += 1;
                }
                Step::Case(range) => self.case(range),
                Step::Enter(stmt) => {
                    for expr in placement.before.remove(&stmt).unwrap_or_default() {
                        if matches!(expr.kind, ExprKind::Grid(_)) {
                            self.expressions(expr);
                        } else {
                            self.expression(expr);
                        }
                    }
                    self.statement(stmt, &placement);
                    push_rest(&mut stack, stmt);
                }
            }
        }
    }

    fn statement(&mut self, stmt: Stmt<'c>, placement: &Placement<'c>) {
        if let StmtKind::Sequential(_) = stmt.kind {
            return;
        }
        self.line();
        match stmt.kind {
            StmtKind::Sequential(_) => {}
            StmtKind::Let { var, value, .. } => {
                self.out.push_str("let ");
                self.binder(var);
                self.out.push_str(" = ");
                if !placement.stands_in_let(value) || !self.right_side(value) {
                    self.operand(value);
                    self.out.push_str(" : ");
                    self.ty(value.ty());
                } else {
                    self.meta(value);
                }
                self.location(stmt.span);
            }
            StmtKind::For { induction, start, stop, step, .. } => {
                self.out.push_str("tir.for ");
                self.binder(induction);
                for (word, expr) in [(" = ", start), (" to ", stop), (" step ", step)] {
                    self.out.push_str(word);
                    self.operand(expr);
                }
                let all = [induction, start, stop, step];
                if all.iter().all(|e| e.ty() == induction.ty()) {
                    self.out.push_str(" : ");
                    self.ty(induction.ty());
                } else {
                    self.operand_types(&all);
                }
                self.open(stmt);
            }
            StmtKind::While { cond, .. } => self.condition("tir.while ", cond, stmt),
            StmtKind::If { cond, .. } => self.condition("tir.if ", cond, stmt),
            StmtKind::Dispatch { callee, subject, .. } => {
                self.out.push_str("tir.dispatch ");
                self.symbol(callee);
                self.condition(" on ", subject, stmt);
            }
            StmtKind::Abort { message } => {
                self.out.push_str("tir.abort");
                if !message.as_str().is_empty() {
                    self.out.push(' ');
                    write_quoted(&mut self.out, message.as_str());
                }
                self.location(stmt.span);
            }
            StmtKind::MeshScope { mesh, binding, .. } => {
                self.out.push_str("tir.mesh ");
                self.word(binding);
                self.out.push_str(" = ");
                self.types.write_mesh(&mut self.out, mesh);
                self.open(stmt);
            }
            StmtKind::Evaluate { callee, args } => {
                match callee {
                    TirCallee::Op(op) => {
                        self.out.push_str(&op.decl.name.to_string());
                        if !args.is_empty() {
                            self.out.push(' ');
                        }
                        self.operands(args);
                        self.attributes(op);
                    }
                    TirCallee::Symbol(name) => self.named_call("tir.call ", name, args),
                    TirCallee::Intrinsic(intrinsic) => {
                        self.declare(intrinsic);
                        self.named_call("tir.intrinsic ", intrinsic.name, args);
                    }
                }
                self.operand_types(args);
                self.location(stmt.span);
            }
            StmtKind::Return => {
                self.out.push_str("tir.return");
                self.location(stmt.span);
            }
        }
    }

    /// `tir.call @f(%a, %b)`
    fn named_call(&mut self, word: &str, name: Symbol<'c>, args: &'c [Expr<'c>]) {
        self.out.push_str(word);
        self.symbol(name);
        self.out.push('(');
        self.operands(args);
        self.out.push(')');
    }

    /// The head of a region that one value governs.
    fn condition(&mut self, word: &str, value: Expr<'c>, stmt: Stmt<'c>) {
        self.out.push_str(word);
        self.operand(value);
        self.out.push_str(" : ");
        self.ty(value.ty());
        self.open(stmt);
    }

    fn case(&mut self, range: DimVarRangePat<'c>) {
        self.line();
        self.out.push_str("tir.case ");
        self.range(range);
    }

    fn open(&mut self, stmt: Stmt<'c>) {
        self.location(stmt.span);
        self.out.push_str(" {");
        self.indent += 1;
    }
}
