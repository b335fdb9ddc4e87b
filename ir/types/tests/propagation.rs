//! The worked table of shard propagation and its refusals.

use tf_types::access::{AccessRelation, AffineMap, AxisAccess, Extent};
use tf_types::{
    Arena, DType, Dim, DimVar, Mesh, MeshLayout, ShardAttr, ShardLayout, Storage, TensorLayout, TensorType, Topology,
    TypeContext,
};

fn dims<'c>(cx: &TypeContext<'c>, text: &str) -> Vec<Dim<'c>> {
    let dim = |word: &str| match word.parse() {
        Ok(value) => cx.dim(value),
        Err(_) => cx.dim_var(DimVar { name: cx.symbol(word), lo: 1, hi: 65 }),
    };
    text.split_whitespace().map(dim).collect()
}

fn mesh<'c>(cx: &TypeContext<'c>, extents: &str, names: &str) -> Mesh<'c> {
    let shape = dims(cx, extents);
    let topology = Topology { name: cx.symbol("thread"), size: Some(cx.product(&shape)) };
    let names: Vec<_> = names.split_whitespace().map(|n| cx.symbol(n)).collect();
    cx.mesh(&[topology], MeshLayout::Plain(cx.c_order_layout(&shape)), &names)
}

fn attrs<'c>(cx: &TypeContext<'c>, text: &str) -> Vec<ShardAttr<'c>> {
    let attr = |word: &str| match word {
        "B" => ShardAttr::Broadcast,
        "P" => ShardAttr::Partial(cx.symbol("sum")),
        "D" => ShardAttr::Dynamic,
        _ => ShardAttr::Split(word[1..].parse().unwrap()),
    };
    text.split_whitespace().map(attr).collect()
}

/// A placed tensor, canonical for logical `splits`.
fn placed<'c>(cx: &TypeContext<'c>, shape: &str, mesh: Mesh<'c>, splits: &str) -> TensorType<'c> {
    let shard = cx.canonical_shard_layout(&dims(cx, shape), mesh, &attrs(cx, splits)).unwrap();
    with_shard(cx, shape, shard)
}

fn with_shard<'c>(cx: &TypeContext<'c>, shape: &str, shard: ShardLayout<'c>) -> TensorType<'c> {
    let layout = Some(TensorLayout::Shard(shard));
    *cx.tensor(&dims(cx, shape), DType::F32, layout, Storage::Rmem).as_tensor().unwrap()
}

/// `0 1 c x0`: projections, position 0, dim 0 plus an index.
fn access<'c>(text: &str) -> Vec<AxisAccess<'c>> {
    let one = |word: &str| match word.strip_prefix('x') {
        _ if word == "c" => AxisAccess::Const,
        Some(dim) => AxisAccess::Map(AffineMap::value(0).term(dim.parse().unwrap(), None)),
        None => AxisAccess::Proj(word.parse().unwrap()),
    };
    text.split_whitespace().map(one).collect()
}

/// Extents of the domain are of no account here.
fn relation<'c>(domain_rank: usize, operands: &[&str], result: &str) -> AccessRelation<'c> {
    let domain = AccessRelation { domain: vec![Extent::Value(0); domain_rank], ..AccessRelation::over(&[]) };
    operands.iter().enumerate().fold(domain.writes(access(result)), |relation, (at, o)| relation.reads(at, access(o)))
}

fn run<'c>(cx: &TypeContext<'c>, operands: &[&TensorType<'c>], relation: &AccessRelation<'c>, output: &str) -> String {
    let operands: Vec<_> = operands.iter().copied().map(Some).collect();
    match cx.propagate(&operands, relation, &dims(cx, output)) {
        Ok(None) => "none".to_owned(),
        Err(error) => error.message,
        Ok(Some(shard)) => {
            let attrs: Vec<_> = shard
                .attrs
                .iter()
                .map(|attr| match attr {
                    ShardAttr::Split(axis) => format!("S{axis}"),
                    ShardAttr::Broadcast => "B".to_owned(),
                    ShardAttr::Partial(reduction) => format!("P({reduction})"),
                    ShardAttr::Dynamic => "D".to_owned(),
                })
                .collect();
            format!("{} {}", shard.layout, attrs.join(" "))
        }
    }
}

#[test]
fn worked_reductions() {
    let arena = Arena::new();
    let cx = &TypeContext::new(&arena);
    let x = placed(cx, "16 128", mesh(cx, "2 32", "w l"), "S0 S1");
    let rows = relation(2, &["0 1"], "0 c");
    assert_eq!(run(cx, &[&x], &rows.clone().completes([1]).fresh(), "16 1"), "(2, 8, 1, 1):(8, 1, 0, 0) S0 B");
    // The kept axis may as well be stated as the projection of its own dim.
    let rows = relation(2, &["0 1"], "0 1");
    assert_eq!(run(cx, &[&x], &rows.clone().completes([1]).fresh(), "16 1"), "(2, 8, 1, 1):(8, 1, 0, 0) S0 B");
    let columns = relation(2, &["0 1"], "1");
    assert_eq!(run(cx, &[&x], &columns.clone().completes([0]).fresh(), "128"), "(1, 1, 32, 4):(0, 0, 4, 1) B S2");
    let all = relation(2, &["0 1"], "");
    assert_eq!(run(cx, &[&x], &all.clone().completes([0, 1]).fresh(), ""), "():() B B");
    let both = relation(2, &["0 1"], "c c");
    assert_eq!(run(cx, &[&x], &both.clone().completes([0, 1]).fresh(), "1 1"), "(1, 1, 1, 1):(0, 0, 0, 0) B B");
}

#[test]
fn worked_products_and_transposition() {
    let arena = Arena::new();
    let cx = &TypeContext::new(&arena);
    let m = mesh(cx, "4", "w");
    let matmul = relation(3, &["0 2", "2 1"], "0 1").sums([2]);
    let (lhs, rhs) = (placed(cx, "16 32", m, "S1"), placed(cx, "32 64", m, "S0"));
    assert_eq!(run(cx, &[&lhs, &rhs], &matmul, "16 64"), "(16, 64):(64, 1) P(sum)");
    let (lhs, rhs) = (placed(cx, "16 32", m, "S0"), placed(cx, "32 64", m, "B"));
    assert_eq!(run(cx, &[&lhs, &rhs], &matmul, "16 64"), "(4, 4, 64):(256, 64, 1) S0");
    let x = placed(cx, "16 128", m, "S0");
    let transpose = relation(2, &["1 0"], "0 1");
    assert_eq!(run(cx, &[&x], &transpose, "128 16"), "(128, 4, 4):(1, 512, 128) S1");
}

#[test]
fn elementwise_operands_carry_their_factorisation() {
    let arena = Arena::new();
    let cx = &TypeContext::new(&arena);
    let m = mesh(cx, "4 16", "w l");
    let same = relation(2, &["0 1", "0 1"], "0 1");
    let strided = cx.shard_layout(cx.layout(&dims(cx, "4 4 16 4"), Some(&dims(cx, "0 4 0 1"))), &attrs(cx, "S0 S2"), m);
    let x = with_shard(cx, "16 64", strided);
    assert_eq!(run(cx, &[&x, &x], &same, "16 64"), "(4, 4, 16, 4):(0, 4, 0, 1) S0 S2");
    // Different strides for one placement: the canonical form.
    let y = placed(cx, "16 64", m, "S0 S1");
    assert_eq!(run(cx, &[&x, &y], &same, "16 64"), "(4, 4, 16, 4):(256, 64, 4, 1) S0 S2");
    // Splits of both operands meet in the result.
    let (rows, columns) = (placed(cx, "16 64", m, "S0 B"), placed(cx, "16 64", m, "B S1"));
    assert_eq!(run(cx, &[&rows, &columns], &same, "16 64"), "(4, 4, 16, 4):(256, 64, 4, 1) S0 S2");
    // A broadcast operand of extent 1 follows.
    let wide = relation(2, &["0 1", "c 1"], "0 1");
    let gain = placed(cx, "1 64", m, "B S1");
    assert_eq!(run(cx, &[&rows, &gain], &wide, "16 64"), "(4, 4, 16, 4):(256, 64, 4, 1) S0 S2");
    let plain = *cx.tensor(&dims(cx, "16 64"), DType::F32, None, Storage::Gmem).as_tensor().unwrap();
    let whole = placed(cx, "16 64", m, "B B");
    assert_eq!(run(cx, &[&plain, &whole], &same, "16 64"), "none");
    let partial = placed(cx, "16 64", m, "P B");
    assert_eq!(run(cx, &[&plain, &partial], &same, "16 64"), "(16, 64):(64, 1) P(sum) B");
    let symbolic = placed(cx, "S 64", m, "B S1");
    assert_eq!(run(cx, &[&symbolic], &relation(2, &["0 1"], "0 1"), "S 64"), "(S, 16, 4) B S1");
    assert_eq!(run(cx, &[&symbolic], &relation(2, &["0 1"], "0 1").fresh(), "S 64"), "(S, 16, 4):(1, 1, 1) B S1");
}

#[test]
fn concatenation_is_canonical_on_the_result() {
    let arena = Arena::new();
    let cx = &TypeContext::new(&arena);
    let x = placed(cx, "16 64", mesh(cx, "4", "w"), "S0");
    let concat = relation(2, &["0 x1", "0 x1"], "0 1").fresh();
    assert_eq!(run(cx, &[&x, &x], &concat, "16 128"), "(4, 4, 128):(512, 128, 1) S0");
    let along = relation(2, &["x0 1", "x0 1"], "0 1").fresh();
    assert_eq!(
        run(cx, &[&x, &x], &along, "32 64"),
        "axis 0 of operand 0 is split over mesh axis `w`, but its elements are not read one to one (non-projection \
         access)"
    );
}

#[test]
fn refusals_name_operands_and_axes() {
    let arena = Arena::new();
    let cx = &TypeContext::new(&arena);
    let m = mesh(cx, "4", "w");
    let same = relation(2, &["0 1", "0 1"], "0 1");
    let (rows, columns) = (placed(cx, "16 64", m, "S0"), placed(cx, "16 64", m, "S1"));
    assert_eq!(
        run(cx, &[&rows, &columns], &same, "16 64"),
        "operand 0 makes the result split on axis 0 over mesh axis `w`, but operand 1 makes it split on axis 1"
    );
    let partial = placed(cx, "16 64", m, "P");
    assert_eq!(
        run(cx, &[&rows, &partial], &same, "16 64"),
        "operand 0 makes the result split on axis 0 over mesh axis `w`, but operand 1 makes it Partial(sum)"
    );
    let other = placed(cx, "16 64", mesh(cx, "8", "w"), "S0");
    assert_eq!(
        run(cx, &[&rows, &other], &same, "16 64"),
        "operand 0 lies on Mesh(thread 4; w=4), but operand 1 on another mesh, Mesh(thread 8; w=8)"
    );
    // The split dim is only used inside a complex result access.
    let folded = relation(2, &["0 1"], "x0 1");
    assert_eq!(
        run(cx, &[&rows], &folded, "16 64"),
        "axis 0 of operand 0 is split over mesh axis `w`, but its elements are not read one to one (non-projection \
         access)"
    );
    // A result that the mesh does not divide.
    let picked = relation(3, &["0 2"], "0 1");
    assert_eq!(
        run(cx, &[&rows], &picked, "18 64"),
        "axis 0 of extent 18 is not divisible by 4, the extent of mesh axis `w`"
    );
}

/// Splits that are not outermost: the result is dealt out as the operands are.
#[test]
fn runs_of_operands_are_those_of_the_result() {
    let arena = Arena::new();
    let cx = &TypeContext::new(&arena);
    let m = mesh(cx, "4", "w");
    let inner = with_shard(cx, "16 64", cx.shard_layout(cx.c_order_layout(&dims(cx, "4 4 64")), &attrs(cx, "S1"), m));
    let outer = placed(cx, "16 64", m, "S0");
    let same = relation(2, &["0 1", "0 1"], "0 1");
    assert_eq!(run(cx, &[&inner, &inner], &same, "16 64"), "(4, 4, 64):(256, 64, 1) S1");
    assert_eq!(
        run(cx, &[&inner, &outer], &same, "16 64"),
        "mesh axis `w` splits operand 0 in runs of 1 and operand 1 in runs of 4"
    );
    // The product does not cover the result's columns, so its own factorisation is not carried over.
    let matmul = relation(3, &["0 2"], "0 1").sums([2]);
    assert_eq!(run(cx, &[&inner], &matmul, "16 8"), "(4, 4, 8):(32, 8, 1) S1");
}
