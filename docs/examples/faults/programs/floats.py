"""Programs on which the faults of floats.rs are wrong."""

from tilefoundry import func, module
from tilefoundry.dsl import Tensor, tf


@module(entry="f")
class LessOrEqual:
    @func
    def f(x: Tensor[(8,), "f32"], y: Tensor[(8,), "f32"]):
        return x < y


@module(entry="f")
class FlippedComparison:
    @func
    def f(x: Tensor[(8,), "f32"], y: Tensor[(8,), "f32"]):
        return tf.logical_not(x < y)


@module(entry="f")
class AddZero:
    @func
    def f(x: Tensor[(8,), "f32"]):
        return x + 0.0


@module(entry="f")
class TimesZero:
    @func
    def f(x: Tensor[(8,), "f32"]):
        return x * 0.0


@module(entry="f")
class SubSelf:
    @func
    def f(x: Tensor[(8,), "f32"]):
        return x - x


@module(entry="f")
class DivSelf:
    @func
    def f(x: Tensor[(8,), "f32"]):
        return x / x


@module(entry="f")
class ReassociatedSum:
    @func
    def f(x: Tensor[(8,), "f32"], y: Tensor[(8,), "f32"], z: Tensor[(8,), "f32"]):
        return x + y + z


@module(entry="f")
class LogOfExp:
    @func
    def f(x: Tensor[(8,), "f32"]):
        return tf.log(tf.exp(x))


@module(entry="f")
class SoftmaxWithoutMax:
    @func
    def f(x: Tensor[(4, 6), "f32"]):
        return tf.softmax(x, axis=-1)


@module(entry="f")
class NanIdentity:
    @func
    def f(x: Tensor[(8,), "f32"]):
        return tf.max(x, float("nan"))


@module(entry="f")
class CrossedBounds:
    @func
    def f(x: Tensor[(8,), "f32"]):
        return tf.max(tf.min(x, -0.5), 0.5)


@module(entry="f")
class ScaleThroughRelu:
    @func
    def f(x: Tensor[(8,), "f32"]):
        return tf.relu(x) * -2.0


@module(entry="f")
class CeilThroughIntegers:
    @func
    def f(x: Tensor[(8,), "f32"]):
        return tf.ceil(x)


@module(entry="f")
class FoldedRound:
    @func
    def f(x: Tensor[(8,), "f32"]):
        return x * tf.round(2.5)
