//! Barriers of threads and of the grid.

use super::{kernel, numbers, run};

const PARAMS: &str = "x: Tensor[(64,), \"f32\"], out: Tensor[(64,), \"f32\"]";

/// Two CTAs that exchange their halves through global memory, with these statements between.
fn exchange(between: [&str; 2]) -> Result<Vec<f32>, String> {
    let half = "layout=ShardLayout(layout=Layout((32,), (1,)), attrs=(S(0),), mesh=m), shape=(32,)";
    let lines = format!(
        "with Mesh((Topology(\"cta\", 2),), Layout((2,), (1,)), names=(\"c\",)) as g:\n    \
         with Mesh((Topology(\"thread\", 32),), Layout((32,), (1,)), names=(\"t\",)) as m:\n        \
         mine = T.tensor_view(x, g.c * 32, {half})\n        own = T.tensor_view(out, g.c * 32, {half})\n        \
         other = T.tensor_view(out, 32 - g.c * 32, {half})\n        \
         held = T.alloc_tensor(TensorType((32,), \"f32\", ShardLayout(layout=Layout((32,), (0,)), attrs=(S(0),), mesh=m), \"rmem\"))\n        \
         T.copy(mine, own)\n        {}\n        T.copy(other, held)\n        {}\n        T.copy(held, own)",
        between[0], between[1],
    );
    Ok(run(&kernel(PARAMS, &lines), &[numbers(&[64])])?[0].to_f32_vec())
}

#[test]
fn the_grid_meets() {
    let x = numbers(&[64]).to_f32_vec();
    let swapped: Vec<_> = x[32..].iter().chain(&x[..32]).copied().collect();
    assert_eq!(exchange(["T.sync(g)", "T.sync(g)"]), Ok(swapped));
    let error = exchange(["T.sync(g)", "T.relu(held, held)"]).unwrap_err();
    assert!(error.contains("with no barrier between"), "{error}");
    assert!(error.contains("blocks meet at a barrier of the whole grid only"), "{error}");
    let error = exchange(["if g.c == 0:\n            T.sync(g)", "T.sync(g)"]).unwrap_err();
    assert!(error.contains("block 1 writes") || error.contains("block 1 reads"), "{error}");
}

#[test]
fn a_block_that_does_not_come_is_waited_for_in_vain() {
    let lines = "with Mesh((Topology(\"cta\", 2),), Layout((2,), (1,)), names=(\"c\",)) as g:\n    \
                 if g.c == 1:\n        T.sync(g)";
    let error = run(&kernel(PARAMS, lines), &[numbers(&[64])]).unwrap_err();
    assert!(
        error.starts_with("error: block 1 waits at a barrier of the grid for block 0, which never comes"),
        "{error}"
    );
    assert!(error.contains("note: block 0 has come to the end of the function"), "{error}");
}

#[test]
fn positions_know_where_they_are_in_slices() {
    let lines = "with Mesh((Topology(\"thread\", 64),), Layout((2, 32), (32, 1)), names=(\"w\", \"l\")) as m:\n    \
                 part = m[1:2, 8:16]\n    own = T.tensor_view(out, m.w * 32 + m.l, layout=Layout((1,), (1,)), shape=(1,))\n    \
                 mine = T.tensor_view(x, m.w * 32 + m.l, layout=Layout((1,), (1,)), shape=(1,))\n    \
                 if m.w == 1 and m.l >= 8 and m.l < 16:\n        T.fill(own, 5.0)\n    else:\n        T.copy(mine, own)";
    let lines = lines.replace("part = m[1:2, 8:16]\n    ", "");
    let found = run(&kernel(PARAMS, &lines), &[numbers(&[64])]).unwrap_or_else(|error| panic!("{error}"));
    let mut wanted = numbers(&[64]).to_f32_vec();
    wanted[40..48].fill(5.0);
    assert_eq!(found[0].to_f32_vec(), wanted);
}

#[test]
fn no_barrier_waits_for_a_copy() {
    let of = |between: &str| {
        let own = "layout=ShardLayout(layout=Layout((32,), (1,)), attrs=(S(0),), mesh=m)";
        let lines = format!(
            "with Mesh((Topology(\"cta\", 1),), Layout((1,), (1,)), names=(\"c\",)) as g:\n    \
             with Mesh((Topology(\"thread\", 32),), Layout((32,), (1,)), names=(\"t\",)) as m:\n        \
             box = T.alloc_tensor(TensorType((32,), \"f32\", None, \"smem\"))\n        \
             mine = T.tensor_view(x, {own})\n        result = T.tensor_view(out, {own})\n        \
             held = T.tensor_view(box, {own})\n        T.copy_async(mine, held)\n        T.cp_async_commit()\n        \
             {between}\n        T.copy(held, result)"
        );
        let params = "x: Tensor[(32,), \"f32\"], out: Tensor[(32,), \"f32\"]";
        Ok::<_, String>(run(&kernel(params, &lines), &[numbers(&[32])])?[0].to_f32_vec())
    };
    for barrier in ["T.sync(g)", "T.sync(m)"] {
        let error = of(barrier).unwrap_err();
        assert!(error.contains("which thread 0 of block 0 still copies asynchronously"), "{barrier}: {error}");
        let waited = format!("T.cp_async_wait(n=0)\n        {barrier}");
        assert_eq!(of(&waited), Ok(numbers(&[32]).to_f32_vec()));
    }
}

/// 32 threads over a box in shared memory, with these statements.
fn over_box(lines: &str) -> Result<Vec<f32>, String> {
    let lines = format!(
        "with Mesh((Topology(\"cta\", 1),), Layout((1,), (1,)), names=(\"c\",)) as g:\n    \
         with Mesh((Topology(\"thread\", 32),), Layout((32,), (1,)), names=(\"t\",)) as m:\n        \
         box = T.alloc_tensor(TensorType((32,), \"f32\", None, \"smem\"))\n        \
         mine = T.tensor_view(x, m.t, layout=Layout((1,), (1,)), shape=(1,))\n        \
         first = T.tensor_view(box, 0, layout=Layout((1,), (1,)), shape=(1,))\n        \
         own = T.tensor_view(box, m.t, layout=Layout((1,), (1,)), shape=(1,))\n        \
         result = T.tensor_view(out, m.t, layout=Layout((1,), (1,)), shape=(1,))\n        {}",
        lines.replace('\n', "\n        ")
    );
    let params = "x: Tensor[(32,), \"f32\"], out: Tensor[(32,), \"f32\"]";
    Ok(run(&kernel(params, &lines), &[numbers(&[32])])?[0].to_f32_vec())
}

#[test]
fn no_barrier_parts_what_one_statement_does() {
    let error = over_box("T.copy(mine, first)").unwrap_err();
    assert!(error.contains("to which thread 0 of block 0 writes another value in the same statement"), "{error}");
    assert!(error.contains("help: give each thread elements of its own"), "{error}");
    assert!(!error.contains("T.sync"), "{error}");
    // In the second round of a loop the other thread wrote in the first one.
    let rounds = "for i in range(2):\n    at = T.tensor_view(box, (m.t + i) % 32, layout=Layout((1,), (1,)), shape=(1,))\n    T.copy(mine, at)";
    let error = over_box(rounds).unwrap_err();
    assert!(error.contains("writes another value with no barrier between"), "{error}");
    assert!(error.contains("help: put a `T.sync`"), "{error}");
}

#[test]
fn a_race_names_those_who_wait_at_a_barrier() {
    let lines = "T.copy(mine, own)\nif m.t < 16:\n    T.sync(m)\n\
                 other = T.tensor_view(box, 31 - m.t, layout=Layout((1,), (1,)), shape=(1,))\nT.copy(other, result)";
    let error = over_box(lines).unwrap_err();
    assert!(error.contains("with no barrier between"), "{error}");
    let waits = "note: threads 0 to 15 of block 0 wait at `T.sync` for threads 16 to 31 meanwhile";
    assert!(error.contains(waits), "{error}");
}
