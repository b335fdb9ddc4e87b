# RUN: %tf-opt %s --pipeline='typeinfer,canonicalize,dce' | FileCheck %s
# RUN: %tf-opt %s --pipeline='typeinfer,canonicalize{fast-math}' | FileCheck %s --check-prefix=FAST
# RUN: %tf-opt %s --pipeline='typeinfer,canonicalize' --remarks=applied 2>&1 >/dev/null | FileCheck %s --check-prefix=TOLD
# Ops on literals are folded, and what is the same in a simpler form takes it. No bit of a value changes, unless one asks for that.
from tilefoundry import func, module
from tilefoundry.dsl import Tensor, tf


@module(entry="floats")
class Patterns:
    # `x * 1.0` is `x` for every `x`; `x + 0.0` is not where `x` is `-0.0`.
    # CHECK-LABEL: hir.func @floats
    #       CHECK:   %[[Y:.*]] = tf.binary %x, %{{.*}} {kind = "add"}
    #  CHECK-NEXT:   hir.return %[[Y]]
    #  FAST-LABEL: hir.func @floats
    #   FAST-NEXT:   hir.return %x
    # TOLD: remark: applied: times-one: a result of `tf.binary` is
    # TOLD: canonicalize.py:[[#@LINE+4]]:16
    # TOLD: in function `floats`
    @func
    def floats(x: Tensor[(8,), "f32"]) -> Tensor[(8,), "f32"]:
        return (x + 0.0) * 1.0

    # Integers are another matter. Literals go to the right, where they meet.
    # CHECK-LABEL: hir.func @integers
    #  CHECK-NEXT:   %[[C:.*]] = constant 5 : i64
    #  CHECK-NEXT:   %[[Y:.*]] = tf.binary %x, %[[C]] {kind = "add"}
    #  CHECK-NEXT:   hir.return %[[Y]]
    @func
    def integers(x: Tensor[(8,), "i64"]) -> Tensor[(8,), "i64"]:
        return (2 + (3 + x)) * 1 - 0

    # CHECK-LABEL: hir.func @movement
    #  CHECK-NEXT:   %[[Y:.*]] = tf.transpose %x {perm = [2, 0, 1]}
    #  CHECK-NEXT:   hir.return %[[Y]]
    @func
    def movement(x: Tensor[(2, 3, 4), "f32"]) -> Tensor[(4, 2, 3), "f32"]:
        y = tf.transpose(tf.transpose(x, perm=(1, 2, 0)), perm=(1, 2, 0))
        return tf.reshape(tf.reshape(y, new_shape=(24,)), new_shape=(4, 2, 3))

    # A window of a window is one; what was just written is known.
    # CHECK-LABEL: hir.func @windows
    #       CHECK:   %[[Y:.*]] = tf.slice %x, %{{.*}} {sizes = [2], strides = [6]}
    #  CHECK-NEXT:   hir.return %[[Y]]
    @func
    def windows(x: Tensor[(32,), "f32"]) -> Tensor[(2,), "f32"]:
        part = tf.slice(tf.slice(x, (4,), sizes=(8,), strides=(3,)), (1,), sizes=(2,), strides=(2,))
        return tf.slice(tf.insert_slice(x, part, (5,)), (5,), sizes=(2,), strides=(1,))

    # f16 to f32 loses nothing, f32 to f16 does.
    # CHECK-LABEL: hir.func @casts
    #  CHECK-NEXT:   %[[A:.*]] = tf.cast %x {dtype = bf16}
    #  CHECK-NEXT:   %[[B:.*]] = tf.cast %y {dtype = f16}
    #  CHECK-NEXT:   %[[C:.*]] = tf.cast %[[B]] {dtype = bf16}
    #  CHECK-NEXT:   %{{.*}} = tuple %[[A]], %[[C]]
    @func
    def casts(x: Tensor[(8,), "f16"], y: Tensor[(8,), "f32"]) -> tuple[Tensor[(8,), "bf16"], Tensor[(8,), "bf16"]]:
        return tf.cast(tf.cast(x, dtype="f32"), dtype="bf16"), tf.cast(tf.cast(y, dtype="f16"), dtype="bf16")

    # The parts of a split, joined again; a condition that is negated; a sum over an axis of one integer.
    # CHECK-LABEL: hir.func @others
    #  CHECK-NEXT:   %[[Y:.*]] = tf.where %c, %x, %y
    #  CHECK-NEXT:   hir.return %[[Y]]
    @func
    def others(
        c: Tensor[(1, 8), "bool"], x: Tensor[(1, 8), "i64"], y: Tensor[(1, 8), "i64"]
    ) -> Tensor[(1, 8), "i64"]:
        return tf.reduce(tf.where(tf.logical_not(tf.logical_not(c)), x, y), axes=(0,), kind="sum")

    # A carry that a loop hands on is its initial value.
    # CHECK-LABEL: hir.func @carries
    #       CHECK:   hir.grid %{{.*}} = 0 to 4 step 1 iter(%acc{{.*}} = %x) : tensor<8xf32> {
    #  CHECK-NEXT:     tf.binary %acc{{.*}}, %y {kind = "mul"}
    @func
    def carries(x: Tensor[(8,), "f32"], y: Tensor[(8,), "f32"]) -> Tensor[(8,), "f32"]:
        acc = x
        same = y
        for i in range(4):
            acc = acc * same
            same = same * 1.0
        return acc
