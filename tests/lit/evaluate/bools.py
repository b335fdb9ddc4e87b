# RUN: %tf-opt %s --pipeline='evaluate{random=7 outputs=%t.safetensors}' | FileCheck %s
# RUN: %tf-opt %s --pipeline='evaluate{on=cpu-jit random=7 outputs=%t.jit.safetensors}'
# RUN: cmp %t.safetensors %t.jit.safetensors
# Truth values in buffers are the same to the evaluator and in the code that is made: what is smaller than one of two others, not than both.
from tilefoundry import TensorType, module, prim_func
from tilefoundry.dsl import T, Tensor
from tilefoundry.target import CpuTarget

# CHECK: out0 {{ *}}bool {{ *}}(64,) {{ *}}0 {{ *}}1


@module(entry="between", target=CpuTarget())
class Bools:
    @prim_func(target=CpuTarget())
    def between(
        a: Tensor[(64,), "f32", "host"],
        b: Tensor[(64,), "f32", "host"],
        c: Tensor[(64,), "f32", "host"],
        out: Tensor[(64,), "bool", "host"],
    ):
        first = T.alloc_tensor(TensorType((64,), "bool", None, "host"))
        second = T.alloc_tensor(TensorType((64,), "bool", None, "host"))
        either = T.alloc_tensor(TensorType((64,), "bool", None, "host"))
        T.binary(a, b, first, kind="lt")
        T.binary(a, c, second, kind="lt")
        T.binary(first, second, either, kind="or")
        T.binary(first, second, second, kind="and")
        T.binary(either, second, out, kind="ne")
