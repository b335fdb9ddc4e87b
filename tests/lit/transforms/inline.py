# RUN: %tf-opt %s --pipeline='typeinfer,inline,symbol-dce' | FileCheck %s
# RUN: %tf-opt %s --pipeline='typeinfer,inline{most=1}' | FileCheck %s --check-prefix=SMALL
# Bodies stand in the place of calls, callees first; what is not called any more goes.
from tilefoundry import func, module
from tilefoundry.dsl import Tensor, tf


@module(entry="outer")
class Calls:
    # CHECK-NOT: @double
    @func
    def double(x: Tensor[(8,), "f32"]) -> Tensor[(8,), "f32"]:
        return x + x

    # Each copy of a loop has variables of its own.
    # CHECK-NOT: @looped
    @func
    def looped(x: Tensor[(8,), "f32"]) -> Tensor[(8,), "f32"]:
        acc = x
        for i in range(3):
            acc = acc * double(x)
        return acc

    # CHECK-LABEL: hir.func @outer
    #   CHECK-NOT:   call
    #       CHECK:   hir.grid
    #       CHECK:   hir.grid
    #       CHECK:   hir.return
    # SMALL-LABEL: hir.func @outer
    #       SMALL:   call @looped
    @func
    def outer(x: Tensor[(8,), "f32"], y: Tensor[(8,), "f32"]) -> Tensor[(8,), "f32"]:
        return looped(x) + looped(y)
