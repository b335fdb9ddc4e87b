"""Programs on which the faults of operands.rs are wrong."""

from tilefoundry import func, module
from tilefoundry.dsl import Tensor, tf


@module(entry="f")
class SwappedOperands:
    @func
    def f(x: Tensor[(8,), "f32"], y: Tensor[(8,), "f32"]):
        return x - y


@module(entry="f")
class SwappedDivision:
    @func
    def f(x: Tensor[(8,), "f32"], y: Tensor[(8,), "f32"]):
        return x / y


@module(entry="f")
class SwappedSelection:
    @func
    def f(x: Tensor[(8,), "f32"], y: Tensor[(8,), "f32"]):
        return tf.where(x < y, x, y * y)


@module(entry="f")
class SwappedMatmul:
    @func
    def f(x: Tensor[(4, 4), "f32"], y: Tensor[(4, 4), "f32"]):
        return x @ y


@module(entry="f")
class MaxForMin:
    @func
    def f(x: Tensor[(8,), "f32"], y: Tensor[(8,), "f32"]):
        return tf.min(x, y)


@module(entry="f")
class WrongBroadcast:
    @func
    def f(x: Tensor[(4, 4), "f32"], bias: Tensor[(4,), "f32"]):
        return x + bias
