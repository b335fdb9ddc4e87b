//! Schedule constraints: `y: where(layout=…, mesh=…, storage=…) = value`.

use ruff_python_ast as ast;
use rustc_hash::FxHashMap;
use tf_core::diag::did_you_mean;
use tf_core::node::Constraint;
use tf_core::node::constraint::{AxisConstraint, BindingConstraint, ConstraintData, LayoutConstraint};
use tf_core::visit::{Cloning, ExprCloner};
use tf_core::{Context, Expr, Span, Target, TargetKind};
use tf_types::{Mesh, ShardAttr, Symbol};

use super::emit::is_index;
use crate::names::Builtin;
use crate::parser::{Binding, Parser};
use crate::refusal::{Refusal, Res, named_storage};
use crate::value::Value;

/// Gives the constrained nodes of a function their constraints.
struct Attach<'c>(FxHashMap<Expr<'c>, Constraint<'c>>);

impl<'c> ExprCloner<'c> for Attach<'c> {
    fn default_clone(&mut self, expr: Expr<'c>, clone: &mut Cloning<'_, 'c>) -> tf_core::Result<Expr<'c>> {
        let rebuilt = clone.rebuild(expr)?;
        match self.0.get(&expr) {
            Some(&constraint) => Ok(rebuilt.replace_metadata(clone.cx, constraint)),
            None => Ok(rebuilt),
        }
    }
}

/// The value and parameters of a function with the constraints on them.
pub(crate) fn constrained<'c>(
    cx: &Context<'c>,
    value: Expr<'c>,
    params: &mut [Expr<'c>],
    constraints: FxHashMap<Expr<'c>, Constraint<'c>>,
) -> tf_core::Result<Expr<'c>> {
    if constraints.is_empty() {
        return Ok(value);
    }
    let mut attach = Attach(constraints);
    let mut clone = Cloning::new(cx);
    for param in params {
        *param = clone.visit(&mut attach, *param)?;
    }
    clone.visit(&mut attach, value)
}

/// A `where` in place of an annotation.
fn fields(annotation: &ast::Expr) -> Option<&ast::ExprCall> {
    match annotation {
        ast::Expr::Call(call) if matches!(&*call.func, ast::Expr::Name(name) if name.id.as_str() == "where") => {
            Some(call)
        }
        _ => None,
    }
}

impl<'c> Parser<'_, 'c> {
    /// `name: where(…) = value` and `name: where(…)`.
    pub(crate) fn annotated(&mut self, assign: &ast::StmtAnnAssign, span: Span) -> Res<Option<Expr<'c>>> {
        let annotation = self.span(&*assign.annotation);
        let Some(call) = fields(&assign.annotation) else {
            let refusal = Refusal::wrong(annotation, "an assignment has no annotation but `where(...)`");
            return Err(refusal.help("drop the annotation"));
        };
        let ast::Expr::Name(target) = &*assign.target else {
            let message = format!("the subject of a constraint is a name, not `{}`", self.text(&*assign.target));
            return Err(Refusal::wrong(self.span(&*assign.target), message));
        };
        let constraint = self.constraint(call, annotation)?;
        let name = self.cx.symbol(target.id.as_str());
        let value = match &assign.value {
            Some(value) => {
                let value = self.eval(value, Some(name))?;
                self.bind(name, Binding::Value(value.clone()));
                value
            }
            None => self.lookup(target.id.as_str(), self.span(target))?,
        };
        let subject = match &value {
            Value::Expr(expr) if expr.ty().as_tensor().is_some() && !is_index(*expr) => *expr,
            other => {
                let found = other.describe();
                let message = format!("a constraint is for a tensor, but `{name}` is {found}");
                return Err(Refusal::wrong(span, message));
            }
        };
        if let Some(body) = &mut self.body {
            if body.constraints.contains_key(&subject) {
                return Err(Refusal::wrong(span, format!("`{name}` has a schedule constraint already"))
                    .help("state all that is required in one `where(...)`"));
            }
            body.constraints.insert(subject, constraint);
        }
        Ok(Some(subject))
    }

    fn constraint(&mut self, call: &ast::ExprCall, span: Span) -> Res<Constraint<'c>> {
        const FORM: &str = "write `layout=`, `mesh=` or `storage=`";
        if let Some(arg) = call.arguments.args.first() {
            let message = "arguments of `where` are given by keyword";
            return Err(Refusal::wrong(self.span(arg), message).help(FORM));
        }
        let mut data = ConstraintData { layout: None, mesh: None, storage: None };
        for keyword in &call.arguments.keywords {
            let (at, value) = (self.span(keyword), &keyword.value);
            let value_span = self.span(value);
            let name = keyword.arg.as_ref().map_or("**", |name| name.as_str());
            let given_before = match name {
                "layout" => data.layout.replace(self.layout_constraint(value)?).is_some(),
                "mesh" => data.mesh.replace(self.mesh_value(value, "`mesh` of `where`")?).is_some(),
                "storage" => {
                    let storage = match self.eval(value, None)? {
                        Value::Str(name) => named_storage(name.as_str(), value_span)?,
                        Value::Storage(storage) => storage,
                        other => {
                            let message = format!("`storage` of `where` is a storage, found {}", other.describe());
                            return Err(Refusal::wrong(value_span, message));
                        }
                    };
                    data.storage.replace(storage).is_some()
                }
                other => return Err(Refusal::wrong(at, format!("`where` has no field `{other}`")).help(FORM)),
            };
            if given_before {
                return Err(Refusal::wrong(at, format!("`where` gets `{name}` twice")));
            }
        }
        if data.layout.is_none() && data.mesh.is_none() && data.storage.is_none() {
            return Err(Refusal::wrong(span, "`where()` requires nothing").help(FORM));
        }
        self.cx.constraint(data).map_err(|error| error.at(span).into())
    }

    /// A mesh that an expression stands for: a name, a slice, `Mesh(...)`.
    pub(crate) fn mesh_value(&mut self, expr: &ast::Expr, what: &str) -> Res<Mesh<'c>> {
        const FORM: &str = "name the mesh of a `with`, a slice of it, or write `Mesh(...)`";
        let span = self.span(expr);
        let is_no_callee = |p: &mut Self, callee: &ast::Expr| match callee {
            ast::Expr::Name(name) => {
                let name = name.id.as_str();
                Ok(p.binding(p.cx.symbol(name)).is_none() && crate::names::exported(name).is_none())
            }
            ast::Expr::Attribute(attribute) => p.eval(&attribute.value, None).map(|_| p.eval(callee, None).is_err()),
            _ => Ok(false),
        };
        if let ast::Expr::Call(call) = expr
            && is_no_callee(self, &call.func)?
        {
            let refusal =
                Refusal::wrong(span, format!("{what} is a mesh, and no call of `{}`", self.text(&*call.func)));
            return Err(refusal.help(FORM));
        }
        match self.eval(expr, None)? {
            Value::Mesh(mesh) => Ok(mesh),
            other => {
                let refusal = Refusal::wrong(span, format!("{what} is a mesh, found {}", other.describe()));
                Err(refusal.help(FORM))
            }
        }
    }

    /// `(4 @ cta, _)` or `((4 @ cta, _), {thread @ B()})`.
    fn layout_constraint(&mut self, expr: &ast::Expr) -> Res<LayoutConstraint<'c>> {
        let span = self.span(expr);
        let wrong = || {
            let refusal = Refusal::wrong(span, "`layout` of `where` is a tuple of axes, or axes and bindings");
            Err(refusal.help("write `(_, 16 @ cta)` or `((_, 16), {cta @ P(\"sum\"), thread @ B()})`"))
        };
        let ast::Expr::Tuple(tuple) = expr else { return wrong() };
        let (axes, bindings) = match &tuple.elts[..] {
            [ast::Expr::Tuple(axes), ast::Expr::Set(bindings)] => (axes, &bindings.elts[..]),
            [.., ast::Expr::Set(_)] | [ast::Expr::Tuple(_), ..] => return wrong(),
            _ => (tuple, &[][..]),
        };
        let mut bound: Vec<Symbol<'c>> = Vec::new();
        let mut read = Vec::with_capacity(axes.elts.len());
        for axis in &axes.elts {
            read.push(match axis {
                ast::Expr::BinOp(binary) if binary.op == ast::Operator::MatMult => {
                    let extent = self.constraint_extent(&binary.left)?;
                    AxisConstraint::Split(extent, self.bound_topology(&binary.right, &mut bound)?)
                }
                other => self.constraint_extent(other)?.map_or(AxisConstraint::Any, AxisConstraint::Extent),
            });
        }
        let mut states = Vec::with_capacity(bindings.len());
        for binding in bindings {
            let ast::Expr::BinOp(binary) = binding else {
                return Err(Refusal::wrong(
                    self.span(binding),
                    "a binding is `topology @ B()` or `topology @ P(\"sum\")`",
                ));
            };
            let topology = self.bound_topology(&binary.left, &mut bound)?;
            let state = match self.binding_state(&binary.right)? {
                Value::ShardAttr(ShardAttr::Broadcast) => BindingConstraint::Broadcast,
                Value::ShardAttr(ShardAttr::Partial(reduction)) => BindingConstraint::Partial(reduction),
                other => {
                    let message = format!("a binding is `B()` or `P(\"sum\")`, found {}", other.describe());
                    return Err(Refusal::wrong(self.span(&*binary.right), message));
                }
            };
            states.push((topology, state));
        }
        Ok(LayoutConstraint { axes: self.cx.alloc_slice(&read), bindings: self.cx.alloc_slice(&states) })
    }

    /// `B()` and `P(reduction)`, which need no import here.
    fn binding_state(&mut self, expr: &ast::Expr) -> Res<Value<'c>> {
        if let ast::Expr::Call(call) = expr
            && let ast::Expr::Name(name) = &*call.func
            && self.binding(self.cx.symbol(name.id.as_str())).is_none()
            && let Some(Value::Builtin(builtin @ (Builtin::Broadcast | Builtin::Partial))) =
                crate::names::exported(name.id.as_str())
        {
            return self.construct(builtin, call, self.span(expr), None);
        }
        self.eval(expr, None)
    }

    /// An extent; none for `_`.
    fn constraint_extent(&mut self, expr: &ast::Expr) -> Res<Option<tf_types::Dim<'c>>> {
        match expr {
            ast::Expr::Name(name) if name.id.as_str() == "_" => Ok(None),
            _ => self.dim(expr, "an axis of a constraint").map(|dim| Some(self.cx.simplify(dim))),
        }
    }

    /// The levels that a constraint may name: those that the module declares, else those of the target; none where any may.
    fn known_levels(&self) -> Option<Vec<&str>> {
        if let Some(declared) = self.domain.levels() {
            return Some(declared.iter().map(|topology| topology.name.as_str()).collect());
        }
        let device = match self.domain.target {
            Some(Target { kind: TargetKind::Cpu, .. }) => return None,
            Some(target) => target.device.as_str(),
            None => tf_target::default_device(),
        };
        let known = tf_target::lookup(device).ok()?;
        Some(known.architecture.levels.iter().map(String::as_str).collect())
    }

    /// The name of a level; each is bound once.
    fn bound_topology(&mut self, expr: &ast::Expr, bound: &mut Vec<Symbol<'c>>) -> Res<Symbol<'c>> {
        let span = self.span(expr);
        let ast::Expr::Name(name) = expr else {
            let message = format!("a constraint binds a topology by its name, not `{}`", self.text(expr));
            return Err(Refusal::wrong(span, message));
        };
        let written = self.cx.symbol(name.id.as_str());
        let topology = match self.binding(written).as_deref() {
            Some(Binding::Value(Value::Topology(topology))) => topology.name,
            _ => written,
        };
        if let Some(known) = self.known_levels().filter(|known| !known.contains(&topology.as_str())) {
            let refusal = Refusal::wrong(span, format!("nothing declares the level `{topology}`"));
            return Err(match did_you_mean(topology.as_str(), known.iter().copied()) {
                Some(near) => refusal.help(format!("did you mean `{near}`?")),
                None if known.is_empty() => refusal.help("the module declares no levels"),
                None => refusal.help(format!("there are {}", known.join(", "))),
            });
        }
        if bound.contains(&topology) {
            return Err(Refusal::wrong(span, format!("the topology `{topology}` is bound twice")));
        }
        bound.push(topology);
        Ok(topology)
    }
}
