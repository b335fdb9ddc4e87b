"""Programs on which the faults of order.rs are wrong."""

from tilefoundry import func, module
from tilefoundry.dsl import Tensor, tf


@module(entry="f")
class LastOfTies:
    @func
    def f(x: Tensor[(8,), "f32"]):
        return tf.argmax(x, axis=0)


@module(entry="f")
class ArgmaxSkipsNan:
    @func
    def f(x: Tensor[(8,), "f32"]):
        return tf.argmax(x, axis=0)


@module(entry="f")
class TopkTies:
    @func
    def f(x: Tensor[(8,), "f32"]):
        values, places = tf.topk(x, k=3)
        return values, places


@module(entry="f")
class LeastForGreatest:
    @func
    def f(x: Tensor[(8,), "f32"]):
        values, places = tf.topk(x, k=3)
        return values
