# RUN: %tf-opt %s --pipeline='typeinfer,lower-tir{target=cpu}' | FileCheck %s
# An op without an effect of its own becomes reductions and arithmetic in f32, rounded once at the end.
from tilefoundry import func, module
from tilefoundry.dsl import Tensor, tf

# CHECK-LABEL: tir.func @rows
#       CHECK: T.unary %x, %[[X:[a-z0-9]+]] {kind = "cast"}
#       CHECK: T.reduce %[[X]], %[[MAX:[a-z0-9]+]] {{.*}}kind = "max"
#       CHECK: T.binary %[[X]], %[[MAX]], %[[D:[a-z0-9]+]] {kind = "sub"}
#       CHECK: T.unary %[[D]], %[[E:[a-z0-9]+]] {kind = "exp"}
#       CHECK: T.reduce %[[E]], %[[SUM:[a-z0-9]+]] {{.*}}kind = "sum"
#       CHECK: T.binary %[[E]], %[[SUM]], %[[Q:[a-z0-9]+]] {kind = "div"}
#       CHECK: T.unary %[[Q]], %y {kind = "cast"}
#   CHECK-NOT: T.binary


@module(entry="rows")
class M:
    @func
    def rows(x: Tensor[(4, 16), "bf16"]) -> Tensor[(4, 16), "bf16"]:
        y = tf.softmax(x, axis=-1)
        return y
