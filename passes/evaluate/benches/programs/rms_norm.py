"""RMS norm of the rows of a large matrix."""
from tilefoundry import func, module
from tilefoundry.dsl import Tensor, tf


@module(entry="run")
class RmsNorm:
    @func
    def run(x: Tensor[(4096, 4096), "f32"], weight: Tensor[(4096,), "f32"]):
        return tf.rms_norm(x, weight, eps=1e-6)
