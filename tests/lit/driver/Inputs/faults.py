from tilefoundry import DimVar, func, module
from tilefoundry.dsl import Tensor, tf

N = DimVar("n", 1, 512)


@module
class Faults:
    @func
    def difference(x: Tensor[(N, 4), "f32"], y: Tensor[(4,), "f32"]) -> Tensor[(N, 4), "f32"]:
        return tf.exp(x) - y

    @func
    def columns(x: Tensor[(4, 4), "f32"]) -> Tensor[(4,), "f32"]:
        return tf.reduce(x, axes=(0,), keepdim=False, kind="sum")

    @func
    def average(x: Tensor[(4, 6), "f16"]) -> Tensor[(4, 1), "f16"]:
        return tf.reduce(x, axes=(1,), kind="mean")

    @func
    def below(x: Tensor[(8,), "f32"], y: Tensor[(8,), "f32"]) -> Tensor[(8,), "bool"]:
        return x < y

    @func
    def plus(x: Tensor[(8,), "f32"]) -> Tensor[(8,), "f32"]:
        return x + 0.0

    @func
    def nothing(x: Tensor[(8,), "f32"]) -> Tensor[(8,), "f32"]:
        return x - x

    @func
    def rounded(x: Tensor[(8,), "f32"]) -> Tensor[(8,), "f32"]:
        return tf.cast(tf.cast(x, dtype="bf16"), dtype="f32")

    @func
    def twice(x: Tensor[(8,), "f32"]) -> Tensor[(8,), "f32"]:
        return tf.exp(x) + tf.square(x)

    @func
    def loop(x: Tensor[(8,), "f32"]) -> Tensor[(8,), "f32"]:
        acc = x
        for i in range(4):
            acc = acc + x
        return acc
