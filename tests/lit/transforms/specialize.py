# RUN: %tf-opt %s --pipeline='typeinfer,specialize{dims=S:8},symbol-dce' | FileCheck %s
# RUN: not %tf-opt %s --pipeline='typeinfer,specialize{dims=T:8}' 2>&1 | FileCheck %s --check-prefix=UNKNOWN
# RUN: not %tf-opt %s --pipeline='typeinfer,specialize{dims=S:80}' 2>&1 | FileCheck %s --check-prefix=RANGE
# RUN: not %tf-opt %s --pipeline='specialize{dims=S}' 2>&1 | FileCheck %s --check-prefix=FORM
# Dim variables get values in all functions; of a prototype the variant for the value stays.
from tilefoundry import DimVar, DimVarRangePat, func, module
from tilefoundry.dsl import Tensor, tf

S = DimVar("S", 1, 65)

# UNKNOWN: error: module `Rows` has no dim `T`
# UNKNOWN: specialize.py:[[#@LINE+8]]
# UNKNOWN: help: it has S
# RANGE: error: `S` cannot be 80; its range is [1, 65)
# FORM: error: option `dims` of `specialize`: expected NAME:VALUE such as S:8, found `S`
# FORM: <pipeline>:1:17


@module(entry="main")
class Rows:
    # CHECK-LABEL: hir.func @scale(%x: tensor<8x4xf32>) -> tensor<8x4xf32>
    #       CHECK:   kind = "mul"
    #   CHECK-NOT:   kind = "add"
    @func
    def scale(x: Tensor[(S, 4), "f32"]) -> Tensor[(S, 4), "f32"]:
        pass

    @scale.specialize(DimVarRangePat("S", 1, 17))
    def few(x: Tensor[(S, 4), "f32"]) -> Tensor[(S, 4), "f32"]:
        return x * x

    @scale.specialize(DimVarRangePat("S", 17, 65))
    def many(x: Tensor[(S, 4), "f32"]) -> Tensor[(S, 4), "f32"]:
        return x + x

    # CHECK-LABEL: hir.func @main(%x: tensor<8x4xf32>)
    #       CHECK:   call @scale
    #       CHECK:   hir.grid %i = 0 to 8
    @func
    def main(x: Tensor[(S, 4), "f32"]) -> Tensor[(S, 4), "f32"]:
        acc = scale(x)
        for i in range(S):
            acc = acc + x
        return acc
