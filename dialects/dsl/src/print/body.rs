//! Bodies of HIR functions: one statement a value, loops as blocks.

use std::fmt::Write;
use std::rc::Rc;

use tf_core::op::OpView;
use tf_core::walk::{Schedule, schedule};
use tf_core::{Callee, Diagnostic, Expr, ExprKind, NodeSet, Result};
use tf_types::{DType, TypeKind};

use super::Printer;
use super::doc::Doc;
use super::order::as_written;
use super::scan::{is_nameless, loops};
use crate::names::is_plugin;

/// Tuples inside tuples; the reader has the same limit.
const TUPLES: usize = 16;

/// An open block: the function, or a loop.
struct Block<'p, 'c> {
    grid: Option<Expr<'c>>,
    rest: std::slice::Iter<'p, Expr<'c>>,
    open: Option<super::loops::Open<'c>>,
    /// The value of its last statement.
    last: Option<Expr<'c>>,
    /// Whether the loop that ends it has been opened.
    has_end: bool,
}

impl<'c> Printer<'_, 'c> {
    /// The statements of a function whose signature has been printed.
    pub(super) fn body(&mut self, params: &[Expr<'c>], body: Expr<'c>) -> Result<()> {
        let mut plan = schedule(body);
        as_written(&mut plan, body);
        self.scan(&plan, body)?;
        for &param in params {
            self.constraint(param).map_err(|error| error.at(param.span()))?;
        }
        self.blocks(&plan)?;
        if matches!(body.kind, ExprKind::Grid(region) if is_nameless(region)) {
            return Ok(());
        }
        let result = self.result(body, &mut NodeSet::default(), TUPLES).map_err(|error| error.at(body.span()))?;
        self.line();
        Doc::Seq(vec!["return ".into(), result]).write(&mut self.out, self.indent, self.indent, 0);
        Ok(())
    }

    fn blocks(&mut self, plan: &Schedule<'c>) -> Result<()> {
        // A loop that ends another stands at its end, whatever it depends on.
        let ends: NodeSet<Expr<'c>> = loops(plan).into_iter().filter_map(end_of).collect();
        let block = |grid: Option<Expr<'c>>, exprs, open| Block { grid, rest: exprs, open, last: None, has_end: false };
        let mut stack = vec![block(None, plan.root.iter(), None)];
        while let Some(top) = stack.last_mut() {
            let next = match top.rest.next() {
                Some(expr) if ends.contains(expr) => continue,
                Some(&expr) => Some(expr),
                None => top.grid.and_then(end_of).filter(|_| !std::mem::replace(&mut top.has_end, true)),
            };
            let Some(expr) = next else {
                if let (Some(grid), Some(open)) = (top.grid, top.open.take()) {
                    let last = top.last;
                    self.close_loop(grid, open, last).map_err(|error| error.at(grid.span()))?;
                }
                let grid = top.grid;
                stack.pop();
                if let Some(outer) = stack.last_mut() {
                    outer.last = grid;
                }
                continue;
            };
            if let ExprKind::Grid(region) = expr.kind {
                let open = self.open_loop(expr, region, plan).map_err(|error| error.at(expr.span()))?;
                stack.push(block(Some(expr), plan.region(expr).iter(), Some(open)));
            } else if self.value(expr).map_err(|error| error.at(expr.span()))? {
                top.last = Some(expr);
            }
        }
        Ok(())
    }

    /// The statement of a value; false where it needs none.
    fn value(&mut self, expr: Expr<'c>) -> Result<bool> {
        if self.scope.inlined.contains(&expr) {
            return Ok(false);
        }
        let (value, wanted) = match expr.kind {
            ExprKind::Constant(literal) => {
                let key = literal.into();
                if self.scope.named_literals.contains(&key) && !self.scope.constants.contains_key(&key) {
                    let text = self.literal(expr, expr.ty().as_tensor().map_or(DType::F32, |t| t.dtype))?;
                    let name = self.scope.fresh(None, &self.file, self.cx);
                    self.assign(&name, text.into(), expr);
                    self.scope.constants.insert(key, name);
                }
                return Ok(false);
            }
            ExprKind::Tuple(_) | ExprKind::Var { .. } | ExprKind::SymbolRef(_) | ExprKind::Grid(_) => return Ok(false),
            ExprKind::ShapeOf { .. } => {
                return Err(Diagnostic::error("an extent at run time is no value of a `@func`"));
            }
            ExprKind::Call { callee: Callee::Op(op), args } => {
                let call = OpView { op, args };
                let value = match (op.decl.name.dialect, self.window(call)) {
                    (_, Some(axes)) => self.subscript(args[0], &axes)?,
                    ("dim", None) => self.index_arithmetic(call)?,
                    ("tf", None) => {
                        let name = self.surface(op).name;
                        let callee = self.file.op(self.cx, name);
                        self.op_call(callee, op, args)?
                    }
                    (dialect, None) if is_plugin(dialect) => {
                        let name = self.surface(op).name;
                        let callee = format!("{}.{name}", self.file.import(dialect));
                        self.op_call(callee, op, args)?
                    }
                    _ => return Err(Diagnostic::error(format!("`{}` is no op of a `@func`", op.decl.name))),
                };
                let is_tuple = matches!(expr.ty().data(), TypeKind::Tuple(_));
                (value, is_tuple.then(|| self.surface(op).name))
            }
            ExprKind::Call { callee: Callee::Function(function), args } => {
                let called = self.called_as(function)?;
                if self.scope.is_reserved(called.root()) {
                    let message = format!("the function `{}` is hidden by a variable of that name", called.name);
                    return Err(Diagnostic::error(message));
                }
                let params = function.params.iter().filter(|p| !called.omits_constants || !p.is_const_param());
                let count = params.count();
                if count != args.len() {
                    let message = format!("`{}` takes {count} arguments in the DSL, found {}", called.name, args.len());
                    return Err(Diagnostic::error(message));
                }
                self.check_literals(args)?;
                let args = args.iter().map(|&arg| self.operand(arg)).collect::<Result<Vec<_>>>()?;
                (Doc::call(called.name, args), None)
            }
        };
        if let Some(&carry) = self.scope.starts.get(&expr) {
            // The start of a carry has its name, as in what the author wrote.
            self.keep(carry);
            self.assign(carry.as_str(), value, expr);
            self.scope.names.insert(expr, carry.as_str().into());
            self.scope.bind(carry, expr);
        } else {
            let wanted = expr.meta.name.map(|name| name.as_str()).or(wanted);
            let name = self.scope.fresh(wanted, &self.file, self.cx);
            self.assign(&name, value, expr);
            self.scope.names.insert(expr, name);
        }
        self.constraint(expr)?;
        Ok(true)
    }

    /// `name = value`, with the comments that are asked for.
    pub(super) fn assign(&mut self, name: &str, value: Doc, expr: Expr<'c>) {
        self.line();
        let statement = Doc::Seq(vec![format!("{name} = ").into(), value]);
        statement.write(&mut self.out, self.indent, self.indent, 0);
        self.comment(expr);
    }

    pub(super) fn comment(&mut self, expr: Expr<'c>) {
        let mut facts = Vec::new();
        if self.options.types {
            let mut text = String::new();
            match self.annotation(expr.ty(), false) {
                Ok(doc) => doc.flat(&mut text),
                Err(_) => text = expr.ty().to_string(),
            }
            facts.push(text);
        }
        if let (true, Some(name)) = (self.options.names, expr.meta.name) {
            facts.push(format!("name={name}"));
        }
        if let (true, Some(place)) = (self.options.locations, expr.span()) {
            let file = self.cx.sources().file(place.file);
            facts.push(format!("loc={}:{}:{}", file.name, place.line, place.column));
        }
        if !facts.is_empty() {
            let _ = write!(self.out, "  # {}", facts.join("; ").replace(['\n', '\r'], " "));
        }
    }

    /// A value where another uses it: by its name, or as it is written in place.
    pub(super) fn operand(&mut self, expr: Expr<'c>) -> Result<Doc> {
        if self.scope.is_prim { self.prim_operand(expr) } else { self.value_text(expr).map(Doc::Text) }
    }

    /// A value of a `@func` by its name.
    pub(super) fn value_text(&mut self, expr: Expr<'c>) -> Result<String> {
        if let Some(uses) = self.scope.uses.get_mut(&expr) {
            *uses = uses.saturating_sub(1);
        }
        if let Some(name) = self.scope.names.get(&expr) {
            return Ok(name.to_string());
        }
        let refuse = |why: &str| Err(Diagnostic::error(why).at(expr.span()));
        match expr.kind {
            ExprKind::Constant(literal) => match self.scope.constants.get(&literal.into()) {
                Some(name) => Ok(name.to_string()),
                None => self.literal(expr, DType::F32),
            },
            ExprKind::Grid(region) if region.carries.is_empty() => {
                refuse("a loop without carries has no name: it is the end of a function or of a loop")
            }
            ExprKind::Grid(_) => refuse("a loop with several carries has no name: its items have"),
            ExprKind::Tuple(_) => refuse("a tuple is the result of a function, and no operand"),
            ExprKind::Call { .. } if self.scope.coordinates.contains_key(&expr) => {
                let (mesh, axis) = self.scope.coordinates[&expr];
                Ok(format!("{}.{}", self.mesh(mesh)?, mesh.axis_name(axis)))
            }
            _ => refuse("the value has no name where it is used"),
        }
    }

    /// What a function returns: tuples are written in place, each once.
    fn result(&mut self, expr: Expr<'c>, seen: &mut NodeSet<Expr<'c>>, depth: usize) -> Result<Doc> {
        match expr.kind {
            ExprKind::Tuple(items) => {
                if depth == 0 {
                    return Err(Diagnostic::error(format!("tuples are nested more than {TUPLES} deep")));
                }
                if !seen.insert(expr) {
                    return Err(Diagnostic::error("a tuple is used twice, and the DSL has no name for it"));
                }
                let items = items.iter().map(|&item| self.result(item, seen, depth - 1)).collect::<Result<Vec<_>>>()?;
                Ok(Doc::tuple(items))
            }
            ExprKind::Constant(_) => self.literal(expr, DType::F32).map(Doc::Text),
            _ => self.operand(expr),
        }
    }

    /// A further name for the value of a variable's name, which is bound anew.
    pub(super) fn keep(&mut self, name: tf_types::Symbol<'c>) -> Option<Expr<'c>> {
        let value = self.scope.loses(name)?;
        let alias: Rc<str> = self.scope.fresh(Some(name.as_str()), &self.file, self.cx);
        self.text_line(&format!("{alias} = {name}"));
        self.scope.rename(value, alias);
        Some(value)
    }
}

/// The loop whose value a loop without carries ends with, where that has no name.
pub(super) fn end_of(grid: Expr<'_>) -> Option<Expr<'_>> {
    let ExprKind::Grid(region) = grid.kind else { return None };
    let body = region.body.filter(|_| region.carries.is_empty())?;
    matches!(body.kind, ExprKind::Grid(inner) if is_nameless(inner)).then_some(body)
}
