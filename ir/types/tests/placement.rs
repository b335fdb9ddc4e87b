//! The worked examples of placement sugar and reshard.

use tf_types::{
    Arena, DType, Dim, DimTuple, DimVar, Mesh, MeshLayout, PlacementSugar, ShardAttr, ShardLayout, Storage, SugarAxis,
    TensorLayout, TensorType, Topology, TypeContext, TypeError,
};

struct Bench<'a, 'c> {
    cx: &'a TypeContext<'c>,
    /// Alias and mesh, outermost first.
    scopes: Vec<(&'static str, Mesh<'c>)>,
}

impl<'c> Bench<'_, 'c> {
    fn dim(&self, word: &str) -> Dim<'c> {
        match word.parse() {
            Ok(value) => self.cx.dim(value),
            Err(_) => self.cx.dim_var(DimVar { name: self.cx.symbol(word), lo: 1, hi: 65 }),
        }
    }

    fn dims(&self, text: &str) -> Vec<Dim<'c>> {
        text.split_whitespace().map(|w| self.dim(w)).collect()
    }

    fn open(&mut self, alias: &'static str, level: &str, size: &str, extents: &str, names: &str) {
        let names: Vec<_> = names.split_whitespace().map(|n| self.cx.symbol(n)).collect();
        let topology = Topology { name: self.cx.symbol(level), size: Some(self.dim(size)) };
        let layout = MeshLayout::Plain(self.cx.c_order_layout(&self.dims(extents)));
        self.scopes.push((alias, self.cx.mesh(&[topology], layout, &names)));
    }

    fn maxis(&self, text: &str) -> (Mesh<'c>, usize) {
        let (alias, axis) = text.split_once('.').unwrap();
        let mesh = self.scopes.iter().find(|s| s.0 == alias).unwrap().1;
        (mesh, mesh.axis_index(axis).unwrap())
    }

    /// `12@m.w 64@m.t+m.w | strides | m.t=sum`
    fn sugar(&self, text: &str) -> PlacementSugar<'c> {
        let mut parts = text.split('|');
        let axes = parts.next().unwrap().split_whitespace().map(|item| {
            let (extent, splits) = item.split_once('@').unwrap_or((item, ""));
            let splits = splits.split('+').filter(|s| !s.is_empty()).map(|s| self.maxis(s)).collect();
            SugarAxis { extent: self.dim(extent), splits }
        });
        let axes = axes.collect();
        let strides = parts.next().map(|s| self.dims(s)).filter(|s| !s.is_empty());
        let partials = parts.next().unwrap_or("").split_whitespace().map(|state| {
            let (maxis, reduction) = state.split_once('=').unwrap();
            let (mesh, axis) = self.maxis(maxis);
            (mesh, axis, self.cx.symbol(reduction))
        });
        PlacementSugar { axes, strides, partials: partials.collect() }
    }

    fn place(&self, shape: &str, sugar: &str) -> Result<ShardLayout<'c>, TypeError> {
        let scopes: Vec<_> = self.scopes.iter().map(|s| s.1).collect();
        self.cx.place(&self.sugar(sugar), &scopes, Some(&self.dims(shape)))
    }

    fn source(&self, shape: &str, storage: Storage) -> TensorType<'c> {
        *self.cx.tensor(&self.dims(shape), DType::F32, None, storage).as_tensor().unwrap()
    }

    /// `shape:strides attrs` of the reshard, or its refusal.
    fn reshard(&self, shape: &str, sugar: &str, from: Storage, to: Storage) -> String {
        let result = self
            .place(shape, sugar)
            .and_then(|shard| self.cx.reshard_type(&self.source(shape, from), Some(shard), Some(to)));
        match result {
            Ok(ty) => show(ty.as_tensor().unwrap().shard().unwrap()),
            Err(error) => error.message,
        }
    }
}

fn show(shard: ShardLayout<'_>) -> String {
    let attrs: Vec<String> = shard
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

fn bench<'a, 'c>(cx: &'a TypeContext<'c>) -> Bench<'a, 'c> {
    let mut bench = Bench { cx, scopes: Vec::new() };
    bench.open("m", "thread", "192", "6 32", "w t");
    bench
}

use Storage::{Gmem, Rmem, Smem};

#[test]
fn worked_rows_1_to_12() {
    let arena = Arena::new();
    let cx = &TypeContext::new(&arena);
    let b = bench(cx);
    for (row, shape, sugar, moves, want) in [
        (1, "1 1536", "1 1536@m.w+m.t", &[(Gmem, Rmem)][..], "(1, 6, 32, 8):(0, 0, 0, 1) S1 S2"),
        (2, "1 1536", "1 1536@m.w+m.t", &[(Rmem, Gmem), (Gmem, Gmem)], "(1, 6, 32, 8):(1536, 256, 8, 1) S1 S2"),
        (3, "12 64", "12@m.w 64@m.t", &[(Gmem, Rmem)], "(6, 2, 32, 2):(0, 2, 0, 1) S0 S2"),
        // Threads share smem, so their Splits have strides.
        (3, "12 64", "12@m.w 64@m.t", &[(Gmem, Smem)], "(6, 2, 32, 2):(128, 64, 2, 1) S0 S2"),
        (4, "12 64", "12@m.w 64@m.t", &[(Smem, Smem)], "(6, 2, 32, 2):(128, 64, 2, 1) S0 S2"),
        (5, "12 64", "12@m.w 64||m.t=sum", &[(Gmem, Rmem)], "(6, 2, 64):(0, 64, 1) S0 P(sum)"),
        (
            6,
            "12 64",
            "6@m.w 2 32@m.t 2|128 64 2 1",
            &[(Gmem, Rmem), (Rmem, Gmem), (Smem, Smem)],
            "(6, 2, 32, 2):(128, 64, 2, 1) S0 S2",
        ),
        (7, "12 64", "12@m.w 64|64 1", &[(Gmem, Rmem), (Rmem, Smem)], "(12, 64):(64, 1) S0 B"),
        (8, "192 8", "192@m.w+m.t 8", &[(Gmem, Rmem)], "(6, 32, 1, 8):(0, 0, 0, 1) S0 S1"),
        (9, "192 8", "192@m.t+m.w 8", &[(Gmem, Rmem)], "(32, 6, 1, 8):(0, 0, 0, 1) S1 S0"),
        (10, "12 64", "12 64", &[(Gmem, Rmem)], "(12, 64):(64, 1) B B"),
        (
            11,
            "13 64",
            "13@m.w 64",
            &[(Gmem, Rmem), (Gmem, Gmem)],
            "axis 0 of extent 13 is not divisible by 6, the extent of mesh axis `w`",
        ),
        (12, "12 64", "12@m.w 64@m.w", &[(Gmem, Rmem)], "mesh axis `w` is bound twice in one placement"),
    ] {
        for &(from, to) in moves {
            assert_eq!(b.reshard(shape, sugar, from, to), want, "row {row}, {from} to {to}");
        }
    }
    let shard = b.place("12 64", "12@m.w 64|64 1").unwrap();
    assert_eq!(DimTuple(&cx.local_shape(shard, true).unwrap()).to_string(), "(2, 64)");
}

#[test]
fn worked_rows_13_and_14() {
    let arena = Arena::new();
    let cx = &TypeContext::new(&arena);
    let mut b = Bench { cx, scopes: Vec::new() };
    b.open("m", "thread", "256", "2 4 32", "x y z");
    let sugar = "2@m.x 12@m.y 128@m.z";
    assert_eq!(b.reshard("2 1536", sugar, Gmem, Rmem), "(2, 4, 3, 32, 4):(0, 0, 4, 0, 1) S0 S1 S3");
    let mut b = Bench { cx, scopes: Vec::new() };
    b.open("c", "cta", "4", "4", "b");
    b.open("t", "thread", "64", "2 32", "w l");
    let sugar = "16@c.b 128@t.w+t.l";
    assert_eq!(b.reshard("16 128", sugar, Gmem, Rmem), "(4, 4, 2, 32, 2):(0, 2, 0, 0, 1) S0 S2 S3");
    assert_eq!(b.reshard("16 128", sugar, Gmem, Smem), "(4, 4, 2, 32, 2):(0, 128, 64, 2, 1) S0 S2 S3");
    assert_eq!(b.reshard("16 128", sugar, Rmem, Gmem), "(4, 4, 2, 32, 2):(512, 128, 64, 2, 1) S0 S2 S3");
    let mesh = b.place("16 128", sugar).unwrap().mesh;
    assert_eq!(mesh.to_string(), "Mesh(cta 4, thread 64; b=4, w=2, l=32)");
    // One named mesh is not composed; none named is the innermost scope.
    assert_eq!(b.place("16 128", "16@c.b 128").unwrap().mesh, b.scopes[0].1);
    assert_eq!(b.place("16 128", "16 128").unwrap().mesh, b.scopes[1].1);
}

#[test]
fn worked_rows_15_to_17_symbolic() {
    let arena = Arena::new();
    let cx = &TypeContext::new(&arena);
    let mut b = Bench { cx, scopes: Vec::new() };
    b.open("m", "cta", "S", "S", "b");
    assert_eq!(b.reshard("S 128", "S@m.b 128", Gmem, Rmem), "(S, 128):(0, 1) S0");
    let mut b = Bench { cx, scopes: Vec::new() };
    b.open("m", "thread", "4", "4", "b");
    for to in [Rmem, Smem] {
        assert_eq!(
            b.reshard("S 128", "S 128@m.b", Gmem, to),
            format!("layout axis 0 has the symbolic extent S and is not split, but {to} needs a static size")
        );
    }
    assert_eq!(b.reshard("S 128", "S 128@m.b", Gmem, Gmem), "(S, 4, 32):(128, 32, 1) S1");
    assert_eq!(b.reshard("128 S", "128@m.b S", Gmem, Gmem), "(4, 32, S):(32 * S, S, 1) S0");
    assert_eq!(
        b.reshard("S 128", "S@m.b 128", Gmem, Rmem),
        "axis 0 of extent S cannot be split over mesh axis `b` of extent 4: a symbolic extent splits only over a mesh \
         axis of the same dim"
    );
}

#[test]
fn sugar_refusals() {
    let arena = Arena::new();
    let cx = &TypeContext::new(&arena);
    let mut b = bench(cx);
    let refusal = |b: &Bench<'_, '_>, shape: &str, sugar: &str| b.place(shape, sugar).unwrap_err().message;
    assert_eq!(refusal(&b, "12 64", "6@m.w 64"), "placement (6, 64) has 384 elements, but the value (12, 64) has 768");
    assert_eq!(refusal(&b, "12 64", "12@m.w 64|64 1 1"), "a placement of 2 axes has 3 strides");
    assert_eq!(refusal(&b, "12 64", "12@m.w 64||m.w=sum"), "mesh axis `w` is bound twice in one placement");
    assert_eq!(
        refusal(&b, "12 64", "12@m.w+m.t 64"),
        "axis 0 of extent 12, of which 2 remain, is not divisible by 32, the extent of mesh axis `t`"
    );
    assert_eq!(
        refusal(&b, "192 8", "192@m.w+m.t 8|8 1"),
        "axis 0 is split over 2 mesh axes, which cannot be factored where strides are written"
    );
    assert_eq!(
        refusal(&b, "13 64", "13@m.w 64|64 1"),
        "axis 0 of extent 13 is not divisible by 6, the extent of mesh axis `w`"
    );
    let sugar = b.sugar("12@m.w 64");
    let error = cx.place(&sugar, &[], None).unwrap_err();
    assert_eq!(error.message, "Mesh(thread 192; w=6, t=32) is not an enclosing mesh scope");
    let error = cx.place(&b.sugar("12 64"), &[], None).unwrap_err();
    assert_eq!(error.message, "a placement needs an enclosing mesh scope");
    let beyond = PlacementSugar { partials: vec![(b.scopes[0].1, 7, cx.symbol("sum"))], ..b.sugar("12 64") };
    let error = cx.place(&beyond, &[b.scopes[0].1], None).unwrap_err();
    assert_eq!(error.message, "mesh axis number 7 of a mesh of 2 axes");
    b.open("k", "thread", "192", "192", "k");
    assert_eq!(refusal(&b, "12 192", "12@m.w 192@k.k"), "two meshes of one placement are over level `thread`");
}

#[test]
fn reshard_refusals() {
    let arena = Arena::new();
    let cx = &TypeContext::new(&arena);
    let b = bench(cx);
    let shard = b.place("12 64", "12@m.w 64").unwrap();
    let source = b.source("12 64", Gmem);
    let refusal = |layout, storage| cx.reshard_type(&source, layout, storage).unwrap_err().message;
    assert_eq!(
        refusal(Some(shard), Some(Storage::Umat)),
        "`umat` cannot be the destination of a reshard; a value is placed in a residency"
    );
    assert_eq!(refusal(None, Some(Smem)), "a reshard from gmem to smem needs a layout");
    for to in [Storage::Host, Storage::Tmem] {
        assert_eq!(
            refusal(Some(shard), Some(to)),
            format!("a reshard from gmem to {to} is not known: host and tmem have no storage tier")
        );
    }
    let other = b.place("12 32", "12@m.w 32").unwrap();
    assert_eq!(refusal(Some(other), None), "layout (6, 2, 32) has 384 elements, but the value (12, 64) has 768");
    assert_eq!(cx.reshard_type(&source, None, None).unwrap(), cx.tensor_type(source));
    assert_eq!(cx.reshard_type(&source, None, Some(Gmem)).unwrap(), cx.tensor_type(source));
}

#[test]
fn a_reshard_within_a_storage_keeps_its_form() {
    let arena = Arena::new();
    let cx = &TypeContext::new(&arena);
    let mut b = Bench { cx, scopes: Vec::new() };
    b.open("c", "cta", "4", "4", "b");
    b.open("t", "thread", "64", "2 32", "w l");
    let again = |from: Storage| {
        let first = b.place("16 128", "16@c.b 128@t.w+t.l").unwrap();
        let held = cx.reshard_type(&b.source("16 128", Gmem), Some(first), Some(from)).unwrap();
        let second = b.place("16 128", "16@t.w 128@c.b+t.l").unwrap();
        show(
            cx.reshard_type(held.as_tensor().unwrap(), Some(second), None)
                .unwrap()
                .as_tensor()
                .unwrap()
                .shard()
                .unwrap(),
        )
    };
    assert_eq!(again(Rmem), "(2, 8, 4, 32, 1):(0, 1, 0, 0, 0) S2 S0 S3");
    assert_eq!(again(Smem), "(2, 8, 4, 32, 1):(256, 32, 0, 1, 0) S2 S0 S3");
    assert_eq!(again(Gmem), "(2, 8, 4, 32, 1):(1024, 128, 32, 1, 1) S2 S0 S3");
    let placed = b.place("16 128", "16@c.b 128").unwrap();
    let annotated = cx.with_c_order_strides(placed);
    assert_eq!(show(annotated), "(4, 4, 128):(512, 128, 1) S0");
    let plain = cx.tensor(&b.dims("16 128"), DType::F32, Some(TensorLayout::Shard(annotated)), Gmem);
    let stored = cx.reshard_type(plain.as_tensor().unwrap(), Some(placed), Some(Rmem)).unwrap();
    assert_eq!(show(stored.as_tensor().unwrap().shard().unwrap()), "(4, 4, 128):(0, 128, 1) S0");
}
