from tilefoundry import func, module
from tilefoundry.dsl import Tensor, tf


@module(entry="g")
class Two:
    @func
    def f(x: Tensor[(4, 6), "f32"]) -> Tensor[(4, 6), "f32"]:
        return -(-tf.square(x))

    @func
    def g(x: Tensor[(4, 6), "f32"]) -> Tensor[(4, 6), "f32"]:
        return tf.exp(x)
