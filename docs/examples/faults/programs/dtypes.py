"""Programs on which the faults of dtypes.rs are wrong."""

from tilefoundry import func, module
from tilefoundry.dsl import Tensor, tf


@module(entry="f")
class CastOfCast:
    @func
    def f(x: Tensor[(8,), "f32"]):
        return tf.cast(tf.cast(x, dtype="bf16"), dtype="f32")


@module(entry="f")
class NarrowSum:
    @func
    def f(x: Tensor[(4, 4), "f32"]):
        return tf.reduce(x, axes=(1,), kind="sum")


@module(entry="f")
class NarrowMatmul:
    @func
    def f(x: Tensor[(4, 4), "f32"], y: Tensor[(4, 4), "f32"]):
        return x @ y


@module(entry="f")
class IntegersThroughFloats:
    @func
    def f(x: Tensor[(8,), "i64"], y: Tensor[(8,), "i64"]):
        return x + y


@module(entry="f")
class RoundedCast:
    @func
    def f(x: Tensor[(8,), "f32"]):
        return tf.cast(x, dtype="i32")
