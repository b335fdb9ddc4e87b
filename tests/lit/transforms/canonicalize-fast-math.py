# RUN: %tf-opt %s --pipeline='typeinfer,canonicalize{fast-math}' --remarks=applied --check-each 2>&1 >/dev/null | FileCheck %s
# RUN: %tf-opt %s --pipeline='typeinfer,canonicalize' --remarks=applied 2>&1 >/dev/null | FileCheck %s --check-prefix=EXACT --allow-empty
# Every pattern that computes with floats as if they were real numbers, each on an operand of its own; without the option none is used.
# EXACT-NOT: applied: {{add-zero|times-zero|sub-self|join-float-literals|square-of-sign|reduce-ones-of-floats}}:
from tilefoundry import func, module
from tilefoundry.dsl import Tensor, tf


@module(entry="all")
class FastMath:
    @func
    def all(f: Tensor[(8,), "f32"], one: Tensor[(1, 8), "f32"]):
        return (
            f + 0.0,  # CHECK-DAG: applied: add-zero:
            f * 0.0,  # CHECK-DAG: applied: times-zero:
            f - f,  # CHECK-DAG: applied: sub-self:
            (f + 1.5) + 2.5,  # CHECK-DAG: applied: join-float-literals:
            tf.square(-f),  # CHECK-DAG: applied: square-of-sign:
            tf.reduce(one, axes=(0,), kind="sum"),  # CHECK-DAG: applied: reduce-ones-of-floats:
            tf.reduce(one, axes=(0,), kind="mean"),
        )
