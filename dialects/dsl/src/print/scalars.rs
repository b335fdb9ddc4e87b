//! Values of TIR functions, written where they are used, and launches.

use tf_core::op::{OpInstance, ParamKind};
use tf_core::{Callee, Diagnostic, Expr, ExprKind, Result};
use tf_types::DType;

use super::Printer;
use super::doc::Doc;
use super::prim::DEPTH;
use crate::names::is_plugin;

/// How an operator of scalars is written, and how tightly it and its operands bind.
fn operator(name: &str) -> Option<(&'static str, [u8; 3])> {
    let left = |text, binds| Some((text, [binds, binds, binds + 1]));
    let comparison = |text| Some((text, [4, 5, 5]));
    match name {
        "logical_or" => left("or", 1),
        "logical_and" => left("and", 2),
        "cmp_eq" => comparison("=="),
        "cmp_ne" => comparison("!="),
        "cmp_lt" => comparison("<"),
        "cmp_le" => comparison("<="),
        "cmp_gt" => comparison(">"),
        "cmp_ge" => comparison(">="),
        "add" => left("+", 5),
        "sub" => left("-", 5),
        "mul" => left("*", 6),
        "div" => left("/", 6),
        "floor_div" => left("//", 6),
        "mod" => left("%", 6),
        _ => None,
    }
}

impl<'c> Printer<'_, 'c> {
    pub(super) fn prim_operand(&mut self, expr: Expr<'c>) -> Result<Doc> {
        self.prim_value(expr, 0, DEPTH)
    }

    /// A value in place, in parentheses unless it binds at least as tightly as `least`.
    pub(super) fn prim_value(&mut self, expr: Expr<'c>, least: u8, depth: usize) -> Result<Doc> {
        let Some(depth) = depth.checked_sub(1) else {
            return Err(Diagnostic::error(format!("values are nested more than {DEPTH} deep")).at(expr.span()));
        };
        if let Some(name) = self.scope.names.get(&expr) {
            if let Some(uses) = self.scope.uses.get_mut(&expr) {
                *uses = uses.saturating_sub(1);
            }
            return Ok((**name).into());
        }
        let refuse = |why: &str| Err(Diagnostic::error(why).at(expr.span()));
        match expr.kind {
            ExprKind::Constant(_) => {
                let float = expr.ty().as_tensor().map(|t| t.dtype).filter(|dtype| dtype.is_float());
                let text = self.literal(expr, float.unwrap_or(DType::F32))?;
                Ok(if text.starts_with('-') && least > 0 { format!("({text})") } else { text }.into())
            }
            ExprKind::Call { .. } if self.scope.uses.get(&expr).is_some_and(|&uses| uses > 1) => {
                refuse("a value is used twice without a binding, which gives it a name")
            }
            ExprKind::Call { callee: Callee::Op(op), args } if op.decl.name.dialect == "dim" => {
                self.scalar_operation(op, args, least, depth)
            }
            ExprKind::Call { callee: Callee::Op(op), args } => self.prim_op(op, args),
            ExprKind::SymbolRef(name) => {
                let called = self.launched.get(&name).cloned().unwrap_or_else(|| name.to_string());
                let root = called.split('[').next().unwrap_or_default();
                self.check_callee(self.cx.symbol(root))?;
                Ok(called.into())
            }
            ExprKind::ShapeOf { param, axis } => {
                let extent = param.ty().as_tensor().and_then(|t| t.shape.get(axis as usize).copied());
                if extent.is_none_or(|extent| extent.as_const().is_some()) {
                    return refuse("the extent is known at compile time, and the DSL takes its value");
                }
                let param = self.prim_value(param, 0, depth)?;
                Ok(Doc::Seq(vec![param, format!(".shape[{axis}]").into()]))
            }
            _ => refuse("the DSL has no such value in a `@prim_func`"),
        }
    }

    pub(super) fn prim_op(&mut self, op: OpInstance<'c>, args: &[Expr<'c>]) -> Result<Doc> {
        let dialect = op.decl.name.dialect;
        if dialect != "T" && !is_plugin(dialect) {
            return Err(Diagnostic::error(format!("`{}` is no op of a `@prim_func`", op.decl.name)));
        }
        let name = self.surface(op).name;
        let callee = format!("{}.{name}", self.file.import(dialect));
        self.op_call(callee, op, args)
    }

    fn scalar_operation(&mut self, op: OpInstance<'c>, args: &[Expr<'c>], least: u8, depth: usize) -> Result<Doc> {
        let name = op.decl.name;
        self.check_literals(args)?;
        if args.iter().all(|arg| arg.literal().is_some()) {
            return Err(Diagnostic::error(format!("the DSL computes `{name}` of literals itself")));
        }
        let (parts, binds) = match (name.name, args) {
            ("neg", [x]) => (vec!["-".into(), self.prim_value(*x, 7, depth)?], 7),
            ("logical_not", [x]) => (vec!["not ".into(), self.prim_value(*x, 3, depth)?], 3),
            ("min" | "max", [left, right]) => {
                let operands = vec![self.prim_value(*left, 0, depth)?, self.prim_value(*right, 0, depth)?];
                return Ok(Doc::call(self.file.word(self.cx, name.name)?, operands));
            }
            (other, [left, right]) => {
                let Some((text, [binds, of_left, of_right])) = operator(other) else {
                    return Err(Diagnostic::error(format!("the DSL has no `{name}` in a `@prim_func`")));
                };
                let left = self.prim_value(*left, of_left, depth)?;
                let right = self.prim_value(*right, of_right, depth)?;
                (vec![left, format!(" {text} ").into(), right], binds)
            }
            _ => return Err(Diagnostic::error(format!("the DSL has no `{name}` in a `@prim_func`"))),
        };
        let value = Doc::Seq(parts);
        Ok(if binds < least { Doc::Seq(vec!["(".into(), value, ")".into()]) } else { value })
    }

    /// `launch(f, *args, grid=(x, y, z), block=(x, y, z))`, with what else is not as it is by default.
    pub(super) fn launch(&mut self, op: OpInstance<'c>, args: &[Expr<'c>]) -> Result<Doc> {
        let names: Vec<_> = op.decl.inputs().map(|param| param.name).collect();
        let (Some(grid), Some(block)) =
            (names.iter().position(|name| *name == "grid_x"), names.iter().position(|name| *name == "block_x"))
        else {
            return self.prim_op(op, args);
        };
        let mut items = Vec::new();
        let mut extents = Vec::new();
        for (at, &arg) in args.iter().enumerate() {
            let value = self.operand(arg)?;
            if (grid..grid + 3).contains(&at) || (block..block + 3).contains(&at) {
                extents.push(value);
            } else {
                items.push(value);
            }
        }
        let blocks = extents.split_off(extents.len().min(3));
        items.push(Doc::keyword("grid", Doc::tuple(extents)));
        items.push(Doc::keyword("block", Doc::tuple(blocks)));
        for (param, &value) in op.decl.attributes().zip(op.attrs()) {
            let ParamKind::Attribute { kind, default, .. } = param.kind else { continue };
            if default.is_none_or(|default| default.to_attr() != value) {
                items.push(Doc::keyword(param.name, self.attr(kind, value)?));
            }
        }
        Ok(Doc::call(self.file.word(self.cx, "launch")?, items))
    }
}
