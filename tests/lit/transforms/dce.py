# RUN: %tf-opt %s --pipeline='typeinfer,dce' | FileCheck %s
# A value that nothing uses is in no function. What loops carry for nobody goes.
from tilefoundry import func, module
from tilefoundry.dsl import Tensor, tf


@module(entry="carries")
class Dead:
    # `count` feeds itself only; `scale` is not used after the loop, but in it.
    # CHECK-LABEL: hir.func @carries
    #       CHECK:   hir.grid %i = 0 to 4 step 1 iter(%acc{{.*}} = %x, %scale{{.*}} = %y)
    #   CHECK-NOT:   "sub"
    #       CHECK:   hir.return
    @func
    def carries(x: Tensor[(8,), "f32"], y: Tensor[(8,), "f32"]) -> Tensor[(8,), "f32"]:
        acc = x
        scale = y
        count = y
        for i in range(4):
            acc = acc * scale
            scale = scale + x
            count = count - x
        return acc
