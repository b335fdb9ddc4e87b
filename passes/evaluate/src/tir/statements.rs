//! Statements, expressions and operands of a function under construction.

use tf_core::node::{DispatchCase, TirCallee};
use tf_core::op::{CallSpans, OpView, RuleError};
use tf_core::walk::post_order;
use tf_core::{Diagnostic, Expr, ExprKind, PrimFunction, Result, Stmt, StmtKind};
use tf_dim::ScalarKind;
use tf_types::{DType, Mesh, Symbol, TensorType};
use tf_value::literal;
use tf_value::tir::{Meaning, Team};

use super::code::{Allocated, Instruction, Operand, Scope};
use super::compile::{Binding, Body, Task, allocated};
use super::scalar::{Node, Scalar, ScalarCode};
use crate::dims::{DimSizes, bind_shapes};

impl<'c> Body<'_, '_, 'c> {
    pub(super) fn statement(&mut self, number: usize, stmt: Stmt<'c>, tasks: &mut Vec<Task<'c>>) -> Result<()> {
        match stmt.kind {
            StmtKind::Sequential(body) => tasks.extend(body.iter().rev().map(|&child| Task::Run(child))),
            StmtKind::Let { var, value, body } => {
                let binding = self.value(value, var.describe())?;
                self.env.insert(var, binding);
                tasks.push(Task::Run(body));
            }
            StmtKind::For { induction, start, stop, step, body } => {
                let mut scalar = |expr| -> Result<u32> {
                    let value = self.scalar(expr)?;
                    let to = self.code.new_scalar();
                    self.emit(Instruction::Set { to, value });
                    Ok(to)
                };
                let [at, stop, step] = [scalar(start)?, scalar(stop)?, scalar(step)?];
                self.env.insert(induction, Binding::Scalar(at));
                self.emit(Instruction::CheckStep { step });
                let head = self.emit(Instruction::Past { at, stop, target: 0 });
                tasks.extend([Task::EndFor { head, at, step }, Task::Run(body)]);
            }
            StmtKind::While { cond, body } => {
                let rounds = self.code.new_scalar();
                self.emit(Instruction::Set { to: rounds, value: ScalarCode::int(0) });
                let head = self.here();
                let cond = self.scalar(cond)?;
                let test = self.emit(Instruction::Unless(cond, 0));
                tasks.extend([Task::EndWhile { head, test, rounds }, Task::Run(body)]);
            }
            StmtKind::If { cond, then_body, else_body } => {
                let cond = self.scalar(cond)?;
                let test = self.emit(Instruction::Unless(cond, 0));
                let is_empty = matches!(else_body.kind, StmtKind::Sequential([]));
                tasks.push(if is_empty { Task::Land(test) } else { Task::Else(test, else_body) });
                tasks.push(Task::Run(then_body));
            }
            StmtKind::MeshScope { mesh, body, .. } => {
                self.open(mesh)?;
                tasks.push(Task::Run(body));
            }
            StmtKind::Evaluate { callee: TirCallee::Op(op), args } => self.effect(OpView { op, args })?,
            StmtKind::Evaluate { callee: TirCallee::Symbol(name), args } => self.call(number, name, args)?,
            StmtKind::Evaluate { callee: TirCallee::Intrinsic(name), .. } => {
                return Err(Diagnostic::error(format!("the intrinsic `{name}` has no rule by which it is evaluated")));
            }
            StmtKind::Dispatch { callee, subject, cases, fallback } => {
                self.dispatch(number, (callee, subject), cases, fallback)?;
            }
            StmtKind::Abort { message } => {
                self.emit(Instruction::Abort(message.to_string()));
            }
            StmtKind::Return => {
                self.emit(Instruction::Return);
            }
        }
        Ok(())
    }

    fn dispatch(
        &mut self,
        number: usize,
        (callee, subject): (Symbol<'c>, Expr<'c>),
        cases: &[DispatchCase<'c>],
        fallback: Stmt<'c>,
    ) -> Result<()> {
        let mut jumps = Vec::new();
        for case in cases {
            let StmtKind::Evaluate { callee: TirCallee::Symbol(name), args } = case.call.kind else {
                return Err(Diagnostic::error(format!("a case of the dispatch to `{callee}` is no call")));
            };
            let (value, lo, hi) = (self.scalar(subject)?, case.pattern.lo, case.pattern.hi);
            let test = self.emit(Instruction::Outside { value, lo, hi, target: 0 });
            self.call(number, name, args)?;
            jumps.push(self.emit(Instruction::Jump(0)));
            self.land(test);
        }
        let message = match fallback.kind {
            StmtKind::Abort { message } if !message.as_str().is_empty() => message.to_string(),
            _ => format!("no case of the dispatch to `{callee}`"),
        };
        self.emit(Instruction::Abort(message));
        jumps.into_iter().for_each(|jump| self.land(jump));
        Ok(())
    }

    /// The positions that a mesh states.
    fn open(&mut self, mesh: Mesh<'c>) -> Result<()> {
        let (mut ctas, mut threads) = (None, None);
        for level in mesh.topologies {
            let size = level.size.map(|size| {
                size.as_const().ok_or_else(|| Diagnostic::error(format!("{mesh} has a size that no argument tells")))
            });
            let size = size.transpose()?;
            match level.name.as_str() {
                "cta" => ctas = size,
                "thread" => threads = size,
                other => {
                    let message = format!("positions of the level `{other}` are not evaluated");
                    return Err(Diagnostic::error(message).with_help("the levels are `cta` and `thread`"));
                }
            }
        }
        self.emit(Instruction::Open { mesh: mesh.to_string(), ctas, threads });
        Ok(())
    }

    fn meaning(&self, call: OpView<'c>) -> Result<Option<Meaning>> {
        let Some(rule) = self.compiler.rules.tir(call.op.id) else { return Ok(None) };
        let refused = |error: RuleError| {
            let operands: Vec<_> = call.args.iter().map(|arg| arg.span()).collect();
            error.into_diagnostic(CallSpans { call: self.span, operands: &operands, attrs: &[] })
        };
        rule(call).map(Some).map_err(refused)
    }

    fn no_rule(call: OpView<'c>) -> Diagnostic {
        Diagnostic::error(format!("`{}` has no rule by which it is evaluated", call.op.decl.name))
    }

    fn effect(&mut self, call: OpView<'c>) -> Result<()> {
        let name = call.op.decl.name.to_string();
        match self.meaning(call)? {
            Some(Meaning::Effect(team, effect)) => {
                self.code.meets_grid |= team == Team::Grid;
                let operands = call.args.iter().map(|&arg| self.operand(arg)).collect::<Result<_>>()?;
                self.emit(Instruction::Run { name, team, effect, operands });
                Ok(())
            }
            Some(Meaning::Launch) => self.launch(call.args),
            Some(_) => Err(Diagnostic::error(format!("`{name}` gives a value, and stands where an effect does"))),
            None => Err(Self::no_rule(call)),
        }
    }

    /// What a bound value is.
    fn value(&mut self, value: Expr<'c>, name: String) -> Result<Binding> {
        if let Some(&Binding::Buffer(from)) = self.env.get(&value) {
            let to = self.code.new_buffer();
            self.emit(Instruction::Bind { to, from });
            return Ok(Binding::Buffer(to));
        }
        let meaning = match value.op_call() {
            Some(call) => self.meaning(call)?.map(|meaning| (call, meaning)),
            None => None,
        };
        match meaning {
            Some((_, Meaning::Allocate)) => {
                let Some(tensor) = value.ty().as_tensor() else {
                    return Err(Diagnostic::error(format!("{} cannot be allocated", value.ty())));
                };
                let site = self.site(tensor, name)?;
                let to = self.code.new_buffer();
                self.emit(Instruction::Allocate { to, site });
                Ok(Binding::Buffer(to))
            }
            Some((call, Meaning::View(window))) => {
                let (Operand::Buffer(from), starts) = (self.operand(call.args[0])?, &call.args[1..]) else {
                    return Err(Diagnostic::error(format!("`{}` is a view of no memory", call.op.decl.name)));
                };
                let starts = starts.iter().map(|&start| self.scalar(start)).collect::<Result<_>>()?;
                let to = self.code.new_buffer();
                self.emit(Instruction::View { to, from, window, starts, name });
                Ok(Binding::Buffer(to))
            }
            _ => {
                let value = self.scalar(value)?;
                let to = self.code.new_scalar();
                self.emit(Instruction::Set { to, value });
                Ok(Binding::Scalar(to))
            }
        }
    }

    fn site(&mut self, tensor: &TensorType<'c>, name: String) -> Result<u32> {
        self.code.sites.push(allocated(tensor, name, self.span)?);
        Ok(self.code.sites.len() as u32 - 1)
    }

    /// An operand of an effect, a view or a call.
    fn operand(&mut self, operand: Expr<'c>) -> Result<Operand<'c>> {
        if let Some(&Binding::Buffer(buffer)) = self.env.get(&operand) {
            return Ok(Operand::Buffer(buffer));
        }
        let is_scalar = operand.ty().as_tensor().is_some_and(|tensor| tensor.rank() == 0);
        if !is_scalar
            && operand.op_call().is_some()
            && let Binding::Buffer(buffer) = self.value(operand, operand.describe())?
        {
            return Ok(Operand::Buffer(buffer));
        }
        let Some(tensor) = operand.ty().as_tensor().filter(|_| is_scalar) else {
            let message = format!("{} is no buffer of this function", operand.describe());
            return Err(Diagnostic::error(message).at(operand.span()));
        };
        Ok(Operand::Scalar(self.scalar(operand)?, tensor.dtype))
    }

    /// A scalar expression.
    fn scalar(&self, root: Expr<'c>) -> Result<ScalarCode<'c>> {
        let order = post_order(&[root]);
        let mut nodes = Vec::with_capacity(order.len());
        let mut known = rustc_hash::FxHashMap::default();
        for expr in order {
            // A tensor whose extent is asked for is no operand.
            if expr.ty().as_tensor().is_none_or(|tensor| tensor.rank() > 0) {
                continue;
            }
            let node = self.node(expr, &known).map_err(|error| error.at(expr.span().or(self.span)))?;
            known.insert(expr, nodes.len() as u32);
            nodes.push(node);
        }
        if known.contains_key(&root) {
            return Ok(ScalarCode(nodes));
        }
        Err(Diagnostic::error(format!("{} is no scalar, but {}", root.describe(), root.ty())).at(root.span()))
    }

    fn node(&self, expr: Expr<'c>, known: &rustc_hash::FxHashMap<Expr<'c>, u32>) -> Result<Node<'c>> {
        let refused = || Diagnostic::error(format!("{} is no scalar that this function has", expr.describe()));
        match expr.kind {
            ExprKind::Constant(value) => {
                let dtype = expr.ty().as_tensor().map_or(DType::I64, |tensor| tensor.dtype);
                let value = literal(value, dtype).map_err(|error| Diagnostic::error(error.message))?;
                Ok(Node::Literal(Scalar::of(value)))
            }
            ExprKind::Var { .. } => match self.env.get(&expr) {
                Some(&Binding::Scalar(slot)) => Ok(Node::Slot(slot)),
                Some(&Binding::Buffer(buffer)) => Ok(Node::Element(buffer)),
                None => Err(refused()),
            },
            ExprKind::ShapeOf { param, axis } => {
                let extent = param.ty().as_tensor().and_then(|ty| ty.shape.get(axis as usize)?.as_const());
                Ok(Node::Literal(Scalar::Int(extent.ok_or_else(refused)?)))
            }
            _ => {
                let call = expr.op_call().ok_or_else(refused)?;
                if let Some(Meaning::Coordinate(place)) = self.meaning(call)? {
                    return Ok(Node::Coordinate(place));
                }
                let rule = self.compiler.rules.get(call.op.id).ok_or_else(|| Self::no_rule(call))?;
                let operands = call.args.iter().map(|arg| known.get(arg).copied()).collect::<Option<_>>();
                let kind = match tf_dim::kind(call.op.decl.name) {
                    Some(ScalarKind::Binary(kind)) => Some(kind),
                    _ => None,
                };
                Ok(Node::Rule { call, rule, kind, operands: operands.ok_or_else(refused)?, ty: expr.ty() })
            }
        }
    }

    /// The sizes of the dims of a callee, from the types of its arguments.
    fn dims(&self, callee: PrimFunction<'c>, args: &[Expr<'c>]) -> Result<DimSizes<'c>> {
        let visible = callee.visible_params();
        if args.len() < visible.len() {
            let message = format!("`{}` takes {} arguments, found {}", callee.name, visible.len(), args.len());
            return Err(Diagnostic::error(message));
        }
        let shapes = args.iter().map(|arg| {
            let shape = arg.ty().as_tensor().and_then(TensorType::static_shape).unwrap_or_default();
            shape.iter().map(|&extent| usize::try_from(extent).unwrap_or(0)).collect::<Vec<_>>()
        });
        let shapes: Vec<_> = shapes.collect();
        let bound: Vec<_> = visible.iter().copied().zip(shapes.iter().map(Vec::as_slice)).collect();
        bind_shapes(&bound, self.span)
    }

    fn call(&mut self, number: usize, name: Symbol<'c>, args: &[Expr<'c>]) -> Result<()> {
        let callee = self.compiler.callee(name)?;
        let dims = self.dims(callee, args)?;
        let function = self.function(callee, &dims);
        let params = self.params[function].clone();
        for ((&arg, &param), to) in args.iter().zip(&callee.visible_params()).zip(params) {
            match self.operand(arg)? {
                Operand::Buffer(from) => {
                    self.emit(Instruction::Bind { to, from });
                }
                Operand::Scalar(value, dtype) => {
                    self.code.sites.push(Allocated {
                        name: param.describe(),
                        span: self.span,
                        dtype,
                        len: 1,
                        scope: Scope::Thread,
                        axes: Vec::new(),
                    });
                    let site = self.code.sites.len() as u32 - 1;
                    self.emit(Instruction::Spill { to, site, value });
                }
            }
        }
        self.calls[number].push((function, self.span));
        self.emit(Instruction::Call(function));
        Ok(())
    }

    fn launch(&mut self, args: &[Expr<'c>]) -> Result<()> {
        let [callee, rest @ ..] = args else { return Err(Diagnostic::error("a launch names no function")) };
        let ExprKind::SymbolRef(name) = callee.kind else {
            return Err(Diagnostic::error("a launch starts a function of the module"));
        };
        let (extents, args) = rest.split_at(rest.len().min(6));
        let (module, kernel) = self.compiler.launched(name)?;
        let dims = self.dims(kernel, args)?;
        let visible = kernel.visible_params();
        let extents = extents.iter().map(|&extent| self.scalar(extent)).collect::<Result<_>>()?;
        let args = args.iter().take(visible.len()).map(|&arg| self.operand(arg)).collect::<Result<_>>()?;
        let code = self.compiler.code(module, kernel, &dims)?;
        self.emit(Instruction::Launch { name: name.to_string(), code, extents, args });
        Ok(())
    }
}
