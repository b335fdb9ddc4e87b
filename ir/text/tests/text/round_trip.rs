//! Modules built by hand survive printing and parsing.

use crate::common::{
    Alloc, Copy, Every, Launch, Placed, add, call, hir, mesh, module, parse, reduce, registry, round_trip, s, tensor,
    tir, tuple, var,
};
use tf_core::node::{Callee, GridRegion, ModuleData, Target, TirCallee};
use tf_core::{Arena, Context, Expr, ExprKind, Function, Literal, Meta, Span, Stmt, StmtKind, TargetKind};
use tf_types::layout::OuterLayout;
use tf_types::{DType, DimOp, DimVar, MeshLayout, ShardAttr, Storage, TensorLayout, Topology, Type};

fn grid<'c>(cx: &Context<'c>, induction: Expr<'c>, carries: &[(Expr<'c>, Expr<'c>, Expr<'c>)]) -> Expr<'c> {
    let part = |pick: fn(&(Expr<'c>, Expr<'c>, Expr<'c>)) -> Expr<'c>| {
        let parts: Vec<_> = carries.iter().map(pick).collect();
        cx.alloc_slice(&parts)
    };
    let types: Vec<_> = carries.iter().map(|c| c.0.ty()).collect();
    let ty = if let [one] = types[..] { one } else { cx.tuple(&types) };
    let (start, stop, step) = (cx.dim(0), s(cx), cx.dim(4));
    let region = GridRegion {
        induction,
        carries: part(|c| c.0),
        inits: part(|c| c.1),
        yields: part(|c| c.2),
        body: None,
        start,
        stop,
        step,
    };
    cx.grid(region, ty, Meta::default())
}

#[test]
fn values_names_and_literals() {
    let arena = Arena::new();
    let cx = &Context::new(&arena, registry());
    let x = var(cx, "x", tensor(cx, &[4, 8]));
    let w = cx.expr(ExprKind::Var { name: cx.symbol("w"), is_const: true }, x.ty(), Meta::default());
    let a = add(cx, x, w, "acc");
    let b = add(cx, a, a, "acc");
    let c = add(cx, b, x, "x");
    let d = add(cx, c, c, "odd name.1 \"\\\n");
    let e = reduce(cx, d);
    let literals = [
        (Literal::Float(1.0), DType::F32),
        (Literal::Float(-0.0), DType::F32),
        (Literal::Float(f64::INFINITY), DType::BF16),
        (Literal::Float(f64::NEG_INFINITY), DType::F32),
        (Literal::Float(f64::NAN), DType::F32),
        (Literal::Float(f64::from_bits(0xfff8_0000_0000_0001)), DType::F32),
        (Literal::Float(1e300), DType::F32),
        (Literal::Float(5e-324), DType::F32),
        (Literal::Int(i64::MIN), DType::I64),
        (Literal::Bool(true), DType::Bool),
    ];
    let literals = literals.map(|(literal, dtype)| cx.constant(literal, dtype, Meta::default()));
    let placed = cx.tensor(&[], DType::I64, None, Storage::Rmem);
    let scalar = cx.expr(ExprKind::Constant(Literal::Int(3)), placed, Meta::default().named(cx.symbol("three")));
    let empty = tuple(cx, &[]);
    let all: Vec<_> = [e, e, empty, scalar].into_iter().chain(literals).collect();
    let text = round_trip(cx, module(cx, &[hir(cx, "f", &[x, w], tuple(cx, &all))]));
    let start = r#"!t0 = tuple<tensor<4x8xf32>, tensor<4x8xf32>, tuple<>, tensor<i64, rmem>, f32, f32, bf16, f32, f32, f32, f32, f32, i64, bool>
module @m {
  hir.func @f(%x: tensor<4x8xf32>, %w: const tensor<4x8xf32>) -> !t0 {
    %acc = t.add %x, %w : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %acc.1 = t.add %acc, %acc : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %x.1 = t.add %acc.1, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %"odd name.1 \"\\\n" = t.add %x.1, %x.1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %0 = t.reduce %"odd name.1 \"\\\n" {axes = [1, -1], keepdim = false, kind = "mean"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %1 = tuple : tuple<>
    %three = constant 3 : tensor<i64, rmem>
    %2 = constant 1.0 : f32
    %3 = constant -0.0 : f32
    %4 = constant inf : bf16
    %5 = constant -inf : f32
    %6 = constant nan : f32
    %7 = constant 0xfff8000000000001 : f32
    %8 = constant 1e300 : f32
    %9 = constant 5e-324 : f32
    %10 = constant -9223372036854775808 : i64
    %11 = constant true : bool
    %12 = tuple %0, %0, %1, %three, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11 : !t0
    hir.return %12
  }
}
"#;
    assert_eq!(text, start);
    let again = parse(cx, &text);
    let Some(tf_core::AnyFunction::Hir(f)) = again.lookup("f") else { panic!("no HIR function") };
    let ExprKind::Tuple(parts) = f.body.unwrap().kind else { panic!("no tuple") };
    let d = parts[0].op_call().expect("a call").args[0];
    assert_eq!(d.meta.name.map(tf_types::Symbol::as_str), Some("odd name.1 \"\\\n"));
    let acc = d.op_call().expect("a call").args[0].op_call().expect("a call").args[0];
    assert_eq!(acc.meta.name.map(tf_types::Symbol::as_str), Some("acc"));
}

#[test]
fn loops() {
    let arena = Arena::new();
    let cx = &Context::new(&arena, registry());
    let x = var(cx, "x", tensor(cx, &[4]));
    let invariant = add(cx, x, x, "");
    let i64_type = cx.scalar(DType::I64);
    let (i, j) = (var(cx, "i", i64_type), var(cx, "i", i64_type));
    let inner_acc = var(cx, "acc", x.ty());
    let inner = grid(cx, j, &[(inner_acc, x, add(cx, inner_acc, invariant, ""))]);
    let (a, b) = (var(cx, "acc", x.ty()), var(cx, "n", i64_type));
    let zero = cx.constant(Literal::Int(0), DType::I64, Meta::default());
    let next = add(cx, a, inner, "");
    let outer = grid(cx, i, &[(a, x, next), (b, zero, add(cx, b, i, "m"))]);
    let k = var(cx, "k", i64_type);
    let body = add(cx, k, k, "");
    let region = GridRegion {
        induction: k,
        carries: &[],
        inits: &[],
        yields: &[],
        body: Some(body),
        start: cx.dim(0),
        stop: cx.dim(3),
        step: cx.dim(1),
    };
    let last = cx.grid(region, i64_type, Meta::default().named(cx.symbol("last")));
    let text = round_trip(cx, module(cx, &[hir(cx, "f", &[x], tuple(cx, &[outer, last]))]));
    let want = r#"#S = dim<"S", 1, 1025>
module @m {
  hir.func @f(%x: tensor<4xf32>) -> tuple<tuple<tensor<4xf32>, i64>, i64> {
    %0 = constant 0 : i64
    %1 = t.add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %2 = hir.grid %i = 0 to #S step 4 iter(%acc = %x) : tensor<4xf32> {
      %3 = t.add %acc, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      hir.yield %3
    }
    %4 = hir.grid %i.1 = 0 to #S step 4 iter(%acc.1 = %x, %n = %0) : tuple<tensor<4xf32>, i64> {
      %5 = t.add %acc.1, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %m = t.add %n, %i.1 : (i64, i64) -> i64
      hir.yield %5, %m
    }
    %last = hir.grid %k = 0 to 3 step 1 : i64 {
      %6 = t.add %k, %k : (i64, i64) -> i64
      hir.yield %6
    }
    %7 = tuple %4, %last : tuple<tuple<tensor<4xf32>, i64>, i64>
    hir.return %7
  }
}
"#;
    assert_eq!(text, want);
}

#[test]
fn dims_layouts_meshes_and_attributes() {
    let arena = Arena::new();
    let cx = &Context::new(&arena, registry());
    let other = cx.dim_var(DimVar { name: cx.symbol("S"), lo: 1, hi: 9 });
    let odd = cx.dim_var(DimVar { name: cx.symbol("a b"), lo: -3, hi: 0 });
    let mut dims = vec![s(cx), other, odd, cx.dim(-3), cx.dim(7)];
    for op in [DimOp::Add, DimOp::Sub, DimOp::Mul, DimOp::FloorDiv, DimOp::Mod, DimOp::Min, DimOp::Max] {
        let last = dims[dims.len() - 1];
        dims.push(cx.dim_op(op, s(cx), cx.dim(-4)));
        dims.push(cx.dim_op(op, last, s(cx)));
        dims.push(cx.dim_op(op, s(cx), last));
    }
    let all = cx.dims(&dims);
    let m = mesh(cx);
    let attrs = [ShardAttr::Split(0), ShardAttr::Partial(cx.symbol("sum")), ShardAttr::Dynamic];
    let plain = cx.layout(cx.const_dims(&[4, 8]), Some(cx.const_dims(&[8, 1])));
    let open = cx.layout(&[s(cx)], None);
    let shard = cx.shard_layout(plain, &attrs, m);
    let broadcast = cx.shard_layout(plain, &[ShardAttr::Broadcast; 3], m);
    let slice = cx.composed_layout(None, cx.dim(32), Some(OuterLayout::Plain(plain)));
    let placed = cx.composed_layout(None, s(cx), Some(OuterLayout::Shard(shard)));
    let inverse = cx.composed_layout(Some(open), cx.dim(-32), None);
    let sliced = cx.mesh(m.topologies, MeshLayout::Sliced(slice), &[]);
    let deferred = [Topology { name: cx.symbol("odd level"), size: None }];
    let nameless = cx.mesh(&deferred, MeshLayout::Plain(open), &[cx.symbol("a b")]);
    let tensor = |layout, storage| cx.tensor(&[cx.dim(4), s(cx), cx.dim(-1)], DType::BF16, Some(layout), storage);
    let types = [
        tensor(TensorLayout::Shard(shard), Storage::Rmem),
        tensor(TensorLayout::Plain(plain), Storage::Gmem),
        cx.tensor(&[], DType::F16, Some(TensorLayout::Plain(cx.layout(&[], Some(&[])))), Storage::Umat),
        cx.callable(&[cx.unit(), cx.scalar(DType::Bool)], cx.callable(&[], cx.unit())),
        cx.tuple(&[cx.tuple(&[]), cx.unit()]),
    ];
    let layouts = [
        TensorLayout::Plain(open),
        TensorLayout::Shard(shard),
        TensorLayout::Composed(slice),
        TensorLayout::Composed(placed),
        TensorLayout::Composed(inverse),
    ];
    let mut values = Vec::new();
    for (at, ty) in types.into_iter().enumerate() {
        let layout = Some(layouts[at]);
        let mesh = Some([m, sliced, nameless][at % 3]);
        let (storage, place) = (Some(Storage::Tmem), Some([shard, broadcast][at % 2]));
        let ops = [
            Every::new(cx, 5, f64::NAN, None, DType::F8E8M0, storage, ty),
            Every::new(cx, -1, 0.5, Some(2.0), DType::F32, None, ty),
            Every::new(cx, 0, -0.0, Some(f64::INFINITY), DType::F32, None, ty),
            Placed::new(cx, dims[at], all, layout, place, mesh, ty),
            Placed::new(cx, dims[at], &[], None, None, None, ty),
        ];
        values.extend(ops.map(|op| call(cx, op, &[], "")));
    }
    for &stop in all {
        let induction = var(cx, "i", cx.scalar(DType::I64));
        let region = GridRegion {
            induction,
            carries: &[],
            inits: &[],
            yields: &[],
            body: Some(induction),
            start: cx.dim(0),
            stop,
            step: cx.dim(1),
        };
        values.push(cx.grid(region, induction.ty(), Meta::default()));
    }
    let text = round_trip(cx, module(cx, &[hir(cx, "f", &[], tuple(cx, &values))]));
    let bounds = ["#S + -4", "7 + #S", "#S + 7", "#S - -4", "#S + 7 - #S", "#S - (#S + 7)", "#S * -4"];
    assert!(bounds.iter().all(|bound| text.contains(&format!(" = 0 to {bound} step 1 : i64 {{\n"))), "{text}");
    for want in [
        "#S = dim<\"S\", 1, 1025>\n",
        "#S_1 = dim<\"S\", 1, 9>\n",
        "#dim = dim<\"a b\", -3, 0>\n",
        "#mesh0 = mesh<[cta = 4, thread = 64], (4, 2, 32):(64, 32, 1), [b, w, l]>\n",
        "#layout0 = shard<(4, 8):(8, 1), [S(0), P(\"sum\"), dynamic], #mesh0>\n",
        "= composed<offset = #S, outer = #layout0>",
        "= mesh<[cta = 4, thread = 64], composed<offset = 32, outer = (4, 8):(8, 1)>>\n",
        "= mesh<[\"odd level\" = ?], (#S), [\"a b\"]>\n",
        "composed<inner = (#S), offset = -32>",
        "ty = tensor<f16, layout<():()>, umat>}",
        "ty = (unit, bool) -> () -> unit}",
        "ty = tuple<tuple<>, unit>}",
        "%0 = t.every {i = 5, f = nan, g = none, d = f8e8m0, s = tmem, ty = ",
        "%6 = t.every {d = f32, ty = !t0} : () -> !t0\n",
        "%7 = t.every {i = 0, f = -0.0, g = inf, d = f32, ty = !t0} : () -> !t0\n",
        "{dim = #S, dims = [#S, #S_1, #dim, -3, 7, #S - 4, #S + 7, #S + 7, #S + 4, 7, -7, -4 * #S, ",
        "%9 = t.placed {dim = #S_1, dims = [], ty = !t0} : () -> !t0\n",
        "[#S]x[-1]xbf16",
    ] {
        assert!(text.contains(want), "{want}\nnot in\n{text}");
    }
}

fn function_call<'c>(cx: &Context<'c>, f: Function<'c>, args: &[Expr<'c>]) -> Expr<'c> {
    let kind = ExprKind::Call { callee: Callee::Function(f), args: cx.alloc_slice(args) };
    cx.expr(kind, f.return_type, Meta::default())
}

#[test]
fn calls_in_any_order() {
    let arena = Arena::new();
    let cx = &Context::new(&arena, registry());
    let as_hir = |f| match f {
        tf_core::AnyFunction::Hir(f) => f,
        tf_core::AnyFunction::Tir(_) => panic!("a TIR function"),
    };
    let z = var(cx, "x", tensor(cx, &[4]));
    let g = hir(cx, "g", &[z], z);
    let x = var(cx, "x", tensor(cx, &[4]));
    let f = hir(cx, "f", &[x], function_call(cx, as_hir(g), &[function_call(cx, as_hir(g), &[x])]));
    let y = var(cx, "y", tensor(cx, &[4]));
    let h =
        hir(cx, "odd name", &[y], add(cx, function_call(cx, as_hir(f), &[y]), function_call(cx, as_hir(g), &[y]), ""));
    for order in [[g, f, h], [h, f, g], [f, h, g], [h, g, f]] {
        let text = round_trip(cx, module(cx, &order));
        assert!(text.contains("%0 = call @g(%x) : (tensor<4xf32>) -> tensor<4xf32>\n"), "{text}");
        let again = parse(cx, &text);
        let callee = |name: &str| again.lookup(name).map(as_hir);
        let body = callee("f").map(|f| f.body.unwrap().kind);
        let Some(ExprKind::Call { callee: Callee::Function(found), .. }) = body else { panic!("no call") };
        assert!(Some(found) == callee("g"));
    }
}

fn seq<'c>(cx: &Context<'c>, stmts: &[Stmt<'c>]) -> Stmt<'c> {
    cx.stmt(StmtKind::Sequential(cx.alloc_slice(stmts)), None)
}

fn bind<'c>(cx: &Context<'c>, var: Expr<'c>, value: Expr<'c>, rest: &[Stmt<'c>]) -> Stmt<'c> {
    cx.stmt(StmtKind::Let { var, value, body: seq(cx, rest) }, None)
}

fn alloc<'c>(cx: &Context<'c>, ty: Type<'c>, coords: &[Expr<'c>]) -> Expr<'c> {
    call(cx, Alloc::new(cx, ty), coords, "")
}

#[test]
fn statements() {
    let arena = Arena::new();
    let cx = &Context::new(&arena, registry());
    let ty = tensor(cx, &[4]);
    let (x, out, buf, tile) = (var(cx, "x", ty), var(cx, "out", ty), var(cx, "buf", ty), var(cx, "buf", ty));
    let i64_type = cx.scalar(DType::I64);
    let int = |v| cx.constant(Literal::Int(v), DType::I64, Meta::default());
    let (i, j) = (var(cx, "i", i64_type), var(cx, "j", cx.scalar(DType::I32)));
    let row = add(cx, i, int(1), "");
    let shared = add(cx, row, row, "row");
    let copy = |src, dst| cx.evaluate(Copy::new(cx), &[src, dst], None);
    let view = alloc(cx, ty, &[shared]);
    let inner = [copy(tile, out), copy(view, tile)];
    let inner = cx.stmt(
        StmtKind::For {
            induction: j,
            start: cx.constant(Literal::Int(0), DType::I32, Meta::default()),
            stop: shared,
            step: cx.constant(Literal::Int(1), DType::I32, Meta::default()),
            body: seq(cx, &inner),
        },
        None,
    );
    let in_loop = bind(cx, tile, alloc(cx, ty, &[row, int(2)]), &[inner, copy(view, view)]);
    let mesh_scope = cx.stmt(StmtKind::MeshScope { mesh: mesh(cx), binding: cx.symbol("t"), body: in_loop }, None);
    let outer = StmtKind::For { induction: i, start: int(0), stop: int(64), step: int(4), body: mesh_scope };
    let device = StmtKind::Evaluate { callee: TirCallee::Symbol(cx.symbol("g")), args: cx.alloc_slice(&[buf, out]) };
    let rest = [cx.stmt(outer, None), cx.stmt(device, None), cx.stmt(StmtKind::Return, None)];
    let alias = var(cx, "alias", ty);
    let value = alloc(cx, ty, &[]);
    let body = seq(cx, &[copy(x, x), bind(cx, buf, value, &[bind(cx, alias, buf, &rest)])]);
    let (p, q) = (var(cx, "p", ty), var(cx, "q", ty));
    let g = tir(cx, "g", &[p, q], seq(cx, &[]));
    let symbol = cx.expr(ExprKind::SymbolRef(cx.symbol("g")), cx.callable(&[ty, ty], cx.unit()), Meta::default());
    let (a, b) = (var(cx, "a", ty), var(cx, "b", ty));
    let launch = cx.evaluate(Launch::new(cx, 64), &[symbol, int(8), int(128), a, b], None);
    let host = tir(cx, "host", &[a, b], launch);
    let device = Target { kind: TargetKind::Cuda, device: cx.symbol("nvidia.h200_sxm") };
    let mixed = [hir(cx, "v", &[x], x), host, tir(cx, "f", &[x, out], body), g];
    let levels = [("cta", Some(cx.dim(4))), ("thread", None)];
    let levels = levels.map(|(name, size)| Topology { name: cx.symbol(name), size });
    let module = cx.module(ModuleData {
        entry: Some(cx.symbol("host")),
        target: Some(device),
        topologies: Some(cx.topologies(&levels)),
        ..*module(cx, &mixed).data()
    });
    let text = round_trip(cx, module);
    let want = r#"#mesh0 = mesh<[cta = 4, thread = 64], (4, 2, 32):(64, 32, 1), [b, w, l]>
module @m target("nvidia.h200_sxm") topology(cta = 4, thread = ?) entry(@host) {
  hir.func @v(%x: tensor<4xf32>) -> tensor<4xf32> {
    hir.return %x
  }
  tir.func @host(%a: tensor<4xf32>, %b: tensor<4xf32>) target("cpu") outputs(1) {
    T.launch @g, 8, 128, %a, %b {dynamic_smem = 64} : ((tensor<4xf32>, tensor<4xf32>) -> unit, i64, i64, tensor<4xf32>, tensor<4xf32>)
  }
  tir.func @f(%x: tensor<4xf32>, %out: tensor<4xf32>) target("cpu") outputs(1) {
    T.copy %x, %x : (tensor<4xf32>, tensor<4xf32>)
    let %buf = T.alloc {tensor_type = tensor<4xf32>} : () -> tensor<4xf32>
    let %alias = %buf : tensor<4xf32>
    tir.for %i = 0 to 64 step 4 : i64 {
      %0 = t.add %i, 1 : (i64, i64) -> i64
      %row = t.add %0, %0 : (i64, i64) -> i64
      %1 = T.alloc %row {tensor_type = tensor<4xf32>} : (i64) -> tensor<4xf32>
      tir.mesh t = #mesh0 {
        let %buf.1 = T.alloc %0, 2 {tensor_type = tensor<4xf32>} : (i64, i64) -> tensor<4xf32>
        tir.for %j = 0 to %row step 1 : (i32, i32, i64, i32) {
          T.copy %buf.1, %out : (tensor<4xf32>, tensor<4xf32>)
          T.copy %1, %buf.1 : (tensor<4xf32>, tensor<4xf32>)
        }
        T.copy %1, %1 : (tensor<4xf32>, tensor<4xf32>)
      }
    }
    tir.call @g(%buf, %out) : (tensor<4xf32>, tensor<4xf32>)
    tir.return
  }
  tir.func @g(%p: tensor<4xf32>, %q: tensor<4xf32>) target("cpu") outputs(1) {
  }
}
"#;
    assert_eq!(text, want);
}

#[test]
fn locations() {
    let arena = Arena::new();
    let cx = &Context::new(&arena, registry());
    let file = cx.sources().add("dir/k \"1\".py", "text");
    let at = |line| Meta::at(Span::new(file, (line, 2), (line, 9)));
    let x = cx.var(cx.symbol("x"), tensor(cx, &[4]), at(1));
    let y = cx.call(crate::common::Add::new(cx), &[x, x], at(2)).expect("a well-typed call");
    let f = hir(cx, "f", &[x], y);
    let text = round_trip(cx, module(cx, &[f]));
    assert!(!text.contains("loc"));
    let options = tf_text::PrintOptions { locations: Some(cx.sources()) };
    let text = tf_text::print_module(module(cx, &[f]), &options);
    assert!(
        text.contains(r#"%x: tensor<4xf32> loc("dir/k \"1\".py":1:2 to 1:9)) -> tensor<4xf32> loc(unknown) {"#),
        "{text}"
    );
    let again = parse(cx, &text).lookup("f").map(|f| f.params()[0].span());
    assert_eq!(again, Some(x.span()));
}
