# RUN: %tf-opt %s --pipeline='typeinfer,canonicalize' --remarks=applied 2>&1 >/dev/null | FileCheck %s
# RUN: %tf-opt %s --pipeline='typeinfer,evaluate{random=7 outputs=%t.a.safetensors}'
# RUN: %tf-opt %s --pipeline='typeinfer,canonicalize,evaluate{random=7 outputs=%t.b.safetensors}'
# RUN: cmp %t.a.safetensors %t.b.safetensors
# Every pattern of the catalogue that needs no option, each on an operand of its own, and the same bits as without it.
from tilefoundry import func, module
from tilefoundry.dsl import Tensor, tf


@module(entry="all")
class Catalogue:
    @func
    def all(
        f: Tensor[(8,), "f32"],
        h: Tensor[(8,), "f16"],
        i: Tensor[(8,), "i64"],
        b: Tensor[(8,), "bool"],
        m: Tensor[(2, 3, 4), "f32"],
        one: Tensor[(1, 8), "i64"],
    ):
        j = i + i
        k = f * f
        twice = tf.split(f, axis=0, num_splits=2)
        left, right = twice
        only = tf.split(k, axis=0, num_splits=1)
        (whole,) = only
        acc = f
        same = k
        for step in range(3):
            acc = acc + same
            same = same
        return (
            2.0 * f,  # CHECK-DAG: applied: literal-right:
            2.0 < f,  # CHECK-DAG: applied: literal-right-of-comparison:
            f + -0.0,  # CHECK-DAG: applied: add-negative-zero:
            f - 0.0,  # CHECK-DAG: applied: sub-zero:
            k * 1.0,  # CHECK-DAG: applied: times-one:
            tf.max(f, f),  # CHECK-DAG: applied: extreme-of-same:
            -(-f),  # CHECK-DAG: applied: double-negation:
            i + -j,  # CHECK-DAG: applied: add-negation:
            tf.abs(-f),  # CHECK-DAG: applied: abs-of-negation:
            tf.abs(tf.abs(f)),  # CHECK-DAG: applied: repeated-unary:
            tf.round(tf.ceil(f)),  # CHECK-DAG: applied: round-of-whole:
            tf.ceil(i),  # CHECK-DAG: applied: round-of-integer:
            tf.relu(tf.relu(f)),  # CHECK-DAG: applied: repeated-relu:
            tf.clamp(tf.clamp(f, min_val=-1.0, max_val=1.0), min_val=-1.0, max_val=1.0),  # CHECK-DAG: applied: repeated-clamp:
            i + 0,  # CHECK-DAG: applied: add-integer-zero:
            i // 1,  # CHECK-DAG: applied: times-integer-one:
            i * 0,  # CHECK-DAG: applied: times-integer-zero:
            i % 1,  # CHECK-DAG: applied: mod-one:
            i - i,  # CHECK-DAG: applied: sub-integer-self:
            0 - i,  # CHECK-DAG: applied: zero-minus:
            (i + 2) + 3,  # CHECK-DAG: applied: join-literals:
            j - 4,  # CHECK-DAG: applied: sub-literal:
            tf.square(-i),  # CHECK-DAG: applied: square-of-integer-sign:
            tf.logical_not(tf.logical_not(b)),  # CHECK-DAG: applied: double-not:
            tf.logical_not(i < j),  # CHECK-DAG: applied: not-of-comparison:
            tf.logical_and(b, b),  # CHECK-DAG: applied: logic-of-same:
            tf.logical_and(b, True),  # CHECK-DAG: applied: and-true:
            tf.logical_or(b, False),  # CHECK-DAG: applied: or-false:
            tf.logical_and(b, False),  # CHECK-DAG: applied: and-false:
            i < i,  # CHECK-DAG: applied: compare-with-self:
            tf.where(True, f, k),  # CHECK-DAG: applied: where-true:
            tf.where(False, f, k),  # CHECK-DAG: applied: where-false:
            tf.where(b, k, k),  # CHECK-DAG: applied: where-same:
            tf.where(tf.logical_not(b), f, k),  # CHECK-DAG: applied: where-not:
            tf.cast(f, dtype="f32"),  # CHECK-DAG: applied: cast-to-same:
            tf.cast(tf.cast(h, dtype="f32"), dtype="bf16"),  # CHECK-DAG: applied: cast-of-lossless:
            tf.full_like(tf.full_like(f, value=2.0), value=3.0),  # CHECK-DAG: applied: fill-of-fill:
            tf.reshape(f, new_shape=(8,)),  # CHECK-DAG: applied: reshape-to-same:
            tf.reshape(tf.reshape(m, new_shape=(24,)), new_shape=(4, 6)),  # CHECK-DAG: applied: reshape-of-reshape:
            tf.transpose(m, perm=(0, -2, 2)),  # CHECK-DAG: applied: transpose-in-place:
            tf.transpose(tf.transpose(m, perm=(1, 0, 2)), perm=(2, 0, 1)),  # CHECK-DAG: applied: transpose-of-transpose:
            tf.repeat_interleave(f, repeats=1, axis=0),  # CHECK-DAG: applied: repeat-once:
            tf.reshard(f, storage="gmem"),  # CHECK-DAG: applied: reshard-in-place:
            whole,  # CHECK-DAG: applied: field-of-one-part:
            tf.concat(tf.concat(f, k, axis=0), k, axis=0),  # CHECK-DAG: applied: concat-of-concat:
            tf.reduce(one, axes=(0,), kind="sum"),  # CHECK-DAG: applied: reduce-ones:
            tf.argmax(one, axis=0),  # CHECK-DAG: applied: argmax-of-one:
            tf.slice(f, (0,), sizes=(8,), strides=(1,)),  # CHECK-DAG: applied: slice-of-all:
            tf.slice(tf.slice(f, (1,), sizes=(6,), strides=(1,)), (2,), sizes=(2,), strides=(3,)),  # CHECK-DAG: applied: slice-of-slice:
            tf.insert_slice(f, k, (0,)),  # CHECK-DAG: applied: insert-over-all:
            tf.insert_slice(f, tf.slice(f, (2,), sizes=(4,), strides=(1,)), (2,)),  # CHECK-DAG: applied: insert-own-window:
            tf.slice(tf.insert_slice(f, left, (2,)), (2,), sizes=(4,), strides=(1,)),  # CHECK-DAG: applied: slice-of-insert:
            acc,  # CHECK-DAG: applied: invariant-carry:
        )
