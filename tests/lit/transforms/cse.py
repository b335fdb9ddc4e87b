# RUN: %tf-opt %s --pipeline='typeinfer,cse' | FileCheck %s
# Equal values are computed once: the same op, attributes and operands. The first one keeps its name.
from tilefoundry import func, module
from tilefoundry.dsl import Tensor, tf


@module(entry="twice")
class Shared:
    # CHECK-LABEL: hir.func @twice
    #  CHECK-NEXT:   %a = tf.unary %x {kind = "exp"}
    #  CHECK-NEXT:   %[[Y:.*]] = tf.binary %a, %a {kind = "add"}
    #  CHECK-NEXT:   hir.return %[[Y]]
    @func
    def twice(x: Tensor[(8,), "f32"]) -> Tensor[(8,), "f32"]:
        a = tf.exp(x)
        b = tf.exp(x)
        return a + b

    # Another attribute is another value.
    # CHECK-LABEL: hir.func @attributes
    #       CHECK:   kind = "sum"
    #       CHECK:   kind = "max"
    @func
    def attributes(x: Tensor[(8, 4), "f32"]) -> Tensor[(8, 1), "f32"]:
        return tf.reduce(x, axes=(1,), kind="sum") + tf.reduce(x, axes=(1,), kind="max")

    # `0.0` and `-0.0` are not equal, though a comparison says so.
    # CHECK-LABEL: hir.func @zeros
    #   CHECK-DAG:   constant 0.0 : f32
    #   CHECK-DAG:   constant -0.0 : f32
    @func
    def zeros(x: Tensor[(8,), "f32"]) -> Tensor[(8,), "f32"]:
        return (x + 0.0) * (x + -0.0)

    # What a loop does not change is computed before it, as what stands there already.
    # CHECK-LABEL: hir.func @loops
    #       CHECK:   tf.unary %x {kind = "exp"}
    #   CHECK-NOT:   tf.unary
    #       CHECK:   hir.return
    @func
    def loops(x: Tensor[(8,), "f32"]) -> Tensor[(8,), "f32"]:
        acc = tf.exp(x)
        for i in range(4):
            acc = acc * tf.exp(x)
        return acc
