# RUN: %tf-opt %s --module=Split --pipeline=typeinfer,verify | FileCheck %s
# RUN: %tf-opt %s --module=Split --pipeline=emit-dsl -o %t.py && %tf-opt %t.py --pipeline=typeinfer,emit-dsl -o %t.again.py && diff %t.py %t.again.py
# RUN: %tf-opt %s --module=Wide --pipeline=typeinfer,verify | FileCheck %s --check-prefix=WIDE
# RUN: %tf-opt %s --module=Experts --pipeline='evaluate{random=2}'
# RUN: %tf-opt %s --module=Experts --pipeline='evaluate{random=2 mesh=assembled}' | FileCheck %s --check-prefix=PARTS
# RUN: %tf-opt %s --module=Prefill --pipeline='evaluate{entry=attend random=2 dims=seq:5}'
#!/usr/bin/env python3
"""Placed kernels: star imports, placements by position, slices of meshes, windows that start at a coordinate, implementations
for ranges of a dim, and modules that a loop over sizes makes."""

from __future__ import annotations

import math

from tilefoundry.dsl import *  # noqa: F403
from tilefoundry.target import CudaTarget

HEADS, WORKERS, HEAD = 4, 2, 8
BLOCK = 16
CTX = DimVar("ctx", 1, 65_536)
SEQ = DimVar("seq", 1, 129)
SCALE = 1.0 / math.sqrt(HEAD)
_H200 = CudaTarget("nvidia.h200_sxm")


def _workers(batch: int, heads: int, kv: int) -> int:
    return max(1, min(8 // (batch * heads), kv))


def _built(batch: int, heads: int, dtype: str):
    """One workload's module."""
    pages = -(-64 // 16)
    workers = _workers(batch, heads, pages)
    masked = -1.0e30

    @module(entry="gather", target=_H200, topologies=(Topology("cta", batch * heads * workers),))
    class Gather:
        @func
        def gather(
            rows: Tensor[(64, heads, HEAD), dtype],
            table: Tensor[(batch, pages), "i32"],
            lengths: Tensor[(batch,), "i32"],
        ) -> Tensor[(batch, 64, heads, HEAD), dtype]:
            with Mesh(("cta",), layout=(batch, heads, workers), names=("seq", "head", "part")) as cta:
                paged = tf.reshape(rows, new_shape=(pages, 16, heads, HEAD))
                pages_of = tf.reshape(table, new_shape=(batch * pages,))
                logical = tf.reshape(tf.index_select(paged, pages_of, dim=0), new_shape=(batch, 64, heads, HEAD))
                held = tf.reshard(logical, (batch @ cta.seq, 64 @ cta.part, heads @ cta.head, HEAD), "rmem")
                position = tf.reshard(
                    tf.reshape(tf.arange(type=Tensor[(64,), "i32"]), new_shape=(1, 64, 1, 1)),
                    (1, 64 @ cta.part, 1, 1),
                    "rmem",
                )
                length = tf.reshard(tf.reshape(lengths, new_shape=(batch, 1, 1, 1)), (batch @ cta.seq, 1, 1, 1), "rmem")
                live = tf.where(tf.cmp_lt(position, length), held, tf.full_like(held, value=masked))
                return tf.reshard(live, (batch @ cta.seq, 64 @ cta.part, heads @ cta.head, HEAD), "gmem")

    return Gather


Narrow = _built(1, 4, "f32")
Wide = _built(2, 2, "f16")
PAIR = (Narrow, Wide)


@module(entry="attend", target=_H200, topologies=(Topology("cta", HEADS * WORKERS),))
class Split:
    """Workers walk disjoint blocks of the context."""

    @func
    def attend(
        q: Tensor[(1, 1, HEADS, HEAD), "bf16"],
        k_cache: Tensor[(1, CTX, HEADS, HEAD), "bf16"],
        v_cache: Tensor[(1, CTX, HEADS, HEAD), "bf16"],
    ) -> Tensor[(1, 1, HEADS, HEAD), "bf16"]:
        with Mesh(("cta",), layout=(HEADS, WORKERS), names=("head", "w")) as cta:
            qh = tf.reshard(q, (1, 1, HEADS @ cta.head, HEAD), "smem")
            queries = tf.transpose(tf.cast(qh, dtype="f32"), perm=(0, 2, 1, 3))
            scaled = queries * tf.full_like(queries, value=SCALE)
            slots = tf.zeros(Tensor[(WORKERS @ cta.w, HEADS @ cta.head, 1, 1), "f32", "smem"])
            m = tf.full_like(slots, value=-1e30)
            l = tf.full_like(slots, value=0.0)
            acc = tf.zeros(
                Tensor[
                    (WORKERS @ cta.w, HEADS @ cta.head, 1, HEAD),
                    "f32",
                    "smem",
                ]
            )
            for c in tf.tile(CTX, BLOCK * WORKERS):
                base = c + cta.w * BLOCK
                kb = tf.reshard(k_cache[:, base : base + BLOCK, :, :], (1, BLOCK, HEADS @ cta.head, HEAD), "smem")
                vb = tf.reshard(v_cache[:, base : base + BLOCK, :, :], (1, BLOCK, HEADS @ cta.head, HEAD), "smem")
                scores = tf.matmul(scaled, tf.transpose(tf.cast(kb, dtype="f32"), perm=(0, 2, 3, 1)))
                next_m = tf.max(m, tf.reduce(scores, axes=(-1,), keepdim=True, kind="max"))
                correction = tf.exp(m - next_m)
                weights = tf.exp(scores - next_m)
                l = l * correction + tf.reduce(weights, axes=(-1,), keepdim=True, kind="sum")
                acc = acc * correction + tf.matmul(weights, tf.transpose(tf.cast(vb, dtype="f32"), perm=(0, 2, 1, 3)))
                m = next_m
            all_m = tf.reshard(m, (WORKERS, HEADS @ cta.head, 1, 1), "smem")
            all_l = tf.reshard(l, (WORKERS, HEADS @ cta.head, 1, 1), "smem")
            all_acc = tf.reshard(acc, (WORKERS, HEADS @ cta.head, 1, HEAD), "smem")
            share = tf.exp(all_m - tf.reduce(all_m, axes=(0,), keepdim=False, kind="max"))
            total = tf.reduce(share * all_l, axes=(0,), keepdim=False, kind="sum")
            output = tf.reduce(share * all_acc, axes=(0,), keepdim=False, kind="sum") / total
            output = tf.reshape(tf.cast(output, dtype="bf16"), new_shape=(1, 1, HEADS, HEAD))
            return tf.reshard(output, (1, 1, HEADS @ cta.head, HEAD), "gmem")


@module(entry="experts", target=_H200, topologies=(Topology("cta", 12),))
class Experts:
    """Two functions on two parts of one level."""

    @func
    def routed(tokens: Tensor[(8, 4), "f32"]):
        with Mesh(("cta",), layout=(12,), names=("tile",)) as cta:
            with cta[:8] as part:
                local = tf.reshard(tokens, (8 @ part.tile, 4), "gmem")
                placed = tf.relu(local)
            return tf.reshard(placed, ((8, 4), {}), "gmem")
        raise RuntimeError("unreachable")

    @func
    def shared(tokens: Tensor[(8, 4), "f32"]):
        with Mesh(("cta",), layout=(12,), names=("tile",)) as cta:
            with cta[8:] as part:
                local = tf.reshard(tokens, (8 @ part.tile, 4), "gmem")
                placed = tf.square(local)
            return tf.reshard(placed, ((8, 4), {}), "gmem")

    @func
    def experts(tokens: Tensor[(8, 4), "f32"]):
        with Mesh(("cta",), layout=(12,), names=("tile",)) as _whole:
            return tf.add(routed(tokens), shared(tokens))  # noqa: F821


@module(entry="attend", target=_H200, topologies=(Topology("cta", HEADS),))
class Prefill:
    @func
    def attend(q: Tensor[(SEQ, HEADS), "f32"], k: Tensor[(SEQ, HEADS), "f32"]) -> Tensor[(SEQ, HEADS), "f32"]:
        pass

    @attend.specialize(DimVarRangePat("seq", 1, 2))
    def one(q: Tensor[(SEQ, HEADS), "f32"], k: Tensor[(SEQ, HEADS), "f32"]) -> Tensor[(SEQ, HEADS), "f32"]:
        return q * k

    @attend.specialize(DimVarRangePat("seq", 2, 129))
    def many(q: Tensor[(SEQ, HEADS), "f32"], k: Tensor[(SEQ, HEADS), "f32"]) -> Tensor[(SEQ, HEADS), "f32"]:
        padded = tf.insert_slice(tf.zeros(Tensor[(ceildiv(SEQ, BLOCK) * BLOCK, HEADS), "f32"]), q, (0, 0))
        length = tf.shape_of(k)[0]
        keep = tf.reshape(tf.arange(Tensor[(SEQ,), "i64", "gmem"]), new_shape=(SEQ, 1)) <= length - 1
        out = tf.zeros(Tensor[(ceildiv(SEQ, BLOCK) * BLOCK, HEADS), "f32"])
        for start in range(0, ceildiv(SEQ, BLOCK) * BLOCK, BLOCK):
            block = tf.slice(padded, (start, 0), sizes=(BLOCK, HEADS), strides=(1, 1))
            out = tf.insert_slice(out, block * 2.0, (start, 0))
        whole = tf.slice(out, (0, 0), sizes=(SEQ, HEADS), strides=(1, 1))
        return tf.where(keep, whole, tf.full_like(whole, value=-1e30))


attend = Split.entry_function()

__all__ = ["Split", "attend", "BLOCK"]

# CHECK: module @Split target("nvidia.h200_sxm") topology(cta = 8) entry(@attend)
# CHECK: hir.func @attend
# CHECK: tf.local
# WIDE: module @Gather target("nvidia.h200_sxm") topology(cta = 8) entry(@gather)
# WIDE: xf16
# The parts have no position in common, and their results are whole.
# PARTS: out0 f32 (8, 4)
