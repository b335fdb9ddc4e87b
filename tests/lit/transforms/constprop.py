# RUN: %tf-opt %s --pipeline='typeinfer,constprop' | FileCheck %s
# RUN: %tf-opt %s --pipeline='typeinfer,constprop,constprop' --remarks=applied 2>&1 >/dev/null | FileCheck %s --check-prefix=TOLD
# Values that are the same in every run become literals, and loops that run once or never are gone.
from tilefoundry import DimVar, func, module
from tilefoundry.dsl import Tensor, tf

S = DimVar("S", 1, 65)


@module(entry="folded")
class Values:
    # Arithmetic on literals is done by the evaluator's rules, in the dtype of the operands.
    # CHECK-LABEL: hir.func @folded
    #  CHECK-NEXT:   %[[C:.*]] = constant 7.5 : f32
    #  CHECK-NEXT:   %[[Y:.*]] = tf.binary %x, %[[C]] {kind = "mul"}
    #  CHECK-NEXT:   hir.return %[[Y]]
    # TOLD: a result of `tf.binary` is 7.5
    # TOLD: constprop.py:[[#@LINE+4]]:21
    # TOLD: in function `folded`
    @func
    def folded(x: Tensor[(4, 8), "f32"]) -> Tensor[(4, 8), "f32"]:
        return x * (tf.square(3.0) - 1.5)

    # Ranks and static extents are known, symbolic extents are not.
    # CHECK-LABEL: hir.func @extents
    #  CHECK-NEXT:   %[[R:.*]] = constant 2 : 
    #  CHECK-NEXT:   %[[SHAPE:.*]] = tf.shape_of %x
    #  CHECK-NEXT:   %{{.*}} = tuple %[[R]], %[[SHAPE]]
    @func
    def extents(x: Tensor[(S, 8), "f32"]) -> tuple[Tensor[(), "i64"], Tensor[(2,), "i64"]]:
        return tf.rank(x), tf.shape_of(x)

    # CHECK-LABEL: hir.func @once
    #   CHECK-NOT:   hir.grid
    #       CHECK:   tf.slice %x, %{{.*}}, %{{.*}}
    #       CHECK:   tf.slice %x, %{{.*}}, %{{.*}}
    #  CHECK-NEXT:   tf.binary
    #  CHECK-NEXT:   hir.return
    # TOLD: the loop runs once
    # TOLD: the loop never runs
    @func
    def once(x: Tensor[(4, 8), "f32"]) -> Tensor[(1, 8), "f32"]:
        acc = x[0:1, 0:8]
        for i in range(0, 3, 4):
            acc = acc + x[i:i+1, 0:8]
        for i in range(2, 2, 1):
            acc = acc * x[i:i+1, 0:8]
        return acc

    # A carry that is the same in every round is no carry: `scale` stays 0.5, whatever the loop does.
    # CHECK-LABEL: hir.func @settles
    #       CHECK:   %[[H:.*]] = constant 0.5 : f32
    #       CHECK:   hir.grid %{{.*}} = 0 to 4 step 1 iter(%acc{{.*}} = %x) : tensor<8xf32> {
    #  CHECK-NEXT:     tf.binary %acc{{.*}}, %[[H]] {kind = "mul"}
    @func
    def settles(x: Tensor[(8,), "f32"]) -> Tensor[(8,), "f32"]:
        acc = x
        scale = tf.square(1.0) * 0.5
        for i in range(4):
            acc = acc * scale
            scale = scale * 2.0 - 0.5
        return acc

    # What would fail is left to the run, which may never get there.
    # CHECK-LABEL: hir.func @fails
    #       CHECK:   %[[ZERO:.*]] = constant 0
    #       CHECK:   dim.floor_div %{{.*}}, %[[ZERO]]
    @func
    def fails(x: Tensor[(8,), "i64"]) -> Tensor[(8,), "i64"]:
        zero = tf.rank(x) - 1
        return x + 7 // zero
