"""Programs on which the faults of sharing.rs are wrong."""

from tilefoundry import func, module
from tilefoundry.dsl import Tensor, tf


@module(entry="f")
class CseWithoutAttributes:
    @func
    def f(x: Tensor[(8,), "f32"]):
        return tf.exp(x) + tf.square(x)


@module(entry="f")
class CseOfReductions:
    @func
    def f(x: Tensor[(4, 4), "f32"]):
        return tf.reduce(x, axes=(0,), keepdim=False, kind="sum") - tf.reduce(x, axes=(1,), keepdim=False, kind="sum")


@module(entry="f")
class CseOfZeros:
    @func
    def f(x: Tensor[(8,), "f32"]):
        return tf.max(x, 0.0) / (x * -0.0)


@module(entry="f")
class CseOfFields:
    @func
    def f(x: Tensor[(8,), "f32"]):
        low, high = tf.split(x, axis=0, num_splits=2)
        return low - high


@module(entry="f")
class CseOfCalls:
    @func
    def g(x: Tensor[(8,), "f32"], y: Tensor[(8,), "f32"]):
        return x * x - y

    @func
    def f(x: Tensor[(8,), "f32"], y: Tensor[(8,), "f32"]):
        return g(x, y) * g(y, x)
