"""Programs on which the faults of windows.rs are wrong."""

from tilefoundry import func, module
from tilefoundry.dsl import Tensor, tf


@module(entry="f")
class WindowOffByOne:
    @func
    def f(x: Tensor[(8,), "f32"]):
        return x[2:6]


@module(entry="f")
class DroppedStride:
    @func
    def f(x: Tensor[(8,), "f32"]):
        return x[0:8:2]


@module(entry="f")
class DroppedUpdate:
    @func
    def f(x: Tensor[(8,), "f32"], y: Tensor[(4,), "f32"]):
        return tf.insert_slice(x, y, (2,))


@module(entry="f")
class ReorderedUpdates:
    @func
    def f(x: Tensor[(8,), "f32"], y: Tensor[(4,), "f32"], z: Tensor[(4,), "f32"]):
        return tf.insert_slice(tf.insert_slice(x, y, (0,)), z, (2,))


@module(entry="f")
class ForwardedWrite:
    @func
    def f(x: Tensor[(8,), "f32"], y: Tensor[(4,), "f32"]):
        return tf.insert_slice(x, y, (0,))[2:6]


@module(entry="f")
class OverwritingAdd:
    @func
    def f(x: Tensor[(8,), "f32"], y: Tensor[(4,), "f32"]):
        index = tf.arange(type=Tensor[(4,), "i64"]) // 2
        return tf.index_add(x, index, y, dim=0)
