# RUN: not %tf-opt %s --pipeline='evaluate{random=1}' 2>&1 | FileCheck %s
# RUN: not %tf-opt %s --pipeline='lower-tir{target=cpu},evaluate{on=cpu-jit random=1}' 2>&1 | FileCheck %s
# An integer division by zero ends the run with a message and exit status 1, on every engine.
from tilefoundry import func
from tilefoundry.dsl import Tensor, tf

# CHECK: error: {{.*}}zero


@func
def f(x: Tensor[(4,), "i32"]) -> Tensor[(4,), "i32"]:
    return x // (x - x)
