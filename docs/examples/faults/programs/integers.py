"""Programs on which the faults of integers.rs are wrong."""

from tilefoundry import func, module
from tilefoundry.dsl import Tensor, tf


@module(entry="f")
class FloorForTrunc:
    @func
    def f(x: Tensor[(8,), "i64"]):
        return x / 3


@module(entry="f")
class ModSign:
    @func
    def f(x: Tensor[(8,), "i64"]):
        return x % 3


@module(entry="f")
class DividedSum:
    @func
    def f(x: Tensor[(8,), "i64"], y: Tensor[(8,), "i64"]):
        return (x * 3 + y) / 3


@module(entry="f")
class TimesAndDivided:
    @func
    def f(x: Tensor[(8,), "i64"]):
        return x * 3 // 3


@module(entry="f")
class FloorByNegation:
    @func
    def f(x: Tensor[(8,), "i64"]):
        return x // 7


@module(entry="f")
class LostSign:
    @func
    def f(x: Tensor[(8,), "i64"], y: Tensor[(8,), "i64"]):
        return x - (x + y)


@module(entry="f")
class FoldedSaturating:
    @func
    def f(x: Tensor[(8,), "i64"]):
        return x * tf.add(9223372036854775807, 2)
