//! Kernels built by hand.
use tf_core::{
    AnyFunction, Context, Expr, ExprKind, Literal, Meta, Module, Span, Stmt, StmtKind, Target, TargetKind,
    node::{ModuleData, PrimFunctionData, TirCallee},
    op::OpInstance,
};
use tf_tir::{
    launch::Launch,
    memory::{alloc_tensor::AllocTensor, copy::Copy, tensor_view::TensorView},
};
use tf_types::{DType, Mesh, ShardAttr, ShardLayout, Storage, TensorLayout, Topology, Type, mesh::MeshLayout};

enum Item<'c> {
    Let(Expr<'c>, Expr<'c>),
    Effect(Stmt<'c>),
}

/// Statements under construction.
pub struct Kernel<'a, 'c> {
    pub cx: &'a Context<'c>,
    params: Vec<Expr<'c>>,
    blocks: Vec<Vec<Item<'c>>>,
    names: usize,
    /// Where the next statements stand.
    pub span: Option<Span>,
}

/// A mesh of named levels: (name, positions); its axes in C order over all of them.
pub fn mesh<'c>(cx: &Context<'c>, levels: &[(&str, i64)], extents: &[i64]) -> Mesh<'c> {
    let mut strides = vec![1; extents.len()];
    for axis in (1..extents.len()).rev() {
        strides[axis - 1] = strides[axis] * extents[axis];
    }
    mesh_of(cx, levels, extents, &strides)
}

/// The same with strides.
pub fn mesh_of<'c>(cx: &Context<'c>, levels: &[(&str, i64)], extents: &[i64], strides: &[i64]) -> Mesh<'c> {
    let topology = |&(name, size): &(&str, i64)| Topology { name: cx.symbol(name), size: Some(cx.dim(size)) };
    let topologies: Vec<_> = levels.iter().map(topology).collect();
    let layout = cx.layout(cx.const_dims(extents), Some(cx.const_dims(strides)));
    let names: Vec<_> = (0..extents.len()).map(|axis| cx.symbol(&format!("a{axis}"))).collect();
    cx.mesh(&topologies, MeshLayout::Plain(layout), &names)
}

/// `S0`, `S1`, … or `B` for each mesh axis; the logical axes that are split.
pub fn place<'c>(cx: &Context<'c>, shape: &[i64], mesh: Mesh<'c>, attrs: &str) -> ShardLayout<'c> {
    let attr = |word: &str| match word {
        "B" => ShardAttr::Broadcast,
        _ => ShardAttr::Split(word[1..].parse().unwrap()),
    };
    let attrs: Vec<_> = attrs.split_whitespace().map(attr).collect();
    cx.canonical_shard_layout(cx.const_dims(shape), mesh, &attrs).unwrap()
}

impl<'a, 'c> Kernel<'a, 'c> {
    pub fn new(cx: &'a Context<'c>) -> Self {
        Self { cx, params: vec![], blocks: vec![vec![]], names: 0, span: None }
    }

    fn var(&mut self, ty: Type<'c>) -> Expr<'c> {
        self.names += 1;
        self.cx.var(self.cx.symbol(&format!("v{}", self.names)), ty, Meta::default())
    }

    fn push(&mut self, item: Item<'c>) {
        self.blocks.last_mut().unwrap().push(item);
    }

    pub fn param(&mut self, shape: &[i64], dtype: DType) -> Expr<'c> {
        let param = self.var(self.cx.tensor(self.cx.const_dims(shape), dtype, None, Storage::Gmem));
        self.params.push(param);
        param
    }

    fn bind(&mut self, op: OpInstance<'c>, args: &[Expr<'c>]) -> Expr<'c> {
        let value = self.cx.call(op, args, Meta::default()).unwrap();
        let var = self.var(value.ty());
        self.push(Item::Let(var, value));
        var
    }

    /// A variable for a value that is no call.
    pub fn name(&mut self, value: Expr<'c>) -> Expr<'c> {
        let var = self.var(value.ty());
        self.push(Item::Let(var, value));
        var
    }

    pub fn alloc(&mut self, ty: Type<'c>) -> Expr<'c> {
        self.bind(AllocTensor::new(self.cx, ty), &[])
    }

    /// Registers of a placed tensor; the strides are left to the storage.
    pub fn registers(&mut self, shape: &[i64], dtype: DType, placed: ShardLayout<'c>) -> Expr<'c> {
        let bare = self.cx.layout(placed.layout.shape(), None);
        let placed = self.cx.shard_layout(bare, placed.attrs, placed.mesh);
        let layout = Some(TensorLayout::Shard(placed));
        self.alloc(self.cx.tensor(self.cx.const_dims(shape), dtype, layout, Storage::Rmem))
    }

    pub fn shared(&mut self, shape: &[i64], dtype: DType) -> Expr<'c> {
        self.alloc(self.cx.tensor(self.cx.const_dims(shape), dtype, None, Storage::Smem))
    }

    pub fn scalar(&mut self, dtype: DType) -> Expr<'c> {
        self.alloc(self.cx.tensor(&[], dtype, None, Storage::Rmem))
    }

    pub fn view(&mut self, memory: Expr<'c>, coords: &[Expr<'c>], layout: TensorLayout<'c>, shape: &[i64]) -> Expr<'c> {
        let op = TensorView::new(self.cx, layout, Some(self.cx.const_dims(shape)));
        let args: Vec<_> = std::iter::once(memory).chain(coords.iter().copied()).collect();
        self.bind(op, &args)
    }

    /// A placed view of a whole dense buffer.
    pub fn placed(&mut self, memory: Expr<'c>, placed: ShardLayout<'c>, shape: &[i64]) -> Expr<'c> {
        self.view(memory, &[], TensorLayout::Shard(placed), shape)
    }

    pub fn effect(&mut self, op: OpInstance<'c>, args: &[Expr<'c>]) {
        let stmt = self.cx.evaluate(op, args, self.span);
        self.push(Item::Effect(stmt));
    }

    pub fn copy(&mut self, src: Expr<'c>, dst: Expr<'c>) {
        self.effect(Copy::new(self.cx), &[src, dst]);
    }

    /// Loads a placed part of a dense parameter into registers.
    pub fn load(&mut self, memory: Expr<'c>, shape: &[i64], placed: ShardLayout<'c>) -> Expr<'c> {
        let dtype = memory.ty().as_tensor().unwrap().dtype;
        let (view, registers) = (self.placed(memory, placed, shape), self.registers(shape, dtype, placed));
        self.copy(view, registers);
        registers
    }

    pub fn store(&mut self, registers: Expr<'c>, memory: Expr<'c>, shape: &[i64], placed: ShardLayout<'c>) {
        let view = self.placed(memory, placed, shape);
        self.copy(registers, view);
    }

    pub fn int(&self, value: i64) -> Expr<'c> {
        self.cx.constant(Literal::Int(value), DType::I64, Meta::default())
    }

    pub fn float(&self, value: f64, dtype: DType) -> Expr<'c> {
        self.cx.constant(Literal::Float(value), dtype, Meta::default())
    }

    pub fn repeat(&mut self, [start, stop, step]: [i64; 3], body: impl FnOnce(&mut Self, Expr<'c>)) {
        let induction = self.var(self.cx.scalar(DType::I64));
        self.blocks.push(vec![]);
        body(self, induction);
        let items = self.blocks.pop().unwrap();
        let body = self.fold(items);
        let (start, stop, step) = (self.int(start), self.int(stop), self.int(step));
        let stmt = self.cx.stmt(StmtKind::For { induction, start, stop, step, body }, self.span);
        self.push(Item::Effect(stmt));
    }

    fn fold(&self, items: Vec<Item<'c>>) -> Stmt<'c> {
        let sequence = |rest: &[Stmt<'c>]| {
            let rest: Vec<_> = rest.iter().rev().copied().collect();
            self.cx.stmt(StmtKind::Sequential(self.cx.alloc_slice(&rest)), self.span)
        };
        let mut rest: Vec<Stmt<'c>> = vec![];
        for item in items.into_iter().rev() {
            match item {
                Item::Effect(stmt) => rest.push(stmt),
                Item::Let(var, value) => {
                    let body = sequence(&rest);
                    rest = vec![self.cx.stmt(StmtKind::Let { var, value, body }, self.span)];
                }
            }
        }
        sequence(&rest)
    }

    /// The module of a kernel `f` whose last parameter is its output, and of the host function that launches it.
    pub fn finish(mut self, grid: i64, block: i64) -> Module<'c> {
        let cx = self.cx;
        let items = self.blocks.pop().unwrap();
        let body = self.fold(items);
        let params = cx.alloc_slice(&self.params);
        let function = |name: &str, params, body, kind| {
            let target = Target { kind, device: cx.symbol("nvidia.h200_sxm") };
            let name = cx.symbol(name);
            AnyFunction::Tir(cx.prim_function(PrimFunctionData {
                name,
                params,
                body,
                output_count: 1,
                target,
                doc: None,
                span: self.span,
            }))
        };
        let kernel = function("f", params, body, TargetKind::Cuda);
        let types: Vec<_> = params.iter().map(|p| p.ty()).collect();
        let symbol = cx.expr(ExprKind::SymbolRef(cx.symbol("f")), cx.callable(&types, cx.unit()), Meta::default());
        let mut args = vec![symbol];
        args.extend([grid, 1, 1, block, 1, 1].map(|extent| self.int(extent)));
        let host_params: Vec<_> = params.iter().map(|p| cx.expr(p.kind, p.ty(), p.meta)).collect();
        args.extend(&host_params);
        let callee = TirCallee::Op(Launch::new(cx, None, 0, None, None));
        let launch = cx.stmt(StmtKind::Evaluate { callee, args: cx.alloc_slice(&args) }, None);
        let host = function("main", cx.alloc_slice(&host_params), launch, TargetKind::Cpu);
        cx.module(ModuleData {
            functions: cx.alloc_slice(&[kernel, host]),
            entry: Some(cx.symbol("main")),
            ..ModuleData::new(cx.symbol("m"))
        })
    }
}
