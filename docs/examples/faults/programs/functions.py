"""Programs on which the faults of functions.rs are wrong."""

from tilefoundry import DimVar, DimVarRangePat, func, module
from tilefoundry.dsl import Tensor, tf

N = DimVar("n", 1, 65)
K = DimVar("k", 1, 65)


@module(entry="f")
class InlinedBackward:
    @func
    def g(x: Tensor[(8,), "f32"], y: Tensor[(8,), "f32"]):
        return x * x - y

    @func
    def f(x: Tensor[(8,), "f32"], y: Tensor[(8,), "f32"]):
        return g(x, y)


@module(entry="f")
class InlinedFirst:
    @func
    def g(x: Tensor[(8,), "f32"], y: Tensor[(8,), "f32"]):
        return x * x - y

    @func
    def f(x: Tensor[(8,), "f32"], y: Tensor[(8,), "f32"]):
        return g(x, y)


@module(entry="f")
class BakedExtent:
    @func
    def f(x: Tensor[(N, 4), "f32"]):
        acc = x
        for i in range(N):
            acc = acc + x
        return acc


@module(entry="f")
class WrongDim:
    @func
    def f(x: Tensor[(N, 4), "f32"], y: Tensor[(K, 4), "f32"]):
        acc = x
        for i in range(N):
            acc = acc + x
        return tf.concat(acc, y, axis=0)


@module(entry="f")
class WrongVariant:
    @func
    def rows(x: Tensor[(N, 4), "f32"]) -> Tensor[(N, 4), "f32"]:
        pass

    @rows.specialize(DimVarRangePat("n", 1, 17))
    def few(x: Tensor[(N, 4), "f32"]) -> Tensor[(N, 4), "f32"]:
        return tf.exp(x)

    @rows.specialize(DimVarRangePat("n", 17, 65))
    def many(x: Tensor[(N, 4), "f32"]) -> Tensor[(N, 4), "f32"]:
        return tf.relu(x)

    @func
    def f(x: Tensor[(N, 4), "f32"]):
        return rows(x) * x
