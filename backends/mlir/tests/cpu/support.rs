//! Builds TIR functions by hand and runs them.
use std::path::PathBuf;

use serde_json::Value as Json;
use tf_core::{
    AnyFunction, Arena, Context, Diagnostic, Expr, Literal, Meta, Module, Stmt, StmtKind, Target, TargetKind,
    node::{ModuleData, PrimFunctionData},
    op::OpInstance,
};
use tf_mlir::engine::CpuProgram;
use tf_tir::memory::{alloc_tensor::AllocTensor, tensor_view::TensorView};
use tf_types::{DType, Storage, TensorLayout, Type};
use tf_value::{DialectBuilder, Tensor, io::TensorFile};

/// Runs `f` with a context that knows TIR and the `dim` dialect.
pub fn with_context<R>(f: impl for<'c> FnOnce(&Context<'c>) -> R) -> R {
    let mut builder = DialectBuilder::default();
    tf_tir::register(&mut builder);
    tf_dim::register(&mut builder);
    let (ops, _) = builder.freeze().unwrap();
    let arena = Arena::new();
    f(&Context::new(&arena, ops))
}

enum Item<'c> {
    Let(Expr<'c>, Expr<'c>),
    Do(Stmt<'c>),
}

/// A block of statements in order.
#[derive(Default)]
pub struct Block<'c>(Vec<Item<'c>>);

impl<'c> Block<'c> {
    /// Binds a value to a new variable.
    pub fn bind(&mut self, cx: &Context<'c>, value: Expr<'c>) -> Expr<'c> {
        let var = cx.var(cx.symbol("t"), value.ty(), Meta::default());
        self.0.push(Item::Let(var, value));
        var
    }

    /// A new host buffer.
    pub fn alloc(&mut self, cx: &Context<'c>, dtype: DType, shape: &[i64]) -> Expr<'c> {
        let op = AllocTensor::new(cx, host(cx, dtype, shape));
        let value = cx.call(op, &[], Meta::default()).unwrap();
        self.bind(cx, value)
    }

    /// A strided view.
    pub fn view(
        &mut self,
        cx: &Context<'c>,
        memory: Expr<'c>,
        coords: &[Expr<'c>],
        shape: &[i64],
        strides: &[i64],
    ) -> Expr<'c> {
        let value = view(cx, memory, coords, shape, strides);
        self.bind(cx, value)
    }

    /// An effect.
    pub fn run(&mut self, cx: &Context<'c>, op: OpInstance<'c>, args: &[Expr<'c>]) {
        self.0.push(Item::Do(cx.evaluate(op, args, None)));
    }

    /// Any statement.
    pub fn push(&mut self, stmt: Stmt<'c>) {
        self.0.push(Item::Do(stmt));
    }

    /// A loop.
    pub fn repeat(&mut self, cx: &Context<'c>, range: [Expr<'c>; 3], body: impl FnOnce(Expr<'c>, &mut Block<'c>)) {
        let induction = cx.var(cx.symbol("k"), tf_dim::umat_scalar(cx), Meta::default());
        let mut block = Block::default();
        body(induction, &mut block);
        let [start, stop, step] = range;
        let kind = StmtKind::For { induction, start, stop, step, body: block.stmt(cx) };
        self.push(cx.stmt(kind, None));
    }

    /// The block as one statement.
    pub fn stmt(self, cx: &Context<'c>) -> Stmt<'c> {
        let mut rest: Vec<Stmt<'c>> = Vec::new();
        for item in self.0.into_iter().rev() {
            match item {
                Item::Do(stmt) => rest.insert(0, stmt),
                Item::Let(var, value) => {
                    let body = cx.stmt(StmtKind::Sequential(cx.alloc_slice(&rest)), None);
                    rest = vec![cx.stmt(StmtKind::Let { var, value, body }, None)];
                }
            }
        }
        cx.stmt(StmtKind::Sequential(cx.alloc_slice(&rest)), None)
    }
}

/// The view as an expression.
pub fn view<'c>(cx: &Context<'c>, memory: Expr<'c>, coords: &[Expr<'c>], shape: &[i64], strides: &[i64]) -> Expr<'c> {
    let layout = cx.layout(cx.const_dims(shape), Some(cx.const_dims(strides)));
    let op = TensorView::new(cx, TensorLayout::Plain(layout), Some(cx.const_dims(shape)));
    let args: Vec<_> = [memory].iter().chain(coords).copied().collect();
    cx.call(op, &args, Meta::default()).unwrap()
}

/// A host tensor type in C order.
pub fn host<'c>(cx: &Context<'c>, dtype: DType, shape: &[i64]) -> Type<'c> {
    cx.tensor(cx.const_dims(shape), dtype, None, Storage::Host)
}

/// A parameter.
pub fn param<'c>(cx: &Context<'c>, name: &str, dtype: DType, shape: &[i64]) -> Expr<'c> {
    cx.var(cx.symbol(name), host(cx, dtype, shape), Meta::default())
}

/// A parameter like a tensor.
pub fn param_like<'c>(cx: &Context<'c>, name: &str, tensor: &Tensor) -> Expr<'c> {
    param(cx, name, tensor.dtype(), &extents(tensor))
}

/// Extents as i64.
pub fn extents(tensor: &Tensor) -> Vec<i64> {
    tensor.shape().iter().map(|&n| n as i64).collect()
}

/// An i64 literal.
pub fn int<'c>(cx: &Context<'c>, value: i64) -> Expr<'c> {
    cx.constant(Literal::Int(value), DType::I64, Meta::default())
}

/// The target of CPU functions.
pub fn cpu<'c>(cx: &Context<'c>) -> Target<'c> {
    Target { kind: TargetKind::Cpu, device: cx.symbol("") }
}

/// A module of one function.
pub fn module<'c>(
    cx: &Context<'c>,
    params: &[Expr<'c>],
    output_count: usize,
    target: Target<'c>,
    block: Block<'c>,
) -> Module<'c> {
    let data = PrimFunctionData {
        name: cx.symbol("f"),
        params: cx.alloc_slice(params),
        body: block.stmt(cx),
        output_count,
        target,
        doc: None,
        span: None,
    };
    let function = AnyFunction::Tir(cx.prim_function(data));
    cx.module(ModuleData {
        functions: cx.alloc_slice(&[function]),
        entry: Some(cx.symbol("f")),
        ..ModuleData::new(cx.symbol("m"))
    })
}

/// Compiles a function of the CPU.
pub fn compile<'c>(
    cx: &Context<'c>,
    params: &[Expr<'c>],
    output_count: usize,
    block: Block<'c>,
) -> Result<CpuProgram, Diagnostic> {
    let module = module(cx, params, output_count, cpu(cx), block);
    CpuProgram::compile(cx, module, module.functions[0])
}

/// Compiles and runs a function whose last `output_count` parameters are its outputs.
pub fn run<'c>(
    cx: &Context<'c>,
    params: &[Expr<'c>],
    output_count: usize,
    block: Block<'c>,
    inputs: &[Tensor],
) -> Result<Vec<Tensor>, Diagnostic> {
    compile(cx, params, output_count, block)?.run(inputs)
}

/// A folder of the reference values.
pub fn reference() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/reference")
}

/// A case of `ops/manifest.json` with its tensors.
pub struct Case {
    pub name: String,
    pub call: String,
    pub attributes: Json,
    pub inputs: Vec<(String, Tensor)>,
    pub want: Tensor,
    pub tolerance: tf_value::Tolerance,
}

/// The cases of an op.
pub fn cases(op: &str) -> Vec<Case> {
    let text = std::fs::read_to_string(reference().join("ops/manifest.json")).unwrap();
    let manifest: Json = serde_json::from_str(&text).unwrap();
    let file = TensorFile::open(reference().join(format!("ops/{op}.safetensors"))).unwrap();
    let load = |entry: &Json| {
        let dtype = DType::from_name(entry["dtype"].as_str().unwrap()).unwrap();
        file.get_as(entry["tensor"].as_str().unwrap(), dtype).unwrap().unwrap()
    };
    let entries = manifest["cases"].as_array().unwrap().iter().filter(|case| case["op"] == op);
    entries
        .map(|entry| {
            let inputs = entry["inputs"].as_array().unwrap();
            let output = &entry["outputs"][0];
            Case {
                name: entry["case"].as_str().unwrap().to_owned(),
                call: entry["call"].as_str().unwrap().to_owned(),
                attributes: entry["attributes"].clone(),
                inputs: inputs.iter().map(|input| (input["name"].as_str().unwrap().to_owned(), load(input))).collect(),
                want: load(output),
                tolerance: tf_value::Tolerance {
                    rtol: output["rtol"].as_f64().unwrap(),
                    atol: output["atol"].as_f64().unwrap(),
                    signed_zero: entry["signed_zero"].as_bool().unwrap_or(false),
                },
            }
        })
        .collect()
}
