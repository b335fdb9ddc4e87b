//! TIR functions: statements as Python's, values of ops written in place.

use tf_core::hidden::{forwarded_shape_scalars, mentioned_shape_scalars};
use tf_core::node::TirCallee;
use tf_core::op::OpView;
use tf_core::walk::{post_order, stmt_exprs, walk_stmts};
use tf_core::{Diagnostic, Expr, ExprKind, PrimFunction, Result, Stmt, StmtKind, Target, TargetKind};
use tf_types::{Mesh, Symbol, Topology};

use super::Printer;
use super::doc::Doc;
use super::python::{docstring, is_name};
use super::scan::{integer, is_op};
use super::scope::{Mark, Scope};
use super::shadows::shadowed;
use crate::prim::{default_outputs, default_target};

/// Values inside values; the reader bounds brackets.
pub(super) const DEPTH: usize = 128;
/// Said of blocks beyond [`INDENT`].
pub(super) const TOO_DEEP: &str = "blocks are nested too deep for the DSL";
/// Columns of indentation; the reader has the same limit.
const INDENT: usize = 400;

enum Step<'c> {
    Enter(Stmt<'c>),
    /// The end of the first branch; the second one follows.
    Else(Stmt<'c>, Mark, usize),
    /// The end of a block that began there in the text.
    End(Mark, usize),
    /// The end of a mesh scope that began there in the text.
    EndMesh(usize),
}

/// The statement that is all of a block.
fn only(block: Stmt<'_>) -> Option<Stmt<'_>> {
    let mut stmt = block;
    while let StmtKind::Sequential(inner) = stmt.kind {
        let [one] = inner else { return None };
        stmt = *one;
    }
    Some(stmt)
}

impl<'c> Printer<'_, 'c> {
    /// `@prim_func` and the function; `target` is that of the modules around it.
    pub(super) fn prim_function(&mut self, function: PrimFunction<'c>, target: Option<Target<'c>>) -> Result<()> {
        let at = |error: Diagnostic| error.at(function.span);
        self.line();
        let mut declared = Vec::new();
        if function.target != target.unwrap_or_else(|| default_target(self.cx)) {
            declared.push(Doc::keyword("target", self.target(function.target)));
        }
        let params = self.written_params(function).map_err(at)?;
        if function.output_count != default_outputs(params.len()) {
            declared.push(Doc::keyword("outputs", function.output_count.to_string().into()));
        }
        let name = format!("@{}", self.file.import("prim_func"));
        let decorator = if declared.is_empty() { Doc::Text(name) } else { Doc::call(name, declared) };
        decorator.write(&mut self.out, self.indent, self.indent, 0);
        self.scope = Scope::default();
        self.scope.is_prim = true;
        self.scope.params = function.data().params;
        self.signature(function.name.as_str(), &params, None).map_err(at)?;
        if let Some(doc) = function.doc {
            self.text_line(&docstring(doc.as_str()));
        }
        self.scan_statements(function.body)?;
        self.scope.shadowed = shadowed(function.data().params, function.body);
        let start = self.out.len();
        params.iter().for_each(|&param| self.name_apart(param));
        self.statements(function.body)?;
        self.end_block(start);
        Ok(())
    }

    /// The parameters without the hidden extents that the reader adds by itself.
    fn written_params(&self, function: PrimFunction<'c>) -> Result<Vec<Expr<'c>>> {
        let all = function.data().params;
        if function.target.kind != TargetKind::Cuda {
            return Ok(all.to_vec());
        }
        let visible = function.visible_params();
        let read = mentioned_shape_scalars(self.cx, &visible, function.body);
        if let Some(absent) = read.iter().find(|read| all.iter().all(|own| own.var_name() != read.var_name())) {
            let message = format!("a function of the DSL for a GPU takes {}, which is absent", absent.describe());
            return Err(Diagnostic::error(message));
        }
        let hidden = &all[visible.len().min(all.len())..];
        let mut roots = Vec::new();
        walk_stmts(function.body, |stmt| stmt_exprs(stmt, |root| roots.push(root)));
        let is_used = post_order(&roots).iter().any(|expr| hidden.contains(expr));
        let is_read = hidden.len() == read.len() && hidden.iter().zip(&read).all(|(a, b)| a.var_name() == b.var_name());
        Ok(if is_read && !is_used { visible } else { all.to_vec() })
    }

    /// The arguments of a call without the extents that the reader passes on by itself.
    fn written_args(&self, callee: PrimFunction<'c>, args: &'c [Expr<'c>]) -> Result<&'c [Expr<'c>]> {
        let (written, extents) = args.split_at(args.len().min(callee.visible_params().len()));
        let read = forwarded_shape_scalars(callee, written, self.scope.params).unwrap_or_default();
        let is_read = |(arg, (param, axis)): (&Expr<'c>, &(Expr<'c>, u32))| matches!(arg.kind, ExprKind::ShapeOf { param: own, axis: at } if own == *param && at == *axis);
        if extents.len() != read.len() || !extents.iter().zip(&read).all(is_read) {
            let message = format!("`{}` is not called with the extents of the parameters here", callee.name);
            return Err(Diagnostic::error(message));
        }
        Ok(written)
    }

    /// Counts the uses of values and takes the names of variables.
    fn scan_statements(&mut self, root: Stmt<'c>) -> Result<()> {
        let mut roots = Vec::new();
        let mut vars = Vec::new();
        walk_stmts(root, |stmt| {
            stmt_exprs(stmt, |expr| roots.push(expr));
            match stmt.kind {
                StmtKind::Let { var, .. } | StmtKind::For { induction: var, .. } => vars.push(var),
                _ => {}
            }
        });
        for var in vars {
            if let Some(name) = var.var_name() {
                self.scope.reserve(name).map_err(|error| error.at(var.span()))?;
            }
        }
        for expr in post_order(&roots) {
            tf_core::walk::operands(expr, |operand| roots.push(operand));
        }
        for expr in roots {
            *self.scope.uses.or_insert_with(expr, || 0) += 1;
        }
        Ok(())
    }

    fn statements(&mut self, root: Stmt<'c>) -> Result<()> {
        let mut stack = vec![Step::Enter(root)];
        while let Some(step) = stack.pop() {
            match step {
                Step::End(mark, start) => {
                    self.scope.leave(mark);
                    self.end_block(start);
                }
                Step::EndMesh(start) => {
                    self.scope.meshes.pop();
                    self.end_block(start);
                }
                Step::Else(other, mark, start) => {
                    self.scope.leave(mark);
                    self.end_block(start);
                    match only(other).map(|stmt| stmt.data().kind) {
                        _ if matches!(other.kind, StmtKind::Sequential([])) => {}
                        Some(StmtKind::If { cond, then_body, else_body }) => {
                            let cond = self.prim_value(cond, 0, DEPTH).map_err(|error| error.at(other.span))?;
                            let step =
                                self.head(vec!["elif ".into(), cond], |mark, start| Step::Else(else_body, mark, start));
                            stack.extend([step, Step::Enter(then_body)]);
                        }
                        _ => {
                            let step = self.head(vec!["else".into()], Step::End);
                            stack.extend([step, Step::Enter(other)]);
                        }
                    }
                }
                Step::Enter(stmt) => self.statement(stmt, &mut stack).map_err(|error| error.at(stmt.span))?,
            }
            if self.indent > INDENT {
                return Err(Diagnostic::error(TOO_DEEP).at(root.span));
            }
        }
        Ok(())
    }

    /// The line that opens a block.
    fn head(&mut self, parts: Vec<Doc>, end: impl FnOnce(Mark, usize) -> Step<'c>) -> Step<'c> {
        self.line();
        Doc::Seq(parts).write(&mut self.out, self.indent, self.indent, 1);
        self.open_block();
        let mark = self.scope.enter();
        end(mark, self.out.len())
    }

    fn end_block(&mut self, start: usize) {
        if self.out.len() == start {
            self.text_line("pass");
        }
        self.close_block();
    }

    fn statement(&mut self, stmt: Stmt<'c>, stack: &mut Vec<Step<'c>>) -> Result<()> {
        let refuse = |what: &str| Err(Diagnostic::error(format!("the DSL has no {what}")));
        match stmt.kind {
            StmtKind::Sequential(body) => stack.extend(body.iter().rev().map(|&inner| Step::Enter(inner))),
            StmtKind::Let { var, value, body } => {
                self.binding(var, value)?;
                stack.push(Step::Enter(body));
            }
            StmtKind::For { induction, start, stop, step, body } => {
                let Some(name) = induction.var_name() else { return refuse("loop without a variable") };
                let bounds = match (integer(start), integer(step)) {
                    (Some(0), Some(1)) => vec![stop],
                    (_, Some(1)) => vec![start, stop],
                    _ => vec![start, stop, step],
                };
                let bounds = bounds.into_iter().map(|bound| self.operand(bound)).collect::<Result<Vec<_>>>()?;
                let range = Doc::call(self.file.word(self.cx, "range")?, bounds);
                self.keep(name);
                let end = self.head(vec![format!("for {name} in ").into(), range], Step::End);
                self.scope.names.insert(induction, name.as_str().into());
                self.scope.bind(name, induction);
                self.name_apart(induction);
                stack.extend([end, Step::Enter(body)]);
            }
            StmtKind::While { cond, body } => {
                let cond = self.prim_value(cond, 0, DEPTH)?;
                let end = self.head(vec!["while ".into(), cond], Step::End);
                stack.extend([end, Step::Enter(body)]);
            }
            StmtKind::If { cond, then_body, else_body } => {
                let cond = self.prim_value(cond, 0, DEPTH)?;
                let end = self.head(vec!["if ".into(), cond], |mark, start| Step::Else(else_body, mark, start));
                stack.extend([end, Step::Enter(then_body)]);
            }
            StmtKind::MeshScope { mesh, binding, body } => {
                self.check_levels(mesh)?;
                let written = self.mesh(mesh)?;
                let alias = match binding.as_str() {
                    "_" => String::new(),
                    name if is_name(name) && self.scope.loses(binding).is_none() => format!(" as {name}"),
                    name => return refuse(&format!("mesh scope named `{name}` here")),
                };
                let end = self.head(vec![format!("with {written}{alias}").into()], |_, start| Step::EndMesh(start));
                self.scope.meshes.push((mesh, binding));
                stack.extend([end, Step::Enter(body)]);
            }
            StmtKind::Evaluate { callee: TirCallee::Op(op), args } => {
                let effect = if is_op(OpView { op, args }, "T", "launch") {
                    self.launch(op, args)?
                } else {
                    self.prim_op(op, args)?
                };
                self.line();
                effect.write(&mut self.out, self.indent, self.indent, 0);
            }
            StmtKind::Evaluate { callee: TirCallee::Symbol(name), args } => {
                self.check_callee(name)?;
                let args = match self.prims.get(&name).copied() {
                    Some(callee) => self.written_args(callee, args)?,
                    None => args,
                };
                let args = args.iter().map(|&arg| self.operand(arg)).collect::<Result<Vec<_>>>()?;
                self.line();
                Doc::call(name.as_str(), args).write(&mut self.out, self.indent, self.indent, 0);
            }
            StmtKind::Evaluate { callee: TirCallee::Intrinsic(intrinsic), args } => {
                let args = args.iter().map(|&arg| self.operand(arg)).collect::<Result<Vec<_>>>()?;
                let callee = format!("{}.{intrinsic}", self.file.import("T"));
                self.line();
                Doc::call(callee, args).write(&mut self.out, self.indent, self.indent, 0);
            }
            StmtKind::Return => self.text_line("return"),
            StmtKind::Dispatch { .. } => return refuse("dispatch statement"),
            StmtKind::Abort { .. } => return refuse("`abort`"),
        }
        Ok(())
    }

    /// A function that a variable hides cannot be called.
    pub(super) fn check_callee(&self, name: Symbol<'c>) -> Result<()> {
        match self.scope.binding(name) {
            None => Ok(()),
            Some(_) => Err(Diagnostic::error(format!("the function `{name}` is hidden by a variable of that name"))),
        }
    }

    /// A scope is over levels that the module declares, if it declares some.
    fn check_levels(&self, mesh: Mesh<'c>) -> Result<()> {
        let Some(declared) = self.levels else { return Ok(()) };
        let fits = |level: &&Topology<'c>| {
            let own = declared.iter().find(|own| own.name == level.name);
            own.is_some_and(|own| own.size.is_none() || level.size.is_none() || own.size == level.size)
        };
        match mesh.topologies.iter().find(|level| !fits(level)) {
            None => Ok(()),
            Some(level) => Err(Diagnostic::error(format!("the module does not declare the level {level} of {mesh}"))),
        }
    }

    /// A further name for a variable that a block inside hides.
    fn name_apart(&mut self, var: Expr<'c>) {
        let Some(name) = var.var_name().filter(|_| self.scope.shadowed.contains(&var)) else { return };
        let alias = self.scope.fresh(Some(name.as_str()), &self.file, self.cx);
        self.text_line(&format!("{alias} = {name}"));
        self.scope.names.insert(var, alias);
    }

    /// `name = value`
    fn binding(&mut self, var: Expr<'c>, value: Expr<'c>) -> Result<()> {
        let Some(name) = var.var_name() else { return Err(Diagnostic::error("a binding has a name")) };
        if matches!(value.kind, ExprKind::Var { .. } | ExprKind::Constant(_)) {
            let message =
                format!("`{name}` is bound to a variable or a constant, which is another name for it in the DSL");
            return Err(Diagnostic::error(message));
        }
        let value = self.prim_value(value, 0, DEPTH)?;
        self.keep(name);
        self.assign(name.as_str(), value, var);
        self.scope.names.insert(var, name.as_str().into());
        self.scope.bind(name, var);
        self.name_apart(var);
        Ok(())
    }

    /// The name of a mesh that a scope around has opened.
    pub(super) fn open_mesh_name(&self, mesh: Mesh<'c>) -> Option<String> {
        let (_, name) = self.scope.meshes.iter().rev().find(|(open, _)| *open == mesh)?;
        let is_last = self.scope.meshes.iter().rev().find(|(_, other)| other == name)?.0 == mesh;
        let is_seen = is_last && name.as_str() != "_" && self.scope.binding(*name).is_none();
        is_seen.then(|| name.to_string())
    }
}
