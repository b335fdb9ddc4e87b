//! The factory of nodes.

use std::borrow::Cow;
use std::ops::Deref;
use std::sync::Arc;

use tf_types::intern::Interner;
use tf_types::{Arena, DType, Storage, Symbol, Type, TypeContext};

use crate::node::constraint::ConstraintData;
use crate::node::method::MethodData;
use crate::node::{
    Callee, Constraint, Expr, ExprData, ExprKind, Function, FunctionData, GridRegion, Literal, Meta, Method, Module,
    ModuleData, PrimFunction, PrimFunctionData, Stmt, StmtData, StmtKind, TirCallee,
};
use crate::op::instance::OpInstanceData;
use crate::op::recent::RecentTypes;
use crate::op::{Attr, CallSpans, OpId, OpInstance, OpRegistry, OpView};
use crate::{Diagnostic, Result, SourceMap, Span};

struct Shared<'c> {
    registry: Arc<OpRegistry>,
    attrs: Interner<'c, [Attr<'c>]>,
    instances: Interner<'c, OpInstanceData<'c>>,
    sources: SourceMap,
}

/// Makes types (it derefs to [`TypeContext`]), op instances and nodes in an [`Arena`].
///
/// One context a thread; [`Context::fork`] makes the others.
pub struct Context<'c> {
    types: TypeContext<'c>,
    shared: Arc<Shared<'c>>,
    inferred: RecentTypes<'c>,
}

impl<'c> Deref for Context<'c> {
    type Target = TypeContext<'c>;
    fn deref(&self) -> &TypeContext<'c> {
        &self.types
    }
}

impl<'c> Context<'c> {
    /// A context over a frozen registry.
    #[must_use]
    pub fn new(arena: &'c Arena, registry: Arc<OpRegistry>) -> Self {
        let shared = Shared {
            registry,
            attrs: Interner::default(),
            instances: Interner::default(),
            sources: SourceMap::default(),
        };
        Self { types: TypeContext::new(arena), shared: Arc::new(shared), inferred: RecentTypes::default() }
    }

    /// A context for another thread that shares all tables.
    #[must_use]
    pub fn fork(&self) -> Self {
        Self { types: self.types.fork(), shared: Arc::clone(&self.shared), inferred: RecentTypes::default() }
    }

    /// The registered ops and their rules.
    #[must_use]
    pub fn ops(&self) -> &OpRegistry {
        &self.shared.registry
    }

    /// The files that spans point into.
    #[must_use]
    pub fn sources(&self) -> &SourceMap {
        &self.shared.sources
    }

    /// The instance of an op with attribute values in declaration order; dims get their normal form.
    pub fn op_instance(&self, id: OpId, attrs: &[Attr<'c>]) -> OpInstance<'c> {
        let decl = self.ops().decl(id);
        debug_assert_eq!(decl.attributes().count(), attrs.len(), "attributes of {}", decl.name);
        let compound = |attr: &Attr<'c>| match attr {
            Attr::Dim(dim) => dim.is_op(),
            Attr::Dims(dims) => dims.iter().any(|dim| dim.is_op()),
            _ => false,
        };
        let normal = |&attr: &Attr<'c>| match attr {
            Attr::Dim(dim) => Attr::Dim(self.simplify(dim)),
            Attr::Dims(dims) => Attr::Dims(self.normal_dims(dims)),
            other => other,
        };
        let attrs = match attrs.iter().any(compound) {
            true => Cow::Owned(attrs.iter().map(normal).collect()),
            false => Cow::Borrowed(attrs),
        };
        let attrs = self.shared.attrs.intern(&attrs, || self.alloc_slice(&attrs));
        let key = OpInstanceData { id, decl, attrs };
        OpInstance(self.shared.instances.intern(&key, || self.alloc(key)))
    }

    /// A node of any kind.
    pub fn expr(&self, kind: ExprKind<'c>, ty: Type<'c>, meta: Meta<'c>) -> Expr<'c> {
        Expr(self.alloc(ExprData { calls_functions: kind.calls_functions(), kind, ty, meta }))
    }

    /// A new variable; two calls give two variables.
    pub fn var(&self, name: Symbol<'c>, ty: Type<'c>, meta: Meta<'c>) -> Expr<'c> {
        self.expr(ExprKind::Var { name, is_const: false }, ty, meta)
    }

    /// A literal of that dtype.
    pub fn constant(&self, literal: Literal, dtype: DType, meta: Meta<'c>) -> Expr<'c> {
        self.expr(ExprKind::Constant(literal), self.scalar(dtype), meta)
    }

    /// A call of a value op; its type rule runs.
    ///
    /// # Errors
    /// What the type rule refuses, at the call's span with its operands labelled.
    pub fn call(&self, op: OpInstance<'c>, args: &[Expr<'c>], meta: Meta<'c>) -> Result<Expr<'c>> {
        self.call_written(op, args, &[], meta)
    }

    /// As [`Context::call`], of which the source states attributes at those places.
    ///
    /// # Errors
    /// What the type rule refuses, with operands and attributes labelled.
    pub fn call_written(
        &self,
        op: OpInstance<'c>,
        args: &[Expr<'c>],
        attrs: &[(&'static str, Span)],
        meta: Meta<'c>,
    ) -> Result<Expr<'c>> {
        let view = OpView { op, args: self.alloc_slice(args) };
        let ty = self.infer_written(view, attrs, meta.span)?;
        Ok(self.expr(ExprKind::Call { callee: Callee::Op(op), args: view.args }, ty, meta))
    }

    /// The type of a call of a value op.
    ///
    /// # Errors
    /// A wrong number of operands, or what the type rule refuses.
    pub fn infer(&self, view: OpView<'c>, span: Option<Span>) -> Result<Type<'c>> {
        self.infer_written(view, &[], span)
    }

    fn infer_written(&self, view: OpView<'c>, attrs: &[(&'static str, Span)], span: Option<Span>) -> Result<Type<'c>> {
        let key = RecentTypes::key(view);
        if let Some(ty) = key.and_then(|key| self.inferred.get(key)) {
            debug_assert!(
                self.infer_anew(view, attrs, span).is_ok_and(|found| found == ty),
                "the type rule of {:?} is not pure",
                view.op
            );
            return Ok(ty);
        }
        let ty = self.infer_anew(view, attrs, span)?;
        if let Some(key) = key {
            self.inferred.put(key, ty);
        }
        Ok(ty)
    }

    fn infer_anew(&self, view: OpView<'c>, attrs: &[(&'static str, Span)], span: Option<Span>) -> Result<Type<'c>> {
        let decl = view.op.decl;
        let Some(rule) = self.ops().types.get(view.op.id) else {
            return Err(Diagnostic::error(format!("`{}` is an effect and has no value", decl.name)).at(span));
        };
        let (least, most) = decl.arity();
        if view.args.len() < least || most.is_some_and(|m| view.args.len() > m) {
            let message = format!("`{}` takes {least} operands, found {}", decl.name, view.args.len());
            return Err(Diagnostic::error(message).at(span));
        }
        rule(view, self).map_err(|error| {
            let is_known = |name: &str| decl.attributes().any(|param| param.name == name);
            debug_assert!(
                error.attrs.iter().all(|(name, _)| is_known(name)),
                "`{}` has not all of the attributes that it points at: {error:?}",
                decl.name
            );
            let operands: Vec<_> = view.args.iter().map(|a| a.span()).collect();
            error.into_diagnostic(CallSpans { call: span, operands: &operands, attrs })
        })
    }

    /// The type of a loop: that of its carry, a tuple for several, and without carries that of its body.
    #[must_use]
    pub fn loop_type(&self, carries: &[Expr<'c>], body: Option<Expr<'c>>) -> Type<'c> {
        match (carries, body) {
            ([], Some(body)) => body.ty(),
            ([one], _) => one.ty(),
            (many, _) => self.tuple(&many.iter().map(|carry| carry.ty()).collect::<Vec<_>>()),
        }
    }

    /// A loop of the type that [`Context::loop_type`] gives.
    pub fn grid(&self, region: GridRegion<'c>, ty: Type<'c>, meta: Meta<'c>) -> Expr<'c> {
        self.expr(ExprKind::Grid(self.alloc(region)), ty, meta)
    }

    /// The extent of a tensor parameter at run time.
    ///
    /// # Errors
    /// `param` is no tensor variable; the axis is not one of its axes.
    pub fn shape_of(&self, param: Expr<'c>, axis: u32, meta: Meta<'c>) -> Result<Expr<'c>> {
        let rank = param.ty().as_tensor().map(|t| t.rank());
        match rank {
            Some(rank) if param.var_name().is_some() && (axis as usize) < rank => {
                let ty = self.tensor(&[], DType::I32, None, Storage::Rmem);
                Ok(self.expr(ExprKind::ShapeOf { param, axis }, ty, meta))
            }
            _ => {
                let message = format!("{} is {}: it has no extent {axis}", param.describe(), param.ty());
                let help = "an extent is that of an axis of a tensor parameter";
                Err(Diagnostic::error(message).at(meta.span).with_help(help))
            }
        }
    }

    /// A schedule constraint.
    ///
    /// # Errors
    /// It requires nothing, or binds a topology twice.
    pub fn constraint(&self, data: ConstraintData<'c>) -> Result<Constraint<'c>> {
        data.check()?;
        Ok(Constraint(self.alloc(data)))
    }

    /// A statement of any kind.
    pub fn stmt(&self, kind: StmtKind<'c>, span: Option<Span>) -> Stmt<'c> {
        Stmt(self.alloc(StmtData { kind, span }))
    }

    /// An effect op in statement position.
    pub fn evaluate(&self, op: OpInstance<'c>, args: &[Expr<'c>], span: Option<Span>) -> Stmt<'c> {
        self.stmt(StmtKind::Evaluate { callee: TirCallee::Op(op), args: self.alloc_slice(args) }, span)
    }

    /// A HIR function.
    pub fn function(&self, data: FunctionData<'c>) -> Function<'c> {
        Function(self.alloc(data))
    }

    /// A TIR function.
    pub fn prim_function(&self, data: PrimFunctionData<'c>) -> PrimFunction<'c> {
        PrimFunction(self.alloc(data))
    }

    /// A method of a module.
    pub fn method(&self, data: MethodData<'c>) -> Method<'c> {
        Method(self.alloc(data))
    }

    /// A module.
    pub fn module(&self, data: ModuleData<'c>) -> Module<'c> {
        Module(self.alloc(data))
    }
}
