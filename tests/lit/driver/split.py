# RUN: %tf-opt %s --split-input-file --verify-diagnostics --pipeline=typeinfer -o %t.ok
# RUN: FileCheck %s --input-file=%t.ok
# CHECK: module @A
# CHECK: // -----
# CHECK: module @C

from tilefoundry import func, module
from tilefoundry.dsl import Tensor, tf


@module(entry="f")
class A:
    @func
    def f(x: Tensor[(4, 6), "f32"]) -> Tensor[(4, 6), "f32"]:
        return tf.square(x)

# -----

from tilefoundry import func, module
from tilefoundry.dsl import Tensor, tf


@module(entry="f")
class B:
    @func
    def f(x: Tensor[(4, 6), "f32"]) -> Tensor[(4, 6), "f32"]:
        # expected-error@+1 {{`tf.reduce` has no axis 2}} expected-help@+1 {{axes go from -2 to 1}}
        return tf.reduce(x, axes=(2,), kind="mean")

# -----

from tilefoundry import func, module
from tilefoundry.dsl import Tensor, tf


@module(entry="f")
class C:
    @func
    def f(x: Tensor[(4, 6), "f32"]) -> Tensor[(4, 6), "f32"]:
        return tf.exp(x)
