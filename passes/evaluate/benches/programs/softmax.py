"""Softmax of the rows of a large matrix."""
from tilefoundry import func, module
from tilefoundry.dsl import Tensor, tf


@module(entry="run")
class Softmax:
    @func
    def run(x: Tensor[(4096, 4096), "f32"]):
        return tf.softmax(x, axis=-1)
